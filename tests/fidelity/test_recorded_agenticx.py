"""Replays what AgenticX 0.3.5 and 0.6.5 did on recorded inputs, call by call."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from memsim.message import EPOCH, Message
from memsim.systems.agenticx.chat_session import FACTS, Scratchpad, SessionStore, sanitised_query
from memsim.systems.agenticx.compactor import CompactionResult, ContextCompactor, Gauge, tail_start
from memsim.systems.agenticx.compactor06 import (
    ContextCompactor06,
    autocompact_threshold,
    clean_summary,
    estimated_tokens,
    hard_constraints,
    micro_compacted,
    pending_question,
    session_memory,
)
from memsim.systems.agenticx.content import sanitised
from memsim.systems.agenticx.fact_cues import (
    LANGUAGES,
    MAX_FACTS_PER_SESSION,
    MIN_CHAT_TURNS,
    extract_facts,
)
from memsim.systems.agenticx.recall import recall_context
from memsim.systems.agenticx.studio import AgenticxProfile, remember
from memsim.systems.agenticx.workspace_files import MEMORY, Pages, daily, markdown_pieces
from memsim.systems.agenticx.workspace_index import embed_text
from tests.fidelity.agenticx_recordings import Inputs, Row, Stub, on_day, shas
from tests.fidelity.recordings import Comparison, Recordings, h16

DAY = "2026-01-05"
VERSIONS = ("0.3.5", "0.6.5")
NEW = "0.6.5"


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """A recorded version."""
    return str(request.param)


class Replay:
    """The calls that were made of a version, and what to compare with.

    Args:
        version: the package's.
        recordings: where its inputs and outputs are.
        compare: compares and counts.
    """

    def __init__(self, version: str, recordings: Recordings, compare: Comparison) -> None:
        self.version = version
        self.new = version == NEW
        self.file = f"agenticx-{version}"
        self.given = recordings.inputs
        self.literals = recordings.literals("agenticx")
        self.recorded = recordings.output(self.file)["sections"]
        self.compare = compare
        self.inputs = Inputs()
        self.profile = AgenticxProfile(version=version[:3], source=True)

    def check(self, path: str, recorded: object, actual: object) -> None:
        """Compare a part of the recording."""
        self.compare(self.file, path, recorded, actual)

    def messages(self, name: str) -> tuple[Message, ...]:
        """An input's messages."""
        return self.inputs.messages(self.given[name])

    def compactor(
        self,
        stub: Stub,
        *,
        threshold_messages: int | None = None,
        threshold_chars: int | None = None,
        retain_recent_messages: int | None = None,
    ) -> ContextCompactor:
        """A compactor of the version."""
        return self.profile.compactor(
            stub,
            self.inputs.name,
            threshold_messages=threshold_messages,
            threshold_chars=threshold_chars,
            retain_recent_messages=retain_recent_messages,
        )

    def case(self, done: CompactionResult, stub: Stub) -> Row:
        """A compaction as it was recorded."""
        rows = [self.inputs.row(m) for m in done.messages]
        return {
            "did": done.did,
            "summary": done.summary,
            "count": done.count,
            "pending": done.pending if self.new else None,
            "n_out": len(rows),
            "first": rows[0],
            "tail_shas": shas(rows[1:]),
            "reason": done.reason if self.new else None,
            "est_tokens": done.gauge.tokens if self.new else None,
            "threshold": done.gauge.threshold if self.new else None,
            "calls": stub.calls,
        }


@pytest.fixture
def replay(version: str, recordings: Recordings, compare: Comparison) -> Replay:
    """The recording of a version."""
    return Replay(version, recordings, compare)


