"""The scenario language: each step as it is written, with its keys, for loader and JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal

from memsim.errors import ScenarioError
from memsim.fast_dataclass import fast_init
from memsim.message import EPOCH
from memsim.scenario.conversation_step import FileKind, PlayConversation, RecordedConversation
from memsim.scenario.document import ListNode, MappingNode, Node, ScalarNode
from memsim.scenario.domains import DOMAINS
from memsim.scenario.generator.dials import Generate
from memsim.scenario.record_kinds import (
    ActionKind,
    Key,
    ListOf,
    MapOf,
    Named,
    NamesKind,
    RecordKind,
    ReferenceKind,
    StepKind,
)
from memsim.scenario.script import ABILITIES, MATCHES, Ability, Match
from memsim.scenario.value_kinds import (
    ArgumentsKind,
    BoundKind,
    ChoiceKind,
    DecimalKind,
    DistinctNames,
    DurationKind,
    FieldKind,
    FlagKind,
    InstantKind,
    NameKind,
    Schema,
    TextKind,
    TitleKind,
    TokensKind,
    WholeKind,
    wrong_kind,
)

VERSION = 1
MAX_TURNS = 1_000_000
MAX_CHARACTERS = 1_000_000
"""The largest generated tool result."""

MAX_ANSWER = 2_000
"""Characters of a fact's value, and of an answer."""

MAX_TEXT = 10_000_000
"""Characters of all texts but filler."""

_NAME, _TEXT, _FLAG, _TURNS = NameKind(), TextKind(), FlagKind(), WholeKind(1, MAX_TURNS)
_ANSWERS = ListOf(TextKind(most=MAX_ANSWER), single=True)
_FACT_NAMES = NamesKind("fact", single=True)
_DOMAIN = Key(ChoiceKind(DOMAINS), "what generated talk is about")


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class FactNote:
    """What a fact says, without its id."""

    line: int | None
    value: Annotated[str, Key(TextKind(most=MAX_ANSWER), "what must come back, as in the text")]
    replaces: Annotated[str | None, Key(_NAME, "the fact that it supersedes")] = None
    private: Annotated[
        bool, Key(_FLAG, "only its principal, and whom they grant it, may see it")
    ] = False


FACT = RecordKind("fact", FactNote, short="value")
Facts = tuple[Named[FactNote], ...]
_FACTS = Key(MapOf(FACT, "fact", most=200), "what the text plants: name to value")


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """Someone speaks: the user, or the assistant without tools."""

    line: int | None
    role: Literal["user", "assistant"]
    text: Annotated[str, Key(_TEXT, "what is said")]
    facts: Annotated[Facts, _FACTS] = ()
    speaker: Annotated[
        str | None, Key(_NAME, "whose turn it is; else the session's principal", "as")
    ] = None
    no_store: bool = False


NO_STORE_REQUEST = "Please do not remember this:"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoStore:
    """The user says something that is not to be remembered."""

    line: int | None
    say: Annotated[str, Key(_TEXT, "what is said, and not to be remembered")]
    facts: Annotated[Facts, _FACTS]
    request: Annotated[str, Key(_TEXT, "the request, which is said first")] = NO_STORE_REQUEST
    speaker: Annotated[
        str | None, Key(_NAME, "whose turn it is; else the session's principal", "as")
    ] = None


