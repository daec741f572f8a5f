"""Which of the latest messages repeat what is to be forgotten."""

from __future__ import annotations

import pytest

from memsim.memory.deletion import LATEST, identifying_words, requests_naming
from memsim.memory.forget_request import names_any
from memsim.message import Role, said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My dentist is Dr. Vinterberg.", {"vinterberg"}),
        ("The card ends in 4411; the order is A-17.", {"4411", "a-17"}),
        ("Lovely weather.", set()),
        ("", set()),
    ],
)
def test_names_and_exact_values_tell(text: str, expected: set[str]) -> None:
    """Ordinary words do not: too much would be taken for an echo."""
    assert expected == identifying_words(text)


def test_what_was_said_before_the_request_is_no_echo() -> None:
    """Though it names the same; what answers the request is one."""
    telling = identifying_words("The office is in Berlin.")
    texts = ("My sister lives in Berlin.", "Forget the office in Berlin.", "Berlin is forgotten.")
    roles: tuple[Role, ...] = ("user", "user", "assistant")
    latest = [said(r, t, id=t, principal="ana") for r, t in zip(roles, texts, strict=True)]

    assert texts[1:] == requests_naming(telling, latest, "ana")


def test_an_echo_is_ones_own_and_recent() -> None:
    """In any case, as a word of its own."""
    telling = identifying_words("The order is A-17.")
    mine = [said("user", "forget a-17!", id="m1", principal="ana")]
    others = [said("user", "A-17", id="m2", principal="ben")]
    unlike = [said("user", "A-170 is another", id="m3", principal="ana")]
    late = [said("user", f"number {n}", id=f"n{n}", principal="ana") for n in range(LATEST)]

    assert ("m1",) == requests_naming(telling, [*mine, *others, *unlike], "ana")
    assert () == requests_naming(telling, [*mine, *late], "ana")
    assert () == requests_naming((), mine, "ana")
    assert not names_any("A-170", telling)


@pytest.mark.parametrize(
    ("original", "request_text"),
    [
        ("A fogorvosom Budapesten van.", "Felejtsd el, hogy Budapestre jártam."),
        ("Мой врач живёт в Москве.", "Забудь всё про Москву, пожалуйста."),
        ("Lekarz jest w Łodzi.", "Zapomnij o Łodzi."),
        ("제 주문 번호는 7731입니다.", "7731을 잊어 주세요."),
        ("رقم طلبي هو ٧٧٣١.", "انس 7731 من فضلك."),
        ("Sipariş numaram 7731'dir.", "7731'i unut, lütfen."),
        ("Tilausnumeroni on A-17.", "Unohda A-17:ää koskeva viesti, kiitos."),
    ],
)
def test_forms_of_a_name_are_an_echo(original: str, request_text: str) -> None:
    """A request in another language inflects the name that it wants to be forgotten."""
    assert names_any(request_text, identifying_words(original))


@pytest.mark.parametrize(
    ("original", "request_text"),
    [
        ("A fogorvosom Budapesten van.", "Felejtsd el, hogy Szegedre jártam."),
        ("Мой врач живёт в Москве.", "Забудь всё про Казань, пожалуйста."),
        ("제 주문 번호는 7731입니다.", "77310을 잊어 주세요."),
        ("The office is in Berlin.", "We were in Berlinale, and you know it."),
    ],
)
def test_another_name_is_no_echo(original: str, request_text: str) -> None:
    """In English, a longer word is another word."""
    assert not names_any(request_text, identifying_words(original))
