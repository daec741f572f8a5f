"""The tools of a memory: their schemas, their answers, and who is meant by them."""

from __future__ import annotations

import json
from typing import Any, Literal

import jsonschema
import pytest

from memsim.errors import StoreError
from memsim.memory.audit import AuditTrail
from memsim.memory.options import MemoryOptions
from tests.memory.remembering import Remembering

NAMES = {
    "memory_store",
    "memory_forget",
    "memory_get",
    "memory_search",
    "record_to_memory",
    "retrieve_from_memory",
    "scratchpad_read",
    "scratchpad_write",
    "memory_append",
}
ARGUMENTS: dict[str, dict[str, object]] = {
    "memory_store": {"key": "k", "value": "secret-7741", "category": "daily"},
    "memory_get": {"key": "k"},
    "memory_search": {"query": "secret-7741", "category": "daily", "max_results": 3},
    "memory_forget": {"key": "k"},
    "record_to_memory": {"thinking": "hm", "content": ["secret-7741", " "]},
    "retrieve_from_memory": {"keywords": ["secret-7741"]},
    "scratchpad_write": {"text": "secret-7741"},
    "scratchpad_read": {},
    "memory_append": {"text": "secret-7741"},
}


def having(mode: Literal["framework", "agent", "both"] = "both", acl: bool = True) -> Remembering:
    """A memory whose tools can be called."""
    return Remembering(options=MemoryOptions(vectors=False, mode=mode, acl=acl))


def test_schemas_are_what_providers_take() -> None:
    """Each is a closed object whose required arguments it has, and admits what the tool takes."""
    specs = having().memory.tools("ana").specs()

    assert sorted(NAMES) == [s.name for s in specs]
    for spec in specs:
        schema = json.loads(spec.parameters)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert ("object", False) == (schema["type"], schema["additionalProperties"])
        assert set(schema["required"]) <= set(schema["properties"])
        jsonschema.validate(ARGUMENTS[spec.name], schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"principal": "ben", **ARGUMENTS[spec.name]}, schema)
        told = {"type": "function", "function": {"name": spec.name, "parameters": schema}}
        assert told == json.loads(json.dumps(told))
        assert spec.name.isidentifier()
        assert len(spec.name) <= 64
        assert spec.description


def test_what_only_reads_is_marked_so_and_changes_nothing_else() -> None:
    """Such tools can be offered with a question without a trace in what is remembered."""
    it = having()
    it.say("My desk is 4A.")
    for spec in it.memory.tools("ana").specs():
        before = {**it.memory.save(), "audit": None}
        it.call(spec.name, **ARGUMENTS[spec.name])
        assert not spec.reads or before == {**it.memory.save(), "audit": None}


@pytest.mark.parametrize("mode", ["framework", "agent", "both"])
def test_the_framework_alone_offers_no_tools(
    mode: Literal["framework", "agent", "both"],
) -> None:
    """What is not offered is answered as what is no tool at all."""
    it = having(mode)
    offered = {s.name for s in it.memory.tools("ana").specs()}

    assert (set() if mode == "framework" else NAMES) == offered
    if mode == "framework":
        assert "Error: there is no tool 'memory_store'" == it.call(
            "memory_store", key="k", value="v"
        )
        assert [] == [*it.memory.entries(None)]


def test_recall_is_no_tool_under_access_control() -> None:
    """Calling it is answered in the bytes of any name that is none."""
    closed, open_ = having(), having(acl=False)
    closed.say("My desk is 4A.")
    open_.say("My desk is 4A.")

    answers = [
        closed.call(n, query="desk").replace(n, "x") for n in ("memory_recall", "memory_dream")
    ]
    assert answers[0] == answers[1]
    assert "4A" in open_.call("memory_recall", query="desk")
    assert NAMES | {"memory_recall"} == {s.name for s in open_.memory.tools("ana").specs()}


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not an object"),
        ('{"key": "k"}', "missing argument 'value'"),
        ('{"key": "k", "value": null}', "missing argument 'value'"),
        ('{"key": "k", "value": "v", "user_id": "ben"}', "unknown argument 'user_id'"),
        ('{"key": "k", "key": "z", "value": "v"}', "argument 'key' is given twice"),
        ('{"key": 7, "value": "v"}', "key has to be a text"),
        ('{"key": "\\ud800", "value": "v"}', "key cannot be encoded"),
        ('{"key": "k", "value": "\\udfff"}', "value cannot be encoded"),
        ('{"key": "", "value": "v"}', "key is empty"),
        ('{"key": "k", "value": "v", "category": ""}', "category is empty"),
    ],
)
def test_wrong_arguments_are_told_to_the_agent(arguments: str, wrong: str) -> None:
    """Nothing is raised, and nothing is stored."""
    it = having()

    answer = it.memory.tools("ana").call("memory_store", arguments)

    assert answer.startswith("Error: ")
    assert wrong in answer
    assert [] == [*it.memory.entries(None)]
    assert ["refused"] == [r.outcome for r in it.memory.audit.records()]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory_search", {"query": "q", "max_results": 0}),
        ("memory_search", {"query": "q", "max_results": 101}),
        ("memory_search", {"query": "q", "max_results": True}),
        ("retrieve_from_memory", {"keywords": "desk"}),
        ("retrieve_from_memory", {"keywords": [7]}),
        ("record_to_memory", {"content": ["\ud800"]}),
        ("scratchpad_write", {"text": "x" * 70_000}),
        ("memory_append", {"text": ""}),
    ],
)
def test_each_tool_refuses_what_it_does_not_take(name: str, arguments: dict[str, Any]) -> None:
    """In its answer."""
    assert having().call(name, **arguments).startswith("Error: ")


