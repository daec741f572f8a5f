"""Records that are made quickly are to their users what dataclasses are."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from memsim.fast_dataclass import fast_init


@dataclass(frozen=True, slots=True)
class Plain:
    """As dataclasses make it."""

    name: str
    size: int = 3
    parts: tuple[str, ...] = field(default=(), kw_only=True)
    labels: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    title: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", f"{self.name} {self.size}")


@fast_init
@dataclass(frozen=True, slots=True)
class Quick:
    """As it is made quickly."""

    name: str
    size: int = 3
    parts: tuple[str, ...] = field(default=(), kw_only=True)
    labels: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    title: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", f"{self.name} {self.size}")


def test_it_takes_the_same_arguments() -> None:
    """Positions, names, defaults and annotations: what `inspect` tells of both is one."""
    assert inspect.signature(Plain) == inspect.signature(Quick)


def test_it_holds_the_same() -> None:
    """Given, defaulted, made and derived alike."""
    for given in ({"name": "a"}, {"name": "b", "size": 4, "parts": ("x",), "labels": {"k": "v"}}):
        plain, quick = Plain(**given), Quick(**given)
        assert repr(plain).removeprefix("Plain") == repr(quick).removeprefix("Quick")
        assert plain.title == quick.title


def test_what_is_made_by_default_is_nobody_elses() -> None:
    """Each has its own."""
    assert Quick("a").labels is not Quick("b").labels


def test_it_refuses_the_same() -> None:
    """In the words of the language, which name the class."""
    with pytest.raises(TypeError, match=r"Quick.__init__\(\) missing 1 required .*'name'"):
        Quick()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Quick.__init__\(\) got an unexpected .*'colour'"):
        Quick("a", colour="red")  # type: ignore[call-arg]
    with pytest.raises(FrozenInstanceError):
        Quick("a").size = 4  # type: ignore[misc]


def test_it_is_replaced_copied_and_sent_like_any_other() -> None:
    """What is derived is derived anew only where something was replaced."""
    one = Quick("a", 4, labels={"k": "v"})

    assert replace(one, name="b").title == "b 4"
    assert one == copy.deepcopy(one) == pickle.loads(pickle.dumps(one))  # noqa: S301 - its own
