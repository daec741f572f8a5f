"""AgenticX, statement by statement of its document and of what its package does."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from memsim.context import Context
from memsim.errors import MemsimError, ModelError
from memsim.message import EPOCH, Message, Role, Text, ToolResult, ToolUse, said
from memsim.models import Reply, Request
from memsim.models.live.task_prompts import compose
from memsim.strategy import Event, Forget, Query
from memsim.systems.agenticx.chat_session import (
    HINTS,
    MEMORY_HOOK,
    PENDING,
    AgenticxSession,
    Scratchpad,
)
from memsim.systems.agenticx.compactor import ContextCompactor
from memsim.systems.agenticx.compactor06 import hard_constraints, session_memory
from memsim.systems.agenticx.content import content_of
from memsim.systems.agenticx.recall import HEADING, SOURCE_HEADING, RecallOptions, query_of
from memsim.systems.agenticx.studio import Studio
from memsim.systems.agenticx.workspace_files import (
    DEFAULT_WORKSPACE_MEMORY_DB,
    MemorySettings,
    Pages,
    memory_settings,
    workspace_dir,
)
from memsim.systems.agenticx.workspace_index import WorkspaceIndex
from tests.fidelity.breaking import SHOWN, assert_broken_unless_fixed
from tests.models.asking import REF, provider_chat
from tests.strategies.conversations import conversations, play, saved, strategy

DAY = EPOCH.date().isoformat()
DAILY = f"memory/{DAY}.md"
CUED = "记住 the staging host is blue-42"
LONG = "请帮我 look at the nightly build and tell me what is wrong with it"
DONE = "已完成 the check of the nightly build"


class Saying:
    """A model that says one thing, and notes what it was asked; None for one that fails."""

    name = "saying"

    def __init__(self, text: str | None = "要点") -> None:
        self.requests: list[Request] = []
        self._text = text

    def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        if self._text is None:
            raise ModelError("down")
        return Reply(text=self._text)


class Chat:
    """A conversation with AgenticX.

    Args:
        ref: the strategy with its parameters.
        model: asked for summaries.
    """

    def __init__(self, ref: str = "agenticx", model: Saying | None = None) -> None:
        self.model = model or Saying()
        self.events: list[Event] = []
        self.memory = strategy(ref, model=self.model, log=self.events.append, budget=100_000)
        self._count = 0

    def say(
        self, role: Role, *blocks: str | ToolUse | ToolResult, session: str = "s1", who: str = "ana"
    ) -> str:
        """Observe a message; its id."""
        self._count += 1
        made = tuple(Text(b) if isinstance(b, str) else b for b in blocks)
        message = Message(
            id=f"m{self._count}",
            role=role,
            blocks=made,
            principal=who,
            session=session,
            turn=self._count,
            time=self.memory.env.clock.now(),
        )
        self.memory.observe(message)
        return message.id

    def turn(
        self, user: str = "hello there", reply: str = "hello to you", session: str = "s1"
    ) -> str:
        """A whole turn; the id of what the user said."""
        source = self.say("user", user, session=session)
        self.send(user, session=session)
        self.say("assistant", reply, session=session)
        self.memory.end_turn()
        return source

    def turns(self, count: int) -> None:
        """So many turns of small talk."""
        for number in range(count):
            self.turn(f"hello number {number}")

    def ask(self, text: str = "hello there", session: str = "s1", who: str = "ana") -> Context:
        """The context for a question."""
        now = self.memory.env.clock.now()
        query = Query(
            text=text, principal=who, session=session, time=now, turn=self._count, budget=100_000
        )
        return self.memory.context(query)

    def send(self, text: str = "hello there", session: str = "s1") -> Context:
        """The same, and deliver it."""
        context = self.ask(text, session)
        self.memory.delivered(context)
        return context

    def wait(self, days: int = 1) -> None:
        """Let time pass."""
        self.memory.env.clock.advance(timedelta(days=days))

    @property
    def studio(self) -> Studio:
        """What is behind the strategy."""
        studios: Any = vars(self.memory)["_studios"]
        found = studios.of("ana")
        assert isinstance(found, Studio)
        return found

    @property
    def files(self) -> dict[str, str]:
        """The workspace's files."""
        return self.studio.pages.texts


def part(context: Context, layer: str) -> str:
    """What a section of a context says."""
    return "\n".join(m.text for s in context.sections if s.layer == layer for m in s.messages)


def lines(text: str) -> list[str]:
    """The bullets of a text."""
    return [line for line in text.splitlines() if line.startswith("- ")]


# -- six layers


def test_core_memory_stands_in_every_prompt() -> None:
    """Who the agent is stands first, whatever is asked."""
    chat = Chat("agenticx:identity=I am Ada,soul=calm,user=Ana")
    chat.turn()
    assert "I am Ada\n\ncalm\n\nAna" == part(chat.ask("anything"), "core")
    assert "core" == chat.ask().sections[0].layer


def test_the_chat_history_stays() -> None:
    """Compaction takes nothing out of what was said, traces of tools included."""
    chat = Chat()
    chat.say("assistant", ToolUse(id="c1", name="shell", arguments="{}"))
    chat.say("tool", ToolResult(id="c1", text="a trace"))
    chat.turns(15)
    log = [s.sources[0] for s in chat.memory.surfaces() if s.tier == "log"]
    assert [f"m{n}" for n in range(1, 33)] == log


