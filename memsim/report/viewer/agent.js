// What an agent did with the memory's tools: round by round, each call with what came of it.
const OUTCOMES = { refused: "refused", failed: "failed", unknown: "not called", skipped: "not called: one too many in this round" };

function readAgent(rounds) {
  return (rounds ?? []).map(([round, said, calls, note]) => ({
    round, said, note,
    calls: calls.map(([tool, given, outcome, result, cut]) => ({ tool, given, outcome, result, cut })),
  }));
}

// The arguments by name; what is no object stays as the model wrote it.
function argumentsOf(given) {
  try {
    const read = JSON.parse(given);
    if (read !== null && typeof read === "object" && !Array.isArray(read)) {
      return Object.entries(read).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
    }
  } catch {
    // It is shown all the same.
  }
  return [["as written", given || "nothing"]];
}

function callRow(seen, call) {
  const bad = call.outcome !== "done";
  const given = argumentsOf(call.given).flatMap(([name, value]) =>
    [Page.element("dt", {}, name), Page.element("dd", {}, ...marked(seen, value))]);
  const cut = call.cut ? `, ${plural(call.cut, "character")} of it had no room` : "";
  const size = plural(call.result.length, "character");
  const why = call.result.replace(/^error:\s*/i, "");
  const told = bad ? [OUTCOMES[call.outcome] ?? call.outcome, why].filter(Boolean).join(": ") : call.result || "an empty answer";
  const result = bad || call.result.length < 120
    ? Page.element("p", { class: bad ? "viewer-result bad" : "viewer-result" }, ...marked(seen, `${told}${cut}`))
    : Page.element("details", { class: "viewer-result" },
      Page.element("summary", {}, `answered in ${size}${cut}: `, Page.element("span", {}, call.result.slice(0, 90).replace(/\s+/g, " "), "…")),
      Page.element("div", { class: "viewer-text viewer-long", tabindex: "0", role: "region", "aria-label": `What ${call.tool} answered` }, ...marked(seen, call.result)));
  return Page.element("li", { class: "viewer-call" },
    Page.element("b", { class: `viewer-tag ${bad ? "viewer-t-dropped" : "viewer-t-stored"}` }, call.tool || "a tool without a name"),
    Page.element("dl", {}, ...given), result);
}

function roundRow(seen, { round, said, calls, note }) {
  const silent = !said && !calls.length && !note;
  return Page.element("li", {},
    Page.element("div", { class: "viewer-who" }, round ? `round ${round}` : "by the script"),
    said ? Page.element("div", { class: "viewer-text viewer-said" }, ...marked(seen, said)) : null,
    calls.length ? Page.element("ul", {}, ...calls.map((call) => callRow(seen, call))) : null,
    silent ? Page.element("p", { class: "note" }, "It said nothing.") : null,
    note ? Page.element("p", { class: "viewer-result bad" }, note) : null);
}

function agentBox(seen, rounds, title) {
  if (!rounds.length) return [];
  const calls = rounds.reduce((sum, each) => sum + each.calls.length, 0);
  const bad = rounds.reduce((sum, each) => sum + each.calls.filter((call) => call.outcome !== "done").length, 0);
  const told = calls ? `${plural(calls, "call")}${bad ? `, ${number(bad)} in vain` : ""}` : "no tool was called";
  return [Page.element("details", { class: "viewer-agent viewer-section viewer-l-tools", open: true },
    Page.element("summary", {}, Page.element("b", {}, title), ` ${told}`),
    Page.element("ol", {}, ...rounds.map((each) => roundRow(seen, each))))];
}
