"""Reports and terminals show the words of strangers: nothing in them is obeyed."""

from __future__ import annotations

import io
import sys
import unicodedata

import pytest
from markdown_it import MarkdownIt

from memsim.cli.terminal import Terminal, calm, printable
from memsim.report.layout import (
    UNICODE,
    Column,
    Table,
    TextLine,
    markdown_code,
    markdown_escape,
    markdown_table,
)
from tests.leakage.payload_corpus import ALL, TERMINAL

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


def test_no_text_of_a_list_is_markup(subtests: pytest.Subtests) -> None:
    """No link, no picture, no HTML, no emphasis, no block of its own."""
    for payload in ALL:
        with subtests.test(payload=payload):
            source = f"- before {markdown_escape(payload)} after"

            assert kinds(source) <= HARMLESS - {"code_inline"}
            assert blocks("- x") == blocks(source)


def test_no_text_of_a_table_leaves_its_cell(subtests: pytest.Subtests) -> None:
    """Neither as a head nor as a cell."""
    for payload in ALL:
        with subtests.test(payload=payload):
            column = Column(f"x{payload}", right=False)
            table = Table.of_columns([(column, [f"y{payload}", "z"]), (Column("b"), ["1", "2"])])

            source = "\n".join(markdown_table(table))

            assert kinds(source) <= HARMLESS - {"code_inline"}
            assert 2 * 3 == sum(kind in {"th_open", "td_open"} for kind in blocks(source))


def test_no_text_leaves_its_code(subtests: pytest.Subtests) -> None:
    """However many backticks it has."""
    for payload in ALL:
        with subtests.test(payload=payload):
            source = f"- {markdown_code(f'case[{payload}]')}"

            assert {"code_inline"} == kinds(source)


def test_a_terminal_obeys_nothing(
    monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """But for our own colours, which are written around a text and not in it."""
    for color in [True, False]:
        for payload in ALL:
            with subtests.test(payload=payload, color=color):
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
