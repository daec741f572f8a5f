"""What a restatement of Cogtrix's sources was recorded doing, done again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memsim.memory.compaction.outcome import CompactionOutcome
from memsim.memory.compaction.rolling_summary import is_telling
from memsim.message import (
    EPOCH,
    Message,
    Role,
    Text,
    TokenCounter,
    ToolResult,
    ToolUse,
    composed,
    load_tokenizer,
    said,
)
from memsim.models import Request
from memsim.models.registry import load_embedder, load_model
from memsim.systems.cogtrix.chat_session import CogtrixSession
from memsim.systems.cogtrix.code_mode import CodeState
from memsim.systems.cogtrix.exchanges import exchanges, summary_input
from memsim.systems.cogtrix.modes import classify, suggested_mode
from memsim.systems.cogtrix.prefix import HEADER
from memsim.systems.cogtrix.prompts import SUMMARY
from memsim.systems.cogtrix.settings import CogtrixSettings, Mode, SessionServices
from memsim.systems.cogtrix.window_fit import ShortForm, message_content, roll_tiers, trim_messages
from tests.fidelity.recordings import Comparison, Recordings
from tests.models.asking import provider_chat

Json = Any
FILE = "cogtrix-oracle"


def given(messages: Json) -> list[Message]:
    """Recorded messages as messages."""
    return [_message(number, told) for number, told in enumerate(messages)]


def _message(number: int, told: Json) -> Message:
    role: Role = told["role"]
    text = told["content"] or ""
    if role == "tool":
        block = ToolResult(id=told["tool_call_id"], text=text)
        return Message(id=f"m{number}", role=role, blocks=(block,))
    calls = tuple(
        ToolUse(id=c["id"], name=c["function"]["name"], arguments=c["function"]["arguments"])
        for c in told.get("tool_calls") or ()
    )
    return Message(id=f"m{number}", role=role, blocks=(Text(text), *calls))


@pytest.fixture
def recorded(recordings: Recordings) -> Json:
    """What was recorded."""
    return recordings.output(FILE)


@pytest.fixture
def literals(recordings: Recordings) -> Json:
    """The arguments that stand in no file of inputs."""
    return recordings.literals("cogtrix")


def coded(state: CodeState, user: str, answer: str) -> list[list[str]]:
    """Files and errors after a turn."""
    for text in (user, answer):
        state.find_files(text)
    state.find_errors(user)
    return [list(state.files), [error.text for error in state.errors]]


def told(state: CodeState) -> str:
    """What code mode shows."""
    return "\n\n".join(part.text for part in state.parts())


def test_files_and_errors(
    recordings: Recordings, recorded: Json, literals: Json, compare: Comparison
) -> None:
    """What code mode finds in what is said, turn by turn, and what it shows of it."""
    steps = literals["code_steps"]
    state = CodeState(**steps["limits"])
    after = [
        coded(state, steps["user_template"].replace("{error}", error), steps["assistant_text"])
        for error in recordings.inputs[steps["errors_path"]]
    ]
    compare(FILE, "code_steps", recorded["code_steps"], after)
    compare(FILE, "code_prefix", recorded["code_prefix"], told(state))
    small = CodeState(**literals["code_small"]["limits"])
    last = [coded(small, *update) for update in literals["code_small"]["updates"]][-1]
    compare(FILE, "code_small", recorded["code_small"], [*last, told(small)])
    edge = CodeState(**literals["code_edge"]["limits"])
    found = coded(edge, *literals["code_edge"]["update"])
    compare(FILE, "code_edge", recorded["code_edge"], found)


def schedule(messages: list[Message], window: int) -> list[list[object]]:
    """When a session of this window summarises, turn by turn."""
    counter = TokenCounter(load_tokenizer("chars/4"))
    heard: list[CompactionOutcome] = []
    works = SessionServices(
        counter=counter,
        model=load_model("offline", counter),
        embed=lambda: load_embedder("hash"),
        tell=lambda what: heard.append(what) if isinstance(what, CompactionOutcome) else None,
    )
    session = CogtrixSession(CogtrixSettings(working_memory_size=window), works)
    lines: list[list[object]] = []
    for place, message in enumerate(messages):
        session.hear(message)
        if place + 1 < len(messages) and messages[place + 1].role != "user":
            continue
        before = session.state.covered
        session.end_turn(EPOCH + timedelta(minutes=place), 128_000)
        count = len(session.messages)
        pending = max(0, count - window - before)
        if heard[-1].kind == "compaction":
            lines.append([count, "run", before, session.state.covered])
        elif pending == 0:
            lines.append([count, "nothing"])
        elif "say too little" in heard[-1].detail:
            telling = sum(map(is_telling, session.messages[before : count - window]))
            lines.append([count, f"gate({telling})"])
        else:
            lines.append([count, f"batch<10({pending})"])
    return lines


def test_when_it_summarises(
    recordings: Recordings, recorded: Json, literals: Json, compare: Comparison
) -> None:
    """A session is run over the messages with both windows."""
    told = literals["summary_schedule"]
    listed = recordings.inputs[told["input_ref"]] * told["repeat_list"]
    for window in told["windows"]:
        name = f"summary_schedule_window{window}"
        compare(FILE, name, recorded[name], schedule(given(listed), window))


def test_a_batch_that_says_too_little_is_told_by_what_it_says() -> None:
    """Calls and their results are pending, and do not count."""
    call = {"id": "c", "function": {"name": "look", "arguments": "{}"}}
    asked = {"role": "user", "content": "And now?"}
    looking = {"role": "assistant", "content": None, "tool_calls": [call]}
    seen = {"role": "tool", "content": "nothing", "tool_call_id": "c"}
    answered = {"role": "assistant", "content": "Nothing."}
    turn = [asked, *[looking, seen] * 6, answered]

    assert [[14, "gate(1)"]] == schedule(given(turn), 1)


def test_what_is_summarised_and_recalled(
    recordings: Recordings, recorded: Json, literals: Json, compare: Comparison
) -> None:
    """The same messages as one text, and as exchanges."""
    for name in ("summary_text", "recall_texts"):
        start, stop = literals[name]["slice"]
        messages = given(recordings.inputs[literals[name]["input_ref"]])[start:stop]
        field = f"{name}_{start}_{stop}"
        if name == "summary_text":
            prompt = replace(SUMMARY, user="{messages}")
            shown = summary_input(messages)
            request = Request(task="summarise", messages=shown, prompt=prompt)
            compare(FILE, field, recorded[field], provider_chat(request)[-1][1])
        else:
            compare(FILE, field, recorded[field], [x.text for x in exchanges(messages)])


def test_what_is_trimmed(
    recordings: Recordings, recorded: Json, literals: Json, compare: Comparison
) -> None:
    """Which messages are dropped for which window, and how long those are that stay."""
    options = literals["trim"]
    final = said("user", options["final_message"]["content"], id="final")
    before = composed("user", options["prefix_message"]["content"], id="prefix")
    assert before.text.startswith(HEADER)
    for name in options["input_refs"]:
        for window in options["contexts"]:
            for has_prefix in (False, True):
                first = [before] if has_prefix else []
                messages = [*first, *given(recordings.inputs[name]), final]
                done = trim_messages(messages, window)
                lengths = [len(message_content(m)) for m in done.messages]
                field = f"trim/{name}/{window}/prefix={has_prefix}"
                actual = {
                    "dropped": done.dropped,
                    "kept": len(done.messages),
                    "lens": lengths[: options["lens_shown"]],
                    "prefix_survives": any(m.id == "prefix" for m in done.messages),
                }
                compare(FILE, field, recorded[field], actual)


def test_what_becomes_of_older_messages_in_tiers(
    recordings: Recordings, recorded: Json, literals: Json, compare: Comparison
) -> None:
    """What stays verbatim, and how long the shorter forms of the others are."""

    def lengths(tier: tuple[ShortForm, ...]) -> list[list[object]]:
        return [[short.name, len(short.text)] for short in tier]

    options = literals["roll"]
    for name in options["input_refs"]:
        for window in options["contexts"]:
            messages = given(recordings.inputs[name])
            tiers = roll_tiers(messages, options["summary_index"], window)
            field = f"roll/{name}/{window}"
            actual = {
                "boundary": tiers.boundary,
                "tier1": lengths(tiers.light),
                "tier2": lengths(tiers.heavy),
                "tier1_tokens": tiers.light_tokens,
                "tier2_tokens": tiers.heavy_tokens,
            }
            compare(FILE, field, recorded[field], actual)


def test_which_mode_suits(recorded: Json, literals: Json, compare: Comparison) -> None:
    """What prompts are taken for, and when they change the mode."""
    shown = literals["classify_shown_chars"]
    found: list[list[str]] = [[p[:shown], classify(p)] for p in literals["classify"]]
    compare(FILE, "classify", recorded["classify"], found)
    asked: list[tuple[Mode, list[str]]] = literals["switch"]
    switched = [suggested_mode(mode, prompts) for mode, prompts in asked]
    compare(FILE, "switch", recorded["switch"], switched)


def test_nothing_comparable_is_left_out(recordings: Recordings, recorded: Json) -> None:
    """Every field but the note and the third party's wording is compared by a test above."""
    literals = recordings.literals("cogtrix")
    fields = {"code_steps", "code_prefix", "code_small", "code_edge", "classify", "switch"}
    fields |= {f"summary_schedule_window{w}" for w in literals["summary_schedule"]["windows"]}
    fields |= {
        "_".join([name, *map(str, literals[name]["slice"])])
        for name in ("summary_text", "recall_texts")
    }
    left = {name for name in recorded if not name.startswith(("trim/", "roll/"))} - fields
    assert {"note", "summary_user_prompt_shape"} == left
