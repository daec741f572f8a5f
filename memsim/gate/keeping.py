"""Keeps a comparison with its run, so that the run can be shown again as it was judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from memsim.errors import RunFolderError
from memsim.files import GRACE, sweep, write_whole
from memsim.gate.findings import Comparison, Found, Moved, Stale

if TYPE_CHECKING:
    from pathlib import Path

COMPARISON = "comparison.json"


def keep_comparison(folder: Path, comparison: Comparison | None) -> None:
    """Write a comparison into a run's folder, or take the one away that is there.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    path = folder / COMPARISON
    try:
        if comparison is None:
            path.unlink(missing_ok=True)
            return
        text = json.dumps(asdict(comparison), indent=1, ensure_ascii=True, allow_nan=False)
        sweep(path, GRACE)
        write_whole(path, f"{text}\n".encode("ascii"), private=False)
    except OSError as error:
        raise RunFolderError(f"cannot be written: {error.strerror}", path=path) from error


def kept_comparison(folder: Path) -> Comparison | None:
    """The comparison that a run was judged by; None where there was none.

    Raises:
        RunFolderError: it is damaged.
    """
    path = folder / COMPARISON
    try:
        return _decode(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise RunFolderError("is damaged", path=path) from error


def _decode(found: Mapping[str, Any]) -> Comparison:
    return Comparison(
        **{key: found[key] for key in ("base", "now", "made", "confidence", "clustered")},
        cells=tuple(Found(**cell | {"altered": tuple(cell["altered"])}) for cell in found["cells"]),
        stale=tuple(Stale(**part) for part in found["stale"]),
        new=tuple(found["new"]),
        gone=tuple(found["gone"]),
        moved=tuple(Moved(**probe) for probe in found["moved"]),
    )
