"""Verbs of saying: in which words a question asks who said something.

`SAYING` are ways to say something new, by what is proposed or told: `Who suggested it?` asks for a
speaker as much as `What did Ana suggest?` asks for words. `REPLYING` are the other ways to speak,
as a question for somebody's words has them. `SETTLING` are ways to want and decide, as a question
for the one who began it has them.
"""

from __future__ import annotations

from typing import Final

SAYING: Final = {
    "say": "said",
    "tell": "told",
    "suggest": "suggested",
    "recommend": "recommended",
    "propose": "proposed",
    "advise": "advised",
    "promise": "promised",
    "offer": "offered",
    "mention": "mentioned",
    "warn": "warned",
}
"""Verbs of either question, each with its past."""

REPLYING: Final = {
    "ask": "asked",
    "answer": "answered",
    "reply": "replied",
    "write": "wrote",
    "explain": "explained",
    "claim": "claimed",
    "state": "stated",
    "announce": "announced",
}
"""Verbs of a question for somebody's words alone."""

SETTLING: Final = {
    "decide": "decided",
    "insist": "insisted",
    r"ask\sfor": r"asked\sfor",
    r"bring\sup": r"brought\sup",
    r"point\sout": r"pointed\sout",
    r"come\sup\swith": r"came\sup\swith",
    r"rule\sout": r"ruled\sout",
    "want": "wanted",
    "plan": "planned",
    "choose": "chose",
}
"""Verbs of a question for who it was alone, as patterns."""
