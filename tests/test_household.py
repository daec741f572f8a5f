"""What surrounds the code holds too: locks, make targets, changelog, reasons, start-up."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
LOCKS = sorted(ROOT.glob("requirements/*.lock"))
COMPROMISED = ("1.82.7", "1.82.8")
HEAVY = ["chromadb", "litellm", "matplotlib", "pandas"]

LIBRARIES = sorted(ROOT.glob("requirements/libraries/*.lock"))
SERVERS = sorted(ROOT.glob("requirements/mcp/*.lock"))

each_lock = pytest.mark.parametrize(
    "lock", [*LOCKS, *LIBRARIES, *SERVERS], ids=lambda path: path.name
)
each_lock_of_memsim = pytest.mark.parametrize(
    "lock", [lock for lock in LOCKS if lock.name != "docs.lock"], ids=lambda path: path.name
)


def project() -> dict[str, Any]:
    """The parsed pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pins(lock: Path) -> dict[str, list[str]]:
    """Each locked `name==version ; marker` line with the lines of hashes that follow it."""
    locked: dict[str, list[str]] = {}
    for line in lock.read_text(encoding="utf-8").splitlines():
        if line.startswith((" ", "\t")):
            locked[next(reversed(locked))].append(line.strip(" \\"))
        elif line and not line.startswith("#"):
            locked[line.strip(" \\")] = []
    return locked


def canonical(name: str) -> str:
    """A distribution's name as locks write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked_names(lock: Path) -> set[str]:
    """The names of the distributions in a lock."""
    return {canonical(Requirement(pin).name) for pin in pins(lock)}


def test_litellm_excludes_the_compromised_releases() -> None:
    """Two releases of litellm were malicious: the specifier admits neither, nor any before them."""
    requirements = [Requirement(line) for line in project()["project"]["dependencies"]]
    (litellm,) = (each for each in requirements if each.name == "litellm")

    admitted = [v for v in (*COMPROMISED, "1.82.6", "1.82.9") if v in litellm.specifier]

    assert admitted == ["1.82.9"]
    assert {f"!={version}" for version in COMPROMISED} <= {str(s) for s in litellm.specifier}


def test_there_are_locks_to_install_from() -> None:
    """To run, to develop, to measure peers, for a small real model, and to build the docs."""
    names = ["dev.lock", "docs.lock", "live.lock", "peers.lock", "run.lock"]

    assert [lock.name for lock in LOCKS] == names


@each_lock_of_memsim
def test_locked_litellm_is_sound(lock: Path) -> None:
    """Every lock pins a litellm from after the compromise."""
    (pin,) = (Requirement(line) for line in pins(lock) if line.startswith("litellm=="))
    version = str(pin.specifier).removeprefix("==")

    assert Version(version) >= Version("1.82.9")
    assert version not in COMPROMISED


def test_each_library_under_test_is_pinned_alike(subtests: pytest.Subtests) -> None:
    """Makefile, pyproject.toml, lock and strategy name the same libraries and versions."""
    texts = [path.read_text("utf-8") for path in sorted(ROOT.glob("strategies/*.py"))]
    told = re.findall(
        r'^    library = "(.+)"\n.*\n    requirements = "(.+)"$', "\n".join(texts), re.MULTILINE
    )
    (named,) = re.findall(
        r"^LIBRARIES := (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )

    assert named.split() == [lock.stem for lock in LIBRARIES] == sorted(name for name, _ in told)
    for name, requirements in told:
        with subtests.test(library=name):
            locked = {
                pin.partition(" ")[0] for pin in pins(ROOT / f"requirements/libraries/{name}.lock")
            }

            assert project()["dependency-groups"][f"library-{name}"] == [
                *requirements.split(),
                "uv>=0.9",
            ]
            assert set(re.sub(r"\[.*?\]", "", requirements).split()) <= locked


def preset_of(name: str) -> str:
    """The text of an MCP server's preset."""
    return (ROOT / f"memsim/adapters/mcp_presets/{name}.yaml").read_text("utf-8")


