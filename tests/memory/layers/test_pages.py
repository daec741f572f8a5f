"""The workspace: what people wrote stays as it is, and every piece can be found again."""

from __future__ import annotations

import errno
import importlib
import os
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memsim.errors import StoreError
from memsim.memory.index.split import chunk
from memsim.memory.layers.pages import Page, Workspace, WorkspaceFull

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
FAMILY = "👩\u200d👩\u200d👧"
CLUSTER = importlib.import_module("regex").compile(r"\X")

markdown = st.lists(
    st.sampled_from(
        [
            "# One",
            "## Two",
            "### Three",
            "#hash",
            "####### seven",
            "    # code",
            "  ## In",
            "```",
            "````",
            "~~~",
            "```py",
            "# in code?",
            "",
            "",
            " ",
            "- item",
            "words " * 30,
            FAMILY * 20,
            "é" * 40,
            "## Two ##",
            "#",
            "one\rtwo",
            "\u2028",
            "\x0c",
        ]
    ),
    max_size=25,
).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join([*lines, ""]))
)


def squeezed(text: str) -> str:
    """A text without its white space."""
    return "".join(text.split())


@given(markdown, st.sampled_from([12, 61, 500]))
def test_pieces_are_all_of_the_text_in_its_order(text: str, length: int) -> None:
    """Nothing but blank space is lost or doubled, save headings that stand for others alone."""
    pieces = chunk("a.md", text, length)
    rest = squeezed(text)
    for piece in pieces:
        before, found, rest = rest.partition(squeezed(piece.text))
        assert found
        # What lies between two pieces is at most bare headings, which the next one stands under.
        assert before == "" or before[0] == "#"
    assert rest == "" or rest[0] == "#"


@given(markdown, st.sampled_from([12, 61, 500]))
def test_pieces_are_short_and_split_no_character(text: str, length: int) -> None:
    """The length holds, but for a single character that is made of more."""
    clusters = set(CLUSTER.findall(text))
    for piece in chunk("a.md", text, length):
        assert len(piece.text) <= length or len(CLUSTER.findall(piece.text)) == 1
        if FAMILY in text:
            assert all(c in clusters for c in CLUSTER.findall(piece.text) if "\u200d" in c)


@given(markdown)
def test_each_piece_has_its_own_id(text: str) -> None:
    """Also where the same words stand under the same heading twice."""
    ids = [piece.id for piece in chunk("a.md", text, 60)]

    assert len(ids) == len(set(ids))
    assert ids == [piece.id for piece in chunk("a.md", text, 60)]
    assert not set(ids) & {piece.id for piece in chunk("b.md", text, 60)}


DOCUMENT = """\
Before.

# Home
Where we live.
## Garden
### Beds
Tomatoes.

Beans.
## Kitchen ##
Blue.
# Work
#hash and ####### seven are words
"""


def test_a_piece_knows_the_headings_that_it_stands_under() -> None:
    """A heading of a level closes those of its own level and below."""
    found = [(c.headings, c.line, c.text) for c in chunk("a.md", DOCUMENT)]

    assert found == [
        ((), 1, "Before."),
        (("Home",), 3, "# Home\nWhere we live."),
        (("Home", "Garden", "Beds"), 6, "### Beds\nTomatoes.\n\nBeans."),
        (("Home", "Kitchen"), 10, "## Kitchen ##\nBlue."),
        (("Work",), 12, "# Work\n#hash and ####### seven are words"),
    ]


def test_a_byte_order_mark_hides_no_heading() -> None:
    """It is the file's, and no part of the text."""
    assert chunk("a.md", "\ufeff# Home\nx") == chunk("a.md", "# Home\nx")


def test_levels_may_be_left_out() -> None:
    """A third level under a first is under it; a second after it is not under the third."""
    found = [c.headings for c in chunk("a.md", "### c\nx\n# a\nx\n### c\nx\n## b\nx\n")]

    assert found == [("c",), ("a",), ("a", "c"), ("a", "b")]


@pytest.mark.parametrize(
    "code",
    [
        "```\n# no\n```",
        "~~~ md\n# no\n```\n# no\n~~~",
        "````\n```\n# no\n```\n````",
        "   ```\n# no\n\n# no\n   ```  ",
        "```\n# no\n``` not the end\n# no\n```",
        "    # indented",
        "```\n# never closed",
    ],
)
def test_a_comment_in_code_is_no_heading(code: str) -> None:
    """Fences of both kinds, of any length, closed or not."""
    assert [c.headings for c in chunk("a.md", f"# Yes\n\n{code}\n")] == [("Yes",)]


