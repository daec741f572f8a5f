"""AgenticX's memory as one whole: sessions, the workspace's files, its index, and what is where."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memsim.memory.codec import JSON, reading
from memsim.memory.compaction.condense import BEGINNING
from memsim.memory.compaction.summary import originals
from memsim.memory.scope import ScopedPart
from memsim.message import Message, composed
from memsim.systems.agenticx.chat_session import MEMORY_HOOK, AgentHook, AgenticxSession, Scratchpad
from memsim.systems.agenticx.compactor import ContextCompactor, Invoke
from memsim.systems.agenticx.compactor06 import WINDOW, ContextCompactor06
from memsim.systems.agenticx.content import Naming, content_of
from memsim.systems.agenticx.fact_cues import MIN_CHAT_TURNS, CueFact, CueWords, extract_facts
from memsim.systems.agenticx.recall import (
    HEADING,
    LATEST,
    SOURCE_HEADING,
    RecallOptions,
    RecallSection,
    recall_context,
)
from memsim.systems.agenticx.workspace_files import MEMORY, Pages
from memsim.systems.agenticx.workspace_index import WorkspaceIndex

NEW = "0.6"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgenticxProfile:
    """What a version does: as its document or package (`source`) has it, or repaired (`fixed`)."""

    version: str = "0.3"
    source: bool = False
    fixed: bool = False

    @property
    def new(self) -> bool:
        """Whether it is 0.6."""
        return self.version == NEW

    @property
    def kinds(self) -> int:
        """Kinds of facts."""
        return 4 if self.source else 2

    @property
    def replaces(self) -> bool:
        """Whether a compaction stays; the source of 0.3 compacts all of the history each time."""
        return self.new or self.fixed or not self.source

    @property
    def indexing(self) -> str:
        """When the workspace is indexed: after each `turn`, or `never`."""
        return "never" if self.source and not self.new and not self.fixed else "turn"

    def index(self) -> WorkspaceIndex:
        """An empty index."""
        return WorkspaceIndex(cjk=self.new, raw=self.source, fixed=self.fixed)

    def reading(self) -> RecallOptions:
        """How it recalls."""
        return RecallOptions(
            among_last=self.source and not self.fixed,
            users=1 if self.fixed else LATEST,
            heading=SOURCE_HEADING if self.source else HEADING,
            limit=30 if self.new else 5,
            used=3 if self.new else 5,
            floor=self.fixed or not self.source,
        )

    def compactor(
        self, invoke: Invoke, naming: Naming, window: int | None = None, **sizes: int | None
    ) -> ContextCompactor:
        """Make a compactor with thresholds by name; where one is None it is as published."""
        if self.new:
            window = WINDOW if window is None else window
            return ContextCompactor06(
                invoke, naming=naming, window=window, smaller=self.fixed, **sizes
            )
        return ContextCompactor(invoke, pairs=self.fixed, smaller=self.fixed, **sizes)


EMPTY = {MEMORY: "# MEMORY\n"}
"""A new workspace."""


def remember(
    chat: Sequence[Message],
    pages: Pages,
    scratchpad: Scratchpad,
    cues: CueWords,
    profile: AgenticxProfile,
    *,
    day: str,
    known: Collection[str] = (),
) -> list[CueFact]:
    """Run `on_agent_end`: find facts in a chat, write them down, and return them.

    Lines in `known` were written before; a fixed AgenticX does not write them again.
    """
    if len(chat) < MIN_CHAT_TURNS * 2:
        return []
    most = {"most": len(chat)} if profile.fixed else {}
    facts = extract_facts(chat, cues, kinds=profile.kinds, **most)
    if profile.fixed:
        facts = [fact for fact in facts if fact.line not in known][-8:]
    if not facts:
        return []
    lines = [fact.line for fact in facts]
    pages.keep(lines, day)
    pages.compact_daily(day)
    scratchpad.note_facts(lines)
    return facts


@dataclass(slots=True)
class Credit:
    """Ids of originals: those that stand somewhere whole, and those that stand there in part."""

    quotes: list[str] = field(default_factory=list)
    derived: list[str] = field(default_factory=list)

    @property
    def sources(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(dict.fromkeys((*self.quotes, *self.derived)))

    def message(self, text: str, name: str) -> Message:
        """Write a system message that credits them."""
        quotes, derived = (tuple(dict.fromkeys(ids)) for ids in (self.quotes, self.derived))
        return composed("system", text, id=name, quotes=quotes, derived_from=derived)


class Studio(ScopedPart):
    """One user's AgenticX: a workspace that all of their sessions share."""

    def __init__(self, profile: AgenticxProfile, cues: CueWords, texts: dict[str, str]) -> None:
        self.sessions: dict[str, AgenticxSession] = {}
        self.pages = Pages({**EMPTY, **texts}, fixed=profile.fixed)
        self.index = profile.index()
        self._profile = profile
        self._cues = cues
        self._origins: dict[str, dict[str, bool]] = {}
        self.found: list[CueFact] = []
        self._hooks: list[tuple[int, AgentHook]] = []
        self.register(self._remember, MEMORY_HOOK)

    def register(self, hook: AgentHook, priority: int = 0) -> None:
        """Run a hook at the end of turns: after those of a higher or the same priority."""
        self._hooks.append((priority, hook))
        self._hooks.sort(key=lambda entry: -entry[0])

    def _remember(self, session: AgenticxSession, now: datetime) -> None:
        day, known = now.date().isoformat(), self._origins
        taken = (session.chat, self.pages, session.scratchpad, self._cues, self._profile)
        self.found = remember(*taken, day=day, known=known)

    def session(self, name: str) -> AgenticxSession:
        """A session, to write to."""
        if name not in self.sessions:
            self.sessions[name] = AgenticxSession(micro=self._profile.new)
        return self.sessions[name]

    def seen(self, name: str) -> AgenticxSession:
        """A session, to read; what is missing is not kept."""
        return self.sessions.get(name) or AgenticxSession(micro=self._profile.new)

    def end_turn(self, name: str, now: datetime) -> tuple[str, ...]:
        """Run the hooks after a turn of a session; ids of the messages that facts came from."""
        self.found = []
        for _, hook in self._hooks:
            hook(self.session(name), now)
        fresh: list[str] = []
        for fact in self.found:
            behind = self._origins.setdefault(fact.line, {})
            if fact.source not in behind:
                behind[fact.source] = fact.whole
                fresh.append(fact.source)
        return tuple(fresh)

    def reindex(self, now: datetime) -> None:
        """`index_workspace_sync`."""
        self.index.index(self.pages.indexed(), now)

    def recall(self, name: str, asked: Message) -> RecallSection:
        """What stands in the system prompt of a session for a question."""
        recent: list[Message] = []
        users = 0
        for message in reversed(self.seen(name).chat):
            recent.append(message)
            users += message.role == "user"
            if users == LATEST:
                break
        last = next((m for m in recent if m.role == "user"), None)
        if last is None or content_of(last) != content_of(asked):
            recent.insert(0, asked)
        return recall_context(recent[::-1], self.index, self._profile.reading())

    def credit(self, recalled: RecallSection) -> Credit:
        """Whose words are in the snippets."""
        found = Credit()
        for hit, snippet in recalled.shown:
            whole = hit.text.strip().split("\n")
            for line, shown in zip(whole, snippet.split("\n"), strict=False):
                self._credit(line, shown, found)
        return found

    def lines(self, texts: Sequence[str]) -> Credit:
        """Whose words are in lines that are shown whole."""
        found = Credit()
        for line in texts:
            self._credit(line, line, found)
        return found

    def behind(self, text: str) -> tuple[str, ...]:
        """Ids of the messages that lines of a text came from."""
        lines = (self._origins.get(line.strip(), {}) for line in text.split("\n"))
        return tuple(dict.fromkeys(source for line in lines for source in line))

    def written(self, source: str) -> bool:
        """Whether a message left a line in a file that is still there."""
        return any(source in self.behind(text) for text in self.pages.texts.values())

    def forget(self, ids: frozenset[str], now: datetime) -> None:
        """Erase messages wherever they or their words are."""
        lines = [line for line, behind in self._origins.items() if not ids.isdisjoint(behind)]
        for line in lines:
            del self._origins[line]
        self.pages.erase(lines)
        for session in self.sessions.values():
            session.remove(ids)
            session.scratchpad.erase(lines)
        self.reindex(now)

    def own(self, principal: str) -> dict[str, str]:
        """The texts of what a principal said, by id, oldest first."""
        said = (m for session in self.sessions.values() for m in session.chat)
        return {m.id: m.text for m in said if m.principal == principal}

    def everything(self) -> Iterator[tuple[str, tuple[str, ...], str]]:
        """Every place where text stands: its tier, ids of the originals in it, and the text."""
        for name in sorted(self.pages.texts):
            text = self.pages.texts[name]
            yield "store", self.behind(text), text
        for piece in self.index.pieces():
            yield "index", self.behind(piece.text), piece.text
        for session in self.sessions.values():
            for message in session.agent:
                tier = "summary" if message.composed and message.role == "system" else "window"
                yield tier, originals(message), message.text
            for key, value in session.scratchpad.values.items():
                yield "scratchpad", self.behind(str(value)), f"{key}: {value}"
            for message in session.chat:
                yield "log", (message.id,), message.text

    def save(self) -> JSON:
        return {
            "pages": self.pages.save(),
            "index": self.index.save(),
            "sessions": {name: s.save() for name, s in self.sessions.items()},
            "origins": [
                [line, [[source, whole] for source, whole in behind.items()]]
                for line, behind in self._origins.items()
            ],
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        with reading("it is no workspace with its sessions"):
            self.pages.load(saved["pages"])
            self.index.load(saved["index"])
            for name, session in saved["sessions"].items():
                self.session(name).load(session)
            self._origins = {line: dict(behind) for line, behind in saved["origins"]}

    def _credit(self, line: str, shown: str, found: Credit) -> None:
        behind = self._origins.get(line.strip())
        if not behind:
            return
        words = shown.partition(": ")[2]
        for source, whole in behind.items():
            if whole and shown.strip() == line.strip():
                found.quotes.append(source)
            elif shown.strip() == line.strip() or len(words) >= BEGINNING:
                found.derived.append(source)
