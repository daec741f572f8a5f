"""The scenario language: one table of fields, for the loader and for the JSON Schema."""

from __future__ import annotations

from functools import partial
from typing import Literal

from memsim.errors import ScenarioError
from memsim.scenario import document
from memsim.scenario.document import ListNode, Node, ScalarNode
from memsim.scenario.domains import DOMAINS
from memsim.scenario.plan import (
    After,
    AskHere,
    FactNote,
    Filler,
    Forgetting,
    Gap,
    OpenSession,
    PlainStep,
    Plan,
    ProbeNote,
    Repeat,
    Restart,
    Say,
    ScriptStep,
    Share,
    ToolCall,
    UseTools,
)
from memsim.scenario.record_kinds import (
    ActionKind,
    Field,
    ListOf,
    MapOf,
    NamesKind,
    RecordKind,
    ReferenceKind,
    StepKind,
)
from memsim.scenario.script import ABILITIES, MATCHES
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

ANSWERS = ListOf(TextKind(most=MAX_ANSWER), single=True)


class _Metric(NameKind):
    """A metric's notation, such as `recall@10`."""

    def read(self, node: Node, name: str) -> str:
        assert isinstance(node, ScalarNode)  # noqa: S101 - a key
        super().read(ScalarNode(node.text.replace("@", "_"), node.line), name)
        return node.text

    def schema(self) -> Schema:
        return {"pattern": "^[A-Za-z0-9_][A-Za-z0-9_.@-]*$"}


class _People(FieldKind[tuple[str, ...]]):
    """Principals, as a list of names or a mapping of names to nothing."""

    def read(self, node: Node, name: str) -> tuple[str, ...]:
        if isinstance(node, ListNode):
            return NamesKind("principal").read(node, name)
        if not isinstance(node, document.MappingNode):
            raise wrong_kind(name, "a list of names", node)
        if not node.entries:
            raise wrong_kind(name, "a list of names", node)
        seen = DistinctNames("principal")
        for key, value in node.entries.items():
            NameKind().read(ScalarNode(key, node.lines[key]), "principal")
            seen.add(key, node.lines[key])
            if not (isinstance(value, document.MappingNode) and not value.entries):
                raise wrong_kind(f"principal {key}", "{}", value)
        return tuple(node.entries)

    def schema(self) -> Schema:
        empty = {"type": "object", "maxProperties": 0}
        named = {"type": "object", "additionalProperties": empty, "minProperties": 1}
        return {"anyOf": [NamesKind("principal").schema(), named]}


class _Due(FieldKind[After]):
    """When a probe is asked."""

    def read(self, node: Node, name: str) -> After:
        if isinstance(node, document.MappingNode):
            return _AFTER_FACT.read(node, name)
        if not isinstance(node, ScalarNode):
            raise wrong_kind(name, "end, a turn or a fact", node)
        if node.plain and node.text.isascii() and node.text.isdigit():
            return After(line=node.line, turn=WholeKind(1, MAX_TURNS).read(node, name))
        fact = NameKind().read(node, name)
        return After(line=node.line, fact=None if fact == "end" else fact)

    def schema(self) -> Schema:
        turn = WholeKind(1, MAX_TURNS).schema()
        return {"anyOf": [turn, {"type": "string"}, _AFTER_FACT.schema()]}


class _Raw(FieldKind[tuple[Node, ...]]):
    """Steps of a repetition, read once its count is known."""

    def read(self, node: Node, name: str) -> tuple[Node, ...]:
        if not isinstance(node, ListNode):
            raise wrong_kind(name, "a list", node)
        if not node.items:
            raise ScenarioError(f"{name} is an empty list", line=node.line)
        return node.items

    def schema(self) -> Schema:
        return ListOf(ReferenceKind("turn", lambda: STEP)).schema()


def _field(
    key: str, kind: FieldKind[object], about: str, *, required: bool = False, into: str = ""
) -> Field:
    return Field(key=key, kind=kind, about=about, required=required, into=into)


_AFTER_FACT = RecordKind(
    "after",
    After,
    [
        _field("fact", NameKind(), "the fact that has just been stated", required=True),
        _field("turns", WholeKind(0, MAX_TURNS), "how many turns later"),
    ],
)

FACT: RecordKind[FactNote] = RecordKind(
    "fact",
    FactNote,
    [
        _field(
            "value",
            TextKind(most=MAX_ANSWER),
            "what must come back, as in the text",
            required=True,
        ),
        _field("replaces", NameKind(), "the fact that it supersedes"),
        _field("private", FlagKind(), "only its principal, and whom they grant it, may see it"),
    ],
    short="value",
)

_FACTS = _field("facts", MapOf(FACT, "fact", most=200), "what the text plants: name to value")
_DOMAIN = _field("domain", ChoiceKind(DOMAINS), "what generated talk is about")
_SPEAKER = _field(
    "as", NameKind(), "whose turn it is; else the session's principal", into="speaker"
)


def _say(role: Literal["user", "assistant"], about: str) -> RecordKind[PlainStep]:
    text = _field(role, TextKind(), about, required=True, into="text")
    return RecordKind(role, partial(Say, role=role), [text, _FACTS, _SPEAKER])


TOOL: RecordKind[ToolCall] = RecordKind(
    "tool",
    ToolCall,
    [
        _field("name", NameKind(), "which tool is called", required=True),
        _field("arguments", ArgumentsKind(), "what it is called with"),
        _field("result", TextKind(blank=True), "what it answers"),
        _field("lines", WholeKind(1, 50_000), "generated lines around the result, up to so many"),
        _field(
            "characters", WholeKind(1, MAX_CHARACTERS), "generated text up to so many characters"
        ),
        _field("depth", DecimalKind(1.0), "where the result stands in generated text, 0 to 1"),
        _DOMAIN,
        _field("error", FlagKind(), "the call failed"),
        _FACTS,
    ],
)

