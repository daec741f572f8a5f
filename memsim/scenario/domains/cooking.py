"""Kitchens, dishes and the opinions that people hold about them."""

from __future__ import annotations

from memsim.scenario.domains import Domain, listed

_INGREDIENTS = listed(
    "smoked paprika, lemon zest, toasted sesame, caper brine, brown butter, dried mint, pickled "
    "ginger, fennel seed, coconut milk, roasted garlic, star anise, tamarind, sour cream, miso"
)

DOMAIN = Domain(
    user=(
        "{name} puts {ingredient} into {dish}, would that work?",
        "How long can {dish} stand before it turns {flaw}?",
        "What goes with {dish} apart from {ingredient}?",
        "{name} served {dish} to {few} people and ran out of {ingredient}.",
        "Is there a way to rescue {dish} that has become {flaw}?",
        "The recipe in {book} wants {ingredient}, which seems odd for {dish}.",
        "Can {tool} be used for {dish}?",
        "{name} says {tool} makes {dish} less {flaw}.",
        "I tried the {dish_bare} from {book} and it came out {flaw}.",
        "Does {ingredient} keep if it is stored next to {other}?",
        "Page {many} of {book} is all about {dish}.",
        "Why would anyone add {ingredient} at the very end?",
        "{name} swears by {tool} and {ingredient}.",
        "Which is easier for a crowd, {dish} or sandwiches?",
        "What did cooks do before {tool} was invented?",
        "{name} entered {dish} in a contest under number {code}.",
    ),
    assistant=(
        "{ingredient} works in {dish} if it is added late.",
        "To keep {dish} from turning {flaw}, lower the heat.",
        "{book} is fond of {ingredient}.",
        "{tool} will do, though {dish} takes a little longer.",
        "For {few} people, double {ingredient} and leave the rest.",
        "{dish} that is {flaw} can still become a soup.",
        "{name} has a point: {ingredient} brings out the flavour.",
        "Plain bread goes well with {dish}.",
        "Before {tool} there was patience.",
        "Cooks disagree about {ingredient} in {dish}.",
        "Let {dish} rest for {few} minutes.",
        "The version in {book} is simpler than what {name} makes.",
    ),
    asides=(
        "Taste it before serving.",
        "{name} never measures anything.",
        "A pinch is enough.",
        "{ingredient} is cheap in any case.",
        "It is better the next day.",
        "Do not stir too much.",
        "{book} has a photograph of it.",
        "The smell alone is worth it.",
    ),
    slots={
        "dish": listed(
            "a lentil stew, mushroom risotto, a potato gratin, leek soup, a plum crumble, stuffed "
            "peppers, a bean salad, an onion tart, fish pie, pumpkin curry, a noodle bake, a "
            "dumpling soup, a cheese soufflé"
        ),
        "dish_bare": ("stew", "gratin", "soup", "tart", "salad", "curry", "pie", "casserole"),
        "ingredient": _INGREDIENTS,
        "other": _INGREDIENTS,
        "flaw": ("soggy", "bitter", "grainy", "too thick", "bland", "lumpy", "dry", "greasy"),
        "tool": listed(
            "a pressure cooker, a cast-iron pan, a mandoline, a steamer, a hand blender, a pizza "
            "stone, a clay pot, a wok, a stand mixer"
        ),
        "book": listed(
            "the church cookbook, the weekend supplement, the library copy, the blue binder, the "
            "old magazine, the soup handbook, the farmers’ almanac"
        ),
    },
)
