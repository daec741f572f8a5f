"""Each statement of Cogtrix's document, and what its sources do instead where that is an option."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from memsim.clock import Clock
from memsim.context import Context
from memsim.errors import ModelError, RefError, StateError
from memsim.memory.compaction.outcome import CompactionOutcome
from memsim.message import (
    EPOCH,
    Block,
    Message,
    Role,
    Text,
    TokenCounter,
    ToolResult,
    ToolUse,
    load_tokenizer,
    said,
)
from memsim.models import Embedder, Model, Reply, Request
from memsim.models.registry import load_embedder, load_model
from memsim.strategy import Event, Forget, Query, Strategy
from memsim.systems.cogtrix import history_file
from memsim.systems.cogtrix.chat_session import CogtrixSession
from memsim.systems.cogtrix.code_mode import CodeState
from memsim.systems.cogtrix.exchanges import (
    ExchangeIndex,
    exchanges,
    similarity,
    summary_input,
)
from memsim.systems.cogtrix.modes import classify
from memsim.systems.cogtrix.prompts import RULES, SUMMARY
from memsim.systems.cogtrix.reasoning_mode import ReasoningState
from memsim.systems.cogtrix.session_notes import stamped_message
from memsim.systems.cogtrix.settings import (
    CogtrixSettings,
    Mode,
    SessionServices,
    embedding_model,
    memory_settings,
)
from memsim.systems.cogtrix.window_fit import (
    budget_of,
    cut_text,
    estimate_tokens,
    message_content,
    room_for_reply,
    trim_messages,
)
from memsim.testing import verify
from tests.fidelity.breaking import SHOWN, assert_broken_unless_fixed, repaired, told
from tests.fidelity.breaking import said as turn
from tests.models.asking import provider_chat
from tests.strategies.conversations import ask, strategy

Json = Any
WIDE = 128_000
DAY = timedelta(days=1)
DENTIST = "My dentist Lindqvist is in Bergen."
WHO = "Who is my dentist in Bergen, Lindqvist?"


class Scribe:
    """A model that writes what it is told to, and keeps what it was asked."""

    name = "scribe"

    def __init__(self, *texts: str | None) -> None:
        self.asked: list[Request] = []
        self._texts = texts or ("A summary.",)

    def complete(self, request: Request) -> Reply:
        """The next text; None fails."""
        text = self._texts[min(len(self.asked), len(self._texts) - 1)]
        self.asked.append(request)
        if text is None:
            raise ModelError("out of order")
        return Reply(text=text)


class Talk:
    """A session and what it is told, turn by turn."""

    def __init__(self, settings: CogtrixSettings | None = None, model: Model | None = None) -> None:
        counter = TokenCounter(load_tokenizer("chars/4"))
        self.told: list[CompactionOutcome | str] = []
        self.works = SessionServices(
            counter=counter,
            model=model or load_model("offline", counter),
            embed=lambda: load_embedder("hash"),
            tell=self.told.append,
        )
        self.session = CogtrixSession(settings or CogtrixSettings(), self.works)
        self.count = 0

    @property
    def now(self) -> datetime:
        """When the latest message was said."""
        return EPOCH + timedelta(minutes=self.count)

    def hear(self, role: Role, *blocks: Block | str) -> Message:
        """Say something without ending the turn."""
        self.count += 1
        given = tuple(Text(b) if isinstance(b, str) else b for b in blocks)
        message = Message(id=f"m{self.count}", role=role, blocks=given, time=self.now)
        self.session.hear(message)
        return message

    def turn(self, user: str, answer: str = "Fine.", window: int = WIDE) -> None:
        """A whole turn."""
        self.hear("user", user)
        self.hear("assistant", answer)
        self.session.end_turn(self.now, window)

    def turns(self, count: int, words: str = "We talked about item {}.") -> Talk:
        """So many turns."""
        for number in range(count):
            self.turn(words.format(number))
        return self

    def sent(self, text: str = "", window: int = WIDE) -> dict[str, str]:
        """What would be sent, by section."""
        found: dict[str, str] = {}
        for layer, messages in self.session.sections(text, window, self.now):
            if messages:
                told = "\n\n".join(message_content(m) for m in messages)
                found[layer] = f"{found[layer]}\n\n{told}" if layer in found else told
        return found

    def resumed(self, settings: CogtrixSettings | None = None, saved: Json = None) -> Talk:
        """Another session that goes on with what this one saved."""
        other = Talk(settings)
        other.count = self.count
        other.session.load(json.loads(json.dumps(saved or self.session.save())))
        return other


def built(**options: Json) -> Talk:
    """A session with these settings."""
    return Talk(CogtrixSettings(**options))


def summaries(talk: Talk) -> int:
    """How many summaries were made."""
    return sum(
        1 for what in talk.told if isinstance(what, CompactionOutcome) and what.kind == "compaction"
    )


def conversation(memory: Strategy, *texts: str, who: str = "ana") -> None:
    """Hold a conversation with a strategy, a minute a turn."""
    for number, text in enumerate(texts, 1):
        time = EPOCH + timedelta(minutes=number)
        clock: Clock = memory.env.clock
        clock.set(time)
        name = f"{who}{number}"
        memory.observe(said("user", text, id=name, principal=who, turn=number, time=time))
        reply = said("assistant", "Noted.", id=f"{name}a", principal=who, turn=number, time=time)
        memory.context(asked(text, who, time))
        memory.observe(reply)
        memory.end_turn()


def asked(text: str, who: str = "ana", time: datetime = EPOCH + DAY, budget: int = 4096) -> Query:
    """A question."""
    return Query(text=text, principal=who, session="s1", time=time, turn=99, budget=budget)


# -- windows and what is sent


@pytest.mark.parametrize(("mode", "size"), [("conversation", 25), ("code", 30), ("reasoning", 30)])
def test_each_mode_has_its_window(mode: Mode, size: int) -> None:
    """The latest 25 or 30 messages are sent verbatim."""
    assert size == CogtrixSettings(mode=mode).window(mode)
    talk = built(mode=mode, summarization=False, vector_recall_k=0).turns(20)
    window = dict(talk.session.sections("", WIDE, talk.now))["window"]
    # Where a window begins with an answer, its question is no longer there: it is left out.
    assert size - size % 2 == len(window)


def test_the_window_is_set_by_a_parameter() -> None:
    """`working_memory_size` outdoes the mode."""
    talk = built(working_memory_size=4, summarization=False).turns(10)
    assert 4 == len(dict(talk.session.sections("", WIDE, talk.now))["window"])


def test_every_message_is_covered_pending_or_in_the_window() -> None:
    """Of eighty messages, 25 are in the window and fewer than ten wait for the next summary."""
    talk = Talk().turns(40)
    covered = talk.session.state.covered
    assert 80 == len(talk.session.messages)
    assert 0 <= 80 - 25 - covered < 10
    assert 51 == covered


def test_the_parts_stand_in_the_documented_order() -> None:
    """System prompt, summary, recalled exchanges, the mode's context, window."""
    talk = built(mode="code").turns(30, "Please fix `f{}.py` now.")
    sent = talk.sent("what about f3.py then?")
    assert ["system", "summary", "recalled", "working", "window"] == list(sent)
    assert sent["summary"].startswith("Current context:\nConversation summary (older context):\n")
    assert sent["recalled"].startswith("Related past exchanges:\n")


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("conversation", "helpful AI assistant"),
        ("code", "expert programmer"),
        ("reasoning", "strategic advisor"),
    ],
)
def test_each_mode_adds_to_the_system_prompt(mode: Mode, words: str) -> None:
    """The model is told what it is."""
    assert words in built(mode=mode).sent()["system"]


