"""MemoryAgentBench: each text becomes a scenario, a bad file an error in a line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memsim.errors import ConfigError, ScenarioError
from memsim.message import Message
from memsim.scenario.datasets import load_dataset
from memsim.scenario.datasets.fact_list import AnswerFact, FactList
from memsim.scenario.script import Scenario, Turn
from memsim.suite.single import run

Row = dict[str, Any]

FACTS = (
    "Here is a list of facts:",
    "0. Ida lives in the city of Oslo.",
    "1. Odd lives in the city of Moss.",
    "2. Ida works in the city of Rome.",
    "3. Ida lives in the city of Rome.",
    "4. The capital of Norway is Oslo.",
    "5. The capital of Norway is Bergen.",
)


def row(source: str = "factconsolidation_sh_6k", **more: object) -> Row:
    """A list of facts with two questions."""
    return {
        "context": "\n".join(FACTS) + "\n",
        "questions": ["In which city does Ida live?", "What is the capital of Norway?"],
        "answers": [["Rome"], ["Oslo", " "]],
        "metadata": {"source": source, "question_types": None, "demo": None},
        **more,
    }


def loaded(folder: Path, *rows: object) -> list[Scenario]:
    """The scenarios of a file with these rows."""
    path = folder / "Conflict_Resolution.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return load_dataset("memoryagentbench", path)


def told(scenario: Scenario) -> list[Message]:
    """Every message."""
    turns = (event for event in scenario.events(7) if isinstance(event, Turn))
    return [message for turn in turns for message in turn.heard]


def test_each_fact_is_a_message_with_its_number(tmp_path: Path) -> None:
    """Blank lines are left out."""
    (scenario,) = loaded(tmp_path, row())

    assert "memoryagentbench-factconsolidation_sh_6k-1" == scenario.name
    assert list(FACTS) == [m.text for m in told(scenario)]
    assert [f"m{n}" for n in range(1, 8)] == [m.id for m in told(scenario)]


def test_the_evidence_is_the_newest_fact_and_older_values_are_stale(tmp_path: Path) -> None:
    """Where a newer fact contradicts the gold answer, there is none."""
    (scenario,) = loaded(tmp_path, row())
    city, capital = scenario.probes

    assert (("m5",), ("Oslo",), ("Rome",)) == (city.evidence, city.forbid, city.expect)
    assert ("update", "tokens") == (city.ability, city.match)
    assert {"category": "facts-single-hop", "size": "6k"} == city.labels
    assert ((), "no valid evidence") == (capital.evidence, capital.excluded)
    assert "contradicted" == capital.labels["gold"]
    assert ("Oslo",) == capital.expect


def test_several_hops_have_no_evidence(tmp_path: Path) -> None:
    """The files cite none, and the facts between are unknown."""
    (scenario,) = loaded(tmp_path, row("factconsolidation_mh_6k"))

    assert [()] * 2 == [p.evidence for p in scenario.probes]
    assert {"category": "facts-multi-hop", "size": "6k"} == scenario.probes[0].labels
    assert "multi-session" == scenario.probes[0].ability


def test_another_text_is_told_in_pieces(tmp_path: Path) -> None:
    """They end with a line or a word, and together are the whole text; some make a session."""
    lines = [f"{n} " + "word " * 300 for n in range(20)] + ["x" * 4_500] + ["short line"] * 99
    whole = row("eventqa_full", context="\n".join(lines), answers=[["a"], ["b"]])
    whole["metadata"]["question_types"] = ["first", "second"]
    (scenario,) = loaded(tmp_path, whole)
    said = told(scenario)

    assert "".join("".join(lines).split()) == "".join("".join(m.text.split()) for m in said)
    assert max(len(m.text) for m in said) <= 2_000
    assert 23 == len(said)
    assert ["session-1", "session-3"] == [said[0].session, said[-1].session]
    assert sorted(m.time for m in said) == [m.time for m in said]
    assert [{"category": "eventqa_full", "type": t} for t in ("first", "second")] == [
        p.labels for p in scenario.probes
    ]
    assert "recall" == scenario.probes[0].ability


def test_one_question_takes_all_answers(tmp_path: Path) -> None:
    """As the published evaluation does."""
    (scenario,) = loaded(tmp_path, row("detective_qa", questions=["Who?"], answers=[["a"], ["b"]]))

    assert [("a", "b")] == [p.expect for p in scenario.probes]


def test_lines_and_lists_are_the_same_and_texts_of_a_source_are_counted(tmp_path: Path) -> None:
    """A folder has all its files but that of the names of films."""
    one, two = loaded(tmp_path, row(), row())
    (tmp_path / "lines.jsonl").write_text(f"{json.dumps(row())}\n\n", encoding="utf-8")
    (tmp_path / "entity2id.json").write_text("{}", encoding="utf-8")
    alone = load_dataset("memoryagentbench", tmp_path / "lines.jsonl")
    names = [s.name for s in load_dataset("memoryagentbench", tmp_path)]

    assert [one.fingerprint] == [s.fingerprint for s in alone]
    assert two.name.endswith("-2")
    assert [f"memoryagentbench-factconsolidation_sh_6k-{n}" for n in (1, 2, 3)] == names


def test_it_is_played_and_answered(tmp_path: Path) -> None:
    """From the evidence alone the reader knows it."""
    (scenario,) = loaded(tmp_path, row())

    assert "PASS" == run(scenario, "oracle").probes[0]["outcome"]
    assert "PASS" != run(scenario, "no_memory").probes[0]["outcome"]


def parquet_of(rows: list[Row] | Exception, unpacked: int = 9) -> dict[str, SimpleNamespace]:
    """The part of pyarrow that is used, with a file of these rows."""

    def read(columns: list[str]) -> SimpleNamespace:
        assert columns[-1] == "metadata.question_types"
        if isinstance(rows, Exception):
            raise rows
        return SimpleNamespace(to_pylist=lambda: rows)

    group = SimpleNamespace(total_byte_size=unpacked)
    metadata = SimpleNamespace(row_group=lambda _: group)
    file = SimpleNamespace(metadata=metadata, num_row_groups=1, read=read)
    return {
        "pyarrow": SimpleNamespace(ArrowException=ArithmeticError, BufferReader=lambda data: data),
        "pyarrow.parquet": SimpleNamespace(ParquetFile=lambda _: file),
    }


def test_parquet_is_read_where_pyarrow_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the rows of the export as JSON; what is wrong with it is one line."""
    path = tmp_path / "Conflict_Resolution.parquet"
    path.write_bytes(b"PAR1")

    def load(rows: list[Row] | Exception, unpacked: int = 9) -> list[Scenario]:
        for name, module in parquet_of(rows, unpacked).items():
            monkeypatch.setitem(sys.modules, name, module)
        return load_dataset("memoryagentbench", path)

    assert [s.fingerprint for s in loaded(tmp_path, row())] == [
        s.fingerprint for s in load([row()])
    ]
    with pytest.raises(ScenarioError, match=r"not Parquet: no magic bytes$"):
        load(ArithmeticError("no magic\x0fbytes"))
    with pytest.raises(ScenarioError, match="unpacks to more than 256 MB"):
        load([], 2**40)
    path.unlink()
    with pytest.raises(ScenarioError, match="cannot be read"):
        load([])


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or to export it."""
    path = tmp_path / "Conflict_Resolution.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(ConfigError, match=r"pip install 'memsim\[parquet\]', or export it as JSON"):
        load_dataset("memoryagentbench", path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"context": ""}, "row 1 has an empty 'context'"),
        ({"context": "a\n" * 200_001}, "row 1 has more than 200,000 messages"),
        ({"metadata": None}, "row 1: metadata is null, not an object"),
        ({"metadata": {}}, "row 1: metadata has no 'source'"),
        ({"questions": []}, "row 1 has no question"),
        ({"answers": [["Rome"]]}, "row 1 has 2 questions and answers to 1"),
        ({"answers": [["Rome"], []]}, "row 1 has no answer to question 2"),
        ({"answers": ["Rome", "Oslo"]}, "has a text as 'answers', not a list"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    """With the file and the place in it."""
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, row(**change))

    assert problem in str(caught.value)
    assert "Conflict_Resolution.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file_of_rows_is_refused(tmp_path: Path) -> None:
    """By its shape, its text, or because nothing is there."""
    path = tmp_path / "x.jsonl"
    with pytest.raises(ScenarioError, match="cannot be read"):
        load_dataset("memoryagentbench", path)
    path.write_bytes(b'\n{"a": "\\ud800"}\n')
    with pytest.raises(ScenarioError, match="half a surrogate pair"):
        load_dataset("memoryagentbench", path)
    path.write_bytes(b"\n[\n")
    with pytest.raises(ScenarioError, match=r"x\.jsonl:2: not JSON"):
        load_dataset("memoryagentbench", path)
    path.write_bytes(b"\n" * 10_001)
    with pytest.raises(ScenarioError, match="has more than 10,000 lines"):
        load_dataset("memoryagentbench", path)
    path.write_bytes(b"\n")
    with pytest.raises(ScenarioError, match="holds no row"):
        load_dataset("memoryagentbench", path)
    path.with_suffix(".json").write_bytes(b"{}")
    with pytest.raises(ScenarioError, match="not a list of rows"):
        load_dataset("memoryagentbench", path.with_suffix(".json"))
    with pytest.raises(ConfigError, match="memoryagentbench has no option 'x'"):
        load_dataset("memoryagentbench", path, {"x": "1"})


def test_a_fact_answers_with_the_rarest_words_of_a_question() -> None:
    """It has to name everybody whom the question names."""
    facts = FactList(
        [
            "The head of the land of Peru is Ida.",
            "The head of the land of Chad is Ida.",
            "Ida is the one who rules in Lima.",
            "Odd sings.",
        ]
    )

    assert AnswerFact(place=2) == facts.answer("Which head rules?", ["Ida"])
    assert None is facts.answer("Who is head of Mali?", ["Ida"])
    assert None is facts.answer("Who is head of Peru?", ["Eli"])
    assert None is facts.answer("?", ["*"])
    assert AnswerFact(place=3) == facts.answer("What does Odd do?", ["SINGS"])


def test_other_words_count_against_a_fact() -> None:
    """A longer name is another."""
    facts = FactList(["go-go was made in Peru.", "The song Go was made in Peru."])

    assert AnswerFact(place=0) == facts.answer("Where was go-go made?", ["Peru"])


def test_values_that_hold_the_answer_are_not_stale() -> None:
    """A shorter or longer name of the same is no other value."""
    facts = FactList(["Ida lives in New York.", "Ida lives in Rome.", "Ida lives in York."])

    found = facts.answer("Where lives Ida?", ["York"])
    assert AnswerFact(place=2, superseded=("Rome",)) == found
