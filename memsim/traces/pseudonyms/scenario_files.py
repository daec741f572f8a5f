"""Replace names and values in the files that `memsim import` wrote, and search what was written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from memsim.traces.conversation_file import encode_json
from memsim.traces.pseudonyms.identities import Identities
from memsim.traces.pseudonyms.replacement import Pseudonyms

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_OURS = frozenset({"role", "time"})
_PEOPLE = ("principal", "speaker")


def pseudonyms_of(folder: Path, key: bytes, tokens: Callable[[str], int]) -> Pseudonyms:
    """The stand-ins for what a folder of imported scenarios names."""
    identities = Identities()
    for path in sorted(folder.glob("*.jsonl")):
        for line in _lines(path):
            for name in _PEOPLE:
                identities.meet(line.get(name, ""))
            for text in _strings(line):
                identities.learn(text)
        identities.learn(path.stem)
    for path in sorted(folder.glob("*.yaml")):
        for text in _quoted(path):
            identities.learn(text)
    identities.settle()
    return Pseudonyms(identities, key, tokens)


def write_pseudonymised(folder: Path, target: Path, pseudonyms: Pseudonyms) -> Mapping[str, str]:
    """Write each scenario of a folder with stand-ins; by its old name, its new one."""
    names: dict[str, str] = {}
    for path in sorted(folder.glob("*.yaml")):
        stem = names[path.stem] = pseudonyms.text(path.stem)
        talk = path.with_suffix(".jsonl")
        with (target / f"{stem}.jsonl").open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(_talk(talk, pseudonyms))
        told = _STRING.sub(lambda found: _told(found.group(), pseudonyms), path.read_text("utf-8"))
        with (target / f"{stem}.yaml").open("x", encoding="utf-8", newline="\n") as file:
            file.write(told)
    return names


def residue_of(folder: Path, pseudonyms: Pseudonyms) -> Iterator[str]:
    """What the files of a folder still say of the names and values: how, and where."""
    for path in sorted(folder.iterdir()):
        jsonl = path.suffix == ".jsonl"
        texts = [t for line in _lines(path) for t in _strings(line)] if jsonl else [*_quoted(path)]
        for found in pseudonyms.residue([path.stem, *texts]):
            yield f"{found} of {path.name}"
        if jsonl:
            spoken = [line["text"] for line in _lines(path) if "text" in line]
            for found in pseudonyms.residue(spoken):
                yield f"{found} of {path.name}"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a conversation file after its header."""
    with path.open("rb") as file:
        next(file, b"")
        yield from (json.loads(line) for line in file if line.strip())


def _strings(line: dict[str, Any]) -> Iterator[str]:
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    for name, value in line.items():
        if name not in _OURS:
            _replaced(value, name, keep)
    yield from filter(None, found)


def _inner(arguments: str) -> object:
    """The arguments of a call as an object, where escapes hide their letters; else None."""
    if "\\" not in arguments:
        return None
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _replaced(value: Any, name: str, put: Callable[[str], str]) -> Any:  # noqa: ANN401 - JSON
    """A value below a key with its texts replaced; arguments are JSON within JSON."""
    if isinstance(value, dict):
        return {key: _replaced(each, key, put) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, name, put) for each in value]
    if not isinstance(value, str):
        return value
    inner = _inner(value) if name == "arguments" else None
    if inner is None:
        return put(value)
    return json.dumps(_replaced(inner, "", put), ensure_ascii=value.isascii())


def _talk(path: Path, pseudonyms: Pseudonyms) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        yield next(file)
    lines = [*_lines(path)]
    spoken = iter(pseudonyms.texts([line["text"] for line in lines if "text" in line]))
    for line in lines:
        yield encode_json({name: _put(name, v, spoken, pseudonyms) for name, v in line.items()})
        yield "\n"


def _put(name: str, value: object, spoken: Iterator[str], pseudonyms: Pseudonyms) -> object:
    if name in _OURS:
        return value
    return next(spoken) if name == "text" else _replaced(value, name, pseudonyms.text)


def _quoted(path: Path) -> Iterator[str]:
    for found in _STRING.finditer(path.read_text("utf-8")):
        yield json.loads(found.group())


def _told(quoted: str, pseudonyms: Pseudonyms) -> str:
    said = json.loads(quoted)
    stem, dot, ending = said.rpartition(".")
    is_file = dot and ending == "jsonl"
    made = f"{pseudonyms.text(stem)}.jsonl" if is_file else pseudonyms.text(said)
    return json.dumps(made, ensure_ascii=quoted.isascii() and not made.isprintable())
