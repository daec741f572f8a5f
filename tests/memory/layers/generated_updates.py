"""Conversations in which facts change twice each, in forms that no rule was made for."""

from __future__ import annotations

from random import Random
from typing import NamedTuple


class Said(NamedTuple):
    """A message; of a fact, with its name and how often it has changed by then."""

    text: str
    fact: str = ""
    version: int = 0


class Form(NamedTuple):
    """How a fact is stated first, how it is changed, and the values that it may have."""

    first: str
    updates: tuple[str, ...]
    values: tuple[str, ...]


FORMS = {
    "landlord": Form(
        "Our landlord is called {new}.",
        (
            "Our landlord is {new} these days, the house was sold.",
            "We have a different landlord since May: {new}.",
            "The landlord has changed, he is called {new}.",
        ),
        ("Pavel Novak", "Ines Duarte", "Tom Akande", "Greta Holm"),
    ),
    "dentist": Form(
        "My dentist appointment is on {new}.",
        (
            "The dentist pushed my appointment back to {new}.",
            "The practice rang, my dentist appointment is on {new} instead.",
            "Correction, the dentist sees me on {new}.",
        ),
        ("3 June", "17 June", "9 July", "21 August"),
    ),
    "rent": Form(
        "We pay {new} euros of rent a month.",
        (
            "The rent has gone up to {new} euros.",
            "From January on the rent is {new} euros a month.",
            "As of next month we pay {new} euros of rent.",
        ),
        ("870", "940", "1,015", "1,120"),
    ),
    "bus": Form(
        "I take the number {new} bus to the office.",
        (
            "They cancelled that line, I now take the number {new} bus to the office.",
            "I switched to the number {new} bus for the office.",
            "The number {new} bus is the one I take to the office now.",
        ),
        ("14", "38", "52", "7"),
    ),
    "gym": Form(
        "I go to the gym on {new}.",
        (
            "I no longer go to the gym on {old}, I go on {new}.",
            "My gym day has moved to {new}.",
            "I go to the gym on {new} from now on.",
        ),
        ("Monday", "Tuesday", "Friday", "Saturday"),
    ),
    "server": Form(
        "The database runs on {new}.",
        (
            "We migrated the database, it runs on {new} now.",
            "The database no longer runs on {old} but on {new}.",
            "Use {new} for the database instead of {old}.",
        ),
        ("db-12", "db-31", "db-47", "db-90"),
    ),
    "editor": Form(
        "For writing I use {new}.",
        (
            "I gave up {old} and use {new} for writing now.",
            "I switched from {old} to {new} for writing.",
            "These days I use {new} for writing.",
        ),
        ("Scrivener", "Obsidian", "Emacs", "Typora"),
    ),
    "standup": Form(
        "The daily standup starts at {new}.",
        (
            "We moved the standup to {new}.",
            "The standup starts at {new} from Monday on.",
            "Not at {old}, the standup is at {new} now.",
        ),
        ("9:15", "10:30", "8:45", "11:00"),
    ),
    "cat": Form(
        "The vet says that the cat weighs {new} kilos.",
        (
            "The cat is on a diet and weighs {new} kilos now.",
            "Update: the cat weighs {new} kilos.",
            "At the last visit the cat was down to {new} kilos, no longer {old}.",
        ),
        ("six", "five", "seven", "four"),
    ),
    "kitchen": Form(
        "I want the kitchen painted in {new}.",
        (
            "I changed my mind about the kitchen, paint it in {new}.",
            "On second thought, the kitchen should be in {new}.",
            "Make the kitchen {new} instead of {old}.",
        ),
        ("yellow", "turquoise", "white", "olive"),
    ),
    "boss": Form(
        "I report to {new} at work.",
        (
            "{old} has left, I report to {new} at work now.",
            "I no longer report to {old}, it is {new} now.",
            "There was a reorganisation at work and I now report to {new}.",
        ),
        ("Nadine Kremer", "Samir Haddad", "Olga Petrova", "Jun Sato"),
    ),
    "wifi": Form(
        "The password of the guest network is {new}.",
        (
            "I had to change the password of the guest network, it is {new} now.",
            "The guest network has a new password: {new}.",
            "The password of the guest network was changed to {new}.",
        ),
        ("lemon-4471", "brick-9023", "otter-5518", "pylon-1207"),
    ),
    "shoes": Form(
        "My daughter wears shoe size {new}.",
        (
            "My daughter has grown, she wears shoe size {new} now.",
            "Shoe size {old} is too small for my daughter, take {new}.",
            "My daughter needs shoe size {new} by now.",
        ),
        ("31", "32", "33", "34"),
    ),
    "brother": Form(
        "My brother lives in {new}.",
        (
            "My brother has moved to {new}.",
            "My brother no longer lives in {old}, he lives in {new}.",
            "My brother moved from {old} to {new}.",
        ),
        ("Ghent", "Turin", "Malaga", "Krakow"),
    ),
    "tea": Form(
        "In the afternoon I drink {new}.",
        (
            "I do not want {old} any more, in the afternoon I drink {new}.",
            "Instead of {old} I drink {new} in the afternoon.",
            "Bring me {new} in the afternoon from now on, not {old}.",
        ),
        ("green tea", "lemonade", "oolong", "ginger beer"),
    ),
    "hiring": Form(
        "Each team may hire {new} people this year.",
        (
            "The limit was raised, each team may hire {new} people now.",
            "Each team may only hire {new} people after all.",
            "Finance cut it, each team may hire {new} people.",
        ),
        ("three", "five", "eight", "two"),
    ),
}
BETWEEN = (
    "The garden looks lovely this week.",
    "I met Sara near the station and we talked about rowing.",
    "There is a queue at the bakery every time the school ends.",
    "I counted {count} people at the market.",
    "Do you know a good book about trains?",
    "It rained all day, so we stayed in.",
    "The train was {count} minutes late again.",
    "My neighbour bought a globe and now calls chess good fun.",
    "The printer jammed after {count} pages.",
    "Somebody left an umbrella at the door again.",
    "I would rather talk about the trip than about the budget.",
    "We ran out of flour last time.",
    "She moved the party indoors because of the wind.",
    "Now that is what I call a sunset.",
    "I watched {count} episodes and gave up.",
    "They changed the lights at the crossing.",
    "The new film is too long, but worth it.",
    "I actually liked the soup.",
    "In the end the match was cancelled.",
    "My aunt sold her car for {count} crowns.",
)
"""What stands between the facts; some of it speaks of changes, and changes no fact."""


def conversation(seed: int) -> list[Said]:
    """All facts, each stated and changed twice, in an order of its own, with talk in between."""
    random = Random(seed)
    values = {name: random.sample(form.values, 3) for name, form in FORMS.items()}
    found: list[Said] = []
    for version in range(3):
        for name in random.sample(sorted(FORMS), len(FORMS)):
            form, new = FORMS[name], values[name][version]
            old = values[name][max(0, version - 1)]
            words = random.choice(form.updates) if version else form.first
            said = words.format(old=old, new=new)
            found.append(Said(said[0].upper() + said[1:], name, version))
            found += (_between(random) for _ in range(random.randrange(4)))
    return found


def _between(random: Random) -> Said:
    return Said(random.choice(BETWEEN).format(count=random.randrange(3, 900)))
