"""What AgentScope tells a model, in words of memsim's own that ask for the same as its prompts.

The marker at the end and the demand for a length are the package's. A chat stands between the
instruction and the marker, as in the package.
"""

from __future__ import annotations

from collections.abc import Mapping

from memsim.models import Prompt

END_MARKER = "Above is the message list that needs to be compressed."
REQUIREMENT = (
    "\nCOMPRESSION REQUIREMENT:\nThe original content contains approximately {original} characters."
    " You MUST compress it to approximately {target} characters ({percent}% of original). This is a"
    " STRICT requirement.\n\nPlease ensure your output meets this character limit while following"
    " the compression principles above."
)

FAMILIES: Mapping[str, str] = {
    "S1": (
        "Compress a run of tool calls and their results. For each call keep the name of the tool,"
        " its exact arguments, and what it returned, as facts. Merge identical calls and say how"
        " often they were made. Keep every detail of calls that write or change something. Write"
        " plain text. Mark a result that was cut with [TRUNCATED]."
    ),
    "S4": (
        "Rewrite the last answer of an earlier round as a reply that stands on its own. Work in"
        " every fact that the round brought up: paths, errors word for word, ids, addresses,"
        " ports, changes of state. Never mention tools. Write plain text."
    ),
    "S5": (
        "Summarise one large message of the current round with care. Keep critical details, and"
        " what a tool was asked and returned. Leave out only what is repeated or beside the point."
    ),
    "S6": (
        "Compress what happened since the user's last message. Repeat text that stands before a"
        " reference to offloaded context word for word, and leave the reference out. Then write"
        " one line in the first person for each tool call and its result: I called X with [...];"
        " it returned: ... Write [UNPARSED OUTPUT] for a result that cannot be read. Use no"
        " Markdown, and keep to the length that is asked for."
    ),
}
"""By family of strategies, what its prompt asks for."""


def family_prompt(family: str, requirement: str = "") -> Prompt:
    """The prompt of a family of Java 1.0.12, with what is required of the length."""
    after = f"{END_MARKER}\n{requirement}" if requirement else END_MARKER
    return Prompt(user=f"{FAMILIES[family]}\n{{messages}}\n{after}", chat=True)


DOCUMENTED = Prompt(
    user=(
        "Summarise the conversation that follows, so that the agent can go on without it. Keep"
        " goals, facts, decisions, results of tools and open tasks, in at most {words} words."
        f"\n{{messages}}\n{END_MARKER}"
    ),
    chat=True,
)
"""The document has summarisation, and no words for it."""

STRUCTURE = (
    "Write five sections, each beginning with its name: task_overview, current_state,"
    " important_discoveries and context_to_preserve of at most 300 characters, and next_steps of"
    " at most 200."
)
"""The fields that Python 1.0.21 has the model fill in."""

EXTRACTION = Prompt(
    system=(
        "You keep an agent's long-term memory. From the messages of user and assistant, take the"
        " facts that are worth remembering in later sessions, one short fact a line. Where there"
        " is none, write nothing."
    ),
    user="{messages}",
)
"""What stands behind Mem0 is a service, whose prompt is not documented."""

RECORDING = Prompt(
    system=(
        "You keep an agent's long-term memory. Summarise what was said and done, so that it helps"
        " with a similar task later: what was wanted, what worked, what did not, and what was"
        " learned. At most {words} words."
    ),
    user="{messages}",
)
"""The same of ReMe."""
