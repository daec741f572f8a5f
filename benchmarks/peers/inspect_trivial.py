"""inspect_ai's mock model on so many trivial samples: `inspect_trivial.py 2000`.

Offline it needs the encodings that litellm ships, which is why litellm has to be installed beside
it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
import time
from pathlib import Path


def encodings() -> Path:
    """The folder in which tiktoken looks for what it would otherwise fetch."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("inspect_ai runs offline only with litellm beside it")
    root = Path(spec.submodule_search_locations[0])
    known = [root / "litellm_core_utils" / "tokenizers", root / "llms" / "tokenizers"]
    return next(folder for folder in known if folder.is_dir())


def main() -> None:
    """Evaluate and tell how many samples were scored as correct."""
    cases = int(sys.argv[1])
    os.environ["TIKTOKEN_CACHE_DIR"] = str(encodings())
    from inspect_ai import Task, eval  # noqa: A004 - its own name
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import includes

    samples = [
        Sample(input=f"My order is A-{n}. What is my order number?", target="A-")
        for n in range(cases)
    ]
    outputs = [ModelOutput.from_content("mockllm/model", f"A-{n}") for n in range(cases)]
    model = get_model("mockllm/model", custom_outputs=outputs)
    began, used = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory(prefix="memsim-bench-") as folder:
        (log,) = eval(
            Task(dataset=MemoryDataset(samples), scorer=includes()),
            model=model,
            log_dir=folder,
            display="none",
        )
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    assert log.status == "success", log.error
    assert log.results is not None
    score = log.results.scores[0].metrics["accuracy"].value
    passed = round(score * cases)
    print(json.dumps({"passed": passed, "seconds": seconds, "processor": processor}))


if __name__ == "__main__":
    main()
