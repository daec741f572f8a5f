"""A memory behind memsim's HTTP contract in 40 lines: python memory_service.py 8080."""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CAN = ["search", "sources", "reset", "spaces"]
SPACES = {}


def words(text):
    return set(re.findall(r"\w{3,}", text.lower()))


class Memory(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open
    wbufsize = -1  # sends head and body together

    def do_GET(self):
        known = self.path == "/v1/identity"
        name = {"contract": 1, "name": "shared words", "version": "1", "capabilities": CAN}
        self.answer(name if known else None)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(self.serve(self.path, body, self.headers.get("Memsim-Space", "shared")))

    def serve(self, path, body, space):
        said = SPACES.setdefault(space, {})
        if path == "/v1/messages":
            said.setdefault(body["id"], body)
        elif path == "/v1/reset":
            SPACES.pop(space)
        elif path == "/v1/search":
            asked, mine = words(body["question"]), body["principal"]
            found = [(len(asked & words(m["text"])), m) for m in said.values()]
            own = [(n, m) for n, m in found if n and m["principal"] == mine]
            best = sorted(own, key=lambda pair: -pair[0])[: body.get("k", 10)]
            return {"texts": [{"text": m["text"], "sources": [m["id"]]} for _, m in best]}
        return {} if path != "/v1/context" else None

    def answer(self, body):
        missing = {"error": {"code": "not_offered", "message": "no such route here"}}
        data = json.dumps(missing if body is None else body).encode()
        self.send_response(501 if body is None else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Memory).serve_forever()
