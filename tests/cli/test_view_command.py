"""`memsim view` and `memsim run --open`: the page of a run, in a browser that is a stub."""

from __future__ import annotations

import json
import os
import shlex
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from memsim.cli import saved_runs, view, web_browser
from memsim.cli.web_browser import open_page, why_not
from memsim.runs import Run

Call = Callable[..., Result]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The pages that were made, in a tenth of the time of real ones."""
    made: list[Path] = []

    def write(run: Run, _summary: object) -> Path:
        made.append(run.folder / "report.html")
        made[-1].write_text("<p>a page</p>", encoding="utf-8")
        return made[-1]

    monkeypatch.setattr(view, "write_page", write)
    monkeypatch.setattr(saved_runs, "write_page", write)
    return made


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the stubbed browser was given; this is no CI job and no ssh session."""
    found: list[str] = []

    class Stub(webbrowser.BaseBrowser):
        def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
            found.append(url)
            return True

    for name in ("CI", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BROWSER", "stub")
    monkeypatch.setattr(webbrowser, "get", Stub)
    return found


@pytest.fixture
def folder(project: Path, call: Call) -> Path:
    """The folder of one run without a page."""
    call("run", "-k", "mine", "--no-report")
    (found,) = (project / "reports/runs").iterdir()
    return found


def test_the_page_of_a_run_is_made_once_and_opened(
    folder: Path, call: Call, drawn: list[Path], opened: list[str]
) -> None:
    """By latest, by the beginning of its id and by its path; again only for newer records."""
    page = folder / "report.html"
    shown = f"reports/runs/{folder.name}/report.html\n"

    for run in ((), (folder.name[:14],), (str(folder),)):
        done = call("view", *run)
        assert (0, shown, "") == (done.exit_code, done.stdout, done.stderr)
    assert [page] == drawn
    assert [page.as_uri()] * 3 == opened

    later = page.stat().st_mtime_ns + 10**9
    os.utime(folder / "cases.jsonl", ns=(later, later))
    assert 0 == call("view", "--no-open").exit_code
    assert [page, page] == drawn
    assert 3 == len(opened)


def test_a_run_opens_its_page_at_its_end(
    project: Path, call: Call, drawn: list[Path], opened: list[str]
) -> None:
    """`--open` implies the page; a dry run has none, and the exit code is that of the run."""
    assert 0 == call("run", "-k", "mine", "--open", "--dry-run").exit_code
    assert ([], []) == (drawn, opened)

    done = call("run", "-k", "mine", "--open", "-q", "--fail-under", "recall=1")

    assert 1 == done.exit_code
    assert done.stdout.endswith("/report.html\n")
    assert [page.as_uri() for page in drawn] == opened
    assert 1 == len(opened)
    assert drawn[0].is_relative_to(project)


def test_where_no_browser_opens_the_path_is_printed_and_why(
    folder: Path, call: Call, drawn: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In CI; the exit code is 0, and standard output is the path alone."""
    monkeypatch.setenv("CI", "true")
    done = call("view")

    assert 0 == done.exit_code
    assert f"reports/runs/{folder.name}/report.html\n" == done.stdout
    said = f"not opened: this is a CI job; open it yourself: {drawn[0].as_uri()}\n"
    assert said == done.stderr


@pytest.mark.parametrize(
    ("environ", "platform", "reason"),
    [
        ({"CI": "1", "BROWSER": "x"}, "darwin", "this is a CI job"),
        ({"CI": "false"}, "darwin", ""),
        ({"SSH_TTY": "/dev/pts/1", "DISPLAY": ":10"}, "linux", "this is an ssh session"),
        ({"SSH_TTY": "/dev/pts/1", "BROWSER": "x"}, "linux", ""),
        ({}, "linux", "there is no screen"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", ""),
        ({}, "darwin", ""),
        ({}, "win32", ""),
    ],
)
def test_when_a_browser_can_be_opened(environ: dict[str, str], platform: str, reason: str) -> None:
    """A browser that the user names counts more than an ssh session, and less than CI."""
    assert reason == why_not(environ, platform)


def test_a_browser_is_never_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that stays open is left alone; one that fails or is missing is told of."""
    place = tmp_path / "page ü.html"
    noted = tmp_path / "noted"
    notes = f"import pathlib, sys, time; pathlib.Path({str(noted)!r}).write_text(sys.argv[1])"
    environ = {"BROWSER": "set"}

    def tell(command: list[str]) -> str:
        browser = webbrowser.GenericBrowser(command)
        monkeypatch.setattr(webbrowser, "get", lambda: browser)
        return open_page(place, environ)

    monkeypatch.setattr(web_browser, "PATIENCE", 20.0)
    assert "" == tell([sys.executable, "-c", notes, "%s"])
    assert place.as_uri() == noted.read_text()
    monkeypatch.setattr(web_browser, "PATIENCE", 0.2)
    assert "" == tell(["sleep", "1"])
    assert "the browser did not start" == tell([str(tmp_path / "missing"), "%s"])
    monkeypatch.setattr(web_browser, "PATIENCE", 20.0)
    assert "the browser did not start" == tell([sys.executable, "-c", "raise SystemExit(3)"])


@pytest.mark.parametrize("name", ["lastest", "../nowhere", "reports/runs", "", "a\nb"])
def test_a_bad_name_of_a_run_is_one_line_and_exit_four(
    folder: Path, call: Call, drawn: list[Path], opened: list[str], name: str
) -> None:
    """Nothing is drawn or opened."""
    done = call("view", name)

    assert (4, "") == (done.exit_code, done.stdout)
    assert 1 == done.stderr.count("\n")
    assert ([], []) == (drawn, opened)


def test_a_damaged_run_is_exit_four(folder: Path, call: Call, opened: list[str]) -> None:
    """As for every command; no page is left behind."""
    (folder / "probes.jsonl").write_bytes(b"{}\n")
    done = call("view")

    assert 4 == done.exit_code
    assert 1 == done.stderr.count("\n")
    assert not (folder / "report.html").exists()
    assert [] == opened


def test_a_project_may_always_open_the_page(
    project: Path, call: Call, drawn: list[Path], opened: list[str]
) -> None:
    """By the key `open` of `[tool.memsim]`."""
    path = project / "pyproject.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[tool.memsim]", "[tool.memsim]\nopen = true", 1), "utf-8")

    call("run", "-k", "mine")

    assert (1, 1) == (len(drawn), len(opened))


def test_the_variable_browser_is_obeyed(
    folder: Path, spawn: Callable[..., object], tmp_path: Path
) -> None:
    """By the whole program, with a page that is there."""
    (folder / "report.html").write_text("<p>a page</p>", encoding="utf-8")
    noted = tmp_path / "noted"
    note = f"pathlib.Path({str(noted)!r}).write_text(json.dumps(sys.argv))"
    script = tmp_path / "stub.py"
    script.write_text(f"import json, pathlib, sys; {note}", encoding="utf-8")
    browser = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} %s"

    done = spawn("view", CI="", BROWSER=browser)

    assert (0, "") == (done.returncode, done.stderr)  # type: ignore[attr-defined]
    assert (folder / "report.html").as_uri() == json.loads(noted.read_text())[1]
