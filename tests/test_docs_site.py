"""The site of the docs has every page and every public name; MkDocs itself is not needed here."""

from __future__ import annotations

import importlib
import posixpath
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
SITE = yaml.safe_load(CONFIG)
HOOKS = runpy.run_path(str(ROOT / "docs/site/hooks.py"))
PAGES = {
    path.relative_to(ROOT / "docs").as_posix(): path for path in (ROOT / "docs").rglob("*.md")
} | {there: ROOT / here for here, there in HOOKS["PAGES"].items()}


def in_navigation(entries: object) -> Iterator[str]:
    """The pages of the navigation, in its order."""
    if isinstance(entries, str):
        yield entries
    elif isinstance(entries, dict):
        yield from in_navigation(list(entries.values()))
    elif isinstance(entries, list):
        for entry in entries:
            yield from in_navigation(entry)


def test_every_page_is_in_the_navigation() -> None:
    """Once each, and nothing else is."""
    assert sorted(PAGES) == sorted(in_navigation(SITE["nav"]))


def test_every_link_leads_to_a_page_or_a_file_of_the_site(subtests: pytest.Subtests) -> None:
    """As the site rewrites it; tests/test_prose.py looks for the headings."""
    docs = ROOT / "docs"
    files = {path.relative_to(docs).as_posix() for path in docs.rglob("*")} | set(PAGES)
    files |= {there for _, there in HOOKS["copied"]()}
    for page, path in PAGES.items():
        with subtests.test(page=page):
            text = HOOKS["linked"](path.read_text(encoding="utf-8"), page)
            links = re.findall(r"\]\((?!\w+:|#)([^)\s#]+)", text)
            targets = {posixpath.normpath(posixpath.join(page, "..", link)) for link in links}

            assert targets - files == set()


def test_links_are_those_of_the_site() -> None:
    """A path in the repository becomes one in the site, and a file's name the title of its page."""
    text = "[docs/gate.md](docs/gate.md#a), [there](CONTRIBUTING.md), [x](https://a.org/b.md)"
    api = "[Write](../write-a-strategy.md) [`run`](#run) [y](../../README.md#a-strategy)"

    assert HOOKS["linked"](text, "index.md") == (
        "[The gate: did memory get worse?](gate.md#a), [there](contributing.md), [x](https://a.org/b.md)"
    )
    assert HOOKS["linked"](api, "api/memsim.md") == (
        "[Write](../write-a-strategy.md) [`run`](#run) [y](../index.md#a-strategy)"
    )


@pytest.mark.parametrize("package", ["memsim", "memsim.memory", "memsim.testing"])
def test_every_public_name_is_in_the_reference(package: str) -> None:
    """Once each, and no name that is gone."""
    page = PAGES[f"api/{package.rpartition('.')[2]}.md"].read_text(encoding="utf-8")
    shown = re.findall(r"^::: ([\w.]+)$", page, re.MULTILINE)
    names = importlib.import_module(package).__all__

    assert sorted(f"{package}.{name}" for name in names) == sorted(shown)


def test_the_site_is_checked_and_asks_nobody() -> None:
    """Broken links and anchors end the build, and no font or script comes from elsewhere."""
    links = SITE["validation"]["links"]

    assert SITE["strict"] is True
    assert set(links.values()) == set(SITE["validation"]["nav"].values()) == {"warn"}
    assert {"anchors", "not_found", "unrecognized_links"} <= set(links)
    assert SITE["theme"]["font"] is False
    assert "://" not in CONFIG
    for name in (*SITE["extra"]["polyfills"], *SITE["extra_css"], SITE["theme"]["favicon"]):
        assert "//" not in (ROOT / "docs" / name).read_text("utf-8").replace(
            "http://www.w3.org/2000/svg", ""
        ).replace("// ", "")
