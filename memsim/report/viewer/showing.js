// The panels: what was said, what the strategy did, and the context as the model would see it.
const MANY = 120;
const STRUCK = 8;

function number(value) {
  return value.toLocaleString("en");
}

function plural(count, word) {
  return `${number(count)} ${word}${count === 1 ? "" : "s"}`;
}

// A list that scrolls inside, and can be scrolled by keys: the place is named, the list stays one.
function scrolled(css, label, ...rows) {
  return Page.element("div", { class: css, tabindex: "0", role: "region", "aria-label": label }, Page.element("ul", {}, ...rows));
}

function nameOf(seen, source) {
  return typeof source === "number" ? seen.message(source).id : source;
}

// The values of the facts marked in a text.
function marked(seen, text) {
  if (seen.values === undefined) {
    const values = [...new Set(seen.ways.map((way) => way.value).filter((value) => value.length > 1))];
    values.sort((a, b) => b.length - a.length);
    const safe = values.map((value) => value.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
    seen.values = safe.length ? new RegExp(`(?<![\\p{L}\\p{N}])(?:${safe.join("|")})(?![\\p{L}\\p{N}])`, "gu") : null;
  }
  if (!seen.values) return [text];
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(seen.values)) {
    const way = seen.ways.find((each) => each.value === found[0]);
    parts.push(text.slice(from, found.index), Page.element("mark", { title: way.name }, found[0]));
    from = found.index + found[0].length;
  }
  return [...parts, text.slice(from)];
}

function messageRow(seen, message, fresh, wanted) {
  const held = message.made ? [] : seen.facts.get(message.number) ?? [];
  const long = message.lines.length > 16 || (message.lines[0].text ?? "").length > 1200;
  const body = long
    ? Page.element("div", { class: "viewer-text viewer-long", tabindex: "0", role: "region", "aria-label": `Text of ${message.id}` })
    : Page.element("div", { class: "viewer-text" });
  message.lines.forEach((line, at) => {
    const text = line.source === undefined ? line.text : line.before + seen.message(line.source).lines[0].text;
    const css = [fresh.lines && !fresh.lines.has(text) ? "viewer-new" : "", wanted.has(line.source) ? "viewer-wanted" : ""];
    body.append(Page.element("span", { class: css.join(" ").trim() || null }, ...marked(seen, text)));
    if (at < message.lines.length - 1) body.append("\n");
  });
  if (message.left) body.append(Page.element("small", {}, ` … and ${plural(message.left, "character")} more`));
  const notes = [];
  if (fresh.whole) notes.push(Page.element("span", { class: "viewer-tag" }, "new"));
  for (const way of held) notes.push(Page.element("span", { class: "viewer-tag viewer-fact" }, way.name));
  if (message.made && message.derived.length) {
    notes.push(Page.element("span", { class: "viewer-tag" }, `made from ${plural(message.derived.length, "message")}`));
  }
  const who = Page.element("div", { class: "viewer-who" }, `${message.role} · ${message.id}`, ...notes);
  const css = `viewer-message${fresh.whole ? " viewer-fresh" : ""}${wanted.has(message.number) ? " viewer-wanted" : ""}`;
  return Page.element("li", { class: css }, who, body);
}

function linesOf(seen, message) {
  return message.lines.map((line) =>
    line.source === undefined ? line.text : line.before + seen.message(line.source).lines[0].text);
}

function sectionBox(seen, part, before, wanted, since) {
  const earlier = new Set(before?.messages ?? []);
  const old = new Set((before?.messages ?? []).map((n) => seen.message(n)).filter((m) => m.made).flatMap((m) => linesOf(seen, m)));
  const rows = part.messages.map((n) => {
    const message = seen.message(n);
    const lines = message.made && !earlier.has(n) && old.size ? old : null;
    const whole = before !== null && !earlier.has(n) && !lines;
    return () => messageRow(seen, message, { whole, lines }, wanted);
  });
  const list = Page.element("ol", {});
  const folded = rows.length > MANY ? rows.length - MANY : 0;
  if (folded) {
    const show = Page.element("button", { type: "button", click: () => list.replaceChildren(...rows.map((row) => row())) },
      `Show ${plural(folded, "earlier message")}`);
    list.append(Page.element("li", { class: "screen" }, show));
  }
  list.append(...rows.slice(folded).map((row) => row()));
  const gone = [...earlier].filter((n) => !part.messages.includes(n)).map((n) => seen.message(n)).filter((m) => !m.made);
  const left = gone.length ? Page.element("p", { class: "viewer-gone" }, `${since}: ${gone.slice(0, 12).map((m) => m.id).join(", ")}${gone.length > 12 ? ` and ${gone.length - 12} more` : ""}`) : null;
  const now = new Set(part.messages.map((n) => seen.message(n)).filter((m) => m.made).flatMap((m) => linesOf(seen, m)));
  const lost = part.layer === "recalled" || !now.size ? [] : [...old].filter((line) => line.trim() && !now.has(line));
  const struck = lost.length ? Page.element("ul", { class: "viewer-struck", "aria-label": "Lines that are gone" },
    ...lost.slice(0, STRUCK).map((line) => Page.element("li", {}, Page.element("del", {}, ...marked(seen, line)))),
    lost.length > STRUCK ? Page.element("li", {}, `and ${plural(lost.length - STRUCK, "more line")}`) : null) : null;
  const head = Page.element("summary", {}, Page.element("b", {}, part.layer),
    ` ${plural(part.tokens, "token")} · ${plural(part.messages.length, "message")}`);
  return Page.element("details", { class: `viewer-section viewer-l-${Page.tone(part.layer)}`, open: true }, head, left, struck, list);
}