def test_semantic_memory() -> None:
    """A fact is in MEMORY.md and in the index, and with Mem0 in its own plane."""
    chat = Chat("agenticx:longterm=mem0", Saying("The host is blue-42."))
    chat.turns(2)
    source = chat.turn(CUED)
    tiers = {s.tier for s in chat.memory.surfaces() if source in s.sources}
    assert {"store", "index", "mem0", "scratchpad", "window", "log"} == tiers
    assert CUED in chat.files["MEMORY.md"]


def test_working_memory() -> None:
    """The scratchpad and the recent messages stand in the context."""
    chat = Chat()
    chat.turns(2)
    chat.turn(CUED)
    context = chat.ask()
    assert f"- session_facts: - 用户请求: {CUED}..." == part(context, "working")
    assert CUED in part(context, "window")


def test_long_term_memory_survives_a_restart() -> None:
    """Files, index, sessions and scratchpads come back as they were."""
    chat = Chat()
    chat.turns(2)
    chat.turn(CUED)
    chat.studio.session("s1").scratchpad.write("plan", "two steps")
    chat.turns(12)
    again = Chat()
    again.memory.load(json.loads(json.dumps(chat.memory.save())))
    again._count = chat._count
    assert chat.ask("staging host") == again.ask("staging host")
    assert list(chat.memory.surfaces()) == list(again.memory.surfaces())
    assert chat.memory.save() == again.memory.save()


def test_the_workspace_has_its_files() -> None:
    """USER.md and a file for each day."""
    chat = Chat("agenticx:user=Ana likes tea")
    chat.turns(3)
    chat.turn(CUED)
    chat.wait()
    chat.turn(CUED)
    assert {"USER.md", "MEMORY.md", DAILY, "memory/2026-01-06.md"} == set(chat.files)
    assert "Ana likes tea\n" == chat.files["USER.md"]


def test_the_index_takes_roots_and_days() -> None:
    """The four roots in their order, then the days; nothing else."""
    chat = Chat("agenticx:identity=I,user=U,soul=S")
    chat.files.update({"memory/2026-01-02.md": "b", "memory/notes.txt": "x", "OTHER.md": "y"})
    chat.turn()
    paths = [piece.path for piece in chat.studio.index.pieces()]
    assert ["MEMORY.md", "IDENTITY.md", "USER.md", "SOUL.md", "memory/2026-01-02.md"] == paths


# -- the hook


def test_the_hook_runs_when_a_turn_is_over() -> None:
    """Nothing is written before the reply is there."""
    chat = Chat()
    chat.turns(3)
    chat.say("user", CUED)
    chat.send(CUED)
    assert DAILY not in chat.files
    chat.say("assistant", "noted")
    assert DAILY not in chat.files
    chat.memory.end_turn()
    assert CUED in chat.files[DAILY]
    assert ["stored"] == [e.kind for e in chat.events]


def test_six_records_are_needed() -> None:
    """Five records leave nothing, six do."""
    chat = Chat()
    chat.turn(CUED)
    chat.turn()
    chat.say("user", CUED)
    chat.memory.end_turn()
    assert DAILY not in chat.files
    chat.say("assistant", "noted")
    chat.memory.end_turn()
    assert 2 == chat.files[DAILY].count(CUED)


def test_the_hook_runs_after_those_of_higher_priority() -> None:
    """Its priority is -10; what it wrote is there for those below it, and for no others."""
    seen: dict[str, int] = {}

    class Looking:
        def __init__(self, name: str, chat: Chat) -> None:
            self.name, self.chat = name, chat

        def on_agent_end(self, _session: AgenticxSession, _now: datetime) -> None:
            seen[self.name] = len(lines(self.chat.files.get("memory/2026-01-05.md", "")))

    chat = Chat()
    for name, priority in (("after", -20), ("usual", 0), ("just before", -9)):
        chat.studio.register(Looking(name, chat).on_agent_end, priority)
    for number in range(3):
        chat.turn(f"请记下第{number}个箱子的位置，并且告诉我它在哪里，我需要知道，谢谢你的帮助。")  # noqa: RUF001
    assert -10 == MEMORY_HOOK
    assert ["usual", "just before", "after"] == list(seen)
    assert [0, 0] == [seen["usual"], seen["just before"]]
    assert seen["after"] > 0


def test_the_hook_has_a_workspace() -> None:
    """The session's, else the variable's, else the user's home."""
    home, variables = Path("/home/ana"), {"AGX_WORKSPACE_ROOT": "/shared"}
    assert Path("/own") == workspace_dir("/own", variables, home)
    assert Path("/shared") == workspace_dir(None, variables, home)
    assert home == workspace_dir(None, {}, home)


def test_the_memory_settings_are_taken_as_they_stand() -> None:
    """`memory.backend` and `memory.path`, with their defaults; nothing else."""
    told = {"memory": {"backend": "redis", "path": "/data/agent"}}
    assert MemorySettings(backend="redis", path="/data/agent") == memory_settings(told)
    assert MemorySettings(backend="sqlite", path="~/.agenticx/workspace") == memory_settings({})
    assert "~/.agenticx/memory/main.sqlite" == DEFAULT_WORKSPACE_MEMORY_DB
    with pytest.raises(ValueError, match="memory takes no 'folder'"):
        memory_settings({"memory": {"folder": "/data"}})
    with pytest.raises(ValueError, match=r"memory\.path is 7"):
        memory_settings({"memory": {"path": 7}})