@pytest.mark.parametrize("line", ["``` a ` b", "``", "text ```", "    ```"])
def test_what_opens_no_code_hides_no_heading(line: str) -> None:
    """Backticks in a line of text, too few, or too far in."""
    assert [c.headings for c in chunk("a.md", f"{line}\n# Yes\nx")] == [(), ("Yes",)]


def test_ids_last_while_other_parts_change() -> None:
    """Text before, after, and in another order leaves a piece's id as it is."""
    before = {c.text: c.id for c in chunk("a.md", DOCUMENT)}
    changed = DOCUMENT.replace("Before.", "Other\n\nlines.").replace("# Work\n", "# Work\nMore.\n")
    after = {c.text: c.id for c in chunk("a.md", "\ufeff" + changed.replace("## Ga", "\n\n## Ga"))}

    assert 3 == len(before.items() & after.items())


@given(st.lists(st.sampled_from(["a", "b", "a b", "ab"]), min_size=1, max_size=3))
def test_ids_tell_headings_from_words(names: list[str]) -> None:
    """A heading `a` with the words `b` is not a heading `a b`."""
    text = "".join(f"{'#' * (n + 1)} {name}\n" for n, name in enumerate(names))
    ids = [c.id for c in chunk("a.md", text + "word") + chunk("a.md", "# a b\nword\n# x\nword")]

    assert len(set(ids)) == len(ids) or names == ["a b"]


def test_a_paragraph_is_split_only_when_it_is_too_long() -> None:
    """First between paragraphs, then between lines, and within a line at last."""
    lines = [f"line {n} of eleven" for n in range(11)]
    text = "short one\n\n" + "\n".join(lines) + "\n\nshort two\n"
    pieces = [c.text for c in chunk("a.md", text, 60)]

    assert all("\n" not in p or p.splitlines()[-1] in {*lines, "short two"} for p in pieces)
    assert [text[: text.find(p)].count("\n") + 1 for p in pieces] == [
        c.line for c in chunk("a.md", text, 60)
    ]
    assert [4, 3, 1] == [len(chunk("a.md", "x" * 100, n)) for n in (25, 40, 100)]
    with pytest.raises(ValueError, match="a length"):
        chunk("a.md", "x", 0)


# Files.


def test_notes_of_a_day_stand_in_its_file_under_its_date(tmp_path: Path) -> None:
    """Each as lines of its own, in their order."""
    workspace = Workspace(tmp_path / "w")

    assert workspace.note("- tea", NOW) == "memory/2026-01-05.md"
    workspace.note("- milk\n", NOW)
    workspace.note("- rain", NOW + timedelta(days=1))
    assert workspace.read("memory/2026-01-05.md") == "# 2026-01-05\n- tea\n- milk\n"
    assert workspace.names() == ["memory/2026-01-06.md", "memory/2026-01-05.md"]


def test_a_day_is_that_of_the_clocks_zone(tmp_path: Path) -> None:
    """What is noted at half past midnight in Tokyo is noted on the new day."""
    tokyo = datetime(2026, 1, 6, 0, 30, tzinfo=timezone(timedelta(hours=9)))

    assert Workspace(tmp_path).note("x", tokyo) == "memory/2026-01-06.md"
    with pytest.raises(ValueError, match="no time zone"):
        Workspace(tmp_path).note("x", datetime(2026, 1, 6))  # noqa: DTZ001 - that is the point


