"""Finding strategies: names, precedence, parameters, and files that are broken."""

from __future__ import annotations

import pickle
import random
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from memsim.clock import Clock
from memsim.discovery.catalogue import find_strategies, locate
from memsim.discovery.loader import load_file, load_strategy, make, module_name, resolve
from memsim.discovery.params import read_value
from memsim.discovery.project import Project, find_project
from memsim.discovery.strategy_ref import StrategyRef, parse_ref, snake_case
from memsim.discovery.strategy_source import Param, StrategySource
from memsim.errors import ConfigError, RefError
from memsim.message import CharsOverFour, TokenCounter
from memsim.models import Model
from memsim.strategy import Environment, Strategy

WINDOW = '''
    """A file of strategies."""
    from __future__ import annotations
    from typing import TYPE_CHECKING, Literal
    from memsim.strategy import Strategy
    from memsim.context import Context

    if TYPE_CHECKING:
        from memsim.strategy import Environment, Query

    Scope = Literal["all", "principal"]


    class Window(Strategy):
        """The last messages.

        And more about it.
        """

        def __init__(
            self,
            env: Environment,
            *,
            messages: int = 20,
            scope: Scope = "all",
            share: float = 0.5,
            strict: bool = False,
            name: str = "w",
            tokens: int | None = None,
        ) -> None:
            """Make it.

            Args:
                env: the environment.
                messages: how many messages
                    are kept.
                scope: whose.
            """
            super().__init__(env)
            if messages < 1:
                raise ValueError("messages must be at least 1")
            self.given = (messages, scope, share, strict, name, tokens)

        def context(self, query: Query) -> Context:
            return Context()
'''


class Environments:
    """Makes environments that no test looks into."""

    @staticmethod
    def plain() -> Environment:
        """One with nothing in it."""

        def nothing() -> None:
            raise AssertionError("not needed here")

        model: Model = None  # type: ignore[assignment]
        return Environment(
            clock=Clock(),
            model=model,
            counter=TokenCounter(CharsOverFour()),
            embed=nothing,  # type: ignore[arg-type]
            folder=nothing,  # type: ignore[arg-type]
            random=random.Random(0),
            budget=100,
        )


def write(path: Path, source: str) -> Path:
    """Write a source file, dedented."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(source), encoding="utf-8")
    return path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with one file of strategies, which is the present folder."""
    write(tmp_path / "pyproject.toml", "[tool.memsim]\n")
    write(tmp_path / "strategies" / "window.py", WINDOW)
    monkeypatch.chdir(tmp_path)
    return find_project()


@pytest.fixture
def no_builtins(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder in place of memsim's own strategies."""
    folder = tmp_path_factory.mktemp("shipped") / "strategies"
    folder.mkdir()
    monkeypatch.setattr("memsim.discovery.catalogue.builtin_folder", lambda _kind: folder)
    return folder


# -- refs


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("bm25", StrategyRef(name="bm25")),
        ("w:messages=40", StrategyRef(name="w", params=(("messages", "40"),))),
        (
            "w:messages=40,scope=principal",
            StrategyRef(name="w", params=(("messages", "40"), ("scope", "principal"))),
        ),
        ("w:", None),
        ("my.py", StrategyRef(name="", path="my.py")),
        ("a/my.py@Mine", StrategyRef(name="Mine", path="a/my.py")),
        ("my.py@Mine:x=1", StrategyRef(name="Mine", path="my.py", params=(("x", "1"),))),
        ("my.py:x=a:b@c", StrategyRef(name="", path="my.py", params=(("x", "a:b@c"),))),
        ("w:file=other.py", StrategyRef(name="w", params=(("file", "other.py"),))),
        ("w:x=", StrategyRef(name="w", params=(("x", ""),))),
    ],
)
def test_a_ref_reads_as_it_prints(text: str, ref: StrategyRef | None) -> None:
    """Parsing and printing are each other's inverse; a colon promises parameters."""
    if ref is None:
        with pytest.raises(RefError):
            parse_ref(text)
    else:
        assert parse_ref(text) == ref
        assert str(ref) == text


@pytest.mark.parametrize("text", ["", "a b", "w:x", "w:x=1,", "w:1=2", "w:x=1,x=2", "@Mine", "w@M"])
def test_what_is_no_ref_is_refused(text: str) -> None:
    """A ref is a name or a file, and parameters are written name=value, each once."""
    with pytest.raises(RefError):
        parse_ref(text)


