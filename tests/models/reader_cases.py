"""What the reader must find, by ability, and the small talk among which it must find it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memsim.message import Message, composed, said

START = datetime(2023, 5, 8, 9, 0, tzinfo=UTC)
NOW = datetime(2023, 9, 1, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question, what is said that answers it, and what a right answer holds.

    Attributes:
        lines: what is said, oldest first, as `role: text` or `day role: text`; a day counts from `START`.
        holds: pieces that the answer must hold, without regard to case.
        lacks: pieces that it must not hold.
    """

    ability: str
    question: str
    lines: tuple[str, ...]
    holds: tuple[str, ...]
    lacks: tuple[str, ...] = ()


def case(ability: str, question: str, *lines: str, holds: str, lacks: str = "") -> Case:
    """A case; several pieces to hold or to lack are parted by `|`."""
    return Case(
        ability=ability,
        question=question,
        lines=lines,
        holds=tuple(holds.split("|")),
        lacks=tuple(lacks.split("|")) if lacks else (),
    )


CASES = (
    # One fact, said once.
    case(
        "fact",
        "What is my landlord's name?",
        "My landlord's name is Birgit Hansen.",
        holds="Birgit Hansen",
    ),
    case("fact", "Where do I live?", "I live in a small flat in Bergen.", holds="Bergen"),
    case(
        "fact",
        "What is my dog called?",
        "My dog is called Pepper and he is a terrier.",
        holds="Pepper",
    ),
    case(
        "fact",
        "What breed is my dog?",
        "Our dog's breed is Norwegian lundehund.",
        holds="Norwegian lundehund",
    ),
    case(
        "fact",
        "Which instrument does my daughter play?",
        "My daughter plays the cello in the school orchestra.",
        holds="cello",
    ),
    case("fact", "Who is my dentist?", "Dr. Okafor is my dentist.", holds="Okafor"),
    case(
        "fact", "What am I allergic to?", "By the way, I am allergic to peanuts.", holds="peanuts"
    ),
    case(
        "fact",
        "What does my sister do for a living?",
        "My sister works as a marine biologist.",
        holds="marine biologist",
    ),
    case("fact", "Where did we meet?", "We met at the harbour in Tromso.", holds="Tromso"),
    case(
        "fact",
        "What is the wifi password?",
        "The wifi password is sturdy-otter.",
        holds="sturdy-otter",
    ),
    case(
        "fact",
        "What colour is my bicycle?",
        "I ride a dark green bicycle to work.",
        holds="dark green",
    ),
    case(
        "fact",
        "Who leads the design team?",
        "Ingrid Vale leads the design team.",
        holds="Ingrid Vale",
    ),
    case(
        "fact",
        "Which framework do we use for the frontend?",
        "We use Svelte for the frontend.",
        holds="Svelte",
    ),
    # The newest statement of the same thing counts.
    case(
        "update",
        "What is my favourite colour?",
        "My favourite colour is blue.",
        "9 My favourite colour is green now.",
        holds="green",
        lacks="blue",
    ),
    case(
        "update",
        "Where do I live?",
        "I live in Bergen.",
        "20 I moved to Oslo last week.",
        holds="Oslo",
        lacks="Bergen",
    ),
    case(
        "update",
        "What is my phone number?",
        "My phone number is 555-0134.",
        "3 My phone number is 555-0199 now.",
        holds="555-0199",
        lacks="555-0134",
    ),
    case(
        "update",
        "When is the launch?",
        "The launch is on 3 June.",
        "5 The launch has been postponed to 17 June.",
        holds="17 June",
        lacks="3 June",
    ),
    case(
        "update",
        "Which database do we use?",
        "We use MySQL as our database.",
        "30 We switched our database from MySQL to PostgreSQL.",
        holds="PostgreSQL",
    ),
    case(
        "update",
        "How many servers do we have?",
        "We have 12 servers.",
        "8 We have 15 servers now.",
        holds="15",
        lacks="12",
    ),
    case(
        "update",
        "Who is my manager?",
        "My manager is Tom Reyes.",
        "40 My manager is Asha Patel now.",
        holds="Asha Patel",
        lacks="Reyes",
    ),
    case(
        "update",
        "What is the budget for the party?",
        "The budget for the party is 800 euros.",
        "2 Correction: the budget for the party is 650 euros.",
        holds="650",
        lacks="800",
    ),
    case(
        "update",
        "What is my delivery address?",
        "My delivery address is 4 Elm Street.",
        "11 Please change my delivery address to 9 Oak Lane.",
        holds="9 Oak Lane",
        lacks="Elm",
    ),
    case(
        "update",
        "What was my first favourite colour?",
        "My favourite colour is blue.",
        "9 My favourite colour is green now.",
        holds="blue",
        lacks="green",
    ),
    case(
        "update",
        "Is the meeting in Oslo or Bergen?",
        "The meeting is in Oslo, not Bergen.",
        holds="Oslo, not Bergen",
    ),
    # Dates, absolute and relative to the day on which they were said.
    case("date", "When is my flight?", "My flight to Lisbon is on 12 June.", holds="12 June"),
    case(
        "date",
        "When did I visit the museum?",
        "I visited the museum yesterday.",
        holds="7 May 2023",
    ),
    case(
        "date",
        "When did I go to the support group?",
        "10 I went to a support group last Friday.",
        holds="12 May 2023",
    ),
    case(
        "date",
        "When did I finish the marathon?",
        "I finished the marathon two days ago.",
        holds="6 May 2023",
    ),
    case(
        "date", "When are we going camping?", "We're going camping next month.", holds="June 2023"
    ),
    case("date", "When did I start pottery?", "I started pottery last year.", holds="2022"),
    case(
        "date",
        "When did I sign the lease?",
        "I signed the lease last week.",
        holds="the week before 8 May 2023",
    ),
    case(
        "date",
        "When is the dentist appointment?",
        "The dentist appointment is tomorrow at 3 pm.",
        holds="9 May 2023",
    ),
    case(
        "date",
        "What day is the review?",
        "The review is on Thursday.",
        holds="Thursday|11 May 2023",
    ),
    case(
        "date",
        "When was the bridge inspected?",
        "The bridge was inspected on 2023-04-02.",
        holds="2023-04-02",
    ),
    case("date", "When did we adopt the kitten?", "Today we adopted a kitten!", holds="8 May 2023"),
    case(
        "date", "How long have I been married?", "I've been married for 5 years.", holds="5 years"
    ),
    case(
        "date",
        "When is my mother's birthday?",
        "My mother's birthday is August 13th.",
        holds="August 13th",
    ),
    case(
        "date",
        "What time does the train leave?",
        "The train leaves at 6:45 from platform two.",
        holds="6:45",
    ),
    # Numbers.
    case(
        "number", "How many children do I have?", "I have three children.", holds="three children"
    ),
    case(
        "number",
        "How much did the laptop cost?",
        "The laptop cost $1,249.50 in the end.",
        holds="$1,249.50",
    ),
    case("number", "How old is my cat?", "My cat is 7 years old.", holds="7"),
    case(
        "number",
        "How many cats do I have?",
        "I have two dogs and four cats.",
        holds="four cats",
        lacks="dogs",
    ),
    case(
        "number",
        "What is the rate limit?",
        "The rate limit is 120 requests per minute.",
        holds="120",
    ),
    case("number", "How often do I run?", "I run twice a week.", holds="twice a week"),
    # Identifiers and tool results.
    case("identifier", "What is my order number?", "My order number is A-17.", holds="A-17"),
    case(
        "identifier",
        "What is the status of ticket OPS-2231?",
        "Ticket OPS-2231 is blocked by the vendor.",
        holds="blocked",
    ),
    case(
        "identifier",
        "Which commit broke the build?",
        "Commit 9f3c2ab broke the build.",
        holds="9f3c2ab",
    ),
    case(
        "identifier",
        "What is the id of the staging cluster?",
        "The id of the staging cluster is eu-west-4b.",
        holds="eu-west-4b",
    ),
    case(
        "tool",
        "What is the status of order A-17?",
        "tool: Order A-17\nstatus: shipped\ntotal: 48.20 EUR",
        holds="shipped",
    ),
    case(
        "tool",
        "What is the total of order A-17?",
        "tool: Order A-17\nstatus: shipped\ntotal: 48.20 EUR",
        holds="48.20 EUR",
    ),
    case(
        "tool",
        "Which test failed?",
        "tool: collected 41 items\n40 passed\ntest_parse_dates failed with KeyError",
        holds="test_parse_dates",
    ),
    case(
        "tool",
        "What is the warehouse of order B-9?",
        'tool: {"order": "B-9", "warehouse": "Rotterdam", "items": 3}',
        holds="Rotterdam",
    ),
    # Preferences, decisions, constraints.
    case(
        "preference",
        "What do I like to drink in the morning?",
        "In the morning I like to drink oolong tea.",
        holds="oolong tea",
    ),
    case(
        "preference",
        "Which seat do I prefer on planes?",
        "I prefer the aisle seat on planes.",
        holds="aisle",
    ),
    case(
        "preference",
        "What kind of food do I dislike?",
        "I really dislike spicy food.",
        holds="spicy",
    ),
    case(
        "decision",
        "What did we decide about the logo?",
        "We decided to keep the old logo until autumn.",
        holds="keep the old logo",
    ),
    case(
        "decision",
        "Which vendor did we choose?",
        "We chose Nordlys as the vendor.",
        holds="Nordlys",
    ),
    case(
        "constraint",
        "What must never be logged?",
        "Constraint: customer emails must never be logged.",
        holds="customer emails",
    ),
    case(
        "constraint",
        "What is the maximum upload size?",
        "The maximum upload size is 25 MB.",
        holds="25 MB",
    ),
    case(
        "instruction",
        "How should you format dates?",
        "Always format dates as day-month-year.",
        holds="day-month-year",
    ),
    # Two things from two places.
    case(
        "sessions",
        "Which languages do I speak?",
        "I speak Portuguese at home.",
        "30 I also speak a little Swedish.",
        holds="Portuguese|Swedish",
    ),
    case(
        "sessions",
        "What pets do I have?",
        "I have a parrot as a pet.",
        "25 I also got a pet tortoise.",
        holds="parrot|tortoise",
    ),
    case(
        "sessions",
        "What books have I read?",
        "I have read the book Dune.",
        "14 I read the book Emma on the train.",
        holds="Dune|Emma",
    ),
    # Said of somebody by name, in remembered lines.
    case(
        "recalled",
        "What did Caroline paint?",
        "memory: [2023-05-02] Caroline: I painted a lighthouse at dusk.",
        holds="lighthouse",
    ),
    case(
        "recalled",
        "When did Melanie run the race?",
        "memory: [2023-05-20] Melanie: I ran the charity race last Saturday!",
        holds="13 May 2023",
    ),
    case(
        "recalled",
        "Where does Caroline volunteer?",
        "memory: [2023-05-02] Melanie: I volunteer at the zoo.\n[2023-05-03] Caroline: I volunteer at the library.",
        holds="library",
        lacks="zoo",
    ),
    case(
        "recalled",
        "What is Alice's badge number?",
        "memory: alice: My badge number is 7741.\nbob: My badge number is 9120.",
        holds="7741",
        lacks="9120",
    ),
    # Yes or no.
    case(
        "yesno", "Do I have a driving licence?", "I have a driving licence since 2010.", holds="yes"
    ),
    case("yesno", "Is the beta open to guests?", "The beta is not open to guests.", holds="no"),
)

