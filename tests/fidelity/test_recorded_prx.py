"""What PRX 0.3.0 was recorded doing, done again: every field that can be compared."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.errors import StoreError
from memsim.systems.prx import access_policy, storage, topics, upkeep
from memsim.systems.prx.brain import BRAIN, Brain
from memsim.systems.prx.markdown_files import MarkdownFiles, chunks, daily_name
from memsim.systems.prx.recall import Recall, RecallHit, context_hits, context_text, is_worth_saving
from memsim.systems.prx.row_index import cosine, merge
from memsim.systems.prx.settings import PrxSettings
from memsim.systems.prx.tool_versions import ReleaseTools, write_row
from memsim.systems.prx.tools import REAL, ToolError, schema
from tests.fidelity.recordings import Comparison, Recordings

if TYPE_CHECKING:
    from memsim.models import Vectors

Json = Any
PRX = "prx-0.3.0"
START = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
TODAY = START.date().isoformat()


class Ticking:
    """A clock that never says the same instant twice."""

    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> datetime:
        self.at += timedelta(milliseconds=5)
        return self.at


class ByteSum:
    """The embedder of the recordings: tokens by the sums of their bytes."""

    name = "bytesum"
    dimension = 16

    def __init__(self) -> None:
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector for each text."""
        import numpy as np

        found = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(found, texts, strict=True):
            self.calls += 1
            for token in text.lower().split():
                row[sum(token.encode()) % self.dimension] += np.float32(1)
            norm = np.sqrt(np.sum(row * row, dtype=np.float32))
            if norm > 0:
                np.divide(row, norm, out=row)
        return found


class Workspace:
    """A database with its copy in a folder of its own."""

    def __init__(self, folder: Path, embedder: ByteSum | None = None, **options: Json) -> None:
        self.folder = folder
        self.now = Ticking()
        self.files = MarkdownFiles(folder, stamped=True)
        embed = None if embedder is None else lambda: embedder
        self.brain = Brain(folder / BRAIN, embed=embed, **options)
        self.recaller = Recall()

    def keep(self, entries: Json, *, files: bool = True) -> None:
        """Store entries as the recordings have them."""
        for key, content, category, session in entries:
            write_row(
                self.brain,
                self.files if files else None,
                key,
                content,
                category,
                now=self.now(),
                session=session,
            )

    def recall(self, query: str, limit: int, session: str | None = None) -> list[RecallHit]:
        """What is recalled."""
        return self.recaller(self.brain, query, limit, now=self.now(), session=session)


def rounded(score: float) -> float:
    """To five digits, halves away from zero."""
    return float(Decimal(score).quantize(Decimal("0.00001"), ROUND_HALF_UP))


def listed(found: Sequence[RecallHit]) -> Json:
    """Recalled rows as the recordings show them."""
    return [
        [r.row.key, r.row.category, r.row.session, rounded(r.score), r.row.useful] for r in found
    ]


def untied(rows: Json) -> Json:
    """Rows of equal score in one order, since theirs is none."""
    return sorted(rows, key=lambda row: (-row[3], row[0]))


def normal(literals: Json, text: str) -> str:
    """A text without its moments."""
    told = literals["normalise"]
    text = re.sub(told["timestamp_regex"], told["timestamp_becomes"], text)
    return re.sub(told["daily_header_regex"], told["daily_header_becomes"], text)


def error_of(call: Callable[[], object]) -> str | None:
    """What a call failed with, as the recordings have it."""
    try:
        call()
    except (StoreError, ToolError) as error:
        return f"ERR {error}"
    return None


def test_keyword_recall(recordings: Recordings, compare: Comparison, tmp_path: Path) -> None:
    """Words by BM25, the session after the cut, LIKE where nothing is left."""
    told, literals = recordings.prx_inputs, recordings.literals("prx")
    arguments, there = literals["keyword"], Workspace(tmp_path)
    there.keep(told["entries"])
    found: Json = {"count": there.brain.count()}
    for query in told["queries"]:
        found[f"q:{query}"] = {
            name: listed(there.recall(query, arguments["recall_limit"], session))
            for name, session in arguments["session_id_variants"].items()
        }
    limit1 = arguments["limit1"]
    found["limit1"] = listed(there.recall(limit1["query"], limit1["limit"]))
    again = arguments["upsert"]
    there.keep([[again["key"], again["content"], again["category"], again["session_id"]]])
    row = there.brain.get(again["key"])
    assert row is not None
    found["upsert"] = [row.content, row.category, row.session, there.brain.count()]
    for name, given in arguments["list"].items():
        session = given.pop("session_id", None)
        found[name] = len(there.brain.listed(session=session, **given))
    found["reserved"] = [
        error_of(lambda r=r: there.keep([[*r.values()]]))  # type: ignore[misc]
        for r in arguments["reserved"]
    ]
    useful = arguments["useful"]
    for _ in range(useful["increments"]):
        row = there.brain.get(useful["key"])
        assert row is not None
        there.brain.used([row.number], there.now())
    row = there.brain.get(useful["key"])
    assert row is not None
    found["useful"] = row.useful
    found["forget"] = [there.brain.forget(key) for key in arguments["forget"]]
    found["backup_core"] = normal(literals, there.files.read("MEMORY.md"))
    name = daily_name(START.date())
    found["backup_daily"] = {"<TODAY>.md": normal(literals, there.files.read(name))}
    compare(PRX, "keyword", recordings.output(PRX)["keyword"], found)


