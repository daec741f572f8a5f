"""The scenario language: one table of fields, for the loader and for the JSON Schema."""

from __future__ import annotations

from functools import partial
from typing import Literal

from memsim.errors import ScenarioError
from memsim.scenario import nodes
from memsim.scenario.domains import DOMAINS
from memsim.scenario.names import Distinct, Ident, ListOf, MapOf, Names, Title
from memsim.scenario.nodes import Listing, Node, Scalar
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
from memsim.scenario.records import Action, Field, Record, Reference, Step
from memsim.scenario.script import ABILITIES, MATCHES
from memsim.scenario.values import (
    Arguments,
    Bound,
    Choice,
    Decimal,
    Duration,
    Flag,
    Instant,
    Kind,
    Schema,
    Text,
    Tokens,
    Whole,
    expected,
)

VERSION = 1
MAX_TURNS = 1_000_000
MAX_CHARACTERS = 1_000_000
"""The largest generated tool result."""

MAX_ANSWER = 2_000
"""Characters of a fact's value, and of an answer."""

ANSWERS = ListOf(Text(most=MAX_ANSWER), single=True)


class _Metric(Ident):
    """A metric's notation, such as `recall@10`."""

    def read(self, node: Node, name: str) -> str:
        assert isinstance(node, Scalar)  # noqa: S101 - a key
        super().read(Scalar(node.text.replace("@", "_"), node.line), name)
        return node.text

    def schema(self) -> Schema:
        return {"pattern": "^[A-Za-z0-9_][A-Za-z0-9_.@-]*$"}


class _People(Kind[tuple[str, ...]]):
    """Principals, as a list of names or a mapping of names to nothing."""

    def read(self, node: Node, name: str) -> tuple[str, ...]:
        if isinstance(node, Listing):
            return Names("principal").read(node, name)
        if not isinstance(node, nodes.Mapping):
            raise expected(name, "a list of names", node)
        if not node.entries:
            raise expected(name, "a list of names", node)
        seen = Distinct("principal")
        for key, value in node.entries.items():
            Ident().read(Scalar(key, node.lines[key]), "principal")
            seen.add(key, node.lines[key])
            if not (isinstance(value, nodes.Mapping) and not value.entries):
                raise expected(f"principal {key}", "{}", value)
        return tuple(node.entries)

    def schema(self) -> Schema:
        empty = {"type": "object", "maxProperties": 0}
        named = {"type": "object", "additionalProperties": empty, "minProperties": 1}
        return {"anyOf": [Names("principal").schema(), named]}


class _Due(Kind[After]):
    """When a probe is asked."""

    def read(self, node: Node, name: str) -> After:
        if isinstance(node, nodes.Mapping):
            return _AFTER_FACT.read(node, name)
        if not isinstance(node, Scalar):
            raise expected(name, "end, a turn or a fact", node)
        if node.plain and node.text.isascii() and node.text.isdigit():
            return After(line=node.line, turn=Whole(1, MAX_TURNS).read(node, name))
        fact = Ident().read(node, name)
        return After(line=node.line, fact=None if fact == "end" else fact)

    def schema(self) -> Schema:
        turn = Whole(1, MAX_TURNS).schema()
        return {"anyOf": [turn, {"type": "string"}, _AFTER_FACT.schema()]}


class _Raw(Kind[tuple[Node, ...]]):
    """Steps of a repetition, read once its count is known."""

    def read(self, node: Node, name: str) -> tuple[Node, ...]:
        if not isinstance(node, Listing):
            raise expected(name, "a list", node)
        if not node.items:
            raise ScenarioError(f"{name} is an empty list", line=node.line)
        return node.items

    def schema(self) -> Schema:
        return ListOf(Reference("turn", lambda: STEP)).schema()


def _field(
    key: str, kind: Kind[object], about: str, *, required: bool = False, into: str = ""
) -> Field:
    return Field(key=key, kind=kind, about=about, required=required, into=into)


_AFTER_FACT = Record(
    "after",
    After,
    [
        _field("fact", Ident(), "the fact that has just been stated", required=True),
        _field("turns", Whole(0, MAX_TURNS), "how many turns later"),
    ],
)

FACT: Record[FactNote] = Record(
    "fact",
    FactNote,
    [
        _field(
            "value",
            Text(most=MAX_ANSWER),
            "what must come back, as in the text",
            required=True,
        ),
        _field("replaces", Ident(), "the fact that it supersedes"),
        _field("private", Flag(), "only its principal, and whom they grant it, may see it"),
    ],
    short="value",
)

_FACTS = _field("facts", MapOf(FACT, "fact", most=200), "what the text plants: name to value")
_DOMAIN = _field("domain", Choice(DOMAINS), "what generated talk is about")
_SPEAKER = _field("as", Ident(), "whose turn it is; else the session's principal", into="speaker")


def _say(role: Literal["user", "assistant"], about: str) -> Record[PlainStep]:
    text = _field(role, Text(), about, required=True, into="text")
    return Record(role, partial(Say, role=role), [text, _FACTS, _SPEAKER])


