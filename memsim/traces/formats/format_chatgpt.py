"""ChatGPT's export: `conversations.json` with a tree for each conversation.

Only the branch that ends at `current_node` is imported; messages of other branches are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memsim.traces.chat_messages import ROLES, field_of, moment_of, object_of, text_of
from memsim.traces.records import TraceCall, TraceConversation, TraceDocument, TraceMessage
from memsim.traces.trace_format import TraceFormat, TraceSource


def recognise(values: Sequence[Any]) -> bool:
    """Whether a conversation has a `mapping` of nodes."""
    return any(isinstance(object_of(value).get("mapping"), dict) for value in values)


def read(source: TraceSource) -> Iterator[TraceConversation]:
    """A conversation for each tree."""
    for line, value in source.values():
        mapping = object_of(value).get("mapping")
        if not isinstance(mapping, dict):
            source.drop("not a conversation")
            continue
        branch = _branch(mapping, field_of(value, "current_node"))
        others = (object_of(mapping[n]) for n in mapping if n not in branch)
        source.drop("other branch", sum(1 for node in others if node.get("message")))
        messages: list[TraceMessage] = []
        for name in branch:
            message = object_of(mapping[name]).get("message")
            if message is not None:
                messages += _messages(object_of(message), messages, source)
        yield TraceConversation(
            id=field_of(value, "conversation_id", "id") or f"line-{line}",
            messages=tuple(messages),
            person="me",
            title=field_of(value, "title"),
        )


def _branch(mapping: Mapping[str, Any], last: str) -> dict[str, None]:
    """The nodes from the root to the last one; a circle of parents ends where it closes."""
    if last not in mapping:
        # Without the mark, the newest path: each node's last child.
        roots = [n for n in mapping if not object_of(mapping[n]).get("parent")]
        last = _newest_leaf(mapping, roots[0] if roots else next(iter(mapping), ""))
    found: dict[str, None] = {}
    while last in mapping and last not in found:
        found[last] = None
        last = field_of(object_of(mapping[last]), "parent")
    return dict.fromkeys(reversed(found))


def _newest_leaf(mapping: Mapping[str, Any], node: str) -> str:
    seen: set[str] = set()
    while node not in seen:
        seen.add(node)
        children = object_of(mapping.get(node)).get("children")
        known = (
            [c for c in children if isinstance(c, str) and c in mapping]
            if isinstance(children, list)
            else []
        )
        node = known[-1] if known else node
    return node


def _messages(
    message: Mapping[str, Any], before: Sequence[TraceMessage], source: TraceSource
) -> Iterator[TraceMessage]:
    author, content = object_of(message.get("author")), object_of(message.get("content"))
    role, time = ROLES.get(field_of(author, "role")), moment_of(message.get("create_time"))
    if content.get("content_type") == "model_editable_context":
        # What ChatGPT's own memory put into the prompt.
        text = field_of(content, "model_set_context")
        if text:
            yield TraceMessage("recall", "", time, documents=(TraceDocument(text),))
        return
    if object_of(message.get("metadata")).get("is_visually_hidden_from_user"):
        source.drop("hidden from the user")
        return
    if role is None:
        source.drop(f"unknown role {field_of(author, 'role')[:30]!a}")
        return
    text = text_of(content, source)
    called = field_of(message, "recipient")
    if role == "assistant" and called not in {"", "all"}:
        yield TraceMessage("assistant", "", time, calls=(TraceCall(_id(message), called, text),))
    elif role == "tool":
        calls = next((m.calls for m in reversed(before) if m.role == "assistant"), ())
        yield TraceMessage("tool", text, time, answers=calls[0].id if calls else "")
    else:
        yield TraceMessage(role, text, time)


def _id(message: Mapping[str, Any]) -> str:
    return field_of(message, "id") or "call"


FORMAT = TraceFormat(
    name="chatgpt",
    version=1,
    about="ChatGPT's data export, conversations.json or the whole archive",
    recognise=recognise,
    read=read,
)
