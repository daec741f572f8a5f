"""The reader finds what its context holds, and does not know what it does not hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from memsim.message import Message, composed, said
from memsim.models import IDK, Request
from memsim.models.offline.reader import ANSWER_WORDS, read_answer

START = datetime(2023, 5, 8, 9, 0, tzinfo=UTC)
NOW = datetime(2023, 9, 1, 9, 0, tzinfo=UTC)

_TABLE = yaml.safe_load(Path(__file__).with_name("reader_cases.yaml").read_text(encoding="utf-8"))
FOUND: list[dict[str, Any]] = _TABLE["found"]
ABSENT: list[dict[str, Any]] = _TABLE["absent"]
OTHERS: list[dict[str, Any]] = _TABLE["others"]

_OPENINGS = ("Yesterday evening", "On the way home", "At lunch", "Before breakfast", "After work")
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
SMALL_TALK = [f"{o} {a}, {c}." for o in _OPENINGS for a in _ACTS for c in _CLOSINGS]


def told(lines: list[str], *, among: list[str] | None = None) -> tuple[Message, ...]:
    """Lines of the table as messages, alone or spread among small talk."""
    noise = [
        said("user", text, id=f"n{n}", time=START + timedelta(minutes=n))
        for n, text in enumerate(among or [])
    ]
    third = len(noise) // 3
    made = noise[:third]
    for place, line in enumerate(lines):
        made += [_message(place, line), *noise[third + 10 * place : third + 10 * (place + 1)]]
    return (*made, *noise[third + 10 * len(lines) :])


def _message(place: int, line: str) -> Message:
    head, _, rest = line.partition(" ")
    day, line = (int(head), rest) if head.isdecimal() and rest[:1].isupper() else (0, line)
    role, _, text = line.partition(": ")
    time = START + timedelta(days=day, hours=1)
    if role == "memory":
        return composed("system", text, id=f"c{place}", time=NOW)
    if role == "tool":
        return said("tool", text, id=f"t{place}", time=time)
    if role == "assistant":
        return said("assistant", text, id=f"a{place}", time=time)
    return said("user", line, id=f"e{place}", time=time)


def ask(question: str, *messages: Message, **more: Any) -> str:  # noqa: ANN401 - any field
    """What the reader answers."""
    return read_answer(
        Request(task="answer", messages=messages, question=question, now=NOW, **more)
    ).text


def wrong(case: dict[str, Any], given: str) -> list[str]:
    """What a given answer should hold and does not, or should not hold and does."""
    folded = given.casefold()
    absent = [f"no {p}" for p in map(str, case["holds"]) if p.casefold() not in folded]
    return absent + [p for p in map(str, case.get("lacks", ())) if p.casefold() in folded]


def question_of(case: dict[str, Any]) -> str:
    """A case's question: it stands under the ability that it tests."""
    return str(next(value for key, value in case.items() if key not in {"said", "holds", "lacks"}))


def test_what_is_said_is_found(subtests: pytest.Subtests) -> None:
    """A fact that is in the context, and nothing else, is answered."""
    for case in FOUND:
        with subtests.test(case=case):
            given = ask(question_of(case), *told(case["said"]))

            assert wrong(case, given) == [], given


def test_what_is_said_among_small_talk_is_found(subtests: pytest.Subtests) -> None:
    """A hundred sentences about other things do not hide it."""
    for case in FOUND:
        with subtests.test(case=case):
            given = ask(question_of(case), *told(case["said"], among=SMALL_TALK))

            assert wrong(case, given) == [], given


def test_what_is_not_said_is_not_known(subtests: pytest.Subtests) -> None:
    """Without the message that holds it, the answer is gone: the reader knows nothing itself."""
    for case in FOUND:
        with subtests.test(case=case):
            assert ask(question_of(case), *told([], among=SMALL_TALK)) == IDK
            assert ask(question_of(case)) == IDK


def test_what_comes_near_is_not_taken_for_it(subtests: pytest.Subtests) -> None:
    """A question whose subject is mentioned and whose answer is not is not answered."""
    for among in [[], SMALL_TALK]:
        for case in ABSENT:
            with subtests.test(case=case, among=among):
                assert ask(case["ask"], *told(case["said"], among=among)) == IDK


def test_what_others_have_is_not_taken_for_it(subtests: pytest.Subtests) -> None:
    """A value of another person or thing answers nothing, however many words are the same."""
    for among in [SMALL_TALK[:12], SMALL_TALK]:
        for case in OTHERS:
            with subtests.test(case=case, among=among):
                assert ask(case["ask"], *told(case["said"], among=among)) == IDK


def test_the_table_is_large_enough() -> None:
    """Sixty cases over all abilities, so that no single trick passes."""
    abilities = {next(iter(case)) for case in FOUND}

    assert len(FOUND) >= 60
    assert len(abilities) >= 12


