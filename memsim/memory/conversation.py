"""Which conversation something belongs to, told apart whatever its names hold."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from memsim.errors import AccessError


@dataclass(frozen=True, slots=True, order=True)
class Conversation:
    """A session of a principal: two principals whose sessions have one name share nothing.

    Attributes:
        principal: whose it is, as the session says.
        session: its name, unique for the principal.

    Raises:
        AccessError: one of them is empty: nobody has a memory.
        ValueError: one of them cannot be encoded as UTF-8.
    """

    principal: str
    session: str

    def __post_init__(self) -> None:
        if not self.principal or not self.session:
            raise AccessError("a memory is used without a principal or a session")
        for part in (self.principal, self.session):
            try:
                part.encode("utf-8")
            except UnicodeEncodeError:
                raise ValueError("a name cannot be encoded as UTF-8") from None

    @property
    def id(self) -> str:
        """A digest that is injective over both names, for keys and file names."""
        return digest_of(self.principal, self.session)


def digest_of(*parts: str) -> str:
    """32 hexadecimal digits, other ones for every other sequence of texts."""
    digest = hashlib.blake2b(digest_size=16, person=b"memsim.keeping")
    for part in parts:
        encoded = part.encode("utf-8")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()
