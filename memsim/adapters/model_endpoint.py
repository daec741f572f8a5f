"""The run's model and embedder in OpenAI's protocol, for models inside a foreign memory.

It listens on this machine only. What a memory asks is a request like any other of the run: metered,
priced, recorded and replayed. It answers only while memsim waits for the memory, so that work in
the background cannot use a model unseen.

======================= ==============================================================
`/v1/chat/completions`  `messages` of text, `tools`, `stream`; JSON by `response_format`
`/v1/embeddings`        `input`, as floats or base64
======================= ==============================================================
"""

from __future__ import annotations

import base64
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from memsim.adapters.chat_protocol import (
    ChatContext,
    read_chat,
    wants_json,
    write_completion,
    write_stream,
)
from memsim.errors import MemsimError, StrategyError
from memsim.message import Message
from memsim.models import Reply
from memsim.strategy import Environment

_MOST_BODY = 8 * 2**20
_POLL = 0.02
_REPLIES = 32
"""Latest replies among which a prompt's summary so far is looked for."""

Shape = Callable[[Sequence[str]], Any]
"""Makes what a library expects of a model out of the lines of the offline model."""


class ModelEndpoint:
    """Serves the model and embedder of an environment.

    Args:
        latest: the messages of the turn, of which the memory may extract facts.
        said: all messages; the offline model reads those that a prompt quotes.
        shape: the JSON value for facts, where the offline model answers a request for JSON.
    """

    def __init__(
        self,
        env: Environment,
        *,
        latest: Callable[[], Sequence[Message]],
        said: Callable[[], Sequence[Message]],
        shape: Shape,
    ) -> None:
        self._env, self._latest, self._said, self._shape = env, latest, said, shape
        self._replies: deque[str] = deque(maxlen=_REPLIES)
        self._turn = threading.Lock()
        self._open = False
        self._failure: MemsimError | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL,), daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """The base address, as clients of the protocol take it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Answer requests within this context, and raise what failed in it.

        Raises:
            MemsimError: a model or embedder failed, even if the memory went on without it.
        """
        self._open = True
        try:
            yield
        finally:
            with self._turn:  # what is being answered ends first: there is one pipe to the player
                self._open = False
                failure, self._failure = self._failure, None
            if failure is not None:
                raise failure

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def serve(self, path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        """Status and answer of one request."""
        answers = {"/v1/chat/completions": self._complete, "/v1/embeddings": self._embed}
        if path not in answers:
            return 404, _error(f"no {path} here")
        with self._turn:
            if not self._open:
                return 503, _error("memsim does not wait for this memory now")
            try:
                return 200, answers[path](body)
            except MemsimError as error:
                self._failure = self._failure or error
                return 500, _error(str(error))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                said = " ".join(str(error).split())
                self._failure = self._failure or StrategyError(f"{path}: {said}")
                return 400, _error(said)

    def _complete(self, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        now = self._env.clock.now()
        context = ChatContext(
            latest=self._latest(), said=self._said(), replies=self._replies, now=now
        )
        reply = self._env.model.complete(read_chat(body, context))
        content = self._content(reply, as_json=wants_json(body))
        self._replies.append(content)
        whole = write_completion(reply, content, model=self._env.model.name, now=now)
        if not body.get("stream"):
            return whole
        usage = bool((body.get("stream_options") or {}).get("include_usage"))
        return b"".join(write_stream(whole, usage=usage))

    def _content(self, reply: Reply, *, as_json: bool) -> str:
        if not as_json or reply.line_sources is None:
            return reply.text  # a live model read in the prompt what the memory expects
        return json.dumps(self._shape(reply.text.splitlines()), ensure_ascii=False)

    def _embed(self, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("input is a text or a list of texts")
        embedder = self._env.embed()
        if body.get("dimensions") not in {None, embedder.dimension}:
            raise ValueError(f"dimensions: {embedder.name} has {embedder.dimension}")
        vectors = embedder.embed(texts)
        packed = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": number,
                "embedding": base64.b64encode(v.astype("<f4").tobytes()).decode()
                if packed
                else v.tolist(),
            }
            for number, v in enumerate(vectors)
        ]
        tokens = sum(map(self._env.counter.text, texts))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "data": data, "model": embedder.name, "usage": usage}


def _error(said: str) -> Any:  # noqa: ANN401 - JSON
    return {"error": {"message": said, "type": "memsim"}}


def _handler(endpoint: ModelEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            if length > _MOST_BODY:
                self.close_connection = True
                self._answer(413, _error(f"at most {_MOST_BODY} bytes"))
                return
            try:
                body = json.loads(self.rfile.read(length))
                if not isinstance(body, dict):
                    raise TypeError("no JSON object")  # noqa: TRY301 - answered below
            except (TypeError, ValueError, RecursionError) as error:
                self._answer(400, _error(str(error)))
                return
            self._answer(*endpoint.serve(self.path, body))

        def _answer(self, status: int, answer: object) -> None:
            if isinstance(answer, bytes):
                kind, data = "text/event-stream", answer
            else:
                kind, data = "application/json", json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("x-should-retry", "false")  # OpenAI's clients ask again otherwise
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
