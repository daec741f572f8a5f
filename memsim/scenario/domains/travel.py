"""Other people's journeys."""

from __future__ import annotations

from memsim.scenario.domains import Domain, listed

DOMAIN = Domain(
    user=(
        "{name} took {transport} and saw {sight} on the way.",
        "Is {sight} worth a detour when one travels on {transport}?",
        "How early does one have to be there for {transport}?",
        "{name} stayed at {lodging} and complained about {nuisance}.",
        "The guidebook gives {sight} only {few} lines.",
        "Does {lodging} usually charge extra for {luggage}?",
        "{name} lost {luggage} somewhere between {sight} and {lodging}.",
        "I read about {nuisance} on {transport}, does that happen often?",
        "What do people pack for {season} besides {luggage}?",
        "{name} walked {few} hours to reach {sight}.",
        "Booking {code} was made by {name} and then cancelled.",
        "Would {transport} be quieter in {season}?",
        "There were {many} visitors at {sight} when {name} came.",
        "Can {luggage} be left at {lodging} for an afternoon?",
        "{name} prefers {lodging} to anything near {sight}.",
        "Which is the better story, {nuisance} or {sight}?",
    ),
    assistant=(
        "{sight} is at its best in {season}.",
        "With {transport} one should plan for {nuisance}.",
        "{lodging} will mostly keep {luggage} for free.",
        "{name} is not the only one who mentions {nuisance}.",
        "For {transport}, {few} minutes ahead is enough.",
        "Few guidebooks do {sight} justice.",
        "In {season} {lodging} can be booked at short notice.",
        "People often forget {luggage} on {transport}.",
        "A reference such as {code} is needed to change a booking.",
        "Some {many} people a day go to see {sight}.",
        "There is less trouble with {nuisance} in {season}.",
        "Travellers like {name} often recommend {lodging}.",
    ),
    asides=(
        "The views make up for it.",
        "{name} would go again.",
        "It is different in {season}.",
        "Timetables change, of course.",
        "Bring {luggage} all the same.",
        "{nuisance} can happen anywhere.",
        "A window seat helps.",
        "The map does not show it.",
    ),
    slots={
        "transport": listed(
            "the night train, the ferry, the cable car, a coach, a rental bicycle, the river "
            "boat, the tram, the funicular, a shared taxi, the sleeper bus, the mountain railway"
        ),
        "sight": listed(
            "the salt mine, the lighthouse, the botanical garden, the covered market, the "
            "fortress, the glass museum, the waterfall, the old observatory, the clock tower, the "
            "stone circle, the harbour wall, the sculpture park"
        ),
        "lodging": listed(
            "the guest house, a farm stay, the youth hostel, a roadside inn, the lake hotel, a "
            "mountain hut, the station hotel, a houseboat, the campsite"
        ),
        "nuisance": listed(
            "a missed connection, thin walls, a sudden strike, mosquitoes, a noisy bar, a closed "
            "pass, lukewarm showers, a broken lift, endless queues"
        ),
        "luggage": listed(
            "a rain jacket, a folding stool, spare socks, a phrase book, a head torch, walking "
            "sticks, a thermos flask, an eye mask, a clothes line"
        ),
        "season": listed(
            "spring, early summer, the dry months, autumn, midwinter, the shoulder season"
        ),
    },
)
