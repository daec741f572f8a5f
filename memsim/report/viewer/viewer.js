// Which cases, which turn, whose context: the controls and the address.
const body = document.getElementById("viewer-body");
const by = (name) => document.getElementById(`viewer-${name}`);
const read = new Map();
const at = { turn: 0, probe: "" };
let cases = [];
let about = {};
let shown = [];
let playhead = () => {};
let told = 0;

function load(entry) {
  if (!read.has(entry.key)) {
    const both = Promise.all([Page.data(entry.script), Page.data(entry.reel)]);
    read.set(entry.key, both.then(([script, reel]) => readCase(entry, script, reel)));
  }
  return read.get(entry.key);
}

function options(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) =>
    Page.element("option", { value, selected: value === chosen }, text)));
  select.value = chosen;
}

function title(entry) {
  const repeat = entry.repeat ? ` #${entry.repeat}` : "";
  const failed = entry.failed ? `, ${entry.failed} failed` : "";
  const budget = entry.budget % 1024 ? entry.budget : `${entry.budget / 1024}k`;
  return `${entry.strategy} @${budget}${repeat}${failed}`;
}

function fill() {
  const [first, second] = shown.map((seen) => seen.entry);
  const scenarios = [...new Map(cases.map((entry) => [entry.scenario, entry.name]))];
  options(by("scenario"), scenarios, first.scenario);
  by("about").textContent = about[first.scenario] ?? "";
  const same = cases.filter((entry) => entry.scenario === first.scenario);
  options(by("first"), same.map((entry) => [entry.key, title(entry)]), first.key);
  const others = same.filter((entry) => entry.key !== first.key).map((entry) => [entry.key, title(entry)]);
  options(by("second"), [["", "nothing"], ...others], second?.key ?? "");
}

function fillQuestions() {
  const turn = shown[0].turns[shown[0].place.get(at.turn)];
  const asked = shown[0].probes.filter((probe) => probe.turn === turn.turn);
  const mark = (probe) => shown.map((seen) => {
    const same = seen.probes.find((each) => each.probe === probe.probe && each.turn === probe.turn);
    return same ? (same.failed ? "✗" : "✓") : "–";
  }).join(" ");
  options(by("probe"), [["", "of the turn"], ...asked.map((probe) => [probe.probe, `of question ${probe.probe} ${mark(probe)}`])], at.probe);
  by("probe").disabled = !asked.length;
}

function draw() {
  const [first] = shown;
  const last = first.turns.length - 1;
  const place = first.place.get(at.turn);
  by("turn").max = String(last);
  by("turn").value = String(place);
  by("turn").setAttribute("aria-valuetext", `turn ${at.turn} of ${first.turns[last].turn}`);
  by("back").disabled = by("before").disabled = place === 0;
  by("on").disabled = by("after").disabled = place === last;
  fillQuestions();
  playhead(at.turn);
  drawNow(by("now"), first, at);
  const letters = shown.length > 1 ? ["A", "B"] : [""];
  by("panels").replaceChildren(...shown.filter((seen) => seen.place.has(at.turn)).map((seen, n) => drawPanel(seen, at, letters[n], go)));
}

function address() {
  const parts = { case: shown[0].entry.key, turn: at.turn };
  if (at.probe) parts.probe = at.probe;
  if (shown[1]) parts.with = shown[1].entry.key;
  clearTimeout(told);
  told = setTimeout(() => {
    try {
      history.replaceState(null, "", Page.link(parts));
    } catch {
      // A page that is framed may not change its address; the viewer works without.
    }
  }, 250);
}

function go(turn, probe = "") {
  const turns = shown[0].turns;
  if (!shown[0].place.has(turn)) turn = (turns.find((each) => each.turn >= turn) ?? turns[turns.length - 1]).turn;
  at.turn = turn;
  at.probe = probe;
  draw();
  address();
}

function step(by) {
  const [first] = shown;
  const place = Math.min(first.turns.length - 1, Math.max(0, first.place.get(at.turn) + by));
  go(first.turns[place].turn);
}

