"""Doubles whose leaks a search of contexts and of the root logger does not see."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import logging
import lzma
import re
import sqlite3
import sys
import warnings
import zlib
from contextlib import closing
from typing import TYPE_CHECKING, Any, ClassVar

from memsim.context import Context
from memsim.errors import StrategyError
from memsim.models import ToolSpec
from memsim.strategy import Forget, ForgetOutcome, Grant, Query, State
from tests.doubles.honest import Honest
from tests.doubles.read_faults import everybodys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.message import Message
    from memsim.strategy import Environment

_OWN = logging.getLogger("tests.doubles.own")
_OWN.propagate = False
_OWN.addHandler(logging.NullHandler())


class LogsAside(Honest):
    """A logger with a handler of its own does not propagate."""

    def observe(self, message: Message) -> None:
        _OWN.error("kept %s", message.text)
        super().observe(message)


class LogsEncoded(Honest):
    """What is kept is logged as a dump in base 64."""

    def observe(self, message: Message) -> None:
        _OWN.warning("dump %s", base64.b64encode(message.text.encode()).decode())
        super().observe(message)


class Warns(Honest):
    """Two texts that begin alike are warned of, with the text."""

    def observe(self, message: Message) -> None:
        warnings.warn(f"may be said before: {message.text}", RuntimeWarning, stacklevel=2)
        super().observe(message)


class Prints(Honest):
    """A line for whoever debugs it was left in."""

    def observe(self, message: Message) -> None:
        print("observe", message.text)  # noqa: T201 - the fault
        super().observe(message)


class PrintsBytes(Honest):
    """The same on the other stream, as bytes."""

    def end_turn(self) -> None:
        for drawer in self.drawers.values():
            texts = [m.text for m in drawer.history.values()]
            sys.stderr.buffer.write("\n".join(texts).encode())
        super().end_turn()


class LogsAtItsEnd(Honest):
    """When it is closed it says what it held."""

    def close(self) -> None:
        _OWN.info("closed with %s", [m.text for m in everybodys(self)])


class QuotesInErrors(Honest):
    """A call that cannot be read is answered by an error that quotes what there is."""

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        try:
            json.loads(arguments)
        except ValueError:
            held = [m.text for m in everybodys(self)]
            raise StrategyError(f"{name}: arguments are no JSON; memory holds {held}") from None
        return super().call_tool(name, arguments, principal)


class NotesInErrors(Honest):
    """An empty question is an error, which is raised from one that has the memory in its notes."""

    def context(self, query: Query) -> Context:
        if query.text:
            return super().context(query)
        cause = LookupError("nothing to look for")
        cause.add_note(f"in {[m.text for m in everybodys(self)]}")
        raise ValueError("an empty question") from cause


class QuotesWhatItCannotForget(Honest):
    """To forget what is not there is an error that lists what is."""

    def forget(self, request: Forget) -> ForgetOutcome:
        if any(not source for source in request.sources):
            raise KeyError([m.text for m in everybodys(self)])
        return super().forget(request)


class _Backup(Honest):
    """Writes a file beside the memory, and never erases in it."""

    def __init__(self, env: Environment, *, files: bool = False) -> None:
        super().__init__(env, files=files)
        self._texts: list[str] = []

    def observe(self, message: Message) -> None:
        self._texts.append(message.text)
        super().observe(message)
        self.back_up("\n".join(self._texts).encode())

    def back_up(self, data: bytes) -> None:
        (self.env.folder() / "backup.bin").write_bytes(self.packed(data))

    def packed(self, data: bytes) -> bytes:
        """How it is written."""
        raise NotImplementedError


class BacksUpZlib(_Backup):
    """A compressed copy stays."""

    def packed(self, data: bytes) -> bytes:
        return b"BK1\x00" + zlib.compress(data)


class BacksUpTwice(_Backup):
    """A copy stays in base 85 of bzip2."""

    def packed(self, data: bytes) -> bytes:
        return json.dumps({"v": 1, "data": base64.b85encode(bz2.compress(data)).decode()}).encode()


class BacksUpWide(_Backup):
    """A copy stays in UTF-16, backwards."""

    def packed(self, data: bytes) -> bytes:
        return data.decode()[::-1].encode("utf-16-le")


class BacksUpBlob(_Backup):
    """A copy stays in a blob of a database, as base 64 of lzma."""

    def back_up(self, data: bytes) -> None:
        with closing(sqlite3.connect(self.env.folder() / "backup.db")) as base, base:
            base.execute("CREATE TABLE IF NOT EXISTS kept (data BLOB)")
            base.execute("DELETE FROM kept")
            base.execute("INSERT INTO kept VALUES (?)", (self.packed(data),))

    def packed(self, data: bytes) -> bytes:
        return base64.b64encode(lzma.compress(data))


class SavesPacked(Honest):
    """The state that is saved has a compressed copy of all that was ever said."""

    def __init__(self, env: Environment, *, files: bool = False) -> None:
        super().__init__(env, files=files)
        self._ever: list[str] = []

    def observe(self, message: Message) -> None:
        self._ever.append(message.text)
        super().observe(message)

    def save(self) -> State:
        packed = gzip.compress("\n".join(self._ever).encode(), mtime=0)
        return {**super().save(), "archive": base64.b32encode(packed).decode()}


class NotYours(Honest):
    """To forget another's message is refused in other words than to forget none."""

    def forget(self, request: Forget) -> ForgetOutcome:
        theirs = {m.id for m in everybodys(self) if m.principal != request.principal}
        if theirs & {*request.sources}:
            raise StrategyError("that message is not yours")
        return super().forget(request)