def test_what_is_remembered_stands_under_its_day(tmp_path: Path) -> None:
    """The heading is given once, until another heading stands between."""
    workspace = Workspace(tmp_path)
    workspace.remember("- tea", NOW)
    workspace.remember("- milk", NOW)
    assert workspace.read("MEMORY.md") == "## 2026-01-05\n- tea\n- milk\n"
    text = "## 2026-01-05\n- tea\n\n## People\nAna"
    workspace.write("MEMORY.md", text)
    workspace.remember("- milk", NOW)

    assert workspace.read("MEMORY.md") == f"{text}\n\n## 2026-01-05\n- milk\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.booleans(),
)
@example("\ufeff# Notes\r\n\r\nold\r\n", "new", True)
@example("no end", "e\u0301\u200d\0", False)
def test_what_was_there_stays_byte_for_byte(
    tmp_path: Path, before: str, note: str, daily: bool
) -> None:
    """Line ends, byte order marks, and whatever cannot be seen; the note's bytes as well."""
    name = "memory/2026-01-05.md" if daily else "MEMORY.md"
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(before.encode())
    workspace = Workspace(tmp_path)
    if not note.strip():
        with pytest.raises(ValueError, match="blank"):
            workspace.note(note, NOW)
        return
    if daily:
        workspace.note(note, NOW)
    else:
        workspace.remember(note, NOW)
    after = path.read_bytes()

    assert after.startswith(before.encode())
    assert after.rstrip(b"\r\n").endswith(note.encode().rstrip(b"\r\n"))
    if "\r\n" in before and "\n" not in note:
        assert b"\n" not in after.replace(b"\r\n", b"").replace(before.encode(), b"")


def test_a_full_days_file_is_continued_in_the_next(tmp_path: Path) -> None:
    """To the exact character; earlier files are not gone back to, and after ten it is refused."""
    workspace = Workspace(tmp_path, file_limit=23)
    assert workspace.note("1234\n5678", NOW) == "memory/2026-01-05.md"
    assert len(workspace.read("memory/2026-01-05.md") or "") == 23
    for number in range(2, 11):
        assert workspace.note("1234567", NOW) == f"memory/2026-01-05_{number}.md"
    workspace.note("1", NOW)
    with pytest.raises(WorkspaceFull, match=r"2026-01-05_10.md is full: it may have 23 characters"):
        workspace.note("1", NOW)

    assert workspace.names() == [
        *(f"memory/2026-01-05_{n}.md" for n in range(10, 1, -1)),
        "memory/2026-01-05.md",
    ]


def test_a_note_that_fits_nowhere_changes_nothing(tmp_path: Path) -> None:
    """Longer than a file may be, or for a MEMORY.md that is full."""
    workspace = Workspace(tmp_path, file_limit=20)
    workspace.write("MEMORY.md", "x" * 20)
    with pytest.raises(
        WorkspaceFull, match=r"^34 characters are too many for memory/2026-01-05.md"
    ):
        workspace.note("x" * 20, NOW)
    with pytest.raises(WorkspaceFull, match=r"MEMORY.md is full"):
        workspace.remember("x", NOW)
    with pytest.raises(
        WorkspaceFull, match=r"^21 characters are too many for USER.md: it may have"
    ):
        workspace.write("USER.md", "x" * 21)

    assert workspace.names() == ["MEMORY.md"]
    assert workspace.read("MEMORY.md") == "x" * 20


def test_a_context_shows_as_much_as_it_may(tmp_path: Path) -> None:
    """Roots from their beginning, days from their end, the latest first, until the total is met."""
    workspace = Workspace(tmp_path)
    workspace.write("SOUL.md", "soul")
    workspace.write("IDENTITY.md", "\ufeff0123456789")
    workspace.note("old", NOW)
    workspace.note("new", NOW + timedelta(days=1))
    pages = Workspace(tmp_path, file_limit=8, total_limit=17).pages()

    assert pages == [
        Page(name="IDENTITY.md", text="01234567", omitted=2),
        Page(name="SOUL.md", text="soul", omitted=0),
        Page(name="memory/2026-01-06.md", text="\nnew\n", omitted=12),
    ]


@given(st.integers(1, 60))
def test_what_a_context_shows_splits_no_character(limit: int) -> None:
    """At any limit a family stays together."""

    class Given(Workspace):
        """A workspace of families."""

        def names(self) -> list[str]:
            """One root and one day."""
            return ["USER.md", "memory/2026-01-05.md"]

        def read(self, name: str) -> str | None:
            """Families, with flags between."""
            return f"{FAMILY}🇩🇪e\u0301" * 9

    pages = Given(Path("unused"), file_limit=limit, total_limit=2 * limit - 1).pages()

    assert sum(len(p.text) for p in pages) <= 2 * limit - 1
    for page in pages:
        assert {*CLUSTER.findall(page.text)} <= {FAMILY, "🇩🇪", "e\u0301"}