def test_the_current_input_is_the_last_of_the_window() -> None:
    """What the user says now stands after all that was said before."""
    talk = Talk().turns(2)
    talk.hear("user", "And now this?")
    window = dict(talk.session.sections("And now this?", WIDE, talk.now))["window"]
    assert window[-1].text.endswith("And now this?")


# -- summarising


def test_it_summarises_after_the_reply_and_not_before() -> None:
    """Preparing a context asks no model."""
    scribe = Scribe()
    talk = Talk(model=scribe).turns(17)
    talk.hear("user", "One more about this.")
    talk.sent("One more about this.")
    assert [] == scribe.asked
    talk.hear("assistant", "Yes.")
    talk.session.end_turn(talk.now, WIDE)
    assert 1 == len(scribe.asked)


def test_ten_messages_must_have_left_the_window() -> None:
    """With nine nothing happens; with eleven, all eleven are summarised."""
    talk = Talk().turns(17)
    assert 0 == summaries(talk)
    talk.turns(1)
    assert 1 == summaries(talk)
    assert 11 == talk.session.state.covered


@pytest.mark.parametrize(
    ("messages", "characters", "runs"),
    [(3, 4999, False), (4, 10, True), (3, 5001, True), (4, 5001, True)],
)
def test_a_batch_is_skipped_only_where_both_thresholds_are_missed(
    messages: int, characters: int, runs: bool
) -> None:
    """Four messages, or 5,000 characters: either is enough; tool traffic does not count."""
    talk = built(working_memory_size=1)
    share = characters // messages
    for number in range(messages):
        talk.hear("user", "x" * (characters - share * (messages - 1) if not number else share))
    for number in range(12):
        talk.hear("assistant", ToolUse(id=f"c{number}", name="look", arguments="{}"))
        talk.hear("tool", ToolResult(id=f"c{number}", text="y" * 900))
    talk.session.end_turn(talk.now, WIDE)
    assert runs == bool(summaries(talk))


def test_a_skipped_batch_waits_for_more() -> None:
    """What was too little is part of the next batch."""
    talk = built(working_memory_size=1)
    for number in range(12):
        talk.hear("assistant", ToolUse(id=f"c{number}", name="look", arguments="{}"))
    talk.session.end_turn(talk.now, WIDE)
    assert 0 == talk.session.state.covered
    talk.turns(4)
    assert 17 == talk.session.state.covered


def test_the_new_batch_is_merged_into_the_summary_before() -> None:
    """The model is given the summary so far and the batch, nothing twice."""
    scribe = Scribe("First.", "Second.")
    talk = Talk(model=scribe).turns(23)
    assert ["", "First."] == [request.previous for request in scribe.asked]
    batches = [[m.id for m in request.messages] for request in scribe.asked]
    assert [f"m{n}" for n in range(1, 22)] == [*batches[0], *batches[1]]
    assert "Second." == talk.session.state.summary.text


def test_the_summary_has_400_words_at_most() -> None:
    """Four hundred words are some 533 tokens."""
    scribe = Scribe()
    Talk(model=scribe).turns(18)
    assert 533 == scribe.asked[0].max_tokens


def summary_chat(messages: Sequence[Message], summary: str = "") -> tuple[str, str]:
    """The rules that a live model is sent, and what it is to summarise."""
    shown = summary_input(messages)
    request = Request(task="summarise", messages=shown, previous=summary, prompt=SUMMARY)
    (_, rules), (_, batch) = provider_chat(request)
    return rules, batch


def test_a_model_of_ones_own_is_told_the_five_rules() -> None:
    """What to keep and to leave out, person and tense, length, bullets; then the text."""
    messages = [said("user", "I moved to Oslo.", id="1"), said("assistant", "Noted.", id="2")]
    rules, batch = summary_chat(messages)
    words = ("decisions, user preferences", "small talk", "third person", "400 words", "bullet")
    assert all(word in rule for word, rule in zip(words, rules.splitlines(), strict=True))
    assert batch.endswith("User: I moved to Oslo.\n\nAssistant: Noted.")
    merged = summary_chat(messages, "They live in Rome.")[1]
    assert merged.index("They live in Rome.") < merged.index("I moved to Oslo.")


def test_the_model_reads_what_was_said_without_tool_traffic() -> None:
    """Results and empty messages are left out; long ones keep 1,000 and 500 characters."""
    messages = [
        said("user", "a" * 1000 + "b" * 1001 + "c" * 500, id="1"),
        Message(
            id="2",
            role="assistant",
            blocks=(Text(""), ToolUse(id="c", name="look", arguments="{}")),
        ),
        Message(id="3", role="tool", blocks=(ToolResult(id="c", text="found"),)),
        said("assistant", " It is there. ", id="4"),
    ]
    long = "a" * 1000 + " [...] " + "c" * 500
    assert summary_chat(messages)[1].endswith(f":\n\nUser: {long}\n\nAssistant: It is there.")


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_a_failure_leaves_the_summary_as_it_was(text: str | None) -> None:
    """A model that fails or says nothing changes nothing, and the batch is tried again."""
    scribe = Scribe("First.", text, "Second.")
    talk = Talk(model=scribe).turns(23)
    assert "First." == talk.session.state.summary.text
    assert 11 == talk.session.state.covered
    talk.turns(1)
    assert "Second." == talk.session.state.summary.text
    assert 23 == talk.session.state.covered


def test_a_summary_may_be_longer_than_what_it_replaces() -> None:
    """Whatever the model says is taken."""
    talk = Talk(model=Scribe("word " * 2000)).turns(18)
    assert 1 == summaries(talk)


def test_summarization_can_be_switched_off() -> None:
    """No model is called; exchanges are embedded and recalled all the same."""
    scribe = Scribe()
    talk = Talk(CogtrixSettings(summarization=False), scribe)
    talk.turn(DENTIST)
    talk.turns(30)
    assert [] == scribe.asked
    sent = talk.sent(WHO)
    assert "summary" not in sent
    assert DENTIST in sent["recalled"]


