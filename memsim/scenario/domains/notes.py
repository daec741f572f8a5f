"""Short replies that an assistant gives when the script leaves its words open."""

from __future__ import annotations

from memsim.scenario.domains import Domain

DOMAIN = Domain(
    user=(),
    assistant=(
        "Understood.",
        "All right.",
        "Got it, thanks.",
        "Thanks for telling me.",
        "Noted.",
        "Sure.",
        "Okay, I see.",
        "Very well.",
        "I will keep that in mind.",
        "Good to know.",
        "Thank you.",
    ),
    slots={},
)
