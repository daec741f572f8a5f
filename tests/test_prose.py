"""Prose in the repository is short: sentences, pages, and a README that is read to its end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOP = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"]
PAGES = [*TOP, *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]

AVERAGE = 16
LONGEST = 25
WORDS = {"README.md": 1500} | {page: 2000 for page in PAGES if page.startswith("docs/")}

_CODE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
_NOT_PROSE = re.compile(r"^\s*(\||#|!\[|<|\[[^]]+\]: )")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) ")
_LINK = re.compile(r"!?\[([^]]*)\]\([^)]*\)")
_SPAN = re.compile(r"`[^`]+`")
_END = re.compile(r"(?<=[.!?])[\"”)*_]*\s+")


def sentences(text: str) -> list[str]:
    """The sentences of a Markdown text, without code blocks, tables, headings and pictures.

    A code span and the text of a link each count as what they show; a span is one word.
    """
    paragraphs: list[str] = [""]
    for line in _CODE.sub("\n", text).splitlines():
        if not line.strip() or _NOT_PROSE.match(line):
            paragraphs.append("")
        elif _ITEM.match(line):
            paragraphs.append(_ITEM.sub("", line))
        else:
            paragraphs[-1] = f"{paragraphs[-1]} {line.strip()}"
    plain = (_LINK.sub(r"\1", _SPAN.sub("code", paragraph)) for paragraph in paragraphs)
    found = (part.strip() for paragraph in plain for part in _END.split(paragraph))
    return [sentence for sentence in found if words(sentence)]


def words(sentence: str) -> int:
    """How many words a sentence has: signs that stand alone are none."""
    return sum(any(c.isalnum() for c in word) for word in sentence.split())


def test_sentences_are_short(subtests: pytest.Subtests) -> None:
    """At most 16 words on average, and no sentence has more than 25."""
    for page in PAGES:
        with subtests.test(page=page):
            found = sentences((ROOT / page).read_text(encoding="utf-8"))
            lengths = [words(sentence) for sentence in found]

            assert [s for s, n in zip(found, lengths, strict=True) if n > LONGEST] == []
            assert sum(lengths) / len(lengths) <= AVERAGE


def test_pages_are_short(subtests: pytest.Subtests) -> None:
    """A page of docs has at most 2,000 words, and the README 1,500, with code and tables."""
    for page in WORDS:
        with subtests.test(page=page):
            assert len((ROOT / page).read_text(encoding="utf-8").split()) <= WORDS[page]


def test_pages_begin_with_a_command(subtests: pytest.Subtests) -> None:
    """A reader finds a command or a program to copy before anything long."""
    for page in [page for page in PAGES if page.startswith("docs/")]:
        with subtests.test(page=page):
            text = (ROOT / page).read_text(encoding="utf-8")
            before, fence, _ = text.partition("\n```")

            assert fence
            assert len(before.split()) <= 150


def test_links_lead_somewhere(subtests: pytest.Subtests) -> None:
    """Files that a page links to are there, and the headings within them too."""
    for page in PAGES:
        with subtests.test(page=page):
            folder = (ROOT / page).parent
            text = (ROOT / page).read_text(encoding="utf-8")
            broken = []
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if target.startswith("http"):
                    continue
                name, _, heading = target.partition("#")
                path = folder / name if name else ROOT / page
                if not path.exists() or (heading and heading not in headings(path)):
                    broken.append(target)

            assert broken == []


def headings(path: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    found = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in found}


def test_sentences_are_told_apart() -> None:
    """Code, tables and headings are no prose; list items and code spans are."""
    text = "# Head\n\nOne two. Three\nfour `a b c`!\n\n| x | y |\n\n- five (`f()`)\n- six\n"
    code = "```\nno\n```\n"

    assert sentences(text + code) == ["One two.", "Three four code!", "five (code)", "six"]
    assert [words(s) for s in sentences(text)] == [2, 3, 2, 1]
