"""What the modes keep track of: each its own, for as long as the session lasts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memsim.memory.systems.cogtrix.code import CodeState
from memsim.memory.systems.cogtrix.cues import track_code, track_reasoning
from memsim.memory.systems.cogtrix.reasoning import ReasoningState
from memsim.memory.systems.cogtrix.talking import TalkState
from memsim.memory.systems.cogtrix.trimming import content

if TYPE_CHECKING:
    from memsim.memory.state import JSON
    from memsim.memory.systems.cogtrix.notes import Note, Part
    from memsim.memory.systems.cogtrix.settings import Mode, Settings
    from memsim.message import Message


class Tracked:
    """The states of all modes, of which one at a time takes in what is said.

    Args:
        settings: how the session works.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.talk = TalkState()
        self.code = CodeState(settings.max_files, settings.max_errors, fixed=settings.fixed)
        self.reasoning = ReasoningState(
            settings.max_decisions, settings.max_alternatives, settings.prefix_max_stale_turns
        )

    def hear(self, turn: Sequence[Message], mode: Mode) -> None:
        """Take in a turn: what users said in it, and the final answer."""
        users = [m for m in turn if m.role == "user"]
        answers = [m for m in turn if m.role == "assistant" and m.spoken.strip()][-1:]
        if mode == "code":
            self._hear_code(users, answers)
            if self._settings.fixed:
                for message in turn:
                    if message.role == "tool":
                        self.code.find_errors(content(message), (message.id,))
        elif mode == "reasoning":
            self.reasoning.next_turn()
        if not self._settings.source:
            for message in users + answers:
                self._hear_cues(message, mode)

    def _hear_code(self, users: list[Message], answers: list[Message]) -> None:
        for message in users + answers:
            self.code.find_files(message.spoken, message.time, (message.id,))
        for message in users:
            self.code.find_errors(message.spoken, (message.id,))

    def _hear_cues(self, message: Message, mode: Mode) -> None:
        text, sources, user = message.spoken, (message.id,), message.role == "user"
        if mode == "code":
            track_code(self.code, text, sources, message.time, user=user)
        elif mode == "reasoning":
            track_reasoning(self.reasoning, text, sources, message.time)
        else:
            self.talk.hear(text, sources, user=user)

    def parts(self, mode: Mode) -> Iterator[Part]:
        """What a mode shows before the window."""
        if mode == "code":
            yield from self.code.parts()
        elif mode == "reasoning":
            yield from self.reasoning.parts()

    def notes(self) -> Iterator[Note]:
        """Everything that any mode keeps."""
        yield from self.talk.notes()
        yield from self.code.notes()
        yield from self.reasoning.notes()

    def remove(self, ids: Iterable[str]) -> None:
        """Forget what is from any of these messages."""
        gone = set(ids)
        for state in (self.talk, self.code, self.reasoning):
            state.remove(gone)

    def save(self) -> dict[str, JSON]:
        """The state of each mode as JSON values."""
        return {
            "conversation": self.talk.save(),
            "code": self.code.save(),
            "reasoning": self.reasoning.save(),
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - from a file
        """Take over saved states."""
        self.talk.load(saved.get("conversation") or {})
        self.code.load(saved.get("code") or {})
        self.reasoning.load(saved.get("reasoning") or {})