def test_a_ref_crosses_process_borders(project: Project) -> None:
    """A pickled ref is equal and still knows where its file is."""
    ref = resolve("window:messages=3", project)
    again = pickle.loads(pickle.dumps(ref))  # noqa: S301 - our own

    assert again == ref
    assert (again.file, again.class_name) == (ref.file, "Window")


@pytest.mark.parametrize(
    ("class_name", "name"),
    [
        ("Bm25", "bm25"),
        ("BM25", "bm25"),
        ("FullContext", "full_context"),
        ("HTTPMemory", "http_memory"),
        ("Bm25Stemmed", "bm25_stemmed"),
        ("Mine", "mine"),
    ],
)
def test_a_strategy_is_called_as_its_class_in_snake_case(class_name: str, name: str) -> None:
    """Digits stay with the word that they end."""
    assert snake_case(class_name) == name


# -- listing


def test_listing_reads_names_docs_and_parameters(project: Project, no_builtins: Path) -> None:
    """What `memsim list` shows comes from the source alone."""
    found = find_strategies(project)

    assert [f.name for f in found] == ["window"]
    assert found[0].doc == "The last messages."
    assert found[0].origin == "project"
    assert found[0].line == 14
    assert found[0].params[:2] == (
        Param(name="messages", default="20", annotation="int", doc="how many messages are kept."),
        Param(
            name="scope",
            default="'all'",
            annotation="Literal['all', 'principal']",
            doc="whose.",
        ),
    )


def test_listing_executes_nothing(project: Project, no_builtins: Path) -> None:
    """A file that would end the process is listed like any other."""
    write(
        project.base / "strategies" / "bomb.py",
        """
        import os
        os._exit(9)
        class Bomb(Strategy):
            control = "floor"
        """,
    )

    found = find_strategies(project)

    assert [(f.name, f.control) for f in found] == [("bomb", "floor"), ("window", "")]


def test_listing_survives_a_broken_file(project: Project, no_builtins: Path) -> None:
    """A file that is no Python is in the list, with its line."""
    write(project.base / "strategies" / "broken.py", "x = 1\ndef (:\n")

    broken = find_strategies(project)[0]

    assert broken.name == "broken"
    assert broken.problem.startswith("strategies/broken.py:2: SyntaxError: ")


def test_only_public_concrete_descendants_are_strategies(
    project: Project, no_builtins: Path
) -> None:
    """Private and abstract classes are there to be inherited from; others are none of ours."""
    write(
        project.base / "strategies" / "window.py",
        """
        import memsim
        from abc import ABC, abstractmethod
        class Ranked(memsim.Strategy, ABC): ...
        class Half(memsim.Strategy):
            @abstractmethod
            def rank(self): ...
        class _Hidden(memsim.Strategy): ...
        class One(Ranked): ...
        class Two(_Hidden): ...
        class Three(Two): ...
        class Other: ...
        class Loop(Loop): ...
        """,
    )

    assert [f.name for f in find_strategies(project)] == ["one", "three", "two"]


def test_a_project_shadows_a_builtin_and_says_so(project: Project, no_builtins: Path) -> None:
    """The nearer one wins."""
    write(no_builtins / "window.py", WINDOW)

    (found,) = find_strategies(project)

    assert (found.origin, found.shadows) == ("project", "built-in")