# -- recall


def test_exchanges_of_question_and_answer_are_recalled() -> None:
    """An answer ends an exchange; tool rows are left out, long contents shortened."""
    messages = [
        said("user", "Where is it?", id="1"),
        said("user", "The blue one.", id="2"),
        Message(id="3", role="tool", blocks=(ToolResult(id="c", text="shelf"),)),
        said("assistant", "x" * 750 + "y" * 251 + "z" * 500, id="4"),
        said("user", "Thanks.", id="5"),
    ]
    found = list(exchanges(messages))
    answer = "x" * 750 + " [...] " + "z" * 500
    assert [
        f"User: Where is it?\nUser: The blue one.\nAssistant: {answer}",
        "User: Thanks.",
    ] == [x.text for x in found]
    assert (("1", "2"), ("4",)) == (found[0].whole, found[0].parts)


@pytest.mark.parametrize(("k", "count"), [(None, 3), (1, 1), (5, 5), (0, 0)])
def test_so_many_exchanges_are_recalled(k: int | None, count: int) -> None:
    """Three by default; none switches recall off."""
    talk = built(vector_recall_k=k)
    talk.turn(DENTIST)
    talk.turns(60)
    recalled = talk.sent(WHO).get("recalled", "")
    assert bool(count) == (DENTIST in recalled)
    assert max(0, count - 1) == recalled.count("\n---\n")


def test_only_what_was_summarised_can_be_recalled() -> None:
    """What is in the window or waits for the next summary is not in the index."""
    talk = Talk().turns(18)
    ids = {i for x in talk.session.exchanges for i in x.sources}
    assert {f"m{n}" for n in range(1, 12)} == ids


def test_without_an_embedder_nothing_is_recalled_and_all_else_goes_on() -> None:
    """The summary and the window are as they were."""

    def missing() -> Embedder:
        raise RefError("no embedder is called that")

    talk = Talk()
    talk.session.exchanges = ExchangeIndex(missing)
    talk.turns(20)
    assert ["system", "summary", "window"] == list(talk.sent("item 3, please, again"))


def test_every_session_has_an_index_of_its_own() -> None:
    """What one session said is recalled in no other."""
    one, other = Talk(), Talk()
    one.turns(30, "I moved box {} to Oslo.")
    other.turns(30, "It rains on day {}.")
    assert "Oslo" in one.sent("Where did box 3 go?")["recalled"]
    assert "Oslo" not in other.sent("Where did box 3 go?").get("recalled", "")


def test_the_embedder_is_named_or_found() -> None:
    """`rag.model` names it; else Ollama's is taken, then OpenAI's, then none."""
    local, remote = {"ollama": "nomic-embed-text"}, {"openai": "text-embedding-3-small"}
    assert "nomic-embed-text" == embedding_model({}, remote | local)
    assert "text-embedding-3-small" == embedding_model({}, remote)
    assert None is embedding_model({}, {})
    config: dict[str, Json] = {"rag": {"model": "mine"}, "models": {"mine": {"model": "bge-m3"}}}
    assert "bge-m3" == embedding_model(config, local)
    with pytest.raises(ValueError, match=r"rag\.model is 'yours'"):
        embedding_model({"rag": {"model": "yours"}}, {})


def test_vectors_of_another_embedder_are_made_anew() -> None:
    """The name stands beside them; where it differs they are discarded and rebuilt."""
    talk = Talk().turns(30)
    saved: Json = talk.session.save()
    assert load_embedder("hash").name == saved["vectors"]["embedding_model"]
    saved["vectors"] = {
        "embedding_model": "another",
        "exchanges": [{"text": "User: stale", "whole": [], "parts": []}],
    }
    rebuilt = talk.resumed(saved=saved)
    texts = [x.text for x in rebuilt.session.exchanges]
    assert "User: stale" not in texts
    covered = {i for x in rebuilt.session.exchanges for i in x.sources}
    assert {f"m{n}" for n in range(1, talk.session.state.covered + 1)} == covered
    source = talk.resumed(CogtrixSettings(origin="source"), saved)
    assert [] == list(source.session.exchanges)


# -- timestamps


def test_what_is_sent_is_stamped_in_utc() -> None:
    """Users' messages and the model's replies begin with date and time."""
    talk = Talk()
    talk.turn("Hello there.")
    assert (
        "[2026-01-05 09:01:00 UTC] Hello there.\n\n[2026-01-05 09:02:00 UTC] Fine."
        == talk.sent()["window"]
    )
    east = EPOCH.astimezone(timezone(timedelta(hours=8)))
    message = said("user", "Hi.", id="1", time=east)
    assert "[2026-01-05 09:00:00 UTC] Hi." == stamped_message(message).text


def test_a_stamp_takes_the_place_of_the_date_line() -> None:
    """The context writes no date of its own before what is stamped."""
    memory = strategy("cogtrix")
    conversation(memory, "Hello there.")
    texts = [m.text for m in memory.context(asked("Who?")).messages()]
    assert not any("[2026-01-05]" in text for text in texts)


def test_stamps_are_stored_in_iso_format() -> None:
    """The history file has them beside each message."""
    talk = Talk()
    talk.turn("Hello there.")
    saved: Json = talk.session.save()
    assert ["2026-01-05T09:01:00Z", "2026-01-05T09:02:00Z"] == [
        record["timestamp"] for record in saved["history"]["messages"]
    ]


def test_old_files_without_stamps_load() -> None:
    """Such messages are sent without a time."""
    old = [
        {"type": "human", "content": "An old question"},
        {
            "type": "ai",
            "content": "",
            "tool_calls": [{"id": "c", "name": "look", "args": {"a": 1}}],
        },
        {"type": "tool", "content": "found", "tool_call_id": "c"},
        {"type": "ai", "content": "An old answer", "timestamp": "2026-02-14T15:23:05Z"},
    ]
    talk = Talk().resumed(saved={"history": old})
    window = dict(talk.session.sections("", WIDE, talk.now))["window"]
    assert "An old question" == window[0].text
    assert "[2026-02-14 15:23:05 UTC] An old answer" == window[-1].text
    saved: Json = talk.session.save()
    assert "timestamp" not in saved["history"]["messages"][0]
    assert talk.session.save() == talk.resumed().session.save()


# -- conversation mode


