"""A small project, and the results of one run of it that many tests read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

import memsim

SCENARIO = """\
memsim: 1
name: desk
principals: [ana, ben]
turns:
  - user: My order is A-17 and my city is Bergen.
    facts: {order: A-17, city: Bergen}
  - assistant: Noted.
  - filler: 6
  - session: {id: ben-1, principal: ben}
  - user: My code is 7741.
    facts: {code: {value: "7741", private: true}}
  - session: {id: ana-1, principal: ana}
  - user: Hello again.
probes:
  order: {ask: What is my order number?, expect: A-17}
  hat: {ask: What colour is my hat?, expect: unknown, ability: abstain}
  code: {ask: What is the code of ben?, expect: unknown, ability: abstain, as: ana}
"""

STRATEGIES = """\
from memsim import Context, Message, Query, Strategy


class Last(Strategy):
    def __init__(self, env, messages: int = 2) -> None:
        super().__init__(env)
        self.messages = messages
        self.seen: list[Message] = []

    def observe(self, message: Message) -> None:
        self.seen.append(message)

    def context(self, query: Query) -> Context:
        build = self.env.build
        return build.context(build.section("window", self.seen[-self.messages:]))
"""


class Everything(memsim.Strategy):
    """Sends every message to everybody."""

    def __init__(self, env: memsim.Environment) -> None:
        super().__init__(env)
        self.seen: list[memsim.Message] = []

    def observe(self, message: memsim.Message) -> None:
        """Keep it."""
        self.seen.append(message)

    def context(self, query: memsim.Query) -> memsim.Context:
        """All of it."""
        return self.env.build.context(self.env.build.section("window", self.seen))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a scenario and a strategy."""
    root = tmp_path_factory.mktemp("project")
    (root / "pyproject.toml").write_text("[tool.memsim.gate]\nmin_probes = 1\n", encoding="utf-8")
    for name, text in (("scenarios/desk.yaml", SCENARIO), ("strategies/last.py", STRATEGIES)):
        (root / name).parent.mkdir()
        (root / name).write_text(dedent(text), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def project(folder: Path) -> Iterator[Path]:
    """The project as the present folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


@pytest.fixture(scope="module")
def results(project: Path) -> memsim.Results:
    """A strategy by name and one as a class, at one budget, with the controls."""
    return memsim.run("desk", ["last", Everything], budgets="2k")
