"""Run memsim on two Ray nodes of this machine: python ray_nodes.py KILL RUN ARGUMENT...

KILL is `node` to kill the second node once two cases are kept in the folder RUN, or `none`. The
arguments are those of memsim.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any


def _kept(folder: Path) -> int:
    files = [folder / name for name in ("cases.jsonl", "ahead.jsonl")]
    return sum(file.read_bytes().count(b"\n") for file in files if file.exists())


def _kill_after_two(node: Any, folder: Path) -> None:  # noqa: ANN401 - a node of Ray
    while _kept(folder) < 2:
        time.sleep(0.05)
    for _, process in node.live_processes():
        os.kill(process.pid, signal.SIGKILL)


def main(kill: str, folder: Path, arguments: list[str]) -> int:
    """Start the nodes, run memsim, and return its exit code."""
    import ray
    from ray.cluster_utils import Cluster

    from memsim.cli.program import program

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    second = cluster.add_node(num_cpus=1)
    ray.init(cluster.address, log_to_driver=False, logging_level=logging.CRITICAL)
    sys.argv[:] = ["memsim", *arguments]
    if kill == "node":
        Thread(target=_kill_after_two, args=(second, folder), daemon=True).start()
    try:
        program()
    except SystemExit as ended:
        return int(ended.code or 0)
    finally:
        ray.shutdown()
        cluster.shutdown()  # type: ignore[no-untyped-call]
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
