"""What each part of `layered` is worth: every switch off, or on, alone.

On the built-in scripts, on LoCoMo and on BEAM: the share of right answers, evidence recall, answers
that stand in the context, mean tokens of the contexts that questions were asked with, and leaks.
`outdated` is the share of questions about what has changed whose context quotes an old statement as
if it still held.

Four conversations more need a part that the scripts hardly use. In `repeats` a monitor says the
same again and again; in `names` a question is for all whom a conversation was about; in `gone`
messages are erased after three days, and questions come after five; in `tool_heavy` tools answer at
length, and the window is wide. It ends with 1 where a switch changes
no figure.

The datasets are looked for below MEMSIM_DATA, or below `../shared/data`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final

from benchmarks.recall_per_token import DATASETS, mean, played, sets
from memsim.scenario import ScenarioBuilder
from memsim.scenario.script import Scenario, Turn

SWITCHES: Final = (
    *("recall=off", "vectors=off", "acl=off", "facts=off", "episodes=off", "offload=off"),
    *("shorten=off", "deduplicate=on", "entities=on", "opening=0", "standing=1", "near=0"),
    *("summary=on", "window=8", "mode=agent", "mode=both"),
)
WIDE: Final = "window=24,window_share=0.4"
"""A window in which much stands, as a host would have it that sends its whole history."""

NOTICE: Final = (
    "Notice of the pump monitor: pressure is within its limits, the valves are open, the filter was"
    " changed last week, no alarm is pending, and the next report follows in ten minutes."
)
CHATTER: Final = "The kettle has boiled {} times today, and the soup is still cold."
DECIDED: Final = {
    "pier": ("The ferry to Vaxholm leaves from pier 7.", "pier 7"),
    "colour": ("We decided to paint the boat green.", "green"),
    "key": ("The key of the boathouse hangs behind the stove.", "behind the stove"),
    "cabin": ("My sister Ragnhild has booked the cabin at Lake Orsa.", "Ragnhild"),
}
QUESTIONS: Final = {
    "pier": "From which pier does the ferry to Vaxholm leave?",
    "colour": "What colour did we decide to paint the boat?",
    "key": "Where does the key of the boathouse hang?",
    "cabin": "Who has booked the cabin at Lake Orsa?",
}
PEOPLE: Final = {
    "Bertrand": "I had lunch with Bertrand, we ate far too much.",
    "Yusra": "Remind me that Yusra has my ladder.",
    "Magnus": "We saw Magnus at the harbour, in a red coat.",
    "Pelle": "The piano goes to Pelle if she still wants it.",
    "Henrike": "The dog likes Henrike more than me.",
    "Ottilie": "Yesterday Ottilie called, the boat needs paint.",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A set of conversations, with the switches of its rows and the parameters of all of them."""

    name: str
    scenarios: Sequence[Scenario]
    switches: Sequence[str]
    params: str = ""
    budget: str = "4k"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a strategy came to on a set, each a share but for tokens and leaks."""

    right: float
    evidence: float
    answer: float
    tokens: float
    leaks: int
    outdated: float

    def line(self, name: str) -> str:
        """A row of a table in Markdown."""
        shares = (f"{value:.3f}" for value in (self.right, self.evidence, self.answer))
        rest = (f"{self.tokens:,.0f}", str(self.leaks), f"{self.outdated:.2f}")
        return f"| {' | '.join((name, *shares, *rest))} |"


def main() -> int:
    """Print the tables; 1 where a switch changes no figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="no datasets")
    given = parser.parse_args()
    idle = set(SWITCHES)
    for case in cases(quick=given.quick):
        print(f"\n{case.name} at {case.budget}\n")
        print("| strategy | right | evidence | answer | tokens | leaks | outdated |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        rows = {}
        for switch in ("", *case.switches):
            given_params = ",".join(filter(None, (case.params, switch)))
            ref = f"layered:{given_params}".rstrip(":")
            rows[switch] = figures(case.scenarios, ref, case.budget)
            print(rows[switch].line(ref), flush=True)
        idle -= {switch for switch, row in rows.items() if astuple(row) != astuple(rows[""])}
    print("every part changes a figure" if not idle else f"without effect: {sorted(idle)}")
    return int(bool(idle))


def cases(*, quick: bool) -> Iterator[Case]:
    """The sets, and the switches that each is played with."""
    both = "recall=off,deduplicate=on"
    yield Case("repeats", [repeats()], ("deduplicate=on", "recall=off", both), WIDE, "1k")
    yield Case("names", [names()], ("entities=on",), budget="1k")
    yield Case("gone", [gone()], ("episodes=off",), "hygiene=messages", "1k")
    for name, scenarios in sets(quick=False):
        if name == "tool_heavy":
            long = ("offload=off", "shorten=off", "offload=off,shorten=off")
            yield Case(name, scenarios, long, "window=20,window_share=0.6")
        elif name == "built-in scenarios" or (name in DATASETS and not quick):
            yield Case(name, scenarios, SWITCHES)


def repeats() -> Scenario:
    """A conversation in which a monitor says the same again and again."""
    script = ScenarioBuilder("repeats", pace="10min")
    script.user(
        "Pump 4 gets a new seal on Friday, and Ragnhild does it.",
        facts={"seal_day": "Friday", "seal_by": "Ragnhild"},
    )
    script.user("The spare seals are on shelf 19.", facts={"shelf": "shelf 19"})
    for _ in range(10):
        script.user(NOTICE).assistant("Seen.")
    script.probe("seal_by", ask="Who puts the new seal in?", expect="Ragnhild")
    script.probe("seal_day", ask="When does pump 4 get its seal?", expect="Friday")
    script.probe("shelf", ask="Where are the spare seals?", expect="shelf 19")
    return script.build()


def names() -> Scenario:
    """A long conversation, and a question for all whom it was about."""
    script = ScenarioBuilder("names", pace="3min")
    for number, text in enumerate(PEOPLE.values()):
        script.user(text).assistant("I see.")
        for count in range(4):
            script.user(CHATTER.format(4 * number + count + 2)).assistant("It will be warm soon.")
    asked = "Which people did we speak about in this conversation?"
    script.probe("people", ask=asked, expect=[*PEOPLE], match="all")
    return script.build()


def gone() -> Scenario:
    """A conversation, and questions about it five days later."""
    script = ScenarioBuilder("gone", pace="1min")
    for number, (text, _) in enumerate(DECIDED.values()):
        script.user(text).assistant("Noted.")
        script.user(CHATTER.format(number + 2)).assistant("It will be warm soon.")
    script.gap("5d").session("later")
    for number in range(4):
        script.user(CHATTER.format(number + 2)).assistant("It will be warm soon.")
    for name, (_, value) in DECIDED.items():
        script.probe(name, ask=QUESTIONS[name], expect=value)
    return script.build()


def figures(scenarios: Iterable[Scenario], ref: str, budget: str) -> Figures:
    """A strategy's figures on a set."""
    probes = [(s, p) for s in scenarios for p in played(s, ref, budget)]
    asked = [p for _, p in probes if not p["unanswerable"]]
    held = [p for p in asked if p["context"]]
    old = [is_outdated(s, p) for s, p in probes if p["context"]]
    return Figures(
        right=mean(float(p["outcome"] == "PASS") for p in asked),
        evidence=mean(e for p in held if (e := p["scores"].get("evidence_recall")) is not None),
        answer=mean(a for p in held if (a := p["scores"]["answer_in_context"]) is not None),
        tokens=mean(p["context"]["total"] for p in held),
        leaks=sum(bool(p["leaks"]) for _, p in probes),
        outdated=mean(float(o) for o in old if o is not None),
    )


def is_outdated(scenario: Scenario, probe: Mapping[str, Any]) -> bool | None:
    """Whether a context quotes an old statement as if it held; None if nothing has changed."""
    before = [
        chain[: chain.index(e["source"])]
        for e in probe["evidence"]
        for chain in chains(scenario)
        if e["source"] in chain[1:]
    ]
    if not before:
        return None
    verbatim = probe["context"]["verbatim"]
    quoted = "\n".join(message["text"] for message in probe["context"]["composed"])
    texts = words(scenario)
    return any(
        "replaced" not in head(quoted, texts[source])
        for sources in before
        for source in sources
        if source in verbatim
    )


def head(quoted: str, text: str) -> str:
    """What stands before a text in its line; empty where the text is not quoted."""
    place = quoted.find(text.partition("\n")[0])
    return quoted[quoted.rfind("\n", 0, place) + 1 : place] if place >= 0 else ""


_CHAINS: dict[str, list[list[str]]] = {}
_WORDS: dict[str, dict[str, str]] = {}


def chains(scenario: Scenario) -> list[list[str]]:
    """The messages that state a fact and what replaced it, for each fact that was replaced."""
    if scenario.name not in _CHAINS:
        found: dict[str, list[str]] = {}
        for turn in (event for event in scenario.events(0) if isinstance(event, Turn)):
            for fact in turn.facts:
                before = found.get(fact.replaces or fact.id, [])
                found[fact.id] = [*before, fact.source]
        _CHAINS[scenario.name] = [chain for chain in found.values() if len(chain) > 1]
    return _CHAINS[scenario.name]


def words(scenario: Scenario) -> dict[str, str]:
    """The text of each message of a scenario by its id."""
    if scenario.name not in _WORDS:
        turns = [event for event in scenario.events(0) if isinstance(event, Turn)]
        said = (message for turn in turns for message in (*turn.heard, *turn.reply))
        _WORDS[scenario.name] = {message.id: message.text for message in said}
    return _WORDS[scenario.name]


if __name__ == "__main__":
    sys.exit(main())
