"""What is written for other programs to read: nothing in it is more than a text or a name."""

from __future__ import annotations

import ast
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import memsim
from memsim.errors import MemsimError
from memsim.report.github import annotation_lines
from memsim.report.plots import write_picture
from memsim.report.plots.style import Picture, styled
from memsim.report.run_summary import UnscoredCase
from memsim.scenario.scenario_loader import load_scenarios
from tests.leakage.payload_corpus import ALL, GITHUB, HTML, MATH, PATHS, TERMINAL

SOURCES = sorted(Path(memsim.__file__).parent.rglob("*.py"))
COMMAND = re.compile(r"::error (?:[a-z]+=[^,:\r\n]*)(?:,[a-z]+=[^,:\r\n]*)*::[^\r\n]*")


def test_no_text_forges_an_annotation(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Neither in a case's name nor in what is said of it: one line, one command."""
    for payload in ALL:
        with subtests.test(payload=payload):
            case = UnscoredCase(case=f"a.yaml::{payload}[x@4k]", state="error", error=payload)
            [line] = annotation_lines([], [case], None, tmp_path, {})

            assert COMMAND.fullmatch(line)
            assert len(line.splitlines()) == 1 or set(line) & set(
                "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
            )


@pytest.mark.parametrize("payload", [*HTML, *MATH, *TERMINAL, *GITHUB])
def test_a_plot_holds_texts_as_texts(payload: str, tmp_path: Path) -> None:
    """As XML that any reader takes, without an element of a stranger's, and no formula."""
    with styled():
        figure = Figure(figsize=(2, 2))
        figure.subplots().set_title(payload)
        path = tmp_path / "plot.svg"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *_, **__: None)  # of signs that no font has
            write_picture(Picture(name="x", title="x", caption="x", figure=figure), path)

    tree = ET.fromstring(path.read_text("utf-8"))  # noqa: S314 - whether it can be read is the test
    names = {element.tag.rpartition("}")[2] for element in tree.iter()}
    texts = "".join(element.text or "" for element in tree.iter() if element.tag.endswith("text"))
    assert not names & {"script", "image", "iframe", "a", "foreignObject", "img"}
    assert not [k for e in tree.iter() for k in e.attrib if k.lower().startswith("on")]
    shown = {c for c in payload if c.isascii() and c.isprintable() and not c.isspace()}
    assert shown <= set(texts)


SHEETS = {"to_csv", "to_excel", "to_html", "to_pickle", "to_clipboard", "writerow", "DictWriter"}
PATTERNS = {
    "answer_text.py": "classes of letters, and our own words",
    "case_plan.py": "a channel's number",
    "choice.py": "a closed list of values, escaped",
    "codecs.py": "a codec's own prefixes",
    "corrections.py": "our own phrases",
    "form_search.py": "classes of letters",
    "l09_stale.py": "a closed list of values, escaped",
    "l17_authority.py": "a tag of our own, escaped",
    "longmemeval_v2.py": "separators of a list, escaped",
    "markdown_files.py": "a key and a text, escaped",
    "mcp_mapping.py": "the user's own mapping, trusted as the command in it is",
    "mcp_replies.py": "the same, for lines of bounded length",
    "native_polarity.py": "our own phrases",
    "patterns.py": "one of three classes of signs",
    "pins.py": "a tag of our own",
    "polarity.py": "our own phrases",
    "refusals.py": "a person of a generated case, escaped",
    "reuse_needs.py": "an anchor, escaped",
    "text.py": "classes of letters",
    "word_forms.py": "our own endings",
}
"""Where patterns are made while memsim runs, and of what."""


def test_nothing_that_is_read_becomes_a_pattern_or_a_sheet() -> None:
    """What nobody writes holds no formula, and what nobody compiles cannot run away."""
    made, sheets = set(), []
    for source in SOURCES:
        for part in ast.parse(source.read_text("utf-8")).body:
            within = isinstance(part, ast.FunctionDef | ast.ClassDef)
            for node in ast.walk(part):
                if isinstance(node, ast.Attribute) and node.attr in SHEETS:
                    sheets.append(f"{source.name}:{node.lineno}")
                if within and isinstance(node, ast.Call) and _is_pattern(node):
                    made.add(source.name)

    assert [] == sheets
    assert set(PATTERNS) == made


def _is_pattern(call: ast.Call) -> bool:
    """Whether a pattern is made of anything but a text that stands there."""
    name = call.func
    return (
        isinstance(name, ast.Attribute)
        and isinstance(name.value, ast.Name)
        and name.value.id == "re"
        and name.attr != "escape"
        and not isinstance(call.args[0], ast.Constant)
    )


@pytest.mark.parametrize("payload", PATHS)
def test_no_name_of_a_script_is_a_path(tmp_path: Path, payload: str) -> None:
    """A script that calls itself so costs one line."""
    script = {"memsim": 1, "name": payload, "turns": [{"user": "It is A-17."}]}
    (tmp_path / "evil.yaml").write_text(json.dumps(script), encoding="utf-8")

    with pytest.raises(MemsimError, match=r"evil\.yaml:1: ") as raised:
        load_scenarios(tmp_path)

    assert str(raised.value).isprintable()
