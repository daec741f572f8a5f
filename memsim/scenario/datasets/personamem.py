r"""PersonaMem: a user's changing preferences over sessions, with replies to choose from.

Published at huggingface.co/datasets/bowen-upenn/PersonaMem without a licence. This loader reads it
in the form of the Agent Memory Benchmark (github.com/vectorize-io/agent-memory-benchmark): a file
of documents, one for each session, and a file of queries::

    [{"id": "u1_0", "user_id": "u1",
      "content": "[SYSTEM] Name: Ana.\n\n[USER] User: I paint.\n\n[ASSISTANT] Assistant: Nice."},
     ...]

    [{"id": "q1", "user_id": "u1", "gold_ids": ["u1_0"],
      "query": "User: Ana\n\nAny idea?\n\n(a) Try oil colours.\n(b) Try a marathon.",
      "gold_answers": ["(a) Try oil colours.", "a"],
      "meta": {"question_type": "suggest_new_ideas", "topic": "art",
               "retrieval_query": "User: Ana\n\nAny idea?"}}, ...]

Each user becomes a scenario: the sessions in the order of the file, a day apart, because the files
have no dates. A query names every session before it, so it is asked after the last of these. It
names no evidence, so evidence recall is not scored.

Repairs: the persona is a message of the system, and stands there once where every session repeats
it. The names of roles before messages, and of the user before a query, are left out.
A query that is itself a message of the last session it names is asked right before that message,
because what follows gives the answer away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from memsim.errors import ScenarioError
from memsim.message import EPOCH, Role
from memsim.scenario.datasets.chat_turns import ASKER, ChatLine, chat_turns
from memsim.scenario.datasets.dataset_files import find_file
from memsim.scenario.datasets.dataset_scenario import UTTERANCE, recorded_scenario
from memsim.scenario.datasets.json_file import JsonObject, read_json
from memsim.scenario.script import Ability, Probe, Scenario, Turn

DATASET = "personamem"
DOCUMENTS, QUERIES = "documents.json", "queries.json"
"""How the names of the two files end; what stands before is the same."""

ABILITIES: dict[str, Ability] = {
    "acknowledge_latest_user_preferences": "update",
    "generalizing_to_new_scenarios": "preference",
    "provide_preference_aligned_recommendations": "preference",
    "recall_user_shared_facts": "recall",
    "recalling_facts_mentioned_by_the_user": "recall",
    "recalling_the_reasons_behind_previous_updates": "recall",
    "suggest_new_ideas": "preference",
    "track_full_preference_evolution": "update",
}
"""The file's types of questions, and our word for what each asks of a memory."""

_MARK = re.compile(r"^\[(SYSTEM|USER|ASSISTANT)\] (?:(?:User|Assistant): )?", re.MULTILINE)
_ROLES: dict[str, Role] = {"SYSTEM": "system", "USER": "user", "ASSISTANT": "assistant"}
_NAME = re.compile(r"(?:User: [^\n.?!]{1,60}\n\n)?(?:User: )?")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def load_personamem(path: Path) -> list[Scenario]:
    """The users of a file of documents, or of a folder that holds one, each as a scenario.

    Raises:
        ScenarioError: a file is missing, not JSON, or not of this schema.
    """
    file = _find(path)
    asked = file.with_name(file.name.removesuffix(DOCUMENTS) + QUERIES)
    users = _by_user(_objects(file, "document"))
    queries = _by_user(_objects(asked, "query"))
    for name, entries in queries.items():
        if name not in users:
            entries[0].reject(f"has the 'user_id' {name!r}, which is that of no document")
    return [
        _scenario(file, f"{DATASET}-{n}", documents, queries.get(user, []))
        for n, (user, documents) in enumerate(users.items(), start=1)
    ]


def _find(path: Path) -> Path:
    file = find_file(path, f"*{DOCUMENTS}")
    if not file.name.endswith(DOCUMENTS):
        raise ScenarioError(f"is no file whose name ends with {DOCUMENTS}", path=file)
    return file


def _objects(file: Path, what: str) -> list[JsonObject]:
    value = read_json(file)
    if not isinstance(value, list) or not value:
        raise ScenarioError(f"not a list with a {what}", path=file)
    return [JsonObject(file, f"{what} {n}", each) for n, each in enumerate(value, start=1)]


def _by_user(entries: list[JsonObject]) -> dict[str, list[JsonObject]]:
    found: dict[str, list[JsonObject]] = {}
    for entry in entries:
        found.setdefault(entry.text("user_id"), []).append(entry)
    return found


