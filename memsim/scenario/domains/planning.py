"""Meetings about what others will do, and when they might."""

from __future__ import annotations

from memsim.scenario.domains import Domain, listed

DOMAIN = Domain(
    user=(
        "{name} thinks {task} can wait until {milestone}.",
        "Who else could help {name} with {task}?",
        "The board has {few} cards about {task}, one of them is {code}.",
        "If {risk} happens, does {milestone} move?",
        "{name} wants {artefact} before {milestone}.",
        "Last quarter {task} took {name} {few} weeks.",
        "Is {artefact} still needed once {task} is done?",
        "I would rather talk about {risk} than about {milestone}.",
        "Note {code} says {name} is worried about {risk}.",
        "Could {task} run in parallel with {artefact}?",
        "Nobody has estimated {task} since {milestone}.",
        "{name} asked for {many} hours, which seems high for {task}.",
        "What usually goes wrong between {task} and {milestone}?",
        "The other team ties {artefact} to {milestone}.",
        "Would {name} accept a smaller version of {task}?",
        "Someone should tell {name} about {risk}.",
    ),
    assistant=(
        "{task} does not block {milestone}, as far as the board shows.",
        "{risk} is listed under {code}, with {name} watching it.",
        "A first draft of {artefact} would calm {name}.",
        "In the other team {task} took {few} weeks.",
        "Then {artefact} can follow {task} without harm.",
        "I would ask {name} to split {task}.",
        "{milestone} rarely moves because of {risk} alone.",
        "There are {few} open questions on {task}.",
        "A figure of {many} hours may well include {artefact}.",
        "Parallel work is possible if {name} agrees on {artefact}.",
        "The usual trouble is {risk}.",
        "{name} has already commented on {code}.",
    ),
    asides=(
        "Nothing is decided yet.",
        "{name} can bring it up next time.",
        "It is only a rough idea.",
        "We can look at {code} again.",
        "{risk} is the wild card.",
        "Let us not plan around it.",
        "That was before {milestone}.",
        "The notes are incomplete.",
    ),
    slots={
        "task": listed(
            "the data clean-up, the supplier review, the site survey, the training series, the "
            "price comparison, the pilot group, the inventory count, the office move, the "
            "newsletter, the audit trail, the onboarding guide, the interview series"
        ),
        "milestone": listed(
            "the steering round, the mid-year check, the public preview, the hand-over, the "
            "budget freeze, the trade show, the second review, the soft opening, the summer break"
        ),
        "risk": listed(
            "a late delivery, a missing signature, a staff change, scope creep, a price rise, a "
            "clash of calendars, an unclear contract, a failed inspection"
        ),
        "artefact": listed(
            "a one-page summary, a rough timeline, the checklist, a decision record, the seating "
            "plan, a cost sheet, the risk register, a demo script, the stakeholder map"
        ),
    },
)
