"""Recordings: found again, never guessed, whole or not there."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from memsim.errors import ContextOverflow, ModelError, UnrecordedCall
from memsim.message import ToolUse, said
from memsim.models import Reply, Request, ToolSpec
from memsim.models.cassette import CassetteError, RecordMode
from memsim.models.cassette.call_recorder import CallRecorder, key_of
from memsim.models.cassette.case_recordings import CaseRecordings, tape_path
from memsim.models.cassette.tape import Journal, read_tape
from memsim.models.live import Call, ProviderAnswer, TransientError
from memsim.models.live.model import LiveModel
from memsim.models.live.task_prompts import compose
from memsim.models.model_access import CallAccount
from tests.models.asking import QUESTION, REF, SAID, Stub

KEY = "sk-" + "a1B2" * 12
OTHER = replace(QUESTION, question="Where is my pan?")


class Desk:
    """One file of recordings, and a stub to record."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "tape.jsonl"
        self.stub = Stub()
        self.account = CallAccount()

    def shelf(self, mode: RecordMode, repeat: int = 0) -> CaseRecordings:
        """The file, opened in a mode."""
        return CaseRecordings(self.path, case="case", model=REF.label, repeat=repeat, mode=mode)

    def ask(
        self,
        mode: RecordMode,
        *requests: Request,
        repeat: int = 0,
        secrets: tuple[str, ...] = (),
        complete: bool = True,
    ) -> list[Reply]:
        """Ask in a mode, and close the file."""
        shelf = self.shelf(mode, repeat)
        recorder = CallRecorder(
            shelf, lambda: self.stub, self.account, place="tape.jsonl", secrets=secrets
        )
        model = LiveModel(REF, recorder, self.account)
        try:
            return [model.complete(request) for request in requests]
        finally:
            shelf.close(complete=complete)

    @property
    def bytes(self) -> bytes:
        """The whole file."""
        return self.path.read_bytes()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk without recordings."""
    return Desk(tmp_path)


# -- modes


def test_what_was_recorded_is_replayed_without_asking(desk: Desk) -> None:
    """Words, tokens and cost are those of the day it was recorded."""
    live = desk.ask("new", QUESTION)
    desk.stub.asked.clear()

    assert live == desk.ask("none", QUESTION)
    assert [] == desk.stub.asked
    assert (1, 1) == (desk.account.spent.asked, desk.account.spent.replayed)


def test_new_asks_only_for_what_is_missing(desk: Desk) -> None:
    """And leaves alone what is there."""
    desk.ask("new", QUESTION)
    desk.stub.answer = lambda *_: ProviderAnswer(text="Elsewhere.")

    first, second = desk.ask("new", QUESTION, OTHER)

    assert (SAID, "Elsewhere.") == (first.text, second.text)
    assert 2 == len(desk.stub.asked)


def test_rewrite_asks_for_everything_and_keeps_nothing_else(desk: Desk) -> None:
    """What no longer is asked for goes."""
    desk.ask("new", QUESTION, OTHER)
    desk.stub.answer = lambda *_: ProviderAnswer(text="Elsewhere.")

    desk.ask("rewrite", QUESTION)

    assert ["Elsewhere."] == [r.text for r in desk.ask("none", QUESTION)]
    with pytest.raises(UnrecordedCall):
        desk.ask("none", OTHER)
    assert b"pan" not in desk.bytes


def test_half_a_rewrite_replaces_nothing(desk: Desk) -> None:
    """It is continued instead, without paying twice."""
    desk.ask("new", QUESTION, OTHER)
    before = desk.bytes
    desk.stub.asked.clear()
    desk.stub.answer = lambda *_: ProviderAnswer(text="Elsewhere.")

    desk.ask("rewrite", QUESTION, complete=False)
    assert before == desk.bytes

    desk.ask("rewrite", QUESTION, OTHER)
    assert 2 == len(desk.stub.asked)
    assert ["Elsewhere."] * 2 == [r.text for r in desk.ask("none", QUESTION, OTHER)]


def test_live_writes_nothing(desk: Desk) -> None:
    """And asks once for what is asked twice."""
    desk.ask("live", QUESTION, QUESTION)

    assert not desk.path.exists()
    assert 1 == len(desk.stub.asked)


def test_each_repeat_has_recordings_of_its_own(desk: Desk) -> None:
    """In the same file, whichever comes first: a repeat is another draw."""
    desk.ask("new", QUESTION, repeat=1)
    desk.stub.answer = lambda *_: ProviderAnswer(text="Elsewhere.")
    desk.ask("new", QUESTION, repeat=0)

    assert [SAID] == [r.text for r in desk.ask("none", QUESTION, repeat=1)]
    assert ["Elsewhere."] == [r.text for r in desk.ask("none", QUESTION, repeat=0)]
    assert 2 == len(desk.stub.asked)


def test_threads_ask_once(desk: Desk) -> None:
    """Whoever comes second waits for the first one's answer."""
    gate = threading.Event()

    def slowly(_call: Call, _number: int) -> ProviderAnswer:
        gate.wait(5)
        return ProviderAnswer(text=SAID)

    desk.stub.answer = slowly
    shelf = desk.shelf("new")
    model = LiveModel(REF, CallRecorder(shelf, lambda: desk.stub, desk.account), desk.account)
    timer = threading.Timer(0.05, gate.set)
    timer.start()

    with ThreadPoolExecutor(max_workers=4) as pool:
        replies = list(pool.map(model.complete, [QUESTION] * 4))
    timer.join()
    shelf.close()

    assert [SAID] * 4 == [r.text for r in replies]
    assert 1 == len(desk.stub.asked)


