"""Read a small YAML file as plain values, and remember the line of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from memsim.errors import LocatedError
from memsim.json_input import read_bytes

MOST_BYTES = 2**18
Place = tuple[str | int, ...]


def read_yaml(
    path: Path, shown: str, refusal: type[LocatedError]
) -> tuple[Any, Mapping[Place, int]]:
    """The value of a file, and the line of every key and item in it.

    Args:
        path: of the file.
        shown: what errors call it.
        refusal: the class of the errors.

    Raises:
        LocatedError: it is missing, too large or no YAML, has a key twice, or uses aliases.
    """
    try:
        text = read_bytes(path, refusal, most=MOST_BYTES).decode()
        node = _node(text, shown, refusal)
        lines = dict(_lines(node, (), shown, refusal)) if node is not None else {}
        return yaml.safe_load(text), lines
    except FileNotFoundError:
        raise refusal("there is no such file", path=shown) from None
    except UnicodeDecodeError:
        raise refusal("is not UTF-8", path=shown) from None
    except RecursionError:
        raise refusal("is nested too deep", path=shown) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = " ".join(str(getattr(error, "problem", None) or error).split())
        line = mark.line + 1 if mark is not None else None
        raise refusal(f"is no YAML: {said}", path=shown, line=line) from None
    except (ValueError, OverflowError) as error:  # such as a date that does not exist
        raise refusal(f"is no YAML: {error}", path=shown) from None


def line_of(place: Place, lines: Mapping[Place, int]) -> int | None:
    """The line of a place, or of what is around it."""
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place)


def _node(text: str, shown: str, refusal: type[LocatedError]) -> yaml.Node | None:
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            line = event.start_mark.line + 1 if event.start_mark else None
            raise refusal("aliases are not allowed", path=shown, line=line)
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _lines(
    node: yaml.Node, place: Place, shown: str, refusal: type[LocatedError]
) -> Iterator[tuple[Place, int]]:
    yield place, node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield from _lines(item, (*place, number), shown, refusal)
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.value in first:
                said = f"duplicate key {key.value!r} (first defined on line {first[key.value]})"
                raise refusal(said, path=shown, line=line)
            first[str(key.value)] = line
            inside = _lines(value, (*place, str(key.value)), shown, refusal)
            yield (*place, str(key.value)), line
            yield from (each for each in inside if len(each[0]) > len(place) + 1)
