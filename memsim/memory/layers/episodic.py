"""Episodic memory: what was said, message by message, and what each conversation came to."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.memory.entry import CALLS, PASSAGE, ROLE, TURN, Entry, read_message
from memsim.memory.index.split import passages
from memsim.message import Text, ToolUse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from memsim.memory.permissions import Permissions
    from memsim.memory.vault import Vault
    from memsim.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """What a conversation came to (AEGIS, layer 2)."""

    summary: str
    key_decisions: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    tools_called: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


class Episodic:
    """The episodic layer."""

    def __init__(
        self, vault: Vault, permissions: Permissions | None, count: Callable[[str], int]
    ) -> None:
        self._vault = vault
        self._permissions = permissions
        self._count = count

    def record(self, messages: Sequence[Message]) -> list[Entry]:
        """Keep messages, each as an entry under its own id, in one write.

        What a tool answered at length is kept in passages, so that the one line of it that matters
        can be found.
        """
        entries = [self._permitted(e) for m in messages for e in self.entries(m)]
        self._vault.put(entries)
        return entries

    def entries(self, message: Message) -> list[Entry]:
        """What a message is kept as: one entry, or its passages; as yet open to nobody else."""
        whole = exchange(message)
        if message.role != "tool":
            return [whole]
        parts = passages(message.text, self._count)
        if len(parts) == 1:
            return [whole]
        return [
            replace(
                whole,
                key=f"{message.id}\n{place}",
                text=_spoken(message.principal, part),
                attributes=(*whole.attributes, (PASSAGE, str(place))),
            )
            for place, part in enumerate(parts)
        ]

    def conclude(
        self,
        owner: str,
        session: str,
        episode: Episode,
        now: datetime,
        *,
        ended: datetime | None = None,
    ) -> Entry:
        """Keep what a conversation came to, in place of what was kept of it before.

        It is the owner's alone: that it is there says that they have left, or been silent. `ended`
        is when the last of it was said, which is what the episode is dated; readers take its
        `yesterday` for the day before.
        """
        before = self._vault.own(owner, "episodic", _episode_key(session))
        entry = Entry(
            key=_episode_key(session),
            text=episode.summary,
            owner=owner,
            layer="episodic",
            category="daily",
            session=session,
            created=before.created if before else ended or now,
            updated=now,
            sources=episode.sources,
            attributes=(
                ("key_decisions", _listed(episode.key_decisions)),
                ("entities", _listed(episode.entities)),
                ("tools_called", _listed(episode.tools_called)),
            ),
        )
        self._vault.put([entry])
        return entry

    def of(self, owner: str, session: str) -> Episode | None:
        """What one of the owner's conversations came to so far."""
        entry = self._vault.own(owner, "episodic", _episode_key(session))
        return None if entry is None else read_episode(entry)

    def episodes(self, principal: str) -> list[Episode]:
        """What the conversations came to that a principal may see, oldest first."""
        where = self._vault.where(principal, layers=("episodic",), categories=("daily",))
        return [read_episode(e) for e in self._vault.each(where)]

    def _permitted(self, entry: Entry) -> Entry:
        return self._permissions.apply(entry) if self._permissions else entry


def exchange(message: Message) -> Entry:
    """A message as an entry: `principal: text`, since questions name people."""
    return Entry(
        key=message.id,
        text=_spoken(message.principal, message.text),
        owner=message.principal,
        layer="episodic",
        category="conversation",
        session=message.session,
        created=message.time,
        updated=message.time,
        sources=(message.id,),
        attributes=(
            (ROLE, message.role),
            (TURN, str(message.turn)),
            *(((CALLS, _listed(calls)),) if (calls := _calls(message)) else ()),
        ),
    )


def read_spoken(entry: Entry) -> Message:
    """The message that an entry holds as far as somebody spoke, without a tool's traffic."""
    message, calls = read_message(entry), calls_of(entry)
    words = "" if message.role == "tool" else message.text
    if calls:
        # What an assistant says stands before what it calls.
        words = f"\n{words}".partition(f"\n{calls[0]}(")[0].strip()
    return replace(message, blocks=(Text(words),))


def calls_of(entry: Entry) -> tuple[str, ...]:
    """Names of the tools that the message of an entry calls, in order."""
    return _words_of(dict(entry.attributes), CALLS)


def turn_of(entry: Entry) -> int:
    """The turn that a message belongs to."""
    return int(dict(entry.attributes).get(TURN, "0"))


def read_episode(entry: Entry) -> Episode:
    """The episode that an entry holds."""
    held = dict(entry.attributes)
    return Episode(
        summary=entry.text,
        key_decisions=_words_of(held, "key_decisions"),
        entities=_words_of(held, "entities"),
        tools_called=_words_of(held, "tools_called"),
        sources=entry.sources,
    )


def all_words(entry: Entry) -> str:
    """Everything that an entry says: of an episode, what it settled and spoke of as well."""
    episode = read_episode(entry)
    noted = (*episode.key_decisions, *episode.entities, *episode.tools_called)
    return "\n".join((entry.text, *noted))


def _spoken(principal: str, text: str) -> str:
    return f"{principal}: {text}"


def tools_called(messages: Iterable[Message]) -> tuple[str, ...]:
    """Names of the tools that messages call, each once, in order."""
    return tuple(dict.fromkeys(name for m in messages for name in _calls(m)))


def _calls(message: Message) -> tuple[str, ...]:
    return tuple(b.name for b in message.blocks if isinstance(b, ToolUse))


def _episode_key(session: str) -> str:
    return f"episode\n{session}"


def _words_of(held: Mapping[str, str], name: str) -> tuple[str, ...]:
    # Most entries have no such attribute: nothing is parsed for them.
    return tuple(json.loads(held[name])) if name in held else ()


def _listed(words: Iterable[str]) -> str:
    return json.dumps(list(words), ensure_ascii=False)
