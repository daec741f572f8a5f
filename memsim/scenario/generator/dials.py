"""The step `generate`: a family of stories, its seed and its dials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

from memsim.scenario.record_kinds import Key
from memsim.scenario.value_kinds import ChoiceKind, WholeKind

FAMILIES: tuple[str, ...] = tuple(
    sorted(path.stem.removeprefix("family_") for path in Path(__file__).parent.glob("family_*.py"))
)
"""Names of the families, each a module of this package."""


class Dial(NamedTuple):
    """What a dial sets, and within which bounds."""

    least: int
    most: int
    about: str


DIALS: Mapping[str, Dial] = {
    "facts": Dial(1, 10_000, "how many things are told of, to be asked about"),
    "distance": Dial(0, 500_000, "turns of other talk, spread over the sessions"),
    "updates": Dial(0, 400, "how often each fact changes"),
    "unreal": Dial(0, 20, "changes of each fact that are denied, supposed, quoted or joked"),
    "reverted": Dial(0, 20, "how often each fact changes and goes back to its first value"),
    "late": Dial(0, 20, "what is told of each fact after newer things, with its date"),
    "aliases": Dial(0, 10, "other names of each thing, by which it is told and asked of"),
    "pronouns": Dial(0, 100, "of a hundred values, those told of a thing that is only called it"),
    "interruptions": Dial(
        0, 100, "of a hundred statements, those told in two messages with others between"
    ),
    "notices": Dial(0, 400, "notices of a machine in each session, the same one word for word"),
    "depends": Dial(
        0, 3, "facts on the way from each value to the answer, by which it changes too"
    ),
    "speakers": Dial(0, 10, "people who say the same of themselves in between"),
    "instructions": Dial(0, 10, "instructions that hold from now on, which no question names"),
    "result_size": Dial(0, 100_000, "characters of a tool result that a statement stands in"),
    "look_alikes": Dial(0, 50, "facts in almost the same words, for each that is asked about"),
    "hops": Dial(1, 6, "facts that lead to the answer"),
    "items": Dial(1, 20, "things in each list at the end"),
    "removed": Dial(0, 20, "things that leave each list again"),
    "steps": Dial(2, 20, "steps of each procedure"),
    "asked": Dial(1, 1_000, "questions that have an answer, at most; chance takes them"),
    "unknown": Dial(0, 20, "questions about what was never told"),
    "noise": Dial(0, 100, "of a hundred statements, those with typos and courtesies"),
    "code_switching": Dial(
        0, 100, "of a hundred statements, those with words of another language in them"
    ),
}
"""The dials; a higher setting of each is meant to be harder, but for those of `ASKED`."""

ASKED = frozenset({"asked", "unknown"})
"""Dials that say what is asked besides, and make no other question harder."""

SHARED: Mapping[str, int] = {"noise": 0, "code_switching": 0, "asked": 1_000}
"""Dials that every family has, and where they stand."""

FORMS: tuple[str, ...] = (
    "value",
    "yes_no",
    "count",
    "when",
    "before",
    "list",
    "order",
    "mentioned",
)
"""How a story may be asked about: as its family does it, or in another form where it can be."""

FORM = "how it is asked: a value, yes or no, how many, when, what came before, all, or what came up"

LOOK_ALIKE_KINDS: tuple[str, ...] = ("entity", "attribute", "value", "mixed")
"""What a look-alike shares with a fact: its attribute, its entity, its value, or each in turn."""

LOOK_ALIKE_KIND = (
    "look-alikes tell of another entity, of another attribute, or the same value elsewhere"
)

SPEAKER_KINDS: tuple[str, ...] = ("together", "private")
"""Where others speak: in the user's conversation, or each in private ones of their own."""

SPEAKER_KIND = "others who speak do so in the same conversation, or in private ones of their own"

ENGLISH = "en"

LANGUAGES: tuple[str, ...] = tuple(
    sorted([ENGLISH, *(path.stem for path in (Path(__file__).parent / "languages").glob("*.toml"))])
)
"""Languages in which a story may be told, each but English a file of the folder `languages`."""

LANGUAGE = "ISO code of the language in which the story is told and asked about"

SEED = Dial(0, 1_000_000_000, "another seed tells another story")


def _key(dial: Dial) -> Key:
    return Key(WholeKind(dial.least, dial.most), dial.about)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generate:
    """A generated story; a dial that is not given stands where its family has it."""

    line: int | None
    key_lines: Mapping[str, int | None] = field(default_factory=dict, compare=False, repr=False)
    family: Annotated[str, Key(ChoiceKind(FAMILIES), "what is hard about the story")]
    seed: Annotated[int, _key(SEED)] = 0
    form: Annotated[str | None, Key(ChoiceKind(FORMS), FORM)] = None
    language: Annotated[str | None, Key(ChoiceKind(LANGUAGES), LANGUAGE)] = None
    look_alike_kind: Annotated[str | None, Key(ChoiceKind(LOOK_ALIKE_KINDS), LOOK_ALIKE_KIND)] = (
        None
    )
    speaker_kind: Annotated[str | None, Key(ChoiceKind(SPEAKER_KINDS), SPEAKER_KIND)] = None
    facts: Annotated[int | None, _key(DIALS["facts"])] = None
    distance: Annotated[int | None, _key(DIALS["distance"])] = None
    updates: Annotated[int | None, _key(DIALS["updates"])] = None
    unreal: Annotated[int | None, _key(DIALS["unreal"])] = None
    reverted: Annotated[int | None, _key(DIALS["reverted"])] = None
    late: Annotated[int | None, _key(DIALS["late"])] = None
    aliases: Annotated[int | None, _key(DIALS["aliases"])] = None
    pronouns: Annotated[int | None, _key(DIALS["pronouns"])] = None
    interruptions: Annotated[int | None, _key(DIALS["interruptions"])] = None
    notices: Annotated[int | None, _key(DIALS["notices"])] = None
    depends: Annotated[int | None, _key(DIALS["depends"])] = None
    speakers: Annotated[int | None, _key(DIALS["speakers"])] = None
    instructions: Annotated[int | None, _key(DIALS["instructions"])] = None
    result_size: Annotated[int | None, _key(DIALS["result_size"])] = None
    look_alikes: Annotated[int | None, _key(DIALS["look_alikes"])] = None
    hops: Annotated[int | None, _key(DIALS["hops"])] = None
    items: Annotated[int | None, _key(DIALS["items"])] = None
    removed: Annotated[int | None, _key(DIALS["removed"])] = None
    steps: Annotated[int | None, _key(DIALS["steps"])] = None
    asked: Annotated[int | None, _key(DIALS["asked"])] = None
    unknown: Annotated[int | None, _key(DIALS["unknown"])] = None
    noise: Annotated[int | None, _key(DIALS["noise"])] = None
    code_switching: Annotated[int | None, _key(DIALS["code_switching"])] = None

    def line_of(self, dial: str) -> int | None:
        """The line on which a dial stands; that of the step where it has none of its own."""
        return self.key_lines.get(dial, self.line)