def test_the_workspace_is_a_folder(tmp_path: Path) -> None:
    """Its pages are Markdown files at the documented paths; what else is there is left alone."""
    chat = Chat()
    chat.turns(3)
    chat.studio.pages.keep(["- a fact"], "2026-01-05")
    chat.studio.pages.write(tmp_path / "workspace")
    (tmp_path / "workspace" / "notes.txt").write_text("mine", "utf-8")
    assert (tmp_path / "workspace" / "memory" / "2026-01-05.md").is_file()
    assert chat.files == Pages.of(tmp_path / "workspace").texts


def test_twenty_messages_are_scanned() -> None:
    """What was said before the last twenty is not written again."""
    chat = Chat()
    chat.turn(CUED)
    chat.turns(9)
    written = chat.studio.session("s1").scratchpad.read("session_facts").count(CUED)
    assert 8 == written
    chat.say("user", "hello")
    chat.memory.end_turn()
    assert 8 == chat.studio.session("s1").scratchpad.read("session_facts").count(CUED)


def test_facts_need_no_model() -> None:
    """Cue words are looked for, and nobody is asked."""
    chat = Chat()
    chat.turns(2)
    chat.turn(CUED, DONE)
    assert [] == chat.model.requests
    assert [f"- 用户请求: {CUED}", f"- 完成事项: {DONE}"] == lines(chat.files[DAILY])


def test_the_document_has_two_kinds_of_facts() -> None:
    """What is to be remembered is a request, and an address is nothing."""
    chat = Chat()
    chat.turns(2)
    chat.turn(LONG, "See https://example.com/ledger for it")
    assert [f"- 用户请求: {LONG}"] == lines(chat.files[DAILY])


def test_eight_facts_at_most() -> None:
    """Of more, the oldest of the twenty messages."""
    chat = Chat()
    for number in range(9):
        chat.say("user", f"{CUED} no. {number}")
    chat.memory.end_turn()
    found = [f"- 用户请求: {CUED} no. {n}" for n in range(8)]
    assert found == lines(chat.files[DAILY])


def test_a_dated_block_is_appended() -> None:
    """A heading with the day, the facts, and a blank line."""
    chat = Chat()
    chat.turns(2)
    chat.turn(CUED)
    block = f"## Session Facts ({DAY})\n- 用户请求: {CUED}\n\n"
    assert block == chat.files[DAILY]
    chat.turn()
    assert block * 2 == chat.files[DAILY]


def test_a_full_day_takes_nothing() -> None:
    """Neither the day's file nor MEMORY.md is touched; exactly 8000 characters still fit."""
    block = len(f"## Session Facts ({DAY})\n- 用户请求: {CUED}\n\n")
    for spare, fits in ((0, True), (-1, False)):
        chat = Chat()
        chat.turns(2)
        chat.files[DAILY] = "x" * (8000 - block - spare)
        chat.turn(CUED)
        assert fits == (CUED in chat.files[DAILY])
        assert fits == (CUED in chat.files["MEMORY.md"])
        chat.memory.close()


def test_memory_md_gets_four() -> None:
    """The first four facts, under a heading, as long as it is under 4000 characters and there."""
    for length, gets in ((3999, True), (4000, False)):
        chat = Chat()
        chat.files["MEMORY.md"] = "y" * length
        for number in range(6):
            chat.say("user", f"{CUED} no. {number}")
        chat.memory.end_turn()
        four = "".join(f"- 用户请求: {CUED} no. {n}\n" for n in range(4))
        added = f"\n## Auto-extracted ({DAY})\n{four}" if gets else ""
        assert "y" * length + added == chat.files["MEMORY.md"]
    chat = Chat()
    del chat.files["MEMORY.md"]
    chat.turns(2)
    chat.turn(CUED)
    assert [DAILY] == list(chat.files)


def test_memory_md_must_be_there() -> None:
    """It is only ever added to: the hook makes the day's file, and no other."""
    pages = Pages()
    assert ("memory/2026-01-05.md",) == pages.keep(["- one"], "2026-01-05")
    assert ["memory/2026-01-05.md"] == list(pages.texts)


def test_headings_of_a_day_stay() -> None:
    """Repeated as they are, while the bullets below them go."""
    block = "## Session Facts (2026-01-05)\n- " + "x" * 900 + "\n\n"
    pages = Pages({"memory/2026-01-05.md": block * 3})
    pages.compact_daily("2026-01-05")
    left = pages.texts["memory/2026-01-05.md"].splitlines()
    assert 3 == left.count("## Session Facts (2026-01-05)")
    assert 1 == sum(line.startswith("- x") for line in left)


def test_session_facts_are_concatenated() -> None:
    """With newlines, turn after turn."""
    chat = Chat()
    chat.turns(2)
    chat.turn(CUED)
    chat.turn()
    both = f"- 用户请求: {CUED}\n- 用户请求: {CUED}"
    assert both == chat.studio.session("s1").scratchpad.read("session_facts")


def test_a_long_day_loses_repeated_bullets() -> None:
    """Headings stay, and what is not above 2000 characters does as it is."""
    chat = Chat()
    for text in ("- same\n" * 250, "- same\n" * 286):
        chat.files[DAILY] = text
        chat.studio.pages.compact_daily(DAY)
        assert (text if len(text) <= 2000 else "- same\n") == chat.files[DAILY]
    chat.files[DAILY] = "## A\n- same\n## A\n- same\n\nplain\nplain\n" + "z" * 2000
    chat.studio.pages.compact_daily(DAY)
    assert "## A\n- same\n## A\n\nplain\nplain\n" + "z" * 2000 + "\n" == chat.files[DAILY]