# -- failures


def test_a_failure_that_is_the_calls_own_is_replayed(desk: Desk) -> None:
    """A memory that coped with it has to cope with it again."""
    desk.stub.answer = lambda *_: ContextOverflow("too long")

    for mode in ("new", "none"):
        with pytest.raises(ContextOverflow, match="too long"):
            desk.ask(mode, QUESTION)

    assert 1 == len(desk.stub.asked)


def test_a_failure_of_the_day_is_not_recorded(desk: Desk) -> None:
    """It is asked for again the next time."""
    desk.stub.answer = lambda *_: TransientError("busy")
    with pytest.raises(ModelError, match="busy"):
        desk.ask("new", QUESTION)

    desk.stub.answer = lambda *_: ProviderAnswer(text=SAID)

    assert [SAID] == [r.text for r in desk.ask("new", QUESTION)]


# -- misses


def missed(desk: Desk, request: Request, repeat: int = 0) -> str:
    """What is said of a call that is not recorded."""
    with pytest.raises(UnrecordedCall) as raised:
        desk.ask("none", request, repeat=repeat)
    said_of_it = str(raised.value)
    assert "\n" not in said_of_it
    assert said_of_it.endswith("`--record new` records what is missing")
    return said_of_it


def test_a_miss_without_recordings_names_the_file(desk: Desk) -> None:
    """Which is where they would be."""
    assert "is not recorded: there is no tape.jsonl" in missed(desk, QUESTION)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda r: replace(r, question="Where is my pan?"),
            "now user 'Where is my pan?' (16 characters), recorded user 'Where is my kettle?' (19",
        ),
        (
            lambda r: replace(r, messages=(*r.messages, said("assistant", "Noted.", id="r1"))),
            "message 3 of 4, and 1 more: now assistant 'Noted.'",
        ),
        (lambda r: replace(r, max_tokens=400), "max_tokens is 800, recorded 512"),
        (lambda r: replace(r, now=None), "the instructions: now system 'You answer"),
    ],
)
def test_a_miss_names_the_nearest_recording_and_what_differs(
    desk: Desk, change: Callable[[Request], Request], told: str
) -> None:
    """So that one sees whether the memory, the script or the prompt changed."""
    desk.ask("new", replace(OTHER, messages=(), question="What?"), QUESTION)
    line = next(
        n
        for n, text in enumerate(desk.bytes.splitlines(), start=1)
        if SAID.encode() in text and json.loads(text)["call"] == key_of(compose(QUESTION, REF))
    )

    found = missed(desk, change(QUESTION))

    assert f"the nearest is line {line}: " in found
    assert told in found