def test_hybrid_recall(recordings: Recordings, compare: Comparison, tmp_path: Path) -> None:
    """Seven parts of meaning to three of words; only core and custom rows have vectors."""
    told, arguments = recordings.prx_inputs, recordings.literals("prx")["hybrid"]
    embedder = ByteSum()
    there = Workspace(tmp_path / "a", embedder, cache_size=arguments["cache_max"])
    there.keep(told["entries"])
    found: Json = {"embed_calls_after_store": embedder.calls}
    for query in told["queries"]:
        found[f"q:{query}"] = untied(listed(there.recall(query, arguments["recall_limit"])))
    found["embed_calls_total"] = embedder.calls
    there.recall(arguments["repeat_query"], arguments["recall_limit"])
    found["embed_calls_cached"] = embedder.calls
    small = Workspace(tmp_path / "b", ByteSum(), cache_size=arguments["lru3"]["cache_max"])
    small.keep(arguments["lru3"]["entries"])
    run = small.brain.connection.execute
    found["lru3"] = [
        *run("SELECT count(*) FROM embedding_cache").fetchone(),
        *run("SELECT count(embedding) FROM memories").fetchone(),
    ]
    found["rows"] = [
        [key, category, bool(embedded), visibility, sensitivity]
        for key, category, embedded, visibility, sensitivity in there.brain.connection.execute(
            "SELECT key, category, embedding IS NOT NULL, visibility, sensitivity"
            " FROM memories ORDER BY key"
        )
    ]
    recorded = {
        name: untied(value) if name.startswith("q:") else value
        for name, value in recordings.output(PRX)["hybrid"].items()
    }
    compare(PRX, "hybrid", recorded, found)


def test_tools(recordings: Recordings, compare: Comparison, tmp_path: Path) -> None:
    """The five tools: what they say, refuse and let through; then the text before a message."""
    told, literals = recordings.prx_inputs, recordings.literals("prx")
    arguments, there = literals["tools"], Workspace(tmp_path)
    there.keep(told["entries"])
    tools = ReleaseTools(there.brain, there.files, there.now)
    shut = ReleaseTools(there.brain, there.files, there.now, acl=True)

    def call(name: str, given: Json, of: ReleaseTools = tools) -> Json:
        try:
            done = of.call(f"memory_{name}", given)
        except ToolError as error:
            return f"ERR {error}"
        return [done.success, normal(literals, done.output), done.error]

    found: Json = {"store": [call("store", a) for a in arguments["store"]]}
    found["forget"] = [call("forget", a) for a in arguments["forget"]]
    for query in told["queries"]:
        found[f"recall:{query}"] = call("recall", {"query": query})
        found[f"search:{query}"] = call("search", {"query": query})
    found["search_opts"] = [call("search", a) for a in arguments["search_opts"]]
    found["recall_acl"] = call("recall", arguments["recall_acl"]["args"], shut)
    found["recall_router"] = call("recall", arguments["recall_router"]["args"])
    found["get"] = [call("get", a) for a in arguments["get"]]
    found["schemas"] = {name.removeprefix("memory_"): schema(*REAL[name]) for name in REAL}
    recorded = recordings.output(PRX)
    for shape in recorded["tools"]["schemas"].values():
        for name in shape["properties"]:
            shape["properties"][name].pop("description")
    compare(PRX, "tools", recorded["tools"], found)
    for prefix, query in literals["pure"]["loader"]["queries"].items():
        for name, (limit, least) in literals["pure"]["loader"]["configs"].items():
            text = context_text(context_hits(there.recall(query, limit), least))
            compare(PRX, f"pure/{prefix}{name}", recorded["pure"][prefix + name], text)


