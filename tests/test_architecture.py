"""The joints of the code, read from its syntax alone: nothing here imports memsim."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.imports import Module, edges, read_module, read_tree

ROOT = Path(__file__).resolve().parents[1]

# What is said, under test, run, kept, shown: a module may import only from before its own place.
ORDER = (
    "fast_dataclass",
    "heap",
    "errors",
    "atomic_files",
    "json_input",
    "toml_input",
    "json_types",
    "message",
    "clock",
    "language",
    "canary",
    "models",
    "context",
    "context_checks",
    "memory",
    "strategy",
    "systems",
    "adapters",
    "discovery",
    "config",
    "traces",
    "scenario",
    "latency",
    "trace",
    "replay",
    "strategy_process",
    "scoring",
    "stats",
    "leakage",
    "suite",
    "package_versions",
    "case_queue",
    "worker_process",
    "shipped_files",
    "ray_worker",
    "ray_connection",
    "ray_executor",
    "executors",
    "runs",
    "gate",
    "report",
    "testing",
    "certification",
    "scaffold",
    "service",
    "cli",
    "notebook",
    "pytest_plugin",
    "__init__",  # the public names, gathered from anywhere below
    "__main__",
)
# The same inside memsim/memory, from the bottom up. Rooms of one line do not import each other.
ROOMS = (
    ("codec",),
    ("events",),
    ("entry",),
    ("permissions",),
    ("retention",),
    ("options",),
    ("index",),
    ("compaction",),
    ("forget_request",),
    ("audit", "file_guard", "scope"),
    ("stores",),
    ("vault",),
    ("history",),
    ("ledger",),
    ("layers",),
    ("places",),
    ("layered_params",),
    ("recall",),
    ("fact_extraction",),
    ("ingest_queue",),
    ("compose",),
    ("deletion",),
    ("state",),
    ("parts",),
    ("expire",),
    ("tools",),
    ("memory",),
    ("persistence",),
)
HEAVY = frozenset(
    {"chromadb", "litellm", "matplotlib", "pandas", "ray", "tiktoken", "uvicorn", "wordllama"}
)
DRAWING = frozenset({"matplotlib", "pandas"})
"""Heavy packages that late modules may import at their top."""

# Only these may import numpy at their top, and only each other may import them at theirs.
LATE = frozenset(
    {
        "memsim.memory.index.bm25",
        "memsim.memory.index.chroma_vectors",
        "memsim.memory.index.clusters",
        "memsim.memory.index.forms",
        "memsim.memory.index.growing_columns",
        "memsim.memory.index.leanings",
        "memsim.memory.index.nearest_vectors",
        "memsim.memory.index.number_ranks",
        "memsim.memory.index.postings",
        "memsim.memory.index.vector_file",
        "memsim.memory.index.vector_index",
        "memsim.memory.stores.chroma",
        "memsim.memory.stores.markdown.entry_files",
        "memsim.memory.stores.markdown.store",
        "memsim.memory.stores.in_memory",
        "memsim.memory.stores.postgres.store",
        "memsim.memory.stores.postgres.rows",
        "memsim.memory.stores.postgres.connection",
        "memsim.memory.stores.sqlite.rows",
        "memsim.memory.stores.sqlite.schema",
        "memsim.memory.stores.sqlite.cache",
        "memsim.memory.stores.sqlite.shelf_entries",
        "memsim.memory.stores.redis.store",
        "memsim.memory.stores.sqlite.store",
        "memsim.systems.aegis.ivfflat",
        "memsim.systems.aegis.postgres_episodes",
        "memsim.systems.retrieval",
        "memsim.report.frames",
        "memsim.report.plots",
        "memsim.report.plots.abstention",
        "memsim.report.plots.baseline_change",
        "memsim.report.plots.breakdown",
        "memsim.report.plots.cost",
        "memsim.report.plots.dial_curves",
        "memsim.report.plots.fact_loss",
        "memsim.report.plots.named_lines",
        "memsim.report.plots.named_points",
        "memsim.report.plots.query_time",
        "memsim.report.plots.style",
        "memsim.report.plots.tradeoff",
        "memsim.service.app",
        "memsim.service.bodies",
        "memsim.service.contract_app",
        "memsim.service.contract_bodies",
        "memsim.service.contract_memory",
    }
)

FOR_STRATEGIES = frozenset({"memsim", "numpy"}) | sys.stdlib_module_names
VAGUE_NAMES = frozenset({"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"})

# Names that several modules or classes may have, because they mean the same in each.
SHARED_NAMES: Mapping[str, str] = {
    "chat_session": "how a published system holds one chat",
    "cost": "what answers cost, as metrics and as a plot",
    "connection": "how a store reaches its server",
    "fact_loss": "one view of the report, as part of the page and as a plot",
    "memory": "the package, its facade, and the command `memsim memory`",
    "model": "what answers: a live one, an offline one",
    "persistence": "saved memory, and the invariants that hold it",
    "recall": "how a memory finds what a question needs, ours and each system's",
    "report": "the package and the command `memsim report`",
    "prompts": "what a published system tells a model",
    "rows": "how a store writes an entry as a row",
    "schema": "tables of a database, and the command `memsim schema`",
    "settings": "what a user can set in a system",
    "storage": "where a system keeps its data",
    "store": "the store of a backend",
    "system": "the strategy of a published system",
    "tools": "the tools that a memory offers to a model",
    "working_memory": "values of a conversation that expire, ours, on a server, and a system's",
}
# What ends like a participle and is a noun of its own.
NOUNS: Mapping[str, str] = {
    "caching": "the service of a cache",
    "coding": "a field of work, of which scenarios tell",
    "cooking": "a field of work, of which scenarios tell",
    "encoding": "a way to write tokens or text, as in Unicode",
    "finding": "a result of an audit or an attack",
    "laundering": "the name of an attack",
    "mapping": "what belongs to what, as in typing.Mapping",
    "planning": "a field of work, of which scenarios tell",
    "poisoning": "the name of an attack",
    "ranking": "an ordered list, as in information retrieval",
    "recording": "a stored answer, as on a cassette",
    "resurfacing": "the name of an attack",
    "scoring": "the discipline of metrics",
    "setting": "what a world is made from",
    "sighting": "a place where a fact or secret was seen",
    "spending": "money that was spent, as in accounts",
    "testing": "the package for tests, as numpy.testing",
    "timing": "the name of an attack, as in timing attack",
}
# Records name them, or a metric in them, so that a new name would make old runs differ.
RECORDED_NAMES = frozenset(
    {
        "memsim.scenario.record_kinds.Named",
        "memsim.scenario.script_plan.Forgetting",
        "memsim.scoring.metrics.lost",
        "memsim.scoring.metrics.unscored",
    }
)
# fmt: off
PARTICIPLES = frozenset({
    "asked", "begun", "bent", "born", "bought", "broken", "brought", "built", "caught", "chosen",
    "done", "drawn", "driven", "felt", "forgotten", "found", "frozen", "given", "gone", "grown",
    "heard", "held", "hidden", "kept", "known", "laid", "led", "left", "lent", "lost", "made",
    "meant", "met", "paid", "proven", "said", "seen", "sent", "shown", "sold", "sought", "spent",
    "spoken", "stolen", "stood", "taken", "thought", "thrown", "told", "understood", "withdrawn",
    "written",
})
# fmt: on


def upward_imports(modules: Mapping[str, Module]) -> list[str]:
    """Every import, late ones and those for types too, of a part that ranks above its own."""
    rank = {part: place for place, part in enumerate(ORDER)}
    found = [f"{m.name}: {m.part} has no rank" for m in modules.values() if m.part not in rank]
    for module, imported, target in edges(modules):
        if rank.get(target.part, -1) > rank.get(module.part, len(rank)):
            found.append(f"{module.name}:{imported.line} imports {target.name}, which ranks above")
    return found


def upward_imports_of_memory(modules: Mapping[str, Module]) -> list[str]:
    """Every import between rooms of memsim/memory that does not lead downwards."""
    rank = {room: place for place, rooms in enumerate(ROOMS) for room in rooms}
    inside = {name: module for name, module in modules.items() if _room(name)}
    found = [
        f"{name}: {_room(name)} has no rank in ROOMS of tests/test_architecture.py"
        for name in inside
        if _room(name) not in rank
    ]
    for module, imported, target in edges(inside):
        upper, lower = _room(module.name), _room(target.name)
        if upper != lower and rank.get(lower, -1) >= rank.get(upper, len(rank)):
            found.append(
                f"{module.name}:{imported.line} imports {target.name}, which ranks as high or above"
            )
    return found


def _room(module: str) -> str:
    """The name that ranks a module of memsim/memory; empty for any other."""
    return module.split(".")[2] if module.startswith("memsim.memory.") else ""


def repeated_names(modules: Mapping[str, Module], shared: Collection[str]) -> list[str]:
    """Every name of several modules, and every one of several public classes, with the places."""
    places: dict[str, list[str]] = {}
    for module in modules.values():
        places.setdefault(_last(module.name), []).append(module.name)
        for name in module.classes:
            places.setdefault(name, []).append(f"{module.name}.{name}")
    repeated = {name for name, found in places.items() if len(found) > 1}
    return [
        *(f"{name}: {', '.join(places[name])}" for name in sorted(repeated.difference(shared))),
        *(f"{name} is one name now" for name in sorted(set(shared) - repeated)),
    ]


def participles(modules: Mapping[str, Module]) -> list[str]:
    """Every module and public class whose last word is a participle or gerund."""
    named = [module.name for module in modules.values()]
    named += [f"{module.name}.{name}" for module in modules.values() for name in module.classes]
    return [name for name in named if name not in RECORDED_NAMES and _is_participle(_word(name))]


def _word(name: str) -> str:
    """The last word of a dotted name: `ranking` of `memsim.recall.ExactRanking`."""
    return re.split(r"_|(?<=[a-z0-9])(?=[A-Z])", _last(name))[-1].lower()


def _is_participle(word: str) -> bool:
    ending = re.search(r"[^e]ed$|.{2}ing$", word) is not None
    return word in PARTICIPLES or (ending and word not in NOUNS)


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def import_cycle(modules: Mapping[str, Module]) -> list[str]:
    """A ring of modules that import each other, be it late or for a type; empty without one."""
    graph: dict[str, list[str]] = {name: [] for name in modules}
    for module, _, target in edges(modules):
        graph[module.name].append(target.name)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        ring: list[str] = error.args[1]
        return sorted(set(ring))
    return []


def heavy_imports(modules: Mapping[str, Module], late: frozenset[str] = LATE) -> list[str]:
    """Every import that would make start-up slow."""
    return [
        f"{module.name}:{imported.line} imports {imported.target} at its top"
        for module in modules.values()
        for imported in module.imports
        if imported.executed and _too_early(module.name, imported.target, late)
    ]


PRODUCTS = frozenset({"dot", "np.inner", "np.matmul", "np.tensordot"})


def matrix_products(folder: Path) -> list[str]:
    """Where matrices are multiplied."""
    return [
        f"{path.stem}:{node.lineno}"
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult))
        or (isinstance(node, ast.AugAssign) and isinstance(node.op, ast.MatMult))
        or (isinstance(node, ast.Attribute) and {node.attr, ast.unparse(node)} & PRODUCTS)
    ]


def programs(modules: Mapping[str, Module]) -> set[str]:
    """The programs that run libraries in environments of their own."""
    return {name for name in modules if name.startswith("memsim.adapters.libraries.")}


def foreign_imports(strategy: Module) -> list[str]:
    """What a strategy file may not import: it has to run wherever memsim is installed."""
    return [
        f"{strategy.name}:{imported.line} imports {imported.target}"
        for imported in strategy.imports
        if imported.target.split(".")[0] not in FOR_STRATEGIES
        or (
            imported.target.startswith("memsim.")
            and imported.target.split(".")[1]
            not in {"adapters", "context_checks", "language", "memory", "systems"}
        )
    ]


def _too_early(importer: str, target: str, late: frozenset[str]) -> bool:
    top = target.partition(".")[0]
    if importer in late and top in DRAWING:
        return False
    return top in HEAVY or (importer not in late and (top == "numpy" or target in late))


# The code as it stands.


@pytest.fixture(scope="module")
def memsim() -> dict[str, Module]:
    """Every module of the package."""
    return read_tree(ROOT / "memsim", "memsim")


@pytest.fixture(scope="module")
def strategies() -> dict[str, Module]:
    """Every built-in strategy file."""
    return {path.stem: read_module(path, path.stem) for path in ROOT.glob("strategies/*.py")}


def test_imports_run_one_way(memsim: dict[str, Module]) -> None:
    """A part imports only parts that come before it, be it late or for a type."""
    assert upward_imports(memsim) == []


def test_imports_within_the_memory_run_one_way(memsim: dict[str, Module]) -> None:
    """A room of memsim/memory imports only rooms below it, be it late or for a type."""
    assert upward_imports_of_memory(memsim) == []


def test_ranked_rooms_exist(memsim: dict[str, Module]) -> None:
    """The ranks of memsim/memory hold no name that is gone."""
    rooms = {_room(name) for name in memsim}

    assert [room for rooms_of_rank in ROOMS for room in rooms_of_rank if room not in rooms] == []


def test_no_modules_import_each_other(memsim: dict[str, Module]) -> None:
    """The graph of modules has no cycle."""
    assert import_cycle(memsim) == []


def test_heavy_packages_are_imported_late(
    memsim: dict[str, Module], strategies: dict[str, Module]
) -> None:
    """Nothing slow is imported before it is used; a strategy is itself late, so numpy may be."""
    own = {name: module for name, module in memsim.items() if name not in programs(memsim)}
    assert heavy_imports(own) == []
    assert heavy_imports(strategies, late=frozenset(strategies)) == []


def test_programs_of_libraries_stand_alone(memsim: dict[str, Module]) -> None:
    """They run in environments without memsim: neither side imports the other."""
    alone = programs(memsim)
    crossing = [
        (module.name, imported.target)
        for module in memsim.values()
        for imported in module.imports
        if imported.target.partition(".")[0] == "memsim"
        and (module.name in alone or any(imported.target.startswith(name) for name in alone))
    ]

    assert len(alone) > 5
    assert crossing == []


def test_a_memory_multiplies_no_matrices() -> None:
    """The threads of such a product take a processor for long after it, and sum in any order."""
    assert matrix_products(ROOT / "memsim" / "memory") == []


def test_late_modules_exist(memsim: dict[str, Module]) -> None:
    """The list of late modules holds no name that is gone."""
    assert sorted(LATE - memsim.keys()) == []


def test_strategies_import_only_memsim(strategies: dict[str, Module]) -> None:
    """A strategy file needs memsim's public names and parts, numpy and the standard library."""
    assert [line for module in strategies.values() for line in foreign_imports(module)] == []


