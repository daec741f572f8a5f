"""A working day: paper, machines and colleagues."""

from __future__ import annotations

from memsim.scenario.domains import Domain, listed

DOMAIN = Domain(
    user=(
        "{name} left {paper} on {furniture} with a note for someone else.",
        "Has anyone seen {paper} since {meeting}?",
        "{name} moved {meeting} because {device} was taken.",
        "The minutes of {meeting} mention {paper} twice.",
        "Could you shorten {paper} that {name} sent round?",
        "{device} printed {few} pages of {paper} and then stopped.",
        "Who orders {supply} when {name} is away?",
        "I counted {many} entries in {paper}.",
        "{name} thinks {meeting} should be held standing up.",
        "Form {code} asks about {supply}, which nobody needs.",
        "Why would anyone keep {supply} near {device}?",
        "Does {paper} have to be signed before {meeting}?",
        "{name} spilled tea over {paper} during {meeting}.",
        "There is a queue at {device} every time {meeting} ends.",
        "What does {name} mean by {paper} being final?",
        "Draft a polite reminder to {name} about {supply}.",
    ),
    assistant=(
        "{paper} was last discussed in {meeting}.",
        "A shorter {paper_bare} could drop the part about {supply}.",
        "{name} usually handles {supply}.",
        "{device} tends to stop after {few} pages.",
        "Form {code} can be left blank where it asks about {supply}.",
        "I would put {paper} next to {furniture} and tell {name}.",
        "The minutes of {meeting} are brief on {paper}.",
        "A friendly line to {name} about {supply} should do.",
        "If {device} is taken, {meeting} can go without it.",
        "With {many} entries, {paper} needs a summary.",
        "{name} may have meant the version before {meeting}.",
        "Signing {paper} can wait until after {meeting}.",
    ),
    asides=(
        "Nobody is in a hurry.",
        "{name} will not mind.",
        "It happens every month.",
        "The folder is labelled {code}.",
        "{device} is being replaced anyway.",
        "We ran out of {supply} last time.",
        "It is an old habit.",
        "That is how {meeting} goes.",
    ),
    slots={
        "paper": listed(
            "the expense sheet, the visitor list, the draft contract, the holiday calendar, the "
            "fire plan, the parking list, the survey summary, the style guide, the seating chart, "
            "the annual report, the phone list, the travel policy"
        ),
        "paper_bare": ("version", "draft", "summary", "text", "edition"),
        "furniture": listed(
            "the long table, the window sill, the filing cabinet, the reception desk, the shelf "
            "by the door, the standing desk, the coat rack"
        ),
        "device": listed(
            "the big printer, the scanner, the projector, the shredder, the franking machine, the "
            "conference phone, the laminator, the coffee machine"
        ),
        "supply": listed(
            "envelopes, toner, sticky notes, whiteboard pens, staples, name badges, coffee beans, "
            "paper clips, ring binders, batteries"
        ),
        "meeting": listed(
            "the morning round, the budget talk, the works council, the quarterly meeting, the "
            "project lunch, the staff assembly, the safety briefing, the sales call"
        ),
    },
)
