"""What the site takes from outside docs/: the README as its first page, and files that are linked.

Pages link to each other by their paths in the repository, so that links work there as well. Here
each such link gets the path that its target has in the site, and a link that shows a file's name
shows the title of its page instead.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "reports/comparison/comparison.md": "reports/comparison/comparison.md",
}
"""Pages from outside docs/, and their paths in the site."""

FOLDERS = ("examples", "reports/comparison")
"""Folders whose files are copied as they are, because pages link to them."""

_REPOSITORY = {there: here for here, there in PAGES.items()}
_LINK = re.compile(r"\[([^]]*)\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")
_NAME = re.compile(r"[\w/-]+\.md")
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Make the anchors of headings as code hosts make them."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = anchor
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and files from outside docs/."""
    from mkdocs.structure.files import File

    for here, there in (*PAGES.items(), *copied()):
        files.append(File.generated(config, there, abs_src_path=str(ROOT / here)))
    return files


def on_page_markdown(
    markdown: str,
    page: Page,
    config: MkDocsConfig,  # noqa: ARG001 - MkDocs passes every argument by name
    files: Files,  # noqa: ARG001 - as config
) -> str:
    """Rewrite the links of a page, and keep tables of thousands of numbers out of the search."""
    if page.file.src_uri.startswith(FOLDERS):
        page.meta["search"] = {"exclude": True}
    return linked(markdown, page.file.src_uri)


def anchor(heading: str, separator: str = "-") -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", separator)


def copied() -> list[tuple[str, str]]:
    """Files that are no pages, and their paths in the site, which are the same."""
    paths = (path for folder in FOLDERS for path in sorted((ROOT / folder).iterdir()))
    names = (path.relative_to(ROOT).as_posix() for path in paths if path.is_file())
    return [(name, name) for name in names if name not in PAGES]


def linked(markdown: str, page: str) -> str:
    """The text of a page of the site with every link as the site needs it."""
    here = posixpath.dirname(_REPOSITORY.get(page, f"docs/{page}"))

    def in_site(match: re.Match[str]) -> str:
        text, path, heading = match.groups(default="")
        target = posixpath.normpath(posixpath.join(here, path))
        there = PAGES.get(target, target.removeprefix("docs/"))
        shown = title(ROOT / target) if _NAME.fullmatch(text) else text
        return f"[{shown}]({posixpath.relpath(there, posixpath.dirname(page) or '.')}{heading})"

    return _LINK.sub(in_site, markdown)


def title(path: Path) -> str:
    """The first heading of a page, or its name if there is no such page."""
    found = _TITLE.search(path.read_text(encoding="utf-8")) if path.is_file() else None
    return found[1] if found else path.name
