"""Generated talk: never a planted value, always varied, the same for a seed."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.errors import ScenarioError
from memsim.scenario import Scenario, Turn
from memsim.scenario.domains import DOMAINS
from memsim.scenario.filler import VERSION, Talker, UnavoidableWordError, load_domain, patterns
from memsim.scenario.words import ValueSearch, words

Load = Callable[[str], Scenario]

ALL = (*DOMAINS, "notes", "tool")


def lines(
    domain: str, values: frozenset[str] = frozenset(), turns: int = 200, seed: int = 1
) -> list[str]:
    """What a domain says."""
    talker = Talker(patterns(domain, values))
    talker.begin(str(seed))
    if domain in DOMAINS:
        return [line for turn in talker.turns(turns) for line in turn]
    return [talker.plain() for _ in range(turns)]


def vocabulary(domain: str) -> list[str]:
    """Every word that a domain's talk has been seen to use, names and numbers among them."""
    return sorted({word for line in lines(domain, turns=400) for word in words(line)})


OWN = {domain: vocabulary(domain) for domain in ALL}


@st.composite
def planted(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A domain and values that it is most likely to say: of its own words, names and numbers."""
    domain = draw(st.sampled_from(ALL))
    word = st.one_of(
        st.sampled_from(OWN[domain]),
        st.integers(2, 9_999).map(str),
        st.sampled_from(["A-17", "4,411", "\uff11\uff12", "Oslo", "x", "é"]),
    )
    value = st.lists(word, min_size=1, max_size=3).map(" ".join)
    return domain, draw(st.lists(value, min_size=1, max_size=12))


@settings(max_examples=300)
@given(planted(), st.integers(0, 2**32))
def test_generated_talk_never_says_a_planted_value(case: tuple[str, list[str]], seed: int) -> None:
    """Whatever the value and the seed: in no line do a value's words stand in a row."""
    domain, values = case
    try:
        said = lines(domain, frozenset(values), turns=60, seed=seed)
    except UnavoidableWordError:
        said = []
    sought = ValueSearch(values)

    assert [] == [line for line in said if sought.found(line)]


@pytest.mark.parametrize("domain", ALL)
def test_hardly_a_word_of_a_domain_cannot_be_avoided(domain: str) -> None:
    """A script may ask for nearly any word; only `the` is needed, and in few domains."""
    needed = set()
    for word in OWN[domain]:
        try:
            patterns(domain, frozenset({word}))
        except UnavoidableWordError:
            needed.add(word)

    assert needed <= {"the"}


def test_a_scenario_avoids_facts_answers_and_forbidden_values(load: Load) -> None:
    """In fillers, short replies and tool results alike."""
    scenario = load(
        "domain: travel\n"
        "turns:\n"
        "  - user: We took the ferry to the lighthouse, noted.\n"
        "    facts: {sight: lighthouse, how: the ferry, word: noted}\n"
        "  - filler: 300\n"
        "  - tool: {name: log, result: queue, lines: 300, facts: {part: queue}}\n"
        "  - repeat: {times: 60, turns: [{user: Go on.}]}\n"
        "probes:\n"
        "  q: {ask: What?, expect: the salt mine, derived: true, not: [spring, '17']}\n"
    )
    values = ["lighthouse", "the ferry", "noted", "queue", "the salt mine", "spring", "17"]
    sought = ValueSearch(values)

    for seed in range(3):
        turns = [e for e in scenario.events(seed) if isinstance(e, Turn)]
        said = [m.text for t in turns[1:] for m in (*t.heard, *t.reply)]
        assert [] == [s for s in said if sought.found(s) - {"queue"}]
        assert 1 == sum(words(line).count("queue") for line in said)


def test_numbers_are_avoided_however_they_are_grouped(load: Load) -> None:
    """`1,250` is 1250 to whoever reads numbers."""
    assert "1250" in patterns("tool", frozenset({"1,250"})).banned
    assert "4000" in patterns("tool", frozenset({"$4,000"})).banned
    assert "12" in patterns("tool", frozenset({"\uff11\uff12"})).banned


@pytest.mark.parametrize(("value", "other"), [("1", "one"), ("\uff11", "one"), ("ten", "10")])
def test_a_number_is_avoided_in_words_and_in_digits(value: str, other: str) -> None:
    """Whoever counts to one is not helped by what one hears around the playground."""
    for domain in ALL:
        said = lines(domain, frozenset({value}), turns=2_000)
        assert [] == [line for line in said if other in words(line)]


def test_a_word_that_cannot_be_avoided_is_an_error_at_its_line(load: Load) -> None:
    """Better than a filler that gives the answer away."""
    text = "domain: coding\nturns:\n  - user: It is the.\n    facts: {word: the}\n"

    load(text)
    with pytest.raises(ScenarioError, match=r":6: 'the' is so common a word"):
        load(text + "  - filler: 2\n")


@pytest.mark.parametrize("domain", DOMAINS)
def test_talk_is_varied_and_its_vocabulary_grows(domain: str) -> None:
    """Thousands of sentences, and new words for as long as it goes on, as among people."""
    said = lines(domain, turns=4_000)
    distinct = [len({w for line in said[:n] for w in words(line)}) for n in (1_000, 4_000, 8_000)]

    assert len(set(said)) > 4_000
    assert distinct[0] * 1.3 < distinct[1]
    assert distinct[1] * 1.2 < distinct[2]


@pytest.mark.parametrize("domain", DOMAINS)
def test_sentences_are_well_formed(domain: str) -> None:
    """A capital first, an end, one space between words, every slot filled."""
    for line in lines(domain, turns=500):
        assert re.fullmatch(r"[A-Z].*[.?!]", line), line
        assert not re.search(r"[{}%]|  | [.,?]|\b(a|the) (a|an|the)\b", line), line
        assert not re.search(r"\ba (?!one)[aeio]", line), line


@pytest.mark.parametrize("domain", ALL)
def test_patterns_use_slots_that_there_are(domain: str) -> None:
    """And every slot is used."""
    found = load_domain(domain)
    made = {"name", "code", "few", "many"}
    used = set(re.findall(r"\{(\w+)\}", " ".join((*found.user, *found.assistant, *found.asides))))

    assert used <= found.slots.keys() | made
    assert found.slots.keys() <= used
    for pattern in (*found.user, *found.assistant, *found.asides):
        assert not re.search(r"\w\{|\}\w", pattern), pattern


@pytest.mark.parametrize("domain", DOMAINS)
def test_talk_tells_of_others_and_not_of_the_speaker(domain: str) -> None:
    """No generated line may answer what is asked about the user: nobody's `my` is in it."""
    said = " ".join(lines(domain, turns=500)).lower()

    assert not re.search(r"\b(my|i am|i live|i have a|i work)\b", said)


def test_user_and_assistant_speak_of_the_same_things() -> None:
    """Whatever is named in both halves of a turn is named alike."""
    talker = Talker(patterns("travel", frozenset()))
    talker.begin("1")
    sights = load_domain("travel").slots["sight"]
    named = [
        {sight for sight in sights if sight in f"{user} {assistant}".lower()}
        for user, assistant in talker.turns(300)
    ]

    assert all(len(sights) <= 1 for sights in named)


def test_a_seed_says_the_same_whatever_was_said_before() -> None:
    """A filler does not depend on those before it."""
    talker = Talker(patterns("office", frozenset()))
    said = []
    for seed in ("1", "2", "1"):
        talker.begin(seed)
        said.append(list(talker.turns(30)))

    assert said[0] == said[2] != said[1]


def test_messages_can_be_made_long(load: Load) -> None:
    """`words` is a least number for each message."""
    scenario = load("turns:\n  - filler: {turns: 20, words: 80}\n")

    for event in itertools.islice(scenario.events(0), 20):
        assert isinstance(event, Turn)
        for message in (*event.heard, *event.reply):
            assert 80 <= len(message.text.split()) < 140


def test_the_wording_is_of_its_version() -> None:
    """Whoever changes a pattern raises VERSION, or old runs would be compared with new words."""
    said = "\n".join(line for domain in ALL for line in lines(domain, turns=50))
    digest = hashlib.sha256(said.encode()).hexdigest()[:16]

    assert (2, "a03655aa51c14319") == (VERSION, digest)


def test_it_does_not_depend_on_the_hash_seed() -> None:
    """Sets are sorted before chance meets them."""
    import os
    import subprocess
    import sys

    code = (
        "from memsim.scenario.filler import Talker, patterns\n"
        "values = frozenset({'toner', 'the scanner', 'a 12', 'twice'})\n"
        "talker = Talker(patterns('office', values))\n"
        "talker.begin('1')\n"
        "print(list(talker.turns(50)))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "2")
    }

    assert len(said) == 1


@pytest.mark.parametrize("domain", [*DOMAINS, "tool"])
def test_made_up_names_numbers_and_codes_are_avoided_too(domain: str) -> None:
    """What one seed would make up, it does not when a script plants it."""
    own = {word for text in said_words(domain) for word in words(text)}
    made = frozenset(word for word in vocabulary(domain) if word not in own)

    again = {word for line in lines(domain, made, turns=400) for word in words(line)}

    assert len(made) > 100
    assert not made & again


def said_words(domain: str) -> list[str]:
    """Everything that a domain says as it is written."""
    found = load_domain(domain)
    fixed = re.sub(r"\{\w+\}", " ", " ".join((*found.user, *found.assistant, *found.asides)))
    return [fixed, *(filling for slot in found.slots.values() for filling in slot)]
