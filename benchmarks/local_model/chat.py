"""Tools for a model that was never taught any: what it may write is held to a grammar.

The chat format for tools that llama-cpp-python comes with shows a model no result of a tool and
lets it say nothing where it does not call one. This one does both. The model itself decides, at
each turn, between words and one of the tools; a grammar only sees to it that it decides, and that
the arguments have the form that the tool asks for.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from llama_cpp import llama_grammar
from llama_cpp.llama_chat_format import register_chat_completion_handler

NAME = "memsim-tools"
LONGEST = 160
"""Characters of a text among a call's arguments: small models do not find an end by themselves."""

_TOLD = (
    "You can use these tools:\n{tools}\n- none: Use no tool, answer the user.\n\nFirst write which"
    " tool you use."
)
_WORDS = "Tool: none"
"""Begins what is no call; chosen, among some that were tried, because the model does use both."""

_STOP = "<|im_end|>"
_PENALTY = 1.1

Body = dict[str, Any]
Llama = Any
Grammar = Any
JSON = Any
"""llama_cpp says of none of them what it is."""


def respond(
    *,
    llama: Llama,
    messages: list[Body],
    tools: list[Body] | None = None,
    tool_choice: str | Body | None = None,
    response_format: Body | None = None,
    temperature: float = 0.0,
    max_tokens: int | None = None,
    **_others: object,
) -> Body:
    """One response, as OpenAI's protocol has it; tools are the model's choice unless it is made.

    Args:
        llama: the loaded model.
        messages: what it is told.
        tools: what it may call.
        tool_choice: `none`, `auto`, `required` or the one that it has to call.
        response_format: `json_object`, with a schema or without, where words are asked for.
        temperature: of the answer.
        max_tokens: where it is cut off.
    """
    # What was asked before must not change an answer, not even by how numbers are rounded.
    llama.reset()
    offered = [] if tool_choice == "none" else list(tools or ())
    prompt = rendered(messages, offered)
    writer = _Writer(llama, temperature, max_tokens)
    if offered:
        chosen = writer.write(prompt, grammar=_choice(offered, tool_choice))
        if tool := next((t for t in offered if chosen == _called(_name(t))), None):
            text = writer.write(f"{prompt}{chosen}\n", grammar=_arguments(tool))
            return writer.response(prompt, "", call=(_name(tool), text))
        prompt = f"{prompt}{_WORDS}\n"
    return writer.response(prompt, writer.write(prompt, grammar=_form(response_format)))


class _Writer:
    """Lets a model write, and counts what it reads and writes."""

    def __init__(self, llama: Llama, temperature: float, max_tokens: int | None) -> None:
        self._llama = llama
        self._told = {"temperature": temperature, "max_tokens": max_tokens}
        self._usage = {"prompt_tokens": 0, "completion_tokens": 0}
        self._finish = "stop"

    def write(self, prompt: str, grammar: Grammar = None) -> str:
        done = self._llama.create_completion(
            prompt=prompt, stop=[_STOP], grammar=grammar, repeat_penalty=_PENALTY, **self._told
        )
        for name in self._usage:
            self._usage[name] += done["usage"][name]
        self._finish = done["choices"][0]["finish_reason"]
        return str(done["choices"][0]["text"])

    def response(self, prompt: str, text: str, call: tuple[str, str] | None = None) -> Body:
        message: Body = {"role": "assistant", "content": text}
        if call is not None:
            own = hashlib.sha256(f"{prompt}{call}".encode()).hexdigest()[:12]
            function = {"name": call[0], "arguments": call[1]}
            used = {"id": f"call_{own}", "type": "function", "function": function}
            message |= {"content": None, "tool_calls": [used]}
            self._finish = "tool_calls" if self._finish == "stop" else self._finish
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "smollm2",
            "choices": [
                {"index": 0, "finish_reason": self._finish, "message": message, "logprobs": None}
            ],
            "usage": self._usage | {"total_tokens": sum(self._usage.values())},
        }


def rendered(messages: list[Body], tools: list[Body]) -> str:
    """The prompt: ChatML, with the tools after the first instructions.

    Args:
        messages: as OpenAI's protocol has them.
        tools: likewise.
    """
    told = list(messages)
    if tools:
        first = [told.pop(0)["content"]] if told and told[0]["role"] == "system" else []
        about = _TOLD.format(tools="\n".join(map(_described, tools)))
        told.insert(0, {"role": "system", "content": "\n\n".join([*first, about])})
    return "".join(_turn(message, offered=bool(tools)) for message in told) + _opened("assistant")


def _turn(message: Body, *, offered: bool) -> str:
    role, text = message["role"], _text(message.get("content"))
    if role == "tool":
        # It knows no such speaker.
        role, text = "user", f"Result: {text}"
    elif calls := message.get("tool_calls"):
        named = (c["function"] for c in calls)
        text = "\n".join(f"{_called(f['name'])}\n{f['arguments']}" for f in named)
    elif role == "assistant" and offered:
        text = f"{_WORDS}\n{text}"
    return f"{_opened(role)}{text}{_STOP}\n"


def _opened(role: str) -> str:
    return f"<|im_start|>{role}\n"


def _text(content: JSON) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def _name(tool: Body) -> str:
    return str(tool["function"]["name"])


def _called(name: str) -> str:
    return f"Tool: {name}"


def _described(tool: Body) -> str:
    function = tool["function"]
    schema = json.dumps(function.get("parameters") or {}, ensure_ascii=False)
    return f"- {function['name']}: {function.get('description', '')} {schema}"


# -- grammars


def _choice(tools: list[Body], wanted: str | Body | None) -> Grammar:
    if isinstance(wanted, dict):
        tools = [t for t in tools if _name(t) == wanted["function"]["name"]]
    words = [] if wanted == "required" or isinstance(wanted, dict) else [_WORDS]
    said = (json.dumps(word) for word in (*words, *(_called(_name(t)) for t in tools)))
    return _grammar("root ::= " + " | ".join(said))


def _arguments(tool: Body) -> Grammar:
    return _of_schema(_bounded(tool["function"].get("parameters") or {"type": "object"}))


def _form(wanted: Body | None) -> Grammar:
    if not wanted or wanted.get("type") == "text":
        return None
    schema = wanted.get("schema") or (wanted.get("json_schema") or {}).get("schema")
    return _of_schema(_bounded(schema)) if schema else _grammar(llama_grammar.JSON_GBNF)


def _of_schema(schema: Body) -> Grammar:
    return llama_grammar.LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)


def _grammar(text: str) -> Grammar:
    return llama_grammar.LlamaGrammar.from_string(text, verbose=False)


def _bounded(schema: JSON) -> JSON:
    """A schema whose texts have an end."""
    if isinstance(schema, list):
        return [_bounded(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _bounded(part) for name, part in schema.items()}
    if found.get("type") == "string" and not {"enum", "const", "maxLength"} & found.keys():
        found["maxLength"] = LONGEST
    return found


def register() -> None:
    """Make it known to the server by its name."""
    register_chat_completion_handler(NAME)(respond)