function tokenBar(seen, sent) {
  const total = sent.reduce((sum, part) => sum + part.tokens, 0);
  const most = Math.max(total, seen.entry.budget);
  let from = 0;
  const bars = sent.map((part) => {
    const bar = shape("rect", { x: (100 * from) / most, y: 0, width: (100 * part.tokens) / most, height: 10, class: `viewer-s-${Page.tone(part.layer)}` });
    from += part.tokens;
    return bar;
  });
  const label = `${number(total)} of a budget of ${number(seen.entry.budget)} tokens`;
  return [Page.element("p", { class: "viewer-total" }, Page.element("b", {}, number(total)), ` of a budget of ${number(seen.entry.budget)} tokens`),
    canvas(100, 10, label, ...bars)];
}

function eventRow(seen, event) {
  const named = event.sources.map((source) => nameOf(seen, source));
  const more = event.count - named.length;
  const facts = event.sources.flatMap((source) => (seen.facts.get(source) ?? []).map((way) => way.name));
  const parts = [event.before !== null && event.after !== null ? `${number(event.before)} → ${number(event.after)} tokens` : "",
    event.count ? `${plural(event.count, "message")} (${named.slice(0, 8).join(", ")}${named.length > 8 || more > 0 ? ", …" : ""})` : "",
    event.detail, facts.length ? `facts: ${[...new Set(facts)].join(", ")}` : ""];
  return Page.element("li", {}, Page.element("b", { class: `viewer-tag viewer-t-${eventKind(event.kind)}` }, event.kind), ` ${parts.filter(Boolean).join(" · ")}`);
}

function moveRow({ way, before, state }) {
  const bad = ["lost", "missed", "denied", "cut", "unseen"].includes(state);
  const told = before === null ? `${way.value ? "planted" : "said"}, ${stateText(state)}` : `${stateText(before)} → ${stateText(state)}`;
  return Page.element("li", {}, Page.element("b", { class: bad ? "viewer-tag viewer-fact viewer-gonefact" : "viewer-tag viewer-fact" }, way.name), ` ${told}`);
}

function happened(seen, turn) {
  // What the agent called is told call by call below.
  const told = turn.events.filter((event) => event.kind !== "tool" || !turn.agent.length);
  const rows = told.map((event) => eventRow(seen, event));
  rows.push(...(seen.moved.get(turn.turn) ?? []).map(moveRow));
  if (turn.overflow) rows.push(Page.element("li", {}, `${plural(turn.overflow, "token")} over the budget were cut`));
  if (turn.contexts > 1) rows.push(Page.element("li", {}, `${turn.contexts} contexts were sent; the last one is shown`));
  for (const [phase, task, input, output] of turn.calls) {
    rows.push(Page.element("li", {}, `model asked to ${task} (${phase}): ${number(input)} tokens in, ${number(output)} out`));
  }
  const list = rows.length ? scrolled("viewer-happened", `What happened with ${seen.entry.strategy}`, ...rows.slice(0, 24),
    rows.length > 24 ? Page.element("li", {}, `and ${rows.length - 24} more`) : null) : Page.element("p", { class: "note" }, "nothing was logged, and no fact moved");
  return [Page.element("h4", {}, "What happened"), list];
}

function questionCard(seen, probe, go) {
  const stamp = Page.element("b", { class: probe.failed ? "bad" : "good" }, probe.outcome);
  const row = (name, ...value) => [Page.element("dt", {}, name), Page.element("dd", {}, ...value)];
  const expected = probe.unanswerable ? "that it is not known" : probe.expect.join(" / ");
  const jump = probe.lost === null ? [] : row(lostWord(seen, probe), lostButton(seen, probe, go));
  return Page.element("dl", { class: "viewer-card" }, ...row("asked", probe.ask), ...row("expected", expected),
    ...row("answer", probe.error || probe.answer || "nothing"),
    ...(probe.again ? row("read again", `${probe.again} (from the evidence alone: counts)`) : []),
    ...row("outcome", stamp, probe.reason ? `, ${probe.reason.replaceAll("-", " ")}` : ""), ...jump);
}

function lostWord(seen, probe) {
  const names = probe.evidence.map(([name]) => name);
  const ways = seen.ways.filter((way) => names.includes(way.name));
  if (!ways.some((way) => way.stops.some(([, state]) => isSection(state)))) return "said";
  return ways.some((way) => stateOf(way, probe.turn) === "lost") ? "lost" : "left";
}