def _scenario(
    file: Path, name: str, documents: list[JsonObject], queries: list[JsonObject]
) -> Scenario:
    sessions: dict[str, str] = {}
    lines: list[ChatLine] = []
    for place, document in enumerate(documents, start=1):
        document.check_distinct("id", document.text("id"), set(sessions))
        sessions[document.text("id")] = f"session-{place}"
        lines += _lines(document, place, {line.text for line in lines if line.role == "system"})
    if not lines:
        documents[0].reject("has no message, and neither has another of its user")
    turns = chat_turns(lines)
    probes = [_probe(f"{name}:q{n}", query) for n, query in enumerate(queries, start=1)]
    places = _Places(turns, sessions)
    after = {p.id: places.after(query, p.ask) for p, query in zip(probes, queries, strict=True)}
    return recorded_scenario(
        turns,
        probes,
        name=name,
        path=file,
        dataset=DATASET,
        speakers=f"{ASKER} and assistant",
        contents=[
            [[line.id, line.role, line.text] for line in lines],
            [
                [p.id, p.ask, p.choices, p.expect, sorted(p.labels.items()), after[p.id]]
                for p in probes
            ],
        ],
        asked_after=after,
    )


def _lines(document: JsonObject, place: int, known: set[str]) -> Iterator[ChatLine]:
    before, *parts = _MARK.split(document.text("content"))
    if before.strip():
        document.reject(
            "has in 'content' a text before the first '[SYSTEM]', '[USER]' or other mark"
        )
    now = EPOCH + timedelta(days=place)
    for n, (mark, text) in enumerate(zip(parts[::2], parts[1::2], strict=True), start=1):
        words = text.strip()
        if not words or (mark == "SYSTEM" and words in known):
            continue
        yield ChatLine(
            id=f"s{place}-m{n}",
            role=_ROLES[mark],
            text=words,
            session=f"session-{place}",
            time=now,
        )
        now += UTTERANCE


class _Places:
    """Where in a conversation a query is asked."""

    def __init__(self, turns: list[Turn], sessions: Mapping[str, str]) -> None:
        self._last = {turn.session: turn for turn in turns}
        self._sessions = sessions
        said = ((t.session, m.text, t.number) for t in turns for m in t.heard if m.role == "user")
        self._said = {(session, text): number for session, text, number in said}

    def after(self, query: JsonObject, asked: str) -> int:
        """The number of the turn after which a query is asked; 0 for the end."""
        named = (self._sessions.get(name, "") for name in query.texts("gold_ids"))
        ends = [self._last[session] for session in named if session in self._last]
        if not ends:
            return 0
        end = max(ends, key=lambda turn: turn.number)
        return self._said.get((end.session, asked), end.number + 1) - 1


def _probe(probe_id: str, query: JsonObject) -> Probe:
    meta = JsonObject(query.path, f"{query.where}: meta", query.fields.get("meta"))
    kind = meta.text("question_type")
    if kind not in ABILITIES:
        query.reject(f"has {kind!r} as 'question_type', which is none of PersonaMem's")
    asked = meta.text("retrieval_query")
    options = _options(query, asked)
    right = [letter for letter in query.texts("gold_answers") if letter in options]
    if len(right) != 1:
        query.reject(f"has in 'gold_answers' {len(right)} letters of its options, not one")
    return Probe(
        id=probe_id,
        ask=_spoken(asked),
        principal=ASKER,
        expect=(options[right[0]],),
        ability=ABILITIES[kind],
        match="choice",
        choices=tuple(options.values()),
        excluded="no valid evidence",
        labels={"category": kind.replace("_", "-")},
    )


def _spoken(asked: str) -> str:
    head = _NAME.match(asked)
    return asked[head.end() if head else 0 :].strip()


def _options(query: JsonObject, asked: str) -> dict[str, str]:
    """The options after the question, by letter; each may have several lines."""
    text = query.text("query")
    if not text.startswith(asked):
        query.reject("has a 'query' that does not begin with its 'retrieval_query'")
    found: dict[str, str] = {}
    for line in text.removeprefix(asked).strip().split("\n"):
        letter = _LETTERS[len(found)] if len(found) < len(_LETTERS) else ""
        if letter and line.startswith(f"({letter}) "):
            found[letter] = line[4:]
        elif found:
            found[list(found)[-1]] += f"\n{line}"
    options = {letter: option.strip() for letter, option in found.items()}
    if len(options) < 2 or not all(options.values()):
        query.reject("has in 'query' no options such as '(a) Yes.' and '(b) No.'")
    return options
