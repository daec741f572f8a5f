"""A service desk: parcels, accounts and devices of other customers."""

from __future__ import annotations

from memsim.scenario.domains import Domain, listed

DOMAIN = Domain(
    user=(
        "A colleague called {name} asked whether {product} comes with {extra}.",
        "{name} filed ticket {code} about {product}; is that the same {fault}?",
        "How do other people get rid of {fault} on {product}?",
        "The help page says {product} needs {extra}, is that still right?",
        "{name} waited {few} days for {extra} and then gave up.",
        "Would a warranty cover {fault} when {product} is used outdoors?",
        "I read that {many} customers reported {fault} after {change}.",
        "Would {extra} have spared {name} the trouble with {fault}?",
        "The forum thread {code} blames {change} for {fault}.",
        "Can {product} be sent back without {extra}?",
        "Why does {product} mention {change} on its start screen?",
        "{name} from the forum fixed {fault} by removing {extra}.",
        "What is the difference between {product} and the model before it?",
        "Does {change} also apply to {product}?",
        "Somebody on the phone told {name} to live with {fault}.",
        "Where would {name} find the manual for {product}?",
    ),
    assistant=(
        "In general {product} ships without {extra}.",
        "Ticket {code} is about {fault}, which {change} should settle.",
        "Most reports of {fault} go back to {change}.",
        "For {product} we suggest {remedy} first.",
        "Should {fault} come back, {remedy} usually helps.",
        "The article on {product} lists {few} causes of {fault}.",
        "{name} can ask for {extra} at any branch.",
        "Yes, {change} applies to {product} as well.",
        "The team looked at {many} devices and saw {fault} only rarely.",
        "{remedy} takes about {few} minutes on {product}.",
        "We have passed {code} on to the people who look after {product}.",
        "That forum post is older than {change}.",
    ),
    asides=(
        "The manual is not very clear about it.",
        "{name} had the same question.",
        "It depends on {change}.",
        "There is a note on it under {code}.",
        "Others have tried {remedy} too.",
        "It is worth checking {extra} as well.",
        "This is general advice only.",
        "The wording may change.",
    ),
    slots={
        "product": listed(
            "the desk lamp, the hallway router, the label printer, the travel speaker, the smart "
            "thermostat, the baby monitor, the dash camera, the robot mower, the air purifier, "
            "the e-reader, the doorbell, the card reader, the projector"
        ),
        "extra": listed(
            "a wall bracket, the long cable, a spare filter, the charging dock, a paper manual, "
            "the adapter set, a carrying case, extended cover, the original box, a stylus"
        ),
        "fault": listed(
            "flickering, a blank screen, random restarts, a humming noise, slow pairing, missing "
            "updates, an overheating battery, a stuck button, garbled text, dropped connections, "
            "a blinking light"
        ),
        "change": listed(
            "the spring update, the new contract, the server move, the recall notice, the revised "
            "price list, the change of carrier, the latest firmware, the switch of suppliers"
        ),
        "remedy": listed(
            "a clean restart, reseating the battery, a factory reset, shorter cabling, updating "
            "over cable, a different outlet, clearing the cache, pairing afresh"
        ),
    },
)