def test_each_mcp_server_under_test_is_pinned_alike() -> None:
    """Makefile, pyproject.toml, locks and presets name the same servers and versions."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = {
        kind: re.findall(rf"^{kind}_SERVERS := (.+)$", makefile, re.MULTILINE)[0].split()
        for kind in ("PYPI", "NPM")
    }
    packages = sorted(ROOT.glob("requirements/mcp/*/package.json"))
    presets = sorted(p.stem for p in (ROOT / "memsim/adapters/mcp_presets").glob("*.yaml"))

    assert named["PYPI"] == [lock.stem for lock in SERVERS]
    assert named["NPM"] == [package.parent.name for package in packages]
    assert sorted([*named["PYPI"], *named["NPM"]]) == presets
    for lock in SERVERS:
        wanted = project()["dependency-groups"][f"mcp-{lock.stem}"]
        assert wanted[-1] == "uv>=0.9"
        assert " ".join(wanted[:-1]) in preset_of(lock.stem)
        assert set(wanted[:-1]) <= {pin.partition(" ")[0] for pin in pins(lock)}
    for package in packages:
        ((name, version),) = json.loads(package.read_text("utf-8"))["dependencies"].items()
        locked = json.loads(package.with_name("package-lock.json").read_text("utf-8"))["packages"]
        assert f"{name}@{version}" in preset_of(package.parent.name)
        assert locked[f"node_modules/{name}"]["version"] == version
        assert all(each.get("integrity") for place, each in locked.items() if place)


@each_lock
def test_every_locked_requirement_is_pinned_and_hashed(lock: Path) -> None:
    """An exact version and at least one sha256, so that nothing else can be installed."""
    loose = [
        line
        for line, hashes in pins(lock).items()
        if not re.match(r"[a-z0-9-]+==[^ ]+( ; .+)?$", line)
        or not hashes
        or not all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes)
    ]

    assert loose == []


@each_lock
def test_locks_name_no_hosts(lock: Path) -> None:
    """Where packages come from is for the machine that installs them to say."""
    text = lock.read_text(encoding="utf-8")

    assert re.findall(r"\S*://\S*|--(?:extra-)?index-url.*|--find-links.*", text) == []


@each_lock_of_memsim
def test_locks_follow_pyproject(lock: Path) -> None:
    """What pyproject.toml asks for is locked, and the lock satisfies it."""
    asked = [Requirement(line) for line in project()["project"]["dependencies"]]
    locked = [Requirement(line) for line in pins(lock)]
    unmet = [
        str(need)
        for need in asked
        if not any(
            canonical(need.name) == canonical(have.name)
            and need.specifier.contains(str(have.specifier).removeprefix("=="), prereleases=True)
            for have in locked
        )
    ]

    assert unmet == []


def test_the_development_lock_contains_the_runtime_lock() -> None:
    """Tests run on the very versions that a user gets."""
    run, dev = (set(pins(ROOT / "requirements" / name)) for name in ("run.lock", "dev.lock"))

    assert run - dev == set()


@pytest.mark.parametrize(
    ("lock", "groups"), [("dev.lock", ["dev", "editable"]), ("docs.lock", ["docs"])]
)
def test_a_lock_contains_every_tool(lock: str, groups: list[str]) -> None:
    """Each name of its groups is locked."""
    asked = project()["dependency-groups"]
    wanted = {canonical(Requirement(line).name) for group in groups for line in asked[group]}

    assert wanted - locked_names(ROOT / "requirements" / lock) == set()


@pytest.mark.parametrize(
    "target", ["demo", "test", "test-live", "lint", "bench", "docs", "lock", "clean", "help"]
)
def test_the_makefile_has_and_explains_the_target(target: str) -> None:
    """`make help` prints each target's `##` comment."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert re.search(rf"^{target}:.*## \S", makefile, re.MULTILINE)