ABSENT = (
    ("What colour is my hat?", ()),
    ("What colour is my hat?", ("I left my hat on the train.",)),
    ("What colour is my hat?", ("I love my hat.", "The red car is parked outside.")),
    ("What breed is my dog?", ("My dog loves the park.",)),
    ("When is my flight?", ("My flight is with a small airline.",)),
    ("How many cats do I have?", ("I like cats.",)),
    ("What is my sister's job?", ("My sister is visiting us.",)),
    ("What is my landlord's phone number?", ("My landlord is very friendly.",)),
    ("What is the status of order B-22?", ("Order A-17 has been shipped.",)),
    ("Who repaired the boiler?", ("The kitchen needs new tiles.",)),
    ("Where does my brother live?", ("My sister lives in Malmo.",)),
    ("What is my blood type?", ("I type quite fast.",)),
    ("Which school did I attend?", ("What school did you attend?",)),
    ("What did Caroline paint?", ("memory: [2023-05-02] Melanie: I painted a lighthouse.",)),
    (
        "What is my favourite film?",
        ("What is my favourite film?", "assistant: I don't know that yet."),
    ),
    ("How long have I been married?", ("I got a letter from my lawyer.",)),
)
"""Questions whose answer is nowhere, with what is said that comes near."""

_OPENINGS = (
    "Yesterday evening",
    "On the way home",
    "At lunch",
    "Before breakfast",
    "After the film",
)
_ACTS = (
    "we talked about gardening and compost",
    "somebody mentioned a podcast on ancient trade",
    "the neighbours were laughing on the balcony",
    "it rained harder than the forecast had said",
    "I tidied a drawer full of old cables",
    "the bakery had run out of rye bread again",
    "a tram stopped between two stations",
    "the radio played a song from the eighties",
    "we compared three recipes for lentil soup",
    "an old friend sent a funny postcard",
)
_CLOSINGS = ("which was pleasant", "as usual")