def test_compactor(replay: Replay) -> None:
    """When it compacts, what it asks the model, and what comes of it."""
    recorded = dict(replay.recorded["compactor"])
    literals = replay.literals["compactor"]

    def play(key: str, name: str, mode: str = "echo", **options: int) -> None:
        stub = Stub(mode)
        done = replay.compactor(stub, **options).maybe_compact(replay.messages(name), EPOCH)
        replay.check(f"compactor/{key}", recorded.pop(key), replay.case(done, stub))

    for name in literals["default_input_refs"]:
        play(f"default/{name}", name)
    for case in literals["llm_mode_cases"]:
        name = literals["llm_mode_input_ref"]
        play(case["key"], name, case["mode"], **literals["llm_mode_ctor"])
    small = literals["small_thresholds"]
    play(small["key"], small["input_ref"], small["mode"], **small["ctor"])
    for key, options in (("defaults", {}), ("floors", literals["floors_ctor"])):
        made = replay.compactor(Stub("echo"), **options)
        values = {name: getattr(made, name, None) for name in literals[f"{key}_keys"]}
        replay.check(f"compactor/{key}", recorded.pop(key), values)
    replay.check("compactor/rolling", recorded.pop("rolling"), rolling(replay, literals["rolling"]))
    if replay.new:
        for key, value in only_new(replay, literals["only_0.6.5"]).items():
            replay.check(f"compactor/{key}", recorded.pop(key), value)
        recorded.pop("tokenizer")  # names what counts, and is no behaviour
    assert {} == recorded


def rolling(replay: Replay, literals: Row) -> list[Row]:
    """One compactor, three times."""
    stub = Stub(literals["mode"])
    compactor = replay.compactor(stub, **literals["ctor"])
    history: tuple[Message, ...] = ()
    gauge = Gauge()
    cases = []
    for more in (None, 5, 20):
        history = (*history, *replay.inputs.messages(replay.given["messages60"][:more]))
        done = compactor.maybe_compact(history, EPOCH, gauge)
        history, gauge = done.messages, done.gauge
        cases.append(replay.case(done, stub))
    return cases


def only_new(replay: Replay, literals: Row) -> Row:
    """What only 0.6.5 has."""
    made: Row = {}
    for name in literals["force_input_refs"]:
        stub = Stub("echo")
        compactor = replay.compactor(stub)
        assert isinstance(compactor, ContextCompactor06)
        done = compactor.maybe_compact(replay.messages(name), EPOCH, force=True)
        made[f"force/{name}"] = replay.case(done, stub)
    windows = literals["autocompact_windows"]
    made["autocompact_thresholds"] = {str(w): autocompact_threshold(w) for w in windows}
    demands = hard_constraints(replay.messages(literals["hard_constraints_input_ref"]))
    made["hard_constraints"] = list(demands)
    work = replay.messages(literals["session_memory_input_ref"])
    made["session_memory"] = {
        **session_memory(work, replay.inputs.name),
        "pending_user_question": pending_question(work),
    }
    pending = literals["pending_q_input_refs"]
    made["pending_q"] = {name: pending_question(replay.messages(name)) for name in pending}
    made["split"] = {}
    for name in literals["split_input_refs"]:
        work = replay.messages(name)
        cut = tail_start(work, 8)
        made["split"][name] = [cut, len(work) - cut]
    micro = literals["micro"]
    made["micro"] = {name: micro_compacted(name, micro["text"]) for name in micro["tool_names"]}
    small = literals["micro_b300"]
    made["micro_b300"] = micro_compacted(small["tool_name"], small["text"], small["budget"])
    made["sanitize"] = [clean_summary(text) for text in literals["sanitize"]]
    names = literals["est_tokens_input_refs"]
    made["est_tokens"] = {name: estimated_tokens(replay.messages(name)) for name in names}
    return made


