"""Lets `python -m memsim` stand in for the `memsim` command where scripts are not on the path."""

from __future__ import annotations

from memsim.cli import main

if __name__ == "__main__":
    main()