def test_every_module_says_why_it_exists(
    memsim: dict[str, Module], strategies: dict[str, Module]
) -> None:
    """Every module opens with a docstring."""
    modules = memsim | strategies

    assert [name for name, module in modules.items() if not module.documented] == []


def test_modules_have_names_of_the_domain(memsim: dict[str, Module]) -> None:
    """No module is named for what it is to its author."""
    assert [name for name in memsim if name.rpartition(".")[2] in VAGUE_NAMES] == []


def test_a_name_means_one_thing(memsim: dict[str, Module]) -> None:
    """Modules share no name, nor do public classes, unless it means the same in each."""
    assert repeated_names(memsim, SHARED_NAMES) == []


def test_modules_and_classes_are_named_by_nouns(memsim: dict[str, Module]) -> None:
    """No module and no public class is named by a participle or gerund."""
    assert participles(memsim) == []


# The checker itself, on small trees.


def tree(folder: Path, sources: Mapping[str, str]) -> dict[str, Module]:
    """Write modules under their names, such as scoring/recall, and read them back."""
    for name, source in {"errors": "", **sources}.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    for path in sorted({path.parent for path in folder.rglob("*.py")}):
        (path / "__init__.py").touch()
    return read_tree(folder, "memsim")


@pytest.mark.parametrize(
    "source",
    [
        "import memsim.replay",
        "from memsim import replay",
        "from memsim.replay import play",
        "from . import replay",
        "from .replay import play",
        "def f():\n    from memsim.replay import play",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from memsim.replay import play",
    ],
)
def test_an_upward_import_is_found_however_it_is_written(tmp_path: Path, source: str) -> None:
    """Absolute, relative, late and type-only imports are all imports."""
    line = source.count("\n") + 1

    found = upward_imports(tree(tmp_path, {"errors": source, "replay": "def play(): ..."}))

    assert found == [f"memsim.errors:{line} imports memsim.replay, which ranks above"]


