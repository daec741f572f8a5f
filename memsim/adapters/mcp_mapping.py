"""Mapping files: which tools of an MCP server add, find, list and delete, and what they answer.

::

    memsim-mcp: 1
    command: [node, "{environment}/node_modules/.../index.js"]   or  url: http://...
    env: {MEMORY_FILE_PATH: "{folder}/memory.jsonl"}
    principals: server                       server, argument or shared
    add:    {tool: create_entities, arguments: {entities: [{name: "{id}", ...}]}}
    find:   {tool: search_nodes, arguments: {query: "{question}"}, ask: words,
             reply: {items: "entities[]", text: "observations[]", id: name}}
    list:   {tool: read_graph, reply: ...}
    delete: {tool: delete_entities, arguments: {entityNames: "{ids}"}}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from memsim.adapters.environments import run_folder
from memsim.adapters.yaml_lines import Place, line_of, read_yaml
from memsim.errors import LocatedError, nearest
from memsim.json_types import WrongTypeError, convert

VERSION = 1
PRESETS = Path(__file__).with_name("mcp_presets")
ASK = ("whole", "words", "all")

_MESSAGE = frozenset({"text", "id", "principal", "session", "role", "time"})
_PLACEHOLDERS: Mapping[str, frozenset[str]] = {
    "command": frozenset({"environment", "folder"}),
    "env": frozenset({"environment", "folder", "models"}),
    "add": _MESSAGE,
    "find": frozenset({"question", "principal", "session", "time", "k"}),
    "list": frozenset({"principal", "page"}),
    "delete": frozenset({"id", "ids", "principal"}),
}
"""What may stand in braces, by the part of the file."""

_BRACES = re.compile(r"\{(\w*)\}")


class MappingError(LocatedError):
    """A mapping file is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyMapping:
    """Where texts stand in an answer.

    Attributes:
        items: the path of the items in a JSON answer, such as `result.results[]`.
        text: the path of the text in an item; several texts become lines of one.
        id: the path of the id in an item: what `add` gave as `{id}`, or what the server answered.
        time: the path of its time.
        lines: instead of paths, patterns for the lines of a plain answer, with groups of these
            names. A line with `text` begins an item.
    """

    items: str = ""
    text: str = ""
    id: str = ""
    time: str = ""
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMapping:
    """A tool, its arguments with placeholders, and its answer.

    Attributes:
        already: words in a failure of `add` that mean: this text is there already.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    reply: ReplyMapping | None = None
    already: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindMapping:
    """The tool that finds.

    Attributes:
        ask: the question as a `whole`, or its `words` one by one.
        ranked: whether the best text comes first, so that the order can be scored.
    """

    tool: str
    reply: ReplyMapping
    arguments: Mapping[str, Any] = field(default_factory=dict)
    ask: Literal["whole", "words"] = "whole"
    ranked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class McpMapping:
    """A mapping file.

    Attributes:
        name: how reports call the server.
        environment: the folder `.venv-NAME` that `make library NAME=...` makes.
        install: a command that makes it without memsim's sources; the error names it.
        command: that starts the server, if it is started.
        url: of the server, if it runs elsewhere.
        token_env: the user's variable with the bearer token that the server at the url wants.
        env: variables of the server, beside a few of the user's.
        pass_env: names of the user's variables that it gets as well.
        principals: each has a `server`, is an `argument`, or all are `shared`.
        virtual_time: whether the memory takes its time from `{time}`.
        slow_start: seconds until a session is open.
    """

    version: Literal[1]
    add: ToolMapping
    find: FindMapping
    name: str = ""
    environment: str = ""
    install: str = ""
    command: tuple[str, ...] = ()
    url: str = ""
    token_env: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    pass_env: tuple[str, ...] = ()
    principals: Literal["server", "argument", "shared"] = "server"
    virtual_time: bool = False
    slow_start: float = 60
    list: ToolMapping | None = None
    delete: ToolMapping | None = None

    @property
    def tools(self) -> Iterator[tuple[str, ToolMapping | FindMapping]]:
        """Every tool that is used, by the part of the file."""
        for part in ("add", "find", "list", "delete"):
            tool = getattr(self, part)
            if tool is not None:
                yield part, tool


def presets() -> tuple[str, ...]:
    """The names of the mappings that memsim has."""
    return tuple(sorted(path.stem for path in PRESETS.glob("*.yaml")))


def find_mapping(preset: str, file: str) -> McpMapping:
    """The mapping of a preset or of a file.

    Raises:
        ValueError: neither or both are named, or there is no such preset.
        MappingError: the file is wrong; with its line.
    """
    if bool(preset) == bool(file):
        known = ", ".join(presets())
        raise ValueError(f"name a preset ({known}) or mapping=FILE.yaml")
    if file:
        return load_mapping(run_folder() / file, file)
    if preset not in presets():
        near = nearest(preset, presets())
        hint = f" (did you mean {near!r}?)" if near else f"; there are {', '.join(presets())}"
        raise ValueError(f"no preset is called {preset!r}{hint}")
    return load_mapping(preset_file(preset), f"{preset}.yaml")


def preset_file(name: str) -> Path:
    """Where the mapping of a preset is, if there is one of this name."""
    return PRESETS / f"{name}.yaml"


def load_mapping(path: Path, shown: str) -> McpMapping:
    """Read a mapping file.

    Raises:
        MappingError: it is wrong; with its line.
    """
    value, lines = read_yaml(path, shown, MappingError)
    if not isinstance(value, dict):
        raise MappingError("is no mapping of an MCP server", path=shown)
    given = {"version" if key == "memsim-mcp" else key: each for key, each in value.items()}
    given.setdefault("name", path.stem)
    try:
        if value.get("memsim-mcp") != VERSION:
            raise MappingError("begins with memsim-mcp: 1", path=shown, line=1)
        made: McpMapping = convert(given, McpMapping)
    except WrongTypeError as error:
        raise _wrong(error, shown, lines) from None
    for place, said in _faults(made):
        raise MappingError(said, path=shown, line=line_of(place, lines))
    return made


def _wrong(error: WrongTypeError, shown: str, lines: Mapping[Place, int]) -> MappingError:
    place = tuple(error.path)
    named = re.search(r"unknown key '([^']*)'", error.said)
    at = (*place, named[1]) if named else place
    where = ".".join(str(step) for step in place)
    said = f"{where} {error.said}" if where else f"it {error.said}"
    return MappingError(said, path=shown, line=line_of(at, lines))


def _faults(made: McpMapping) -> Iterator[tuple[Place, str]]:
    """What is wrong in a mapping whose types are right, with its place."""
    if bool(made.command) == bool(made.url):
        yield ("url" if made.url else "command",), "needs either a command or a url"
    if made.url and made.principals != "argument":
        yield ("url",), "with a url, principals must be 'argument': cases would meet otherwise"
    yield from _wrong_braces(("command",), list(made.command), _PLACEHOLDERS["command"])
    yield from _wrong_braces(("env",), dict(made.env), _PLACEHOLDERS["env"])
    for part, tool in made.tools:
        arguments = dict(tool.arguments)
        yield from _wrong_braces((part, "arguments"), arguments, _PLACEHOLDERS[part])
        if made.principals == "argument" and part in {"add", "find"}:
            yield from _lacking(part, arguments, "principal")
        if tool.reply is not None:
            yield from _wrong_reply((part, "reply"), tool.reply, adds=part == "add")
    yield from _lacking("add", dict(made.add.arguments), "text")
    yield from _lacking("find", dict(made.find.arguments), "question")
    if made.list is not None and made.list.reply is None:
        yield ("list",), "list needs a reply, which says where the texts are"


def _lacking(part: str, arguments: Mapping[str, Any], word: str) -> Iterator[tuple[Place, str]]:
    if word not in {name for _, name in _braces((), arguments)}:
        yield (part, "arguments"), f"no argument of {part} holds {{{word}}}"


def _wrong_braces(place: Place, value: Any, known: frozenset[str]) -> Iterator[tuple[Place, str]]:  # noqa: ANN401 - JSON
    for where, name in _braces(place, value):
        if name not in known:
            near = nearest(name, known)
            hint = f" (did you mean '{near}'?)" if near else ""
            yield where, f"unknown placeholder {{{name}}}{hint}"


def _braces(place: Place, value: Any) -> Iterator[tuple[Place, str]]:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        yield from ((place, name) for name in _BRACES.findall(value))
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _braces((*place, str(key)), each)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _braces((*place, number), each)


def _wrong_reply(place: Place, reply: ReplyMapping, *, adds: bool) -> Iterator[tuple[Place, str]]:
    names: set[str] = set()
    for number, pattern in enumerate(reply.lines):
        try:
            names |= set(re.compile(pattern).groupindex)
        except re.error as error:
            yield (*place, "lines", number), f"is no pattern: {error}"
    if reply.lines and reply.text:
        yield place, "a reply has either lines or paths"
    wanted = "id" if adds else "text"
    if not (getattr(reply, wanted) or wanted in names):
        yield place, f"the reply does not say where the {wanted} is"


def fill(value: Any, given: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
    """A value with its placeholders replaced; one that stands alone keeps its type."""
    if isinstance(value, str):
        alone = _BRACES.fullmatch(value)
        if alone:
            return given[alone[1]]
        return _BRACES.sub(lambda found: str(given[found[1]]), value)
    if isinstance(value, Mapping):
        return {key: fill(each, given) for key, each in value.items()}
    return [fill(each, given) for each in value] if isinstance(value, list) else value
