"""Whether this machine holds what a provider asks for: keys come from the environment alone."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

from memsim.errors import RefError, nearest
from memsim.models.live.sound import load_litellm


def check_keys(model: str) -> None:
    """Refuse a model that nobody could ask, in one line that says what is missing.

    Args:
        model: litellm's id of it.

    Raises:
        RefError: litellm knows no such provider, or a variable is not set.
    """
    litellm = load_litellm()
    provider = model.partition("/")[0]
    try:
        # It prints advice of its own.
        with redirect_stdout(io.StringIO()):
            litellm.get_llm_provider(model)
            found = litellm.validate_environment(model)
    except Exception as error:  # it raises its errors of calls
        known = sorted(str(getattr(name, "value", name)) for name in litellm.provider_list)
        raise RefError(
            f"no provider is called {provider!r}", hint=nearest(provider, known)
        ) from error
    missing = [str(name) for name in found.get("missing_keys", ())]
    if missing and not found.get("keys_in_environment"):
        names = " and ".join(missing)
        verb = "is" if len(missing) == 1 else "are"
        raise RefError(
            f"{names} {verb} not set: {model} needs {'it' if len(missing) == 1 else 'them'} in the"
            " environment (a server of your own takes any value)"
        )