def test_a_miss_of_a_repeat_says_so(desk: Desk) -> None:
    """Everything else is there."""
    desk.ask("new", QUESTION)

    assert "it is of repeat 0, not 2" in missed(desk, QUESTION, repeat=2)


# -- what is kept


def test_the_same_recordings_are_the_same_bytes(desk: Desk, tmp_path: Path) -> None:
    """In whatever order they were made, and however often they are written."""
    desk.ask("new", QUESTION, OTHER)
    desk.ask("new", QUESTION, repeat=1)
    (tmp_path / "b").mkdir()
    other = Desk(tmp_path / "b")
    other.ask("new", QUESTION, repeat=1)
    other.ask("new", OTHER)
    other.ask("new", QUESTION)

    assert desk.bytes == other.bytes
    tape = read_tape(desk.path)
    assert tape is not None
    assert desk.bytes == tape.encoded()
    assert ["tape.jsonl"] == [p.name for p in desk.path.parent.iterdir() if p.name[0] not in ".b"]


def test_an_answer_survives_the_way_to_the_file_and_back(desk: Desk) -> None:
    """Line breaks, tool calls and prices that are not known as well."""
    tool = ToolSpec(name="search", description="", parameters="{}")
    act = replace(QUESTION, task="act", tools=(tool,))
    desk.stub.answer = lambda *_: ProviderAnswer(
        text="a\u2028b\n\x00 \U0001fad6",
        calls=(ToolUse(id="c1", name="search", arguments='{"q": "é"}'),),
        finish="tool_calls",
        input=3,
        output=4,
        cost=None,
    )

    assert desk.ask("new", act) == desk.ask("none", act)


def test_no_credential_is_written_and_replaying_changes_nothing(desk: Desk) -> None:
    """What looks like one goes, and so does every key of this machine, wherever it stands."""
    own = "plain-but-secret"
    desk.stub.answer = lambda *_: ProviderAnswer(text=f"It is {KEY} or {own}.")
    asked = replace(
        QUESTION, question=f"Is it {KEY} or {own}?", messages=(said("user", KEY, id="m1"),)
    )

    live = desk.ask("new", asked, secrets=(own,))

    assert "It is [openai-key] or [secret]." == live[0].text
    assert live == desk.ask("none", asked)
    assert KEY.encode() not in desk.bytes
    assert own.encode() not in desk.bytes


def test_no_part_of_a_credential_is_written(desk: Desk, subtests: pytest.Subtests) -> None:
    """Where only the beginning of a message is kept, it may end in the middle of one."""
    for before in range(50, 84, 3):
        for secret in [KEY, "plain-but-secret"]:
            with subtests.test(secret=secret, before=before):
                text = "x" * (before - len("[2026-01-05] ")) + " " + secret
                message = said("user", text, id="m1", principal="ana")
                desk.ask(
                    "new", replace(QUESTION, messages=(message,)), secrets=("plain-but-secret",)
                )

                assert secret[:6].encode() not in desk.bytes


def test_of_a_message_only_the_beginning_is_kept(desk: Desk) -> None:
    """A repository needs no copy of what the scenario says, and a dataset may forbid one."""
    desk.ask("new", replace(QUESTION, messages=(said("user", "word " * 5000, id="m1"),)))

    assert 2500 > len(desk.bytes)
    assert b'"length":25013' in desk.bytes


# -- killed, shared, damaged


def test_what_was_paid_for_survives_a_kill(desk: Desk) -> None:
    """Line by line; the line that was being written is lost, and no other."""
    shelf = desk.shelf("new")
    model = LiveModel(REF, CallRecorder(shelf, lambda: desk.stub, desk.account), desk.account)
    model.complete(QUESTION)
    model.complete(OTHER)
    assert shelf._journal is not None
    journal = shelf._journal.path
    shelf._journal.close(done=False)
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-10])

    desk.ask("new", QUESTION, OTHER)

    assert 3 == len(desk.stub.asked)
    assert not journal.exists()
    assert [SAID] * 2 == [r.text for r in desk.ask("none", QUESTION, OTHER)]


