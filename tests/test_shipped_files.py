"""What cases need on another machine: sent once by content, and used only where it is the same."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from memsim.discovery.project import find_project
from memsim.discovery.strategy_ref import StrategyRef
from memsim.errors import RefError, UsageError
from memsim.executors import choose_executor
from memsim.models.model_access import ModelAccess
from memsim.ray_executor import RayPool
from memsim.shipped_files import Packer, Shipment, Unpacker
from memsim.suite.cases import CaseSpec
from memsim.suite.scenarios import find_scenarios

STRATEGY = """
from memsim import Context, Strategy


class Mine(Strategy):
    \"\"\"Remembers nothing.\"\"\"

    def observe(self, message):
        pass

    def context(self, query):
        return Context()
"""
SCENARIO = """memsim: 1
name: codes
turns:
  - user: The code is 1000.
    facts: {code: "1000"}
probes:
  code: {after: end, ask: What is the code?, expect: "1000"}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a scenario and a strategy of its own."""
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\n")
    (tmp_path / "mine.py").write_text(STRATEGY)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "codes.yaml").write_text(SCENARIO)
    return tmp_path


def spec_of(project: Path, strategy: str = "mine.py") -> CaseSpec:
    """The case of a project's first scenario."""
    found = find_project(project)
    (scenario, *_) = find_scenarios([], found)
    file = StrategyRef(name="Mine", path=strategy, file=project / strategy, class_name="Mine")
    return CaseSpec(scenario=scenario, strategy=file, budget=4096, turns=8, probes=1)


def sent_of(spec: CaseSpec) -> tuple[Shipment, dict[str, bytes]]:
    """What is sent of a case."""
    packer = Packer(lambda data: data)
    sent = packer.pack(spec)
    return sent, {name: bytes(data) for name, data in packer.stored.items()}  # type: ignore[call-overload]


def test_what_is_sent_is_played_where_its_files_are_not(project: Path) -> None:
    """The scenario and the strategy are those that were sent, by their content."""
    spec = spec_of(project)
    script = spec.scenario.load()
    sent, stored = sent_of(spec)
    shutil.rmtree(project / "scenarios")
    source = (project / "mine.py").read_bytes()
    (project / "mine.py").write_text("raise RuntimeError\n")

    unpacker = Unpacker()
    there = unpacker.unpack(spec, sent, stored.__getitem__)

    assert pickle.dumps(there.scenario.load()) == pickle.dumps(script)
    assert there.strategy.file is not None
    assert there.strategy.file != project / "mine.py"
    assert there.strategy.file.read_bytes() == source
    assert (there.key, there.scenario, there.strategy) == (spec.key, spec.scenario, spec.strategy)
    unpacker.close()
    assert not there.strategy.file.exists()


def test_a_file_that_is_there_is_used_where_it_lies(project: Path) -> None:
    """So that its tracebacks are the same."""
    spec = spec_of(project)
    sent, stored = sent_of(spec)

    assert Unpacker().unpack(spec, sent, stored.__getitem__).strategy.file == project / "mine.py"


def test_the_same_content_is_sent_once(project: Path) -> None:
    """Whatever it is called."""
    shutil.copy(project / "mine.py", project / "yours.py")
    packer = Packer(lambda data: data)

    one, other = packer.pack(spec_of(project)), packer.pack(spec_of(project, "yours.py"))

    assert one == other
    assert len(packer.stored) == 2


def test_a_strategy_whose_other_files_differ_there_is_refused(project: Path) -> None:
    """What its parameters name is not sent, so it must be the same."""
    spec = spec_of(project)
    sent, stored = sent_of(spec)

    with pytest.raises(RefError, match="missing or differs on this node"):
        Unpacker().unpack(spec, replace(sent, source="0" * 64), stored.__getitem__)


@pytest.mark.parametrize(
    ("access", "said"),
    [
        (ModelAccess(ledger=Path("spent")), "--max-cost cannot be kept on other machines"),
        (ModelAccess(mode="new"), "other machines cannot record"),
    ],
)
def test_what_would_be_written_elsewhere_is_refused(
    project: Path, access: ModelAccess, said: str
) -> None:
    """Before a cluster is looked for."""
    spec = replace(spec_of(project), access=access)
    executor = choose_executor("ray://127.0.0.1:1", 1, 8)

    assert isinstance(executor, RayPool)
    with pytest.raises(UsageError, match=said):
        list(executor.run([spec], lambda _: pytest.fail("it was played")))
