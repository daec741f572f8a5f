"""Judges for tests: sound ones, and ones that should never be believed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from memsim.models import Request
from memsim.models.cassette.call_recorder import key_of
from memsim.models.live import Call, ProviderAnswer
from memsim.models.live.task_prompts import JUDGE
from memsim.models.offline.judge import judge, write_verdict

Judging = Callable[[Call], str]


def sound(call: Call) -> str:
    """What the judge by rule says of the object in a call."""
    told = json.loads(call.messages[1].text)
    return judge(
        Request(
            task="judge",
            expected="\n".join(told["expected"]),
            outdated="\n".join(told.get("outdated", ())),
            given=told["answer"],
        )
    )


def yes_man(_call: Call) -> str:
    """Everything is right."""
    return write_verdict(right=True)


def vague_lover(call: Call) -> str:
    """What names nothing of what could be the answer is right as well."""
    answer = str(json.loads(call.messages[1].text)["answer"])
    vague = ("told me about", "omething", "talked about", "quite a lot", "usual")
    return write_verdict(right=True) if any(word in answer for word in vague) else sound(call)


def coin(call: Call) -> str:
    """A throw for each draw, the same whenever it is asked for."""
    return write_verdict(right=int(key_of(call), 16) % 2 == 0)


def babbler(_call: Call) -> str:
    """No verdict, however much like one it is."""
    return 'Right! {"verdict": "right"}'


@dataclass
class Bench:
    """A reader and a judge in one provider, as a run asks it.

    Attributes:
        judging: what the judge says.
        answer: what the reader says.
        asked: the calls, in the order in which they came.
    """

    judging: Judging = sound
    answer: str = "cupboard"
    asked: list[Call] = field(default_factory=list)

    def ask(self, call: Call) -> ProviderAnswer:
        """The answer to a call; a judge is told that it is one."""
        self.asked.append(call)
        judging = call.messages[0].text == JUDGE
        text = self.judging(call) if judging else self.answer
        return ProviderAnswer(text=text, input=50, output=8, cost=0.00002)
