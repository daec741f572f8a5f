"""What a run was made with: versions, and the state of the working tree. For information only."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata

_PACKAGES = ("memsim", "chromadb", "litellm", "tiktoken", "wordllama")


def provenance() -> dict[str, object]:
    """When, with what versions, and from which commit, if from any."""
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **dict(map(_version, _PACKAGES))},
        "platform": platform.system().lower(),
        **_commit(),
    }


def _version(package: str) -> tuple[str, str | None]:
    try:
        return package, metadata.version(package)
    except metadata.PackageNotFoundError:
        return package, None


def _commit() -> dict[str, object]:
    commit = _git("rev-parse", "HEAD")
    if commit is None:
        return {"commit": None, "dirty": None}
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            ["git", "--no-optional-locks", *arguments],  # noqa: S607 - whichever git the user has
            capture_output=True,
            check=False,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
