"""What a memory was saved with: its embedder, its tokenizer and every option, as JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any, TypeVar

from memsim.memory.codec import JSON, reading
from memsim.memory.options import MemoryOptions, RecallPolicy
from memsim.memory.retention import RetentionPolicy
from memsim.message import DEFAULT_TOKENIZER

EMBEDDER = "wordllama"

_MICROSECOND = timedelta(microseconds=1)
_BESIDE = frozenset({"embedder", "tokenizer", "workspace"})

_Options = TypeVar("_Options", MemoryOptions, RecallPolicy, RetentionPolicy)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSettings:
    """What a memory was saved with, and is opened with again unless told otherwise."""

    embedder: str = EMBEDDER
    tokenizer: str = DEFAULT_TOKENIZER
    options: MemoryOptions = field(default_factory=MemoryOptions)
    workspace: bool = False

    def save(self) -> dict[str, JSON]:
        """As JSON values: the options by their names, and the rest beside them."""
        options = {f.name: _json(getattr(self.options, f.name)) for f in fields(self.options)}
        return {
            "embedder": self.embedder,
            "tokenizer": self.tokenizer,
            "workspace": self.workspace,
            **options,
        }

    @classmethod
    def load(cls, saved: Any) -> SavedSettings:  # noqa: ANN401 - what was read from a file may be anything
        """What `save` gave; where options are missing, the memory was saved before they were kept.

        Raises `StateError` if it gave no such thing.
        """
        with reading("what the memory was saved with is damaged"):
            options = {name: value for name, value in saved.items() if name not in _BESIDE}
            return cls(
                embedder="" + saved["embedder"],
                tokenizer="" + saved["tokenizer"],
                options=_options(options),
                workspace=_switch(saved.get("workspace", False)),
            )


def _json(value: Any) -> JSON:  # noqa: ANN401 - whatever an option may be
    if isinstance(value, RecallPolicy | RetentionPolicy):
        return {f.name: _json(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {name: _json(of) for name, of in value.items()}
    if isinstance(value, frozenset):
        return [_json(one) for one in sorted(value)]
    if isinstance(value, timedelta):
        return [value // _MICROSECOND]  # a number alone is one of days
    assert value is None or isinstance(value, bool | int | float | str)  # noqa: S101 - no other is
    return value


def _switch(value: Any) -> bool:  # noqa: ANN401 - what was read from a file may be anything
    if not isinstance(value, bool):
        raise TypeError("a switch is on or off")
    return value


def _term(value: Any) -> Any:  # noqa: ANN401 - as above
    return value[0] * _MICROSECOND if isinstance(value, list) else value


def _options(saved: dict[str, Any]) -> MemoryOptions:
    if saved.get("policy") is not None:
        half_life = _term(saved["policy"]["half_life"])
        saved["policy"] = _made(RecallPolicy, saved["policy"], half_life=half_life)
    if saved.get("hygiene") is not None:
        sets = {name: frozenset(saved["hygiene"][name]) for name in ("erased", "layers")}
        terms = {name: _term(saved["hygiene"][name]) for name in ("archive_after", "purge_after")}
        for name in ("retention", "purged"):
            terms[name] = {of: _term(value) for of, value in saved["hygiene"][name].items()}
        saved["hygiene"] = _made(RetentionPolicy, saved["hygiene"], **sets, **terms)
    return _made(MemoryOptions, saved)


def _made(kind: type[_Options], saved: dict[str, Any], **read: Any) -> _Options:  # noqa: ANN401
    switches = [f.name for f in fields(kind) if isinstance(f.default, bool)]
    for name in switches:
        _switch(saved.get(name, True))
    return kind(**{**saved, **read})
