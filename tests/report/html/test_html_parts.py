"""The parts of the page that need no browser: escaping, packing, plots, what there is room for."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.errors import RunFolderError
from memsim.report.html import missed_probes as told
from memsim.report.html.fact_loss import grid
from memsim.report.html.invariant_section import CHECKS, invariants
from memsim.report.html.leaderboard import verdict
from memsim.report.html.leakage_section import leakage
from memsim.report.html.markup import (
    PACKED,
    Markup,
    breakable,
    compact_json,
    data_block,
    element,
    legible,
    packed_size,
    unpacked,
)
from memsim.report.html.page_content import PageContent, address
from memsim.report.html.pictures import brightened, figure, shortened
from memsim.report.plots.style import Picture
from memsim.report.run_markdown import markdown
from memsim.report.summarise import summarise
from memsim.runs import Run
from tests.report.html.made import ATTACKS, leak_board


class Reader(HTMLParser):
    """Takes in what a browser would."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One more element."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """One more text."""
        self.said += data


@given(st.text() | st.sampled_from(ATTACKS))
def test_any_text_stays_a_text(text: str) -> None:
    """As a child and as an attribute, and in the same letters but for those that no page has."""
    reader = Reader()
    reader.feed(element("p", text, title=text))
    reader.close()

    assert [("p", {"title": legible(text)})] == reader.tags
    assert legible(text) == reader.said


@given(st.text() | st.sampled_from(ATTACKS) | st.just("rolling_summary:n=2@4k"))
def test_a_name_that_may_break_reads_the_same(name: str) -> None:
    """It goes on in the next line only behind a sign that joins its words."""
    reader = Reader()
    made = breakable(name)
    reader.feed(made)
    reader.close()

    assert {"wbr"} >= {tag for tag, _ in reader.tags}
    assert legible(name).replace("\n", " ") == reader.said


def test_a_name_breaks_behind_its_joints() -> None:
    """And nowhere else."""
    assert "rolling_<wbr>summary:<wbr>n=<wbr>2@<wbr>4k" == breakable("rolling_summary:n=2@4k")


def test_attributes_are_named_as_html_names_them() -> None:
    """A keyword of Python loses its underscore, another becomes a dash; none is left out."""
    made = element("i", class_="x", aria_label="y", hidden=True, id=None, open=False)

    assert '<i class="x" aria-label="y" hidden></i>' == made
    assert "<b><i></i></b>" == element("b", Markup("<i></i>"))


@pytest.mark.parametrize("size", [1, PACKED], ids=["plain", "packed"])
def test_a_block_of_data_comes_back(size: int) -> None:
    """Whatever is in it, no tag stands in the block."""
    value = [*ATTACKS, "x" * size]
    made = data_block("cases-0", compact_json(value))
    inside = made.partition(">")[2].removesuffix("</script>\n")

    assert "<" not in inside
    found = inside if size == 1 else zlib.decompress(base64.b64decode(inside))
    assert value == json.loads(found)


def test_what_is_in_a_page_does_not_depend_on_how_zlib_packs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another build makes other bytes of the same data, and the same choice of what has room."""
    text = compact_json([*ATTACKS, *map(str, range(PACKED))])
    made, room = data_block("cases-0", text), packed_size(text)
    compress = zlib.compress
    monkeypatch.setattr(zlib, "compress", lambda data, _level: compress(data, 1))
    other = data_block("cases-0", text)

    assert made != other
    assert unpacked(f"<p>{made}") == unpacked(f"<p>{other}")
    assert text in unpacked(other)
    assert room == packed_size(text)


def test_a_block_has_a_plain_name() -> None:
    """Its name stands in an attribute and in the script."""
    with pytest.raises(ValueError, match="a block of data cannot be called"):
        data_block('x"><script>', "{}")


def test_a_comparison_of_rivals_says_what_was_found(run: Run) -> None:
    """The same run is a test that failed, or a comparison in which a bound was not kept."""
    tested = summarise(run)
    compared = replace(tested, rivals=True)
    pages = [verdict(PageContent(run=run, summary=each)) for each in (tested, compared)]
    texts = [markdown(each) for each in (tested, compared)]

    assert 'class="stamp bad">failed' in pages[0]
    assert 'class="stamp">compared' in pages[1]
    for test, found in (pages, texts):
        assert "1 failed" in test
        assert "failed" not in found.partition("is recommended")[0]
        assert "strategies were compared on 1 scenario" in found
        assert "1 case broke a bound of their scenario or channel" in found
    assert "Failed" not in texts[1]


def test_an_address_keeps_its_parts_apart() -> None:
    """Whatever a case is called."""
    assert "#case=a%26b%3D%23c&turn=3" == address(case="a&b=#c", turn=3)


def test_a_path_loses_what_no_eye_sees() -> None:
    """Digits behind the first, and points in one line."""
    path = "M 0.00 0.00 \nL 1.00 1.00 \nL 4.01 1.00 \nL 10.01 1.02 \nL 10.01 5.04 \nz\n"

    assert "M 0 0L1 1L10 1L10 5 z" == shortened(path)


def test_a_dense_path_keeps_its_peaks() -> None:
    """Above one place the first, the last, the lowest and the highest point are drawn."""
    heights = [(7 * n) % 40 + (50 if n == 208 else 0) for n in range(800)]
    dense = "M 0.00 0.00 " + " ".join(f"\nL {n / 8:.2f} {y:.2f}" for n, y in enumerate(heights))

    drawn = [part.split() for part in shortened(dense).split("L")[1:]]

    assert len(drawn) <= 4 * 101
    places = {round(float(x)) for x, _ in drawn}
    assert places == set(range(101))
    assert 208 * 7 % 40 + 50 == max(float(y) for _, y in drawn)
    assert 0 == min(float(y) for _, y in drawn)


@pytest.mark.parametrize("colour", ["#0072b2", "#332288", "#000000", "#56b4e9"])
def test_a_colour_is_bright_enough_for_the_dark(colour: str) -> None:
    """And one that is, is left alone."""
    dark = brightened(colour)

    assert brightened(dark) == dark
    assert (dark == colour) == (colour == "#56b4e9")


def test_stories_take_no_more_room_than_there_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows stay; a story that is left out is counted, and said."""
    monkeypatch.setattr(told, "CHUNK", 5)
    subject = PageContent(run=run, summary=summarise(run))
    everything = told.cases_of(subject)
    found = told.Cases(_room=2000)
    for case in run.cases:
        found.keys.append([case.key])
    monkeypatch.setattr(told, "Cases", lambda: found)

    assert found is told.cases_of(subject)
    assert len(everything.rows) == len(found.rows)
    assert found.left_out == sum(row[-2] == -1 for row in found.rows) > 0
    assert f"{found.left_out:,} stories did not fit" in told.cases(subject, found)


