"""Hostile files: what is too large, too deep or too many is refused while it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memsim.errors import ScenarioError
from memsim.scenario import load_scenario
from tests.forks import Forks

HEAD = "memsim: 1\nname: hostile\n"
MEGA = 1024 * 1024
SECONDS = 20
"""Of processor time: ten times what the slowest needs, so that only a blow-up is caught."""

ADDRESS_SPACE = 600 * MEGA
"""Of which an idle interpreter with its libraries maps a good part."""

HOSTILE: dict[str, tuple[Callable[[], str], str]] = {
    "string_of_10_mb": (lambda: f"{HEAD}turns:\n  - user: {'x' * 10 * MEGA}", "larger than 8 MB"),
    "string_of_7_mb": (lambda: f"{HEAD}turns:\n  - user: {'x' * 7 * MEGA}\n", "fine"),
    "emoji": (lambda: f"{HEAD}turns:\n  - user: {chr(0x1F600) * (7 * MEGA // 4)}\n", "fine"),
    "words_of_one_letter": (
        lambda: (
            f"{HEAD}turns:\n  - user: '{'a ' * 3_500_000} A-17'\n    facts: {{o: A-17}}\n"
            "probes:\n  o: {ask: q, expect: A-17}\n"
        ),
        "fine",
    ),
    "key_of_7_mb": (lambda: f"{HEAD}{'x' * 7 * MEGA}: 1\n", "is not YAML"),
    "name_of_7_mb": (lambda: f"memsim: 1\nname: {'x' * 7 * MEGA}\n", "longer than 100"),
    "choice_of_7_mb": (lambda: f"{HEAD}domain: {'x' * 7 * MEGA}\n", "domain must be one of"),
    "number_of_7_mb": (lambda: f"{HEAD}seed: {'9' * 7 * MEGA}\n", "seed must be from 0 to"),
    "duration_of_7_mb": (lambda: f"{HEAD}pace: {'9' * 7 * MEGA}\n", "pace must be a duration"),
    "answer_of_7_mb": (
        lambda: (
            f"{HEAD}turns: [{{user: a}}]\nprobes:\n  a: {{ask: q, expect: {'x ' * 3 * MEGA}}}\n"
        ),
        "more than 2,000 characters",
    ),
    "depth_500_flow": (lambda: f"{HEAD}turns: {'[' * 500}{']' * 500}\n", "50 levels deep"),
    "depth_million_flow": (lambda: f"{HEAD}turns: {'[' * 1_000_000}", "50 levels deep"),
    "depth_million_block": (lambda: "- " * 1_000_000, "50 levels deep"),
    "depth_500_block": (
        lambda: HEAD + "turns:\n" + "".join(f"{' ' * n}-\n" for n in range(1, 500)),
        "50 levels deep",
    ),
    "turns_800000": (
        lambda: HEAD + "turns:\n" + "- user: a\n" * 800_000,
        "contains more than 100,000 values",
    ),
    "turns_flow": (
        lambda: f"{HEAD}turns: [{'{user: a},' * 700_000}]",
        "contains more than 100,000 values",
    ),
    "turns_33000": (lambda: HEAD + "turns:\n" + "- user: a\n" * 33_000, "fine"),
    "keys_500000": (
        lambda: HEAD + "".join(f"k{n}: 1\n" for n in range(500_000)),
        "contains more than 100,000 values",
    ),
    "filler_million": (lambda: f"{HEAD}turns:\n  - filler: 1000000\n", "fine"),
    "repeat_million": (
        lambda: f"{HEAD}turns:\n- repeat: {{times: 1000000, turns: [{{user: Hello $i.}}]}}\n",
        "more than 250,000 turns without filler",
    ),
    "repeat_text": (
        lambda: (
            f"{HEAD}turns:\n- repeat: {{times: 9999, turns: [{{user: '{'a ' * 100_000}$i'}}]}}\n"
        ),
        "says more than 10,000,000 characters",
    ),
    "alias_bomb": (
        lambda: (
            "a: &a [x,x,x,x,x,x,x,x,x]\n"
            + "".join(f"b{n}: &b{n} [{'*a,' * 9}]\n" for n in range(20))
        ),
        "anchors are not allowed",
    ),
    "tag_directives": (
        lambda: "".join(f"%TAG !a{n}! x\n" for n in range(400_000)) + "--- a",
        "a line may not begin with %",
    ),
    "comments": (lambda: "# hello\n" * 900_000, "is empty"),
    "sessions": (
        lambda: (
            HEAD
            + "turns:\n"
            + "".join(f"- session: s{n + 12_000}\n" for n in range(12_000))
            + "- session: {}\n" * 12_000
        ),
        "fine",
    ),
    "chain_of_facts": (
        lambda: (
            HEAD
            + "turns:\n"
            + "".join(
                f"- user: v{n}\n  facts: {{f{n}: {{value: v{n}, replaces: f{max(n - 1, 0)}}}}}\n"
                for n in range(8_000)
            )
        ),
        "more than 100 facts replace one another",
    ),
    "facts_of_one_tool": (
        lambda: (
            f"{HEAD}turns:\n"
            f"- tool: {{name: t, result: '{' '.join(f'v{n}' for n in range(30_000))}', "
            f"facts: {{{', '.join(f'f{n}: v{n}' for n in range(30_000))}}}}}\n"
        ),
        "facts has more than 200 entries",
    ),
    "stale_values": (
        lambda: (
            HEAD
            + "turns:\n"
            + "".join(f"- user: X\n  facts: {{f{n}: X}}\n" for n in range(5_500))
            + "".join(f"- user: Y\n  facts: {{f{n}: Y}}\n" for n in range(5_500))
            + "probes:\n"
            + "".join(f"  q{n}: {{ask: q, expect: X}}\n" for n in range(1_900))
        ),
        "fine",
    ),
    "probes_16000": (
        lambda: (
            f"{HEAD}turns: [{{user: a}}]\nprobes:\n"
            + "".join(f"  q{n}: {{ask: q, expect: a}}\n" for n in range(16_000))
        ),
        "has more than 2,000 probes",
    ),
}

IMPORTS = """
from memsim.errors import ScenarioError
from memsim.scenario import load_scenarios
"""
LOAD = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
resource.setrlimit(resource.RLIMIT_AS, ({ADDRESS_SPACE}, {ADDRESS_SPACE}))
{IMPORTS}
try:
    load_scenarios(sys.argv[1])
except ScenarioError as error:
    print(error)
else:
    print("fine")
"""


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """What forks processes that read scripts."""
    with Forks(IMPORTS) as started:
        yield started


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_file_is_settled_within_limits(name: str, forks: Forks, tmp_path: Path) -> None:
    """A hostile file costs an error, or is fine; never the machine's memory or an afternoon."""
    write, expected = HOSTILE[name]
    path = tmp_path / "hostile.yaml"
    path.write_text(write(), encoding="utf-8")

    done = forks.run(LOAD, str(path))

    assert (0, "") == (done.returncode, done.stderr)
    assert expected in done.stdout
    assert done.stdout.count("\n") == 1


def test_a_folder_and_a_pipe_are_no_scripts(tmp_path: Path) -> None:
    """Only regular files are opened: a pipe would wait for ever."""
    import os

    os.mkfifo(tmp_path / "pipe.yaml")
    for path in (tmp_path, tmp_path / "pipe.yaml"):
        with pytest.raises(ScenarioError, match="is not a regular file"):
            load_scenario(path)