def test_memory_hook(replay: Replay) -> None:
    """Which facts it finds, and what the files and the scratchpad hold after three turns."""
    recorded = dict(replay.recorded["memory_hook"])
    literals = replay.literals["memory_hook"]
    cues = LANGUAGES["zh"]
    made: Row = {
        "MIN_CHAT_TURNS": MIN_CHAT_TURNS,
        "MAX_FACTS_PER_SESSION": MAX_FACTS_PER_SESSION,
        "cues": {
            "_MEMORY_KW": list(cues.memory),
            "_OUTCOME_KW": list(cues.outcome),
            "_REQUEST_KW": list(cues.request),
            "_URL_PREFIXES": list(cues.urls),
        },
    }
    for name, rows in replay.given["hook_cases"].items():
        made[name] = hook(replay, rows, literals["per_case"])
    made["compact_daily"] = {}
    for name, case in literals["compact_daily"].items():
        pages = Pages({daily(DAY): case["daily_before"]})
        if case["append"]:
            pages.keep(case["append"], DAY)
        pages.compact_daily(DAY)
        text = pages.texts[daily(DAY)]
        made["compact_daily"][name] = len(text) if "length" in case["returns"] else text
    limit = literals["long_term_limit"]
    pages = Pages({MEMORY: limit["lt_at_4000_unchanged"]["MEMORY.md_before"]})
    pages.keep(limit["facts"], DAY)
    made["lt_at_4000_unchanged"] = len(pages.texts[MEMORY]) == 4000
    pages.texts[MEMORY] = limit["lt_at_3999_tail"]["MEMORY.md_before"]
    pages.keep(limit["facts"], DAY)
    made["lt_at_3999_tail"] = pages.texts[MEMORY][limit["lt_at_3999_tail"]["tail_from"] :]
    replay.check("memory_hook", recorded, on_day(made, DAY))


def hook(replay: Replay, rows: list[Row], literals: Row) -> Row:
    """What is there after the hook ran some times on a chat."""
    chat = replay.inputs.messages(rows)
    pages = Pages({MEMORY: literals["MEMORY.md_before"]})
    scratchpad = Scratchpad()
    scratchpad.load(literals["scratchpad_before"])
    for _ in range(literals["on_agent_end_calls"]):
        remember(chat, pages, scratchpad, LANGUAGES["zh"], replay.profile, day=DAY)
    return {
        "facts": [fact.line for fact in extract_facts(chat, LANGUAGES["zh"])],
        "daily": pages.texts.get(daily(DAY)),
        "MEMORY.md": pages.texts[MEMORY],
        "scratchpad": {FACTS: scratchpad.values[FACTS]},
    }


def test_workspace_store(replay: Replay) -> None:
    """Pieces, vectors, and every query in every mode, before and after a file has changed."""
    recorded = replay.recorded["workspace_store"]
    literals = replay.literals["workspace_store"]
    texts = dict(replay.given["workspace"])
    pages = Pages(texts)
    index = replay.profile.index()

    def found(query: str, mode: str) -> object:
        try:
            hits = index.search(query, literals["limit"], mode)
        except sqlite3.OperationalError as error:
            return f"EXC {type(error).__name__}: {error}"
        return [[hit.source, hit.start, hit.end, hit.score] for hit in hits]

    made: Row = {"index1": index.index(pages.indexed(), EPOCH)}
    made["index2"] = index.index(pages.indexed(), EPOCH)
    made["chunks"] = [
        {
            "source": piece.source,
            "lines": [piece.start, piece.end],
            "sha": h16(piece.text),
            "len": len(piece.text),
        }
        for piece in sorted(index.pieces(), key=lambda p: (p.path, p.start))
    ]
    for query in replay.given["queries"]:
        made[f"q:{query}"] = {mode: found(query, mode) for mode in literals["modes"]}
    changed = literals["changed_file"]
    pages.texts[changed["name"]] = changed["text"]
    made["reindex_changed"] = index.index(pages.indexed(), EPOCH)
    for query in literals["after_reindex_queries"]:
        made[f"after_reindex:{query}"] = found(query, literals["after_reindex_mode"])
    made["fts_cols"] = index.columns("chunks_fts")
    made["fts_rows"] = index.count("chunks_fts")
    made["chunk_rows"] = index.count("chunks")
    made["cache_rows"] = index.count("embedding_cache")
    made["embedding_examples"] = {
        text: [
            [place, round(value, literals["embedding_round"])]
            for place, value in enumerate(embed_text(text, cjk=replay.new))
            if value
        ]
        for text in literals["embedding_examples"]
    }
    made["chunking"] = {}
    for key, value in literals["chunking"].items():
        text = texts[value[1]] if key.endswith("_path") else value
        told = [[p.start, p.end, h16(p.text), len(p.text)] for p in markdown_pieces(text)]
        made["chunking"][key.removesuffix("_path")] = told
    replay.check("workspace_store", recorded, made)


