"""Work on a code base, with modules and colleagues that exist nowhere."""

from __future__ import annotations

from memsim.scenario.domains import Domain, listed

_MODULES = listed(
    "the parser, the scheduler, the cache layer, the importer, the router, the session store, the "
    "mailer, the renderer, the migration script, the job queue, the rate limiter, the config "
    "loader, the search index, the uploader"
)

DOMAIN = Domain(
    user=(
        "Why does {module} call {other} before {moment}?",
        "{name} wants to split {module} because of {smell}.",
        "The review of change {code} says {smell} is back.",
        "Could {module} share {piece} with {other}?",
        "After {moment} the log shows {few} warnings from {module}.",
        "{name} measured {many} calls of {piece} during {moment}.",
        "What would it take to remove {smell} from {module}?",
        "Is {piece} thread-safe while {module} is running?",
        "I do not understand why {name} put {piece} into {module}.",
        "Commit {code} touched {module} and nobody mentioned {smell}.",
        "How do other teams test {piece} without {module}?",
        "The build of {code} failed in {module} right after {moment}.",
        "{name} suggests {technique} for {module}.",
        "Would {technique} make {smell} any better?",
        "Please explain {piece} as if {name} had never seen {module}.",
        "Would {technique} slow down {moment}?",
    ),
    assistant=(
        "{module} needs {piece} during {moment}, hence the order.",
        "{technique} would take {smell} out of {module}.",
        "I read {module}: {piece} is only used around {moment}.",
        "{name} is right that {smell} costs something, though little.",
        "Change {code} moved {piece}; the behaviour stayed the same.",
        "A test of {piece} can do without {module}.",
        "There are {few} callers of {piece}, all of them in {module}.",
        "I would leave {module} alone until {moment} is covered by tests.",
        "People here like {technique}, and {name} has done it before.",
        "The warnings come from {piece}, not from {module}.",
        "Between {code} and now, {module} grew by {many} lines.",
        "{smell} usually shows up first at {moment}.",
    ),
    asides=(
        "The comment in {module} is out of date.",
        "{name} may know more.",
        "See {code} for the discussion.",
        "It is not urgent.",
        "Let us keep {technique} in mind.",
        "There is no test for {moment} yet.",
        "The types already say as much.",
        "It reads better than {smell}.",
    ),
    slots={
        "module": _MODULES,
        "other": _MODULES,
        "piece": listed(
            "the retry loop, the lock, the token bucket, the visitor, the event bus, the buffer "
            "pool, the backoff table, the feature switch, the serializer, the connection pool, "
            "the path resolver, the fixture factory"
        ),
        "smell": listed(
            "the circular import, the global state, the nested callback, the duplicated check, "
            "the hidden write, the long parameter list, the silent fallback, the broad except, "
            "the magic constant, the dead branch"
        ),
        "moment": listed(
            "start-up, shutdown, the nightly run, the first request, a cold start, the warm-up, a "
            "rollback, the deploy, garbage collection, the health check"
        ),
        "technique": listed(
            "dependency injection, a small state machine, memoisation, an explicit queue, "
            "property testing, a thin adapter, batching, early returns, structured logging, lazy "
            "loading"
        ),
    },
)
