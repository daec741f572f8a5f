"""Conversations that need a part of `layered` which written scripts hardly use."""

from __future__ import annotations

from random import Random
from typing import Final

from memsim.scenario import ScenarioBuilder
from memsim.scenario.script import Scenario

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


def repeats(number: int) -> Scenario:
    """A conversation in which a monitor says the same again and again."""
    script = ScenarioBuilder(f"repeats-{number}", pace="10min")
    script.user(
        "Pump 4 gets a new seal on Friday, and Ragnhild does it.",
        facts={"seal_day": "Friday", "seal_by": "Ragnhild"},
    )
    script.user("The spare seals are on shelf 19.", facts={"shelf": "shelf 19"})
    for _ in range(10 + number):
        script.user(NOTICE).assistant("Seen.")
    script.probe("seal_by", ask="Who puts the new seal in?", expect="Ragnhild")
    script.probe("seal_day", ask="When does pump 4 get its seal?", expect="Friday")
    script.probe("shelf", ask="Where are the spare seals?", expect="shelf 19")
    return script.build()


def names(number: int) -> Scenario:
    """A long conversation, and a question for all whom it was about."""
    script = ScenarioBuilder(f"names-{number}", pace="3min")
    told = Random(number).sample(list(PEOPLE), len(PEOPLE) - 1)
    for place, text in enumerate(PEOPLE[name] for name in told):
        script.user(text).assistant("I see.")
        for count in range(4):
            script.user(CHATTER.format(4 * place + count + 2)).assistant("It will be warm soon.")
    asked = "Which people did we speak about in this conversation?"
    script.probe("people", ask=asked, expect=told, match="all")
    return script.build()


def gone(number: int) -> Scenario:
    """A conversation, and questions about it five days later."""
    script = ScenarioBuilder(f"gone-{number}", pace="1min")
    decided = Random(number).sample(list(DECIDED), 3)
    for place, (text, _) in enumerate(DECIDED[name] for name in decided):
        script.user(text).assistant("Noted.")
        script.user(CHATTER.format(place + 2)).assistant("It will be warm soon.")
    script.gap("5d").session("later")
    for place in range(4):
        script.user(CHATTER.format(place + 2)).assistant("It will be warm soon.")
    for name in decided:
        script.probe(name, ask=QUESTIONS[name], expect=DECIDED[name][1])
    return script.build()
