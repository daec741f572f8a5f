"""What is played and run with each published system to see which of its lines that reaches."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import httpx

Command = str | Callable[[Path], None]
"""A command of memsim, in which FOLDER stands for a new folder; or a function of such a folder."""


def _runs(scenarios: str, *refs: str) -> str:
    strategies = " ".join(f"-s {ref}" for ref in refs)
    return f"run {scenarios} {strategies} --no-report -o FOLDER/runs -j 1"


def _checked(*refs: str) -> str:
    """Invariants of what is sent, and every tool called with what it may not be called with."""
    return f"check {' '.join(refs)} -j 1 -k 'structure or errors_name_nobody_else'"


def _attacked(*refs: str) -> str:
    """Attacks: what is forgotten, left, or expired, every tool by its schema, what is written."""
    strategies = " ".join(f"-s {ref}" for ref in refs)
    attempts = "-k 'L6 or L7 or L8 or L11 or L20' --leak-attempts 0.03"
    return f"run leakage {strategies} {attempts} --no-report -o FOLDER/runs -j 1"


def _on_servers(command: str, folder: Path) -> None:
    """The command with a Redis and a PostgreSQL of its own."""
    from benchmarks.system_coverage import perform
    from tests.memory.stores import servers

    os.environ["MEMSIM_REDIS_URL"] = servers.redis().url
    os.environ["MEMSIM_POSTGRES_URL"] = servers.postgres().url
    perform(command, folder)


def _configured(folder: Path) -> None:
    """A conversation with a settings file, then the verbs of `memsim memory` on a workspace."""
    from benchmarks.system_coverage import perform
    from tests.cli.test_prx_workspaces import filled, settings

    lines = ("snapshot_enabled = true", "snapshot_on_hygiene = true", "min_relevance_score = 0.2")
    path = settings(folder / "settings", *lines, audit=True)
    both = (f"prx:config={path}", f"prx:config={path},version=0.3.0")
    perform(_runs("shared_lab", *both), folder)
    workspace = filled(folder / "workspace")
    for verb in (
        "stats",
        "list --as ana",
        "search 'project deadlines' --as ana",
        "get cat --as ana",
        "export --as ana",
        "forget cat --as ben",
    ):
        perform(f"memory {verb} --memory {workspace}", folder)


WORKBENCH = """\
memsim: 1
name: workbench
turns:
  - user: >-
      Our goal is to design a scalable service. Milestone: migrate the orders. Our budget is $50k.
      We must keep the API stable. Option A: direct calls. What about the "orders.sql" file?
  - assistant: >-
      We decided to use events because it decouples the services. I assume that two developers are
      enough. Direct calls are ruled out.
  - user: "Option A: direct calls. Please fix the bug in `auth.py`. TypeError: bad operand"
  - assistant: I fixed `auth.py`. It is blocked by the review of `tests/test_auth.py`.
  - user: /mode code
  - assistant: Noted.
  - user: "Please fix the bug in `auth.py` and 'web/app.tsx'. TypeError: bad operand"
  - assistant: I changed `auth.py`. I am blocked by the login server.
  - repeat:
      times: 30
      turns:
        - user: "Part $i: the depot of `part$i.py` is in Oslo, hall $i, and we decided to keep it."
        - assistant: >-
            Noted. I fixed `part$i.py`. Hall $i has a long story, of which much could be told, and
            part $i was moved there in spring, as the list of the depot says in its last line.
  - user: /M reasoning
  - assistant: Noted.
  - restart
  - user: Where is part 3?
  - assistant: In Oslo.
  - filler: 40
probes:
  part: {after: end, ask: Where is the depot of part 3?, expect: Oslo}
