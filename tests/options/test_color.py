"""`--color`: colour the output; NO_COLOR and FORCE_COLOR are respected."""

from __future__ import annotations

import re
from collections.abc import Callable

from click.testing import Result

Run = Callable[..., Result]


def test_colour_is_off_in_a_pipe_and_on_when_asked_for(run: Run) -> None:
    """A pipe carries bare text unless somebody insists."""
    plain, colored = run("-k", "mine"), run("-k", "mine", "--color", "always")

    assert "\x1b[" not in plain.stdout
    assert "\x1b[" in colored.stdout


def test_the_table_is_the_same_without_its_colours(run: Run) -> None:
    """Colour carries nothing that the text does not."""
    plain, colored = run(), run("--color", "always")

    bare = re.sub(r"\x1b\[[0-9;]*m", "", colored.stdout)
    assert bare.splitlines()[3:20] == plain.stdout.splitlines()[3:20]