def distractors() -> list[str]:
    """A hundred sentences of small talk, all different."""
    return [f"{o} {a}, {c}." for o in _OPENINGS for a in _ACTS for c in _CLOSINGS]


def messages(lines: tuple[str, ...], *, among: bool = False) -> tuple[Message, ...]:
    """The lines as messages, alone or spread among the small talk."""
    noise = distractors() if among else []
    spoken = [_message(n, line) for n, line in enumerate(lines)]
    between = [
        said("user", text, id=f"n{n}", time=START + timedelta(minutes=n))
        for n, text in enumerate(noise)
    ]
    third = len(between) // 3
    made = between[:third]
    for place, message in enumerate(spoken):
        made.append(message)
        made.extend(between[third + 10 * place : third + 10 * (place + 1)])
    return (*made, *between[third + 10 * len(spoken) :])


def _message(n: int, line: str) -> Message:
    head, _, rest = line.partition(" ")
    day, line = (int(head), rest) if head.isdigit() and rest[:1].isupper() else (0, line)
    role, _, text = line.partition(": ")
    when = START + timedelta(days=day, hours=1)
    if role == "memory":
        return composed("system", text, id=f"c{n}", time=NOW)
    if role == "tool":
        return said("tool", text, id=f"t{n}", time=when)
    if role == "assistant":
        return said("assistant", text, id=f"a{n}", time=when)
    return said("user", line, id=f"e{n}", time=when)