def test_access_control(recordings: Recordings, compare: Comparison, tmp_path: Path) -> None:
    """How writes are sorted, who sees what of them, and what is noted of it."""
    told, arguments = recordings.prx_inputs, recordings.literals("prx")["acl"]
    there = Workspace(tmp_path)
    for user, channel, account in told["identity"]["bindings"]:
        access_policy.bind_account(there.brain, user, channel, account, there.now())
    for user, role, projects, ceiling, blocked in told["identity"]["policies"]:
        access_policy.set_policy(
            there.brain,
            user,
            role,
            there.now(),
            projects=projects,
            ceiling=ceiling,
            blocked=blocked,
        )
    for key, content, category, context in told["scoped"]:
        if context is None:
            there.keep([[key, content, category, None]], files=False)
            continue
        channel, chat_type, chat_id, sender, sender_id = context
        scope = access_policy.CallerScope(
            channel=channel, chat_type=chat_type, chat_id=chat_id, sender=sender
        )
        stamp = access_policy.stamp_of(there.brain, content, scope, there.now(), sender_id)
        write_row(there.brain, None, key, content, category, now=there.now(), stamp=stamp)
    found: Json = {"classified": [], "backup_written": bool(there.files.names())}
    for row in there.brain.rows(order="m.rowid"):
        query = "SELECT title, project, external_id FROM topics WHERE id = ?"
        topic = there.brain.connection.execute(query, (row.topic,)).fetchone()
        about = topic or [None] * 3
        found["classified"].append(
            [
                *(row.key, row.visibility, row.sensitivity, row.risks, row.sender),
                *(row.chat_type, topic is not None, *about),
            ]
        )
    for acl in arguments["tool_acl_values_in_order"]:
        tools = ReleaseTools(there.brain, None, there.now, acl=acl)
        for viewer in told["viewers"]:
            sender, chat_type, chat_id = viewer
            scoped: Json = {}
            if sender is not None:
                spoken = {"channel": arguments["scope_channel"], "sender": sender}
                spoken |= {"chat_type": chat_type, "chat_id": chat_id}
                scoped = {"_zc_scope_trusted": True, "_zc_scope": spoken}
            output = tools.search({**arguments["search_args"], **scoped}).output
            name = f"acl={json.dumps(acl)}/{json.dumps(viewer, separators=(',', ':'))}"
            found[name] = {
                "keys": re.findall(r"^- key: (.*)$", output, re.MULTILINE),
                "get": {
                    key: tools.get({"path": key, **scoped}).output for key in arguments["get_keys"]
                },
            }
    found["audit"] = [
        list(row)
        for row in there.brain.connection.execute(
            "SELECT requester, action, policy_rule, result, count(*) FROM access_audit_log"
            " GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
        )
    ]
    compare(PRX, "acl", recordings.output(PRX)["acl"], found)


def test_parts(recordings: Recordings, compare: Comparison) -> None:
    """Auto-save's filter, the chunker, cosines, the merged ranking, and topics."""
    told, arguments = recordings.prx_inputs, recordings.literals("prx")["pure"]
    found: Json = {"autosave": [is_worth_saving(text) for text in told["autosave"]]}
    for size in arguments["chunk_sizes"]:
        found[f"chunks{size}"] = [
            [p.number, p.heading, len(p.content.encode()), p.content[:40]]
            for p in chunks(told["markdown"], size)
        ]
    empty = arguments["chunk_empty"]
    found["chunk_empty"] = len(chunks(empty["text"], empty["max_tokens"]))
    found["cosine"] = [cosine(one, other) for one, other in arguments["cosine"]]
    given = arguments["merge"]
    ids = list(dict.fromkeys(name for name, _ in (*given["vector"], *given["keyword"])))
    merged = merge(
        [(ids.index(name), score) for name, score in given["vector"]],
        [(ids.index(name), score) for name, score in given["keyword"]],
        weights=(given["vector_weight"], given["keyword_weight"]),
        limit=given["limit"],
    )
    found["merge"] = [[ids[m.number], m.vector, m.keyword, m.score] for m in merged]
    found["topics"] = [
        [text, topics.is_needed(text), topics.project_of(text)] for text in told["topics"]
    ]
    recorded = recordings.output(PRX)["pure"]
    recorded = {n: v for n, v in recorded.items() if not n.startswith("loader_")}
    compare(PRX, "pure", recorded, found)


