"""Published datasets as scenarios, by name; what is in their files is never taken on trust."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.errors import ConfigError, RefError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from memsim.scenario.script import Scenario

    Loader = Callable[..., list[Scenario]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A published dataset: what it is, where it is, and how far our figures are those of others.

    Attributes:
        loader: the function in the module of its name that loads its file or folder. What it takes
            by keyword are the options, as text.
        measures: what it asks of a memory.
        size: conversations and questions of the published files that can be loaded.
        licence: as published; `none stated` if nothing is.
        source: where it is published; memsim downloads nothing.
        rows: published rows that we reproduce, and how near; or why there is none.
    """

    loader: str
    measures: str
    size: str
    licence: str
    source: str
    rows: str


DATASETS: dict[str, Dataset] = {
    "beam": Dataset(
        loader="load_beam",
        measures="ten abilities over long chats with an assistant",
        size="100 chats of 100K to 10M tokens, 2,000 questions",
        licence="none stated",
        source="github.com/mohammadtavakoli78/BEAM",
        rows="none: its authors' rows need a model",
    ),
    "convomem": Dataset(
        loader="load_convomem",
        measures="one to six messages that answer, among up to 300 talks",
        size="75,336 questions in 1,242 files; test cases of up to 300 talks",
        licence="CC BY-NC 4.0 as others state; the code Apache 2.0",
        source="huggingface.co/datasets/Salesforce/ConvoMem",
        rows="none: its authors' rows need a model",
    ),
    "halumem": Dataset(
        loader="load_halumem",
        measures="what each session told, updates, and questions after it",
        size="20 users in each of Medium and Long, 3,467 questions",
        licence="CC BY-NC-ND 4.0",
        source="huggingface.co/datasets/IAAR-Shanghai/HaluMem",
        rows="none: its authors' rows need a model",
    ),
    "locomo": Dataset(
        loader="locomo_from_options",
        measures="facts, time and several sessions in talks of two people",
        size="10 conversations, 1,986 questions",
        licence="CC BY-NC 4.0",
        source="github.com/snap-research/locomo",
        rows="retrieval by BM25 (two), wordllama and their fusion, within .01",
    ),
    "locomo_plus": Dataset(
        loader="load_locomo_plus",
        measures="remarks that only something said weeks before explains",
        size="about 400 pairs, placed into the conversations of LoCoMo",
        licence="none stated",
        source="github.com/xjtuleeyf/Locomo-Plus",
        rows="none: its authors' rows need a model",
    ),
    "longmemeval": Dataset(
        loader="load_longmemeval",
        measures="six kinds of questions, each over a history of its own",
        size="500 questions; about 50 sessions each in S",
        licence="MIT",
        source="github.com/xiaowu0162/LongMemEval",
        rows="none: retrieval is published of M, which is not loaded",
    ),
    "longmemeval_v2": Dataset(
        loader="load_longmemeval_v2",
        measures="what an agent learned about sites from the tasks that it did there",
        size="451 questions, 1,870 trajectories; up to 500 before a question",
        licence="Apache 2.0",
        source="huggingface.co/datasets/xiaowu0162/longmemeval-v2",
        rows="none: its authors' rows need a model",
    ),
    "memdaily": Dataset(
        loader="load_memdaily",
        measures="multiple choice about what a Chinese user told day by day",
        size="2,954 users with a question each, 26,003 messages",
        licence="none stated",
        source="github.com/nuster1128/MemSim",
        rows="none: its authors' rows need a model",
    ),
    "meme": Dataset(
        loader="load_meme",
        measures="what follows from a change: cascades, absences, deletions",
        size="100 episodes; with 0, 32K or, for 40 of them, 128K tokens of filler",
        licence="CC BY 4.0",
        source="huggingface.co/datasets/meme-benchmark/MEME",
        rows="none: its authors' rows need a model",
    ),
    "memfail": Dataset(
        loader="load_memfail",
        measures="facts that coexist, hold on a condition, or follow from each other",
        size="5 files of about 100 rows, 692 questions",
        licence="none stated",
        source="github.com/ishirgarg/MemFail",
        rows="none: its authors' rows need a model",
    ),
    "memoryagentbench": Dataset(
        loader="load_memoryagentbench",
        measures="retrieval, learning, long texts, and facts that newer ones supersede",
        size="146 texts, 3,671 questions",
        licence="MIT",
        source="huggingface.co/datasets/ai-hyz/MemoryAgentBench",
        rows="none: its authors' rows need a model",
    ),
    "personamem": Dataset(
        loader="load_personamem",
        measures="preferences that change, by replies to choose from",
        size="20 personas; 589 queries at 32K, more at 128K and 1M tokens",
        licence="none stated",
        source="huggingface.co/datasets/bowen-upenn/PersonaMem",
        rows="none: its authors' rows need a model",
    ),
}
"""Each dataset that can be run, by the name of its module."""


def load_dataset(name: str, path: Path, options: Mapping[str, str] | None = None) -> list[Scenario]:
    """The scenarios of a dataset.

    Raises:
        RefError: there is no dataset of that name.
        ConfigError: it takes no such option, or not that value.
        ScenarioError: a file of it is wrong.
    """
    if name not in DATASETS:
        message = f"no dataset is called {name!r}; there are {', '.join(sorted(DATASETS))}"
        raise RefError(message, hint=nearest(name, DATASETS))
    module = importlib.import_module(f"{__name__}.{name}")
    loader: Loader = getattr(module, DATASETS[name].loader)
    known = inspect.getfullargspec(loader).kwonlyargs
    for option in options or {}:
        if option not in known:
            there = f"it has {', '.join(known) or 'none'}"
            message = f"{name} has no option {option!r}; {there}"
            raise ConfigError(message, hint=nearest(option, known))
    return loader(path, **(options or {}))
