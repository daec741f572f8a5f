"""`memsim certify`: an honest server holds every clause, and each broken one fails its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from memsim.certification.clause import AREAS, all_clauses
from memsim.certification.kit import certify
from memsim.cli.program import program
from memsim.errors import ExitCode
from tests.doubles.broken_servers import BROKEN
from tests.doubles.contract_server import HonestServer, serving_double
from tests.doubles.hostile_server import ATTACKS, PATIENCE, HostileServer, serving_hostile

BY_NAME = {each.name: each for each in all_clauses()}


class Small(HonestServer):
    """Offers a search, and nothing else."""

    offers = ("search",)


def test_each_clause_has_a_double() -> None:
    """And each area that the contract names has a clause."""
    assert BROKEN.keys() == BY_NAME.keys()
    assert {each.area for each in all_clauses()} == set(AREAS)


def test_each_clause_is_documented() -> None:
    """With its rule and what it needs, in the order of the kit."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "certify.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `") and "." in line[:20]]
    needs = {c.name: ", ".join(f"`{n}`" for n in c.needs) or "nothing" for c in all_clauses()}
    expected = [f"| `{c.name}` | {c.rule[:-1]} | {needs[c.name]} |" for c in all_clauses()]

    assert rows == expected


def test_an_honest_server_holds_every_clause() -> None:
    """But for the one on routes that are not offered, which has nothing to try."""
    with serving_double(HonestServer()) as url:
        found = certify(url, timeout=5)
        again = certify(url, timeout=5)

    assert [r for r in found.results if r.result not in {"holds", "n/a"}] == []
    assert [r.name for r in found.results if r.result == "n/a"] == ["identity.routes"]
    assert found.exit_code is ExitCode.PASSED
    assert found.fingerprint == again.fingerprint


def test_what_is_not_offered_is_never_green() -> None:
    """A clause without its capability is n/a, whatever the server would do."""
    with serving_double(Small()) as url:
        found = certify(url, timeout=5)
    needing = {each.name for each in all_clauses() if each.needs and each.needs != ("search",)}

    assert {r.name for r in found.results if r.result == "n/a"} >= needing
    assert {r.name: r.detail for r in found.results if r.result == "broken"} == {}
    assert found.exit_code is ExitCode.PASSED


@pytest.mark.parametrize("name", BROKEN)
def test_a_double_fails_its_clause(name: str) -> None:
    """The clause is broken, and says what was seen."""
    with serving_double(BROKEN[name]()) as url:
        found = certify(url, timeout=5, clauses=[BY_NAME[name]])

    assert [(r.result, bool(r.detail)) for r in found.results] == [("broken", True)]
    assert found.exit_code is ExitCode.FAILED


@pytest.mark.parametrize("name", BROKEN)
def test_a_double_fails_no_other_clause(name: str) -> None:
    """Every other clause holds, or does not apply."""
    with serving_double(BROKEN[name]()) as url:
        found = certify(url, timeout=5)

    assert [r.name for r in found.results if r.result not in {"holds", "n/a"}] == [name]


def test_a_dead_server_is_unmeasured() -> None:
    """Nobody there, and one that falls silent: soon, and never green."""
    gone = certify("http://127.0.0.1:1", timeout=1)
    with serving_hostile(HostileServer(ATTACKS["is silent"])) as url:
        silent = certify(url, timeout=PATIENCE)

    assert gone.exit_code is ExitCode.UNMEASURABLE
    assert "nothing could be tried" in gone.sentence
    assert silent.exit_code is ExitCode.UNMEASURABLE
    assert {r.result for r in silent.results if r.name.startswith("idempotence")} == {"unmeasured"}


def test_a_hostile_server_holds_nothing(subtests: pytest.Subtests) -> None:
    """Whatever it answers to a search; and it is given up soon."""
    names = ("ordering.turn", "update.latest", "isolation.principals", "deletion.reset")
    clauses = [BY_NAME[name] for name in names]
    for attack, answer in ATTACKS.items():
        with subtests.test(server=attack), serving_hostile(HostileServer(answer)) as url:
            found = certify(url, timeout=PATIENCE, clauses=clauses)

            assert found.counts["holds"] == 0
            assert found.exit_code in {ExitCode.FAILED, ExitCode.UNMEASURABLE}


def test_the_command_writes_its_reports(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Terminal, Markdown and JSON say the same, and the exit code is that of the findings."""
    with serving_double(BROKEN["limits.k"]()) as url:
        flags = ["certify", url, "-k", "limits"]
        table = CliRunner().invoke(program, [*flags, "-o", str(tmp_path)])
        page = CliRunner().invoke(program, [*flags, "--format", "markdown"])
        record = CliRunner().invoke(program, [*flags, "--format", "json"])
    told = json.loads(record.output)

    assert {r.exit_code for r in (table, page, record)} == {ExitCode.FAILED}
    assert "BROKEN  limits.k" in table.output
    assert "k is 1, and 5 texts are returned" in page.output
    assert told["fingerprint"] in table.output
    assert (told["exit"], told["counts"]["broken"], told["server"]["name"]) == (1, 1, "honest")
    assert (tmp_path / "certificate.md").read_text("utf-8") == page.output
    assert json.loads((tmp_path / "certificate.json").read_text("utf-8")) == told
    for wrong in (["ftp://x"], [url, "-k", "none"], ["two_customers"]):
        with subtests.test(wrong=wrong):
            result = CliRunner().invoke(program, ["certify", *wrong])
            assert result.exit_code == ExitCode.USAGE
            assert len(result.output.strip().splitlines()) == 1
