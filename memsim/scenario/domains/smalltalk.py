"""Talk about nothing much."""

from __future__ import annotations

from memsim.scenario.domains import Domain, listed

DOMAIN = Domain(
    user=(
        "{name} says {pastime} is {verdict}, and I can see why.",
        "I ran into {name} near {spot} and we talked about {pastime}.",
        "Did you hear that {name} has taken up {pastime}?",
        "{name} stayed at {event} until the very end.",
        "{name} keeps telling everyone about {event}.",
        "Someone left {object} at {spot} again.",
        "Is {pastime} really {verdict}, or is {name} exaggerating?",
        "{name} counted {few} people at {event}.",
        "It has been {weather} here, so {name} moved {event} indoors.",
        "What would you talk about with {name} on the way to {spot}?",
        "{name} bought {object} and now calls {pastime} {verdict}.",
        "We sat by {spot} and watched {name} photograph {object}.",
        "Nobody at {spot} agrees with {name} about {pastime}.",
        "Apparently {name} has written {many} words on {pastime}.",
        "{event} made {name} late for {pastime}.",
        "Between {pastime} and {event}, {name} hardly sleeps.",
    ),
    assistant=(
        "{pastime} does sound {verdict} when {name} tells it.",
        "Then {name} must be pleased about {event}.",
        "People who like {pastime} often end up near {spot}.",
        "{weather} days are good for {pastime}.",
        "Perhaps {name} simply enjoys {event}.",
        "That is a lot of fuss over {object}.",
        "I would ask {name} how {event} began.",
        "With {few} guests, {event} sounds like hard work.",
        "It is the kind of thing that happens around {spot}.",
        "{name} and {pastime}: that was bound to be {verdict}.",
        "Even {object} can start a conversation at {spot}.",
        "Fair enough; not everyone finds {pastime} {verdict}.",
    ),
    asides=(
        "Anyway, that is how these things go.",
        "{name} would tell it better.",
        "It was {weather} the whole time.",
        "Still, {event} has its charm.",
        "One hears that sort of thing around {spot}.",
        "I had almost forgotten about {object}.",
        "Not that it matters much.",
        "{name} laughed about it for {few} minutes.",
    ),
    slots={
        "pastime": listed(
            "birdwatching, chess by post, kite flying, choir practice, rowing, juggling, pottery, "
            "crossword setting, table tennis, whittling, stargazing, folk dancing, bell ringing, "
            "model building, beekeeping, fencing, origami, hill walking"
        ),
        "verdict": listed(
            "overrated, underrated, good fun, oddly calming, harder than it looks, a bore, worth "
            "trying, an acquired taste, quite an effort, better in company"
        ),
        "spot": listed(
            "the bakery, the old bridge, the library steps, the bus depot, the fountain, the "
            "corner shop, the playground, the town hall, the boathouse, the florist, the "
            "allotments, the cinema, the duck pond, the laundry"
        ),
        "event": listed(
            "the street fair, the quiz night, the jumble sale, the lantern walk, the book swap, "
            "the neighbours’ barbecue, the open rehearsal, the puppet show, the garden tour, the "
            "charity run, the school play, the film club, the harvest supper"
        ),
        "object": listed(
            "a striped umbrella, a single glove, an accordion, a box of records, a wicker chair, "
            "an enormous pumpkin, a paper crown, a tin whistle, a folding bicycle, a globe, a jar "
            "of buttons, an old typewriter"
        ),
        "weather": listed("drizzly, windy, bright, foggy, muggy, frosty, mild, grey, stormy"),
    },
)