function lostButton(seen, probe, go) {
  const label = `in turn ${probe.lost}: ${lostWord(seen, probe)}, what ${probe.probe} asks for`;
  return Page.element("button", { type: "button", "aria-label": label, click: () => go(probe.lost) }, `in turn ${probe.lost}`);
}

function drawPanel(seen, at, letter, go) {
  const turn = seen.turns[seen.place.get(at.turn)];
  const probe = seen.probes.find((each) => each.probe === at.probe && each.turn === at.turn);
  const frame = probe ? turn.asked.get(at.probe) : turn.frame;
  const before = probe ? turn.frame : seen.turns[seen.place.get(at.turn) - 1]?.frame;
  const { strategy, control, error } = seen.entry;
  const title = Page.element("h3", {}, letter ? Page.element("b", { class: `viewer-badge viewer-${letter.toLowerCase()}` }, letter) : null,
    ` ${strategy}`, control ? Page.element("small", { class: "soft" }, ` ${control}`) : null);
  const wanted = new Set(probe ? probe.evidence.map(([, source]) => source) : []);
  const parts = [title];
  if (error) parts.push(Page.element("p", { class: "note bad" }, error));
  if (probe) parts.push(questionCard(seen, probe, go), ...agentBox(seen, probe.agent, "The agent, before the answer"));
  else parts.push(...happened(seen, turn), ...agentBox(seen, turn.agent, "The agent"));
  if (probe) parts.push(Page.element("p", { class: "note" }, probe.evidence.length ? "The evidence: " : "There is no evidence for it.",
    probe.evidence.map(([name]) => {
      const way = seen.ways.find((each) => each.name === name);
      const state = way && stateOf(way, probe.turn);
      return `${name}${state ? `, ${stateText(state)}` : ""}`;
    }).join("; ")));
  parts.push(Page.element("h4", {}, probe ? "The context of this question" : "The context of this turn"));
  if (frame?.sent) {
    const others = new Map((before?.sent ?? []).map((part) => [part.layer, part]));
    const since = probe ? "in the context of the turn, and not here" : "left since the turn before";
    const none = before?.sent ? { messages: [] } : null;
    parts.push(...tokenBar(seen, frame.sent));
    if (!frame.sent.length) parts.push(Page.element("p", { class: "note" }, "It was empty."));
    parts.push(...frame.sent.map((part) => sectionBox(seen, part, others.get(part.layer) ?? none, wanted, since)));
  } else parts.push(Page.element("p", { class: "note" }, missing(seen, at, turn)));
  return Page.element("article", { class: "viewer-panel" }, ...parts);
}

function missing(seen, at, turn) {
  if (seen.full !== null && at.turn >= seen.full) return `What was sent from turn ${seen.full} on was not recorded: the record of this case is full.`;
  if (!seen.turns.some((each) => each.frame)) return "What was sent was not recorded when this case was played.";
  return turn.total ? "What was sent in this turn was not recorded." : "No context was asked for: in this turn nothing was answered.";
}

function drawNow(into, seen, at) {
  const turn = seen.turns[seen.place.get(at.turn)];
  const when = turn.time ? turn.time.replace("T", " ").replace(/:00Z$/, "") : "";
  const where = [seen.entry.name, turn.session, turn.principal, when].filter(Boolean).join(" · ");
  const heard = seen.script.messages.slice(turn.first, turn.first + turn.count).map((told, place) => said(told, turn.first + place));
  const rows = heard.map((message) => messageRow(seen, message, {}, new Set()));
  into.replaceChildren(
    Page.element("h3", {}, `Turn ${number(turn.turn)}`, Page.element("small", { class: "soft" }, ` of ${number(seen.turns[seen.turns.length - 1].turn)} · ${where}`)),
    rows.length ? Page.element("ol", {}, ...rows) : Page.element("p", { class: "note" }, "What was said is not in the record."),
  );
}

function drawFailed(seen, letter, go) {
  const failed = seen.probes.filter((probe) => probe.failed);
  const badge = letter ? Page.element("b", { class: `viewer-badge viewer-${letter.toLowerCase()}` }, letter) : null;
  const title = failed.length ? `${number(failed.length)} of ${plural(seen.probes.length, "question")} answered wrongly` : `all ${plural(seen.probes.length, "question")} answered rightly`;
  const rows = failed.map((probe) => Page.element("li", {},
    Page.element("button", { type: "button", class: "viewer-ask", click: () => go(probe.turn, probe.probe) }, `${probe.probe}, turn ${probe.turn}`),
    ` ${probe.reason.replaceAll("-", " ") || probe.outcome.toLowerCase()}`,
    ...(probe.lost === null ? [] : [`, ${lostWord(seen, probe)} `, lostButton(seen, probe, go)])));
  return Page.element("details", { class: "viewer-failed screen", open: failed.length > 0 },
    Page.element("summary", {}, badge, ` ${seen.entry.strategy}: ${title}`), scrolled("viewer-questions-list", `Failed questions of ${seen.entry.strategy}`, ...rows));
}