def test_conversation_mode_tracks_topics_entities_and_key_facts() -> None:
    """They are kept and saved, and what is sent holds none of them."""
    talk = Talk()
    talk.turn("I want to learn Python. The installation of Python failed on my Fedora.")
    talk.turn("Is the installation of Python hard?")
    state = talk.session.tracked.talk
    assert "python" == state.topics[0].text or "python" in [t.text for t in state.topics]
    assert "Python" in [e.text for e in state.entities]
    assert "I want to learn Python." in [f.text for f in state.facts]
    assert not any("?" in f.text for f in state.facts)
    assert "working" not in talk.sent("Python?")
    assert talk.session.tracked.talk.save() == talk.resumed().session.tracked.talk.save()


# -- code mode


def test_code_mode_tracks_mentioned_files() -> None:
    """Quoted names, from the user and then the answer; shown are the five latest."""
    talk = built(mode="code")
    for number in range(7):
        talk.turn(f"Look at `f{number}.py`", f"And 'g{number}.js'")
    shown_last = "`g6.js`, `f6.py`, `g5.js`, `f5.py`, `g4.js`"
    assert f"**Recent files:** {shown_last}" in talk.sent()["working"]


def test_twenty_files_are_tracked_and_the_longest_unmentioned_goes() -> None:
    """A new file takes the place of the one whose latest mention is the oldest."""
    state = CodeState()
    for number in range(20):
        state.find_files(f"`f{number}.py`")
    state.find_files("`f0.py`")
    state.find_files("`new.py`")
    assert 20 == len(state.files)
    assert "f1.py" not in state.files
    assert "f0.py" in state.files
    assert 3 == len(dict(_coded(3).files))


def _coded(limit: int) -> CodeState:
    state = CodeState(max_files=limit)
    for number in range(9):
        state.find_files(f"`f{number}.py`")
    return state


def test_five_errors_are_kept() -> None:
    """The latest of those that users tell of, each once."""
    state = CodeState()
    for number in range(4):
        state.find_errors(f"error TS{number}: bad\nerror TS{number}: bad")
    assert 4 == len(state.errors)
    state.find_errors("KeyError: 'k'")
    assert [
        "error TS1: bad",
        "error TS2: bad",
        "error TS3: bad",
        "Error: 'k'",
        "KeyError: 'k'",
    ] == [e.text for e in state.errors]
    few = CodeState(max_errors=1)
    few.find_errors("error TS1: a\nerror TS2: b")
    assert ["error TS2: b"] == [e.text for e in few.errors]


def test_errors_stay_when_their_message_has_left_the_window() -> None:
    """The bug is known however long ago it was told."""
    talk = built(mode="code", vector_recall_k=0, working_memory_size=4)
    talk.turn("I hit TypeError: unhashable list")
    talk.turns(20)
    assert "  • TypeError: unhashable list" in talk.sent()["working"]


def test_code_mode_tracks_the_task_and_its_progress() -> None:
    """Task, completed steps, changes and blockers are told from how they are said."""
    talk = built(mode="code")
    talk.turn("Please fix the authentication bug.", "I identified the issue. Modified auth.py.")
    talk.turn("Good.", "I am blocked by the missing key.")
    assert [
        "Current context:",
        "**Current Task:** fix the authentication bug",
        "**Completed:**",
        "  ✓ identified the issue",
        "  ✓ Modified auth.py",
        "**Blockers:**",
        "  ⚠ the missing key",
        "",
        "**Recent changes:**",
        "  • 09:02 - Modified auth.py",
    ] == talk.sent()["working"].splitlines()


def test_task_files_errors_and_changes_are_shown_in_order() -> None:
    """Task, files, current file, errors, changes; each with its bound."""
    state = CodeState()
    state.set_task("T")
    for number in range(7):
        state.add_progress(f"step {number}")
    state.set_current_step("now")
    state.set_file_context("a.py", "x" * 501, (3, 9))
    state.add_error("E" * 150)
    for number in range(6):
        state.record_change(f"c{number}", EPOCH)
    task, files, file, errors, changes = [part.text for part in state.parts()]
    assert task.startswith("**Current Task:** T\n**Completed:**\n  ✓ step 2\n")
    assert task.endswith("\n**Working on:** now")
    assert "**Recent files:** `a.py`" == files
    assert f"**Current file:** `a.py` (lines 3-9)\n```\n{'x' * 500}...\n```" == file
    assert f"**Recent errors:**\n  • {'E' * 100}" == errors
    assert "**Recent changes:**\n" + "\n".join(f"  • 09:00 - c{n}" for n in range(1, 6)) == changes


# -- reasoning mode


def test_reasoning_mode_tracks_what_is_planned_and_decided() -> None:
    """Objective, goals, constraints, alternatives, decisions with reasons, assumptions."""
    talk = built(mode="reasoning")
    talk.turn(
        "Our goal is to design a scalable architecture. Milestone: migrate the orders."
        " Our budget is $50k. We must keep the API stable. Option A: direct API calls.",
        "We decided to use events because it decouples the services. I assume that four"
        " developers are enough. Direct API calls are ruled out.",
    )
    assert [
        "Current context:",
        "🎯 **OBJECTIVE:** design a scalable architecture",
        "",
        "**Goals:**",
        "  ○ migrate the orders",
        "",
        "**Constraints:**",
        "  Business: Our budget is $50k",
        "  Non_Negotiables: We must keep the API stable",
        "",
        "**Alternatives:**",
        "  [dead_end] direct API calls",
        "",
        "**Dead Ends (avoid):**",
        "  ✗ Direct API calls are ruled out",
        "",
        "**Assumptions:** four developers are enough",
        "",
        "**Recent Decisions:**",
        "  • use events — it decouples the services",
    ] == talk.sent()["working"].splitlines()


def full() -> ReasoningState:
    """A state with something in every section."""
    state = ReasoningState()
    state.set_objective("O")
    for number in range(7):
        state.add_goal(f"g{number}", f"goal {number}")
        state.add_reasoning_step(f"step {number}")
        state.add_alternative(f"way {number}")
        state.mark_dead_end(f"end {number}")
        state.add_assumption(f"guess {number}")
        state.log_decision(f"d{number}", f"do {number}", "w" * 60)
        state.add_constraint("business", f"limit {number}")
        state.add_question(f"q {number}")
    for goal, status in (("g4", "in_progress"), ("g5", "completed"), ("g6", "blocked")):
        state.update_goal_status(goal, status)
    state.set_single("phase", "P")
    state.set_single("problem", "B")
    state.set_single("hypothesis", "H")
    return state