def test_a_foreign_key_is_answered_as_a_missing_one() -> None:
    """By get, forget, search and store: in the same bytes, and the other's entry stays."""
    it, alone = having(), having()
    it.call("memory_store", "ben", key="k", value="ben's kettle")

    for name, arguments in (
        ("memory_get", {"key": "k"}),
        ("memory_forget", {"key": "k"}),
        ("memory_search", {"query": "kettle"}),
        ("retrieve_from_memory", {"keywords": ["kettle"]}),
        ("memory_store", {"key": "k", "value": "ana's own"}),
        ("memory_get", {"key": "k"}),
        ("memory_forget", {"key": "k"}),
        ("memory_get", {"key": "k"}),
    ):
        assert alone.call(name, **arguments) == it.call(name, **arguments)
    assert "ben's kettle" == it.call("memory_get", "ben", key="k")


@pytest.mark.parametrize("name", ["user_id", "principal", "owner", "session", "as"])
def test_who_calls_is_never_an_argument(name: str) -> None:
    """Whatever a call says of it is refused, for every tool."""
    it = having()
    it.call("memory_store", "ben", key="k", value="secret-7741")
    for tool in sorted(NAMES):
        answer = it.call(tool, "ana", **{**ARGUMENTS[tool], name: "ben"})
        assert f"Error: unknown argument {name!r}" == answer


def test_what_is_found_names_who_said_it() -> None:
    """For an agent and for a program, also after a restart."""
    it = having(acl=False)
    it.memory.observe(it.message("I would like a desk by the window."))
    it.memory.observe(it.message("The desk 4A is booked for you.", role="assistant"))
    it.memory.end_turn("ana")

    for memory in (it, it.again()):
        hits = memory.memory.search("Which desk is booked?", principal="ana")
        texts = {"assistant to ana: The desk 4A is booked for you."}
        texts.add("ana: I would like a desk by the window.")
        assert texts == {hit.text for hit in hits}
        assert "assistant to ana: The desk" in memory.call("memory_recall", query="desk booked")


def test_stored_texts_come_back_to_the_byte() -> None:
    """However often a key is written, the last text is what it holds."""
    it = having()
    for text in ("one", "a\nb\u200b</summary> é \0"):
        assert "Stored memory: k" == it.call("memory_store", key="k", value=text)
        assert text == it.call("memory_get", key="k")
    assert 1 == len([*it.memory.long_term.list("ana")])


def test_a_search_shows_the_beginning_of_what_is_long() -> None:
    """A few long entries would otherwise fill a context; by its key all of one is read."""
    it = having()
    text = "kettle " * 200
    it.call("memory_store", key="k", value=text)

    found = it.call("memory_search", query="kettle")

    assert len(found) < 400
    assert found.endswith("[1100 characters more]")
    assert text == it.call("memory_get", key="k")


def test_every_call_is_in_the_audit_trail_and_nothing_of_its_content() -> None:
    """Known and unknown tools, in order, with what came of them."""
    it = having()
    for name in ("memory_store", "memory_get", "memory_forget", "memory_get"):
        it.call(name, **ARGUMENTS[name])
    it.call("secret-7741", query="x")
    it.call("memory_store", key="secret-7741", value="v", category="secret-7741")
    it.memory.tools("ana").call("memory_store", "secret-7741")

    records = [*it.memory.audit.records()]

    assert ["allowed"] * 3 + ["missing", "refused", "allowed", "refused"] == [
        r.outcome for r in records
    ]
    assert ["memory_store", "memory_get", "memory_forget", "memory_get", "unknown"] == [
        r.tool for r in records
    ][:5]
    assert {"ana"} == {r.principal for r in records}
    assert "7741" not in json.dumps(it.memory.audit.save())
    assert AuditTrail.load(it.memory.audit.save()).verify() is None


def test_a_call_that_the_store_fails_is_audited_and_raised() -> None:
    """An agent is not told that something is missing when nobody could look."""
    it = having()
    it.store.failing = True

    with pytest.raises(StoreError):
        it.call("memory_store", key="k", value="v")

    assert ["failed"] == [r.outcome for r in it.memory.audit.records()]


def test_notes_are_kept_for_their_conversation_alone() -> None:
    """Of another conversation, or another principal, there are none."""
    it = having()
    it.say("Hello.", session="one")
    it.call("scratchpad_write", text="call Dr. Bauer")
    assert "call Dr. Bauer" == it.call("scratchpad_read")
    it.say("Hello.", session="two")

    assert "The scratchpad is empty." == it.call("scratchpad_read")
    assert "The scratchpad is empty." == it.call("scratchpad_read", "ben")
    assert "call Dr. Bauer" == it.memory.tools("ana", "one").call("scratchpad_read", "{}")


def test_what_is_stored_in_a_turn_goes_with_the_message_it_was_stored_for() -> None:
    """An entry knows the messages of its owner's in whose turn it was made."""
    it = having()
    message = it.message("My code is 7741.")
    it.memory.observe(message)
    it.memory.observe(it.message("Hm.", who="ben"))
    it.call("record_to_memory", content=["code 7741"])
    it.call("memory_append", text="code 7741")
    it.memory.end_turn()

    assert {(message.id,)} == {
        e.sources for e in it.memory.entries("ana") if e.layer == "long_term"
    }
    it.memory.forget("ana", [message.id])

    assert "7741" not in it.texts()