def test_hygiene(recordings: Recordings, compare: Comparison, tmp_path: Path) -> None:
    """Files go by the day in their name, rows by age and use; a second run has to wait."""
    arguments = recordings.literals("prx")["hygiene"]
    there, now = Workspace(tmp_path), START

    def place(file: Json) -> None:
        path = tmp_path / re.sub(
            r"\{D-(\d+)\}",
            lambda m: (now.date() - timedelta(days=int(m[1]))).isoformat(),
            file["path"],
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file["content"], "utf-8")

    for file in arguments["files"]:
        place(file)
    run = there.brain.connection.execute
    for row in arguments["rows"]:
        at = now - timedelta(days=row["age_days"])
        there.brain.store(row["key"], row["content"], row["category"], now=at)
        run(
            "UPDATE memories SET useful_count = ? WHERE key = ?",
            (row["useful_count"], row["key"]),
        )
    for topic in arguments["topics"]:
        at_text = (now - timedelta(hours=topic["age_hours"])).isoformat(timespec="microseconds")
        run(
            "INSERT INTO topics (id, title, fingerprint, status, created_at, updated_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (topic["id"], topic["id"], topic["id"], topic["status"], at_text, at_text),
        )
    settings = PrxSettings(**arguments["config"])
    report = upkeep.run_released_hygiene(there.brain, tmp_path, settings, now)
    assert report is not None
    place(arguments["second_run"]["new_file"])
    again = upkeep.run_released_hygiene(there.brain, tmp_path, settings, now + timedelta(minutes=1))
    assert again is None

    def names(folder: str) -> list[str]:
        return sorted(
            re.sub(
                r"\d{4}-\d{2}-\d{2}",
                lambda m: f"D-{(now.date() - datetime.fromisoformat(m[0]).date()).days}",
                path.name,
            )
            for path in (tmp_path / folder).iterdir()
            if path.is_file() and not path.name.startswith("brain.db")
        )

    found: Json = {
        "memory": names("memory"),
        "memory_archive": names("memory/archive"),
        "sessions": names("sessions"),
        "sessions_archive": names("sessions/archive"),
        "report": asdict(report),
        "rows": sorted(row.key for row in there.brain.rows()),
        "topics": [
            [name, status, resolved is not None]
            for name, status, resolved in run(
                "SELECT id, status, resolved_at FROM topics ORDER BY id"
            )
        ],
    }
    compare(PRX, "hygiene", recordings.output(PRX)["hygiene"], found)


def test_snapshot(recordings: Recordings, compare: Comparison, tmp_path: Path) -> None:
    """Core entries outlive the database in a file, and come back as the owner's."""
    told, literals = recordings.prx_inputs, recordings.literals("prx")
    arguments, there = literals["snapshot"], Workspace(tmp_path)
    there.keep(told["entries"])
    found: Json = {"exported": storage.export_snapshot(there.brain, tmp_path, there.now())}
    text = (tmp_path / "MEMORY_SNAPSHOT.md").read_text("utf-8")
    found["snapshot"] = normal(literals, text)
    found["should_hydrate_before"] = storage.should_hydrate(tmp_path)
    there.brain.close()
    for name in arguments["delete_after_export"]:
        (tmp_path / name).unlink(missing_ok=True)
    found["should_hydrate_after"] = storage.should_hydrate(tmp_path)
    found["hydrated"] = storage.hydrate(tmp_path, there.now())
    with closing(sqlite3.connect(tmp_path / BRAIN)) as database:
        query = "SELECT key, category, visibility, content FROM memories ORDER BY rowid"
        hydrated = database.execute(query).fetchall()
    found["rows"] = [
        [key.replace(TODAY, "<TODAY>"), category, visibility, len(content)]
        for key, category, visibility, content in hydrated
    ]
    failed = error_of(lambda: Brain(tmp_path / BRAIN))
    found["open_after_hydrate"] = failed and ["ERR", failed.removeprefix("ERR ")]
    compare(PRX, "snapshot", recordings.output(PRX)["snapshot"], found)


def test_markdown(recordings: Recordings, compare: Comparison, tmp_path: Path) -> None:
    """The file backend: shares of words, in the order of the files; nothing is forgotten."""
    told, literals = recordings.prx_inputs, recordings.literals("prx")
    arguments, files, now = literals["markdown"], MarkdownFiles(tmp_path, stamped=False), Ticking()
    for key, content, category, _ in told["entries"]:
        files.append(key, content, category, now())
    found: Json = {"count": len([*files.lines()])}
    for query in told["queries"]:
        pairs = [[line.key, s] for line, s in files.recall(query, arguments["recall_limit"])]
        found[f"q:{query}"] = sorted(pairs, key=lambda p: json.dumps(p, ensure_ascii=False))
    first, second = (files.get(name) for name in arguments["get"])
    found["get"] = [first and first.text, second and second.key]
    found["forget"] = files.forget(arguments["forget"])
    found["MEMORY.md"] = normal(literals, files.read("MEMORY.md"))
    compare(PRX, "markdown", recordings.output(PRX)["markdown"], found)
