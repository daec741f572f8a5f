"""PRX's memory: entries by key and category, five tools, access control, hygiene."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import ClassVar, Literal

from memsim import (
    Context,
    Environment,
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Location,
    Message,
    Query,
    State,
    Strategy,
    Surface,
    ToolSpec,
)
from memsim.memory.compaction import Outcome
from memsim.memory.repairing import repaired
from memsim.memory.state import reading
from memsim.memory.systems.prx.chats import HISTORY, Chat, Chats
from memsim.memory.systems.prx.opening import Surroundings
from memsim.memory.systems.prx.results import ToolError
from memsim.memory.systems.prx.service import Service
from memsim.memory.systems.prx.settings import Backend, Version, settings_at
from memsim.memory.systems.prx.telling import recalled_section, told_rows

Switch = Literal["on", "off"]
Terms = Mapping[str, tuple[timedelta, timedelta | None]]

_NAMESPACE = uuid.UUID("0f4c9e43-8e1f-4f57-9a43-0d6c1f0c7f0b")


class Prx(Strategy):
    """PRX, as its page on memory tools has it; what 0.3.0 really does is `version=0.3.0`.

    What users say is stored as it is said, and what speaks to a message is put before it. All else
    is for the agent's five tools. The latest messages of each sender's chat stand there anyway.

    Its index scores every row that has any of the question's words, "the" among them, and files are
    gone through from end to end: what a turn costs grows with the rows that there are, as in PRX.

    `memsim memory` looks into its workspace as it stands, and into the saved memory that
    `memsim.memory.systems.prx.handing.hand_over` writes its rows into.

    Args:
        backend: `sqlite`, a file; `memory`, this process alone; `markdown`, files searched by the
            share of words; `embeddings`, found by meaning alone; `postgres`, a file's tables
            written through to a server whose address is in MEMSIM_POSTGRES_URL.
        acl: whether everybody is given only what they have access to; the section's, if not named.
        version: `document`, or `0.3.0` for the real tools, scores, files and access rules.
        fixed: repairs what leaks: who has no access is left out before anything is ranked; keys
            are apart by owner; what is forgotten leaves the chat and the files as well.
        config: a TOML file whose `[memory]` section is taken as it stands.
        audit: whether each use of a tool is noted; `security.audit.enabled`, if not named.
        role: in 0.3.0, whom everybody is bound as; `unbound` for strangers.
        history: messages of each sender's chat that are kept.
        compaction: whether older ones are summed up by the model, but for the last 20, as 0.3.0
            does; else they are dropped.
        auto_save: whether what users say is stored.
        max_recall_items: results at most.
        recall_relevance_threshold: least score of what is put before a message.
        min_relevance_score: least score of what a search finds.
        embedding_provider: `none` for words alone; with any other the environment's embedder is
            used. The section's, if not named.
        vector_weight: of meaning in a hybrid search.
        keyword_weight: of words.
        hygiene_enabled: whether what is old is put away and erased.
        archive_after_days: when daily entries are put away.
        purge_after_days: when what was put away is erased.
        conversation_retention_days: when conversation entries are erased.
        daily_retention_days: for how long daily entries are found.

    Raises:
        ValueError: a value is out of its range, or the file is no such file.

    Fidelity, by statement of the document:

    * five tools, in their order, all of them always there -> test_the_five_tools
    * built-in categories core, daily and conversation, and any other -> test_categories
    * each of the five backends takes all tools -> test_every_backend_takes_every_tool
    * each of the five brings up and forgets what was said -> test_every_backend_behaves_alike
    * backend = "postgres": a remote database -> test_rows_are_on_the_server
    * [memory] is taken as it stands -> test_the_documented_section_is_the_default
    * each of its settings can be changed there -> test_every_setting_is_taken
    * backend = "sqlite" -> test_the_default_backend_is_a_file
    * auto_save = true: conversation input is stored -> test_what_users_say_is_stored
    * acl_enabled = false -> test_without_access_control_everybody_finds_everything
    * max_recall_items = 20 -> test_at_most_twenty_are_found
    * recall_relevance_threshold = 0.3 -> test_recall_has_a_threshold_of_its_own
    * embedding_provider, embedding_model, embedding_dimensions = 1536
      -> test_the_documented_section_is_the_default
    * vector_weight = 0.7, keyword_weight = 0.3 -> test_meaning_counts_seven_parts_to_three
    * min_relevance_score = 0.4: what is below is left out -> test_a_search_drops_what_scores_low
    * hygiene_enabled = true -> test_hygiene_can_be_switched_off
    * archive_after_days = 7 -> test_daily_entries_are_put_away_after_seven_days
    * purge_after_days = 30 -> test_what_was_put_away_is_erased_after_thirty_days
    * conversation_retention_days = 3 -> test_conversation_entries_last_three_days
    * daily_retention_days = 7 -> test_daily_entries_are_put_away_after_seven_days
    * core is permanent until it is forgotten -> test_core_entries_stay
    * daily is of the session that it was stored in -> test_entries_know_their_session
    * custom categories follow daily -> test_custom_entries_follow_daily
    * types of parameters, and which of them are required -> test_documented_parameters
    * memory_store: key, value, category = "core" -> test_store_takes_key_value_and_category
    * a key is unique: storing again replaces -> test_a_key_is_unique
    * memory_forget: key, removes the entry -> test_forget_removes_by_key
    * memory_get: key, the value or an error -> test_get_gives_the_value_or_an_error
    * memory_recall: query, max_results = 20 -> test_recall_takes_a_query_and_a_limit
    * memory_recall finds by words or by meaning -> test_recall_by_words_or_by_meaning
    * memory_search: query, category, max_results = 20 -> test_search_filters_by_category
    * memory_search looks through all entries, of whatever category
      -> test_a_search_looks_through_every_category
    * hybrid search of vectors and BM25 when embeddings are configured
      -> test_meaning_counts_seven_parts_to_three
    * recall at start: what is relevant is put before the reply
      -> test_what_speaks_to_a_message_is_put_before_it
    * store, search on demand, forget on request -> test_the_documented_conversation
    * memory stats, list --category, search, export --format json -> test_the_command_line_verbs
    * that command line opens PRX's workspace -> test_a_workspace_is_opened_as_it_stands
    * under access control memory_store stores with the principal's ownership
      -> test_what_is_stored_is_the_principals
    * under access control memory_forget forgets one's own alone -> test_only_ones_own_is_forgotten
    * under access control memory_get gives what one has access to, or an error
      -> test_get_is_an_error_without_access
    * under access control memory_recall is no tool -> test_recall_is_removed_under_access_control
    * under access control memory_search is still there, with the other three
      -> test_the_other_four_stay_under_access_control
    * under access control memory_search gives what one has access to
      -> test_search_gives_what_one_has_access_to
    * file_read is blocked from memory files under access control
      -> test_file_read_is_blocked_under_access_control
    * the audit trail has tool, key, category and success -> test_uses_of_tools_are_noted
    * security.audit.enabled = true switches it on
      -> test_the_audit_is_switched_on_where_the_document_has_it

    Implied defects, repaired by `fixed`:

    * results are ranked before they are filtered -> test_ranking_before_filtering_loses_ones_own
    * a key is one for everybody, and can be taken over -> test_a_key_of_anothers_can_be_taken_over
    * what is forgotten stays in the chat -> test_what_is_forgotten_stays_in_the_chat
    * what is forgotten stays in a chat's summary -> test_a_summary_goes_with_what_it_was_made_of
    * what is forgotten stays in the file and its log -> test_what_is_forgotten_stays_in_the_file
    * vectors are kept by their texts alone: those of two embedders are compared where they are
      of one length -> test_vectors_of_two_embedders_are_mixed_unless_repaired

    What 0.3.0 does otherwise (`version=0.3.0`):

    * no embeddings unless a provider is named; recall of five -> test_real_defaults
    * an unknown backend is markdown -> test_real_defaults
    * tools take content, path, limit, maxResults, minScore -> test_real_parameters
    * only messages of thirty characters without machinery are saved -> test_real_auto_save
    * percentages are bare scores -> test_real_percentages
    * memory_forget and memory_store ask nobody -> test_real_gaps
    * memory_forget and memory_store ask, where that is repaired -> test_real_gaps_are_repaired
    * what is put before a message is anybody's, access control or not
      -> test_real_recall_asks_nobody
    * beyond 50 messages, all but the last 20 become a summary of at most 2,000 characters
      -> test_real_chats_are_summed_up
    * without compaction, or a summary, the oldest make room -> test_chats_are_trimmed_otherwise
    * vectors are kept by the digests of texts, of queries too -> test_vectors_are_kept
    * 10,000 vectors are kept -> test_vectors_used_longest_ago_make_room
    * core entries are written to a snapshot with hygiene, where that is switched on
      -> test_real_snapshots
    * rows by visibility, ceiling and chat -> test_real_access
    * what is blocked or risky is hidden -> test_real_risks
    * every store but under access control is copied to files, which forget nothing
      -> test_real_files
    * what is recalled stays young, and is kept from three uses on -> test_real_usefulness
    * custom rows are never pruned -> test_real_hygiene
    * the file backend forgets nothing -> test_real_markdown
    * files keep what hygiene erased -> test_files_outlive_rows_that_grew_old
    * a lost database is made again when the memory opens
      -> test_a_lost_database_is_made_again_where_a_memory_opens
    * a lost database comes back, and cannot be opened unless `fixed`
      -> test_a_lost_database_comes_back_only_repaired

    What `memsim check` finds against the design, with the conversation that shows it:

    * breaks I6 authority_non_elevation, repaired by `fixed`: what is recalled is a system
      message (made of what two users said of a door)
      -> test_what_it_breaks_holds_once_it_is_repaired
    * breaks I45 non_interference, repaired by `fixed`: hygiene is done on everybody's entries
      when anybody speaks (what Ana said is gone once Ben speaks, a month later)
      -> test_what_it_breaks_holds_once_it_is_repaired
    * breaks I50 grant_and_revoke, repaired by `fixed`: what hygiene erased is still sent from
      the chat, and cannot be shared (`m2`, which Ben said a month ago); 0.3.0 has nothing that
      an owner could share, repaired or not -> test_what_it_breaks_holds_once_it_is_repaired
    * breaks I47 fail_closed in 0.3.0, repaired by `fixed`: what is put before a message is
      anybody's (a stranger is given what Ana said of parcels)
      -> test_what_it_breaks_holds_once_it_is_repaired
    * breaks I48 principal_source in 0.3.0, repaired by `fixed`: the same (Ana, who says to be
      Ben, is given what he said of parcels) -> test_what_it_breaks_holds_once_it_is_repaired
    * breaks I49 foreign_handle in 0.3.0, repaired by `fixed`: the same (where a message of
      Ben's stands is told to Ana) -> test_what_it_breaks_holds_once_it_is_repaired
    """

    departs: ClassVar[Mapping[str, str]] = {
        "authority_non_elevation": "what is recalled is a system message",
        "non_interference": "hygiene is done on everybody's entries when anybody speaks",
        "grant_and_revoke": "what hygiene erased is still sent, and cannot be shared",
    }
    departs_with: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "version=0.3.0,acl=on": {
            "fail_closed": "0.3.0 puts anybody's rows before a message, whoever speaks",
            "principal_source": "0.3.0 puts anybody's rows before a message, whoever speaks",
            "foreign_handle": "0.3.0 puts anybody's rows before a message, whoever speaks",
        },
        "version=0.3.0,acl=on,fixed=true": {
            "grant_and_revoke": "0.3.0 has nothing that an owner could share",
        },
    }

    def __init__(
        self,
        env: Environment,
        *,
        backend: Backend | None = None,
        acl: Switch | None = None,
        version: Version = "document",
        fixed: bool = False,
        config: str | None = None,
        audit: Switch | None = None,
        role: Literal["owner", "member", "guest", "unbound"] = "member",
        history: int = HISTORY,
        compaction: Switch | None = None,
        auto_save: Switch | None = None,
        max_recall_items: int | None = None,
        recall_relevance_threshold: float | None = None,
        min_relevance_score: float | None = None,
        embedding_provider: str = "",
        vector_weight: float | None = None,
        keyword_weight: float | None = None,
        hygiene_enabled: Switch | None = None,
        archive_after_days: int | None = None,
        purge_after_days: int | None = None,
        conversation_retention_days: int | None = None,
        daily_retention_days: int | None = None,
    ) -> None:
        super().__init__(env)
        if history < 1:
            raise ValueError(f"history is {history}: at least 1")
        self.settings = settings_at(config, version).but(
            backend=backend,
            acl_enabled=_on("acl", acl),
            audit_enabled=_on("audit", audit),
            auto_save=_on("auto_save", auto_save),
            max_recall_items=max_recall_items,
            recall_relevance_threshold=recall_relevance_threshold,
            min_relevance_score=min_relevance_score,
            embedding_provider=embedding_provider or None,
            vector_weight=vector_weight,
            keyword_weight=keyword_weight,
            hygiene_enabled=_on("hygiene_enabled", hygiene_enabled),
            archive_after_days=archive_after_days,
            purge_after_days=purge_after_days,
            conversation_retention_days=conversation_retention_days,
            daily_retention_days=daily_retention_days,
        )
        self._fixed = fixed
        summed = _on("compaction", compaction)
        compacts = version != "document" if summed is None else summed
        self._chats = Chats(lambda: Chat(env.counter, limit=history, compacts=compacts))
        self._pending: list[Message] = []
        self._asked: tuple[Context | None, str] = (None, "")
        self._closing = ExitStack()
        self.service = Service(
            self.settings,
            Surroundings(
                embed=env.embed, folder=env.folder, services=env.services, closing=self._closing
            ),
            version=version,
            fixed=fixed,
            now=env.clock.now,
            salt=env.random.randbytes(16) if self.settings.audit_enabled else None,
            role=role,
        )

    def observe(self, message: Message) -> None:
        if left := self._chats.add(message):
            self._log("dropped", tuple(m.id for m in left))
        self._pending.append(message)
        self.service.joined(message.principal, message.session)
        if message.role == "user" and self.settings.auto_save:
            key = f"user_msg_{uuid.uuid5(_NAMESPACE, message.id)}"
            saved = self.service.save_said(
                key, message.text, message.principal, message.session, (message.id,)
            )
            if saved:
                self._log("stored", (message.id,))

    def context(self, query: Query) -> Context:
        found = self.service.recalled(query.text, query.principal, query.session)
        chat = self._chats.of(query.principal)
        recalled = recalled_section(
            found,
            query.budget // 2,
            counter=self.env.counter,
            build=self.env.build,
            there=chat,
            now=self.env.clock.now(),
        )
        context = self.env.build.context(recalled, chat.section(query.budget - recalled.tokens))
        ranking = (source for one in found for source in one.row.sources)
        context = Context(sections=context.sections, ranking=tuple(dict.fromkeys(ranking)))
        if self._fixed:
            context = repaired(self.env.build, context, query.budget)
        self._asked = (context, query.text)
        return context

    def delivered(self, context: Context) -> None:
        of, text = self._asked
        numbers = self.service.brain.numbers(told_rows(context))
        self.service.sent(text if of is context else "", numbers)

    def end_turn(self) -> None:
        said, now = list(dict.fromkeys(m.principal for m in self._pending)), self.env.clock.now()
        self._pending.clear()
        for done in self._chats.compact(self.env.model, now):
            self.env.log(_told_of(done))
        for owner in said if self.service.tidies_apart else ("",):
            self._tidy(now, owner)

    def elapse(self, now: datetime) -> None:
        self._tidy(now)

    def _tidy(self, now: datetime, owner: str = "") -> None:
        for kind, sources in self.service.tidy(now, owner):
            self._log(kind, sources)
            # PRX erases the entry, and goes on sending what it was made of.
            gone = self._chats.remove(sources) if self._fixed and kind == "purged" else ()
            if gone:
                self._log(kind, gone)

    def retention(self, wanted: Terms | None = None) -> Terms:
        return self.settings.terms()

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        return self.service.specs()

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        try:
            told = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return "Error: the arguments are not JSON"
        if not isinstance(told, dict):
            return "Error: the arguments are not an object"
        told = {name: value for name, value in told.items() if not name.startswith("_zc_")}
        mine = [m for m in self._pending if m.principal == principal]
        session = mine[-1].session if mine else ""
        try:
            return self.service.call(name, told, principal, session, tuple(m.id for m in mine)).text
        except ToolError as error:
            return f"Error: {error}"

    def grant(self, grant: Grant) -> None:
        self.service.share(grant.owner, grant.viewer, grant.sources, revoked=grant.revoked)
        if grant.everything:
            self.service.share(grant.owner, grant.viewer, ("*",), revoked=grant.revoked)

    def forget(self, request: Forget) -> ForgetOutcome:
        removed = self.service.erase(request.principal, request.text, request.sources)
        if self._fixed:
            gone = self._chats.of(request.principal).remove(request.sources or removed)
            removed = tuple(dict.fromkeys((*removed, *gone)))
        left = {source for surface in self.surfaces() for source in surface.sources}
        return ForgetOutcome(supported=True, removed=tuple(s for s in removed if s not in left))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for row in self.service.visible(viewer):
            tier = "archive" if row.archived else "store"
            yield Surface(tier=tier, sources=row.sources, text=row.content)
        for sources, text in self.service.in_files(viewer):
            yield Surface(tier="log", sources=sources, text=text)
        for message in self._chats.seen_by(viewer):
            if message.composed:
                yield Surface(tier="summary", sources=message.derived_from, text=message.text)
            else:
                yield Surface(tier="window", sources=(message.id,), text=message.text)

    def locate(self, source: str, query: Query) -> Location | None:
        ranking = self.context(query).ranking
        rank = ranking.index(source) + 1 if source in ranking else None
        chat = self._chats.of(query.principal)
        if source in chat:
            return Location(tier="window", rank=rank)
        if rank is not None:
            return Location(tier="store", rank=rank)
        if any(m.composed and source in m.derived_from for m in chat):
            return Location(tier="summary")
        # Under access control, where another's message is, is nobody's business.
        viewer = query.principal if self.settings.acl_enabled else None
        found = (s.tier for s in self.surfaces(viewer) if source in s.sources)
        return next((Location(tier=tier) for tier in found), None)

    def save(self) -> State:
        return {"service": self.service.save(), "chats": self._chats.save()}

    def load(self, state: State) -> None:
        with reading("it is not a memory of PRX"):
            service, chats = state["service"], state["chats"]
            if len(state) != 2:
                raise ValueError(*state)
        read = self._chats.reading(chats)
        self.service.load(service)
        self._chats = read
        self._pending.clear()

    def close(self) -> None:
        self._closing.close()

    def _log(self, kind: str, sources: tuple[str, ...]) -> None:
        self.env.log(Event(kind=kind, sources=sources))


def _told_of(done: Outcome) -> Event:
    return Event(
        kind="compaction" if done.kind == "compaction" else "compaction-refused",
        sources=done.sources,
        before=done.before,
        after=done.after,
        detail=done.detail,
    )


def _on(name: str, word: str | None) -> bool | None:
    if word not in {"on", "off", None}:
        raise ValueError(f"{name} is {word!r}: it is 'on' or 'off'")
    return None if word is None else word == "on"
