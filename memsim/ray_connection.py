"""Connect to a Ray cluster: quietly, without telemetry, and without its dashboard."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from memsim.case_queue import available_processors
from memsim.errors import Unmeasurable, UsageError

LOCAL = "ray"
"""What `-j` is for a cluster on this machine."""

_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else Ray warns of a change to come
    "RAY_CLIENT_RECONNECT_GRACE_PERIOD": "10",
}
_TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
"""Ray listens on all interfaces; nobody but this process may talk to the cluster that it makes."""


_TRIES = 3
_BUSY = "Initialization failure from server"
"""What a cluster says that is there, and was too busy to start what serves one client."""

_PATIENCE = 5.0
"""Seconds in which a head that was just started has to take connections; Ray itself waits 30."""


class RayHeadLostError(Unmeasurable):
    """The head of the Ray cluster ended; `memsim run` has kept the cases that were finished."""


class RayConnection:
    """A cluster that this process is connected to.

    Attributes:
        ray: the module of Ray.

    Args:
        ray: the module of Ray.
        address: what `-j` is.
        own: processors of a cluster that was made for this process: no node joins it.
    """

    def __init__(self, ray: Any, address: str, own: int | None = None) -> None:  # noqa: ANN401 - a module
        self.ray = ray
        self._address = address
        self._own = own

    def processors(self) -> int:
        """How many processors the cluster has now.

        Raises:
            RayHeadLostError: the head ended.
            Unmeasurable: the cluster has none.
        """
        self.check_head()
        if self._own is not None:  # to ask a head that just died ends this process, after a minute
            return self._own
        found = int(self.ray.cluster_resources().get("CPU", 0))
        if not found:
            raise Unmeasurable(f"-j {self._address}: the cluster has no processor")
        return found

    def check_head(self) -> None:
        """Check that the head of the cluster is alive.

        Raises:
            RayHeadLostError: it ended.
        """
        # Of a cluster at an address, the connection itself ends.
        node = getattr(self.ray._private.worker, "_global_node", None)  # noqa: SLF001 - Ray tells it nowhere else
        dead = {kind for kind, _ in node.dead_processes()} if node is not None else set()
        if dead & {"gcs_server", "raylet"}:
            raise head_lost(self._address)


def head_lost(address: str) -> RayHeadLostError:
    """The error of a head that ended.

    Args:
        address: what `-j` is.
    """
    said = "the Ray head ended: give the same command again; `memsim run` goes on where it was"
    return RayHeadLostError(f"-j {address}: {said}")


@contextmanager
def connected(address: str) -> Iterator[RayConnection]:
    """Connect to a cluster, and disconnect at the end.

    A process that is connected already stays so, and its cluster is used.

    Args:
        address: `ray` for a cluster on this machine, made now and ended at the end; or
            `ray://host:port`.

    Raises:
        UsageError: Ray is not installed, or there is no cluster at the address.
        RayHeadLostError: the head ended in the meantime.
    """
    local = address == LOCAL
    with _environment(_SETTINGS | (_TOKEN if local else {})):
        ray = _import_ray()
        if ray.is_initialized():
            yield RayConnection(ray, address)
            return
        with silence(ray):
            with _signals_kept():
                _connect(ray, address)
            try:
                yield RayConnection(ray, address, available_processors() if local else None)
            except _connection_errors() as error:
                raise head_lost(address) from error
            finally:
                with suppress(*_connection_errors()):
                    ray.shutdown()


def _connection_errors() -> tuple[type[Exception], ...]:
    """What Ray raises where its head is gone; its client lets some errors of gRPC through."""
    try:
        from grpc import RpcError  # type: ignore[import-untyped]
    except ImportError:
        return (ConnectionError,)
    return ConnectionError, RpcError


def _import_ray() -> Any:  # noqa: ANN401 - a module
    try:
        import ray
    except ImportError as error:
        raise UsageError("-j ray needs Ray: pip install 'memsim[ray]'") from error
    return ray


def _connect(ray: Any, address: str) -> None:  # noqa: ANN401 - a module
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "CRITICAL"}
    if address == LOCAL:
        own = {"num_cpus": available_processors(), "include_dashboard": False}
        ray.init("local", _node_ip_address="127.0.0.1", **own, **quiet)
        return
    try:
        _wait_for(address)
    except (OSError, ValueError) as error:  # a name that can be none of a host is a ValueError
        raise _unanswered(address, error) from error
    for left in reversed(range(_TRIES)):
        try:
            ray.init(address, **quiet)
        except (ConnectionError, OSError, RuntimeError, TimeoutError, ValueError) as error:
            if left and _BUSY in str(error):
                ray.shutdown()
                continue
            raise _unanswered(address, error) from error
        else:
            return


def _wait_for(address: str) -> None:
    """Wait until something takes connections at an address; `OSError` where nothing does."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    end = time.monotonic() + _PATIENCE
    while True:
        left = max(end - time.monotonic(), _PATIENCE / 20)
        try:
            socket.create_connection((host, int(port)), timeout=left).close()
        except OSError:
            if time.monotonic() >= end:
                raise
            time.sleep(_PATIENCE / 20)
        else:
            return


def _unanswered(address: str, error: Exception) -> UsageError:
    told = error.strerror if isinstance(error, OSError) else None
    said = " ".join((told or str(error)).split()) or type(error).__name__
    return UsageError(f"-j {address}: no Ray cluster answers there: {said[:200]}")


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables that the user did not set, for as long as Ray runs."""
    added = [name for name in values if name not in os.environ]
    os.environ.update({name: values[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Undo that Ray handles SIGTERM by itself."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def silence(ray: Any) -> Iterator[None]:  # noqa: ANN401 - a module
    """Keep Ray from printing how workers and nodes died: the lost cases tell that."""
    worker = ray._private.worker  # noqa: SLF001 - no setting of Ray silences these lines
    before, told = worker.print_worker_logs, threading.excepthook

    def tell(error: threading.ExceptHookArgs) -> None:
        # A thread of gRPC that watched the channel to a head that has ended.
        if not (error.exc_type is ValueError and "Channel closed" in str(error.exc_value)):
            told(error)

    worker.print_worker_logs = lambda *_: None
    threading.excepthook = tell
    try:
        yield
    finally:
        worker.print_worker_logs, threading.excepthook = before, told
