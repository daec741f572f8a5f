"""AgentScope's memory: a list of messages or one that compresses itself, and one for later."""

from __future__ import annotations

from typing import ClassVar, Literal

from memsim import Environment, Strategy
from memsim.systems.agentscope.agents import ShortTermChoice
from memsim.systems.agentscope.system import AgentscopeSystem, LongTermUse
from memsim.systems.agentscope.thresholds import thresholds_of


class Agentscope(AgentscopeSystem, Strategy):
    """AgentScope's memory as published: short-term by agent, long-term by user.

    `inmemory` grows without limit, as the document says; what is over the budget is not shown.

    Args:
        memory: `inmemory` keeps all messages; `autocontext` compresses them.
        longterm: what is kept for later: nothing, facts (`mem0`), summaries (`reme`) or the
            messages themselves (`store`).
        mode: who records and retrieves: the framework (`static`), the agent by tools, or both.
        version: the document, the Java package 1.0.12 or the Python package 1.0.21.
        window: how `autocontext` compresses as documented; `auto` is `progressive`. With
            `inmemory` it is `none` unless named.
        scope: whose a short-term memory is: a principal's, a session's, or everybody's.
        fixed: repair what leaks or miscounts by design.
        msg_threshold: messages that trigger; 30 as documented, 100 in the package.
        max_token: tokens of the model's window; 131,072, or the budget where that is less.
        token_ratio: share of it that triggers; 0.3 as documented, 0.75 in the package.
        last_keep: messages that stay; 10 as documented, 50 in the package.
        large_payload_threshold: characters beyond which content is large.
        offload_single_preview: characters of it that stay.
        min_consecutive_tool_messages: messages of tools that a run must exceed (1.0.12).
        min_compression_token_threshold: tokens below which nothing is summarised (1.0.12).
        current_round_compression_ratio: what the current round is shortened to (1.0.12).
        keep_recent: messages that stay (1.0.21).
        summary: tokens that a summary may have.
        retrieve: memories that are retrieved at most.
        sessions: write a session file for each agent after every turn.

    Raises:
        ValueError: a number is out of its range, or a word means nothing here.
    """

    reproduces: ClassVar[str] = "agentscope"

    def __init__(
        self,
        env: Environment,
        *,
        memory: Literal["inmemory", "autocontext"] = "inmemory",
        longterm: Literal["none", "mem0", "reme", "store"] = "none",
        mode: Literal["static", "agent", "both"] = "static",
        version: Literal["document", "1.0.12", "1.0.21"] = "document",
        window: Literal[
            "auto", "none", "progressive", "truncation", "summarisation", "offloading"
        ] = "auto",
        scope: Literal["principal", "session", "shared"] = "principal",
        fixed: bool = False,
        msg_threshold: int | None = None,
        max_token: int | None = None,
        token_ratio: float | None = None,
        last_keep: int | None = None,
        large_payload_threshold: int = 5 * 1024,
        offload_single_preview: int = 200,
        min_consecutive_tool_messages: int = 6,
        min_compression_token_threshold: int = 5000,
        current_round_compression_ratio: float = 0.3,
        keep_recent: int = 3,
        summary: int = 400,
        retrieve: int = 5,
        sessions: bool = False,
    ) -> None:
        config = thresholds_of(version, env.budget).but(
            msg_threshold=msg_threshold,
            max_token=max_token,
            token_ratio=token_ratio,
            last_keep=last_keep,
            large_payload_threshold=large_payload_threshold,
            offload_single_preview=offload_single_preview,
            min_consecutive_tool_messages=min_consecutive_tool_messages,
            min_compression_token_threshold=min_compression_token_threshold,
            current_round_compression_ratio=current_round_compression_ratio,
        )
        choice = ShortTermChoice(
            memory=memory,
            version=version,
            window=window,
            config=config,
            keep_recent=keep_recent,
            summary=summary,
            fixed=fixed,
        )
        packaged = version != "document"
        long_term = LongTermUse(longterm, mode, retrieve, packaged=packaged, fixed=fixed)
        super().__init__(env, choice, long_term, scope=scope, sessions=sessions)
