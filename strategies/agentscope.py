"""AgentScope's memory: a list of messages or one that compresses itself, and one for later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import takewhile
from typing import Any, ClassVar, Literal

from memsim import (
    Context,
    Environment,
    Event,
    Forget,
    ForgetOutcome,
    Location,
    Message,
    Query,
    Section,
    State,
    Strategy,
    Surface,
    ToolSpec,
    composed,
)
from memsim.memory.compaction.summary import originals
from memsim.memory.crediting import credited_once
from memsim.memory.erasure import meant
from memsim.memory.fitting import fitted
from memsim.memory.state import reading
from memsim.memory.systems.agentscope import tools
from memsim.memory.systems.agentscope.agents import Agent, Agents, Draft, ShortTerm
from memsim.memory.systems.agentscope.config import thresholds_of
from memsim.memory.systems.agentscope.making import Choice, short_term
from memsim.memory.systems.agentscope.python_agent import Marking
from memsim.memory.systems.agentscope.remembering import Remembering
from memsim.memory.systems.agentscope.session import session_of, write
from memsim.memory.systems.agentscope.short_term import Drafted, ShortTermMemory

HOOK = (
    "Some messages may be compressed and hold <!-- CONTEXT_OFFLOAD uuid=... -->."
    "\nCall context_reload with that uuid where you need what was there."
    "\nNever mention a uuid to the user."
)


class Agentscope(Strategy):
    """AgentScope's memory as published: short-term by agent, long-term by user.

    `inmemory` grows without limit, as the document says; what is over the budget is not shown.

    Fidelity:

    * short-term memory is an agent's, and its session is named by the user
      -> test_sessions_are_named_by_the_user
    * addMessage, getMessages, deleteMessage and clear -> test_the_interface_of_memory
    * InMemoryMemory keeps everything, in order -> test_in_memory_keeps_everything_in_order
    * what getMessages gives is what the model is sent, in its order
      -> test_the_model_is_sent_the_messages_in_order
    * what getMessages gives cannot change the memory
      -> test_messages_that_are_given_out_change_nothing
    * saveState and loadState of messages -> test_state_goes_out_and_in
    * msgThreshold 30, tokenRatio 0.3, lastKeep 10 -> test_thresholds_are_the_documented_ones
    * too many messages trigger -> test_messages_trigger
    * too many tokens trigger -> test_tokens_trigger
    * compression merges, then summarises, then offloads, as long as it must
      -> test_compression_is_progressive
    * what is left is a summary, references and the latest messages
      -> test_a_summary_references_and_the_latest_are_left
    * the last N messages stay -> test_the_latest_messages_stay
    * the user's message is stored before reasoning, reply and results after
      -> test_messages_are_stored_as_they_come
    * a tool call is two messages -> test_a_tool_call_is_two_messages
    * tokens are estimated as length / 4 of the text of each message
      -> test_tokens_are_a_quarter_of_the_text
    * truncation keeps the last N messages -> test_truncation_keeps_the_last
    * summarisation puts one summary before the recent messages
      -> test_summarisation_puts_one_summary_first
    * offloading keeps large content outside -> test_offloading_keeps_large_content_outside
    * record and retrieve of LongTermMemory -> test_what_is_recorded_is_retrieved
    * long-term memory crosses sessions -> test_long_term_memory_crosses_sessions
    * Mem0 keeps what is extracted of user and assistant messages, by user
      -> test_mem0_keeps_facts_of_a_user
    * ReMe can stand behind the same interface -> test_reme_keeps_summaries
    * a store of one's own can stand behind it -> test_a_store_keeps_messages_word_for_word
    * STATIC_CONTROL retrieves before reasoning and records after the reply
      -> test_static_control_works_by_itself
    * AGENT_CONTROL leaves both to tools -> test_agent_control_leaves_it_to_tools
    * BOTH is both -> test_both_modes_at_once
    * what is retrieved stands in <long_term_memory> in the prompt
      -> test_memories_stand_in_their_block
    * record_to_memory takes thinking and content -> test_recording_by_tool
    * retrieve_from_memory takes keywords -> test_retrieving_by_tool
    * a session's file holds components, by name, and a timestamp
      -> test_session_files_are_as_documented
    * a component is named by its class -> test_a_component_is_named_by_its_class
    * sessions are loaded if they exist -> test_a_session_is_loaded_again
    * defect: results of tools count no tokens; fixed counts them
      -> test_results_count_only_when_fixed
    * defect: session keys join with _; fixed tells them apart
      -> test_session_keys_collide_unless_fixed
    * defect: deleting leaves summaries, references and memories; fixed erases
      -> test_deleting_leaves_traces_unless_fixed
    * defect: what is remembered can close its block; fixed escapes it
      -> test_memories_can_close_their_block_unless_fixed
    * 1.0.12: nine thresholds -> test_thresholds_of_the_package
    * 1.0.12: the threshold itself triggers -> test_the_package_is_triggered_at_its_threshold
    * 1.0.12: UTF-16 units / 2.5 and what each block costs -> test_the_estimate_of_the_package
    * 1.0.12: of six families the first that works ends it -> test_one_family_works_at_a_time
    * 1.0.12: large results leave 200 characters and a reference
      -> test_large_results_leave_their_beginning
    * 1.0.12: the current round is summarised again every time
      -> test_the_current_round_is_summarised_every_time
    * 1.0.12: planning is kept from the model -> test_planning_is_not_shown
    * 1.0.12: where the agent's plan stands is told in <plan_aware_hint>
      -> test_the_model_is_told_where_the_plan_stands
    * 1.0.12: context_reload and its answers -> test_reloading_by_tool
    * 1.0.12: the agent is told of references -> test_the_agent_is_told_of_references
    * 1.0.12: the original list only grows, and interactions are read from it
      -> test_the_original_list_only_grows
    * 1.0.12: clearing leaves offloads and events -> test_clearing_leaves_offloads
    * 1.0.12: events name the neighbours and the cost -> test_events_tell_what_was_done
    * 1.0.12: memories stay in the history and are recorded again, unless fixed
      -> test_memories_are_recorded_again
    * 1.0.21: the latest three stay, a call and its results being one
      -> test_a_call_and_its_results_are_one
    * 1.0.21: too few recent messages compress everything
      -> test_too_few_recent_messages_compress_everything
    * 1.0.21: compressed messages are marked, the summary stands before the rest
      -> test_compressed_messages_are_marked

    What `memsim check` finds against the design, with the conversation that shows it:

    * breaks I15 within_budget, repaired by `fixed`: summaries and memories are shown whole,
      whatever the budget (seven turns, a summary cut off at its limit: 526 tokens of 131)
      -> test_what_it_breaks_holds_once_it_is_repaired
    * breaks I16 progress, repaired by `fixed`: what is merged or summarised may be longer than
      what it stands for (seven short turns: 115 tokens in the place of 109)
      -> test_what_it_breaks_holds_once_it_is_repaired
    * breaks I31 scale in 1.0.12 and 1.0.21, repaired by `fixed`: all of the history is recorded
      after every reply (80 and 160 turns, the latter at four times the work)
      -> test_what_it_breaks_holds_once_it_is_repaired
    * breaks I24 failure_keeps_state, repaired by `fixed`: any reply is taken, one that was cut
      off too (eight turns: it takes the place of the summary before, `condensed:1`)
      -> test_what_it_breaks_holds_once_it_is_repaired

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

    departs: ClassVar[Mapping[str, str]] = {
        "within_budget": "summaries and memories are shown whole, whatever the budget",
        "progress": "what is merged or summarised may be longer than what it stands for",
        "failure_keeps_state": "whatever the model says is taken",
    }
    departs_with: ClassVar[Mapping[str, Mapping[str, str]]] = {
        f"version={version},longterm={kind}": {
            "scale": "all of the history is recorded after every reply",
        }
        for version in ("1.0.12", "1.0.21")
        for kind in ("mem0", "reme", "store")
    }

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
        super().__init__(env)
        self._config = thresholds_of(version, env.budget).but(
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
        self._choice = Choice(
            memory=memory,
            version=version,
            window=window,
            config=self._config,
            keep_recent=keep_recent,
            summary=summary,
            fixed=fixed,
        )
        self._fixed = fixed
        self._packaged = version != "document"
        self._reloads = memory == "autocontext" and version != "1.0.21"
        self._instructs = self._reloads and version == "1.0.12"
        self._files = sessions
        self._component = "AutoContextMemory" if self._reloads else "InMemoryMemory"
        self._remembering = Remembering(
            longterm, mode, retrieve, packaged=self._packaged, fixed=fixed
        )
        self.long_term = self._remembering.memory
        self.agents = Agents(scope, self._made, fixed=fixed)
        self._at = ("", "")
        self._revision = 0

    def _made(self, names: dict[str, str]) -> ShortTerm:
        return short_term(self._choice, self.env.counter, names)

    # -- what is said, and what is shown

    def observe(self, message: Message) -> None:
        self._revision += 1
        self._at = (message.principal, message.session)
        self.agents.of(*self._at).hear(message)

    def context(self, query: Query) -> Context:
        agent = self.agents.seen_by(query.principal, query.session)
        found = self._remembering.retrieved(query.text, query.principal, self.env.clock.now())
        recalled = self.env.build.section("recalled", found)
        told = self._instruction()
        messages = agent.window(self._usable(agent))
        first = tuple(takewhile(lambda m: m.composed, messages))
        summary = self.env.build.section("summary", first)
        room = query.budget - recalled.tokens - told.tokens - summary.tokens
        if self._fixed:
            room = max(room, query.budget // 2)
        latest = len(messages) - len(first)
        window = messages.section(room if latest else 0, last=latest)
        recalled = credited_once(recalled, window)
        build = self.env.build
        # The package puts what it retrieved after the user's message, the document before it all.
        if self._packaged:
            context = build.context(told, summary, window, recalled)
        else:
            context = build.context(told, recalled, summary, window)
        return fitted(build, context, query.budget) if self._fixed else context

    def delivered(self, context: Context) -> None:
        agent = self.agents.of(*self._at)
        draft, refused = self._draft(agent), self._usable(agent) is None
        if draft is not None and refused:
            self.env.log(Event(kind="refused", sources=draft.sources, detail="it would be no less"))
        elif draft is not None:
            self._adopt(agent, draft)
        found = (m for s in context.sections if s.layer == "recalled" for m in s.messages)
        self._remembering.put_back(agent, self._at[0], found)
        self._revision += 1

    def end_turn(self) -> None:
        self._revision += 1
        for agent in self.agents:
            for new, ids in self._remembering.record(agent, self.env.model, self.env.clock.now()):
                stored = Event(kind="stored", sources=tuple(ids), detail=f"{new} memories")
                self.env.log(stored)
            agent.fresh.clear()
            if self._files:
                self._write(agent)

    def _draft(self, agent: Agent) -> Draft:
        def compute() -> Draft:
            return agent.memory.draft(self.env.model, self.env.clock.now)

        # What another model made is no draft of this one's.
        return self.memo.get((self._revision, self.env.model.name), agent.key, compute)

    def _usable(self, agent: Agent) -> Draft:
        """A draft that is not to be refused: repaired, it has to make less of the history."""
        draft = self._draft(agent)
        if not self._fixed or draft is None or not draft.sources:
            return draft
        return draft if draft.window.tokens < agent.memory.window.tokens else None

    def _adopt(self, agent: Agent, draft: Drafted | Marking) -> None:
        before = agent.memory.window.tokens
        agent.adopt(draft)
        if draft.sources:
            after = agent.memory.window.tokens
            self.env.log(
                Event(
                    kind="compaction",
                    sources=draft.sources,
                    before=before,
                    after=after,
                    detail=draft.detail,
                )
            )

    def _instruction(self) -> Section:
        told = (composed("system", HOOK, id="hook"),) if self._instructs else ()
        return self.env.build.section("system", told)

    def _write(self, agent: Agent) -> None:
        messages, now = agent.memory.get_messages(), self.env.clock.now()
        write(self.env.folder(), session_of(agent.key, messages, now, self._component))

    # -- tools

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        return (*self._remembering.specs, *((tools.RELOADING,) if self._reloads else ()))

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        if name not in {spec.name for spec in self.tools(principal)}:
            return super().call_tool(name, arguments, principal)
        agent = self.agents.seen_by(principal, self._at[1])
        if name == tools.RECORD:
            self._revision += 1
        blobs = agent.memory.blobs if isinstance(agent.memory, ShortTermMemory) else None
        said = tuple(m.id for m in agent.fresh)
        return tools.call(name, arguments, self.long_term, principal, said=said, blobs=blobs)

    # -- what is kept where

    def forget(self, request: Forget) -> ForgetOutcome:
        removed: dict[str, None] = {}
        before = self._sources()
        self._revision += 1
        for agent in self.agents.visible(request.principal):
            ids = meant(request.text, request.sources, agent.own(request.principal))
            gone = agent.erase(ids) if self._fixed else agent.delete(ids)
            removed.update(dict.fromkeys(gone))
        if self._fixed:
            removed.update(dict.fromkeys(self.long_term.remove(tuple(removed))))
        left = {*removed, *self._sources()}
        if lost := tuple(source for source in before if source not in left):
            detail = "what was made of them was made of what is erased"
            self.env.log(Event(kind="purged", sources=lost, detail=detail))
        return ForgetOutcome(supported=True, removed=tuple(removed))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for agent in self.agents.visible(viewer):
            for tier, message in agent.surfaces():
                yield Surface(tier=tier, sources=originals(message), text=message.text)
        for memory in self.long_term:
            if viewer is None or memory.user == viewer:
                yield Surface(
                    tier="store", sources=(*memory.quotes, *memory.sources), text=memory.text
                )

    def _sources(self) -> dict[str, None]:
        return dict.fromkeys(i for surface in self.surfaces() for i in surface.sources)

    def locate(self, source: str, query: Query) -> Location | None:
        agent, shown = self.agents.seen_by(query.principal, query.session), self.context(query)
        window = agent.window(self._usable(agent))
        if source in window and not window.get(source).composed:
            detail = "" if source in shown.verbatim else "over budget"
            return Location(tier="window", detail=detail)
        if any(source in m.derived_from for m in window):
            detail = "" if source in shown.derived else "over budget"
            return Location(tier="summary", detail=detail)
        rank = self.long_term.rank_of(source, query.text, query.principal)
        if rank is not None:
            return Location(tier="store", rank=rank)
        tiers = {tier for tier, m in agent.surfaces() if source in originals(m)}
        for tier in ("offload", "history"):
            if tier in tiers:
                return Location(tier=tier, detail="not shown")
        return None

    def save(self) -> State:
        return {
            "agents": self.agents.save(),
            **self._remembering.save(),
            "at": list(self._at),
        }

    def load(self, state: State) -> None:
        with reading("it is not AgentScope's memory"):
            saved: dict[str, Any] = dict(state)
        before = self.agents.save()
        with reading("it is not AgentScope's memory"):
            principal, session = saved["at"]
            at = ("" + principal, "" + session)
            self.agents.load(saved["agents"])
        with ExitStack() as undone:
            undone.callback(self.agents.load, before)
            self._remembering.load(saved)
            undone.pop_all()
        self._revision += 1
        self._at = at