def test_an_old_python_is_refused_in_one_clear_line(tmp_path: Path) -> None:
    """Whoever has too old a Python reads what to do, not a failing install."""
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2 && exit 0\nexit 1\n')
    old.chmod(0o755)

    made = subprocess.run(
        ["make", "demo", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    said = made.stderr.splitlines()[0]
    assert made.returncode != 0
    assert said.startswith("memsim needs python3, 3.11 or newer")
    assert "Python 3.9.2" in said
    assert not (tmp_path / "venv").exists()


PIP = """#!/bin/sh
case "$*" in
*"config list")
    echo "global.index-url='https://mirror/simple'"
    echo ":env:.find-links='/wheels /more'"
    echo "global.extra-index-url='file:///one file:///two'"
    ;;
*) echo "$*" >>"{folder}/pip" ;;
esac
"""
UV = """#!/bin/sh
echo "$*" >"{folder}/uv"
exit {code}
"""


@pytest.mark.parametrize(("code", "by_pip"), [(0, 1), (2, 2)], ids=["uv", "pip"])
def test_a_lock_is_installed_from_where_pip_would(tmp_path: Path, code: int, by_pip: int) -> None:
    """It is told of the indexes that pip is told of; pip installs uv itself, and what uv cannot."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("python", PIP), ("uv", UV)):
        program = programs / name
        program.write_text(text.format(folder=tmp_path, code=code), encoding="utf-8")
        program.chmod(0o755)
    lock = ROOT / "requirements" / "run.lock"

    made = subprocess.run(
        [ROOT / "requirements" / "install", lock, tmp_path],
        capture_output=True,
        text=True,
        check=True,
    )

    told = (tmp_path / "uv").read_text(encoding="utf-8")
    assert "--require-hashes" in told
    assert (
        " --default-index https://mirror/simple --index file:///one --index file:///two"
        f" --find-links /wheels --find-links /more -r {lock}\n"
    ) in told
    calls = (tmp_path / "pip").read_text(encoding="utf-8").splitlines()
    assert [f"{tmp_path}/uv.lock", str(lock)][:by_pip] == [c.rpartition(" ")[2] for c in calls]
    assert all("--require-hashes" in call for call in calls)
    assert ["uv"] == [pin.partition("==")[0] for pin in pins(tmp_path / "uv.lock")]
    assert (by_pip - 1) == len(made.stderr.splitlines())


def test_the_changelog_has_an_unreleased_section() -> None:
    """There is always a place to write the next change."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert re.search(r"^## \[Unreleased\]$", changelog, re.MULTILINE)


def test_the_newest_release_has_a_date_and_the_version_of_the_project() -> None:
    """The first section after the unreleased one."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    [(version, day), *_] = re.findall(r"^## \[(\d.*)\](?: - (.+))?$", changelog, re.MULTILINE)

    assert version == project()["project"]["version"]
    assert date.fromisoformat(day)


def test_pages_name_the_wheel_of_this_version(subtests: pytest.Subtests) -> None:
    """A command that installs a wheel can be copied."""
    version = project()["project"]["version"]
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        with subtests.test(page=path.name):
            named = re.findall(r"memsim-(\d[\w.]*?)-py3-none-any", path.read_text("utf-8"))

            assert set(named) <= {version}


def test_every_ignored_lint_rule_has_a_reason() -> None:
    """A line that names a rule to ignore says why on the same line."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text[text.index("[tool.ruff.lint]") : text.index("[tool.ruff.lint.pylint]")]
    ignores = re.findall(r'^ +"[A-Z]+[0-9]*",.*$', section, re.MULTILINE)

    assert len(ignores) > 10
    assert [line for line in ignores if not re.search(r"# \S.{5,}", line)] == []


def _by_udp() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        sending.sendto(b"?", ("192.0.2.1", 53))


@pytest.mark.parametrize(
    "reach",
    [
        lambda: socket.create_connection(("192.0.2.1", 80), timeout=1),
        lambda: socket.socket().connect_ex(("192.0.2.1", 80)),
        lambda: socket.getaddrinfo("example.org", 443),
        _by_udp,
    ],
    ids=["connection", "quiet connection", "name", "datagram"],
)
def test_the_network_is_closed_to_tests(reach: Callable[[], object], reached: list[str]) -> None:
    """What reaches beyond this machine fails at once, and is noted even where it is caught."""
    with pytest.raises(AssertionError, match="a test reached for the network"):
        reach()

    assert 1 == len(reached)
    reached.clear()


def test_the_network_is_closed_to_what_tests_start() -> None:
    """Clients of HTTP in processes of their own are sent where nobody listens."""
    source = (
        "import urllib.request\n"
        "try:\n"
        "    urllib.request.urlopen('http://192.0.2.1/', timeout=9)\n"
        "except OSError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )

    assert "Connection refused" in done.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["list"]])
def test_start_up_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    """The command line answers before any model, store, frame or plot library is loaded."""
    source = (
        "import json, runpy, sys\n"
        f"sys.argv = ['memsim', *{arguments!r}]\n"
        "code = 0\n"
        "try:\n"
        "    runpy.run_module('memsim', run_name='__main__')\n"
        "except SystemExit as done:\n"
        "    code = done.code or 0\n"
        f"heavy = sorted(set(sys.modules) & set({HEAVY!r}))\n"
        "print(json.dumps([code, heavy]), file=sys.stderr)\n"
    )
    path = {"PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=tmp_path,
        env=path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stderr.splitlines()[-1]) == [0, []]
