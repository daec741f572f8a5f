"""Run `memsim` as `python -m memsim`, for systems without scripts on the path."""

from __future__ import annotations

from memsim.cli import main

if __name__ == "__main__":
    main()
