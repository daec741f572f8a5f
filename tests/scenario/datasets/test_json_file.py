"""JSON files of datasets: read strictly, refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.errors import ScenarioError
from memsim.scenario.datasets import json_file
from memsim.scenario.datasets.json_file import JsonObject, read_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", ":1:1: not JSON: Expecting value"),
        (b"[1,\n 2,\n oops]", ":3:2: not JSON: Expecting value"),
        (b'{"a": 1', ":1:8: not JSON"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', ": duplicate key 'c' in one object"),
        (b"[NaN]", ": NaN is not a JSON number"),
        (b"[-Infinity]", ": -Infinity is not a JSON number"),
        (b'["\xff"]', ": not UTF-8 at byte 2"),
        (b"\xff\xfe[\x00]\x00", ": not UTF-8 at byte 0"),
        (b'["\\ud800"]', ": a text holds half a surrogate pair"),
        (b'{"\\udfff": 1}', ": a text holds half a surrogate pair"),
        (b"[" * 100_000, ": nested too deeply"),
        (b"[1" + b"0" * 5_000 + b"]", ": 1000000000000000000... is too large a number"),
    ],
)
def test_what_is_not_json_is_refused(tmp_path: Path, data: bytes, problem: str) -> None:
    """With the line where there is one."""
    path = tmp_path / "d.json"
    path.write_bytes(data)
    with pytest.raises(ScenarioError) as caught:
        read_json(path)

    assert str(caught.value).startswith(f"{path}{problem}")
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    """Editors put it there."""
    path = tmp_path / "d.json"
    path.write_bytes(b"\xef\xbb\xbf[1]")

    assert [1] == read_json(path)


def test_a_folder_cannot_be_read(tmp_path: Path) -> None:
    """Nor can what is not there."""
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(ScenarioError, match="cannot be read"):
            read_json(path)


def test_a_huge_file_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it fills the memory."""
    monkeypatch.setattr(json_file, "MOST_BYTES", 2**20)
    path = tmp_path / "d.json"
    path.write_bytes(b" " * (2**20 + 1))
    with pytest.raises(ScenarioError, match="larger than 1 MB"):
        read_json(path)


@given(JSON)
def test_whatever_json_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    """Escaped or not, it comes back as it was."""
    path = tmp_path_factory.getbasetemp() / "any.json"
    for ascii_only in (True, False):
        path.write_text(json.dumps(value, ensure_ascii=ascii_only), encoding="utf-8")
        assert value == read_json(path)


def test_entries_say_where_they_are(tmp_path: Path) -> None:
    """Each kind of field is checked, and null is not there."""
    entry = JsonObject(tmp_path, "thing 3", {"t": "x", "n": 4, "l": ["a"], "f": 2.5, "none": None})

    assert ("x", 4, ["a"], ["a"], "2.5") == (
        entry.text("t"),
        entry.number("n"),
        entry.members("l"),
        entry.texts("l"),
        entry.printed("f"),
    )
    assert "t" in entry
    assert "none" not in entry
    with pytest.raises(ScenarioError, match="thing 3 has null as 'none', not a text"):
        entry.text("none")