def test_a_call_of_a_tool_is_no_evidence() -> None:
    """It asks for something, and states nothing."""
    call = 'assistant: read_file({"path":"var/log/columns_file.md"})'
    fact = "The columns are listed in harbour/columns.yaml."

    assert "columns.yaml" in ask("In which file are the columns listed?", *told([fact, call]))
    assert ask("Which path has the log file?", *told([call])) == IDK


@pytest.mark.parametrize(
    ("question", "line", "holds"),
    [
        ("Which spot did Runa visit in July 2023?", "We sat at Whisper Cove.", "Whisper Cove"),
        ("What dish did Runa make on 7 July 2023?", "Look at the ice cream!", "ice cream"),
    ],
)
def test_the_day_that_a_question_names_is_a_word_of_it(
    question: str, line: str, holds: str
) -> None:
    """What was said in that time may answer without any of its words."""
    before = "memory: [2023-05-11] Runa: I sat at home with beans."
    then = f"memory: [2023-07-07] Runa: {line}"

    assert holds in ask(question, *told([before, then]))
    assert ask(question, *told([before])) == IDK


def test_entries_that_are_nearly_as_good_are_quoted_as_well() -> None:
    """Two evenings by the lake: both are told, where there is room."""
    lines = ["I painted a heron by the lake.", "9 By the lake I painted an old boathouse."]
    given = ask("What did I paint by the lake?", *told(lines))

    assert "heron" in given
    assert "boathouse" in given


def test_the_newest_remembered_line_wins_in_any_order() -> None:
    """A ranker puts lines in order of likeness: the reader goes by their dates."""
    newer = "[2023-06-01] user: My favourite tea is oolong now."
    older = "[2023-05-01] user: My favourite tea is mint."
    lines = (f"{newer}\n{older}", f"{older}\n{newer}")
    asked = "What is my favourite tea?"

    assert ["oolong"] * 2 == [ask(asked, composed("system", text, id="r")) for text in lines]


def test_a_recent_message_outdoes_an_undated_memory() -> None:
    """What a strategy wrote without a date is older than what was really said."""
    memory = composed("system", "user: My favourite tea is mint.", id="s", time=NOW)
    message = said("user", "My favourite tea is oolong.", id="m", time=START)

    assert ask("What is my favourite tea?", message, memory) == "oolong"


def test_the_askers_own_words_count_first() -> None:
    """Between two people's `my`, the asker's is meant."""
    mine = said("user", "My badge number is 7741.", id="a", principal="berit", time=START)
    theirs = said("user", "My badge number is 9120.", id="b", principal="kofi", time=NOW)
    asked = "What is my badge number?"

    assert ask(asked, mine, theirs, asker="berit") == "7741"
    assert ask(asked, mine, theirs, asker="kofi") == "9120"


def test_a_question_is_no_evidence() -> None:
    """That something was asked says nothing about it, even with an answer that does not know."""
    asked = "Which framework do we use for the frontend?"
    context = (
        said("user", asked, id="1"),
        said("assistant", "I don't know that yet.", id="2"),
        said("user", asked.rstrip("?"), id="3"),
    )

    assert ask(asked, *context) == IDK


def test_an_answer_to_a_question_in_the_context_is_found() -> None:
    """A reply may share no word with what is asked, if it replies to that."""
    context = (
        said("assistant", "What is your dog called?", id="1"),
        said("user", "Pepper!", id="2"),
        said("assistant", "Nice.", id="3"),
    )

    assert ask("What is my dog called?", *context) == "Pepper!"


def test_the_date_of_the_question_finds_the_day() -> None:
    """A question that names a day prefers what was said then."""
    first = said("user", "For lunch I had lentil soup.", id="1", time=NOW - timedelta(days=3))
    second = said("user", "For lunch I had a burger.", id="2", time=NOW - timedelta(days=1))

    assert "lentil" in ask("What did I have for lunch on 29 August 2023?", first, second)
    assert "burger" in ask("What did I have for lunch yesterday?", first, second)


def test_every_thing_of_a_list_is_told() -> None:
    """However many there are, and whether or not its sentence names what kind of thing it is."""
    flutes = [f"Hugo plays a Kolo{n} flute as well." for n in range(12)]
    organs = [f"In church Hugo plays the Pira{n} organ." for n in range(12)]

    given = ask("List all the instruments that Hugo plays.", *told([*flutes, *organs]))

    assert all(line in given for line in (*flutes, *organs))


def test_a_change_among_the_things_of_a_list_is_not_all_of_it() -> None:
    """`Now` tells that one thing came, not that the others went."""
    lines = ["Ilse grows a Hiavar fern by the window.", "Ilse grows a Nenil palm now."]

    given = ask("List all the plants that Ilse grows.", *told(lines))

    assert all(line in given for line in lines)


