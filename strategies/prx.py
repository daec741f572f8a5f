"""PRX's memory: entries by key and category, five tools, access control, hygiene."""

from __future__ import annotations

from typing import ClassVar, Literal

from memsim import Environment, Strategy
from memsim.systems.prx.chats import HISTORY
from memsim.systems.prx.settings import Backend, PrxVersion, is_on, settings_at
from memsim.systems.prx.system import PrxSystem

Switch = Literal["on", "off"]


class Prx(PrxSystem, Strategy):
    """PRX, as its page on memory tools has it; what 0.3.0 really does is `version=0.3.0`.

    What users say is stored as it is said, and what speaks to a message is put before it. All else
    is for the agent's five tools. The latest messages of each sender's chat stand there anyway.
    What a turn costs grows with the rows that there are, as in PRX.

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
    """

    reproduces: ClassVar[str] = "prx"

    def __init__(
        self,
        env: Environment,
        *,
        backend: Backend | None = None,
        acl: Switch | None = None,
        version: PrxVersion = "document",
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
        settings = settings_at(config, version).but(
            backend=backend,
            acl_enabled=is_on("acl", acl),
            audit_enabled=is_on("audit", audit),
            auto_save=is_on("auto_save", auto_save),
            max_recall_items=max_recall_items,
            recall_relevance_threshold=recall_relevance_threshold,
            min_relevance_score=min_relevance_score,
            embedding_provider=embedding_provider or None,
            vector_weight=vector_weight,
            keyword_weight=keyword_weight,
            hygiene_enabled=is_on("hygiene_enabled", hygiene_enabled),
            archive_after_days=archive_after_days,
            purge_after_days=purge_after_days,
            conversation_retention_days=conversation_retention_days,
            daily_retention_days=daily_retention_days,
        )
        super().__init__(
            env,
            settings,
            version=version,
            fixed=fixed,
            role=role,
            history=history,
            compaction=is_on("compaction", compaction),
        )
