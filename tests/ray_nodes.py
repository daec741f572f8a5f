"""Two Ray nodes on this machine, in processes of their own: python ray_nodes.py PORT.

It prints `ready`, and then does what it reads: `node` kills the second node, `head` kills all
processes of the head. It ends with its standard input.
"""

from __future__ import annotations

import os
import signal
import sys

NODE_CPUS = 1


def main(port: int) -> None:
    """Start both nodes and obey."""
    from ray.cluster_utils import Cluster

    local = {"node_ip_address": "127.0.0.1", "include_dashboard": False}
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": NODE_CPUS, "ray_client_server_port": port, **local},
    )
    second = cluster.add_node(num_cpus=NODE_CPUS, node_ip_address="127.0.0.1")
    print("ready", flush=True)  # noqa: T201 - the tests read it
    for line in sys.stdin:
        node = second if line.strip() == "node" else cluster.head_node
        for _, process in node.live_processes():
            os.kill(process.pid, signal.SIGKILL)
        print("killed", flush=True)  # noqa: T201 - the tests read it
    cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
