"""AgenticX's memory: facts by cue words, a workspace that is recalled, and compacted turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
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
)
from memsim.memory.compaction.summary import originals
from memsim.memory.crediting import credited_once
from memsim.memory.erasure import meant
from memsim.memory.repairing import repaired
from memsim.memory.scope import Scoped
from memsim.memory.state import reading
from memsim.memory.systems.agenticx import prompting
from memsim.memory.systems.agenticx.agenttools import call, specs
from memsim.memory.systems.agenticx.compactor import Compacted, asking
from memsim.memory.systems.agenticx.content import sanitised
from memsim.memory.systems.agenticx.facts import Cues, cues_of
from memsim.memory.systems.agenticx.longterm import LongTerm
from memsim.memory.systems.agenticx.profile import Profile
from memsim.memory.systems.agenticx.studio import Studio


class Agenticx(Strategy):
    """AgenticX: Markdown notes found by cue words and recalled by a hybrid, long threads compacted.

    Its document is the default. Everybody shares one workspace, it cannot erase what it was told,
    and its cue words are Chinese. As in the original, a question is compared with every chunk of
    the workspace, so that a turn costs more as that grows.

    Args:
        version: `0.3`, which the document describes, or `0.6`.
        behaviour: `document`, or `source` for what the package does where that differs: facts of
            four kinds, users among the last five messages, raw full text queries, hits without any
            word of the query, no index but the one that a tool brings about, and the whole history
            compacted again in every round. 0.6 is always as its source.
        fixed: without the defects: facts are written once, newest first, any word of a query and
            any Chinese word counts, calls keep their results, and what is to be forgotten is.
        threshold_messages: compact above so many messages; at least 8.
        threshold_chars: compact above so many characters; at least 4000.
        retain_recent_messages: so many of the latest stay verbatim; at least 4.
        model_window: tokens that the model reads, which 0.6 derives its threshold from.
        cues: languages whose cue words are looked for, such as `zh` or `zh+en`.
        remember: more words that tell what a user wants remembered, parted by `/`.
        request: more words that tell what a user wants done.
        outcome: more words that tell what the assistant has done.
        index: when the workspace is indexed: after each `turn`, or `never` of itself.
        longterm: `mem0` keeps facts that a model extracts beside the files.
        tools: whether the agent has its tools.
        identity: IDENTITY.md, in every prompt.
        user: USER.md, in every prompt.
        soul: SOUL.md, in every prompt.
        scope: `shared`: one workspace for everybody; `principal`: one for each.

    Raises:
        ValueError: a number is out of its range, or a word means nothing here.

    Fidelity, to the document and to the package:

        * core memory is IDENTITY.md, SOUL.md and the prompt's identity ->
          test_core_memory_stands_in_every_prompt
        * episodic memory is the chat history, tool traces in it -> test_the_chat_history_stays
        * semantic memory is MEMORY.md, Mem0 and indexed chunks -> test_semantic_memory
        * working memory is the scratchpad and the recent messages -> test_working_memory
        * long-term memory outlives the process -> test_long_term_memory_survives_a_restart
        * workspace memory is USER.md and daily files -> test_the_workspace_has_its_files
        * ~/.agenticx/workspace holds them as files -> test_the_workspace_is_a_folder
        * memory.backend and memory.path, and the index's default path ->
          test_the_memory_settings_are_taken_as_they_stand
        * the index takes the four roots and memory/*.md -> test_the_index_takes_roots_and_days
        * the hook runs after each turn -> test_the_hook_runs_when_a_turn_is_over
        * its priority is -10: hooks of a higher one run before it ->
          test_the_hook_runs_after_those_of_higher_priority
        * its workspace: session.workspace_dir, AGX_WORKSPACE_ROOT, the user's home ->
          test_the_hook_has_a_workspace
        * MIN_CHAT_TURNS = 3: at least six records -> test_six_records_are_needed
        * the last 20 messages are scanned -> test_twenty_messages_are_scanned
        * facts are found by cue words, without a model -> test_facts_need_no_model
        * bullets are 用户请求 and 完成事项 -> test_the_document_has_two_kinds_of_facts
        * MAX_FACTS_PER_SESSION = 8 -> test_eight_facts_at_most
        * a dated block goes to memory/<today>.md -> test_a_dated_block_is_appended
        * no append beyond 8000 characters -> test_a_full_day_takes_nothing
        * MEMORY.md under 4000 characters gets up to four facts -> test_memory_md_gets_four
        * where there is no MEMORY.md, none is made -> test_memory_md_must_be_there
        * session_facts are concatenated with newlines -> test_session_facts_are_concatenated
        * a day above 2000 characters loses repeated bullets ->
          test_a_long_day_loses_repeated_bullets
        * bullets are the same by 80 characters, case-folded, the first stays ->
          test_bullets_are_the_same_by_eighty_characters
        * headings stay where a day loses bullets -> test_headings_of_a_day_stay
        * other languages yield few facts until extended -> test_other_languages_yield_nothing
        * recall takes the last five user messages -> test_recall_takes_five_user_messages
        * 200 characters of each, 500 of the query -> test_the_query_is_cut
        * recall searches with limit 5 in mode hybrid -> test_recall_shows_five_pieces_at_most
        * recall has its heading -> test_recall_has_its_heading
        * snippets are capped around 500 characters -> test_snippets_are_capped
        * no user messages or no hits: no section -> test_without_hits_there_is_no_section
        * indexing is run or scheduled -> test_nothing_is_found_before_it_is_indexed
        * Mem0 is optional, a separate data plane -> test_mem0_is_beside_the_files
        * scratchpad_write and scratchpad_read -> test_the_scratchpad_has_its_tools
        * the scratchpad persists -> test_long_term_memory_survives_a_restart
        * reserved keys subagent_result::<id> and delegation_result::<id> ->
          test_sub_agents_report_under_reserved_keys
        * __pending_subagent_summaries__ is a queue -> test_pending_reports_are_a_queue
        * __taskspace_hint__ and __taskspace_label_hint__ -> test_taskspace_hints_are_kept
        * historical results are read from subagent_result::* -> test_historical_results_are_read
        * compaction runs before each turn, on sanitised messages ->
          test_compaction_works_on_sanitised_messages
        * threshold_messages 20: above it -> test_twenty_one_messages_are_compacted
        * threshold_chars 48000: above it -> test_characters_set_it_off
        * retain_recent_messages 8 stay verbatim -> test_eight_messages_stay
        * one call of the model, temperature 0, 400 tokens, Chinese instruction ->
          test_the_model_is_asked_once
        * one system message with [compacted] replaces the prefix -> test_the_prefix_is_replaced
        * on failure short snippets -> test_snippets_stand_in_for_a_summary
        * floors 8, 4000 and 4 -> test_floors_hold
        * defaults are fixed, a constructor can set them -> test_thresholds_are_parameters
        * source: four kinds of facts -> test_the_source_has_four_kinds
        * source: users among the last five messages -> test_the_source_looks_at_five_messages
        * source: a question mark disables recall -> test_punctuation_disables_the_sources_recall
        * source: pieces that share no word are recalled -> test_the_source_has_no_floor
        * source: the history stays, and is compacted each time ->
          test_the_source_compacts_again_each_time
        * source: nothing is indexed of itself -> test_the_source_never_indexes
        * defect: facts are written again each turn -> test_facts_are_written_again_each_turn
        * defect: what a changed file said stays posted -> test_stale_postings_stay
        * defect: a Chinese sentence is one word -> test_a_chinese_sentence_is_one_word
        * defect: a tail may begin with a result -> test_a_call_may_lose_its_results
        * defect: nothing can be erased -> test_nothing_can_be_erased
        * defect: one user's notes are recalled for all -> test_the_workspace_is_everybodys
        * 0.6: tokens decide -> test_tokens_decide_in_06
        * 0.6: a demand is repeated word for word -> test_demands_are_repeated_in_06
        * 0.6: long results of tools are cut as they come -> test_long_results_are_cut_in_06
        * 0.6: parts of Chinese sentences are found -> test_06_finds_parts_of_chinese_sentences

    What `memsim check` finds against the design, with the conversation that shows it:

        * breaks I1 pair_closure, repaired by `fixed`: the messages that stay may begin with a
          result (four turns of three calls: result `m16` without `m14`) ->
          test_what_it_breaks_holds_once_it_is_repaired
        * breaks I6 authority_non_elevation, repaired by `fixed`: what is compacted or recalled
          is a system message, as documented (`compacted:m13`, made of what users said) ->
          test_what_it_breaks_holds_once_it_is_repaired
        * breaks I9 provider_validity, repaired by `fixed`: the same result answers what nobody
          called (`m16`) -> test_what_it_breaks_holds_once_it_is_repaired
        * breaks I15 within_budget, repaired by `fixed`: it compacts above so many messages and
          characters, and knows no budget (three results of 1,560 characters: 1,221 tokens at a
          budget of 240) -> test_what_it_breaks_holds_once_it_is_repaired
        * breaks I16 progress, repaired by `fixed`: any reply is taken (3,280 tokens in the place
          of 173, where a model goes on and on) ->
          test_what_it_breaks_holds_once_it_is_repaired
        * breaks I20 usage_reset, repaired by `fixed`: the source compacts its whole history in
          every round of a turn (five turns of three calls: `m1` twice in one turn) ->
          test_what_it_breaks_holds_once_it_is_repaired
    """

    departs: ClassVar[Mapping[str, str]] = {
        "pair_closure": "the messages that stay may begin with a result",
        "provider_validity": "the messages that stay may begin with a result",
        "progress": "whatever the model says is taken",
        "authority_non_elevation": "what is compacted or recalled is a system message",
        "within_budget": "it compacts above so many messages and characters, and knows no budget",
    }
    departs_with: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "version=0.3,behaviour=source": {
            "usage_reset": "the source compacts the whole history again in every round",
        },
    }

    def __init__(
        self,
        env: Environment,
        *,
        version: Literal["0.3", "0.6"] = "0.3",
        behaviour: Literal["document", "source"] = "document",
        fixed: bool = False,
        threshold_messages: int | None = None,
        threshold_chars: int | None = None,
        retain_recent_messages: int | None = None,
        model_window: int | None = None,
        cues: str = "zh",
        remember: str = "",
        request: str = "",
        outcome: str = "",
        index: Literal["turn", "never"] | None = None,
        longterm: Literal["none", "mem0"] = "none",
        tools: bool = False,
        identity: str = "",
        user: str = "",
        soul: str = "",
        scope: Literal["shared", "principal"] = "shared",
    ) -> None:
        super().__init__(env)
        _check("version", version, "0.3", "0.6")
        _check("behaviour", behaviour, "document", "source")
        _check("index", index, None, "turn", "never")
        _check("longterm", longterm, "none", "mem0")
        sizes = {
            "threshold_messages": threshold_messages,
            "threshold_chars": threshold_chars,
            "retain_recent_messages": retain_recent_messages,
            "model_window": model_window,
        }
        for name, size in sizes.items():
            if size is not None and size < 1:
                raise ValueError(f"{name} is {size}: at least 1")
        words = cues_of(cues).plus(
            Cues(memory=_words(remember), request=_words(request), outcome=_words(outcome))
        )
        source = behaviour == "source" or version == "0.6"
        self._profile = Profile(version=version, source=source, fixed=fixed)
        self._indexing = self._profile.indexing if index is None else index
        self._sizes = sizes
        self._roots = {"IDENTITY.md": identity, "SOUL.md": soul, "USER.md": user}
        given = {name: f"{text}\n" for name, text in self._roots.items() if text}
        self._studios = Scoped(scope, lambda: Studio(self._profile, words, given))
        self._facts = Scoped(scope, lambda: LongTerm(env.model, env.embed))
        self._mem0 = longterm == "mem0"
        self._tools = tools
        self._revision = 0
        self._latest = ("", "")
        self._turn: list[Message] = []

    def observe(self, message: Message) -> None:
        self._revision += 1
        self._latest = (message.principal, message.session)
        self._turn.append(message)
        self._studios.of(message.principal).session(message.session).add(message)

    def context(self, query: Query) -> Context:
        studio = self._studios.seen_by(query.principal)
        compacted = self._compacted(query.principal, query.session)
        first = compacted.messages[:1]
        summary = first if first and first[0].composed and first[0].role == "system" else ()
        window = compacted.messages[len(summary) :]
        recalled, ranking = self._recalled(studio, query)
        build = self.env.build
        latest = build.section("window", window)
        recalled = credited_once(recalled, latest)
        working = build.section("working", prompting.scratchpad(studio, query.session))
        context = build.context(
            build.section("core", prompting.core(self._roots)),
            recalled,
            credited_once(credited_once(working, latest), recalled),
            build.section("summary", summary),
            latest,
            ranking=ranking,
        )
        return repaired(build, context, query.budget) if self._profile.fixed else context

    def delivered(self, context: Context) -> None:
        principal, session = self._latest
        if not session:
            return
        done = self._compacted(principal, session)
        live = self._studios.of(principal).session(session)
        live.gauge = done.gauge
        if not done.did:
            return
        before, after = (self.env.build.tokens(m) for m in (live.agent, done.messages))
        event = Event(kind="compaction", sources=done.sources, before=before, after=after)
        self.env.log(event)
        if self._profile.replaces:
            self._revision += 1
            live.agent = done.messages

    def end_turn(self) -> None:
        self._revision += 1
        turn, self._turn = self._turn, []
        principal, session = self._latest
        if not session:
            return
        now = self.env.clock.now()
        studio = self._studios.of(principal)
        found = studio.end_turn(session, now)
        if found:
            self.env.log(Event(kind="stored", sources=found, detail="facts"))
        if self._indexing == "turn":
            studio.reindex(now)
        if self._mem0:
            self._facts.of(principal).add(turn, now)

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        return specs() if self._tools else ()

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        if name not in {spec.name for spec in self.tools(principal)}:
            return super().call_tool(name, arguments, principal)
        if not next(spec.reads for spec in specs() if spec.name == name):
            self._revision += 1
        studio = self._studios.of(principal)
        return call(name, arguments, studio, self._latest[1], self.env.clock.now())

    def forget(self, request: Forget) -> ForgetOutcome:
        if not self._profile.fixed:
            return ForgetOutcome()
        studio = self._studios.of(request.principal)
        own = studio.own(request.principal)
        gone = meant(request.text, request.sources, own)
        self._revision += 1
        studio.forget(frozenset(gone), self.env.clock.now())
        self._facts.of(request.principal).forget(frozenset(gone))
        return ForgetOutcome(supported=True, removed=gone)

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for studio in self._studios.visible(viewer):
            for tier, sources, text in studio.everything():
                yield Surface(tier=tier, sources=sources, text=text)
        for facts in self._facts.visible(viewer):
            for line, sources in facts.statements():
                yield Surface(tier="mem0", sources=sources, text=line)

    def locate(self, source: str, query: Query) -> Location | None:
        studio = self._studios.seen_by(query.principal)
        compacted = self._compacted(query.principal, query.session)
        for message in compacted.messages:
            if source in originals(message):
                place = "summary" if message.composed and message.role == "system" else "window"
                return Location(tier=place)
        if studio.written(source):
            return Location(tier="store", detail="in the workspace, not among what was recalled")
        if any(m.id == source for session in studio.sessions.values() for m in session.chat):
            return Location(tier="log", detail="in the chat history, which no prompt shows")
        return None

    def save(self) -> State:
        return {
            "studios": self._studios.save(),
            "facts": self._facts.save(),
            "latest": list(self._latest),
        }

    def load(self, state: State) -> None:
        with reading("it is not AgenticX's memory"):
            saved: dict[str, Any] = dict(state)
        before = self._studios.save()
        with reading("it is not AgenticX's memory"):
            principal, session = saved["latest"]
            latest = ("" + principal, "" + session)
            self._studios.load(saved["studios"])
        with ExitStack() as undone:
            undone.callback(self._studios.load, before)
            self._facts.load(saved.get("facts"))
            undone.pop_all()
        self._revision += 1
        self._latest = latest
        self._turn = []

    def close(self) -> None:
        for studio in self._studios:
            studio.index.close()
        for facts in self._facts:
            facts.close()

    def _compacted(self, principal: str, name: str) -> Compacted:
        session = self._studios.seen_by(principal).seen(name)
        compactor = self._profile.compactor(
            asking(self.env.model),
            session.naming,
            messages=self._sizes["threshold_messages"],
            chars=self._sizes["threshold_chars"],
            keep=self._sizes["retain_recent_messages"],
            window=self._sizes["model_window"],
        )

        def compute() -> Compacted:
            history = sanitised(session.agent, drop_empty=self._profile.new)
            done = compactor.maybe_compact(history, self.env.clock.now(), session.gauge)
            if self._profile.fixed and done.did and not self._is_less(done.messages, history):
                return Compacted(messages=history, gauge=done.gauge)
            return done

        # What another model made of it is no compaction of this one's.
        return self.memo.get((self._revision, self.env.model.name), (principal, name), compute)

    def _is_less(self, messages: Sequence[Message], than: Sequence[Message]) -> bool:
        return self.env.build.tokens(messages) < self.env.build.tokens(than)

    def _recalled(self, studio: Studio, query: Query) -> tuple[Section, tuple[str, ...]]:
        asked = (query.session, query.text, query.principal, query.turn)
        found, ranking = prompting.recalled(studio, *asked)
        known = self._facts.seen_by(query.principal).search(query.text) if self._mem0 else []
        messages = (*found, *prompting.stated(known, query.turn))
        return self.env.build.section("recalled", messages), ranking


def _check(name: str, value: object, *allowed: object) -> None:
    if value not in allowed:
        words = " or ".join(repr(a) for a in allowed if a is not None)
        raise ValueError(f"{name} is {value!r}: it is {words}")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split("/") if word)