function change(way) {
  const turns = shown[0].turns;
  const busy = (turn) => shown.some((seen) => seen.moved.has(turn.turn)
    || seen.turns[seen.place.get(turn.turn)]?.events.some((event) => eventKind(event.kind) === "compaction"));
  let place = shown[0].place.get(at.turn) + way;
  while (turns[place] && !busy(turns[place])) place += way;
  go((turns[place] ?? (way < 0 ? turns[0] : turns[turns.length - 1])).turn);
}

// Where a case is best opened: where the fact of its first failed question was lost.
function telling(seen) {
  const failed = seen.probes.filter((probe) => probe.failed);
  const lost = failed.find((probe) => probe.lost !== null)?.lost;
  if (lost !== undefined && seen.turns[placeOf(seen, lost)]?.total) return { turn: lost };
  return failed.length ? { turn: failed[0].turn, probe: failed[0].probe } : { turn: seen.turns[0].turn };
}

async function open(key, second, turn, probe) {
  const entries = [key, second].map((each) => cases.find((entry) => entry.key === each)).filter(Boolean);
  const same = entries.filter((entry, n) => entry.scenario === entries[0].scenario && entries.indexOf(entry) === n);
  shown = await Promise.all(same.map(load));
  const letters = shown.length > 1 ? ["A", "B"] : [""];
  fill();
  by("failed").replaceChildren(...shown.map((seen, n) => drawFailed(seen, letters[n], go)));
  playhead = drawTracks(by("tracks"), shown, go);
  drawLegend(by("legend"), shown);
  body.hidden = false;
  const best = telling(shown[0]);
  const wanted = turn ?? best.turn;
  at.turn = shown[0].turns.some((each) => each.turn === wanted) ? wanted : shown[0].turns[shown[0].turns.length - 1].turn;
  at.probe = probe ?? (turn === undefined ? best.probe : "") ?? "";
  draw();
}

function trouble(text, ...more) {
  by("trouble").replaceChildren(text, ...more);
  by("trouble").hidden = !text;
}

// What this page had no room for may be in one beside it.
async function elsewhere(key) {
  const page = await Page.replay(key);
  const link = page ? [" ", Page.element("a", { href: `${page}${location.hash}` }, "It is in a page beside this one.")] : [];
  trouble(`There was no room in this page to replay ${key}.`, ...link);
}

function follow(hash) {
  const key = hash.get("case");
  if (!key) return;
  const found = cases.some((entry) => entry.key === key);
  if (found) trouble("");
  else elsewhere(key);
  const scroll = () => document.getElementById("viewer").scrollIntoView();
  if (!found) return void scroll();
  const turn = Number.parseInt(hash.get("turn"), 10);
  const second = hash.get("with") ?? shown[1]?.entry.key;
  open(key, second, Number.isNaN(turn) ? undefined : turn, hash.get("probe")).then(scroll, (error) => trouble(String(error)));
}

function keys(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea")) return;
  const steps = { ArrowLeft: () => step(-1), ArrowRight: () => step(1) };
  if (!steps[event.key] || !shown.length) return;
  event.preventDefault();
  steps[event.key]();
}

function listen() {
  const choose = (key, second) => open(key, second, at.turn).then(address);
  by("scenario").addEventListener("change", () => {
    const first = cases.find((entry) => entry.scenario === by("scenario").value);
    open(first.key).then(address);
  });
  by("first").addEventListener("change", () => choose(by("first").value, by("second").value));
  by("second").addEventListener("change", () => choose(by("first").value, by("second").value));
  by("turn").addEventListener("input", () => go(shown[0].turns[Number(by("turn").value)].turn));
  by("probe").addEventListener("change", () => go(at.turn, by("probe").value));
  by("back").addEventListener("click", () => step(-1));
  by("on").addEventListener("click", () => step(1));
  by("before").addEventListener("click", () => change(-1));
  by("after").addEventListener("click", () => change(1));
  by("choice").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("viewer").addEventListener("keydown", keys);
}

Page.data("reels").then(async (index) => {
  cases = index.cases;
  about = index.about ?? {};
  listen();
  const first = cases.find((entry) => entry.failed && !entry.control) ?? cases[0];
  if (!Page.hash().has("case")) await open(first.key);
  Page.onhash(follow);
}).catch((error) => trouble(String(error)));
