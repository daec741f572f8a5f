"""What a memory does, part by part: every part can be switched off, and has its sizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from memsim.memory.retrieval.policy import RecallPolicy

if TYPE_CHECKING:
    from memsim.memory.hygiene import Policy

ToolMode = Literal["framework", "agent", "both"]
"""Who puts things into long-term memory and gets them out: the framework around each reply, the
agent by its tools, or both (AgentScope)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions:
    """The parts of a memory and their sizes; shares are of the budget of a context.

    Attributes:
        window: latest messages of the conversation that are shown, as far as they fit.
        window_share: share of the budget that these may take; the very last is always shown, by its
            beginning and end where it alone is longer.
        summary: whether what leaves the window is summarised.
        summary_share: share of the budget that the summary may take.
        offload: whether large content of the latest messages goes to a blob once it was answered,
            from where `Memory.reload` gets it by the reference in its place.
        shorten: whether the results of tools are shown by beginning and end then.
        deduplicate: whether of what one speaker says twice on a day, word for word, the latest
            messages show the first alone.
        facts: whether facts are extracted, and later ones supersede earlier ones. They are not
            searched: they steer which messages are recalled.
        episodes: whether a conversation that is over, since it was left for another or idle for a
            day, is concluded in an episode of its own.
        entities: whether what a conversation is about is noted in working memory, and named in its
            contexts.
        recall: whether earlier messages and entries are found for each question.
        recall_share: share of the budget that what is recalled may take.
        once: whether what was brought up once is not brought up again in the same
            conversation, for a host that leaves it in its own history; `Memory.dropped` is told
            when it no longer stands there.
        policy: what recall goes by.
        vectors: whether entries are found by meaning as well as by words.
        acl: whether permissions are enforced; otherwise everybody sees everything.
        mode: who stores and recalls: `framework`, the agent by its tools, or both. What is said is
            on record in any case, for the agent to search.
        episode_tokens: tokens that the summary of an episode may have.
        hygiene: when entries are put away and erased; None for never.

    Raises:
        ValueError: a number is out of its range.
    """

    window: int = 4
    window_share: float = 0.15
    summary: bool = False
    summary_share: float = 0.1
    offload: bool = True
    shorten: bool = True
    deduplicate: bool = False
    facts: bool = True
    episodes: bool = True
    entities: bool = False
    recall: bool = True
    recall_share: float = 0.5
    once: bool = False
    policy: RecallPolicy = field(default_factory=RecallPolicy)
    vectors: bool = True
    acl: bool = True
    mode: ToolMode = "framework"
    episode_tokens: int = 160
    hygiene: Policy | None = None

    def __post_init__(self) -> None:
        for name in ("window", "episode_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: at least 1")
        for name in ("window_share", "summary_share", "recall_share"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}: more than 0, at most 1")
        if self.mode not in {"framework", "agent", "both"}:
            raise ValueError(f"mode is {self.mode!r}: it is 'framework', 'agent' or 'both'")

    @property
    def history_share(self) -> float:
        """Share of the budget that the latest messages may take, with the summary, if any."""
        return min(1.0, self.window_share + (self.summary_share if self.summary else 0.0))

    @property
    def extracts(self) -> bool:
        """Whether facts are extracted without anybody's asking."""
        return self.facts and self.mode != "agent"

    @property
    def concludes(self) -> bool:
        """Whether conversations are concluded without anybody's asking."""
        return self.episodes and self.mode != "agent"

    @property
    def names(self) -> bool:
        """Whether it is noted without anybody's asking what a conversation is about."""
        return self.entities and self.mode != "agent"