@pytest.mark.parametrize(
    "source", ["a @ b", "a @= b", "np.dot(a, b)", "a.dot(b)", "np.matmul(a, b)"]
)
def test_a_product_of_matrices_is_found_however_it_is_written(tmp_path: Path, source: str) -> None:
    """As an operator, a function or a method; a decorator is none."""
    text = f"@property\ndef f(a, b):\n    {source}\n"
    (tmp_path / "vectors.py").write_text(text, encoding="utf-8")

    assert matrix_products(tmp_path) == ["vectors:3"]


def test_a_downward_import_passes(tmp_path: Path) -> None:
    """Importing what comes before is what the order is for."""
    modules = tree(
        tmp_path,
        {
            "replay": "from memsim.errors import MemsimError",
            "scoring/recall": "import memsim.replay",
        },
    )

    assert upward_imports(modules) == []


def test_the_package_itself_ranks_above_its_parts(tmp_path: Path) -> None:
    """A part that imports the public names would wait for itself."""
    found = upward_imports(tree(tmp_path, {"replay": "from memsim import Message"}))

    assert found == ["memsim.replay:1 imports memsim, which ranks above"]


def test_a_part_without_a_rank_is_found(tmp_path: Path) -> None:
    """A new part has to be given its place."""
    assert upward_imports(tree(tmp_path, {"gossip": ""})) == ["memsim.gossip: gossip has no rank"]


