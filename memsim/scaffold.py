"""Create a project for `memsim init`: a small one that passes and is read in a minute.

::

    scenarios/first.yaml       a conversation with facts and questions
    strategies/mine.py         a minimal memory
    tests/test_memory.py       assertions about the memory
    reports/.gitignore         keeps runs out of the repository
    pyproject.toml             a [tool.memsim] block, appended if there is none
    .github/workflows/memsim.yml   the same on every push, with --github
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memsim.discovery.strategy_source import StrategySource, strategies_in
from memsim.errors import ConfigError, RefError

ScaffoldAction = Literal["created", "kept", "extended"]

SCENARIO = """\
memsim: 1
name: first
about: A customer names things early, changes her mind once, and talks about much else.
domain: support
turns:
  - user: Hello, my order number is NL-48213. My card ends in 4411.
    facts: {order: NL-48213, card: "4411"}
  - assistant: Thank you, I have it open.
  - user: The delivery address is Birkenweg 7.
    facts: {address: Birkenweg 7}
  - assistant: Birkenweg it is.
  - user: My cat is called Admiral, and she is afraid of couriers.
    facts: {cat: Admiral}
  - assistant: We shall ring softly.
  - user: The invoice goes to my company, Brandt and Daughters.
    facts: {company: Brandt and Daughters}
  - user: The lamp that I bought is green, and the warranty lasts until 2031.
    facts: {lamp: green, warranty: "2031"}
  - filler: 24                      # generated small talk, the same for the same seed
  - user: I have moved, so the delivery address is now Lindenhof 12.
    facts: {address: {value: Lindenhof 12, replaces: address}}
  - assistant: Thank you, I have noted that.
  - user: The parcel can be left with my neighbour, Ms Okafor, at door 9.
    facts: {neighbour: Ms Okafor, door: "9"}
  - user: The best day for the delivery is Thursday.
    facts: {day: Thursday}
  - filler: 3
probes:
  order: {ask: "What is the order number?", expect: NL-48213}
  card: {ask: "What does the card end in?", expect: "4411"}
  address: {ask: "What is the delivery address?", expect: Lindenhof 12, not: Birkenweg 7}
  cat: {ask: "What is the cat called?", expect: Admiral}
  company: {ask: "Which company does the invoice go to?", expect: Brandt and Daughters}
  lamp: {ask: "What colour is the lamp?", expect: green}
  warranty: {ask: "Until when does the warranty last?", expect: "2031"}
  neighbour: {ask: "Which neighbour can the parcel be left with?", expect: Ms Okafor}
  door: {ask: "At which door does the neighbour live?", expect: "9"}
  day: {ask: "Which day is best for the delivery?", expect: Thursday}
  phone: {ask: "What is the telephone number?", expect: unknown}
expect:
  recall: ">= 0.25"                 # of every strategy; a floor and ceilings are not judged
  context_peak: "<= 4096"
"""

STRATEGY = '''\
"""A window that never lets go of a message with a number in it."""

from __future__ import annotations

from memsim import Context, Environment, Message, Query, Strategy


class Mine(Strategy):
    """The last messages, and every older one that holds a digit; what tools said is left out.

    Args:
        messages: how many of the newest are kept whatever they say.
    """

    def __init__(self, env: Environment, *, messages: int = 12) -> None:
        super().__init__(env)
        self.messages = messages
        self.said: list[Message] = []

    def observe(self, message: Message) -> None:
        self.said.append(message)

    def context(self, query: Query) -> Context:
        spoken = [m for m in self.said if m.role != "tool" and not m.calls]
        older, newest = spoken[: -self.messages], spoken[-self.messages :]
        numbered = [m for m in older if any(c.isdigit() for c in m.text)]
        build = self.env.build
        whole = build.context(build.section("recalled", numbered), build.section("window", newest))
        return build.fit(whole, query.budget)[0]
'''

TESTS = '''\
"""What must stay true of strategies/mine.py, whatever else changes in it."""

from __future__ import annotations

import memsim


def test_identifiers_outlive_the_window() -> None:
    """A number said once, thirty turns ago, is still known."""
    result = memsim.run("first", "mine")

    assert not {"order", "card", "address"} & set(result.missed)


def test_the_budget_is_kept() -> None:
    """However little room there is, the context is not larger."""
    result = memsim.run("first", "mine:messages=100", budget="512")

    assert result.metrics["context_peak"] <= 512


def test_it_is_worth_more_than_a_plain_window() -> None:
    """The idea has to pay for itself."""
    mine = memsim.run("first", "mine:messages=12")
    plain = memsim.run("first", "sliding_window:messages=12")

    assert mine.recall > plain.recall
'''

MINE = "strategies/mine.py"
TEST = "tests/test_memory.py"
CONFIG = """\
[tool.memsim]
scenarios = ["scenarios"]
strategies = ["mine", "sliding_window:messages=12"]   # a floor and ceilings are always added
budget = ["4k"]
seed = 7
reports = "reports"
"""

FILES = {
    "scenarios/first.yaml": SCENARIO,
    MINE: STRATEGY,
    TEST: TESTS,
    "reports/.gitignore": "runs/\n",
}

WORKFLOW = """\
name: memsim

