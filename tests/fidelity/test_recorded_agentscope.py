"""What AgentScope's packages were recorded doing, done again: every field that can be compared."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from memsim.clock import Clock
from memsim.memory.compaction import Blobs, MemoryBlobs
from memsim.memory.compaction.blobs import reload
from memsim.message import Message, Text, ToolResult, ToolUse
from memsim.systems.agentscope.compression import CompressionEvent, packaged_compression
from memsim.systems.agentscope.compression_families import FamilyPrompts, families, is_final
from memsim.systems.agentscope.offloads import reload_answer, uuid_of
from memsim.systems.agentscope.python_memory import (
    COMPRESSED,
    CompressionConfig,
    MarkedMemory,
    compress_if_needed,
)
from memsim.systems.agentscope.short_term import ShortTermMemory
from memsim.systems.agentscope.thresholds import (
    ROLE_NAMES,
    AutoContextConfig,
    PackageCounter,
    first_units,
    units,
)
from tests.fidelity.agentscope_recordings import Given, Stub, Uuids, given, h16
from tests.fidelity.recordings import Comparison, Recordings, canonical

Json = Any
JAVA = "agentscope-java-1.0.12"
NOT_COMPARED = ("first_sha", "first_head")


CONFIG = {
    "msgThreshold": "msg_threshold",
    "maxToken": "max_token",
    "tokenRatio": "token_ratio",
    "lastKeep": "last_keep",
    "largePayloadThreshold": "large_payload_threshold",
    "offloadSinglePreview": "offload_single_preview",
    "minConsecutiveToolMessages": "min_consecutive_tool_messages",
    "minCompressionTokenThreshold": "min_compression_token_threshold",
    "currentRoundCompressionRatio": "current_round_compression_ratio",
}


def configured(literals: Json, name: str) -> AutoContextConfig:
    """A recorded configuration."""
    told = literals["configs_effective"][name]
    return AutoContextConfig(**{ours: told[theirs] for theirs, ours in CONFIG.items()})


class JavaCase:
    """One recorded case, done again.

    Args:
        rows: the input list.
        config: the configuration.
        literals: what the recording was made with.
    """

    def __init__(self, rows: Json, config: AutoContextConfig, literals: Json) -> None:
        self.given: Given = given(rows)
        self.clock = Clock()
        self.stub = Stub(self.clock)
        self.counter = PackageCounter(self.given.names)
        prompts = {
            name: "p" * told["chars"]
            for name, told in literals["prompts"].items()
            if len(name) == 2
        }
        made = families(config, self.counter, FamilyPrompts(prompts=prompts))
        self.memory = ShortTermMemory(
            self.counter, packaged_compression(config, self.counter, made)
        )
        self.ids = {m.id for m in self.given.messages}
        self.uuids = Uuids()
        self.result = self._played(literals["max_passes"])

    def _played(self, most: int) -> Json:
        for message in self.given.messages:
            self.memory.add_message(message)
        result: Json = {"tokens": self.memory.tokens, "passes": []}
        for _ in range(most):
            compressed = self.memory.compress_if_needed(self.stub, self.clock.now)
            result["passes"].append(self._pass(compressed=compressed))
            if not compressed:
                break
        result["events"] = [self._event(e) for e in self.memory.events]
        result["offload"] = self._offload(self.memory.blobs)
        result["original_n"] = len(self.memory.original)
        result["interaction_n"] = len(self.memory.interaction_messages())
        result["calls"] = [self._call(r.messages) for r in self.stub.asked]
        return result

    def _pass(self, *, compressed: bool) -> Json:
        working = self.memory.get_messages()
        return {
            "compressed": compressed,
            "n": len(working),
            "tokens": self.memory.tokens,
            "events": len(self.memory.events),
            "working": [self._message(m) for m in working],
        }

    def _message(self, message: Message) -> Json:
        return {
            "id": "NEW" if message.composed else message.id,
            "role": ROLE_NAMES[message.role],
            "blocks": [self._block(b) for b in message.blocks],
            "compressed": message.composed,
            "final": is_final(message),
        }

    def _block(self, block: Text | ToolUse | ToolResult) -> str:
        if isinstance(block, ToolUse):
            return f"use:{block.id}"
        text = self.uuids.replaced(block.text)
        kind, kept = ("text", 60) if isinstance(block, Text) else (f"result:{block.id}", 40)
        if units(text) > 400:
            text = f"{first_units(text, kept)}#{units(text)}#{h16(text)}"
        return f"{kind}:{text}"

    def _event(self, event: CompressionEvent) -> Json:
        return {
            "type": event.event_type,
            "count": event.compressed_message_count,
            "prev": self._id(event.previous_message_id),
            "next": self._id(event.next_message_id),
            "has_msg": event.compressed_message_id is not None,
            "meta": {
                "inputToken": event.input_token,
                "outputToken": event.output_token,
                "time": event.time,
            },
        }

    def _id(self, id_: str | None) -> str | None:
        return id_ if id_ is None or id_ in self.ids else "NEW"

    def _offload(self, blobs: Blobs) -> Json:
        return {
            self.uuids.known.get(uuid_of(d), "<unreferenced>"): [
                "NEW" if m.composed else m.id for m in reload(d, blobs)
            ]
            for d in blobs.digests()
        }

    def _call(self, messages: tuple[Message, ...]) -> Json:
        return {
            "n": len(messages),
            "roles": [ROLE_NAMES[m.role] for m in messages],
            "last_text": messages[-1].text,
            "tokens": self.counter.messages(messages),
            "chars": sum(map(self.counter.characters, messages)),
        }


PYTHON = "agentscope-1.0.21"


def replayed(name: str, rows: Json, literals: Json) -> Json:
    """A recorded case of compression, done again."""
    made = given(rows)
    told = dict(part.split("=") for part in name.split("/") if "=" in part)
    lit = literals["compression"]
    config = CompressionConfig(
        trigger_threshold=int(told["thr"]),
        keep_recent=int(told["keep"]),
        compression_prompt=lit["compression_prompt"],
        summary_template=lit["summary_template"],
        sys_prompt=lit["agent"]["sys_prompt"],
    )
    names = dict(made.names)
    memory = MarkedMemory(names)
    memory.add(made.messages)
    calls: list[Any] = []
    stub = lit["stub_model"]

    def ask(prompt: list[Any], older: tuple[Message, ...]) -> dict[str, str] | None:
        called = {"n": len(prompt), "sha": h16(canonical(prompt))}
        calls.append({**called, "last": prompt[-1], "structured": True})
        if name.endswith("/emptymeta"):
            return None
        return {k: v.replace("{k}", str(len(calls))) for k, v in stub["metadata"].items()}

    def marked() -> list[str]:
        return [m.id for m in memory.get_memory(COMPRESSED, prepend_summary=False)]

    compress_if_needed(memory, config, ask)
    result = {
        "compressed": marked(),
        "left": [m.id for m in memory.get_memory(None, COMPRESSED, prepend_summary=False)],
        "summary": memory.summary,
        "calls": list(calls),
    }
    memory.add(given([lit["second_round_message"]]).messages, allow_duplicates=True)
    compress_if_needed(memory, config, ask)
    second = {"second_summary": memory.summary, "second_n_calls": len(calls)}
    return {**result, **second, "second_compressed_n": len(marked())}


def in_memory(rows: Json, literals: Json) -> Json:
    """The recorded calls on one memory, done again."""
    stamp = literals["message_mapping"]["timestamp"]
    messages = given(rows, datetime.fromisoformat(stamp).replace(tzinfo=UTC))
    m, memory = messages.messages, MarkedMemory(messages.names)
    result: dict[str, Any] = {}
    memory.add(m[0:4])
    memory.add(m[2:6])
    result["dedup_by_id"] = len(memory)
    memory.add(m[0:1], allow_duplicates=True)
    result["allow_dup"] = len(memory)
    memory.add(m[6:7], "hint")
    memory.add(m[7:8], ["hint", "x"])
    result["by_mark"] = [x.id for x in memory.get_memory("hint")]
    result["exclude"] = [x.id for x in memory.get_memory(None, "hint")]
    result["upd"] = memory.update_messages_mark("y", "x")
    result["upd_all"] = memory.update_messages_mark("z")
    result["rm_none"] = memory.update_messages_mark(None, "z", ["m0"])
    memory.summary = "SUMMARY"
    got = memory.get_memory()
    plain = len(memory.get_memory(prepend_summary=False))
    result["prepend"] = [got[0].role, got[0].text, len(got), plain]
    state = memory.state_dict()
    result["state_keys"] = sorted(state)
    result["state_item0"] = state["content"][0]
    again = MarkedMemory(messages.names)
    again.load(memory.save())
    result["reload"] = [len(again), again.summary]
    result["delete"] = memory.delete(["m0", "nope"])
    result["delete_mark"] = memory.delete_by_mark(["hint", "y"])
    memory.clear()
    result["clear_keeps_summary"] = [len(memory), memory.summary]
    return result


def test_recorded_python_memory(recordings: Recordings, compare: Comparison) -> None:
    """The list of messages with marks does what the package's did."""
    literals = recordings.literals("agentscope-python-1.x")
    recorded = recordings.output(PYTHON)["in_memory"]
    rows = recordings.inputs[literals["in_memory"]["input_ref"]]
    compare(f"{PYTHON}.json", "in_memory", recorded, in_memory(rows, literals))