@pytest.mark.parametrize(
    "name",
    [
        "", "..", "../MEMORY.md", "/etc/passwd", "memory.md", "Memory.md", "memory/x.md", "memory/",
        "memory/../USER.md", "memory/2026-01-05_1.md", "memory/2026-01-05_02.md", "USER.md\0",
        "memory/2026-01-05.md/x", "memory\\2026-01-05.md", "memory/2026-01-05.md\n",
        "memory/2026-99-99.md", "memory/2026-02-29.md", "memory/٢٠٢٦-01-05.md",
    ],
)  # fmt: skip
def test_other_files_are_not_a_workspaces(tmp_path: Path, name: str) -> None:
    """Neither read nor written, wherever they would be."""
    with pytest.raises(ValueError, match=r"a workspace has IDENTITY.md"):
        Workspace(tmp_path).read(name)
    with pytest.raises(ValueError, match=r"a workspace has IDENTITY.md"):
        Workspace(tmp_path).write(name, "x")


def test_a_link_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    """Whatever somebody put into the folder, the workspace ends there."""
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/USER.md").symlink_to(tmp_path / "secret.md")
    workspace = Workspace(tmp_path / "w")
    for act in (workspace.pages, lambda: workspace.write("USER.md", "x")):
        with pytest.raises(StoreError, match=r"USER.md: leads out of the workspace"):
            act()

    assert (tmp_path / "secret.md").read_text(encoding="utf-8") == "secret"


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A file that is no text, or no file; what is not there is None."""
    (tmp_path / "USER.md").write_bytes(b"\xff\xfe")
    (tmp_path / "memory/2026-01-05.md").mkdir(parents=True)
    workspace = Workspace(tmp_path)

    assert workspace.read("SOUL.md") is None
    with pytest.raises(StoreError, match=r"USER.md: is not UTF-8"):
        workspace.read("USER.md")
    with pytest.raises(StoreError, match=r"2026-01-05.md: cannot be read: Is a directory"):
        workspace.note("x", NOW)


@pytest.mark.parametrize("text", ["\ud800", "fine \udfff"])
def test_a_text_that_cannot_be_encoded_changes_nothing(tmp_path: Path, text: str) -> None:
    """It is refused before there is a file."""
    workspace = Workspace(tmp_path)
    with pytest.raises(ValueError, match="cannot be encoded"):
        workspace.write("USER.md", text)
    with pytest.raises(ValueError, match="cannot be encoded"):
        workspace.note(text, NOW)

    assert workspace.names() == []


def test_a_write_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing beside it."""
    workspace = Workspace(tmp_path)
    workspace.write("MEMORY.md", "old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StoreError, match=r"MEMORY.md: cannot be written: No space left"):
        workspace.remember("new", NOW)

    assert workspace.read("MEMORY.md") == "old"
    assert [".workspace.lock", "MEMORY.md"] == sorted(p.name for p in tmp_path.iterdir())


def test_permissions_stay_as_they_were(tmp_path: Path) -> None:
    """A file that others may read is still theirs to read; a new one is its owner's alone."""
    workspace = Workspace(tmp_path)
    workspace.write("USER.md", "x")
    assert (tmp_path / "USER.md").stat().st_mode & 0o777 == 0o600
    (tmp_path / "USER.md").chmod(0o644)
    workspace.write("USER.md", "y")

    assert (tmp_path / "USER.md").stat().st_mode & 0o777 == 0o644


def test_notes_at_once_are_all_there(tmp_path: Path) -> None:
    """Four threads, of which each has a workspace of its own in one folder."""

    def write(who: int) -> None:
        for number in range(15):
            Workspace(tmp_path, wait=60).note(f"- {who}.{number}", NOW)

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = Workspace(tmp_path).read("memory/2026-01-05.md") or ""

    assert {f"- {w}.{n}" for w in range(4) for n in range(15)} == set(text.splitlines()[1:])


@pytest.mark.parametrize("limits", [{"file_limit": 0}, {"total_limit": -1}])
def test_a_workspace_of_no_size_is_refused(tmp_path: Path, limits: dict[str, Any]) -> None:
    """A limit is at least one character."""
    with pytest.raises(ValueError, match="at least one character"):
        Workspace(tmp_path, **limits)
