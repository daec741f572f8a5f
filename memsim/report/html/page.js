"use strict";
// What every part of the page uses: elements, packed data, links within the page, sorting, theme.
const Page = (() => {
  const unpacked = new Map();
  const sections = ["system", "core", "summary", "recalled", "working", "window", "tools", "query"];
  const OWN_TONES = 12;
  const own = JSON.parse(document.documentElement.dataset.sections ?? "[]");

  // The tone of a section, as in the plots; one with a name of its own gets the next of twelve.
  function tone(section) {
    if (sections.includes(section)) return section;
    if (!own.includes(section)) own.push(section);
    return `own${own.indexOf(section) % OWN_TONES}`;
  }

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") made.addEventListener(name, value);
      else if (value === true) made.setAttribute(name, "");
      else if (value !== false && value != null) made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child != null));
    return made;
  }

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  function data(name) {
    if (!unpacked.has(name)) {
      const block = document.getElementById(`data-${name}`);
      if (!block) return Promise.reject(new Error(`no data called ${name}`));
      const packed = block.type !== "application/json";
      unpacked.set(name, packed ? unpack(block.text) : Promise.resolve(JSON.parse(block.text)));
    }
    return unpacked.get(name);
  }

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  function hash() {
    const parts = location.hash.slice(1).split("&").filter((part) => part.includes("="));
    return new Map(parts.map((part) => {
      const at = part.indexOf("=");
      return [decoded(part.slice(0, at)), decoded(part.slice(at + 1))];
    }));
  }

  function link(parts) {
    const pairs = Object.entries(parts).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
    return `#${pairs.join("&")}`;
  }

  function onhash(follow) {
    addEventListener("hashchange", () => follow(hash()));
    follow(hash());
  }

  // The page that replays a case: "" for this one, null where none does.
  async function replay(key) {
    const index = await data("reels").catch(() => null);
    if (!index || index.cases.some((entry) => entry.key === key)) return "";
    const scenario = key.slice(0, key.indexOf("["));
    return Object.hasOwn(index.beside, scenario) ? index.beside[scenario] : null;
  }

  return { element, data, hash, link, onhash, replay, sections, tone };
})();

// Tables: a button in each head sorts by its column; numbers such as .87, 1.4k and $0.12 by size.
(() => {
  const SCALE = { k: 1024, M: 1048576, "%": 0.01 };

  function value(cell) {
    const text = cell.textContent.trim().replace("−", "-");
    const found = /^[^\d.+-]{0,2}([+-]?[\d,]*\.?\d+)\s*([kM%]?)/.exec(text);
    if (!found) return text ? { text } : { text: null };
    return { number: Number(found[1].replaceAll(",", "")) * (SCALE[found[2]] ?? 1), text };
  }

  function compare(a, b) {
    if ((a.text === null) !== (b.text === null)) return a.text === null ? 1 : -1;
    if ((a.number === undefined) !== (b.number === undefined)) return a.number === undefined ? 1 : -1;
    if (a.number !== undefined) return b.number - a.number;
    return (a.text ?? "").localeCompare(b.text ?? "", "en");
  }

  function sort(table, column, head) {
    const again = head.getAttribute("aria-sort");
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [value(row.cells[column]), row]);
    const first = rows.find(([found]) => found.text !== null)?.[0];
    const usual = first?.number === undefined ? "ascending" : "descending";
    const other = usual === "ascending" ? "descending" : "ascending";
    const now = again === usual ? other : usual;
    rows.sort(([a], [b]) => (now === usual ? 1 : -1) * compare(a, b));
    head.setAttribute("aria-sort", now);
    body.append(...rows.map(([, row]) => row));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const name = head.textContent.trim();
      if (head.querySelector(".unseen") || table.tBodies[0].rows.length < 2) return;
      const button = Page.element("button", { type: "button", click: () => sort(table, column, head) }, name);
      head.replaceChildren(button);
    });
  }
})();

// What is wider than its place shows at which side more is to be seen, and says so.
(() => {
  const ends = new Map();
  function mark(place) {
    const room = place.scrollWidth - place.clientWidth;
    const at = Math.abs(place.scrollLeft);
    const more = room < 2 ? "" : [at > 1 ? "left" : "", at < room - 1 ? "right" : ""].join(" ").trim();
    if (more) place.dataset.more = more;
    else delete place.dataset.more;
    const hint = ends.get(place);
    hint.hidden = room < 2;
    hint.textContent = more.includes("right") ? "There is more: scroll sideways →" : "← Scroll back";
  }
  const resized = new ResizeObserver((entries) => entries.forEach((entry) => {
    const place = entry.target.closest(".scroll");
    if (place) mark(place);
  }));
  for (const place of document.querySelectorAll("main .scroll")) {
    const hint = Page.element("p", { class: "hint screen", "aria-hidden": "true", hidden: true });
    place.before(hint);
    ends.set(place, hint);
    place.addEventListener("scroll", () => mark(place), { passive: true });
    resized.observe(place);
    if (place.firstElementChild) resized.observe(place.firstElementChild);
    mark(place);
  }
})();

// Light and dark: the system's until the reader chooses.
(() => {
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;

  function stored(value) {
    try {
      if (value) localStorage.setItem("memsim-theme", value);
      return localStorage.getItem("memsim-theme");
    } catch {
      return null;
    }
  }

  function show() {
    const theme = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    button.setAttribute("aria-pressed", String(theme === "dark"));
  }

  const kept = stored();
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  button.addEventListener("click", () => {
    root.dataset.theme = button.getAttribute("aria-pressed") === "true" ? "light" : "dark";
    stored(root.dataset.theme);
    show();
  });
  dark.addEventListener("change", show);
  button.hidden = false;
  show();
})();

// What is folded stands open on paper, except for the cases: those that the reader opened.
(() => {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main details:not([open])")].filter(
      (fold) => !fold.closest("#cases-list, .viewer"),
    );
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
  });
})();

// Copies the command; where that is not allowed, the text is selected.
(() => {
  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = button.parentElement.querySelector("code");
      getSelection().selectAllChildren(text);
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Selected";
      }
    });
  }
})();

// The list of contents marks where the reader is.
(() => {
  const links = new Map(
    [...document.querySelectorAll("nav.contents a")].map((a) => [a.hash.slice(1), a]),
  );
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const a of links.values()) a.removeAttribute("aria-current");
      const here = links.get(entry.target.id);
      here?.setAttribute("aria-current", "true");
      const list = here?.closest("nav");
      list?.scrollTo({ left: here.offsetLeft - list.clientWidth / 2 });
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const id of links.keys()) {
    const part = document.getElementById(id);
    if (part) seen.observe(part);
  }
})();
