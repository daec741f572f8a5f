"""What a conversation is about: names and identifiers, read by rule from what was said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memsim.language.graphemes import boundary, head
from memsim.language.text import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memsim.memory.codec import JSON
    from memsim.message import Message


# What a conversation settled: the sentences that say so, read by rule from what was said.


MOST_DECISIONS = 10
"""Decisions that an episode keeps, the latest ones."""

LONGEST_DECISION = 200
"""Characters of each."""

_SETTLED = re.compile(
    r"\bdecision\s*:|\bdecided\b|\b(?:we|I)(?:'ll| will)? (?:go|are going|am going) with\b"
    r"|\blet's go with\b|\bwent with\b|\b(?:we|I) (?:chose|choose|picked|agreed|approved?)\b"
    r"|\b(?:agreed|settled) (?:on|to|that)\b|\bit is (?:agreed|settled)\b"
    r"|决定|确定采用|选定|改为|同意",
    re.IGNORECASE,
)


def decisions_in(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """The sentences in which something is settled, each with the id of its message, oldest first.

    What tools say settles nothing, and neither does a question.
    """
    found: dict[str, str] = {}
    for message in messages:
        if message.role not in {"user", "assistant"}:
            continue
        for line in message.spoken.splitlines():
            for said in sentences(line):
                if _SETTLED.search(said) and not said.rstrip().endswith(("?", "\uff1f")):
                    found.setdefault(said.strip()[:LONGEST_DECISION], message.id)
    yield from list(found.items())[-MOST_DECISIONS:]


MOST = 20
"""Entities that an episode keeps, those mentioned last."""

NOTED = 16
"""Names that working memory keeps, those mentioned last."""

LONGEST = 80
"""Characters that working memory keeps of a name."""

_CAPITAL = "".join(chr(code) for code in range(0x530) if chr(code).isupper())
"""Of Latin, Greek, Cyrillic and Armenian."""
_NAME = re.compile(
    rf"(?<=[\w,;:)'\u2019] )[{_CAPITAL}][\w\u2019'-]+"
    rf"(?: (?:(?:[{_CAPITAL}]|\d+[{_CAPITAL}])[\w\u2019'-]*))*"
)
_ID = re.compile(r"\b(?=[\w./-]*\d)(?=[\w./-]*[A-Za-z])[A-Za-z0-9](?:[\w./-]{0,38}\w)\b")
_UNITS = re.compile(r"\d+(?:[.,]\d+)*[a-z]{1,3}")
_OURS = {"name", "said", "last"}
_PRONOUNS = frozenset({"I", "I'm", "I'd", "I'll", "I've", "OK", "Mr", "Mrs", "Dr"})


def entities_in(text: str) -> Iterator[dict[str, JSON]]:
    """The entities that a text mentions, in order: type, id and name of each.

    A name is one or more words with a capital that do not begin a sentence; an identifier holds
    digits and letters.
    """
    found: dict[int, tuple[str, str]] = {}
    for match in _ID.finditer(text):
        if not _UNITS.fullmatch(match[0]):
            found[match.start()] = ("identifier", _whole(match))
    for match in _NAME.finditer(text):
        if match[0] not in _PRONOUNS and match.start() not in found:
            found[match.start()] = ("name", _whole(match))
    for _, (kind, name) in sorted(found.items()):
        yield {"type": kind, "id": re.sub(r"\W+", "-", name).strip("-").casefold(), "name": name}


def _whole(match: re.Match[str]) -> str:
    # Vowel signs and accents are no letters to a pattern, and part of the last one all the same.
    return match.string[match.start() : boundary(match.string, match.end(), later=True)]


def noted_with(
    noted: Sequence[Mapping[str, JSON]], said: Iterable[tuple[Message, Sequence[str]]]
) -> list[JSON]:
    """What is noted of a conversation, with what was said in it since.

    A name that is mentioned again stands at the end, and counts one message more. At most `NOTED`
    names are kept of those that were noted here; what a host wrote is counted as well, and stays.
    An item of `noted` is a mapping with `name`, `said` (messages) and `last` (ISO 8601), or
    whatever else a host has written there. `said` is oldest first.
    """
    entities = [dict(entity) for entity in noted]
    for message, names in said:
        for name in names:
            known = next((e for e in entities if e.get("name") == name), None)
            if known is None:
                known = {"name": name, "said": 0, "last": ""}
            else:
                entities.remove(known)
            count = known.get("said", 0)
            if isinstance(count, int):
                known["said"] = count + 1
            # What has no time is a host's, and is known by that from then on.
            if "last" in known:
                known["last"] = message.time.isoformat()
            entities.append(known)
    ours = [n for n, entity in enumerate(entities) if is_ours(entity)]
    over = set(ours[: max(0, len(ours) - NOTED)])
    return [entity for n, entity in enumerate(entities) if n not in over]


def is_ours(entity: Mapping[str, JSON]) -> bool:
    """Whether an entity was noted here, and not written by a host."""
    return entity.keys() == _OURS


def names_in(message: Message) -> list[str]:
    """The names that a message mentions, each once, as working memory keeps them."""
    names = (head(str(entity["name"]), LONGEST).rstrip() for entity in entities_in(message.spoken))
    return [*dict.fromkeys(names)]


def describe_entities(entities: Sequence[Mapping[str, JSON]]) -> str:
    """What is noted as one line, the name mentioned last at its end; what has no name, whole."""
    return ", ".join(" ".join(_shown(entity).split()) for entity in entities)


def _shown(entity: Mapping[str, JSON]) -> str:
    name = entity.get("name")
    return name if isinstance(name, str) else " ".join(f"{k} {v}" for k, v in entity.items())