def test_one_folder_by_two_ways_is_read_once(
    project: Project, no_builtins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In memsim's own checkout the project's folder and memsim's are the same."""
    folder = project.base / "strategies"
    monkeypatch.setattr("memsim.discovery.catalogue.builtin_folder", lambda _kind: folder)

    (found,) = find_strategies(project)

    assert (found.origin, found.shadows) == ("built-in", "")


def test_folders_are_trusted_only_in_a_project(
    tmp_path: Path, no_builtins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder called strategies that happens to be here is not looked at."""
    write(tmp_path / "strategies" / "window.py", WINDOW)
    write(tmp_path / "pyproject.toml", "[tool.other]\nmemsim = 1\n")
    monkeypatch.chdir(tmp_path)

    assert find_strategies(find_project()) == ()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place where a package is installed that offers a strategy."""
    place = tmp_path / "site"
    points = "[memsim.strategies]\ntheirs = their_memory.best:Theirs\n"
    write(place / "their_memory-1.0.dist-info" / "METADATA", "Name: their-memory\nVersion: 1.0\n")
    write(place / "their_memory-1.0.dist-info" / "entry_points.txt", points)
    monkeypatch.syspath_prepend(place)
    return place


def test_an_installed_strategy_stands_between_project_and_builtin(
    project: Project, no_builtins: Path, site: Path
) -> None:
    """Entry points of the group memsim.strategies are listed without being imported."""
    write(no_builtins / "theirs.py", WINDOW.replace("Window", "Theirs"))

    found = [f for f in find_strategies(project) if f.name == "theirs"]

    expected = StrategySource(
        name="theirs",
        class_name="Theirs",
        origin="installed",
        shadows="built-in",
        entry="their_memory.best:Theirs",
    )
    assert found == [expected]


def test_an_installed_strategy_is_loaded_by_its_entry_point(
    project: Project, no_builtins: Path, site: Path
) -> None:
    """Its parameters are read from its signature."""
    write(site / "their_memory" / "best.py", WINDOW.replace("Window", "Theirs"))

    strategy = make("theirs:messages=3", Environments.plain(), project)

    assert strategy.given[0] == 3  # type: ignore[attr-defined]
    with pytest.raises(RefError, match=r"did you mean 'messages'\?"):
        make("theirs:message=3", Environments.plain(), project)


# -- naming one


def test_an_unknown_name_suggests_the_nearest(project: Project, no_builtins: Path) -> None:
    """A slip of the pen is told what it is near to."""
    with pytest.raises(RefError) as raised:
        resolve("windw", project)

    assert str(raised.value) == "there is no strategy 'windw' (did you mean 'window'?)"


def test_strategies_outside_of_a_project_are_told_to_be_unread(
    project: Project, no_builtins: Path
) -> None:
    """The name may be in a file of the present folder, which is not trusted yet."""
    (project.base / "pyproject.toml").unlink()

    with pytest.raises(RefError, match=r"'window'; strategies/ is not read: .*memsim init"):
        resolve("window", find_project())


def test_a_name_with_two_meanings_is_refused(project: Project, no_builtins: Path) -> None:
    """Two files of one project may not share a strategy's name unnoticed."""
    write(project.base / "strategies" / "zindow.py", WINDOW)

    with pytest.raises(RefError) as raised:
        resolve("window", project)

    assert str(raised.value) == (
        "two strategies have the name window: strategies/window.py:14 and strategies/zindow.py:14; "
        "choose one with FILE.py@Class"
    )


def test_a_file_is_named_by_its_path(project: Project) -> None:
    """The only strategy of a file needs no name, and either form of a name will do."""
    for text in (
        "strategies/window.py",
        "strategies/window.py@Window",
        "strategies/window.py@window",
    ):
        assert locate(parse_ref(text), project).class_name == "Window"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "strategies/windw.py",
            "no file 'strategies/windw.py' (did you mean 'strategies/window.py'",
        ),
        ("strategies/window.py@Windw", "window.py: has no strategy 'Windw', only Window (did you"),
        ("strategies/two.py", "two.py: has 2 strategies (A, B): write strategies/two.py@A"),
        ("strategies/none.py", "none.py: no class in it descends from memsim.Strategy"),
        ("strategies/torn.py", "strategies/torn.py:3: SyntaxError"),
        ("strategies/null.py", "strategies/null.py: "),
    ],
)
def test_a_file_that_does_not_fit_says_why(project: Project, text: str, message: str) -> None:
    """Each in one line, with the file, and the line where there is one."""
    folder = project.base / "strategies"
    write(folder / "two.py", "class A(Strategy): ...\nclass B(Strategy): ...\n")
    write(folder / "none.py", "class A: ...\n")
    write(folder / "torn.py", "x = 1\n\nclass A(\n")
    (folder / "null.py").write_bytes(b"x = '\0'\n")

    with pytest.raises(RefError) as raised:
        resolve(text, project)

    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