def test_two_processes_cannot_record_the_same_repeat(desk: Desk) -> None:
    """They would pay twice, and one of them for nothing."""
    held = desk.shelf("new")

    with pytest.raises(CassetteError, match="is being recorded by another process"):
        desk.shelf("new")

    held.close()
    desk.shelf("new").close()


def test_a_full_file_takes_no_further_call(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before it is paid for."""
    monkeypatch.setattr("memsim.models.cassette.case_recordings.LARGEST", 900)
    with pytest.raises(CassetteError, match="is full: no further call is made"):
        desk.ask("new", QUESTION, OTHER, replace(OTHER, question="?"))

    assert 1 <= len(desk.stub.asked) <= 2


HEADER = '{"case":"case","memsim_cassette":1,"model":"m"}\n'
SAID_LINE = '{"beginning":"b","length":1,"message":"00","role":"user"}\n'


def call_line(**changed: object) -> str:
    """A line of a call, with changes."""
    record: dict[str, object] = {
        "answer": {
            "text": "t",
            "calls": [],
            "finish": "stop",
            "input": 1,
            "output": 1,
            "cost": None,
        },
        "call": "ff",
        "messages": ["00"],
        "repeat": 0,
        "settings": {},
        "task": "answer",
    }
    return json.dumps({k: v for k, v in (record | changed).items() if v is not ...}) + "\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ": is empty"),
        ("[]\n", ":1: is not a recording of memsim"),
        ('{"a":1}\n', ":1: is not a recording of memsim"),
        (HEADER.replace(":1,", ":9,"), ":1: is of format 9, and this memsim reads format 1"),
        (HEADER + "<<<<<<< ours\n", ":2: is not a line of a recording"),
        (HEADER + SAID_LINE[:-9], ":2: ends in the middle of a line"),
        (HEADER + call_line(), ":2: message 00 is missing above this call"),
        (HEADER + SAID_LINE + call_line() * 2, ":4: call ff is recorded twice for repeat 0"),
        (HEADER + SAID_LINE + call_line(task="sing"), ":3: unknown task 'sing'"),
        (HEADER + SAID_LINE + call_line(repeat=-1), ":3: -1 is not a count"),
        (HEADER + SAID_LINE + call_line(setings={}), ":3: unknown key 'setings'"),
        (HEADER + SAID_LINE + call_line(repeat=...), ":3: key 'repeat' is missing"),
        (HEADER + SAID_LINE.replace('"b"', "1"), ":2: 1 is not a text"),
        (HEADER + "[" * 9999 + "\n", ":2: is not a line of a recording"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(desk: Desk, text: str, told: str) -> None:
    """It is never taken for one without recordings, nor written over."""
    desk.path.write_text(text, encoding="utf-8")

    with pytest.raises(CassetteError) as refused:
        desk.ask("new", QUESTION)

    assert str(refused.value).startswith(f"{desk.path}{told}")
    assert text.encode() == desk.bytes


def test_a_damaged_journal_is_no_reason_to_stop(tmp_path: Path) -> None:
    """What is sound in it counts."""
    path = tmp_path / ".tape.0.new.part"
    path.write_bytes(b"\xff\xfe\n00000000 {}\nhello\n")
    journal = Journal(path)

    assert ([], {}) == journal.read()
    journal.close(done=True)


@pytest.mark.parametrize(
    "case", ["../../etc::passwd[x@4k]", "a/b.yaml::CON[y@4k]", "q::.[..@4k]", "é" * 300]
)
def test_a_case_never_becomes_a_path(tmp_path: Path, case: str) -> None:
    """Its file lies in the folder, two levels down, under a name that any system takes."""
    path = tape_path(tmp_path, "openai/../../gpt", case)

    assert tmp_path == path.parent.parent.parent
    assert path.resolve().is_relative_to(tmp_path.resolve())
    assert path.name.isascii()
    assert 100 > len(path.name)


def test_cases_that_read_alike_have_files_of_their_own(tmp_path: Path) -> None:
    """And so have models."""
    paths = {
        tape_path(tmp_path, model, case)
        for model in ("a/b", "a:b")
        for case in ("x::s[m:n=1@4k]", "x::s[m-n-1@4k]")
    }

    assert 4 == len(paths)
