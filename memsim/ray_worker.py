"""An actor on a Ray node: plays cases one after the other, with what was sent for them."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memsim.heap import keep_large_blocks_apart, rare_garbage_collection
from memsim.package_versions import versions_here
from memsim.shipped_files import Unpacker
from memsim.worker_process import CaseError, CaseReply, attempt

if TYPE_CHECKING:
    from memsim.shipped_files import Shipment
    from memsim.suite.cases import CaseOutcome, CaseSpec


@dataclass(frozen=True, slots=True)
class NodeReport:
    """What a node says of itself before it plays.

    Attributes:
        address: of the node.
        versions: of Python and the packages that numbers depend on.
        platform: its system.
    """

    address: str
    versions: Mapping[str, str | None]
    platform: str


class CasePlayer:
    """Plays cases on a node; the class of the actor.

    Args:
        play: how a case is played.
    """

    def __init__(self, play: Callable[[CaseSpec], CaseOutcome]) -> None:
        self._play = play
        self._unpacker = Unpacker()
        self._open = ExitStack()
        self._open.enter_context(rare_garbage_collection())
        keep_large_blocks_apart()

    def report(self) -> NodeReport:
        """Tell that it has started, where, and with which versions."""
        import ray

        address = str(ray.util.get_node_ip_address())  # type: ignore[no-untyped-call]
        return NodeReport(address, versions_here(), platform.system())

    def close(self) -> None:
        """Remove what was sent."""
        self._unpacker.close()

    def play(
        self, spec: CaseSpec, sent: Shipment, stored: Mapping[str, Any]
    ) -> CaseReply | CaseError:
        """Play a case.

        Args:
            spec: the case.
            sent: names what it needs.
            stored: where that is in the object store, by fingerprint.
        """
        import ray

        def here(case: CaseSpec) -> CaseOutcome:
            return self._play(
                self._unpacker.unpack(case, sent, lambda name: bytes(ray.get(stored[name])))
            )

        return attempt(spec, here)