# -- parameters


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("window", (20, "all", 0.5, False, "w", None)),
        ("window:messages=3", (3, "all", 0.5, False, "w", None)),
        ("window:strict=on,share=1", (20, "all", 1.0, True, "w", None)),
        ("window:strict=False,name=3", (20, "all", 0.5, False, "3", None)),
        ("window:tokens=7,scope=principal", (20, "principal", 0.5, False, "w", 7)),
        ("window:tokens=none", (20, "all", 0.5, False, "w", None)),
        ("window:messages=-0,tokens=none", None),
    ],
)
def test_parameters_have_the_types_of_the_signature(
    project: Project, text: str, given: tuple[object, ...] | None
) -> None:
    """Text becomes int, float, bool, str, Literal or None as annotated."""
    if given is None:
        with pytest.raises(RefError, match="messages must be at least 1"):
            make(text, Environments.plain(), project)
    else:
        assert make(text, Environments.plain(), project).given == given  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("window:mesages=3", "window has no parameter 'mesages'; it takes messages, scope, share"),
        ("window:messages=x", "window: messages must be a whole number, not 'x'"),
        ("window:messages=1_0", "messages must be a whole number, not '1_0'"),
        ("window:messages=1.5", "messages must be a whole number, not '1.5'"),
        ("window:share=nan", "share must be a number, not 'nan'"),
        ("window:share=inf", "share must be a number, not 'inf'"),
        ("window:strict=maybe", "strict must be on or off, not 'maybe'"),
        ("window:scope=princpal", "scope must be all or principal, not 'princpal' (did you mean"),
        ("window:tokens=x", "tokens must be a whole number or none, not 'x'"),
    ],
)
def test_a_wrong_parameter_is_told_before_anything_runs(
    project: Project, text: str, message: str
) -> None:
    """Resolving a ref checks its parameters against the source."""
    with pytest.raises(RefError) as raised:
        resolve(text, project)

    assert message in str(raised.value)


def test_parameters_are_printed_in_the_order_of_the_signature(project: Project) -> None:
    """However they were given, the same parameters are the same case."""
    assert str(resolve("window:scope=all,messages=3", project)) == "window:messages=3,scope=all"


def test_a_required_parameter_is_asked_for(project: Project) -> None:
    """A parameter without a default has to be given."""
    write(
        project.base / "strategies" / "window.py",
        """
        class Window(Strategy):
            def __init__(self, env, k): ...
        """,
    )

    with pytest.raises(RefError, match=r"window needs k: write window:k=\.\.\."):
        resolve("window", project)


@pytest.mark.parametrize(
    ("annotation", "default", "text", "value"),
    [
        ("", "20", "3", 3),
        ("", "0.5", "3", 3.0),
        ("", "True", "off", False),
        ("", "'a'", "3", "3"),
        ("", "None", "3", "3"),
        ("Sequence[int]", "3", "4", 4),
        ("typing.Optional[int]", "None", "3", 3),
        ("typing.Literal[1, 2]", "1", "2", 2),
        ("int | str", "1", "x", "x"),
        ("int | str", "1", "4", 4),
        ("'not python", "1", "4", 4),
    ],
)
def test_a_value_is_read_by_annotation_or_else_by_default(
    annotation: str, default: str, text: str, value: object
) -> None:
    """What the annotation does not settle, the default's own type does."""
    param = Param(name="p", default=default, annotation=annotation)

    read = read_value(text, param, "s")

    assert read == value
    assert type(read) is type(value)


# -- loading


def test_a_module_is_registered_under_a_name_of_its_path(project: Project, tmp_path: Path) -> None:
    """Two folders may both hold a window.py; sys.path is as it was."""
    before = list(sys.path)
    other = write(tmp_path / "elsewhere" / "window.py", WINDOW)

    first, second = load_file(project.base / "strategies" / "window.py"), load_file(other)

    assert first is not second
    assert sys.modules[module_name(other.resolve())] is second
    assert first.__name__.startswith("memsim_strategies.window_")
    assert sys.path == before


def test_loading_leaves_no_bytecode_behind(project: Project) -> None:
    """A user's folder holds what the user put there."""
    load_strategy("window", project)

    assert [p.name for p in (project.base / "strategies").iterdir()] == ["window.py"]


def test_dataclasses_with_postponed_annotations_load(project: Project) -> None:
    """They look their module up in sys.modules while it is executed."""
    path = write(
        project.base / "data.py",
        """
        from __future__ import annotations
        from dataclasses import dataclass
        from typing import ClassVar
        @dataclass
        class Row:
            kind: ClassVar[str] = "x"
        """,
    )

    assert load_file(path).Row().kind == "x"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import not_there_at_all", "strategies/bad.py:2: ModuleNotFoundError: No module named"),
        ("import not_there_at_all", "beside memsim, or name its folder in PYTHONPATH)"),
        ("\n\nraise KeyError('two\\nlines')", "strategies/bad.py:4: KeyError: 'two\\\\nlines'"),
        ("def f():\n    1 / 0\nf()", "strategies/bad.py:3: ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", "strategies/bad.py:2: SystemExit: 0"),
        ("assert False", "strategies/bad.py:2: AssertionError"),
    ],
)
def test_a_file_that_raises_is_named_with_its_line(
    project: Project, source: str, message: str
) -> None:
    """The innermost line of the file itself, the exception's name and text, on one line."""
    path = project.base / "strategies" / "bad.py"
    path.write_text(f"class Bad(Strategy): ...\n{source}\n".replace("(Strategy)", ""), "utf-8")
    name = module_name(path.resolve())

    with pytest.raises(RefError) as raised:
        load_file(path, project.show(path))

    assert message in str(raised.value).replace("\\n", "\\\\n")
    assert name not in sys.modules