def test_bullets_are_the_same_by_eighty_characters() -> None:
    """Whatever the case, and whatever follows."""
    chat = Chat()
    first, second = f"- {'A' * 78}one", f"- {'a' * 78}two"
    other = f"- {'a' * 77}b"
    chat.files[DAILY] = "\n".join((first, second, other, "z" * 2000))
    chat.studio.pages.compact_daily(DAY)
    assert [first, other] == lines(chat.files[DAILY])


def test_other_languages_yield_nothing() -> None:
    """Until a language or words of one's own are given."""
    told = "Please keep in mind that the host is blue-42"
    for ref, count in (
        ("agenticx", 0),
        ("agenticx:cues=zh+en", 1),
        ("agenticx:remember=in mind/notera", 1),
        ("agenticx:request=that the", 1),
        ("agenticx:outcome=blue", 0),
    ):
        chat = Chat(ref)
        chat.turns(2)
        chat.turn(told)
        assert count == len(lines(chat.files.get(DAILY, ""))), ref


# -- recall


def users(*texts: str) -> list[Message]:
    """What a user said, and was answered."""
    return [
        m
        for n, text in enumerate(texts)
        for m in (said("user", text, id=f"u{n}"), said("assistant", "ok", id=f"a{n}"))
    ]


def test_recall_takes_five_user_messages() -> None:
    """However much others said in between."""
    assert "b c d e f" == query_of(users("a", "b", "c", "d", "e", "f"))


def test_the_query_is_cut() -> None:
    """200 characters of each message, 500 of all."""
    assert "x" * 200 + " y" == query_of(users("x" * 300, "y"))
    assert 500 == len(query_of(users(*["x" * 300] * 5)))


def noted(ref: str = "agenticx", count: int = 1) -> Chat:
    """A chat whose workspace has sections, and whose index knows them."""
    chat = Chat(ref)
    chat.files["MEMORY.md"] = "\n".join(f"## N{n}\nzebra stripe {n}" for n in range(count))
    chat.turn("hello")
    return chat


def test_recall_shows_five_pieces_at_most() -> None:
    """Words and vectors are searched, and the best five of both shown."""
    shown = part(noted(count=9).ask("zebra"), "recalled")
    assert 5 == shown.count("zebra stripe")
    assert 5 == RecallOptions().limit


def test_recall_has_its_heading() -> None:
    """The document's has brackets of ASCII, the package's are wide."""
    assert HEADING == part(noted().ask("zebra"), "recalled").splitlines()[0]
    wide = noted("agenticx:behaviour=source,index=turn").ask("zebra")
    assert SOURCE_HEADING == part(wide, "recalled").splitlines()[0]
    assert "## 相关历史记忆(自动召回)" == HEADING


def test_snippets_are_capped() -> None:
    """200 characters of each, and 500 together."""
    chat = Chat()
    chat.files["MEMORY.md"] = "\n".join(f"## N{n}\nzebra {n}" + "q" * 300 for n in range(5))
    chat.turn("hello")
    shown = part(chat.ask("zebra"), "recalled").removeprefix(HEADING).split("\n- ")[1:]
    assert [200, 200] == [len(snippet.strip("\n")) for snippet in shown]


def test_without_hits_there_is_no_section() -> None:
    """Neither where nothing was asked, nor where nothing is alike."""
    chat = noted()
    assert "" == part(chat.ask("   "), "recalled") == part(Chat().ask("zebra"), "recalled")
    chat.studio.index.close()
    assert "" != part(noted().ask("zebra"), "recalled")


def test_nothing_is_found_before_it_is_indexed() -> None:
    """Indexing is scheduled after each turn, or left to whoever does it."""
    chat = noted("agenticx:index=never")
    assert "" == part(chat.ask("zebra"), "recalled")
    chat.studio.reindex(EPOCH)
    chat.turn()
    assert "zebra" in part(chat.ask("zebra"), "recalled")


def test_mem0_is_beside_the_files() -> None:
    """A model extracts, meaning finds, and no file is needed."""
    chat = Chat("agenticx:longterm=mem0", Saying("The host is blue-42."))
    source = chat.turn("the host is blue-42")
    context = chat.ask("which host?")
    assert "- The host is blue-42." == part(context, "recalled")
    assert source in next(s for s in context.sections if s.layer == "recalled").derived
    assert {"MEMORY.md": "# MEMORY\n"} == chat.files
    plain = Chat()
    plain.turn("the host is blue-42")
    assert [] == plain.model.requests


# -- scratchpad


