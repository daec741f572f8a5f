"""A part of the HTML report that another package makes: what the page embeds, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """What the page embeds as a section of its own; `memsim.report.html` says by which rules.

    Attributes:
        html: markup that goes inside the section, below its heading.
        css: rules, each below a class of the fragment's own.
        script: plain script, run once after the page's own.
        data: texts of JSON by name (a letter, then letters, digits and dashes); each is parsed only
            when the script asks for it.
    """

    html: str
    css: str = ""
    script: str = ""
    data: Mapping[str, str] = field(default_factory=dict)
