"""Parameters of the strategy `layered`: the options of a memory in the words of a ref."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from memsim.memory.options import MemoryOptions, RecallPolicy
from memsim.memory.retention import RetentionPolicy

if TYPE_CHECKING:
    from memsim.memory.places import StoreKind

Switch = Literal["on", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayeredParams:
    """The parameters of `layered`; fields are passed on to the option of the same name.

    Attributes:
        window: latest messages of the conversation that are shown, as far as they fit; the very
            last always, by its beginning and end where it is very long.
        k: earlier messages that are recalled at most, as far as they fit.
        floor: how much is spent: share of the best message's relevance below which none is quoted;
            0 fills the room.
        sure: confidence that what was found answers, below which nothing is quoted, 0 to 1; more
            means fewer false answers and less recall.
        fusion: how the ranking by words and the one by meaning become one.
        vector: what the meaning counts, 0 to 1; the words count the rest.
        depth: best of each ranking that are looked at.
        least: relevance, as `fusion` gives it, below which nothing is taken; none for no bound.
        least_cosine: cosine below which the meaning has no say for a message.
        least_bm25: score below which its words have none.
        neighbours: share of its relevance that a message lends to those around it, 0 to 1.
        lenders: most relevant messages that lend at all.
        halving: tokens at which a message has to be twice as relevant as a short one; 0 for none.
        named: what relevance is multiplied with where the question names who said it.
        dated: what it is multiplied with where the question names the day.
        standing: what it is multiplied with for standing instructions and stated preferences.
        opening: how much more the beginning of a conversation counts where the question asks for an
            overview; 0 ranks such a question as any other.
        half_life: days after which relevance is halved; none when age does not matter.
        superseded: whether what was superseded is dropped for its successor, or is kept.
        share: share of the room for what is recalled that is used at most.
        summary: whether what leaves the window is summarised.
        offload: whether large content of the latest messages goes elsewhere once it was answered,
            and a reference with its beginning stands in its place.
        shorten: whether the results of tools are shown by beginning and end then.
        deduplicate: whether of what one speaker says twice on a day, word for word, the latest
            messages show the first alone.
        facts: whether facts are extracted, and later ones supersede earlier ones.
        episodes: whether each conversation that is over is concluded in a summary of its own.
        episode_tokens: tokens that such a summary may have.
        recall: whether earlier messages are found for each question.
        once: whether each is brought up once in a conversation, as for a host that leaves what was
            recalled in its history.
        entities: whether what a conversation is about is noted in working memory, and named in its
            contexts.
        vectors: whether they are found by meaning as well.
        acl: whether everybody sees only what is theirs, shared with them, or said in their
            conversations.
        mode: who stores and recalls: the framework, the agent by its tools, or both. By the agent
            alone, no fact is extracted, no conversation concluded and nothing recalled unasked.
        workspace: whether there are pages, which are files: for agents that have tools, or in any
            case, or never. Without, what an agent notes is kept under keys.
        hygiene: whether old entries are archived and erased by category, as `RetentionPolicy` says.
            With `messages`, facts and summaries of an erased message stay for their own terms.
        window_share: share of the budget that the latest messages may take.
        summary_share: share of it that the summary may take.
        recall_share: share of it that what is recalled may take.
        store: where entries are kept. Replays keep them in memory, which is fastest; what is found
            is the same in every store that compares exactly. `postgres` and `redis` need a server,
            whose address is in MEMSIM_POSTGRES_URL or MEMSIM_REDIS_URL.
    """

    window: int = 4
    k: int | None = None
    floor: float = 0.2
    sure: float = 0.3
    fusion: Literal["soft", "zscore", "weights", "rrf"] = "soft"
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
    half_life: float | None = None
    superseded: Literal["drop", "keep"] = "drop"
    share: float = 1.0
    summary: Switch = "off"
    offload: Switch = "on"
    shorten: Switch = "on"
    deduplicate: Switch = "off"
    facts: Switch = "on"
    episodes: Switch = "on"
    episode_tokens: int = 160
    recall: Switch = "on"
    once: Switch = "off"
    entities: Switch = "off"
    vectors: Switch = "on"
    acl: Switch = "on"
    mode: Literal["framework", "agent", "both"] = "framework"
    workspace: Literal["agents", "on", "off"] = "agents"
    hygiene: Literal["on", "off", "messages"] = "off"
    window_share: float = 0.15
    summary_share: float = 0.1
    recall_share: float = 0.5
    store: StoreKind = "memory"

    @property
    def pages(self) -> bool:
        """Whether the memory has a workspace."""
        return self.workspace == "on" or (self.workspace == "agents" and self.mode != "framework")

    def memory_options(self) -> MemoryOptions:
        """The options of the memory.

        Raises `ValueError` if a number is out of its range, or a switch is neither on nor off.
        """
        if self.k is not None and self.k < 1:
            raise ValueError(f"k is {self.k}: at least 1, or none for as many as fit")
        policy: dict[str, Any] = {**self._for(RecallPolicy), "limit": self.k}
        if self.half_life is not None:
            policy["half_life"] = _days("half_life", self.half_life)
        recall = RecallPolicy(**policy)
        switches = {name: _is_on(name, getattr(self, name)) for name in self._switches()}
        derived = self.hygiene == "on"
        hygiene = None if self.hygiene == "off" else RetentionPolicy(derived=derived)
        options: dict[str, Any] = {
            **self._for(MemoryOptions),
            **switches,
            "hygiene": hygiene,
            "policy": recall,
        }
        return MemoryOptions(**options)

    def _for(self, record: type[MemoryOptions | RecallPolicy]) -> dict[str, Any]:
        own = {field.name for field in fields(self)}
        return {f.name: getattr(self, f.name) for f in fields(record) if f.name in own}

    def _switches(self) -> Iterator[str]:
        return (field.name for field in fields(self) if field.type == "Switch")


def _days(name: str, days: float) -> timedelta:
    try:
        return timedelta(days=days)
    except OverflowError:
        raise ValueError(f"{name} is {days}: fewer days") from None


def _is_on(name: str, word: str) -> bool:
    if word not in {"on", "off"}:
        raise ValueError(f"{name} is {word!r}: it is 'on' or 'off'")
    return word == "on"
