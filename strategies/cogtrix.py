"""Cogtrix's memory modes: a window, a rolling summary, recalled exchanges, tracked context."""

from __future__ import annotations

from typing import ClassVar, Literal

from memsim import Environment, Strategy
from memsim.systems.cogtrix.settings import CogtrixSettings
from memsim.systems.cogtrix.system import CogtrixSystem


class Cogtrix(CogtrixSystem, Strategy):
    """Cogtrix: the latest messages, a summary of older ones, recalled exchanges, a mode's notes.

    The budget is taken for the model's window, of which a quarter stays free for the reply; tokens
    are estimated at four characters each, as the original does, so that text in scripts with more
    tokens than that may go over a budget. All principals share one session unless told otherwise,
    and what they said is told apart by role alone. As in the original, a question is compared with
    all exchanges that left the window, so that a turn costs more as a session grows.

    Args:
        mode: what is tracked beside what is said; `/mode code` in a message changes it.
        window: messages that are sent verbatim; 25 in conversation, 30 in the other modes.
        summarization: whether older messages are summarised.
        k: exchanges that are recalled; 3, and 0 for none.
        max_files: files that code mode tracks.
        max_errors: errors that code mode keeps.
        max_decisions: decisions that reasoning mode keeps.
        max_alternatives: alternatives that reasoning mode keeps.
        stale: turns that a section of reasoning mode may go untouched and is still shown.
        origin: `document` does what is documented; `source` what version 0.2.9 does.
        fixed: protect summary and context when messages must be dropped, and repair what is lost.
        tiers: keep older tool results and answers in shorter forms, as versions since 0.2.9 do.
        switching: `command`: the mode changes on command; `auto`: when two of the last three
            messages ask for another.
        scope: `shared`: one session for everybody; `principal`: one for each, as where it is
            `fixed`; `session`: one by each name, in the files that are called after it, and where
            it is `fixed` for each principal.

    Raises:
        ValueError: a number is out of its range, or a word means nothing here.
    """

    reproduces: ClassVar[str] = "cogtrix"

    def __init__(
        self,
        env: Environment,
        *,
        mode: Literal["conversation", "code", "reasoning"] = "conversation",
        window: int | None = None,
        summarization: bool = True,
        k: int | None = None,
        max_files: int = 20,
        max_errors: int = 5,
        max_decisions: int = 20,
        max_alternatives: int = 10,
        stale: int = 3,
        origin: Literal["document", "source"] = "document",
        fixed: bool = False,
        tiers: bool = False,
        switching: Literal["command", "auto"] = "command",
        scope: Literal["shared", "principal", "session"] | None = None,
    ) -> None:
        if switching not in {"command", "auto"}:
            raise ValueError(f"switching is {switching!r}: it is 'command' or 'auto'")
        settings = CogtrixSettings(
            mode=mode,
            working_memory_size=window,
            summarization=summarization,
            vector_recall_k=k,
            max_files=max_files,
            max_errors=max_errors,
            max_decisions=max_decisions,
            max_alternatives=max_alternatives,
            prefix_max_stale_turns=stale,
            origin=origin,
            fixed=fixed,
            tiers=tiers,
            automatic=switching == "auto",
        )
        super().__init__(env, settings, scope)