def test_recall_context(replay: Replay) -> None:
    """What stands in the system prompt for each chat."""
    literals = replay.literals["recall_context"]
    index = replay.profile.index()
    index.index(Pages(dict(replay.given["workspace"])).indexed(), EPOCH)
    made = {
        name: recall_context(
            replay.inputs.messages(rows),
            index,
            replay.profile.reading(),
            literals["favorites.json"],
        ).text
        for name, rows in literals["chat_histories"].items()
    }
    replay.check("recall_context", replay.recorded["recall_context"], made)


def test_session_store(replay: Replay) -> None:
    """Scratchpads that are replaced, summaries that are found, and cleaned queries."""
    literals = replay.literals["session_store"]
    store = SessionStore()
    made: Row = {}
    for call, *given in literals["calls_in_order"]:
        match call:
            case "save_scratchpad":
                store.save_scratchpad(*given)
            case "load_scratchpad":
                made["scratchpad"] = store.load_scratchpad(*given)
            case "save_session_summary":
                store.save_summary(*given)
            case "search_session_summaries":
                made["summ"] = store.search_summaries(*given)
            case "index_session_messages":
                made["indexed"] = store.index_messages(given[0], timed(replay, literals))
            case "search_session_messages":
                for query in literals["find_queries"]:
                    rows = store.search_messages(query, literals["find_limit"])
                    made[f"find:{query}"] = [list(row) for row in rows]
            case _:
                raise AssertionError(call)
    queries = (*replay.given["queries"], *literals["fts_sanitize"]["extra"])
    made["fts_sanitize"] = {query: sanitised_query(query) for query in queries}
    replay.check("session_store", replay.recorded["session_store"], made)


def timed(replay: Replay, literals: Row) -> list[tuple[str, str, float]]:
    """An input's rows as they are indexed."""
    rows = replay.given[literals["index_input_ref"]]
    return [(row["role"], row["content"], float(n)) for n, row in enumerate(rows)]


def test_sanitize_context_messages(replay: Replay) -> None:
    """Which calls and results are left of a broken conversation."""
    rows = replay.literals["sanitize_context_messages"]
    left = sanitised(replay.inputs.messages(rows), drop_empty=replay.new)
    made = [replay.inputs.row(m) for m in left]
    replay.check("sanitize", replay.recorded["sanitize_context_messages"], made)


def test_scratchpad_tools(replay: Replay) -> None:
    """The answers of the tools, step by step."""
    scratchpad = Scratchpad()
    made: list[Any] = []
    for step in replay.literals["scratchpad_tools"]["steps"]:
        match step["do"]:
            case "write":
                made.append(scratchpad.write(**step["args"]))
            case "write_many":
                made.append([scratchpad.write(**given) for given in step["args"]][-1])
            case "read":
                answer = scratchpad.read(**step["args"])
                made.append(answer[:40] if "40" in step["record"] else answer)
            case _:
                made.append(inspected(scratchpad, step["record"]))
    replay.check("scratchpad_tools", replay.recorded["scratchpad_tools"], made)


def inspected(scratchpad: Scratchpad, what: str) -> object:
    """What a step looks at."""
    if what == "number of keys":
        return len(scratchpad.values)
    big = scratchpad.values["big"]
    return big[-40:] if what.startswith("last 40") else len(big)
