"""The `[memory]` settings of PRX, taken from TOML as they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from memsim.errors import LocatedError, nearest
from memsim.json_input import read_bytes
from memsim.toml_input import parse_toml

Backend = Literal["markdown", "sqlite", "postgres", "embeddings", "memory"]
PrxVersion = Literal["document", "0.3.0"]

BACKENDS: tuple[Backend, ...] = get_args(Backend)
VERSIONS: tuple[PrxVersion, ...] = get_args(PrxVersion)

_DAYS = (
    "archive_after_days",
    "purge_after_days",
    "conversation_retention_days",
    "daily_retention_days",
)
_SHARES = ("recall_relevance_threshold", "vector_weight", "keyword_weight", "min_relevance_score")
_AUDIT = "audit_enabled"
_COUNTS = ("max_recall_items", "embedding_dimensions", "embedding_cache_size")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrxSettings:
    """The `[memory]` section with the document's defaults; 0 days mean never.

    `strategies/prx.py` says what most of its keys mean.

    Attributes:
        embedding_provider: `none` for keywords alone; with any other the environment's embedder
            stands in, whatever model and dimensions are named.
        embedding_cache_size: texts whose vectors are kept beside the rows (0.3.0).
        snapshot_enabled, snapshot_on_hygiene, auto_hydrate: 0.3.0's file of core entries.
        sqlite_open_timeout_secs: 0.3.0's, at most 300; accepted, since nobody else writes.
        audit_enabled: whether uses of tools are noted; stands as `enabled` in `[security.audit]`.

    Raises:
        ValueError: a value is out of its range, in one line.
    """

    backend: Backend = "sqlite"
    auto_save: bool = True
    acl_enabled: bool = False
    max_recall_items: int = 20
    recall_relevance_threshold: float = 0.3
    embedding_provider: str = "openai"
    embedding_model: str = "text-embedding-3-small"
    embedding_dimensions: int = 1536
    vector_weight: float = 0.7
    keyword_weight: float = 0.3
    min_relevance_score: float = 0.4
    hygiene_enabled: bool = True
    archive_after_days: int = 7
    purge_after_days: int = 30
    conversation_retention_days: int = 3
    daily_retention_days: int = 7
    embedding_cache_size: int = 10_000
    snapshot_enabled: bool = False
    snapshot_on_hygiene: bool = False
    auto_hydrate: bool = True
    sqlite_open_timeout_secs: int = 0
    audit_enabled: bool = False

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise ValueError(f"backend is {self.backend!r}: it is {', '.join(BACKENDS)}")
        if self.backend == "embeddings" and not self.hybrid:
            raise ValueError("backend is 'embeddings': it takes an embedding_provider")
        for name, least in (dict.fromkeys(_DAYS, 0) | dict.fromkeys(_COUNTS, 1)).items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}: at least {least}")
        for name in _SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}: it is from 0 to 1")
        if not 0 <= self.sqlite_open_timeout_secs <= 300:
            said = self.sqlite_open_timeout_secs
            raise ValueError(f"sqlite_open_timeout_secs is {said}: it is from 0 to 300")

    @property
    def hybrid(self) -> bool:
        """Whether entries are found by meaning as well as by words."""
        return self.embedding_provider not in {"", "none"} and self.backend != "markdown"

    @property
    def snapshots(self) -> bool:
        """Whether core entries are written to a file with each hygiene (0.3.0)."""
        return self.snapshot_enabled and self.snapshot_on_hygiene

    def terms(self) -> dict[str, tuple[timedelta, timedelta | None]]:
        """By category, for how long it is found, and for how long it is kept; None for good."""
        if not self.hygiene_enabled:
            return {}
        talk = timedelta(days=self.conversation_retention_days)
        daily = timedelta(days=self.daily_retention_days)
        purged = timedelta(days=self.purge_after_days) or None
        terms = {"conversation": (talk, talk), "daily": (daily, purged)}
        return {name: term for name, term in terms.items() if term[0]}

    def but(self, **given: bool | float | str | None) -> PrxSettings:
        """The settings with those in place that are given at all."""
        told: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return replace(self, **told)


def defaults(version: PrxVersion) -> PrxSettings:
    """Give a version's defaults; 0.3.0 recalls five rows by words. Else raises ValueError."""
    if version not in VERSIONS:
        raise ValueError(f"version is {version!r}: it is {', '.join(VERSIONS)}")
    if version == "document":
        return PrxSettings()
    return PrxSettings(
        embedding_provider="none", max_recall_items=5, recall_relevance_threshold=0.4
    )


def read_settings(text: str, version: PrxVersion = "document") -> PrxSettings:
    """The `[memory]` section of a TOML text, and whether there is an audit.

    Every other section is left alone.

    Raises:
        ValueError: it is not TOML, or a section holds what it does not take, in one line.
    """
    try:
        document = parse_toml(text)
    except ValueError as error:
        raise ValueError(f"the settings are not TOML: {error}") from error
    section = _section(document, "memory")
    known = {field.name: field.type for field in fields(PrxSettings) if field.name != _AUDIT}
    for name, value in section.items():
        if name not in known:
            meant = nearest(name, known)
            hint = f" (did you mean {meant!r}?)" if meant else ""
            raise ValueError(f"[memory] takes no {name!r}{hint}")
        _check(f"[memory] {name}", value, known[name])
    if version == "0.3.0":
        section["backend"] = _as_source(section.get("backend", "sqlite"))
    audit = _section(_section(document, "security"), "audit").get("enabled", False)
    _check("[security.audit] enabled", audit, "bool")
    return defaults(version).but(**section, audit_enabled=audit)


def _section(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    section = document.get(name, {})
    if not isinstance(section, Mapping):
        raise ValueError(f"{name} is no section of the settings")  # noqa: TRY004 - a user's mistake
    return dict(section)


def settings_at(path: str | None, version: PrxVersion) -> PrxSettings:
    """The settings in a file; the version's own where none is named.

    Raises:
        ValueError: as `read_settings`, or the file cannot be read.
    """
    if path is None:
        return defaults(version)
    try:
        text = read_bytes(Path(path), LocatedError).decode()
    except (OSError, ValueError, LocatedError) as error:
        raise ValueError(f"config is {path!r}: it cannot be read") from error
    return read_settings(text, version)


def _as_source(backend: str) -> str:
    """An unknown backend is markdown; lucid, which mirrors to a server of its own, is sqlite."""
    if backend == "lucid":
        return "sqlite"
    return backend if backend in {"sqlite", "postgres", "markdown"} else "markdown"


def _check(name: str, value: object, kind: object) -> None:
    if kind == "bool":
        fits, wanted = isinstance(value, bool), "true or false"
    elif kind == "int":
        fits, wanted = type(value) is int, "a whole number"
    elif kind == "float":
        fits, wanted = type(value) in {int, float}, "a number"
    else:
        fits, wanted = isinstance(value, str), "a text"
    if not fits:
        raise ValueError(f"{name} is {value!r}: it is {wanted}")


def is_on(name: str, word: str | None) -> bool | None:
    """Read a switch, `on` or `off`; None if it is not given. Raises ValueError for another word."""
    if word not in {"on", "off", None}:
        raise ValueError(f"{name} is {word!r}: it is 'on' or 'off'")
    return None if word is None else word == "on"