def test_the_scratchpad_has_its_tools() -> None:
    """Writing and reading, their limits, and what they say."""
    chat = Chat("agenticx:tools=on")
    chat.turn()
    names = {spec.name for spec in chat.memory.tools("ana")}
    assert {"scratchpad_write", "scratchpad_read", "memory_append", "memory_search"} <= names

    def call(name: str, **given: object) -> str:
        return chat.memory.call_tool(name, json.dumps(given), "ana")

    assert "OK: scratchpad[k] updated" == call("scratchpad_write", key="k", value="v")
    assert "v" == call("scratchpad_read", key="k")
    assert "k" == call("scratchpad_read", list_only=True)
    assert "ERROR: key not found: x" == call("scratchpad_read", key="x")
    assert "ERROR: value is required" == call("scratchpad_write", key="k")
    assert "ERROR: invalid arguments" == chat.memory.call_tool("scratchpad_write", "[", "ana")
    assert "- k: v..." in part(chat.ask(), "working")
    assert "OK" == call("memory_append", target="long_term", content="zebra")[:2]
    assert "ERROR" == call("memory_append", target="daily", content="zebra")[:5]
    assert "MEMORY.md:1-3 # MEMORY\n\n- zebra" == call("memory_search", query="zebra")
    found = call("session_search", query="hello", limit=9).splitlines()
    assert ["[assistant] »hello« to you", "[user] »hello« there"] == sorted(found)
    assert () == tuple(Chat().memory.tools("ana"))
    with pytest.raises(MemsimError):
        Chat().memory.call_tool("scratchpad_read", "{}", "ana")


def test_sub_agents_report_under_reserved_keys() -> None:
    """Both keys say the same: the status, and 500 characters."""
    scratchpad = Scratchpad()
    scratchpad.report("a1", "completed", "x" * 600)
    both = [scratchpad.read(f"{kind}_result::a1") for kind in ("subagent", "delegation")]
    assert ["completed: " + "x" * 500] * 2 == both


def test_pending_reports_are_a_queue() -> None:
    """The last fifty."""
    scratchpad = Scratchpad()
    for number in range(52):
        scratchpad.report(f"a{number}", "completed", str(number))
    queue = scratchpad.values[PENDING]
    assert (50, "completed: 2", "completed: 51") == (len(queue), queue[0], queue[-1])


def test_taskspace_hints_are_kept() -> None:
    """Hints are values like others, and shown."""
    assert ("__taskspace_hint__", "__taskspace_label_hint__") == HINTS
    scratchpad = Scratchpad()
    for key in HINTS:
        scratchpad.write(key, "src")
    assert f"- {HINTS[0]}: src...\n- {HINTS[1]}: src..." == scratchpad.rendered()


def test_historical_results_are_read() -> None:
    """By the ids of the sub-agents."""
    scratchpad = Scratchpad()
    scratchpad.report("b", "failed", "no disk")
    scratchpad.report("a", "completed", "all green")
    assert {"a": "completed: all green", "b": "failed: no disk"} == scratchpad.results()


# -- compaction


def test_compaction_works_on_sanitised_messages() -> None:
    """Before the model is sent anything, calls that nobody answered are gone."""
    chat = Chat()
    chat.say("tool", ToolResult(id="zz", text="orphan"))
    chat.say("assistant", "let me see", ToolUse(id="c1", name="shell", arguments="{}"))
    chat.say("user", "never mind")
    (window,) = chat.ask().sections
    assert ["let me see", "never mind"] == [m.text for m in window.messages]
    for number in range(18):
        chat.say("user", f"more {number}")
    assert [] == chat.model.requests
    chat.ask()
    assert [] == chat.model.requests
    chat.say("user", "the twenty-first that counts")
    chat.ask()
    assert 1 == len(chat.model.requests)


def compactor(**options: int) -> tuple[ContextCompactor, list[Any]]:
    """A compactor, and the prompts that it sent."""
    prompts: list[Any] = []

    def invoke(prompt: Any) -> Reply:  # noqa: ANN401 - noted as it is
        prompts.append(prompt)
        return Reply(text=" 要点 ")

    return ContextCompactor(invoke, **options), prompts  # type: ignore[arg-type]


def talk(count: int, length: int = 5) -> tuple[Message, ...]:
    """So many messages of some length."""
    return tuple(said("user", f"{n}".ljust(length, "x"), id=f"m{n}") for n in range(count))


def test_twenty_one_messages_are_compacted() -> None:
    """Twenty are not."""
    made, _ = compactor()
    assert not made.maybe_compact(talk(20), EPOCH).did
    assert 13 == made.maybe_compact(talk(21), EPOCH).count


def test_characters_set_it_off() -> None:
    """48,000 do not, one more does; and two long messages are never touched."""
    made, _ = compactor()
    assert not made.maybe_compact(talk(10, 4800), EPOCH).did
    assert made.maybe_compact((*talk(10, 4800), said("user", "x", id="n")), EPOCH).did
    assert not made.maybe_compact(talk(2, 50_000), EPOCH).did


def test_eight_messages_stay() -> None:
    """The latest, as they are."""
    made, _ = compactor()
    history = talk(30)
    assert history[-8:] == made.maybe_compact(history, EPOCH).messages[1:]


def test_the_model_is_asked_once() -> None:
    """In Chinese, for 400 tokens; its answer is stripped."""
    made, prompts = compactor()
    done = made.maybe_compact(talk(21), EPOCH)
    (prompt,) = prompts
    assert "请将以下对话压缩成用于后续推理的精炼上下文。" == prompt.text.splitlines()[0]
    assert [f"[user] {n}".ljust(12, "x") for n in range(13)] == [
        line for line in prompt.text.splitlines() if line.startswith("[user]")
    ]
    assert (400, 0.0, "要点") == (prompt.max_tokens, prompt.temperature, done.summary)
    chat = Chat()
    chat.turns(11)
    assert [400] == [r.max_tokens for r in chat.model.requests]


