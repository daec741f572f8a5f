"""Exercise, sleep and habits of made-up people; no advice and nobody's record."""

from __future__ import annotations

from memsim.scenario.domains import Domain, listed

DOMAIN = Domain(
    user=(
        "{name} swears by {habit} against {complaint}.",
        "Would {habit} be any use before {exercise}?",
        "An article counted {many} people who tried {habit}.",
        "{name} does {exercise} for {few} minutes and calls it enough.",
        "What do coaches say about {exercise} after {routine}?",
        "The leaflet {code} on {complaint} is hard to read.",
        "Can {exercise} be done with {gear}?",
        "{name} gave up {habit} after {few} weeks.",
        "Why would {complaint} get worse during {routine}, in general?",
        "Would {gear} make {exercise} easier for beginners?",
        "{name} teaches {exercise} and never uses {gear}.",
        "The class on {exercise} starts with {routine}.",
        "I heard a talk on {complaint} and half of it was about {habit}.",
        "How did people cope with {complaint} before {gear}?",
        "{name} keeps {gear} under the desk for {routine}.",
        "Would {habit} suit someone who dislikes {exercise}?",
    ),
    assistant=(
        "There is no harm in {habit}, and some say it eases {complaint}.",
        "{exercise} needs no more than {gear}.",
        "Studies on {habit} are small.",
        "Coaches often put {exercise} after {routine}.",
        "Leaflet {code} repeats what is known about {complaint}.",
        "{name} may simply enjoy {exercise}.",
        "For beginners {few} minutes of {exercise} is plenty.",
        "{gear} can help, but {exercise} works without it.",
        "There are many causes of {complaint}, and {routine} is seldom one.",
        "Many people drop {habit} after {few} weeks.",
        "Talks about {complaint} tend to mention {habit}.",
        "Someone who dislikes {exercise} might like {routine}.",
    ),
    asides=(
        "Everyone is different.",
        "{name} found it boring.",
        "That is no medical advice.",
        "Little and often seems to work.",
        "One can do without {gear}.",
        "It was in leaflet {code}.",
        "Rest matters too.",
        "Anyone can keep up {habit}.",
    ),
    slots={
        "habit": listed(
            "cold showers, drinking warm water, chewing slowly, keeping a sleep diary, stretching "
            "at noon, sunlight in the morning, standing on one leg, deep breathing, taking the "
            "stairs, short naps, screen-free evenings"
        ),
        "exercise": listed(
            "swimming, skipping rope, yoga, cycling, Nordic walking, climbing, pilates, rowing, "
            "dancing, circuit training, tai chi"
        ),
        "complaint": listed(
            "stiff shoulders, dry eyes, restless legs, poor sleep, hiccups, sore feet, low "
            "energy, travel fatigue, cold hands"
        ),
        "routine": listed(
            "the warm-up, the lunch break, the commute, a long drive, the evening walk, desk "
            "work, the school run, gardening"
        ),
        "gear": listed(
            "a foam roller, a resistance band, a step counter, thick socks, a balance board, a "
            "heart-rate strap, a yoga block, a water bottle, a kettlebell"
        ),
    },
)