"""


def _at_a_workbench(*refs: str) -> Command:
    """A conversation with files, errors, goals and decisions, as modes of Cogtrix track them."""

    def play(folder: Path) -> None:
        from benchmarks.system_coverage import perform

        path = folder / "workbench.yaml"
        path.write_text(WORKBENCH, encoding="utf-8")
        perform(_runs(str(path), *refs), folder)

    return play


def _service(_folder: Path) -> None:
    """The requests that `memsim serve` answers, each once, in this process and with servers."""
    from memsim.systems.aegis.storage import open_postgres_episodes, open_redis_hashes
    from tests.fidelity.serving import DIMENSION, serving
    from tests.memory.stores import servers

    addresses = {"redis": servers.redis().url, "postgres": servers.postgres().url}
    hashes = open_redis_hashes(addresses, None)
    rows = open_postgres_episodes(addresses, "public", DIMENSION, lists=100, probes=1)
    for given in ((), (hashes, rows)):
        with serving(*given) as address, httpx.Client(base_url=address, trust_env=False) as client:
            _request_everything(client)
    hashes.close()
    rows.close()


def _request_everything(client: httpx.Client) -> None:
    notes = {"data": {"scratchpad": "The gate is open.", "entities": [{"name": "gate"}]}}
    client.put("/working-memory/c", json=notes)
    client.put("/working-memory/c", json={**notes, "ttl_seconds": 60})
    client.put("/working-memory/c", json={"data": {"scratchpad": "x" * 70_000}})
    client.get("/working-memory/c")
    client.request("DELETE", "/working-memory/c", json={"fields": ["entities"]})
    client.delete("/working-memory/c")
    episode = {"agent_id": "a", "conversation_id": "c", "summary": "The gate was opened."}
    client.post("/episodic/store", json=episode)
    client.post("/episodic/search", json={"agent_id": "a", "query": "gate", "user_id": "u"})
    client.get("/episodic/c")
    for verb in ("mark", "check", "evict"):
        client.post(f"/ledger/c/{verb}", json={"item_key": "skill:gates"})
    client.get("/ledger/c")


HANDLES: Mapping[str, tuple[str, ...]] = {
    "agenticx": (
        "mem0.Mem0Facts.statements",
        "workspace_index.WorkspaceIndex.columns",
        "workspace_index.WorkspaceIndex.count",
    ),
    "agentscope": (
        "offloads.tags",
        "session_file.SessionFile.messages",
        "short_term.ShortTermMemory.__iter__",
        "short_term.ShortTermMemory.compress_if_needed",
        "short_term.ShortTermMemory.tokens",
    ),
    "prx": ("brain.Brain.count", "brain.Brain.get", "brain.Brain.listed"),
    "cogtrix": (),
    "aegis": (),
}
"""Functions by which tests drive the classes or look into them; replays do the same by others."""

UNPLAYED: Mapping[str, tuple[str, ...]] = {
    "agenticx": ("test_taskspace_hints_are_kept",),
    "aegis": ("test_the_ledger_takes_any_item",),
}
"""Tests of statements about values that no replay has, though it enters the same functions."""

COMMANDS: Mapping[str, tuple[Command, ...]] = {
    "agenticx": (
        _runs(
            "shared_lab chinese_cues",
            "agenticx",
            "agenticx:tools=true,identity=Ava,user=Ana,soul=Calm",
            "agenticx:fixed=true,scope=principal,cues=zh+en,tools=true,longterm=mem0",
            "agenticx:behaviour=source,tools=true",
        ),
        _runs(
            "large_results",
            "agenticx:version=0.6,tools=true,threshold_messages=20",
            "agenticx:version=0.6,fixed=true,model_window=4000",
        ),
        _checked("agenticx:tools=true", "agenticx:version=0.6,tools=true,longterm=mem0"),
        _attacked("agenticx:tools=true,longterm=mem0", "agenticx:tools=true,fixed=true"),
    ),
    "agentscope": (
        _runs(
            "shared_lab",
            "agentscope",
            "agentscope:memory=autocontext,longterm=mem0,mode=both,sessions=true",
            "agentscope:memory=autocontext,fixed=true,longterm=store,mode=both",
            "agentscope:memory=autocontext,window=truncation,longterm=reme",
            "agentscope:memory=autocontext,version=1.0.21,max_token=2000,longterm=store",
            "agentscope:scope=session",
            "agentscope:scope=shared",
        ),
        _runs(
            "large_results",
            "agentscope:memory=autocontext,large_payload_threshold=400",
            "agentscope:memory=autocontext,version=1.0.12,msg_threshold=12,last_keep=4,"
            "large_payload_threshold=400,min_consecutive_tool_messages=1,"
            "min_compression_token_threshold=50,longterm=mem0",
        ),
        _runs(
            "tool_heavy",
            "agentscope:memory=autocontext,version=1.0.12,msg_threshold=24,last_keep=6,"
            "min_consecutive_tool_messages=1,min_compression_token_threshold=50",
        ),
        _attacked("agentscope:longterm=mem0,mode=both,memory=autocontext"),
        _checked(
            "agentscope:memory=autocontext,longterm=mem0,mode=both",
            "agentscope:memory=autocontext,version=1.0.12",
            "agentscope:memory=autocontext,version=1.0.21",
        ),
    ),
    "prx": (
        _runs(
            "shared_lab",
            "prx",
            "prx:backend=markdown",
            "prx:backend=memory,acl=on,audit=on",
            "prx:backend=embeddings,fixed=true",
            "prx:version=0.3.0",
            "prx:version=0.3.0,acl=on,fixed=true",
            "prx:version=0.3.0,backend=markdown",
        ),
        _attacked("prx:audit=on", "prx:version=0.3.0,backend=memory", "prx:acl=on,fixed=true"),
        _checked("prx:audit=on", "prx:acl=on,fixed=true", "prx:version=0.3.0"),
        _configured,
        partial(_on_servers, _runs("shared_lab", "prx:backend=postgres")),
    ),
    "cogtrix": (
        _at_a_workbench(
            "cogtrix",
            "cogtrix:mode=code",
            "cogtrix:mode=code,fixed=true",
            "cogtrix:mode=reasoning",
            "cogtrix:mode=reasoning,fixed=true,scope=session",
            "cogtrix:origin=source,mode=code,tiers=true,window=8",
            "cogtrix:tiers=true,switching=auto,window=8",
            "cogtrix:scope=session,mode=code",
        ),
        _runs("shared_lab", "cogtrix:fixed=true,scope=principal", "cogtrix:origin=source"),
        _runs("large_results", "cogtrix:tiers=true"),
        _attacked("cogtrix:fixed=true"),
        _checked("cogtrix:mode=code"),
    ),
    "aegis": (
        _runs(
            "shared_lab skill_injection",
            "aegis",
            "aegis:fixed=true,notes=on,every=6",
            "aegis:notes=on,users=on,index=exact",
            "aegis:limit=600",
        ),
        _attacked("aegis:fixed=true"),
        _checked("aegis"),
        _service,
        partial(_on_servers, _runs("shared_lab", "aegis:working=redis,episodes=postgres")),
    ),
}