@pytest.mark.parametrize(
    ("ref", "turns", "first"),
    [
        ("agenticx", 11, "请将以下对话压缩成用于后续推理的精炼上下文。"),
        (
            "agenticx:version=0.6,threshold_messages=20",
            11,
            "请将以下多条历史对话压缩成一段精炼摘要，用于后续推理。",  # noqa: RUF001 - to the byte
        ),
    ],
)
def test_a_live_model_is_sent_the_instruction(ref: str, turns: int, first: str) -> None:
    """In one message, with the conversation as AgenticX writes it, cut at 400 tokens."""
    chat = Chat(ref)
    chat.turns(turns)
    request = chat.model.requests[0]
    ((role, text),) = provider_chat(request)
    assert ("user", first) == (role, text.splitlines()[0])
    assert "原始上下文：\n[user] hello number 0\n[assistant] hello to you" in text  # noqa: RUF001
    assert 400 == compose(request, REF).max_tokens


def test_the_prefix_is_replaced() -> None:
    """One system message stands for it, and stays until it is compacted itself."""
    chat = Chat()
    chat.turns(11)
    summary = "[compacted] 已压缩 13 条历史消息，以下为摘要：\n要点"  # noqa: RUF001 - to the byte
    context = chat.ask()
    assert summary == part(context, "summary")
    assert "system" == context.sections[-2].messages[0].role
    chat.turns(5)
    assert 1 == len(chat.model.requests)
    chat.turns(2)
    assert summary in [content_of(m) for m in chat.model.requests[1].messages]
    assert 2 == len([e for e in chat.events if e.kind == "compaction"])


@pytest.mark.parametrize("answer", [None, "  \n "])
def test_snippets_stand_in_for_a_summary(answer: str | None) -> None:
    """Where the model fails or says nothing: the last twelve, 160 characters each, 700 in all."""
    chat = Chat(model=Saying(answer))
    for number in range(21):
        chat.say("user", f"{number} " + "x" * 300)
    summary = part(chat.ask(), "summary").partition("\n")[2]
    assert 700 == len(summary)
    assert [160] * 4 == [len(s) for s in summary.split("；")[:4]]  # noqa: RUF001 - its joiner
    assert "[user] 1 " == summary[:9]


def test_floors_hold() -> None:
    """Whatever is asked for."""
    made, _ = compactor(threshold_messages=1, threshold_chars=1, retain_recent_messages=1)
    sizes = (made.threshold_messages, made.threshold_chars, made.retain_recent_messages)
    assert (8, 4000, 4) == sizes
    assert not made.maybe_compact(talk(8), EPOCH).did
    assert 5 == made.maybe_compact(talk(9), EPOCH).count


def test_thresholds_are_parameters() -> None:
    """The defaults are the document's."""
    made, _ = compactor()
    sizes = (made.threshold_messages, made.threshold_chars, made.retain_recent_messages)
    assert (20, 48_000, 8) == sizes
    chat = Chat("agenticx:threshold_messages=10,retain_recent_messages=5")
    chat.turns(5)
    chat.say("user", "the eleventh")
    assert ["summary", "window"] == [s.layer for s in chat.ask().sections]
    assert 5 == len(chat.ask().sections[-1].messages)


# -- the package, where it differs


def test_the_source_has_four_kinds() -> None:
    """What is to be remembered, and addresses, are kinds of their own."""
    chat = Chat("agenticx:behaviour=source")
    chat.turns(1)
    chat.turn(CUED, "See https://example.com/ledger for it")
    chat.turn(LONG, DONE)
    kinds = [line.partition(":")[0] for line in lines(chat.files[DAILY])]
    assert ["- 用户要求记住", "- 关键信息", "- 用户请求", "- 完成事项"] == kinds


def test_the_source_looks_at_five_messages() -> None:
    """Of any role, and takes the users among them."""
    assert "e f" == query_of(users("a", "b", "c", "d", "e", "f"), among_last=True)
    late = [said("user", "a", id="u"), *(said("assistant", "x", id=f"a{n}") for n in range(5))]
    assert "" == query_of(late, among_last=True)


def test_punctuation_disables_the_sources_recall() -> None:
    """The full text search takes the query as it is written."""
    chat = noted("agenticx:behaviour=source,index=turn")
    assert "zebra" in part(chat.ask("zebra"), "recalled")
    assert "" == part(chat.ask("zebra stripe?"), "recalled")
    for ref in ("agenticx", "agenticx:behaviour=source,fixed=on"):
        assert "zebra" in part(noted(ref).ask("zebra stripe?"), "recalled")


def test_the_source_has_no_floor() -> None:
    """Pieces that share nothing with the query are shown; the document speaks of hits."""
    assert "zebra" in part(noted("agenticx:behaviour=source,index=turn").ask("qqq"), "recalled")
    chat = Chat()
    chat.files["MEMORY.md"] = "zebra"
    chat.turn("zzz")
    assert "" == part(chat.ask("zzz"), "recalled")


def test_the_source_compacts_again_each_time() -> None:
    """All of the history, with a model's call in every round."""
    chat = Chat("agenticx:behaviour=source")
    chat.turns(13)
    assert [13, 15, 17] == [len(r.messages) for r in chat.model.requests]
    assert all(not m.composed for r in chat.model.requests for m in r.messages)