_FILLER = RecordKind(
    "filler",
    Filler,
    [
        _field("turns", WholeKind(1, MAX_TURNS), "how many turns", required=True),
        _DOMAIN,
        _field("words", WholeKind(1, 2_000), "words in each message, at least"),
    ],
    short="turns",
)

_SESSION = RecordKind(
    "session",
    OpenSession,
    [
        _field("id", NameKind(), "its name; s2, s3, … when left out"),
        _field("principal", NameKind(), "whose it is; else whose the session before was"),
        _field("after", DurationKind(), "how long nothing was said before it"),
        _field("at", InstantKind(), "when it begins"),
    ],
    short="id",
)

_FORGET = RecordKind(
    "forget",
    Forgetting,
    [
        _field("facts", NamesKind("fact", single=True), "what must be gone", required=True),
        _field("who", NameKind(), "who asks; else the session's principal"),
        _field("say", TextKind(), "the request in words"),
    ],
)

_REPEAT: RecordKind[Repeat] = RecordKind(
    "repeat",
    Repeat,
    [
        _field("times", WholeKind(1, MAX_TURNS), "how often", required=True),
        _field("turns", _Raw(), "what comes again; $i is the count from 1", required=True),
    ],
)


def _share(noun: str, *, revoked: bool) -> RecordKind[Share]:
    return RecordKind(
        noun,
        partial(Share, revoked=revoked),
        [
            _field("from", NameKind(), "whose the facts are", required=True, into="owner"),
            _field("to", NameKind(), "who may see them", required=True, into="viewer"),
            _field("facts", NamesKind("fact", single=True), "which facts", required=True),
        ],
    )


_ACTIONS: dict[str, FieldKind[ScriptStep]] = {
    "user": _say("user", "what the user says"),
    "assistant": _say("assistant", "what the assistant says"),
    "filler": ActionKind("filler", _FILLER, "generated talk: how many turns of it"),
    "tool": ActionKind(
        "tool",
        TOOL,
        "a call of a tool and its result",
        lambda line, value: UseTools(line=line, value=(value,)),
    ),
    "tools": ActionKind("tools", ListOf(TOOL), "calls made at once", UseTools),
    "session": ActionKind("session", _SESSION, "another conversation begins, or one goes on"),
    "gap": ActionKind("gap", DurationKind(), "nothing is said for so long", Gap),
    "ask": ActionKind("ask", NamesKind("probe", single=True), "a probe is asked here", AskHere),
    "grant": ActionKind("grant", _share("grant", revoked=False), "facts are shown to someone"),
    "revoke": ActionKind("revoke", _share("revoke", revoked=True), "and no longer"),
    "forget": ActionKind("forget", _FORGET, "someone asks for facts to be erased"),
    "repeat": ActionKind("repeat", _REPEAT, "turns that come again"),
}

STEP: StepKind[ScriptStep] = StepKind(_ACTIONS, {"restart": Restart})

PROBE: RecordKind[ProbeNote] = RecordKind(
    "probe",
    ProbeNote,
    [
        _field("ask", TextKind(), "the question", required=True),
        _field("expect", ANSWERS, "the answer, any of several, or unknown", required=True),
        _field("after", _Due(), "end, a turn, a fact, or {fact: …, turns: …}"),
        _field("not", ANSWERS, "what must not be answered", into="forbid"),
        _field("ability", ChoiceKind(ABILITIES), "what it tests"),
        _field("match", ChoiceKind(MATCHES), "how the answer is compared"),
        _field("tolerance", DecimalKind(1e9), "number: allowed share; date: allowed days"),
        _field("choices", ListOf(TextKind(), least=2), "the options shown, for match: choice"),
        _field("facts", NamesKind("fact", single=True), "the facts that it is about"),
        _field(
            "evidence",
            NamesKind("message", single=True),
            "messages that hold the answer, such as m12",
        ),
        _field("derived", FlagKind(), "the answer follows from what is said, but is not said"),
        _field("as", NameKind(), "who asks", into="asker"),
        _field(
            "judge", FlagKind(), "whether a judge is asked about the answer, where a run has one"
        ),
        _field("labels", MapOf(TextKind(), "label"), "slices for the tables"),
    ],
)

PLAN: RecordKind[Plan] = RecordKind(
    "the scenario",
    Plan,
    [
        _field("memsim", WholeKind(VERSION, VERSION), "version of this format: 1", required=True),
        _field("name", TitleKind(), "unique among the scenarios of a run", required=True),
        _field("about", TextKind(), "what it tests, in one line"),
        _field("seed", WholeKind(0, 2**63 - 1), "added to the run's seed"),
        _field("start", InstantKind(), "when the first turn is"),
        _field("budget", TokensKind(), "tokens that a context may use"),
        _field("domain", ChoiceKind(DOMAINS), "what generated talk is about"),
        _field("tags", NamesKind("tag"), "words to select it by"),
        _field("principals", _People(), "who takes part; the first begins"),
        _field("pace", DurationKind(zero=True), "virtual time from turn to turn"),
        _field("turns", ListOf(ReferenceKind("turn", lambda: STEP)), "what happens", required=True),
        _field("probes", MapOf(PROBE, "probe"), "what is asked: name to probe"),
        _field("expect", MapOf(BoundKind(), "metric", _Metric()), "metric to bound"),
    ],
)


def scenario_schema() -> dict[str, object]:
    """The language as JSON Schema 2020-12, for editors; the loader checks more than it can say."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "memsim scenario",
        "description": "A scripted conversation and what a memory must know of it.",
        **PLAN.schema(),
        "$defs": {"turn": STEP.schema()},
    }
