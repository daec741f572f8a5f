// The tracks: tokens by section, what the strategy did, what was asked, and where each fact was.
const SVG = "http://www.w3.org/2000/svg";
const COLUMNS = 400;
const ROWS = 80;

function shape(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function canvas(width, height, label, ...children) {
  const box = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", class: "viewer-chart", "shape-rendering": "crispEdges" };
  return shape("svg", { ...box, role: "img", "aria-label": label }, ...children);
}

function columns(seen) {
  const wide = Math.max(1, Math.ceil(seen.turns.length / COLUMNS));
  const made = [];
  for (let at = 0; at < seen.turns.length; at += wide) {
    const some = seen.turns.slice(at, at + wide);
    made.push({ at, wide: some.length, turn: some.reduce((a, b) => (b.total > a.total ? b : a)) });
  }
  return made;
}

function tokenChart(seen, top) {
  const count = seen.turns.length;
  const sections = sectionsOf([seen]);
  const bars = [];
  for (const column of columns(seen)) {
    let from = 0;
    for (const layer of sections) {
      const tokens = column.turn.tokens.get(layer) ?? 0;
      if (!tokens) continue;
      const y = 100 - (100 * (from + tokens)) / top;
      const size = { x: column.at, y, width: column.wide, height: (100 * tokens) / top };
      bars.push(shape("rect", { ...size, class: `viewer-s-${Page.tone(layer)}` }));
      from += tokens;
    }
  }
  const y = 100 - (100 * seen.entry.budget) / top;
  if (y >= 0) bars.push(shape("line", { x1: 0, x2: count, y1: y, y2: y, class: "viewer-budget" }));
  const most = Math.max(0, ...seen.turns.map((turn) => turn.total));
  const label = `Tokens of the context by section, at most ${most.toLocaleString("en")} of a budget of ${seen.entry.budget.toLocaleString("en")}`;
  return canvas(count, 100, label, ...bars);
}

function eventKind(kind) {
  if (/compact|summari|merged/.test(kind)) return "compaction";
  if (/drop|trim|fade|purge|delete|evict|expire|forg|lost/.test(kind)) return "dropped";
  if (/den|refus|fail/.test(kind)) return "denied";
  return "stored";
}

function eventChart(seen) {
  const marks = [];
  const tiers = { compaction: 0, dropped: 1, stored: 2, denied: 3 };
  const counts = {};
  seen.turns.forEach((turn, at) => {
    for (const kind of new Set(turn.events.map((event) => eventKind(event.kind)))) {
      counts[kind] = (counts[kind] ?? 0) + 1;
      const size = { x: at, y: 1 + 5 * tiers[kind], width: 1, height: 4 };
      marks.push(shape("rect", { ...size, class: `viewer-e-${kind}` }));
    }
  });
  const told = Object.entries(counts).map(([kind, turns]) => `${kind} in ${turns} turns`).join(", ");
  return canvas(seen.turns.length, 21, `What the strategy did: ${told || "nothing"}`, ...marks);
}

function questionChart(seen) {
  const by = new Map();
  for (const probe of seen.probes) {
    const at = seen.place.get(probe.turn);
    if (at === undefined) continue;
    const found = by.get(at) ?? { right: 0, wrong: 0 };
    found[probe.failed ? "wrong" : "right"] += 1;
    by.set(at, found);
  }
  const marks = [];
  const least = Math.max(1, seen.turns.length / 160);
  for (const [at, { right, wrong }] of by) {
    const part = (12 * wrong) / (right + wrong);
    const x = Math.min(at, seen.turns.length - least);
    marks.push(shape("rect", { x, y: 0, width: least, height: 12 - part, class: "viewer-right" }));
    marks.push(shape("rect", { x, y: 12 - part, width: least, height: part, class: "viewer-wrong" }));
  }
  const wrong = seen.probes.filter((probe) => probe.failed).length;
  const label = `${seen.probes.length} questions, ${wrong} answered wrongly`;
  return canvas(seen.turns.length, 12, label, ...marks);
}

const HEIGHT = { found: 7, missed: 5, archived: 5, denied: 5, cut: 5, closed: 3, unknown: 3, unseen: 2, lost: 2 };

function wayChart(seen, way) {
  const bars = [];
  const told = [];
  way.stops.forEach(([turn, state], at) => {
    const from = placeOf(seen, turn);
    const next = way.stops[at + 1];
    const to = next ? placeOf(seen, next[0]) : seen.turns.length;
    if (from >= seen.turns.length) return;
    const height = HEIGHT[state] ?? 10;
    const size = { x: from, y: (10 - height) / 2, width: Math.max(to - from, 0.5), height };
    bars.push(shape("rect", { ...size, class: `viewer-w-${stateTone(state)}` }));
    told.push(`${stateText(state)} from turn ${turn}`);
  });
  return canvas(seen.turns.length, 10, `${way.name}: ${told.join(", ")}`, ...bars);
}

function drawTracks(into, shown, go) {
  const [first] = shown;
  const rows = [];
  const track = (name, make, css) => {
    const charts = shown.map((seen) => {
      const chart = make(seen);
      if (!chart) return null;
      chart.addEventListener("click", (event) => {
        const box = chart.getBoundingClientRect();
        const share = (event.clientX - box.left) / box.width;
        go(seen.turns[Math.min(seen.turns.length - 1, Math.floor(share * seen.turns.length))].turn);
      });
      return chart;
    });
    rows.push(name, Page.element("div", { class: `viewer-track ${css}` }, ...charts));
  };
  const label = (text, note) => Page.element("span", { class: "viewer-name" }, text, note ?? null);
  const top = Math.max(1, ...shown.flatMap((seen) => seen.turns.map((turn) => turn.total)));
  const high = Math.max(top, ...shown.filter((seen) => seen.entry.budget < 4 * top).map((seen) => seen.entry.budget)) * 1.02;
  if (top > 1) track(label("tokens"), (seen) => tokenChart(seen, high), "viewer-tokens");
  if (shown.some((seen) => seen.turns.some((turn) => turn.events.length))) track(label("events"), eventChart, "viewer-events");
  track(label("questions"), questionChart, "viewer-questions");
  const names = [...new Set(shown.flatMap((seen) => seen.ways.filter((way) => way.failed).map((way) => way.name)))];
  for (const way of shown.flatMap((seen) => seen.ways)) if (!names.includes(way.name)) names.push(way.name);
  for (const name of names.slice(0, ROWS)) {
    const ways = shown.map((seen) => seen.ways.find((way) => way.name === name));
    const lost = ways.some((way) => way?.failed);
    const known = ways.find(Boolean);
    const jump = () => go(known.stops[0][0]);
    const said = `${name}${known.value ? `: ${known.value}` : ""}, planted in turn ${known.stops[0][0]}`;
    const button = Page.element("button", { type: "button", class: `viewer-name${lost ? " viewer-missing" : ""}`, title: said, click: jump }, name);
    track(button, (seen) => {
      const way = ways[shown.indexOf(seen)];
      return way ? wayChart(seen, way) : null;
    }, "viewer-way");
  }
  const head = Page.element("div", { class: "viewer-head", "aria-hidden": "true" });
  const more = names.length - ROWS;
  const rest = more > 0 ? [label(""), Page.element("small", {}, `and ${more} more facts`)] : [];
  const grid = Page.element("div", { class: shown.length > 1 ? "viewer-grid viewer-two" : "viewer-grid" }, ...rows, ...rest, head);
  into.replaceChildren(grid);
  return (turn) => {
    const at = (first.place.get(turn) ?? 0) + 0.5;
    grid.style.setProperty("--at", String(at / first.turns.length));
  };
}

function drawLegend(into, shown) {
  const layers = sectionsOf(shown).filter((layer) => shown.some((seen) => seen.turns.some((turn) => turn.tokens.get(layer))));
  const states = Object.keys(STATES).filter((state) => !LAYERS.includes(state)
    && shown.some((seen) => seen.ways.some((way) => way.stops.some((stop) => stop[1] === state))));
  const events = {
    compaction: "compaction", dropped: "dropped or purged", stored: "stored and other events", denied: "denied or refused",
  };
  const logged = new Set(shown.flatMap((seen) => seen.turns.flatMap((turn) => turn.events.map((event) => eventKind(event.kind)))));
  const item = (css, text) => Page.element("li", {}, Page.element("i", { class: css }), text);
  into.replaceChildren(
    ...layers.map((layer) => item(`viewer-s-${Page.tone(layer)}`, layer)),
    ...states.map((state) => item(`viewer-w-${state}`, STATES[state])),
    ...Object.keys(events).filter((kind) => logged.has(kind)).map((kind) => item(`viewer-e-${kind}`, events[kind])),
  );
}
