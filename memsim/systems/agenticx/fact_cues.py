"""AgenticX's MemoryHook: facts found by cue words, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from memsim.message import Message
from memsim.systems.agenticx.content import content_of

MIN_CHAT_TURNS = 3
"""The hook needs twice as many records."""

MAX_FACTS_PER_SESSION = 8
SCANNED = 20
"""Records that are read, from the end."""

SHORTEST, LONG_REQUEST = 10, 30
LINE, OPENING = 200, 300


@dataclass(frozen=True, slots=True, kw_only=True)
class CueWords:
    """Words by which messages are sorted; looked for as they stand, inside other words too."""

    memory: tuple[str, ...]
    request: tuple[str, ...]
    outcome: tuple[str, ...]
    urls: tuple[str, ...] = ("http://", "https://", "localhost:")

    def plus(self, other: CueWords) -> CueWords:
        """These cues, and others after them."""
        both = {f.name: (*getattr(self, f.name), *getattr(other, f.name)) for f in fields(self)}
        return CueWords(**{name: tuple(dict.fromkeys(words)) for name, words in both.items()})


LANGUAGES: dict[str, CueWords] = {
    "zh": CueWords(
        memory=("记住", "记一下", "remember", "保存", "备忘", "存下来"),
        request=("请", "帮", "要", "需要", "希望", "如何", "怎么"),
        outcome=(
            "已完成",
            "done",
            "成功",
            "已创建",
            "已配置",
            "已部署",
            "覆盖率",
            "通过",
            "已修复",
            "已解决",
            "结论",
        ),
    ),
    "en": CueWords(
        memory=("remember", "Remember", "note that", "Note that", "keep in mind", "Keep in mind"),
        request=("please", "Please", "can you", "Can you", "I need", "I want", "how do", "How do"),
        outcome=("done", "Done", "finished", "fixed", "created", "deployed", "passed"),
    ),
    "de": CueWords(
        memory=("merk dir", "Merk dir", "merke dir", "Merke dir", "notiere", "Notiere"),
        request=("bitte", "Bitte", "kannst du", "Kannst du", "ich brauche", "Ich brauche"),
        outcome=("erledigt", "Erledigt", "fertig", "Fertig", "behoben", "angelegt"),
    ),
}
"""The published words are `zh`; the other languages are additions."""

REMEMBER, REQUEST, DONE, ADDRESS = "用户要求记住", "用户请求", "完成事项", "关键信息"


@dataclass(frozen=True, slots=True)
class CueFact:
    """A line written for a message; `whole` where all of the message stands in it."""

    line: str
    source: str = ""
    whole: bool = False


def cues_of(languages: str) -> CueWords:
    """Give the cue words of languages, such as `zh+en`. Raises ValueError for an unknown one."""
    names = languages.split("+")
    unknown = [name for name in names if name not in LANGUAGES]
    if unknown:
        known = ", ".join(LANGUAGES)
        raise ValueError(f"cues is {languages!r}: of {known}, joined with a +")
    cues = LANGUAGES[names[0]]
    for name in names[1:]:
        cues = cues.plus(LANGUAGES[name])
    return cues


def extract_facts(
    records: Sequence[Message], cues: CueWords, *, kinds: int = 4, most: int = MAX_FACTS_PER_SESSION
) -> list[CueFact]:
    """Find the facts in the latest records, oldest first, at most `most` of them.

    The package knows 4 `kinds`. The document knows 2: there, addresses are no facts, and a message
    to be remembered is a request like any other.
    """
    found = (_fact(message, cues, kinds) for message in records[-SCANNED:])
    return [fact for fact in found if fact is not None][:most]


def _fact(message: Message, cues: CueWords, kinds: int) -> CueFact | None:
    content = content_of(message)
    if len(content) < SHORTEST:
        return None
    if message.role == "user":
        label, told = _asked(content, cues, kinds)
    elif message.role == "assistant":
        label, told = _answered(content, cues, kinds)
    else:
        return None
    if not label:
        return None
    return CueFact(f"- {label}: {told}", message.id, content.strip() == told)


def _asked(content: str, cues: CueWords, kinds: int) -> tuple[str, str]:
    first = content.partition("\n")[0].strip()[:LINE]
    if _any(cues.memory, first):
        return REMEMBER if kinds == 4 else REQUEST, first
    if len(content) > LONG_REQUEST and _any(cues.request, first):
        return REQUEST, first
    return "", ""


def _answered(content: str, cues: CueWords, kinds: int) -> tuple[str, str]:
    opening = content[:OPENING].replace("\n", " ").strip()
    if _any(cues.outcome, opening):
        return DONE, opening[:LINE]
    if kinds == 4 and _any(cues.urls, opening):
        return ADDRESS, opening[:LINE]
    return "", ""


def _any(cues: tuple[str, ...], text: str) -> bool:
    return any(cue in text for cue in cues)


def words_of(text: str) -> tuple[str, ...]:
    """The words of a parameter, parted by `/`."""
    return tuple(word for word in text.split("/") if word)
