"""What a memory does, part by part: every part can be switched off, and has its sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from memsim.memory.retention import RetentionPolicy

# What recall goes by: every choice between finding a message and quoting it, with its bounds.


Fusion = Literal["soft", "zscore", "weights", "rrf"]
Superseded = Literal["drop", "keep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallPolicy:
    """How rankings become what is quoted.

    The defaults were chosen on recorded conversations of two kinds: short messages between two
    people, and long ones between a user and an assistant. Each was chosen where a change by a third
    hardly matters. docs/recall.md says on which data.

    Attributes:
        fusion: how a ranking by words and one by meaning become one. `soft` adds standard scores
            that are bent so that what is below the mean counts little instead of against;
            `zscore` adds standard scores; `weights` adds scores scaled to 0..1; `rrf` adds
            reciprocal ranks.
        vector: what the meaning counts, 0 to 1; the words count the rest.
        depth: best of each ranking that are looked at, at least 1.
        least: relevance, as `fusion` gives it, below which nothing is taken; None for no bound.
            Every fusion measures by the rest of what was found, so that the best mostly passes,
            whatever it is.
        least_cosine: cosine with the question below which the ranking by meaning has no say for
            a message, -1 to 1, whatever else was found; None for no bound.
        least_bm25: the same of the ranking by words, at least 0.
        neighbours: share of its relevance that a message lends to those around it, 0 to 1.
        lenders: most relevant messages that lend at all.
        halving: tokens at which a message has to be twice as relevant as a short one; 0 when
            length does not matter.
        named: what relevance is multiplied with where the question names who said it, or asks for
            the words of their role, at least 1.
        dated: what it is multiplied with where the question names the day, at least 1.
        standing: what it is multiplied with for an instruction that holds from now on, or a stated
            preference, at least 1. Those that apply to the question are quoted whatever their rank,
            unless it is 1.
        opening: how much more the first message of a conversation counts where the question asks
            for an overview; 0 ranks such a question as any other.
        near: what the nearest words count: the share of the best relevance that a message gains for
            each standard deviation by which its words are nearer to those of the question than
            others' are. Only where the embedder has a vector for each word; 0 compares no words.
        half_life: age at which relevance is halved; None when age does not matter.
        superseded: whether what was superseded is dropped, and its successor inherits its
            relevance, or keeps its own rank.
        floor: how much is spent: share of the best relevance below which a message is not quoted,
            0 to 1. With 0 all of the room is filled.
        sure: confidence below which nothing is quoted, 0 to 1: an agent that is shown nothing
            can say that it does not know. `memsim.memory.recall.confidence` says what it is.
        share: share of the room that is used at most, above 0 to 1.
        limit: messages that are quoted at most; None for no bound.

    With any of the three bounds only what passes it by itself is taken: what its neighbours lend
    then orders what was found, and brings nothing else up. What took the place of a message that
    passes has its relevance, and is taken for it.

    Raises:
        ValueError: a value is out of its range.
    """

    fusion: Fusion = "soft"
    vector: float = 0.3
    depth: int = 64
    least: float | None = None
    least_cosine: float | None = None
    least_bm25: float | None = None
    neighbours: float = 0.5
    lenders: int = 24
    halving: int = 300
    named: float = 1.3
    dated: float = 2.0
    standing: float = 1.3
    opening: float = 2.0
    near: float = 0.1
    half_life: timedelta | None = None
    superseded: Superseded = "drop"
    floor: float = 0.2
    sure: float = 0.3
    share: float = 1.0
    limit: int | None = None

    def __post_init__(self) -> None:
        _one_of("fusion", self.fusion, get_args(Fusion))
        _one_of("superseded", self.superseded, get_args(Superseded))
        for name in ("vector", "neighbours", "floor", "sure", "share"):
            _within(name, getattr(self, name), 0, 1)
        for name in ("named", "dated", "standing", "depth"):
            _within(name, getattr(self, name), 1, math.inf)
        for name in ("lenders", "halving", "opening", "near"):
            _within(name, getattr(self, name), 0, math.inf)
        if self.share == 0:
            raise ValueError("share is 0: above 0, up to 1")
        if self.limit is not None:
            _within("limit", self.limit, 1, math.inf)
        if self.least is not None:
            _within("least", self.least, -math.inf, math.inf)
        if self.least_cosine is not None:
            _within("least_cosine", self.least_cosine, -1, 1)
        if self.least_bm25 is not None:
            _within("least_bm25", self.least_bm25, 0, math.inf)
        if self.half_life is not None and self.half_life <= timedelta(0):
            raise ValueError(f"half_life is {self.half_life}: more than no time")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} is {value!r}: it is {', '.join(map(repr, known))}")


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high or (math.isinf(value) and value > 0):
        if math.isinf(low):
            raise ValueError(f"{name} is {value}: a finite number")
        bounds = f"at least {low}" if math.isinf(high) else f"{low} to {high}"
        raise ValueError(f"{name} is {value}: {bounds}")


PRX_RECALL = RecallPolicy(
    fusion="weights",
    vector=0.7,
    neighbours=0.0,
    halving=0,
    named=1.0,
    dated=1.0,
    standing=1.0,
    opening=0.0,
    near=0.0,
    superseded="keep",
    floor=0.0,
    sure=0.0,
)
"""Seven tenths meaning and three tenths words, each scaled to 0..1, and nothing else."""


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
        facts: whether facts are extracted, and later ones supersede earlier ones, by their subject
            and by meaning. They are searched by meaning: a message is as near as what it states.
            What is quoted although it was replaced since is marked.
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
    hygiene: RetentionPolicy | None = None

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
