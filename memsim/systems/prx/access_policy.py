"""Who PRX takes a caller for, what they may see, and how it sorts what they write (0.3.0)."""
# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memsim.memory.codec import JSON
from memsim.systems.prx import topics
from memsim.systems.prx.brain import Brain
from memsim.systems.prx.patterns import Pattern, patterns
from memsim.systems.prx.schema import EVERY_ROW, AccessStamp, Clause, MemoryRow, timestamp

CEILINGS = ("system", "owner", "private", "user", "group", "project", "public")
"""Visibilities in their order: the first are seen by fewest."""

ROLES = ("owner", "member", "guest", "anonymous")
CHAT_TYPES = frozenset({"group", "webhook", "cron", "internal"})
UNATTENDED = frozenset({"webhook", "cron", "internal"})
"""Chats in which no person speaks."""

_WORDS = re.compile(
    r"\bssh\b|\bapi[_-]?key\b|\bpassw(?:or)?d\b|\btok(?:en)?\b|\bsecret\b"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b|\bprivate[_\s]?key\b|密钥|私钥|秘钥|im-ops|服务器地址"
)
_PERSONAL = re.compile(
    r"[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}|\b\d{1,3}(?:\.\d{1,3}){3}\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerScope:
    """From where somebody speaks, as the channel says."""

    channel: str
    chat_type: str
    chat_id: str
    sender: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who somebody is taken for: a user, or `anonymous:<channel>:<sender>`.

    They see up to their `ceiling` in `CEILINGS`, and nothing that has a blocked pattern.
    """

    id: str
    role: str
    scope: CallerScope | None = None
    projects: tuple[str, ...] = ()
    ceiling: int = 2
    blocked: tuple[Pattern, ...] = ()

    @property
    def is_owner(self) -> bool:
        """Whether nothing is kept from them, and nothing noted of what they do."""
        return self.role == "owner"


def chat_type_of(told: str | None) -> str:
    """A chat type as rows have it: whatever is not known is a direct message."""
    return told if told in CHAT_TYPES else "dm"


def bind_account(brain: Brain, user: str, channel: str, account: str, now: datetime) -> None:
    """Let an account of a channel be a user's."""
    brain.connection.execute(
        "INSERT OR REPLACE INTO identity_bindings VALUES (?, ?, ?, ?, ?, 'system')",
        (f"{channel}\n{account}", user, channel, account, timestamp(now)),
    )


def set_policy(
    brain: Brain,
    user: str,
    role: str,
    now: datetime,
    *,
    projects: Sequence[str] = (),
    ceiling: str = "private",
    blocked: Sequence[str] = (),
) -> None:
    """Say what a user may see."""
    brain.connection.execute(
        "INSERT OR REPLACE INTO user_policies VALUES (?, ?, ?, ?, ?, 1, ?)",
        (user, role, json.dumps([*projects]), ceiling, json.dumps([*blocked]), timestamp(now)),
    )


def caller_of(brain: Brain, scope: CallerScope | None) -> Caller:
    """Who speaks from a scope; nobody's is anonymous."""
    if scope is None:
        return Caller(id="anonymous:unknown:unknown", role="anonymous")
    run = brain.connection.execute
    bound = run(
        "SELECT user_id FROM identity_bindings WHERE channel = ? AND channel_account = ?",
        (scope.channel, scope.sender),
    ).fetchone()
    if bound is None:
        return Caller(id=f"anonymous:{scope.channel}:{scope.sender}", role="anonymous", scope=scope)
    policy = run(
        "SELECT role, projects, visibility_ceiling, blocked_patterns FROM user_policies"
        " WHERE user_id = ?",
        bound,
    ).fetchone()
    if policy is None:
        return Caller(id=bound[0], role="guest", scope=scope)
    role, projects, ceiling, blocked = policy
    return Caller(
        id=bound[0],
        role=role if role in ROLES else "guest",
        scope=scope,
        projects=tuple(map(str, _list(projects))),
        ceiling=CEILINGS.index(ceiling if ceiling in CEILINGS else "private"),
        blocked=tuple(patterns(_list(blocked))),
    )


def visible_rows(caller: Caller) -> Clause:
    """The rows that a caller may see, before blocked patterns."""
    if caller.is_owner:
        return EVERY_ROW
    if caller.role == "anonymous" or caller.scope is None:
        return Clause("m.visibility = 'public' AND m.sensitivity = 'normal'")
    chat, of_chat = (caller.scope.channel, caller.scope.chat_id), "m.channel = ? AND m.chat_id = ?"
    marks = ", ".join("?" * len(caller.projects))
    project = (
        "m.visibility = 'project' AND m.topic_id IN (SELECT t.id FROM topics t"
        " JOIN topic_participants p ON p.topic_id = t.id"
        f" WHERE t.project IN ({marks}) AND p.user_id = ?)"
    )
    ways: list[tuple[str, str, tuple[str, ...]]] = [
        ("private", f"m.visibility = 'private' AND m.chat_type = 'dm' AND {of_chat}", chat),
        ("user", "m.visibility = 'user' AND m.sender_id = ?", (caller.id,)),
        ("group", f"m.visibility = 'group' AND m.chat_type = 'group' AND {of_chat}", chat),
        ("project", project, (*caller.projects, caller.id)),
    ]
    let = [way for way in ways if caller.ceiling >= CEILINGS.index(way[0])]
    let = [way for way in let if caller.projects or way[0] != "project"]
    joined = " OR ".join(f"({way})" for way in ("m.visibility = 'public'", *(w[1] for w in let)))
    given = tuple(value for _, _, values in let for value in values)
    return Clause(f"({joined}) AND m.sensitivity <> 'secret'", given)


def is_blocked(caller: Caller, row: MemoryRow) -> bool:
    """Whether one of the caller's blocked patterns is in a row, with or without its spaces."""
    if caller.is_owner:
        return False
    return any(p.search(said) for said in _forms(row.content) for p in caller.blocked)


def risks_of(content: str) -> list[str]:
    """What is risky about a text: `sensitive_keyword_match`, `pii_detected`."""
    signals = []
    if any(_WORDS.search(said) for said in _forms(content)):
        signals.append("sensitive_keyword_match")
    if _PERSONAL.search(content):
        signals.append("pii_detected")
    return signals


def stamp_of(
    brain: Brain, content: str, scope: CallerScope, now: datetime, sender_id: str | None = None
) -> AccessStamp:
    """How a text that somebody says is sorted: whose it is, who may see it, what it is about."""
    caller = caller_of(brain, scope)
    chat_type, who = chat_type_of(scope.chat_type), sender_id or caller.id
    risks = risks_of(content)
    visibility = "group" if chat_type == "group" else "private"
    if risks or chat_type in UNATTENDED or (caller.is_owner and chat_type == "dm"):
        visibility = "owner"
    return AccessStamp(
        channel=scope.channel,
        chat_type=chat_type,
        chat_id=scope.chat_id,
        sender_id=who,
        raw_sender=scope.sender,
        topic_id=topics.assign(brain.connection, content, who, now),
        visibility=visibility,
        sensitivity="sensitive" if risks else "normal",
        risk_signals=json.dumps(risks, separators=(",", ":")),
    )


def log_access(
    brain: Brain,
    caller: Caller,
    action: str,
    rule: str,
    result: str,
    now: datetime,
    *,
    query: str | None = None,
    memory: str | None = None,
) -> None:
    """Note what somebody asked and was given; of an owner nothing is noted."""
    if not caller.is_owner:
        brain.connection.execute(
            "INSERT INTO access_audit_log (requester, action, query, memory_id, policy_rule,"
            " result, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (caller.id, action, query, memory, rule, result, timestamp(now)),
        )


def scope_in(arguments: Mapping[str, Any]) -> CallerScope | None:
    """The scope that trusted code put into a tool's arguments; what an agent writes is none."""
    told = arguments.get("_zc_scope")
    if arguments.get("_zc_scope_trusted") is not True or not isinstance(told, Mapping):
        return None
    channel, sender = told.get("channel"), told.get("sender")
    if not isinstance(channel, str) or not isinstance(sender, str):
        return None
    return CallerScope(
        channel=channel,
        chat_type=chat_type_of(told.get("chat_type")),
        chat_id=str(told.get("chat_id") or ""),
        sender=sender,
    )


def _forms(content: str) -> tuple[str, str]:
    said = unicodedata.normalize("NFKC", content).lower()
    return said, "".join(said.split())


def _list(text: str) -> list[Any]:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return read if isinstance(read, list) else []


# Who speaks in which conversation, and so from what scope, as a channel would tell PRX.

CHANNEL = "memsim"
"""The channel that everybody speaks on."""

ROLE_CEILINGS = {"owner": "public", "member": "group", "guest": "private"}
"""What each role is let see at most, where everybody is bound as one (0.3.0)."""


class Speakers:
    """The parties of every conversation."""

    def __init__(self) -> None:
        self._parts: dict[str, dict[str, None]] = {}

    def join(self, principal: str, session: str) -> bool:
        """Somebody speaks in a conversation; whether for the first time."""
        there = self._parts.setdefault(session, {})
        fresh = principal not in there
        there[principal] = None
        return fresh

    def scope(self, principal: str, session: str) -> CallerScope:
        """From where somebody speaks: with others there it is a group, else their own chat."""
        group = len(self._parts.get(session, {})) > 1
        return CallerScope(
            channel=CHANNEL,
            chat_type="group" if group else "dm",
            chat_id=session if group else principal,
            sender=principal,
        )

    def scopes(self, principal: str) -> list[CallerScope]:
        """All from where somebody spoke; their own chat where they never did."""
        sessions = [s for s, there in self._parts.items() if principal in there] or [""]
        return list(dict.fromkeys(self.scope(principal, session) for session in sessions))

    def save(self) -> JSON:
        """The parties as JSON values."""
        return {session: list(there) for session, there in sorted(self._parts.items())}

    @classmethod
    def loaded(cls, saved: Mapping[str, Any]) -> Speakers:
        """Read what `save` gave. Raises TypeError or AttributeError where it is damaged."""
        speakers = cls()
        for session, there in saved.items():
            if not all(isinstance(who, str) for who in there):
                raise TypeError("not a text")
            speakers._parts[session] = dict.fromkeys(there)
        return speakers


def bind_as(brain: Brain, principal: str, role: str, now: datetime) -> None:
    """Let somebody be a user with a role; nobody is where the role is none of ours."""
    if role in ROLE_CEILINGS:
        bind_account(brain, principal, CHANNEL, principal, now)
        set_policy(brain, principal, role, now, ceiling=ROLE_CEILINGS[role])