class CannotForgetTheirs(Honest):
    """To forget another's message is said not to be supported; to forget none is."""

    def forget(self, request: Forget) -> ForgetOutcome:
        theirs = {m.id for m in everybodys(self) if m.principal != request.principal}
        found = super().forget(request)
        return ForgetOutcome(supported=not theirs & {*request.sources}, removed=found.removed)


class NotYoursByTool(Honest):
    """A tool that is given the id of another's message says so with one sign more."""

    def missing(self, principal: str, key: str) -> str:
        theirs = {m.id for m in everybodys(self) if m.principal != principal}
        return f"{super().missing(principal, key)}{'.' if key in theirs else ''}"


class SharesAnybodys(Honest):
    """A tool shares whatever its arguments say, and asks nobody whose it is."""

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        kinds = json.dumps({"properties": {"owner": {"type": "string"}, "to": {"type": "string"}}})
        share = ToolSpec(name="memory_share", description="Share a memory.", parameters=kinds)
        return (*super().tools(principal), share)

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        if name != "memory_share":
            return super().call_tool(name, arguments, principal)
        try:
            given = json.loads(arguments)
            self.grant(Grant(owner=given["owner"], viewer=given["to"], everything=True))
        except (ValueError, TypeError, KeyError):
            return "Error: to share takes owner and to."
        return "Shared."


_GRANTED = re.compile(r"(\w+) (?:has granted|granted|has shared|gave) ")


class BelievesClaims(Honest):
    """Who says that somebody granted them something is believed."""

    def observe(self, message: Message) -> None:
        said = _GRANTED.match(message.text)
        if said and message.role == "user":
            self.grant(Grant(owner=said[1], viewer=message.principal, everything=True))
        super().observe(message)


class GrantsAnybodys(Honest):
    """Whoever names a message may grant it, whoever's it is."""

    def grant(self, grant: Grant) -> None:
        owners = {m.id: m.principal for m in everybodys(self)}
        for source in grant.sources:
            owner = owners.get(source, grant.owner)
            super().grant(
                Grant(owner=owner, viewer=grant.viewer, sources=(source,), revoked=grant.revoked)
            )
        if grant.everything:
            super().grant(grant)


class PassesGrantsOn(Honest):
    """A grant of everything covers what its owner was granted."""

    def readable(self, principal: str) -> Any:  # noqa: ANN401 - as the reference has it
        yield from super().readable(principal)
        lenders = {owner for owner, source in self.grants.get(principal, ()) if not source}
        for lender in lenders:
            yield from super().readable(lender)


class KeepsRevokedGrants(Honest):
    """A grant of everything is never taken back."""

    def grant(self, grant: Grant) -> None:
        if not (grant.revoked and grant.everything):
            super().grant(grant)


class PrefixOfNames(Honest):
    """Whose something is, is looked up by the beginning of the name."""

    def readable(self, principal: str) -> Any:  # noqa: ANN401 - as the reference has it
        yield from super().readable(principal)
        for message in everybodys(self):
            if message.principal != principal and message.principal.startswith(principal):
                yield message


class AdminSeesAll(Honest):
    """Whoever is called by the name of an operator is taken for one."""

    def readable(self, principal: str) -> Any:  # noqa: ANN401 - as the reference has it
        if principal in {"admin", "system"}:
            return everybodys(self)
        return super().readable(principal)


class _FirstSaid(Honest):
    """Texts that begin alike are one, whoever said them; the first stays."""

    length: ClassVar[int] = 60

    def __init__(self, env: Environment, *, files: bool = False) -> None:
        super().__init__(env, files=files)
        self._begun: dict[str, str] = {}

    def key(self, text: str) -> str:
        """What makes two texts one."""
        return text[: self.length]

    def observe(self, message: Message) -> None:
        first = self._begun.setdefault(self.key(message.text), message.principal)
        if first == message.principal or len(message.text) < self.length:
            super().observe(message)


class PrefixOfAnybodys(_FirstSaid):
    """A text that begins like another person's is dropped."""


class WordsOfAnybodys(_FirstSaid):
    """Texts of the same words but for codes and numbers are one, whoever said them."""

    def key(self, text: str) -> str:
        """What makes two texts one."""
        words = re.findall(r"[a-z]+", text.lower())
        return " ".join(words[: self.length // 4])


class SharedByClass(Honest):
    """What was searched for is kept by the class, for every installation in the process."""

    _answers: ClassVar[dict[tuple[str, str], Sequence[Message]]] = {}

    def context(self, query: Query) -> Context:
        made = super().context(query)
        shown = [m for s in made.sections for m in s.messages if m.role == "user"]
        kept = self._answers.setdefault((query.principal, query.text), shown)
        known = {m.id for s in made.sections for m in s.messages}
        more = [m for m in kept if m.id not in known and not m.composed]
        if not more:
            return made
        return Context(sections=(*made.sections, self.env.build.section("recalled", more)))