on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  memory:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
          cache: pip
          cache-dependency-path: pyproject.toml
      - run: pip install memsim
      # Marks broken bounds in the pull request and adds the report to the job's summary. Once a
      # baseline is committed and configured, what became worse than it fails as well.
      - run: memsim run --strict --progress plain
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: memsim
          path: reports/runs/
          if-no-files-found: ignore
"""
GITHUB = ".github/workflows/memsim.yml"

NEXT = (
    "memsim run",
    "memsim explain 'scenarios/first.yaml::first[sliding_window:messages=12@4k]::order'",
    "memsim check strategies/mine.py",
    "memsim baseline save",
    "pytest",
)
"""Commands to type after `memsim init`, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaffoldFile:
    """What was done with one file.

    Attributes:
        action: `created`, `kept` as it was, or `extended` by a block at its end.
    """

    path: str
    action: ScaffoldAction


def scaffold(folder: Path, *, github: bool = False) -> tuple[ScaffoldFile, ...]:
    """Write the missing files of a project into a folder.

    If `strategies/mine.py` exists already, the block names the strategies in it, and no tests of
    the example strategy are written.

    Args:
        folder: the project; created if it does not exist.
        github: also write a workflow for GitHub Actions.

    Raises:
        ConfigError: a file cannot be written, or `pyproject.toml` is not valid TOML.
    """
    try:
        # Checked first, so that a broken pyproject.toml does not leave half a project behind.
        kept = _kept(folder / MINE)
        configuration = _extended(folder / "pyproject.toml", _settings(kept))
        folder.mkdir(parents=True, exist_ok=True)
        files = _files(kept) | ({GITHUB: WORKFLOW} if github else {})
        done = [_write(folder, name, text) for name, text in files.items()]
        return (*done, _configure(folder, configuration))
    except OSError as error:
        path = error.filename or folder
        raise ConfigError(f"cannot be written: {error.strerror}", path=path) from error


def _write(folder: Path, name: str, text: str) -> ScaffoldFile:
    path = folder / name
    if path.exists() or path.is_symlink():
        return ScaffoldFile(path=name, action="kept")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return ScaffoldFile(path=name, action="created")


def _kept(path: Path) -> tuple[StrategySource, ...] | None:
    """The strategies in an existing file; None if there is no file."""
    if not path.exists():
        return None
    try:
        return strategies_in(path)
    except RefError:
        return ()


def _settings(kept: tuple[StrategySource, ...] | None) -> str:
    if kept is None or any(found.name == "mine" for found in kept):
        return CONFIG
    usable = [f.name for f in kept if all(param.default is not None for param in f.params)]
    return CONFIG.replace('"mine", ', f'"{usable[0]}", ' if usable else "")


def _files(kept: tuple[StrategySource, ...] | None) -> dict[str, str]:
    mine = [found for found in kept or () if found.name == "mine"]
    tested = kept is None or any(p.name == "messages" for found in mine for p in found.params)
    return {path: text for path, text in FILES.items() if tested or path != TEST}


def _extended(path: Path, block: str) -> str | None:
    """The text of a `pyproject.toml` with the block; None if it has one already."""
    if not path.exists():
        return block
    try:
        text = path.read_text(encoding="utf-8")
        tools = tomllib.loads(text).get("tool", {})
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"not valid TOML: {error}", path=path) from error
    if "memsim" in tools:
        return None
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{block}"


def _configure(folder: Path, text: str | None) -> ScaffoldFile:
    path = folder / "pyproject.toml"
    if text is None:
        return ScaffoldFile(path=path.name, action="kept")
    action: ScaffoldAction = "extended" if path.exists() else "created"
    path.write_text(text, encoding="utf-8")
    return ScaffoldFile(path=path.name, action=action)