def test_sections_stand_in_order_with_their_bounds() -> None:
    """Objective, goals and phase, constraints, then the rest; five or three of each."""
    why = "w" * 50 + "..."
    assert [
        "🎯 **OBJECTIVE:** O",
        "**Goals:**\n  ○ goal 2\n  ○ goal 3\n  ◐ goal 4\n  ● goal 5\n  ✗ goal 6",
        "**Current Phase:** P",
        "**Constraints:**\n  Business: limit 0, limit 1, limit 2",
        "**Problem:** B",
        "**Hypothesis:** H",
        "**Reasoning Chain:**\n  1. step 2\n  2. step 3\n  3. step 4\n  4. step 5\n  5. step 6",
        "**Alternatives:**\n" + "\n".join(f"  [exploring] way {n}" for n in range(2, 7)),
        "**Dead Ends (avoid):**\n  ✗ end 4\n  ✗ end 5\n  ✗ end 6",
        "**Assumptions:** guess 4, guess 5, guess 6",
        f"**Recent Decisions:**\n  • do 4 — {why}\n  • do 5 — {why}\n  • do 6 — {why}",
        "**Open Questions:**\n  ? q 4\n  ? q 5\n  ? q 6",
    ] == [part.text for part in full().parts()]


def test_twenty_decisions_and_ten_alternatives_are_kept() -> None:
    """The oldest go; naming an alternative in a dead end marks it."""
    state = ReasoningState()
    for number in range(25):
        state.log_decision(f"d{number}", f"do {number}", "")
        state.add_alternative(f"way {number}")
    assert ["do 5", "do 24"] == [next(iter(state.decisions)).text, list(state.decisions)[-1].text]
    assert 20 == len(state.decisions)
    assert 10 == len(state.alternatives)
    assert "way 15" == next(iter(state.alternatives)).text
    few = ReasoningState(max_decisions=2, max_alternatives=1)
    for number in range(3):
        few.log_decision("d", f"do {number}", "")
        few.add_alternative(f"way {number}")
    assert (2, 1) == (len(few.decisions), len(few.alternatives))


def test_constraints_of_other_categories_are_ignored() -> None:
    """There are business, technical and non_negotiables."""
    state = ReasoningState()
    state.add_constraint("legal", "x")
    assert not state.is_fresh("constraints")
    assert [] == list(state.parts())


def test_a_section_is_shown_for_three_turns_after_it_was_touched() -> None:
    """At the fourth it is left out, until it is touched again; the objective stays."""
    state = ReasoningState()
    state.set_objective("O")
    state.add_goal("g", "goal")
    seen = []
    for _ in range(5):
        seen.append(len(list(state.parts())))
        state.next_turn()
    assert [2, 2, 2, 2, 1] == seen
    state.update_goal_status("g", "completed")
    assert 2 == len(list(state.parts()))
    never = ReasoningState(max_stale_turns=0)
    never.add_goal("g", "goal")
    never.next_turn()
    assert [] == list(never.parts())


def test_an_alternative_that_is_updated_keeps_nothing_fresh() -> None:
    """Only adding one does."""
    state = ReasoningState()
    state.add_alternative("a")
    for _ in range(4):
        state.next_turn()
    state.update_alternative("a", "chosen")
    assert not state.is_fresh("alternatives")


# -- configuration and modes


def test_settings_come_from_a_file_the_environment_or_the_command_line() -> None:
    """The documented `memory:` part is taken as it stands; a variable outdoes it, a flag both."""
    config: dict[str, Json] = {
        "memory": {
            "mode": "code",
            "modes": {
                "conversation": {"working_memory_size": 25, "vector_recall_k": 3},
                "code": {"max_files": 7, "max_errors": 2, "summarization": False},
                "reasoning": {
                    "max_decisions": 20,
                    "max_alternatives": 10,
                    "prefix_max_stale_turns": 3,
                },
            },
        }
    }
    assert CogtrixSettings(
        mode="code", max_files=7, max_errors=2, summarization=False
    ) == memory_settings(config)
    variable = {"COGTRIX_MEMORY_MODE": "reasoning", "COGTRIX_VECTOR_RECALL_K": "4"}
    assert CogtrixSettings(mode="reasoning", vector_recall_k=4) == memory_settings(config, variable)
    assert "conversation" == memory_settings(config, variable, "conversation").mode
    assert CogtrixSettings() == memory_settings({})
    with pytest.raises(ValueError, match=r"memory\.modes\.code"):
        memory_settings({"memory": {"mode": "code", "modes": {"code": {"files": 1}}}})


