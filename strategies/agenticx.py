"""AgenticX's memory: facts by cue words, a workspace that is recalled, and compacted turns."""

from __future__ import annotations

from typing import ClassVar, Literal

from memsim import Environment, Strategy
from memsim.systems.agenticx.fact_cues import CueWords, words_of
from memsim.systems.agenticx.system import AgenticxOptions, AgenticxSystem


class Agenticx(AgenticxSystem, Strategy):
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
    """

    reproduces: ClassVar[str] = "agenticx"

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
        options = AgenticxOptions(
            version=version,
            behaviour=behaviour,
            fixed=fixed,
            threshold_messages=threshold_messages,
            threshold_chars=threshold_chars,
            retain_recent_messages=retain_recent_messages,
            model_window=model_window,
            cues=cues,
            words=CueWords(
                memory=words_of(remember), request=words_of(request), outcome=words_of(outcome)
            ),
            index=index,
            longterm=longterm,
            tools=tools,
            roots={"IDENTITY.md": identity, "SOUL.md": soul, "USER.md": user},
            scope=scope,
        )
        super().__init__(env, options)
