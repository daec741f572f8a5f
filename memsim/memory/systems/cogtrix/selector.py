"""Which mode suits what a user asks for, told from its words alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.memory.systems.cogtrix.settings import Mode

LONG = 500
"""Characters beyond which a prompt without code is taken for reasoning."""
LOOKED_AT = 3
AGREEING = 2

_VERBS = (
    "analyse analyze design plan architect investigate research compare evaluate strategy tradeoff"
    " tradeoffs explain reason reasoning implication implications consequence consequences assess"
    " critique brainstorm blueprint outline"
)
_TERMS = (
    "refactor debug compile traceback stacktrace breakpoint NameError TypeError ValueError"
    " IndexError KeyError AttributeError RuntimeError ImportError SyntaxError StopIteration OSError"
    " NullPointerException RuntimeException NullReferenceException pytest unittest jest mocha rspec"
    " jasmine vitest npm pip cargo gradle webpack vite dockerfile python javascript typescript"
    " golang kotlin swift haskell scala nodejs fastapi django flask express function method"
    " algorithm codebase repository variable parameter endpoint api implement lint deploy"
)
_SUFFIXES = (
    "py js ts jsx tsx go rs java cpp cc c h rb php cs swift kt sh bash yaml yml json toml sql html"
    " css scss vue svelte dart lua ex exs"
)


def _any_of(words: str) -> str:
    return "|".join(words.split())


_REASONING = re.compile(rf"\b(?:{_any_of(_VERBS)})\b", re.IGNORECASE)
_CODE = (
    re.compile(r"`{3}"),
    re.compile(r"^    \S", re.MULTILINE),
    re.compile(rf"\b\w+\.(?:{_any_of(_SUFFIXES)})\b", re.IGNORECASE),
    # The word's end is asked for after one letter: `def f` counts, and `def run` does not.
    re.compile(rf"\b(?:(?:def|class|import)\s+\w|{_any_of(_TERMS)})\b", re.IGNORECASE),
)


def classify(prompt: str) -> Mode:
    """The mode that suits a prompt."""
    if not prompt.strip():
        return "conversation"
    code = any(pattern.search(prompt) for pattern in _CODE)
    if _REASONING.search(prompt) or (len(prompt) > LONG and not code):
        return "reasoning"
    return "code" if code else "conversation"


def suggestion(mode: Mode, prompts: Sequence[str]) -> Mode | None:
    """Another mode that two of the last three prompts ask for; None to stay.

    Args:
        mode: the present one.
        prompts: what the user said, the latest last.
    """
    asked = [classify(prompt) for prompt in prompts[-LOOKED_AT:]]
    candidates: tuple[Mode, ...] = ("code", "reasoning", "conversation")
    return next((c for c in candidates if c != mode and asked.count(c) >= AGREEING), None)