def test_the_source_never_indexes() -> None:
    """Only a tool brings it about."""
    chat = Chat("agenticx:behaviour=source,tools=on")
    chat.turns(2)
    chat.turn(CUED)
    assert "" == part(chat.ask("staging host"), "recalled")
    given = '{"target": "long_term", "content": "a note"}'
    chat.memory.call_tool("memory_append", given, "ana")
    chat.turns(3)
    assert "blue" in part(chat.ask("staging host"), "recalled")


# -- defects, and what is left of them where they are fixed


def test_facts_are_written_again_each_turn() -> None:
    """Until they leave the last twenty messages; a fixed one writes them once."""
    for ref, times in (("agenticx", 4), ("agenticx:fixed=on", 1)):
        chat = Chat(ref)
        chat.turns(2)
        chat.turn(CUED)
        chat.turns(3)
        assert times == chat.files[DAILY].count(CUED), ref


def test_stale_postings_stay() -> None:
    """What a file no longer says is still counted in the index, but where it is fixed."""
    for ref, rows in (("agenticx", 2), ("agenticx:fixed=on", 1)):
        chat = noted(ref)
        for name, text in (("USER.md", "cat"), ("MEMORY.md", "yak")):
            chat.files[name] = text
            chat.studio.reindex(EPOCH)
        index = chat.studio.index
        assert 2 == index.count("chunks")
        assert 1 + rows == index.count("chunks_fts")


def test_a_chinese_sentence_is_one_word() -> None:
    """A word inside it is not found, but where it is fixed."""
    for ref, found in (("agenticx", False), ("agenticx:fixed=on", True)):
        chat = Chat(ref)
        chat.files["MEMORY.md"] = "账单迁移在六月完成"
        chat.turn("hello")
        assert found == ("六月" in part(chat.ask("迁移"), "recalled")), ref


def test_a_call_may_lose_its_results() -> None:
    """The cut knows no pairs, and the next round drops the orphan; a fixed one keeps them."""
    for ref, kept in (("agenticx", False), ("agenticx:fixed=on", True)):
        chat = Chat(ref)
        chat.turns(6)
        chat.say("user", "look")
        chat.say("assistant", ToolUse(id="c1", name="shell", arguments="{}"))
        chat.say("tool", ToolResult(id="c1", text="a trace"))
        for number in range(7):
            chat.say("user", f"more {number}")
        window = chat.send().sections[-1]
        assert kept == bool(next(m for m in window.messages if not m.composed).calls)
        assert kept == ("a trace" in part(chat.ask(), "window")) or not kept
        chat.say("user", "next")
        assert kept == ("a trace" in part(chat.ask(), "window")), ref


def test_nothing_can_be_erased() -> None:
    """The design has no way to; a fixed one erases it everywhere."""
    chat = Chat()
    chat.turns(2)
    source = chat.turn(CUED)
    request = Forget(principal="ana", text="", sources=(source,))
    assert not chat.memory.forget(request).supported
    assert any("blue-42" in s.text for s in chat.memory.surfaces())
    fixed = Chat("agenticx:fixed=on")
    fixed.turns(2)
    source = fixed.turn(CUED)
    fixed.turns(2)
    outcome = fixed.memory.forget(Forget(principal="ana", text="", sources=(source,)))
    assert (source,) == outcome.removed
    assert [] == [s for s in fixed.memory.surfaces() if "blue-42" in s.text or source in s.sources]
    assert "blue-42" not in json.dumps(fixed.memory.save()["studios"])[:200]


def test_the_workspace_is_everybodys() -> None:
    """What Ana noted is recalled for Ben, but where each has one of their own."""
    for ref, seen in (("agenticx", True), ("agenticx:scope=principal", False)):
        chat = Chat(ref)
        chat.turns(2)
        chat.turn(CUED)
        chat.say("user", "hello", session="s2", who="ben")
        context = chat.ask("the staging host", session="s2", who="ben")
        assert seen == ("blue-42" in part(context, "recalled")), ref


# -- version 0.6


def test_tokens_decide_in_06() -> None:
    """128,000 tokens less a reserve; numbers of messages only above two hundred."""
    chat = Chat("agenticx:version=0.6")
    chat.turns(50)
    assert [] == chat.model.requests
    small = Chat("agenticx:version=0.6,model_window=32000")
    small.turns(6)
    small.say("user", "x" * 39_000)
    small.ask()
    assert 1 == len(small.model.requests)


def test_demands_are_repeated_in_06() -> None:
    """A summary without them is asked for again, and then left for the snippets."""
    chat = Chat("agenticx:version=0.6,threshold_messages=8")
    chat.say("user", "必须保留接口")
    for number in range(9):
        chat.say("user", f"more {number}")
    summary = part(chat.ask(), "summary")
    assert [400, 500] == [r.max_tokens for r in chat.model.requests]
    assert "必须保留接口" in summary
    assert "[session_memory]{" in summary


def test_long_results_are_cut_in_06() -> None:
    """4000 characters stay, the rest by its ends; 0.3 keeps all of it."""
    for ref, length in (("agenticx", 5000), ("agenticx:version=0.6", 2753)):
        chat = Chat(ref)
        chat.say("assistant", ToolUse(id="c1", name="shell", arguments="{}"))
        chat.say("tool", ToolResult(id="c1", text="y" * 5000))
        assert length == len(chat.ask().sections[0].messages[1].text)