def _not_to_be_stored(line: int | None, value: NoStore) -> Say:
    return Say(
        line=line,
        role="user",
        text=f"{value.request} {value.say}",
        facts=value.facts,
        speaker=value.speaker,
        no_store=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    """Generated talk."""

    line: int | None
    turns: Annotated[int, Key(_TURNS, "how many turns")]
    domain: Annotated[str | None, _DOMAIN] = None
    words: Annotated[int | None, Key(WholeKind(1, 2_000), "words in each message, at least")] = None


_LINES = Key(WholeKind(1, 50_000), "generated lines around the result, up to so many")
_CHARACTERS = Key(WholeKind(1, MAX_CHARACTERS), "generated text up to so many characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call and its result; `arguments` is canonical JSON, and 0 `lines` add none."""

    line: int | None
    name: Annotated[str, Key(_NAME, "which tool is called")]
    arguments: Annotated[str, Key(ArgumentsKind(), "what it is called with")] = "{}"
    result: Annotated[str, Key(TextKind(blank=True), "what it answers")] = ""
    lines: Annotated[int, _LINES] = 0
    characters: Annotated[int, _CHARACTERS] = 0
    depth: Annotated[
        float, Key(DecimalKind(1.0), "where the result stands in generated text, 0 to 1")
    ] = 0.5
    domain: Annotated[str | None, _DOMAIN] = None
    error: Annotated[bool, Key(_FLAG, "the call failed")] = False
    facts: Annotated[Facts, _FACTS] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UseTools:
    """Calls made at once."""

    line: int | None
    value: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSession:
    """Another conversation begins, or an earlier one goes on."""

    line: int | None
    id: Annotated[str | None, Key(_NAME, "its name; s2, s3, … when left out")] = None
    principal: Annotated[
        str | None, Key(_NAME, "whose it is; else whose the session before was")
    ] = None
    after: Annotated[
        timedelta | None, Key(DurationKind(), "how long nothing was said before it")
    ] = None
    at: Annotated[datetime | None, Key(InstantKind(), "when it begins")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Nothing is said for a while."""

    line: int | None
    value: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Facts are shown to someone, or no longer."""

    line: int | None
    revoked: bool = False
    owner: Annotated[str, Key(_NAME, "whose the facts are", "from")]
    viewer: Annotated[str, Key(_NAME, "who may see them", "to")]
    facts: Annotated[tuple[str, ...], Key(_FACT_NAMES, "which facts")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Someone asks for facts to be erased."""

    line: int | None
    facts: Annotated[tuple[str, ...], Key(_FACT_NAMES, "what must be gone")]
    who: Annotated[str | None, Key(_NAME, "who asks; else the session's principal")] = None
    say: Annotated[str, Key(_TEXT, "the request in words")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """The process stops and comes back."""

    line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHere:
    """Probes are due at this very point."""

    line: int | None
    value: tuple[str, ...]


class _Steps(FieldKind[tuple[Node, ...]]):
    """The steps of a repetition as nodes, since `$i` may make other names and texts of them."""

    def read(self, node: Node, name: str) -> tuple[Node, ...]:
        if not isinstance(node, ListNode):
            raise wrong_kind(name, "a list", node)
        if not node.items:
            raise ScenarioError(f"{name} is an empty list", line=node.line)
        return node.items

    def schema(self) -> Schema:
        return _STEPS.schema()


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """Steps that come again, `$i` standing for the count from 1."""

    line: int | None
    times: Annotated[int, Key(_TURNS, "how often")]
    turns: Annotated[tuple[Node, ...], Key(_Steps(), "what comes again; $i is the count from 1")]


PlainStep = (
    Say
    | Filler
    | UseTools
    | OpenSession
    | Gap
    | Share
    | Forgetting
    | Restart
    | AskHere
    | PlayConversation
    | RecordedConversation
    | Generate
)
ScriptStep = PlainStep | Repeat

_STEPS: ListOf[ScriptStep] = ListOf(ReferenceKind("turn", lambda: STEP))
_TOOL = RecordKind("tool", ToolCall)
_ACTIONS: dict[str, FieldKind[ScriptStep]] = {
    "user": RecordKind("user", Say, keys={"text": "user"}, role="user"),
    "assistant": RecordKind("assistant", Say, keys={"text": "assistant"}, role="assistant"),
    "filler": ActionKind(
        "filler",
        RecordKind("filler", Filler, short="turns"),
        "generated talk: how many turns of it",
    ),
    "tool": ActionKind(
        "tool",
        _TOOL,
        "a call of a tool and its result",
        lambda line, value: UseTools(line=line, value=(value,)),
    ),
    "tools": ActionKind("tools", ListOf(_TOOL), "calls made at once", UseTools),
    "session": ActionKind(
        "session",
        RecordKind("session", OpenSession, short="id"),
        "another conversation begins, or one goes on",
    ),
    "conversation": ActionKind(
        "conversation",
        FileKind(".jsonl"),
        "a recorded conversation: its file, beside this one",
        PlayConversation,
    ),
    "generate": ActionKind(
        "generate",
        RecordKind("generate", Generate, short="family"),
        "a generated story: what is hard about it",
    ),
    "gap": ActionKind("gap", DurationKind(), "nothing is said for so long", Gap),
    "ask": ActionKind("ask", NamesKind("probe", single=True), "a probe is asked here", AskHere),
    "grant": ActionKind(
        "grant", RecordKind("grant", Share, revoked=False), "facts are shown to someone"
    ),
    "revoke": ActionKind("revoke", RecordKind("revoke", Share, revoked=True), "and no longer"),
    "forget": ActionKind(
        "forget", RecordKind("forget", Forgetting), "someone asks for facts to be erased"
    ),
    "no_store": ActionKind(
        "no_store",
        RecordKind("no_store", NoStore),
        "the user says something that is not to be remembered",
        _not_to_be_stored,
    ),
    "repeat": ActionKind("repeat", RecordKind("repeat", Repeat), "turns that come again"),
}

STEP: StepKind[ScriptStep] = StepKind(_ACTIONS, {"restart": Restart})


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """When a probe is asked: after a turn, after a fact and some turns more, or at the end."""

    line: int | None
    turn: int | None = None
    fact: Annotated[str | None, Key(_NAME, "the fact that has just been stated")] = None
    turns: Annotated[int, Key(WholeKind(0, MAX_TURNS), "how many turns later")] = 0


_AFTER_FACT = RecordKind("after", After, required=("fact",))


class _AfterKind(FieldKind[After]):
    """When a probe is asked: `end`, the number of a turn, a fact, or a fact and turns more."""

    def read(self, node: Node, name: str) -> After:
        if isinstance(node, MappingNode):
            return _AFTER_FACT.read(node, name)
        if not isinstance(node, ScalarNode):
            raise wrong_kind(name, "end, a turn or a fact", node)
        if node.plain and node.text.isascii() and node.text.isdigit():
            return After(line=node.line, turn=_TURNS.read(node, name))
        fact = _NAME.read(node, name)
        return After(line=node.line, fact=None if fact == "end" else fact)

    def schema(self) -> Schema:
        return {"anyOf": [_TURNS.schema(), {"type": "string"}, _AFTER_FACT.schema()]}


_AFTER = Key(_AfterKind(), "end, a turn, a fact, or {fact: …, turns: …}")
_TOLERANCE = Key(DecimalKind(1e9), "number: allowed share; date: allowed days")
_CHOICES = Key(ListOf(_TEXT, least=2), "the options shown, for match: choice")
_EVIDENCE = Key(NamesKind("message", single=True), "messages that hold the answer, such as m12")
_DERIVED = Key(_FLAG, "the answer follows from what is said, but is not said")
_JUDGE = Key(_FLAG, "whether a judge is asked about the answer, where a run has one")
_LABELS = Key(MapOf(_TEXT, "label"), "slices for the tables")


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeNote:
    """A probe as it was written."""

    line: int | None
    ask: Annotated[str, Key(_TEXT, "the question")]
    expect: Annotated[tuple[str, ...], Key(_ANSWERS, "the answer, any of several, or unknown")]
    after: Annotated[After | None, _AFTER] = None
    forbid: Annotated[tuple[str, ...], Key(_ANSWERS, "what must not be answered", "not")] = ()
    ability: Annotated[Ability | None, Key(ChoiceKind(ABILITIES), "what it tests")] = None
    match: Annotated[Match | None, Key(ChoiceKind(MATCHES), "how the answer is compared")] = None
    tolerance: Annotated[float, _TOLERANCE] = 0.0
    choices: Annotated[tuple[str, ...], _CHOICES] = ()
    facts: Annotated[tuple[str, ...], Key(_FACT_NAMES, "the facts that it is about")] = ()
    evidence: Annotated[tuple[str, ...], _EVIDENCE] = ()
    derived: Annotated[bool, _DERIVED] = False
    asker: Annotated[str | None, Key(_NAME, "who asks", "as")] = None
    judge: Annotated[bool | None, _JUDGE] = None
    labels: Annotated[tuple[Named[str], ...], _LABELS] = ()


PROBE = RecordKind("probe", ProbeNote)


class _MetricKind(NameKind):
    """A metric's notation, such as `recall@10`."""

    def read(self, node: Node, name: str) -> str:
        assert isinstance(node, ScalarNode)  # noqa: S101 - a key
        super().read(ScalarNode(node.text.replace("@", "_"), node.line), name)
        return node.text

    def schema(self) -> Schema:
        return {"pattern": "^[A-Za-z0-9_][A-Za-z0-9_.@-]*$"}


class _PeopleKind(NamesKind):
    """Principals, as a list of names or a mapping of names to nothing."""

    def read(self, node: Node, name: str) -> tuple[str, ...]:
        if isinstance(node, ListNode):
            return super().read(node, name)
        if not (isinstance(node, MappingNode) and node.entries):
            raise wrong_kind(name, "a list of names", node)
        seen = DistinctNames("principal")
        for key, value in node.entries.items():
            _NAME.read(ScalarNode(key, node.lines[key]), "principal")
            seen.add(key, node.lines[key])
            if not (isinstance(value, MappingNode) and not value.entries):
                raise wrong_kind(f"principal {key}", "{}", value)
        return tuple(node.entries)

    def schema(self) -> Schema:
        empty = {"type": "object", "maxProperties": 0}
        named = {"type": "object", "additionalProperties": empty, "minProperties": 1}
        return {"anyOf": [super().schema(), named]}


_VERSION = Key(WholeKind(VERSION, VERSION), "version of this format: 1")
_TITLE = Key(TitleKind(), "unique among the scenarios of a run")
_BUDGET = Key(TokensKind(), "tokens that a context may use")
_PEOPLE = Key(_PeopleKind("principal"), "who takes part; the first begins")
_PACE = Key(DurationKind(zero=True), "virtual time from turn to turn")
_BOUNDS = Key(MapOf(BoundKind(), "metric", _MetricKind()), "metric to bound")


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A whole script as it was written."""

    line: int | None
    memsim: Annotated[int, _VERSION]
    name: Annotated[str, _TITLE]
    about: Annotated[str, Key(_TEXT, "what it tests, in one line")] = ""
    seed: Annotated[int, Key(WholeKind(0, 2**63 - 1), "added to the run's seed")] = 0
    start: Annotated[datetime, Key(InstantKind(), "when the first turn is")] = EPOCH
    budget: Annotated[int | None, _BUDGET] = None
    domain: Annotated[str, _DOMAIN] = "smalltalk"
    tags: Annotated[tuple[str, ...], Key(NamesKind("tag"), "words to select it by")] = ()
    principals: Annotated[tuple[str, ...], _PEOPLE] = ("user",)
    pace: Annotated[timedelta, _PACE] = timedelta(minutes=1)
    turns: Annotated[tuple[ScriptStep, ...], Key(_STEPS, "what happens")]
    probes: Annotated[
        tuple[Named[ProbeNote], ...], Key(MapOf(PROBE, "probe"), "what is asked: name to probe")
    ] = ()
    expect: Annotated[tuple[Named[str], ...], _BOUNDS] = ()


PLAN = RecordKind("the scenario", Plan)


def scenario_schema() -> dict[str, object]:
    """The language as JSON Schema 2020-12, for editors; the loader checks more than it can say."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "memsim scenario",
        "description": "A scripted conversation and what a memory must know of it.",
        **PLAN.schema(),
        "$defs": {"turn": STEP.schema()},
    }
