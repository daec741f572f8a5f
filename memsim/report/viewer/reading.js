// A case from its data: every message, every context, every fact, by number and by turn.
const LAYERS = Page.sections;
const STATES = {
  window: "in the window", summary: "in a summary", recalled: "recalled", core: "in core memory",
  working: "in working memory", tools: "found by a tool", system: "in the system part",
  found: "stored, and found when asked", missed: "stored, and missed when asked",
  archived: "archived", denied: "denied", cut: "cut to fit the budget",
  closed: "in a black box", unknown: "in no context; the strategy does not report its stores",
  unseen: "in no context, not asked for", lost: "lost",
};

const SECTION = "section:";

function isSection(state) {
  return LAYERS.includes(state) || state.startsWith(SECTION);
}

function stateTone(state) {
  return state.startsWith(SECTION) ? Page.tone(state.slice(SECTION.length)) : state;
}

function stateText(state) {
  return state.startsWith(SECTION) ? `in the section ${state.slice(SECTION.length)}` : STATES[state];
}

// The sections of some cases, the known ones first.
function sectionsOf(shown) {
  const names = new Set(shown.flatMap((seen) => seen.turns.flatMap((turn) => [...turn.tokens.keys()])));
  return [...LAYERS, ...[...names].filter((name) => !LAYERS.includes(name)).sort()];
}

function readCase(entry, script, reel) {
  const made = readMade(reel.made);
  const message = (number) => number >= 0 ? said(script.messages[number], number) : made[-1 - number];
  const frames = readFrames(reel.frames);
  const turns = readTurns(script, reel, frames);
  const place = new Map(turns.map((turn, at) => [turn.turn, at]));
  const ways = reel.ways.map(([name, source, value, stops, failed]) =>
    ({ name, source, value, stops, failed }));
  const facts = new Map();
  for (const way of ways) facts.set(way.source, [...(facts.get(way.source) ?? []), way]);
  const moved = new Map();
  for (const way of ways) {
    way.stops.forEach(([turn, state], at) => {
      const before = at ? way.stops[at - 1][1] : null;
      moved.set(turn, [...(moved.get(turn) ?? []), { way, before, state }]);
    });
  }
  const probes = reel.probes.map((probe) => ({ ...probe, agent: readAgent(probe.agent) }));
  return { entry, script, message, turns, place, ways, facts, moved, probes, full: reel.full };
}

function said(told, number) {
  const [id, role, principal, text, left] = told;
  return { number, id, role, principal, left, lines: [{ text }], quotes: [number], derived: [] };
}

function readMade(list) {
  const table = [];
  let derived = [];
  return list.map(([id, role, lines, left, quoted, same, rest], at) => {
    const read = lines.map((line) => {
      if (typeof line === "number") return table[line];
      table.push(Array.isArray(line) ? { before: line[0], source: line[1] } : { text: line });
      return table[table.length - 1];
    });
    derived = [...derived.slice(0, same), ...rest];
    const named = read.filter((line) => line.source !== undefined).map((line) => line.source);
    const quotes = quoted === 0 ? named : quoted;
    return { number: -1 - at, id, role, principal: "memory", left, lines: read, quotes, derived, made: true };
  });
}

function readFrames(list) {
  let last = new Map();
  return list.map(([turn, probe, , sent]) => {
    if (sent === null) return { turn, probe, sent };
    const parts = sent.map(([layer, tokens, runs]) => {
      const name = LAYERS[layer] ?? layer;
      const before = last.get(name) ?? [];
      const messages = runs.flatMap((run) =>
        typeof run === "number" ? [run] : before.slice(run[0], run[0] + run[1]));
      return { layer: name, tokens, messages };
    });
    last = new Map(parts.map((part) => [part.layer, part.messages]));
    return { turn, probe, sent: parts };
  });
}

function readTurns(script, reel, frames) {
  const turns = new Map();
  for (const [turn, session, principal, time, first, count] of script.turns) {
    turns.set(turn, { turn, session, principal, time, first, count, frame: null, asked: new Map() });
  }
  for (const frame of frames) {
    if (!turns.has(frame.turn)) {
      turns.set(frame.turn, { turn: frame.turn, first: 0, count: 0, frame: null, asked: new Map() });
    }
    if (frame.probe) turns.get(frame.turn).asked.set(frame.probe, frame);
    else turns.get(frame.turn).frame = frame;
  }
  const sorted = [...turns.values()].sort((a, b) => a.turn - b.turn);
  for (const turn of sorted) {
    const extra = reel.extras[turn.turn] ?? {};
    turn.events = (extra.events ?? []).map(([kind, sources, count, before, after, detail]) =>
      ({ kind, sources, count, before, after, detail }));
    turn.calls = extra.calls ?? [];
    turn.agent = readAgent(extra.agent);
    turn.overflow = extra.overflow ?? 0;
    turn.contexts = extra.contexts ?? 1;
    const parts = turn.frame?.sent ?? (extra.tokens ?? []).map(([layer, tokens]) =>
      ({ layer: LAYERS[layer] ?? layer, tokens, messages: [] }));
    turn.tokens = new Map();
    for (const part of parts) turn.tokens.set(part.layer, (turn.tokens.get(part.layer) ?? 0) + part.tokens);
    turn.total = parts.reduce((sum, part) => sum + part.tokens, 0);
  }
  return sorted;
}

// The place of a turn, or of the next one that there is.
function placeOf(seen, turn) {
  const known = seen.place.get(turn);
  if (known !== undefined) return known;
  const next = seen.turns.findIndex((each) => each.turn >= turn);
  return next < 0 ? seen.turns.length : next;
}

function stateOf(way, turn) {
  let state = null;
  for (const [at, name] of way.stops) if (at <= turn) state = name;
  return state;
}

function wordsOf(message, named) {
  return message.lines.map((line) =>
    line.source === undefined ? line.text : line.before + named(line.source).lines[0].text).join("\n");
}