def test_06_finds_parts_of_chinese_sentences() -> None:
    """By looking for the words inside, and whatever is nearest scores as a hit."""
    chat = Chat("agenticx:version=0.6")
    chat.files["MEMORY.md"] = "账单迁移在六月完成"
    chat.turn("hello")
    assert "六月" in part(chat.ask("迁移"), "recalled")


# -- the contract


REFS = (
    "agenticx",
    "agenticx:behaviour=source,index=turn",
    "agenticx:version=0.6,threshold_messages=8",
    "agenticx:fixed=on,cues=zh+en,longterm=mem0,tools=on",
    "agenticx:scope=principal",
)


@pytest.mark.parametrize("ref", REFS)
def test_a_restart_changes_nothing(ref: str) -> None:
    """A strategy that is loaded goes on as the one that was saved."""

    @settings(max_examples=12)
    @given(turns=conversations(most=10))
    def check(turns: Any) -> None:  # noqa: ANN401 - hypothesis
        half = len(turns) // 2
        one, other = strategy(ref), strategy(ref)
        play(one, turns[:half])
        other.load(json.loads(saved(one)))
        play(one, turns[half:])
        play(other, turns[half:])
        assert sorted(map(repr, one.surfaces())) == sorted(map(repr, other.surfaces()))
        assert one.save() == other.save()
        one.close()
        other.close()

    check()


@pytest.mark.parametrize(
    ("ref", "told"),
    [
        ("agenticx:threshold_messages=0", "threshold_messages is 0"),
        ("agenticx:threshold_chars=-1", "threshold_chars is -1"),
        ("agenticx:retain_recent_messages=0", "retain_recent_messages is 0"),
        ("agenticx:model_window=0", "model_window is 0"),
        ("agenticx:cues=fr", "cues is 'fr'"),
        ("agenticx:version=0.4", "version must be"),
        ("agenticx:behaviour=real", "behaviour must be"),
        ("agenticx:index=often", "index must be"),
        ("agenticx:longterm=redis", "longterm must be"),
        ("agenticx:scope=team", "scope must be"),
        ("agenticx:fixed=perhaps", "fixed must be"),
    ],
)
def test_a_wrong_parameter_is_refused(ref: str, told: str) -> None:
    """In one line that names it."""
    with pytest.raises((MemsimError, ValueError), match=told) as caught:
        strategy(ref)
    assert "\n" not in str(caught.value)


def test_asking_changes_nothing() -> None:
    """A question, and the compaction that it brings about, leave no trace."""
    chat = Chat()
    for number in range(25):
        chat.say("user", f"more {number}")
    before = chat.memory.save()
    first = chat.ask("what?")
    assert first == chat.ask("what?")
    assert before == chat.memory.save()
    chat.memory.delivered(first)
    assert first == chat.ask("what?")
    assert before != chat.memory.save()


def test_it_tells_where_a_message_is() -> None:
    """In the window, the summary, the workspace, or the log that nobody is shown."""
    chat = Chat()
    kept = chat.turn(CUED)
    lost = chat.turn("plain words")
    chat.turns(12)
    late = chat.turn("plain words again")
    query = Query(text="?", principal="ana", session="s1", time=EPOCH, turn=1, budget=4096)
    places = [chat.memory.locate(source, query) for source in (late, kept, lost, "nobody")]
    assert ["window", "store", "log", None] == [p and p.tier for p in places]


def test_demands_are_found_within_words_in_06() -> None:
    """The source looks for its cue words wherever they stand."""
    told = said("user", "evernever stop it. Always ask", id="m1")
    assert ("never stop it", "Always ask") == hard_constraints([told])


def test_a_path_of_any_kind_is_a_file_in_06() -> None:
    """The source takes whatever is named as a path for a text."""
    calls = (
        ToolUse(id=f"c{n}", name="file_write", arguments=json.dumps({"path": path}))
        for n, path in enumerate((" a.py ", 7, ["b"], None, "  ", 0))
    )
    writing = Message(id="m1", role="assistant", blocks=tuple(calls))
    found = session_memory([writing], lambda _: "file_write")["files_modified"]
    assert ["7", "['b']", "a.py"] == found


@pytest.mark.parametrize("fixed", [False, True])
def test_a_section_that_stays_is_posted_once(*, fixed: bool) -> None:
    """A file that grows finds what it would find if all of it were posted with each line."""
    index, other = WorkspaceIndex(fixed=fixed), WorkspaceIndex(fixed=fixed)
    text = ""
    for n in range(6):
        text += f"## Part {n}\nThe shelf {n % 2} holds a well-worn box.\n\n"
        ran: list[str] = []
        index._database.set_trace_callback(ran.append)
        index.index([("notes.md", text)], EPOCH)
        index._database.set_trace_callback(None)
        other._searched.clear()
        other.index([("notes.md", text)], EPOCH)

        posted = sum(statement.startswith("INSERT INTO chunks_fts ") for statement in ran)
        assert posted == (n + 1 if fixed else 1)
        for query in ("shelf box", "Part 3", '"well-worn"', '"1 holds"', "nothing"):
            assert index.search(query, 9, "fts") == other.search(query, 9, "fts")
    assert index.save() == other.save()


@pytest.mark.parametrize("name", SHOWN["agenticx"])
def test_what_it_breaks_holds_once_it_is_repaired(name: str) -> None:
    """A conversation shows it of the design as published, and holds with `fixed`."""
    assert_broken_unless_fixed("agenticx", name)