@pytest.mark.parametrize(
    "source",
    [
        "from memsim.memory.vault import Vault",
        "def f():\n    from memsim.memory.vault import Vault",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import memsim.memory.vault",
    ],
)
def test_an_upward_import_within_the_memory_is_found(tmp_path: Path, source: str) -> None:
    """A store knows nothing of the vault before it, whenever the import runs."""
    line, store = source.count("\n") + 1, "memsim.memory.stores.chroma"
    modules = tree(
        tmp_path,
        {
            "memory/stores/chroma": source,
            "memory/vault": "from memsim.memory.stores import view",
            "memory/stores/view": "import memsim.memory.stores.codec",
            "memory/stores/codec": "from memsim.memory.codec import json_text",
            "memory/codec": "",
        },
    )

    assert upward_imports(modules) == []
    assert upward_imports_of_memory(modules) == [
        f"{store}:{line} imports memsim.memory.vault, which ranks as high or above"
    ]


def test_rooms_of_one_rank_do_not_import_each_other(tmp_path: Path) -> None:
    """The audit and the ledger stand side by side."""
    modules = tree(tmp_path, {"memory/audit": "import memsim.memory.ledger", "memory/ledger": ""})

    assert upward_imports_of_memory(modules) == [
        "memsim.memory.audit:1 imports memsim.memory.ledger, which ranks as high or above"
    ]