def test_the_next_words_are_about_the_same_thing() -> None:
    """`Its code` is that of the locker in the message before, also where a reply is between."""
    lines = [
        "The locker in the gym that Bob rents is the grey one.",
        "Its code is 7777.",
        "The locker at the pool that Ana rents is the blue one.",
        "assistant: Noted.",
        "Its code is 1234.",
        "The locker in the attic that Zed rents is the red one.",
        "Its code is 8888.",
    ]

    given = ask("What is the code of the locker at the pool that Ana rents?", *told(lines))

    assert "1234" in given
    assert "7777" not in given
    assert "8888" not in given


def test_sources_are_the_messages_that_answer() -> None:
    """The reader says where it read the answer."""
    messages = told(["My dog is called Pepper."], among=SMALL_TALK)
    request = Request(task="answer", messages=messages, question="What is my dog called?", now=NOW)

    assert read_answer(request).sources == ("e0",)


def test_several_things_come_from_several_messages() -> None:
    """A question in the plural gathers, and names every source."""
    messages = told(["I have a parrot as a pet.", "25 I also got a pet tortoise."])
    request = Request(task="answer", messages=messages, question="What pets do I have?", now=NOW)

    assert read_answer(request).sources == ("e0", "e1")


def test_a_list_that_has_changed_is_the_new_list() -> None:
    """What was changed is not gathered with what it was changed to."""
    given = ask(
        "Which ones are my running days?",
        *told(
            [
                "My running days are Tuesday and Saturday.",
                "9 I moved my running days to Monday and Thursday.",
            ]
        ),
    )

    assert "Monday and Thursday" in given
    assert "Tuesday" not in given


def _says(who: str, text: str) -> Message:
    return said("user", text, id=f"{who}-{len(text)}", principal=who, time=START)


def test_a_speaker_tells_of_themselves_in_other_words() -> None:
    """A short context needs few words of the question if the person in question speaks."""
    line = _says("Odette", "I'm using it to keep track of what I plant.")

    assert "track" in ask("How does Odette use the ledger with the leather cover?", line)


def test_what_another_says_of_themselves_is_not_of_the_person_in_question() -> None:
    """Few words of the question are no answer in the mouth of somebody else."""
    line = _says("Bruno", "Yes, the oboe is an instrument to play for life.")

    assert "oboe" in ask("What kind of instrument does Bruno play?", line)
    assert ask("What kind of instrument does Odette play?", line) == IDK


def test_a_short_name_means_the_speaker_whose_name_begins_with_it() -> None:
    """`Ode` is Odette, unless two speakers might be meant."""
    line = _says("Odette", "We love to build kites together, mostly in spring.")
    question = "What did Ode and her twins build in April?"

    assert "kites" in ask(question, line)
    assert ask(question, line, _says("Odell", "It is late for this.")) == IDK


def test_what_a_thing_does_is_not_what_it_is() -> None:
    """A value stands beside `is` only where the question asks what something is."""
    line = "My pebble is dear to me and it stands for luck and patience."

    assert "patience" in ask("What does Odette's pebble symbolise?", _says("Odette", line))
    assert ask("What is my pebble?", *told(["My pebble is a smooth agate."])) == "a smooth agate"


def test_a_speaker_in_question_is_quoted_with_the_words_beside() -> None:
    """Few words are left of a question without the speaker's name, so that one may hold them."""
    line = _says("Odette", "The bakery opens on Mondays. Neighbours queue and the rye sells out.")

    assert "rye" in ask("How does Odette's bakery do?", line)


def test_a_kind_that_is_asked_for_is_quoted_beside_is() -> None:
    """Not the sentence around it, which may say what it was before."""
    line = "The sencha is too bitter for me. From today my drink is a rooibos, please."

    answer = ask("Which drink do I order?", *told([line]))

    assert "rooibos" in answer
    assert "bitter" not in answer


def test_a_time_named_in_a_question_is_not_asked_for() -> None:
    """`When` behind another question word asks for no day."""
    line = "My aunt Tilde supports me when I am ill."

    assert "Tilde" in ask("Who supports me when I am ill?", *told([line]))


def test_a_long_sentence_is_cut_around_what_is_asked() -> None:
    """An answer stays short, and keeps the part that answers."""
    padding = "and so on " * 15
    given = ask(
        "Who repaired the boiler?", *told([f"{padding}then Odd repaired the boiler {padding}."])
    )

    assert "Odd repaired the boiler" in given
    assert len(given.split()) <= ANSWER_WORDS


def test_a_tool_result_of_many_records_is_searched() -> None:
    """The record that names the code answers, not its neighbours."""
    rows = [f'{{"order": "B-{n}", "warehouse": "Hall {n}"}},' for n in range(40)]
    given = ask("What is the warehouse of order B-17?", said("tool", "\n".join(rows), id="t"))

    assert "Hall 17" in given
    assert "Hall 18" not in given.split("Hall 17")[0]