def test_recorded_python_compression(recordings: Recordings, compare: Comparison) -> None:
    """Compression cuts, asks, counts and marks as the package's agent did."""
    literals, inputs = recordings.literals("agentscope-python-1.x"), recordings.inputs
    for name, recorded in sorted(recordings.output(PYTHON)["compression"].items()):
        actual = replayed(name, inputs[name.split("/")[0]], literals)
        compare(f"{PYTHON}.json", name, recorded, actual)


def test_recorded_java_cases(recordings: Recordings, compare: Comparison) -> None:
    """Estimates, passes, events, offloads and calls of AutoContextMemory are the package's."""
    literals, inputs = recordings.literals("agentscope-java"), recordings.inputs
    for name, recorded in sorted(recordings.output(JAVA)["cases"].items()):
        given_name, config = name.split("/", 1)
        actual = JavaCase(inputs[given_name], configured(literals, config), literals).result
        for call in recorded["calls"]:
            for key in NOT_COMPARED:
                call.pop(key, None)
        compare(f"{JAVA}.json", name, recorded, actual)


def test_recorded_java_words(recordings: Recordings, compare: Comparison) -> None:
    """Default thresholds, and what the reload tool answers, are the package's."""
    recorded = recordings.output(JAVA)
    default = AutoContextConfig()
    compare(
        f"{JAVA}.json",
        "defaults",
        recorded["defaults"],
        {key: getattr(default, name) for key, name in CONFIG.items()},
    )
    for call in recordings.literals("agentscope-java")["reload_calls"]:
        blobs = None if call["loader"] is None else MemoryBlobs()
        field = call["field"]
        compare(f"{JAVA}.json", field, recorded[field], reload_answer(call["uuid"], blobs))
