"""litellm, imported once it is needed, silent, and never one of the releases that steal keys."""

from __future__ import annotations

import os
import warnings
from importlib import metadata
from typing import TYPE_CHECKING, Any

from memsim.errors import RefError

if TYPE_CHECKING:
    from types import ModuleType

COMPROMISED = ("1.82.7", "1.82.8")
LEAST = (1, 82, 9)

_OWN = r"(litellm|pydantic)(\.|$)"


def check_release(version: str) -> None:
    """Refuse a litellm that must not run.

    Raises:
        RefError: it was published by thieves, or is older than the first release after that.
    """
    if version in COMPROMISED:
        raise RefError(
            f"litellm {version} is malicious: it sends away every credential that it finds. Remove"
            " it, rotate every key that this machine has held since, and install litellm>=1.82.9"
        )
    if _numbers(version) < LEAST:
        raise RefError(f"litellm {version} is too old: live models need litellm>=1.82.9")


def _numbers(version: str) -> tuple[int, ...]:
    parts = [part for part in version.split(".")[:3] if part.isdecimal()]
    return tuple(map(int, parts))


def load_litellm() -> Any:  # noqa: ANN401 - a module without usable types
    """The module, set up to ask nobody for anything but the answers it is asked for.

    Raises:
        RefError: it is not installed, or not a release that may run.
    """
    try:
        check_release(metadata.version("litellm"))
    except metadata.PackageNotFoundError as error:
        raise RefError("live models need litellm, which is not installed") from error
    # Importing it would ask the network for prices; its own copy has them.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_LOG", "CRITICAL")
    # It builds its records when they are first needed, and what that warns of is nobody's here.
    warnings.filterwarnings("ignore", category=UserWarning, module=_OWN)
    warnings.filterwarnings("ignore", category=UserWarning, message=".*`ReadOnly` qualifier")
    import litellm

    _hush(litellm)
    return litellm


def _hush(module: ModuleType) -> None:
    quiet: dict[str, object] = {
        # For embedders it takes no 0 for an answer where it is given one.
        "DEFAULT_MAX_RETRIES": 0,
        "callbacks": [],
        "disable_hf_tokenizer_download": True,
        "drop_params": True,
        "failure_callback": [],
        "num_retries": 0,
        "success_callback": [],
        "suppress_debug_info": True,
        "telemetry": False,
    }
    for name, value in quiet.items():
        setattr(module, name, value)
