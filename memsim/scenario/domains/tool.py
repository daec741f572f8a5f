"""Output of programs, line by line."""

from __future__ import annotations

from memsim.scenario.domains import Domain, listed

_LINES = (
    "{level} {part}: {event} after {many} ms",
    "{level} {part}: {event}, attempt {few}",
    "{level} {part}: request {code} {outcome}",
    "{level} {part}: worker {name} {outcome}",
    "{level} {part}: {many} rows read, {few} skipped",
    "{level} {part}: {event} for job {code}",
    "{level} {part}: cache at {few} percent, {event}",
    "{level} {part}: handed {code} over to {name}",
    "{level} {part}: queue length {many}",
    "{level} {part}: {name} {outcome} in {many} ms",
)

DOMAIN = Domain(
    user=(),
    assistant=_LINES,
    slots={
        "level": ("INFO", "DEBUG", "TRACE", "WARN", "NOTICE"),
        "part": listed(
            "ingest, billing.sync, scheduler, http.access, indexer, mail.out, auth.gate, "
            "storage.tier, metrics, replica, gateway, export.csv"
        ),
        "event": listed(
            "lease renewed, retry planned, batch flushed, heartbeat received, index merged, "
            "snapshot written, token refreshed, connection reused, page evicted"
        ),
        "outcome": ("accepted", "finished", "was throttled", "timed out", "resumed", "was parked"),
    },
)