@pytest.fixture
def checks(run: Run) -> Iterator[Path]:
    """Where the result of a check lies beside the run, for as long as a test takes."""
    path = run.folder / CHECKS
    yield path
    path.unlink(missing_ok=True)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"subjects": [{}]}', '{"subjects": []}'])
def test_a_check_that_is_none_is_refused(run: Run, checks: Path, text: str) -> None:
    """By its name: a section that is empty would look as if all were well."""
    checks.write_text(text, encoding="utf-8")

    with pytest.raises(RunFolderError, match="is not what memsim check --format json prints"):
        invariants(PageContent(run=run, summary=summarise(run)))


def test_only_a_counterexample_is_shown_of_what_a_check_names(
    run: Run, checks: Path, tmp_path: Path
) -> None:
    """A check that is a stranger's does not bring other files of this machine into the page."""
    ours, other = tmp_path / "ours.py", tmp_path / "other.py"
    ours.write_text(
        '"""It breaks I1.\n\nWhat should hold: all is well\n"""\n\n'
        "from memsim.testing import verify\n\nCASE = 1\n",
        encoding="utf-8",
    )
    other.write_text('KEY = "What should hold: my secret"\n', encoding="utf-8")
    result = {
        "number": 1,
        "name": "x",
        "family": "y",
        "verdict": "violated",
        "statement": "",
        "why": "",
        "examples": 1,
    }
    found = [{**result, "counterexample": str(path)} for path in (ours, other)]
    told = {
        "subjects": [{"subject": "s", "results": found}],
        "examples": 1,
        "profile": "commit",
        "seed": 7,
    }
    checks.write_text(json.dumps(told), encoding="utf-8")

    shown = invariants(PageContent(run=run, summary=summarise(run)))

    assert "CASE = 1" in shown
    assert "my secret" not in shown


def test_regions_of_two_budgets_have_names_of_their_own(run: Run) -> None:
    """Who jumps from one to the next by their names can tell them apart."""
    board = leak_board(run)
    boards = (board, replace(board, budget=4096))
    reader = Reader()

    reader.feed(leakage(PageContent(run=run, summary=replace(summarise(run), leakage=boards))))

    names = [attributes["aria-label"] for _, attributes in reader.tags if "role" in attributes]
    assert 4 == len(names) == len(set(names))


def test_scenarios_are_described_and_stories_have_the_context_that_was_sent(run: Run) -> None:
    """What a scenario is about stands below the grid and with the cases; evidence is marked."""
    subject = PageContent(run=run, summary=summarise(run))
    (about,) = subject.about.values()
    blocks = told.cases_of(subject)
    chunk = json.loads(_script(str(unpacked(blocks.blocks[0]))))
    sections = [section for probe in chunk["probes"] for section in probe["sections"]]
    messages = [message for section in sections for message in section[3]]

    assert about in grid(subject)
    assert about in str(unpacked(blocks.data()))
    assert {"window", "recalled", "summary"} <= {name for name, *_ in sections}
    assert any(evidence for *_, evidence, _ in messages)
    assert any(before for *_, before in messages)
    for _, _, count, shown in sections:
        assert count >= len(shown) + sum(before for *_, before in shown)


def _script(block: str) -> str:
    return block.partition(">")[2].rpartition("</script>")[0]


class _Drawn:
    """A figure of three marks that look alike."""

    def savefig(self, file: BytesIO, **_: object) -> None:
        """Write it as matplotlib does."""
        looks = "stroke-width: 2; fill-opacity: .5; stroke-opacity: .4; stroke-dasharray: 1"
        marks = "".join(
            f'<use xlink:href="#m" x="{n}" y="1" style="stroke: #111111; {looks}"/>'
            for n in range(3)
        )
        names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        file.write(f"<svg {names}><g>{marks}</g></svg>".encode())


def test_what_marks_share_is_written_in_one_order() -> None:
    """It does not depend on the seed of Python's hashes."""
    picture = Picture(name="spend", title="Spend", caption="In all.", figure=cast("Any", _Drawn()))

    shared = re.findall(r"<g ([^>]*)>", str(figure(picture)))[0]

    names = re.findall(r'([a-z-]+)="', shared)
    assert 5 == len(names)
    assert sorted(names) == names