TOOL: Record[ToolCall] = Record(
    "tool",
    ToolCall,
    [
        _field("name", Ident(), "which tool is called", required=True),
        _field("arguments", Arguments(), "what it is called with"),
        _field("result", Text(blank=True), "what it answers"),
        _field("lines", Whole(1, 50_000), "generated lines around the result, up to so many"),
        _field("characters", Whole(1, MAX_CHARACTERS), "generated text up to so many characters"),
        _field("depth", Decimal(1.0), "where the result stands in generated text, 0 to 1"),
        _DOMAIN,
        _field("error", Flag(), "the call failed"),
        _FACTS,
    ],
)

_FILLER = Record(
    "filler",
    Filler,
    [
        _field("turns", Whole(1, MAX_TURNS), "how many turns", required=True),
        _DOMAIN,
        _field("words", Whole(1, 2_000), "words in each message, at least"),
    ],
    short="turns",
)

_SESSION = Record(
    "session",
    OpenSession,
    [
        _field("id", Ident(), "its name; s2, s3, … when left out"),
        _field("principal", Ident(), "whose it is; else whose the session before was"),
        _field("after", Duration(), "how long nothing was said before it"),
        _field("at", Instant(), "when it begins"),
    ],
    short="id",
)

_FORGET = Record(
    "forget",
    Forgetting,
    [
        _field("facts", Names("fact", single=True), "what must be gone", required=True),
        _field("who", Ident(), "who asks; else the session's principal"),
        _field("say", Text(), "the request in words"),
    ],
)

_REPEAT: Record[Repeat] = Record(
    "repeat",
    Repeat,
    [
        _field("times", Whole(1, MAX_TURNS), "how often", required=True),
        _field("turns", _Raw(), "what comes again; $i is the count from 1", required=True),
    ],
)


def _share(noun: str, *, revoked: bool) -> Record[Share]:
    return Record(
        noun,
        partial(Share, revoked=revoked),
        [
            _field("from", Ident(), "whose the facts are", required=True, into="owner"),
            _field("to", Ident(), "who may see them", required=True, into="viewer"),
            _field("facts", Names("fact", single=True), "which facts", required=True),
        ],
    )


_ACTIONS: dict[str, Kind[ScriptStep]] = {
    "user": _say("user", "what the user says"),
    "assistant": _say("assistant", "what the assistant says"),
    "filler": Action("filler", _FILLER, "generated talk: how many turns of it"),
    "tool": Action(
        "tool",
        TOOL,
        "a call of a tool and its result",
        lambda line, value: UseTools(line=line, value=(value,)),
    ),
    "tools": Action("tools", ListOf(TOOL), "calls made at once", UseTools),
    "session": Action("session", _SESSION, "another conversation begins, or one goes on"),
    "gap": Action("gap", Duration(), "nothing is said for so long", Gap),
    "ask": Action("ask", Names("probe", single=True), "a probe is asked here", AskHere),
    "grant": Action("grant", _share("grant", revoked=False), "facts are shown to someone"),
    "revoke": Action("revoke", _share("revoke", revoked=True), "and no longer"),
    "forget": Action("forget", _FORGET, "someone asks for facts to be erased"),
    "repeat": Action("repeat", _REPEAT, "turns that come again"),
}

STEP: Step[ScriptStep] = Step(_ACTIONS, {"restart": Restart})

PROBE: Record[ProbeNote] = Record(
    "probe",
    ProbeNote,
    [
        _field("ask", Text(), "the question", required=True),
        _field("expect", ANSWERS, "the answer, any of several, or unknown", required=True),
        _field("after", _Due(), "end, a turn, a fact, or {fact: …, turns: …}"),
        _field("not", ANSWERS, "what must not be answered", into="forbid"),
        _field("ability", Choice(ABILITIES), "what it tests"),
        _field("match", Choice(MATCHES), "how the answer is compared"),
        _field("tolerance", Decimal(1e9), "number: allowed share; date: allowed days"),
        _field("choices", ListOf(Text(), least=2), "the options shown, for match: choice"),
        _field("facts", Names("fact", single=True), "the facts that it is about"),
        _field(
            "evidence", Names("message", single=True), "messages that hold the answer, such as m12"
        ),
        _field("derived", Flag(), "the answer follows from what is said, but is not said"),
        _field("as", Ident(), "who asks", into="asker"),
        _field("judge", Flag(), "whether a judge is asked about the answer, where a run has one"),
        _field("labels", MapOf(Text(), "label"), "slices for the tables"),
    ],
)

PLAN: Record[Plan] = Record(
    "the scenario",
    Plan,
    [
        _field("memsim", Whole(VERSION, VERSION), "version of this format: 1", required=True),
        _field("name", Title(), "unique among the scenarios of a run", required=True),
        _field("about", Text(), "what it tests, in one line"),
        _field("seed", Whole(0, 2**63 - 1), "added to the run's seed"),
        _field("start", Instant(), "when the first turn is"),
        _field("budget", Tokens(), "tokens that a context may use"),
        _field("domain", Choice(DOMAINS), "what generated talk is about"),
        _field("tags", Names("tag"), "words to select it by"),
        _field("principals", _People(), "who takes part; the first begins"),
        _field("pace", Duration(zero=True), "virtual time from turn to turn"),
        _field("turns", ListOf(Reference("turn", lambda: STEP)), "what happens", required=True),
        _field("probes", MapOf(PROBE, "probe"), "what is asked: name to probe"),
        _field("expect", MapOf(Bound(), "metric", _Metric()), "metric to bound"),
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
