"""Reports and terminals show the words of strangers: nothing in them is obeyed."""

from __future__ import annotations

import io
import sys
import unicodedata

import pytest
from markdown_it import MarkdownIt

from memsim.cli.printable import calm, printable
from memsim.cli.terminal import Terminal
from memsim.report.layout import Column, TextLine
from memsim.report.markdown import code, escape, table_rows
from memsim.report.marks import UNICODE

HTML = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<iframe src=//evil.example></iframe>",
    "</td></tr></table><script>alert(1)</script>",
    "<details open ontoggle=alert(1)>",
    "<!--<img src=x onerror=alert(1)>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<style>*{background:url(//evil.example)}</style>",
    "<https://evil.example/?q=1>",
    "<ben@evil.example>",
    "<ScRiPt >alert(1)</sCrIpT>",
    "<math><mtext></mtext></math>",
    "<?php echo 1 ?>",
    "<!DOCTYPE html>",
)
MARKDOWN = (
    "![x](https://evil.example/?q=secret)",
    "[x](javascript:alert(1))",
    "[x](https://evil.example 'title')",
    "![x][y]",
    "[x][y]",
    "[y]: https://evil.example",
    "![[x](y)](z)",
    "`code` and ``more``",
    "``` fenced",
    "`",
    "``",
    "**bold** and __bold__",
    "*em* _em_",
    "a | b | c",
    "\\| a | b",
    "\\![x](y)",
    "\\`x`",
    "x\n\n# head",
    "x\n- item\n- item",
    "x\n\n---\n\n| a |\n| - |\n",
    "x\r\n\r\n<b>bold</b>",
    "x\u2028# head",
)
TERMINAL = (
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x9b31m",
    "safe\rPASSED",
    "PASSED\x08\x08\x08\x08\x08\x08FAILED",
    "\u202egnp.exe",
    "\u2066abc\u2069",
    "\u200e\u200f",
    "\x00",
    "\x07bell",
    "\x7f",
    "\ufeffmark",
    "\U000e0041\U000e0042",
)
SHEETS = ("=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("https://evil.example")', "\t=1+1")
ALL = (*HTML, *MARKDOWN, *TERMINAL, *SHEETS)

HARMLESS = {"text", "text_special", "softbreak", "code_inline"}


def kinds(source: str) -> set[str]:
    """What a Markdown reader takes a source for, inside its blocks."""
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    return {child.type for block in reader.parse(source) for child in block.children or ()}


def blocks(source: str) -> list[str]:
    """The blocks that a Markdown reader sees."""
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    return [block.type for block in reader.parse(source)]


def test_there_are_enough_payloads() -> None:
    """Of HTML, Markdown, terminals and spreadsheets."""
    assert len(ALL) == len(set(ALL)) >= 40


@pytest.mark.parametrize("payload", ALL)
def test_no_text_of_a_list_is_markup(payload: str) -> None:
    """No link, no picture, no HTML, no emphasis, no block of its own."""
    source = f"- before {escape(payload)} after"

    assert kinds(source) <= HARMLESS - {"code_inline"}
    assert blocks("- x") == blocks(source)


@pytest.mark.parametrize("payload", ALL)
def test_no_text_of_a_table_leaves_its_cell(payload: str) -> None:
    """Neither as a head nor as a cell."""
    column = Column(head=f"x{payload}", right=False)
    table = [(column, [f"y{payload}", "z"]), (Column(head="b"), ["1", "2"])]

    source = "\n".join(table_rows(table))

    assert kinds(source) <= HARMLESS - {"code_inline"}
    assert 2 * 3 == sum(kind in {"th_open", "td_open"} for kind in blocks(source))


@pytest.mark.parametrize("payload", ALL)
def test_no_text_leaves_its_code(payload: str) -> None:
    """However many backticks it has."""
    source = f"- {code(f'case[{payload}]')}"

    assert {"code_inline"} == kinds(source)


@pytest.mark.parametrize("payload", ALL)
@pytest.mark.parametrize("color", [True, False])
def test_a_terminal_obeys_nothing(
    payload: str, color: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for our own colours, which are written around a text and not in it."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    terminal = Terminal(width=80, marks=UNICODE, color=color, live=False)

    terminal.say(payload)
    terminal.say_lines([TextLine(text=payload, tone="bad")])

    shown = out.getvalue().replace("\x1b[31m", "").replace("\x1b[0m", "")
    bad = {c for c in shown if unicodedata.category(c)[0] == "C" and c != "\n"}
    assert not bad


@pytest.mark.parametrize("payload", TERMINAL)
def test_what_is_not_obeyed_is_still_told(payload: str) -> None:
    """As an escape, so that somebody who looks sees that it was there."""
    assert "\\" in printable(payload)


def test_lines_stay_lines_and_words_stay_words() -> None:
    """In any script, with accents, signs and emoji."""
    text = "één\n日本語 ✗ \N{FAMILY}\n\N{WOMAN}\u200d\N{PERSONAL COMPUTER} हिन्दी"

    assert text == calm(text)