def test_a_room_without_a_rank_is_found(tmp_path: Path) -> None:
    """A new room of memsim/memory has to be given its place."""
    assert upward_imports_of_memory(tree(tmp_path, {"memory/attic": ""})) == [
        "memsim.memory.attic: attic has no rank in ROOMS of tests/test_architecture.py"
    ]


def test_a_name_that_stands_twice_is_found(tmp_path: Path) -> None:
    """Of modules and of public classes; names that are shared on purpose are listed."""
    modules = tree(
        tmp_path,
        {
            "scoring/recall": "class Found: ...\nclass _Own: ...",
            "report/recall": "class Found: ...\nclass _Own: ...",
            "clock": "def f():\n    class Found: ...",
        },
    )
    classes = "Found: memsim.report.recall.Found, memsim.scoring.recall.Found"

    assert repeated_names(modules, {"recall"}) == [classes]
    assert repeated_names(modules, {"recall", "Found", "store"}) == ["store is one name now"]
    assert repeated_names(modules, {"Found"}) == [
        "recall: memsim.report.recall, memsim.scoring.recall"
    ]


@pytest.mark.parametrize(
    ("module", "name", "found"),
    [
        ("keeping", "Memory", ["memsim.keeping"]),
        ("l06_kept", "Memory", ["memsim.l06_kept"]),
        ("clock", "Told", ["memsim.clock.Told"]),
        ("clock", "TurnsPlayed", ["memsim.clock.TurnsPlayed"]),
        ("clock", "Forgetting", ["memsim.clock.Forgetting"]),
        ("saved_runs", "PlayedTurn", []),
        ("clock", "LastRanking", []),
        ("clock", "Seed", []),
        ("clock", "KING", []),
    ],
)
def test_a_participle_is_found(tmp_path: Path, module: str, name: str, found: list[str]) -> None:
    """At the end of a name; before a noun it may stand."""
    assert participles(tree(tmp_path, {module: f"class {name}: ..."})) == found


