"""Who is asked in tests of live models: nobody real."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memsim.discovery.loader import resolve
from memsim.errors import ModelError
from memsim.message import EPOCH, said
from memsim.models import Request
from memsim.models.cassette import RecordMode
from memsim.models.cassette.call_recorder import key_of
from memsim.models.live import Call, ProviderAnswer
from memsim.models.live.task_prompts import compose
from memsim.models.model_access import ModelAccess
from memsim.models.model_ref import LiveRef
from memsim.suite.cases import CaseOutcome, CaseSpec
from memsim.suite.play import run_case
from memsim.suite.scenarios import ScenarioRef

REF = LiveRef(model="openai/gpt-4o-mini")
SAID = "The kettle is in the cupboard."
QUESTION = Request(
    task="answer",
    messages=(said("user", "My kettle is in the cupboard.", id="m1", principal="ana"),),
    question="Where is my kettle?",
    asker="ana",
    now=EPOCH,
)


def provider_chat(request: Request) -> list[tuple[str, str]]:
    """What a provider is sent for a request: roles and texts."""
    return [(m.role, m.text) for m in compose(request, REF).messages]


@dataclass
class Stub:
    """Answers each call as it is told, and remembers what it was asked.

    Attributes:
        answer: the answer, or the error, to the n-th call.
    """

    answer: Callable[[Call, int], ProviderAnswer | ModelError] = lambda call, number: (
        ProviderAnswer(text=SAID, input=100, output=10, cost=0.001)
    )
    asked: list[Call] = field(default_factory=list)

    def ask(self, call: Call) -> ProviderAnswer:
        """What it was told to answer."""
        self.asked.append(call)
        found = self.answer(call, len(self.asked) - 1)
        if isinstance(found, ModelError):
            raise found
        return found


# -- whole cases

SCENARIO = """\
memsim: 1
name: kitchen
turns:
  - user: My kettle is in the cupboard.
    facts: {kettle: cupboard}
  - assistant: Noted.
  - user: My pan hangs on the wall, and it is made of copper.
    facts: {pan: copper}
  - assistant: Noted as well.
  - filler: 4
probes:
  kettle: {after: end, ask: Where is my kettle?, expect: cupboard}
  pan: {after: end, ask: What is my pan made of?, expect: copper}
"""


def kitchen(folder: Path, mode: RecordMode, repeat: int = 0, **access: Any) -> CaseSpec:  # noqa: ANN401 - as Access takes them
    """A case of two questions and a few summaries, over recordings in a folder."""
    path = folder / "kitchen.yaml"
    if not path.exists():
        path.write_text(SCENARIO, encoding="utf-8")
    return CaseSpec(
        scenario=ScenarioRef(source="kitchen.yaml", name="kitchen", place=path),
        strategy=resolve("rolling_summary"),
        budget=160,
        repeat=repeat,
        model=REF.label,
        turns=6,
        probes=2,
        access=ModelAccess(
            mode=mode, folder=folder / "cassettes", folder_label="cassettes", **access
        ),
    )


def told(call: Call, _number: int) -> ProviderAnswer:
    """An answer that depends on the call alone."""
    text = (
        f"The user spoke of {key_of(call)[:4]}." if call.task == "summarise" else "In a cupboard."
    )
    return ProviderAnswer(text=text, input=100, output=10, cost=0.000021)


def play_stubbed(spec: CaseSpec, stub: Stub | None = None) -> CaseOutcome:
    """Play a case with nobody real to ask; for processes as well."""
    asked = stub or Stub(told)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memsim.models.provider_models._provider", lambda _ref: asked)
        return run_case(spec)


def play_and_die(
    spec: CaseSpec, answer: Callable[[Call, int], ProviderAnswer] = told, at: int = 2
) -> CaseOutcome:
    """Play a case, and be killed at the third call, or at another."""

    def die(call: Call, number: int) -> ProviderAnswer:
        if number == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer(call, number)

    return play_stubbed(spec, Stub(die))
