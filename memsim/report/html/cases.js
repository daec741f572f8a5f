"use strict";
// The section of cases: filters, pages, and each probe's story once it is opened.
(async () => {
  const form = document.getElementById("cases-filters");
  if (!form) return;
  const E = Page.element;
  const PAGE = 25;
  const list = document.getElementById("cases-list");
  const pages = document.getElementById("cases-pages");
  const count = document.getElementById("cases-count");
  const viewer = document.getElementById("viewer");
  const index = await Page.data("cases");
  const keys = index.keys.map(([key, scenario, strategy, budget, repeat, passed, asked, error]) =>
    ({ key, scenario, strategy, budget, repeat, passed, asked, error }));
  const rows = index.rows.map(([at, probe, ability, outcome, reason, said, turn, chunk, place]) =>
    ({ ...keys[at], probe, ability, outcome, reason, said, turn, chunk, place }));
  const FILTERS = ["strategy", "budget", "scenario", "ability", "outcome", "reason"];
  const chosen = new Map();
  let words = "";
  let shown = rows;
  let page = 0;

  const short = (budget) => (budget % 1024 ? String(budget) : `${budget / 1024}k`);
  const reasonName = (reason) => reason.replaceAll("-", " ");
  const naming = (name, value) => {
    if (name === "budget") return short(value);
    return (name === "reason" ? reasonName(value) : value) || "none";
  };

  const field = (name, control) =>
    E("div", { class: "field" }, E("label", { for: control.id }, name), control);

  function fill() {
    for (const name of FILTERS) {
      const values = [...new Set(rows.map((row) => row[name]))];
      if (values.length < 2) continue;
      const select = E("select", { id: `cases-${name}`, change: () => pick(name, select.value) },
        E("option", { value: "" }, "all"),
        ...values.map((value) => E("option", { value: `=${value}` }, naming(name, value))));
      form.append(field(name, select));
    }
    const search = E("input", { type: "search", id: "cases-search", input: () => {
      words = search.value.trim().toLowerCase();
      renew();
    } });
    form.append(field("probe", search),
      E("button", { type: "button", click: () => { reset(); renew(); } }, "Show all"));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
  }

  function pick(name, value) {
    if (value) chosen.set(name, value.slice(1));
    else chosen.delete(name);
    renew();
  }

  function reset() {
    chosen.clear();
    words = "";
    document.getElementById("cases-search").value = "";
  }

  function renew(at = 0) {
    for (const name of FILTERS) {
      const select = document.getElementById(`cases-${name}`);
      if (select) select.value = chosen.has(name) ? `=${chosen.get(name)}` : "";
    }
    shown = rows.filter((row) => [...chosen].every(([name, value]) => String(row[name]) === value)
      && (!words || `${row.probe} ${row.scenario}`.toLowerCase().includes(words)));
    show(at);
  }

  function show(at) {
    const last = Math.max(0, Math.ceil(shown.length / PAGE) - 1);
    page = Math.min(at, last);
    list.replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map(line));
    const of = keys.filter((key) => [...chosen].every(([name, value]) =>
      !(name in key) || String(key[name]) === value));
    const passed = of.reduce((sum, key) => sum + key.passed, 0);
    count.textContent = `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`
      + ` probes that went wrong; ${passed.toLocaleString("en")} passed in the same cases.`;
    pages.replaceChildren();
    if (last > 0) {
      const step = (name, to, off) => E("button", { type: "button", disabled: off, click: () => {
        show(to);
        form.scrollIntoView();
      } }, name);
      pages.append(step("Previous", page - 1, page === 0), ` page ${page + 1} of ${last + 1} `,
        step("Next", page + 1, page === last));
    }
  }

  function line(row) {
    const tone = ["ERROR", "UNSCORED"].includes(row.outcome) ? "warn" : "bad";
    const fold = E("details", { class: "case", "data-probe": `${row.key}::${row.probe}` },
      E("summary", {}, E("span", { class: `stamp ${tone}` }, row.outcome),
        E("strong", {}, row.probe),
        E("span", {}, `${row.strategy}@${short(row.budget)}${row.repeat ? ` #${row.repeat}` : ""}`),
        E("span", { class: "soft", title: index.about[row.scenario] }, row.scenario),
        E("span", { class: "why" }, reasonName(row.reason))));
    fold.addEventListener("toggle", () => {
      if (fold.open && !fold.dataset.told) tell(fold, row);
    });
    return fold;
  }

  async function tell(fold, row) {
    fold.dataset.told = "true";
    const name = `${row.key}::${row.probe}`;
    const command = E("p", { class: "command" }, E("code", {}, `memsim explain '${name.replaceAll("'", "'\\''")}'`));
    if (row.chunk < 0) {
      fold.append(E("div", { class: "story" }, E("p", { class: "note" }, "Its story is not in this file."),
        await replay(row), command));
      return;
    }
    const { texts, probes } = await Page.data(`cases-${row.chunk}`);
    fold.append(E("div", { class: "story" }, ...story(probes[row.place], row, texts),
      await replay(row), command));
  }

  // Where a probe can be replayed: in this page, in one beside it, or nowhere.
  async function replay(row) {
    if (!viewer) return null;
    const page = await Page.replay(row.key);
    if (page === null) return null;
    const hash = Page.link({ case: row.key, turn: row.turn, probe: row.probe });
    return E("p", { class: "screen" }, E("a", { href: `${page}${hash}` },
      `Replay: the exact context at turn ${row.turn}${page ? ", in a page beside this one" : ""}`));
  }

  function story(probe, row, texts) {
    return [
      E("p", { class: "ask" }, `“${probe.ask}”`),
      E("dl", { class: "facts" },
        ...pair("expected", probe.expected, "good"),
        ...pair(probe.error ? "error" : "answer", probe.error || probe.answer || "nothing", "bad"),
        ...pair("baseline", baseline(probe.base)),
        ...pair("ability", probe.ability),
        ...pair("scenario", index.about[row.scenario]),
        ...pair("asked", `turn ${probe.turn}${probe.age ? `, ${probe.age}` : ""}`),
        ...pair("seen", probe.leaks.map(([fact, where]) => `${fact} in the ${where}`).join(", "))),
      ...probe.pieces.map((piece) => timeline(piece, probe)),
      probe.more ? E("p", { class: "note" }, `and ${probe.more} more pieces of evidence`) : null,
      ...context(probe, texts),
    ];
  }

  function pair(name, text, tone) {
    return text ? [E("dt", {}, name), E("dd", { class: tone }, text)] : [];
  }

  function baseline(base) {
    if (!base) return "";
    return `answered rightly in ${base[0] * 100}% of its repeats then, in ${base[1] * 100}% now`;
  }

  function timeline(piece, probe) {
    const steps = piece.steps.map((step) => E("li", {}, E("span", { class: "turn" }, `turn ${step.turn}`),
      E("strong", {}, step.what), ` ${step.how}`,
      step.tokens == null ? null : E("span", { class: "soft" }, ` ${step.tokens} / ${probe.budget} tokens`)));
    const end = E("li", { class: piece.found ? "good" : "bad" },
      E("span", { class: "turn" }, `turn ${probe.turn}`), E("strong", {}, "asked"), ` ${piece.now}`);
    return E("div", {}, E("h3", {}, piece.name), E("ol", { class: "timeline" }, ...steps, end));
  }

  function context(probe, texts) {
    const parts = Object.entries(probe.tokens).filter(([, tokens]) => tokens);
    const bar = E("div", { class: "bar", role: "img",
      "aria-label": parts.map(([name, tokens]) => `${name} ${tokens} tokens`).join(", ") });
    for (const [name, tokens] of parts) {
      const piece = E("span", { class: `s-${Page.tone(name)}`, title: `${name} ${tokens}` });
      piece.style.flexGrow = tokens;
      bar.append(piece);
    }
    const legend = parts.map(([name, tokens]) => E("span", { class: "key" },
      E("span", { class: `chip s-${Page.tone(name)}` }), `${name} ${tokens}`));
    return [
      E("p", {}, probe.context, probe.sent == null ? "" : `: ${probe.sent} of ${probe.budget} tokens`),
      ...(parts.length ? [bar, E("p", { class: "keys" }, ...legend)] : []),
      ...sent(probe.sections, texts),
      ...probe.made.map(([layer, at]) => E("details", {}, E("summary", {}, `what stood in its ${layer}`),
        E("pre", { tabindex: 0 }, texts[at]))),
    ];
  }

  // The context that was sent: of a long section its beginning, its end and the evidence.
  function sent(sections, texts) {
    if (!sections.length) return [];
    const message = ([id, role, text, evidence, before]) => [
      before ? E("li", { class: "soft" }, `… ${before} more message${before === 1 ? "" : "s"}`) : null,
      E("li", { class: evidence ? "evidence" : "" }, E("span", { class: "soft" }, `${id} ${role} `),
        texts[text], evidence ? E("strong", {}, " evidence") : null),
    ].filter(Boolean);
    const parts = sections.flatMap(([name, tokens, count, messages]) => [
      E("h4", {}, E("span", { class: `chip s-${Page.tone(name)}` }),
        `${name}: ${count} message${count === 1 ? "" : "s"}, ${tokens} tokens`),
      E("ol", { class: "sent" }, ...messages.flatMap(message)),
    ]);
    return [E("details", { class: "context" }, E("summary", {}, "the context that was sent"), ...parts)];
  }

  function follow(hash) {
    if (hash.get("show") === "cases") {
      reset();
      const of = keys.find((key) => key.key === hash.get("case"));
      for (const name of FILTERS) {
        const value = of && name in of ? String(of[name]) : hash.get(name);
        if (value != null) chosen.set(name, value);
      }
      renew();
      document.getElementById("cases").scrollIntoView();
    } else if (hash.has("probe")) {
      open(hash.get("probe"));
    }
  }

  function open(name) {
    const row = rows.find((one) => `${one.key}::${one.probe}` === name);
    if (!row) return;
    reset();
    for (const key of ["strategy", "budget", "scenario"]) chosen.set(key, String(row[key]));
    renew();
    show(Math.floor(shown.indexOf(row) / PAGE));
    const fold = [...list.children].find((one) => one.dataset.probe === name);
    fold.open = true;
    fold.scrollIntoView();
    fold.querySelector("summary").focus({ preventScroll: true });
  }

  if (!rows.length) return;
  fill();
  renew();
  Page.onhash(follow);
})();
