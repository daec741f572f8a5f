"""Objects that a notebook shows by themselves: texts in fixed width, and plots."""

from __future__ import annotations

import html
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.errors import RunFolderError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from memsim.report.layout import TextLine
    from memsim.report.plots.style import Picture

WIDTH = 120
"""Columns of a text."""


class TextBlock(str):
    """A text of several lines, which a notebook and a prompt show as it is."""

    __slots__ = ()

    @classmethod
    def of_lines(cls, lines: Iterable[TextLine]) -> TextBlock:
        """Join lines without their colours."""
        from memsim.cli.terminal import calm

        return cls("\n".join(calm(line.text).rstrip() for line in lines))

    def __repr__(self) -> str:
        """The text itself."""
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self)}</pre>"


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot of a run, which a notebook shows with its caption.

    Attributes:
        picture: the plot as reports have it.
    """

    picture: Picture

    @property
    def figure(self) -> Figure:
        """The matplotlib figure."""
        return self.picture.figure

    @property
    def caption(self) -> str:
        """What the plot shows, in words and numbers."""
        return self.picture.caption

    def save(self, path: str | Path) -> Path:
        """Write the plot in the format of the path's suffix, such as `.svg` or `.png`.

        Raises:
            RunFolderError: it cannot be written.
        """
        from memsim.report.plots import write_picture

        target = Path(path)
        try:
            write_picture(self.picture, target)
        except OSError as error:
            raise RunFolderError(f"cannot be written: {error.strerror}", path=target) from error
        return target

    def __repr__(self) -> str:
        """Its name and caption."""
        return f"<plot {self.picture.name}: {self.caption}>"

    def _repr_html_(self) -> str:
        import base64

        drawn = BytesIO()
        self.figure.savefig(drawn, format="png", dpi=100, metadata={"Software": None})
        data = base64.b64encode(drawn.getvalue()).decode("ascii")
        said = html.escape(self.caption)
        return f'<img src="data:image/png;base64,{data}" alt="{said}"><p>{said}</p>'
