"""`memsim import` and `memsim export`: from a trace to a run, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from memsim.scenario import load_scenario

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples" / "traces"
OTEL, OPENAI = str(EXAMPLES / "otel.jsonl"), str(EXAMPLES / "openai.jsonl")

Call = Callable[..., Result]


def test_a_trace_becomes_a_scenario(call: Call, project: Path) -> None:
    """It is played beside what the agent itself sent, and says what it still lacks."""
    made = call("import", OTEL, "-o", "scenarios/mine")

    assert (0, "") == (made.exit_code, made.stderr)
    assert "otel 1  2 conversations  8 messages" in made.stdout
    assert "next: memsim run scenarios/mine -s sliding_window -s layered -s recorded" in made.stdout
    assert ["ana.jsonl", "ana.yaml"] == sorted(p.name for p in project.glob("scenarios/mine/*"))

    run = call("run", "scenarios/mine", "-s", "recorded", "-s", "sliding_window", "--no-report")

    assert 7 == run.exit_code
    assert "recorded" in run.stdout
    assert "write questions under the key probes of that file" in run.stderr


def test_the_walk_through_is_true(call: Call, project: Path) -> None:
    """The page shows the file as it is written, and a question as it is answered."""
    page = (EXAMPLES.parents[1] / "import.md").read_text(encoding="utf-8")
    scenario, probes, _needs = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    call("import", OTEL, "-o", "scenarios/mine")
    file = project / "scenarios/mine/ana.yaml"

    assert scenario == file.read_text(encoding="utf-8")

    file.write_text(scenario + probes, encoding="utf-8")
    refs = ("layered", "recorded", "sliding_window:messages=4")
    flags = [flag for ref in refs for flag in ("-s", ref)]
    run = call("run", "scenarios/mine", *flags, "--no-report", "--format", "jsonl")
    cases = {line["strategy"]: line for line in map(json.loads, run.stdout.splitlines())}

    assert 0 == run.exit_code, run.stderr
    assert [1.0, 0.0, 0.0] == [cases[ref]["metrics"]["recall"] for ref in refs]
    assert "recorded" == cases["recorded"]["control"]


def test_the_recorded_memory_is_measured(call: Call, project: Path) -> None:
    """Its documents are evidence where they hold an earlier message."""
    call("import", OTEL, "-o", "scenarios/mine")
    file = project / "scenarios/mine/ana.yaml"
    probe = "{ask: Which order was it?, expect: HG-4471, after: 1, evidence: [m1]}"
    file.write_text(file.read_text(encoding="utf-8") + f"probes:\n  order: {probe}\n", "utf-8")

    run = call("run", "scenarios/mine", "-s", "recorded", "--no-report", "--format", "jsonl")
    cases = {line["strategy"]: line for line in map(json.loads, run.stdout.splitlines())}

    assert [1.0, 1.0] == [
        cases["recorded"]["metrics"][name] for name in ("recall", "evidence_recall")
    ]


def test_drops_are_counted_and_problems_have_their_line(call: Call, project: Path) -> None:
    """The rest comes in, and the exit code says that something is missing."""
    good = '{"messages": [{"role": "user", "content": "hi"}, {"role": "cat", "content": "mew"}]}'
    (project / "a.jsonl").write_text(f"{good}\n{{no\n", encoding="utf-8")
    (project / "b.json").write_text("[1, 2]", encoding="utf-8")

    made = call("import", "a.jsonl", "b.json")

    assert 4 == made.exit_code
    assert "dropped  1  unknown role 'cat'" in made.stdout
    assert "1 scenario written to scenarios/imported" in made.stdout
    first, second = made.stderr.splitlines()
    assert first.startswith("a.jsonl:2: not JSON")
    assert second == "b.json: is of no format of `memsim list formats`; --format names one"


def test_nothing_found_is_exit_5(call: Call, project: Path) -> None:
    """An empty folder is no mistake of the files."""
    (project / "traces").mkdir()

    made = call("import", "traces")

    assert (5, "memsim: no conversation was found\n") == (made.exit_code, made.stderr)


def test_a_dry_run_writes_nothing(call: Call, project: Path) -> None:
    """It says what would come in."""
    made = call("import", str(EXAMPLES), "--dry-run", "-o", "scenarios/mine")

    assert 0 == made.exit_code
    assert "would be written to scenarios/mine; nothing was written" in made.stdout
    assert not (project / "scenarios/mine").exists()


def test_nothing_is_replaced_without_force(call: Call, project: Path) -> None:
    """Somebody may have written probes into the file."""
    call("import", OPENAI)
    file = project / "scenarios/imported/ana.yaml"
    file.write_text("mine", encoding="utf-8")

    again = call("import", OPENAI)

    assert 4 == again.exit_code
    assert "is there already; --force replaces it" in again.stderr
    assert "mine" == file.read_text(encoding="utf-8")
    assert 0 == call("import", OPENAI, "--force").exit_code
    assert "ana" == load_scenario(file).name


def test_a_pace_makes_times(call: Call, project: Path) -> None:
    """The file says that its times are made; a session begins on each day."""
    made = call("import", OPENAI, "--pace", "5min")
    text = (project / "scenarios/imported/ana.jsonl").read_text(encoding="utf-8")
    head, *lines = map(json.loads, text.splitlines())
    times = [line["time"] for line in lines if line.get("role") in {"user", "assistant", "tool"}]

    assert "times were made by --pace" in made.stdout
    assert 300 == head["pace"]
    assert ["2026-01-05T09:00:00Z", "2026-01-05T09:05:00Z"] == times[:2]
    assert "2026-01-06T09:00:00Z" == times[4]
    assert 4 == call("import", OPENAI, "--pace", "soon").exit_code


def test_a_person_gathers_what_names_nobody(call: Call, project: Path) -> None:
    """Else each conversation is a scenario of its own."""
    path = str(EXAMPLES / "sharegpt.json")

    call("import", path, "-o", "apart")
    call("import", path, "-o", "gathered", "--person", "Ana B.")

    assert ["chat-1", "chat-2"] == sorted(p.stem for p in (project / "apart").glob("*.yaml"))
    [file] = (project / "gathered").glob("*.yaml")
    assert (("Ana_B",), 3) == (load_scenario(file).principals, load_scenario(file).turns)


def test_names_of_strangers_lead_nowhere(call: Call, project: Path) -> None:
    """Ids become names of files in the folder, each its own."""
    ids = ["../../etc/passwd", "..", "con", "CON.txt", "a/b", "a\\b", "\u202ex\n", "x" * 300]
    lines = [
        {"id": name, "user": name, "messages": [{"role": "user", "content": "hi", "name": name}]}
        for name in ids
    ]
    (project / "a.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    made = call("import", "a.jsonl", "-o", "scenarios/mine")
    files = sorted(project.glob("scenarios/mine/*.yaml"))

    assert 0 == made.exit_code, made.stderr
    assert len(ids) == len(files) == len(list(project.rglob("*.jsonl"))) - 1
    assert len(ids) == sum(load_scenario(file).turns for file in files)


def test_sessions_are_sorted_by_time(call: Call, project: Path) -> None:
    """However they come in a file."""
    late, early = (
        {"id": f"c{day}", "user": "ana", "messages": [_said(f"on day {day}", day)]}
        for day in (9, 2)
    )
    (project / "a.jsonl").write_text(f"{json.dumps(late)}\n{json.dumps(early)}", encoding="utf-8")

    call("import", "a.jsonl", "-o", "mine")
    lines = (project / "mine/ana.jsonl").read_text(encoding="utf-8").splitlines()

    assert ["c2", "c9"] == [line["session"] for line in map(json.loads, lines) if "session" in line]


def _said(text: str, day: int) -> dict[str, str]:
    return {"role": "user", "content": text, "timestamp": f"2026-03-0{day}T09:00:00Z"}


def test_an_imported_scenario_is_exported_without_loss(call: Call, project: Path) -> None:
    """And comes back with the same lines."""
    call("import", OTEL, "-o", "scenarios/one")
    for form in ("otel", "openai", "inspect"):
        made = call("export", "scenarios/one", "--format", form, "-o", f"{form}.out")
        call("import", f"{form}.out", "-o", f"back/{form}")
        one, back = (
            (project / folder / "ana.jsonl").read_text(encoding="utf-8").splitlines()[1:]
            for folder in ("scenarios/one", f"back/{form}")
        )

        assert f"2 conversations written to {form}.out\n" == made.stdout
        assert one == back


def test_a_script_and_a_run_are_exported(call: Call, project: Path) -> None:
    """A run with what its memories sent; nothing is replaced."""
    call("run", "-s", "sliding_window", "--no-report")
    script = call("export", "first", "--format", "openai", "-o", "script.jsonl")
    run = call("export", "latest", "--format", "otel")

    assert (0, 0) == (script.exit_code, run.exit_code), run.stderr
    back = call("import", "memsim-otel.jsonl", "--dry-run")
    assert (0, "") == (back.exit_code, back.stderr)
    lines = (project / "memsim-otel.jsonl").read_text(encoding="utf-8").splitlines()
    assert any("[sliding_window@" in line and "search_memory" in line for line in lines)
    assert 4 == call("export", "latest", "--format", "otel").exit_code
    assert 4 == call("export", "latest", "--format", "atif").exit_code


def test_formats_are_listed(call: Call) -> None:
    """With their versions, and which can be written."""
    listed = call("list", "formats").stdout

    assert 0 <= listed.index("atif") < listed.index("chatgpt") < listed.index("sharegpt")
    assert 3 == listed.count(" yes ")