def test_a_cycle_is_found(tmp_path: Path) -> None:
    """Three modules of one part in a ring, one of them by a relative import."""
    modules = tree(
        tmp_path,
        {
            "scoring/a": "from memsim.scoring.b import x",
            "scoring/b": "from . import c",
            "scoring/c": "if True:\n    import memsim.scoring.a",
            "scoring/d": "import memsim.scoring.a",
        },
    )

    assert import_cycle(modules) == ["memsim.scoring.a", "memsim.scoring.b", "memsim.scoring.c"]


def test_a_module_and_its_package_can_be_a_cycle(tmp_path: Path) -> None:
    """A package that imports a module which imports a name of the package."""
    modules = tree(
        tmp_path,
        {
            "models/__init__": "from memsim.models.offline import Offline",
            "models/offline": "from memsim.models import Model",
        },
    )

    assert import_cycle(modules) == ["memsim.models", "memsim.models.offline"]


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    from memsim.scoring.a import x",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from memsim.scoring.a import x",
    ],
)
def test_a_late_import_and_one_for_a_type_close_a_cycle(tmp_path: Path, source: str) -> None:
    """Neither module can be read without the other, whenever the import runs."""
    modules = tree(tmp_path, {"scoring/a": "import memsim.scoring.b", "scoring/b": source})

    assert import_cycle(modules) == ["memsim.scoring.a", "memsim.scoring.b"]


@pytest.mark.parametrize(
    "source",
    [
        "import litellm",
        "from chromadb.api import Client",
        "try:\n    import pandas\nexcept ImportError:\n    pass",
        "try:\n    pass\nexcept ImportError:\n    import tiktoken",
        "class A:\n    import matplotlib.pyplot",
        "with x:\n    import wordllama",
    ],
)
def test_a_heavy_import_that_runs_at_start_up_is_found(tmp_path: Path, source: str) -> None:
    """Whatever it is wrapped in, it runs when the module is imported."""
    assert len(heavy_imports(tree(tmp_path, {"models": source}))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    import litellm",
        "class A:\n    def f(self):\n        import numpy as np",
        "import typing\nif typing.TYPE_CHECKING:\n    import numpy as np\n    import litellm",
    ],
)
def test_a_late_import_passes(tmp_path: Path, source: str) -> None:
    """Inside a function, or for types only, nothing is paid at start-up."""
    assert heavy_imports(tree(tmp_path, {"models": source})) == []


def test_numpy_stands_only_in_late_modules(tmp_path: Path) -> None:
    """A late module may import numpy at its top; others may then not import it at theirs."""
    modules = tree(
        tmp_path,
        {
            "models/arrays": "import numpy",
            "models/more": "import memsim.models.arrays",
            "tokens": "def f():\n    import memsim.models.arrays",
        },
    )
    arrays, more = "memsim.models.arrays", "memsim.models.more"

    assert heavy_imports(modules, frozenset()) == [f"{arrays}:1 imports numpy at its top"]
    assert heavy_imports(modules, frozenset({arrays})) == [f"{more}:1 imports {arrays} at its top"]
    assert heavy_imports(modules, frozenset({arrays, more})) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import json\nimport numpy as np\nfrom memsim import Strategy", []),
        ("from memsim.memory.index import BM25", []),
        ("def f():\n    import requests", ["mine:2 imports requests"]),
        ("from memsim.replay import replay", ["mine:1 imports memsim.replay"]),
        ("import sliding_window", ["mine:1 imports sliding_window"]),
    ],
)
def test_a_strategy_that_needs_more_is_found(tmp_path: Path, source: str, found: list[str]) -> None:
    """Late or not, a strategy imports neither third parties nor memsim's insides nor a sibling."""
    path = tmp_path / "mine.py"
    path.write_text(source, encoding="utf-8")

    assert foreign_imports(read_module(path, "mine")) == found


def test_a_module_without_a_docstring_is_found(tmp_path: Path) -> None:
    """A comment is not a docstring."""
    modules = tree(tmp_path, {"clock": "# time\nx = 1", "tokens": '"""Counts."""'})

    assert [modules[f"memsim.{name}"].documented for name in ("clock", "tokens")] == [False, True]