def test_load_strategy_gives_the_class(project: Project) -> None:
    """Typed type[Strategy], for tests and for subclassing."""
    assert issubclass(load_strategy("window", project), Strategy)


def test_a_class_only_called_strategy_is_refused(project: Project) -> None:
    """What looks like a strategy in its source must be one."""
    write(
        project.base / "strategies" / "fake.py",
        """
        class Strategy: ...
        class Fake(Strategy): ...
        """,
    )

    with pytest.raises(RefError, match=r"strategies/fake\.py: Fake is not a memsim\.Strategy"):
        load_strategy("fake", project)


def test_a_class_without_context_is_refused(project: Project) -> None:
    """The one method that must be written is named."""
    write(
        project.base / "strategies" / "half.py",
        """
        from memsim.strategy import Strategy
        class Half(Strategy): ...
        """,
    )

    with pytest.raises(RefError, match=r"Half does not implement context"):
        load_strategy("half", project)


# -- projects


def test_the_nearest_pyproject_that_speaks_of_memsim_is_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A nearer one of another tool is passed over."""
    write(tmp_path / "pyproject.toml", "[tool.memsim]\nseed = 3\n")
    write(tmp_path / "a" / "pyproject.toml", "[tool.ruff]\n")
    (tmp_path / "a" / "b").mkdir()
    monkeypatch.chdir(tmp_path / "a" / "b")

    project = find_project()

    assert project.root == tmp_path.resolve()
    assert project.table == {"seed": 3}


def test_a_pyproject_that_cannot_be_read_is_told_with_its_line(tmp_path: Path) -> None:
    """Only when it is ours; another's trouble is another's."""
    write(tmp_path / "pyproject.toml", "[tool.memsim]\nseed = \n")
    with pytest.raises(ConfigError) as raised:
        find_project(tmp_path)
    assert str(raised.value).startswith("pyproject.toml:2: not valid TOML")

    write(tmp_path / "pyproject.toml", "[tool.other]\nseed = \n")
    assert find_project(tmp_path).root is None


def test_paths_are_shown_relative_to_the_project(project: Project, tmp_path: Path) -> None:
    """With forward slashes; outside of it, relative to the present folder."""
    assert project.show(tmp_path / "scenarios" / "a.yaml") == "scenarios/a.yaml"
    assert project.show(tmp_path.parent / "x.yaml") == "../x.yaml"


# -- methods that cannot be called


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("observe(self): ...", "observe is called with (message), and takes (self)"),
        (
            "locate(self, source): ...",
            "locate is called with (source, query), and takes (self, source)",
        ),
        (
            "end_turn(self, turn): ...",
            "end_turn is called with (), and takes (self, turn)",
        ),
        (
            "elapse(self, *, now): ...",
            "elapse is called with (now), and takes (self, *, now)",
        ),
    ],
)
def test_a_method_that_cannot_be_called_is_told_by_its_own_line(
    project: Project, method: str, said: str
) -> None:
    """The fault is in the user's file, and so is the line."""
    text = f"{dedent(WINDOW)}\n    def {method}\n"
    write(project.base / "strategies" / "window.py", text)
    line = len(text.splitlines())

    with pytest.raises(RefError) as caught:
        load_strategy("window", project)

    assert f"strategies/window.py:{line}: Window.{said}" == str(caught.value)


@pytest.mark.parametrize(
    "method",
    [
        "observe(self, *anything): ...",
        "observe(self, said, /, more=()): ...",
        "locate(self, source, query, deep=False): ...",
    ],
)
def test_a_method_that_takes_more_than_it_is_given_is_fine(project: Project, method: str) -> None:
    """Names and further arguments are the strategy's own affair."""
    write(project.base / "strategies" / "window.py", f"{dedent(WINDOW)}\n    def {method}\n")

    assert "Window" == load_strategy("window", project).__name__


def test_a_static_method_is_called_without_self(project: Project) -> None:
    """As Python calls it."""
    text = f"{dedent(WINDOW)}\n    @staticmethod\n    def end_turn(): ...\n"
    write(project.base / "strategies" / "window.py", text)

    assert "Window" == load_strategy("window", project).__name__