def test_the_defaults_are_the_documented_ones() -> None:
    """Summaries are on, three exchanges are recalled, and each limit is as the tables say."""
    settings = CogtrixSettings()
    limits = (settings.max_files, settings.max_errors, settings.max_decisions)
    assert (20, 5, 20) == limits
    assert (10, 3) == (settings.max_alternatives, settings.prefix_max_stale_turns)
    assert settings.summarization
    assert [3, 3, 3] == [settings.recalled(m) for m in ("conversation", "code", "reasoning")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("mode=codes", "mode is 'codes'"),
        ("window=0", "working_memory_size is 0: at least 1"),
        ("k=-1", "vector_recall_k is -1: at least 0"),
        ("stale=-1", "prefix_max_stale_turns is -1"),
        ("max_files=0", "max_files is 0"),
        ("max_errors=0", "max_errors is 0"),
        ("max_decisions=0", "max_decisions is 0"),
        ("max_alternatives=0", "max_alternatives is 0"),
        ("origin=web", "origin is 'web'"),
        ("switching=never", "switching is 'never'"),
        ("scope=world", "scope is 'world'"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(options: str, words: str) -> None:
    """Every parameter is checked."""
    with pytest.raises((RefError, ValueError)) as caught:
        strategy(f"cogtrix:{options}")
    assert options.partition("=")[2] in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("command", ["/mode code", "/M code", " /mode  code "])
def test_a_command_switches_the_mode_at_once(command: str) -> None:
    """What was said stays; prompt and context are the new mode's; the command is no message."""
    talk = Talk().turns(20)
    talk.hear("user", command)
    assert "Switched to code mode" == talk.told[-1]
    assert 40 == len(talk.session.messages)
    assert [] == talk.session.pending
    talk.turn("Please fix `a.py` now.")
    sent = talk.sent()
    assert "expert programmer" in sent["system"]
    assert "**Recent files:** `a.py`" in sent["working"]
    assert "summary" in sent


def test_what_a_mode_tracked_is_there_when_it_is_switched_back() -> None:
    """Another mode shows nothing of it meanwhile; an unknown one is talk like any other."""
    talk = built(mode="code")
    talk.turn("Please fix `a.py` now.")
    talk.hear("user", "/M reasoning")
    assert "working" not in talk.sent()
    talk.hear("user", "/mode code")
    assert "`a.py`" in talk.sent()["working"]
    talk.hear("user", "/mode poetry")
    assert 1 == len(talk.session.pending)


def test_the_switch_is_told_as_an_event() -> None:
    """A trace shows when it was."""
    events: list[Event] = []
    memory = strategy("cogtrix", log=events.append)
    conversation(memory, "/mode code")
    assert [("switched", "Switched to code mode")] == [(e.kind, e.detail) for e in events]


# -- files


def test_a_session_is_kept_in_its_documented_files(tmp_path: Path) -> None:
    """History, summary with its index, the mode's state, and vectors; a resumed one goes on."""
    talk = built(mode="code").turns(30, "Please fix `f{}.py` now.")
    saved: Json = talk.session.save()
    history_file.write_files(tmp_path, "my project/../x", saved)
    files = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    name = "my%20project%2F%2E%2E%2Fx"
    assert [
        f"history/{name}.json",
        f"history/{name}_hybrid.json",
        f"history/{name}_mode_state.json",
        f"vectordb/sessions/{name}/index.json",
    ] == files
    hybrid = json.loads((tmp_path / "history" / f"{name}_hybrid.json").read_text("utf-8"))
    assert talk.session.state.summary.text == hybrid["_summary"]
    assert talk.session.state.covered == hybrid["_summary_msg_idx"]
    again = talk.resumed(saved=history_file.load_files(tmp_path, "my project/../x"))
    assert saved == again.session.save()
    assert talk.sent("f3.py again, please") == again.sent("f3.py again, please")


def test_the_files_of_other_programs_are_enough() -> None:
    """Texts and an index are all that the summary's file must hold."""
    history = [{"type": "human", "content": f"q{n}"} for n in range(30)]
    hybrid = {
        "_summary": "They met.\nThey agreed.",
        "_summary_msg_idx": 5,
        "_summary_last_updated_at": "2026-02-14T15:23:05Z",
    }
    talk = Talk().resumed(saved={"history": history, "hybrid": hybrid})
    assert 5 == talk.session.state.covered
    assert "They met.\nThey agreed." in talk.sent()["summary"]


def test_the_index_is_clamped_to_the_history() -> None:
    """Where messages were removed from the file, the summary covers no more than there is."""
    talk = Talk().turns(30)
    saved: Json = talk.session.save()
    del saved["history"]["messages"][4:]
    assert 4 == talk.resumed(saved=saved).session.state.covered


def test_turns_and_freshness_are_restored() -> None:
    """Goals, decisions, counters and when each section was touched are in the mode's file."""
    talk = built(mode="reasoning")
    talk.turn("Our goal is to ship it. Milestone: write the tests.")
    talk.turns(2, "Nothing new, {}.")
    saved: Json = talk.session.save()
    assert 3 == saved["mode_state"]["reasoning"]["_turn_count"]
    assert {"goals": 1, "objective": 1} == saved["mode_state"]["reasoning"]["_section_ts"]
    again = talk.resumed()
    assert talk.sent() == again.sent()
    again.turns(1, "Nothing new, {}.")
    assert "**Goals:**" in again.sent()["working"]
    again.turns(1, "Nothing new, {}.")
    assert "**Goals:**" not in again.sent()["working"]


@pytest.mark.parametrize("part", ["history", "hybrid", "mode_state", "vectors"])
def test_a_damaged_state_is_refused_in_one_line(part: str) -> None:
    """What cannot be read back says so."""
    saved: Json = Talk().turns(20).session.save()
    saved[part] = 17
    with pytest.raises(StateError):
        Talk().resumed(saved=saved)


@pytest.mark.parametrize("mode", ["conversation", "code", "reasoning"])
def test_a_strategy_that_is_restarted_goes_on_as_before(mode: str) -> None:
    """Saved, made anew and loaded, it gives the same context and the same state."""
    ref = f"cogtrix:mode={mode}"
    memory = strategy(ref)
    conversation(
        memory, *(f"Please fix `f{n}.py`, we must keep it at most {n}." for n in range(30))
    )
    other = strategy(ref)
    other.load(json.loads(json.dumps(memory.save())))
    assert memory.save() == other.save()
    question = asked("Which limit is for f3.py?")
    assert memory.context(question) == other.context(question)


# -- trimming


def test_tokens_are_estimated_at_four_characters() -> None:
    """At least one, and ten for a message without content."""
    assert [1, 1, 1, 2, 10] == [
        estimate_tokens(t) for t in ("a", "abcd", "abcdefg", "abcdefgh", "")
    ]


def test_a_quarter_of_the_window_is_kept_for_the_reply() -> None:
    """1,024 tokens at least; of a window that has no more, half may be filled."""
    assert [96_000, 2976, 1, 512, 250] == [budget_of(w) for w in (128_000, 4000, 1025, 1024, 500)]


def test_the_reply_never_has_less_than_one_token() -> None:
    """What is left of the window is what is asked for."""
    assert [1000, 1, 1] == [room_for_reply(4000, used) for used in (3000, 4000, 9000)]


def messages(count: int, size: int = 400) -> list[Message]:
    """Messages of 100 tokens each."""
    roles: Sequence[Role] = ("user", "assistant")
    return [said(roles[n % 2], f"{n}".ljust(size, "."), id=f"m{n}") for n in range(count)]


def test_the_oldest_messages_are_dropped_first() -> None:
    """And an answer whose question is gone goes with it."""
    system = said("system", "s" * 400, id="sys")
    done = trim_messages([system, *messages(20)], 2024)
    assert ["sys", *(f"m{n}" for n in range(12, 20))] == [m.id for m in done.messages]
    assert 12 == done.dropped


def test_a_long_message_is_cut_with_a_marker() -> None:
    """Its middle is left out, and how much of it."""
    text = "a" * 100 + "b" * 100
    marker = "\n\n[... truncated: 120 chars removed to fit context window ...]\n\n"
    assert "a" * 40 + marker + "b" * 40 == cut_text(text, 20)
    assert text == cut_text(text, 50)
    long = said("user", "x" * 30_000, id="m0")
    done = trim_messages([long, said("user", "now", id="m1")], WIDE)
    assert 24_000 + len(marker) + 1 == len(done.messages[0].text)
    assert ("m0",) == done.messages[0].derived_from


def test_system_prompt_and_current_input_are_never_dropped() -> None:
    """Each may be cut to half of what there is; then there is no room for anything else."""
    system, final = said("system", "s" * 9000, id="sys"), said("user", "u" * 9000, id="now")
    done = trim_messages([system, *messages(4), final], 2024)
    assert ["sys", "now"] == [m.id for m in done.messages]
    assert 4 == done.dropped
    assert all("truncated" in m.text for m in done.messages)


@pytest.mark.parametrize("mode", ["conversation", "code", "reasoning"])
def test_what_is_sent_fits_the_window(mode: str) -> None:
    """However long the messages are, as long as four characters are a token."""
    memory = strategy(f"cogtrix:mode={mode}", budget=2048)
    conversation(memory, *(f"Please fix `f{n}.py` and " + "more " * (n * 9) for n in range(40)))
    for text in ("f3.py?", "word " * 800):
        context: Context = memory.context(replace(ask(memory, text), budget=2048))
        assert context.tokens <= 2048


# -- known defects, and their repairs


def squeezed(*, fixed: bool) -> Talk:
    """A session whose window is too small for all of it."""
    talk = built(mode="code", fixed=fixed)
    for number in range(30):
        talk.turn(f"Please fix `f{number}.py`. " + "x" * 400, "Done. " + "y" * 400)
    return talk


def test_summary_and_context_are_the_first_to_be_dropped() -> None:
    """They stand before the oldest message; `fixed` lets the oldest messages go instead."""
    assert ["system", "window"] == list(squeezed(fixed=False).sent("f3.py again please", 4096))
    repaired = squeezed(fixed=True).sent("f3.py again please", 4096)
    assert ["system", "summary", "recalled", "working", "window"] == list(repaired)


def test_only_quoted_file_names_are_found() -> None:
    """A bare name is not, and a phrase in quotes is; `fixed` finds bare names as well."""
    plain, fixed = CodeState(), CodeState(fixed=True)
    for state in (plain, fixed):
        state.find_files('see src/auth.py and "notes for you.md", not e.g. this')
    assert ["notes for you.md"] == list(plain.files)
    assert "src/auth.py" in fixed.files


def test_errors_of_tools_are_not_tracked() -> None:
    """Only what the user tells of is; `fixed` reads results as well."""
    for fixed in (False, True):
        talk = built(mode="code", fixed=fixed)
        talk.hear("user", "Run it.")
        talk.hear("assistant", ToolUse(id="c", name="run", arguments="{}"))
        talk.hear("tool", ToolResult(id="c", text="KeyError: 'k'", is_error=True))
        talk.hear("assistant", "It failed.")
        talk.session.end_turn(talk.now, WIDE)
        assert fixed == bool(len(talk.session.tracked.code.errors))


def test_one_error_is_kept_twice() -> None:
    """Two patterns find it: `Error: x` is a part of `TypeError: x`."""
    state = CodeState()
    state.find_errors("TypeError: x")
    assert ["Error: x", "TypeError: x"] == [e.text for e in state.errors]


def test_everybody_shares_a_session() -> None:
    """Who says what is not told apart; `scope=principal` gives each a session, as `fixed` does."""
    refs = {"cogtrix": True, "cogtrix:scope=principal": False, "cogtrix:fixed=true": False}
    for ref, leaks in refs.items():
        memory = strategy(ref)
        conversation(memory, "My code is 4411.", who="ana")
        conversation(memory, "Hello.", who="ben")
        assert leaks == ("4411" in memory.context(asked("What code?", "ben")).text())


@pytest.mark.parametrize(("fixed", "kept"), [("false", False), ("true", True)])
def test_a_session_overwrites_the_one_whose_history_its_summary_is(fixed: str, kept: bool) -> None:
    """`talk` has its summary in `talk_hybrid.json`, which is the history of `talk_hybrid`."""
    ref = f"cogtrix:scope=session,fixed={fixed}"
    memory = strategy(ref)
    question = replace(asked("What code?", "ana"), session="talk_hybrid")
    _say(memory, "My code is 4411.", "ana", "talk_hybrid", 1)
    _say(memory, "Hello.", "ben", "talk", 2)
    assert "4411" in memory.context(question).text()

    again = strategy(ref)
    again.load(json.loads(json.dumps(memory.save())))

    assert kept == ("4411" in again.context(question).text())
    assert "Hello." in again.context(replace(asked("What?", "ben"), session="talk")).text()


def _say(memory: Strategy, text: str, who: str, session: str, turn: int) -> None:
    memory.observe(said("user", text, id=f"m{turn}", principal=who, session=session, turn=turn))
    memory.end_turn()


# -- what the source does instead


def sourced(**options: Json) -> Talk:
    """A session as in the source."""
    return built(origin="source", **options)


def test_in_the_source_reasoning_mode_recalls_two() -> None:
    """The document says three."""
    settings = CogtrixSettings(origin="source")
    assert [3, 3, 2] == [settings.recalled(m) for m in ("conversation", "code", "reasoning")]
    assert 5 == CogtrixSettings(origin="source", vector_recall_k=5).recalled("reasoning")


def test_in_the_source_only_users_are_stamped() -> None:
    """The document says that every message is."""
    talk = sourced()
    talk.turn("Hello there.")
    assert "[2026-01-05 09:01:00 UTC] Hello there.\n\nFine." == talk.sent()["window"]


def test_in_the_source_nothing_but_files_and_errors_is_found() -> None:
    """Tasks, goals, topics and so on are there only where the agent says so itself."""
    for mode in ("conversation", "code", "reasoning"):
        talk = sourced(mode=mode)
        talk.turn("Our goal is to ship it. Please fix `a.py` now. I like Python.", "We fixed it.")
        noted = ["a.py"] if mode == "code" else []
        assert noted == [note.text for note in talk.session.notes()]


@pytest.mark.parametrize("fixed", [False, True])
def test_in_the_source_a_failed_batch_is_lost(fixed: bool) -> None:
    """Once there is a summary, the index moves on whatever came of the batch."""
    scribe = Scribe("First.", None, "Second.")
    talk = Talk(CogtrixSettings(origin="source", fixed=fixed), scribe).turns(23)
    assert (11 if fixed else 21) == talk.session.state.covered
    assert "First." == talk.session.state.summary.text
    never = Talk(CogtrixSettings(origin="source"), Scribe(None)).turns(23)
    assert 0 == never.session.state.covered


@pytest.mark.parametrize("fixed", [False, True])
def test_in_the_source_short_questions_recall_nothing(fixed: bool) -> None:
    """Fewer than three words between blanks: a Chinese sentence has one."""
    talk = sourced(fixed=fixed)
    talk.turns(30, "我们的第 {} 个项目 是什么 呢")
    assert fixed == ("recalled" in talk.sent("项目是什么"))
    assert "recalled" in talk.sent("我们 的 项目")


def test_in_the_source_what_is_too_far_is_not_recalled() -> None:
    """1 / (1 + distance) must be 0.25, which all but opposite vectors reach."""
    assert [1.0, 1 / 3, 0.25, 0.2] == [similarity(c) for c in (1.0, 0.0, -0.5, -1.0)]
    found = ExchangeIndex(lambda: load_embedder("hash"))
    found.add(exchanges([said("user", "Where is Oslo?", id="1")]))
    assert 1 == len(found.recall("Where is Oslo?", 3, 0.25))
    assert 0 == len(found.recall("apple", 3, 0.9))


def test_in_the_source_a_conversation_is_sent_whole() -> None:
    """Until it is trimmed; other modes have their window."""
    assert 80 == len(dict(sourced().turns(40).session.sections("", WIDE, EPOCH))["window"])
    code = sourced(mode="code").turns(40)
    assert 30 == len(dict(code.session.sections("", WIDE, EPOCH))["window"])


def test_in_the_source_a_summary_expires() -> None:
    """After 16,000 tokens without a new one, and reasoning's after a day; facts are distilled."""
    talk = sourced().turns(18)
    assert 11 == talk.session.state.covered
    talk.hear("user", "x" * 32_000)
    talk.session.end_turn(talk.now, WIDE)
    assert (12, 1) == (talk.session.state.covered, talk.session.state.summary.compactions)
    late = sourced(mode="reasoning").turns(21, "The depot number {} is in Oslo.")
    late.session.resume(late.now + timedelta(hours=23), 4096)
    assert late.session.state.summary.lines
    late.session.resume(late.now + timedelta(hours=25), 4096)
    assert not late.session.state.summary.lines
    assert 0 == late.session.state.covered
    assert 0 < len(late.session.facts) <= 15
    assert "Persistent context from prior sessions:\n• " in late.sent()["summary"]
    late.count += 60 * 24 * 9
    assert "summary" not in late.sent()
    kept = built(mode="reasoning").turns(21)
    kept.session.resume(kept.now + 30 * DAY, 4096)
    assert kept.session.state.summary.lines


def test_tiers_keep_older_answers_in_shorter_forms() -> None:
    """Between the summary and the newest: shortened answers, and none of the users' questions."""
    talk = built(tiers=True, mode="code", working_memory_size=6, vector_recall_k=0)
    for number in range(8):
        talk.turn(f"Question {number}? " + "q" * 200, f"Answer {number}. " + "a" * 900, 3000)
    tiers = talk.session.tiers
    assert tiers.useful
    window = talk.sent(window=WIDE)["window"]
    assert "chars truncated to fit context budget" in window
    first = talk.session.messages[tiers.boundary - 2]
    assert first.text not in window or first.role != "user"
    assert not built(tiers=True).turns(3).session.tiers.useful


def test_the_mode_can_follow_what_is_asked_for() -> None:
    """When two of the last three messages ask for another; on command alone by default."""
    for automatic, mode in ((True, "code"), (False, "conversation")):
        talk = built(automatic=automatic)
        for text in ("hi", "fix auth.py", "debug it"):
            talk.turn(text)
        assert mode == talk.session.mode
    assert ["reasoning", "code", "conversation"] == [
        classify(p) for p in ("compare the two in auth.py", "run pytest", "hello")
    ]


# -- the strategy's own promises


def test_what_is_forgotten_is_gone_everywhere() -> None:
    """Window, history, summary, index and what a mode keeps; only one's own."""
    memory = strategy("cogtrix:mode=code")
    conversation(memory, "Please fix `secret.py`, KeyError: 4411", *["We talked."] * 30)
    denied = memory.forget(Forget(principal="ben", text="", sources=("ana1",)))
    assert () == denied.removed
    done = memory.forget(Forget(principal="ana", text="the KeyError 4411"))
    assert ("ana1",) == done.removed
    assert not any("4411" in s.text or "secret" in s.text for s in memory.surfaces())
    assert "4411" not in json.dumps(memory.save())
    assert memory.locate("ana1", asked("4411?")) is None


def test_of_an_exchange_only_the_forgotten_words_go() -> None:
    """The other messages of the exchange are recalled as before."""
    memory = strategy("cogtrix")
    conversation(memory, DENTIST, *(f"We talked about item {n}." for n in range(59)))

    assert ("ana1a",) == memory.forget(Forget(principal="ana", text="", sources=("ana1a",))).removed
    indexed = {s.sources: s.text for s in memory.surfaces() if s.tier == "index"}
    assert f"User: {DENTIST}" == indexed["ana1",]
    assert not any("ana1a" in sources for sources in indexed)


def test_each_message_is_where_the_strategy_says() -> None:
    """In the window, ranked in the index, waiting in the history file, or nowhere."""
    memory = strategy("cogtrix")
    conversation(memory, DENTIST, *(f"We talked about item {n}." for n in range(59)))
    question = asked(WHO)
    places = [memory.locate(f"ana{n}", question) for n in (1, 60, 99)]
    assert ["index", "window"] == [p.tier for p in places[:2] if p]
    assert places[0] is not None
    assert 1 == places[0].rank
    assert places[2] is None
    assert "ana1" in memory.context(question).verbatim
    waiting = memory.locate("ana47", question)
    assert waiting is not None
    assert "log" == waiting.tier


def test_asking_changes_nothing() -> None:
    """The same question gets the same context, and what is saved stays."""
    memory = strategy("cogtrix:mode=reasoning")
    conversation(memory, *(f"We must keep item {n}." for n in range(30)))
    before, first = memory.save(), memory.context(asked("item 3?"))
    assert first == memory.context(asked("item 3?"))
    assert before == memory.save()


def test_the_past_is_no_longer_than_what_is_sent() -> None:
    """What a turn costs does not depend on how many there were: the model reads a batch at most."""
    scribe = Scribe()
    Talk(model=scribe).turns(200)
    assert all(len(request.messages) <= 11 for request in scribe.asked)


@pytest.mark.parametrize("name", SHOWN["cogtrix"])
def test_what_it_breaks_holds_once_it_is_repaired(name: str) -> None:
    """A conversation shows it of the design as published, and holds with `fixed`."""
    assert_broken_unless_fixed("cogtrix", name)


def test_a_stamp_before_nothing_is_not_cut_once_it_is_repaired() -> None:
    """An empty message is part of every text, of what was left of its own stamp too."""
    verify("current_input", repaired("cogtrix"), told(turn(""), budget=1032))


def test_a_live_model_is_given_the_five_rules() -> None:
    """With the conversation first, and with the summary so far and what is new after that."""
    model = Scribe("- They talked.")
    Talk(model=model).turns(25)
    first, second = (provider_chat(request) for request in model.asked[:2])
    assert ("system", "\n".join(f"- {rule}" for rule in RULES)) == first[0] == second[0]
    assert first[1][1].startswith(
        "The conversation to summarise:\n\nUser: We talked about item 0.\n\nAssistant: Fine."
    )
    assert second[1][1].startswith("The summary so far:\n---\n- They talked.\n---\n\n")


def test_facts_of_a_dropped_summary_are_asked_for_within_their_bounds() -> None:
    """Fifteen lines of twenty words, as the source has it."""
    model = Scribe("- They talked.")
    settings = CogtrixSettings(mode="reasoning", origin="source")
    talk = Talk(settings, model).turns(21)
    talk.session.resume(talk.now + timedelta(hours=25), 4096)
    (system, rules), (_, told) = provider_chat(model.asked[-1])
    assert ("system", "- They talked.") == (system, told)
    assert "at most 15 lines, each of at most 20 words" in rules
