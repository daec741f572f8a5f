"""`--max-errors`: unscored probes to tolerate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Run = Callable[..., Result]


BROKEN = '''
from memsim import Context, Query, Strategy


class Broken(Strategy):
    """Fails on one question."""

    def context(self, query: Query) -> Context:
        if "cat called" in query.text:
            raise KeyError("cat")
        return self.env.build.context()
'''


def test_an_unscored_probe_is_exit_seven_unless_tolerated(run: Run, project: Path) -> None:
    """Never green when it could not be measured; as a count or as a share."""
    (project / "strategies/broken.py").write_text(BROKEN, encoding="utf-8")
    flags = ("-s", "broken", "-k", "broken", "--fail-under", "recall=0")

    strict = run(*flags)
    count = run(*flags, "--max-errors", "1")
    share = run(*flags, "--max-errors", "0.2")
    too_few = run(*flags, "--max-errors", "0.05")

    codes = [r.exit_code for r in (strict, count, share, too_few)]
    assert codes == [7, 0, 0, 7]
    assert "1 unmeasured" in strict.stdout
    assert "1 probe could not be scored" in strict.stdout


def test_nonsense_is_exit_four(run: Run) -> None:
    """Negative, a fraction above one, a word."""
    for text in ("-1", "1.5", "many"):
        assert run("--max-errors", text).exit_code == 4
