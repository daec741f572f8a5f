"""The key of stand-ins: random, and in a file only where somebody asks for it."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from memsim.atomic_files import write_whole
from memsim.errors import ConfigError

BYTES = 32
_CONTENT = re.compile(rb"memsim-pseudonym-key 1 ([0-9a-f]{64})\n")


def read_key(path: Path | None) -> bytes:
    """The key of a file, which is made where it is missing; without a file a key of no file.

    Raises:
        ConfigError: the file holds something else, or cannot be read or written.
    """
    if path is None:
        return secrets.token_bytes(BYTES)
    try:
        if path.exists():
            return _key_of(path)
        key = secrets.token_bytes(BYTES)
        write_whole(path, f"memsim-pseudonym-key 1 {key.hex()}\n".encode())
    except OSError as error:
        raise ConfigError(f"the key cannot be kept here: {error.strerror}", path=path) from None
    return key


def _key_of(path: Path) -> bytes:
    if not path.is_file():
        raise ConfigError("is no key file", path=path)
    with path.open("rb") as file:
        found = _CONTENT.fullmatch(file.read(200))
    if found is None:
        said = "is no key file, or it is damaged; without it, the same stand-ins cannot be made"
        raise ConfigError(said, path=path)
    return bytes.fromhex(found[1].decode())
