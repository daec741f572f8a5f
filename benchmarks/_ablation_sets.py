"""Stories that need a part of `layered` which the families as they stand hardly use."""

from __future__ import annotations

from random import Random
from typing import Final

from memsim.scenario import ScenarioBuilder
from memsim.scenario.script import Scenario

CHATTER: Final = "The kettle has boiled {} times today, and the soup is still cold."
PEOPLE: Final = {
    "Bertrand": "I had lunch with Bertrand, we ate far too much.",
    "Yusra": "Remind me that Yusra has my ladder.",
    "Magnus": "We saw Magnus at the harbour, in a red coat.",
    "Pelle": "The piano goes to Pelle if she still wants it.",
    "Henrike": "The dog likes Henrike more than me.",
    "Ottilie": "Yesterday Ottilie called, the boat needs paint.",
}


def stories(family: str, *, count: int, **dials: int | str) -> tuple[str, list[Scenario]]:
    """The name of a family with its dials, and as many of its stories."""
    name = ", ".join((family, *(f"{dial}: {value}" for dial, value in dials.items())))
    marks = "-".join((family, *(f"{dial}-{value}" for dial, value in dials.items())))
    builders = [ScenarioBuilder(f"{marks}-{seed}") for seed in range(count)]
    told = [
        builder.generate(family, seed=seed, **dials).build()
        for seed, builder in enumerate(builders)
    ]
    return name, told


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
