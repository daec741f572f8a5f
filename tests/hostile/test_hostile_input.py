"""Scripts, records and saved state come from strangers: limits hold, and nothing is run."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import memsim
from memsim.canary.secrets import NAMES, hinted, redact_values
from memsim.cli.program import program
from memsim.errors import MemsimError
from memsim.leakage.attack_files import read_folder
from memsim.runs import list_runs
from memsim.scenario.scenario_loader import load_scenarios

SOURCES = sorted(Path(memsim.__file__).parent.rglob("*.py"))
NEVER = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
"""Modules that run what they read."""
RUNS = {"eval", "exec", "compile", "__import__"}

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcde", "bcdef", strict=True)
)

SCRIPTS = {
    "a bomb of aliases": f"memsim: 1\n{BOMB}",
    "a circle": "memsim: 1\nname: &a [*a]\n",
    "a merge": "memsim: 1\n<<: {name: x}\n",
    "a tag": "memsim: 1\nname: !!python/object/apply:os.system [true]\n",
    "a key twice": "memsim: 1\nname: a\nname: b\n",
    "depth": "memsim: 1\nname: " + "[" * 500 + "]" * 500 + "\n",
    "several documents": "memsim: 1\n---\nmemsim: 1\n",
    "a directive": "%YAML 1.1\n---\nmemsim: 1\n",
    "a control character": 'memsim: 1\nname: "a\x1b[2Jb"\n',
    "a byte order mark": "\ufeffmemsim: 1\n",
    "too many values": "memsim: 1\nname: [" + "1," * 100_001 + "]\n",
    "size": "memsim: 1\n#" + "x" * (9 * 2**20) + "\n",
}


def test_a_hostile_script_costs_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """No expansion, no recursion, no code: an error that names the file."""
    for read in [load_scenarios, read_folder]:
        for text in SCRIPTS.values():
            with subtests.test(text=text, read=read):
                head = text if read is load_scenarios else text.replace("memsim: 1", "leakage: 1")
                (tmp_path / "evil.yaml").write_text(head, encoding="utf-8")

                with pytest.raises(MemsimError) as raised:
                    read(tmp_path)

                said = str(raised.value)
                assert "evil.yaml" in said
                assert "\n" not in said
                assert said.isprintable()
                assert len(said) < 400


def calls(source: Path) -> list[ast.Call]:
    """Every call in a module."""
    tree = ast.parse(source.read_text("utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def test_nothing_that_is_read_is_run() -> None:
    """No module of the package unpickles, evaluates, or loads YAML that makes objects."""
    found = []
    for source in SOURCES:
        tree = ast.parse(source.read_text("utf-8"))
        for node in ast.walk(tree):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [f"{source.name}: {n}" for n in names if n.partition(".")[0] in NEVER]
        for call in calls(source):
            if isinstance(call.func, ast.Name) and call.func.id in RUNS:
                found.append(f"{source.name}: {call.func.id}")
            if isinstance(call.func, ast.Attribute):
                name = ast.unparse(call.func)
                if name in {"yaml.load", "yaml.unsafe_load", "yaml.full_load", "os.system"}:
                    found.append(f"{source.name}:{call.lineno}: {name}")
                if name.endswith((".extractall", "numpy.load")):
                    found.append(f"{source.name}:{call.lineno}: {name}")

    # Of names of fields in our own source; what a run sends to its own workers through Ray, which
    # unpickles whatever its cluster sends; of a closed list of classes, from our own child; and of
    # messages that the same process packed, and that never leave it.
    assert [
        "fast_dataclass.py: exec",
        "original_messages.py: pickle",
        "packed_surfaces.py: pickle",
        "shipped_files.py: pickle",
        "wire.py: pickle",
    ] == found


def test_the_bomb_is_one() -> None:
    """What the loader refuses would be large: 300 bytes are megabytes when written."""
    loaded = yaml.safe_load(BOMB)

    assert len(BOMB) < 300
    assert len(json.dumps(loaded)) > 1_000_000


CREDENTIALS = {
    "aws-access-key": "AKIA" + "IOSFODNN7EXAMPLE"[:16],
    "github-token": "ghp_" + "a1B2" * 9,
    "anthropic-key": "sk-ant-" + "a1b2" * 10,
    "slack-token": "xoxb-" + "123456789012-abcdefgh",
    "stripe-key": "sk_live_" + "a1b2" * 6,
    "private-key": "-----BEGIN " + "RSA PRIVATE KEY-----",
    "google-key": "AIza" + "a1B2-" * 7,
    "huggingface-token": "hf_" + "aB" * 17,
}


@pytest.mark.parametrize("kind", CREDENTIALS)
def test_a_real_credential_is_in_no_record(kind: str) -> None:
    """However deep it stands, in values and in keys; what is beside it stays."""
    secret = CREDENTIALS[kind]
    record = {"answer": f"use {secret} now", "turns": [{secret: [secret, 1, None, True]}]}

    kept = redact_values(record)

    assert kind in NAMES
    assert hinted(json.dumps(record))
    assert {
        "answer": f"use [{kind}] now",
        "turns": [{f"[{kind}]": [f"[{kind}]", 1, None, True]}],
    } == kept
    assert not hinted("The dentist is on Tuesday, at ten.")


def test_a_run_keeps_no_real_credential(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that a script, and so every context and answer, holds is left out of what is written."""
    secret = CREDENTIALS["github-token"]
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "leaky.yaml").write_text(
        f"memsim: 1\nname: leaky\nturns:\n  - user: The token is {secret} as before.\n"
        f"    facts: {{token: {secret}}}\n  - assistant: Noted.\n"
        f"probes:\n  token: {{after: end, ask: What is the token?, expect: {secret}}}\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)

    done = CliRunner().invoke(
        program, ["run", "scenarios", "-k", "leaky", "-s", "full_context", "-j", "1"]
    )

    (run,) = list_runs(tmp_path / "reports")
    texts = {p.name: p.read_text("utf-8") for p in sorted(run.rglob("*")) if p.is_file()}
    assert 0 == done.exit_code, done.output
    assert [] == [name for name, text in texts.items() if secret in text]
    assert "[github-token]" in texts["probes.jsonl"]
