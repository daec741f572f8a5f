"""A provider on this machine that fails in every way there is, and what becomes of each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from memsim.errors import ContextOverflow, ModelError
from memsim.message import EPOCH, Message, Text, ToolResult, said
from memsim.models import Reply, Request, ToolSpec
from memsim.models.live import FilterError, Outage, RefusalError
from memsim.models.live.cost_limit import price_of
from memsim.models.live.litellm_client import LiteLLM
from memsim.models.live.model import LiveModel
from memsim.models.live.retry import RetryClient, RetryPolicy
from memsim.models.model_access import CallAccount
from memsim.models.model_ref import LiveRef
from tests.doubles.fake_provider import (
    AFTER,
    FAULTS,
    LONGER,
    REFUSAL,
    Fault,
    Provider,
    calling,
    providing,
)
from tests.doubles.fake_provider import faults as in_turn
from tests.models.asking import QUESTION, REF, SAID

ACT = Request(
    task="act",
    messages=(said("user", "Where is my kettle?", id="m1", principal="ana"),),
    tools=(ToolSpec(name="search", description="Search the memory.", parameters="{}"),),
    now=EPOCH,
)
PASSING: tuple[Fault, ...] = (
    *("429", "429-after", "500", "502", "503", "529"),
    *("silent", "broken-off", "reset", "garbage", "not-json", "no-choices"),
)
WORDS: dict[Fault, str] = {
    "slow": SAID,
    "empty": "",
    "blank": " \n\t",
    "refusal": REFUSAL,
    "cut-off": SAID[: len(SAID) // 2],
    "longer": LONGER,
}
FINAL: dict[Fault, type[ModelError]] = {
    "length": ModelError,
    "filter": FilterError,
    "filtered-answer": FilterError,
    "overflow": ContextOverflow,
    "tool-call": ModelError,
    "wrong-tool-ids": ModelError,
    "unauthorised": RefusalError,
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """The provider, where litellm looks for OpenAI's."""
    with pytest.MonkeyPatch.context() as patch, providing(lambda _: SAID, patience=2.5) as made:
        patch.setenv("OPENAI_API_KEY", "none-that-opens-anything")
        patch.setenv("OPENAI_BASE_URL", made.url)
        yield made


class Line:
    """A model over that provider, on a clock of its own."""

    def __init__(
        self, provider: Provider, *faults: Fault, attempts: int = 3, ref: LiveRef = REF
    ) -> None:
        provider.asked.clear()
        provider.fault = in_turn(*faults)
        self.waits: list[float] = []
        self.account = CallAccount()
        patience = RetryPolicy(attempts=attempts)
        # A slow machine, too, answers in time what nothing is wrong with.
        hung = not {"silent", "broken-off"}.isdisjoint(faults)
        asker = LiteLLM(price_of(ref), timeout=1.5 if hung else 60.0)
        self.model = LiveModel(
            ref, RetryClient(asker, patience=patience, wait=self.waits.append), self.account
        )


def test_every_fault_has_its_outcome() -> None:
    """None of them is left to chance."""
    assert sorted(FAULTS) == sorted((*PASSING, *WORDS, *FINAL))


@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_is_asked_again(provider: Provider, fault: Fault) -> None:
    """The reply is that of a calm day; no real second is waited for."""
    calm = Line(provider).model.complete(QUESTION)
    line = Line(provider, fault)

    reply = line.model.complete(QUESTION)

    assert calm == reply
    assert (2, 1) == (len(provider.asked), len(line.waits))
    assert provider.asked[0] == provider.asked[1]
    least = AFTER if fault == "429-after" else 0.5
    assert least <= line.waits[0] <= least + 1
    assert not line.account.spent.failed


