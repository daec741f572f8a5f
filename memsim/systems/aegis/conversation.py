"""One conversation as AEGIS's pipeline carries it on: its messages, and the skills put among them.

A model asks for a skill by writing `SKILL_SELECT:` and its name; the results of the calls that
follow are the skill's content, which enters the conversation as system messages, once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from memsim.memory.codec import JSON, pack, reading, unpack
from memsim.memory.history.window import Window
from memsim.message import Message, TokenCounter, ToolUse, composed

SELECTED = re.compile(r"SKILL_SELECT:([\w.-]*\w)")
"""How a model asks for a skill."""

Admit = Callable[[str], bool]
"""Whether a skill's content may be put in, given the skill's name."""


@dataclass(slots=True)
class _SkillRequest:
    """Skills that the model has asked for, and whose content is still to come."""

    skills: list[str] = field(default_factory=list)
    admitted: set[str] = field(default_factory=set)


class AegisConversation:
    """Keep the messages of one conversation, which belongs to whoever spoke first.

    Messages beyond `tokens` stay in it and are not shown.
    """

    def __init__(self, id: str, principal: str, counter: TokenCounter, tokens: int) -> None:  # noqa: A002 - its own name
        self.id = id
        self.principal = principal
        self.speakers = {principal}
        self.systems: list[Message] = []
        self.window = Window(counter, tokens=tokens)
        self.pending: list[Message] = []
        """What no episode tells of yet, oldest first."""
        self.refused = ""
        """The last of these when a model wrote nothing fit to use of them; it is not asked again
        before another message has come. AEGIS forgets them instead."""
        self.places: dict[str, str] = {}
        """By skill, the message in which its content stands."""
        self.entities: dict[str, tuple[str, dict[str, JSON]]] = {}
        """By name, the message that mentioned an entity last, and the entity."""
        self._asked = _SkillRequest()

    def add(self, message: Message, admit: Admit) -> list[str]:
        """Take a message in; return the skills whose content it put in.

        `admit` decides whether the content of a requested skill goes in.
        """
        self.speakers.add(message.principal)
        if message.role == "system":
            self.systems.append(message)
            return []
        self.pending.append(message)
        if message.role == "assistant":
            return self._heard(message, admit)
        if message.role == "tool" and self._asked.skills:
            return self._content(message)
        if message.role == "user":
            self._asked = _SkillRequest()
        self.window.add(message)
        return []

    def remove(self, ids: Collection[str]) -> tuple[str, ...]:
        """Take messages out, with what was injected from them; ids of those that were there."""
        held = {m.id for m in (*self.window, *self.pending, *self.systems)}
        held |= {i for m in self.window for i in m.verbatim}
        held |= {source for source, _ in self.entities.values()}
        gone = tuple(i for i in dict.fromkeys(ids) if i in held)
        shown = {m.id for m in self.window if {m.id, *m.verbatim} & set(gone)}
        self.window.remove(shown)
        self.pending = [m for m in self.pending if m.id not in gone]
        self.systems = [m for m in self.systems if m.id not in gone]
        for skill in [s for s, place in self.places.items() if place in shown]:
            del self.places[skill]
        for name in [n for n, (source, _) in self.entities.items() if source in gone]:
            del self.entities[name]
        return gone

    def save(self) -> JSON:
        """The conversation as JSON values."""
        return {
            "id": self.id,
            "principal": self.principal,
            "speakers": [*sorted(self.speakers)],
            "systems": pack(self.systems),
            "window": self.window.save(),
            "pending": pack(self.pending),
            "refused": self.refused,
            "places": dict(self.places),
            "entities": [
                [name, source, [[key, value] for key, value in entity.items()]]
                for name, (source, entity) in self.entities.items()
            ],
            "asked": [[*self._asked.skills], [*sorted(self._asked.admitted)]],
        }

    @classmethod
    def loaded(cls, saved: Any, counter: TokenCounter, tokens: int) -> AegisConversation:  # noqa: ANN401 - from a file
        """Read what `save` wrote. Raises StateError where it is damaged."""
        with reading("a conversation is damaged"):
            talk = cls("" + saved["id"], "" + saved["principal"], counter, tokens)
            talk.speakers = {"" + who for who in saved["speakers"]}
            talk.systems = unpack(saved["systems"])
            talk.window.load(saved["window"])
            talk.pending = unpack(saved["pending"])
            talk.refused = "" + saved["refused"]
            talk.places = dict(saved["places"])
            talk.entities = {n: ("" + source, dict(e)) for n, source, e in saved["entities"]}
            skills, admitted = saved["asked"]
            talk._asked = _SkillRequest(list(skills), set(admitted))
        return talk

    def _heard(self, message: Message, admit: Admit) -> list[str]:
        skills = list(dict.fromkeys(SELECTED.findall(message.text)))
        if skills:
            admitted = {s for s in skills if admit(s)}
            self._asked = _SkillRequest(skills, admitted)
        elif not message.calls:
            self._asked = _SkillRequest()
        if self._asked.skills:
            # The calls fetch what a system message will say; a call without a result means nothing.
            words = tuple(b for b in message.blocks if not isinstance(b, ToolUse))
            message = replace(message, blocks=words)
        if message.blocks:
            self.window.add(message)
        return []

    def _content(self, message: Message) -> list[str]:
        asked = self._asked
        skill = asked.skills.pop(0) if len(asked.skills) > 1 else asked.skills[0]
        if skill not in asked.admitted:
            return []
        words = "\n".join(b.text for b in message.blocks if not isinstance(b, ToolUse))
        made = composed(
            "system",
            words,
            id=f"skill:{message.id}",
            quotes=(message.id,),
            time=message.time,
            principal=message.principal,
        )
        self.window.add(replace(made, session=message.session, turn=message.turn))
        self.places[skill] = made.id
        return [skill]
