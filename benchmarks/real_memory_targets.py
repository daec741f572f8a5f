"""The memories that `make peers-comparison` measures, one a line; see docs/real-memories.md."""

from __future__ import annotations

from typing import NamedTuple


class Target(NamedTuple):
    """A memory under test: what `memsim run -s` is told, and what it is.

    A slow one plays a single conversation of LoCoMo.
    """

    ref: str
    about: str
    conversations: str = "locomo"


TARGETS = (
    Target("layered", "memsim's own, for comparison"),
    Target("sliding_window", "memsim's own, for comparison"),
    Target("adk", "Google ADK"),
    Target("autogen", "AutoGen"),
    Target("langgraph", "LangGraph's store"),
    Target("langmem", "LangMem's summary"),
    Target("llamaindex", "LlamaIndex"),
    Target("mem0", "mem0, messages"),
    Target("mem0:infer=on", "mem0, extracted facts"),
    Target("openai_session", "OpenAI's Agents SDK"),
    Target("mcp:server-memory", "MCP reference server"),
    Target("mcp:mcp-memory-libsql", "graph in libSQL"),
    Target("mcp:mcp-knowledge-graph", "graph with versions"),
    Target("mcp:mcp-memory-service", "vectors in SQLite"),
    Target("mcp:basic-memory", "notes in Markdown", "locomo::conv-30"),
)