def test_no_event_loop_stays_behind(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that litellm left open would warn in the middle of something else."""
    made: list[object] = []
    start = asyncio.SelectorEventLoop.__init__

    def count(loop: asyncio.SelectorEventLoop) -> None:
        made.append(loop)
        start(loop)

    monkeypatch.setattr(asyncio.SelectorEventLoop, "__init__", count)
    # Whatever came before, this thread has no loop that could be used again.
    asyncio.set_event_loop_policy(None)

    Line(provider, "429").model.complete(QUESTION)

    assert [] == made


@pytest.mark.parametrize("fault", ["429", "503", "reset"])
def test_what_never_passes_is_given_up(provider: Provider, fault: Fault) -> None:
    """After so many attempts, with waits that grow; the case's account knows of it."""
    line = Line(provider, fault, fault, fault, fault)

    with pytest.raises(Outage, match="was asked 3 times and never answered"):
        line.model.complete(QUESTION)

    assert (3, 2) == (len(provider.asked), len(line.waits))
    assert line.waits[0] < line.waits[1]
    assert 1 == len(line.account.spent.failed)


@pytest.mark.parametrize(("fault", "text"), WORDS.items())
def test_poor_words_are_passed_on_as_they_are(provider: Provider, fault: Fault, text: str) -> None:
    """They are what is measured; who asked has to judge them, and they were paid for."""
    reply = Line(provider, fault).model.complete(QUESTION)

    assert text == reply.text
    assert 1 == len(provider.asked)
    assert reply.cost is not None
    assert reply.cost > 0


@pytest.mark.parametrize(("fault", "kind"), FINAL.items())
def test_what_never_helps_is_asked_once(
    provider: Provider, fault: Fault, kind: type[ModelError]
) -> None:
    """A typed error at once, which is not paid for again."""
    line = Line(provider, fault)

    with pytest.raises(kind) as raised:
        line.model.complete(QUESTION)

    assert kind is type(raised.value)
    assert (1, []) == (len(provider.asked), line.waits)
    assert "\n" not in str(raised.value)


def test_tool_calls_have_ids_of_their_own(provider: Provider) -> None:
    """Results are told apart by them, whatever a model wrote."""
    reply = Line(provider, "wrong-tool-ids").model.complete(ACT)

    assert ["call_a", "call_1", "call_2"] == [call.id for call in reply.tool_calls]
    assert {'{"query": "kettle"}'} == {call.arguments for call in reply.tool_calls}
    (body,) = provider.asked
    assert ["max_tokens", "messages", "model", "temperature", "tools"] == sorted(body)


def test_what_was_called_badly_is_sent_back_so_that_every_provider_takes_it(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of their letters, arguments that are objects; the reply has them as they were."""
    nasty = [("", "search the\n web!", "{"), ("a", "", "[1]"), ("a", "n" * 99, "[" * 9_999)]
    monkeypatch.setattr(provider, "answer", lambda _: calling(*nasty, text="One moment."))
    model = Line(provider).model
    reply = model.complete(ACT)
    used = Message(id="c", role="assistant", blocks=(Text(reply.text), *reply.tool_calls))
    results = tuple(ToolResult(id=c.id, text="Error") for c in reply.tool_calls)
    model.complete(
        replace(ACT, messages=(*ACT.messages, used, Message(id="r", role="tool", blocks=results)))
    )

    assert [c[1:] for c in nasty] == [(c.name, c.arguments) for c in reply.tool_calls]
    assert "One moment." == reply.text
    sent = provider.asked[-1]["messages"][2:]
    assert "One moment." == sent[0]["content"]
    functions = [call["function"] for call in sent[0]["tool_calls"]]
    assert ["search_the__web_", "unnamed", "n" * 64] == [f["name"] for f in functions]
    assert all(isinstance(json.loads(f["arguments"]), dict) for f in functions)
    ids = [call["id"] for call in sent[0]["tool_calls"]]
    assert ids == [m["tool_call_id"] for m in sent[1:]]
    assert 3 == len(set(ids))


def test_no_agent_is_asked_that_would_not_be_told_of_its_tools(provider: Provider) -> None:
    """What litellm would leave out in silence is said at once."""
    line = Line(provider, ref=LiveRef(model="perplexity/sonar"))

    with pytest.raises(RefusalError, match="offers it no tools"):
        line.model.complete(ACT)

    assert 1 == len(line.account.spent.failed)


def test_a_call_is_what_it_says(provider: Provider) -> None:
    """No streaming, the task's own length, no second model; and the listed price."""
    reply = Line(provider).model.complete(QUESTION)

    (body,) = provider.asked
    assert ["max_tokens", "messages", "model", "temperature"] == sorted(body)
    assert ("gpt-4o-mini", 512, 0) == (body["model"], body["max_tokens"], body["temperature"])
    assert ["system", "user", "user"] == [m["role"] for m in body["messages"]]
    usage = reply.usage
    assert reply == Reply(
        text=SAID, usage=usage, cost=round(usage.input * 0.15e-6 + usage.output * 0.6e-6, 12)
    )


def test_calls_at_once_are_answered_in_order(provider: Provider) -> None:
    """However many are under way at the same time."""
    line = Line(provider)
    provider.answer = lambda body: str(body["messages"][-1]["content"])
    requests = [Request(task="answer", question=f"Question {n}?", now=EPOCH) for n in range(6)]

    with ThreadPoolExecutor(max_workers=3) as pool:
        replies = list(pool.map(line.model.complete, requests))
    provider.answer = lambda _: SAID

    assert [r.question for r in requests] == [r.text for r in replies]
