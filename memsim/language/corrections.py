"""Tell where somebody says that they have said something before: `no, I said`, `as I told you`."""

# ruff: noqa: RUF001 - letters of other scripts stand where they are meant

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

CORRECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "en": (
        r"as I (?:have )?(?:already )?(?:said|told you|mentioned|wrote|explained)",
        r"like I (?:already )?(?:said|told you|mentioned)",
        r"I(?:'ve| have)? (?:already|just) (?:said|told you|mentioned|gave you|given you)",
        r"I (?:told|gave) you (?:before|already|that|this|earlier|last time)",
        r"I(?:'ve)? (?:said|mentioned) (?:it|that|this|so) (?:before|already|earlier|twice)",
        r"no,? I (?:said|meant|told you|asked)",
        r"(?:that's|that is|this is) not what I (?:said|asked|told you|meant)",
        r"how (?:many times|often) (?:do|must|have) I",
        r"(?:do|did)n'?t you remember",
        r"you(?:'ve| have)? (?:forgot(?:ten)?|asked (?:me )?(?:that|this))",
        r"(?:once|yet) again[,:]|I(?:'ll| will)? (?:repeat|say it again|tell you again)|again,",
    ),
    "de": (
        r"wie (?:ich )?(?:schon|bereits|vorhin|eben)?\s?(?:gesagt|erwähnt|erklärt|geschrieben)",
        r"wie ich (?:dir|ihnen|euch|schon|bereits).{0,24}(?:sagte|gesagt|erklärt|geschrieben)",
        r"(?:habe|hatte|hab) ich (?:\w+ ){0,2}(?:schon|bereits) .{0,24}(?:gesagt|erklärt|gegeben)",
        r"ich (?:habe|hatte|hab) (?:\w+ ){0,3}(?:schon|bereits) .{0,40}(?:gesagt|erklärt|gegeben)",
        r"nein,? ich (?:habe |sagte|meinte|hatte )",
        r"das (?:habe|hatte|hab) ich nicht gesagt|(?:schon|noch) (?:wieder|einmal)[,:]",
        r"(?:hast du|haben sie) (?:das |es )?(?:schon wieder )?vergessen",
    ),
    "fr": (
        r"comme je (?:vous|te|t'|l')\s?(?:l')?\s?(?:ai |avais )?(?:déjà )?(?:dit|expliqué|disais)",
        r"comme (?:déjà )?(?:dit|mentionné|indiqué)",
        r"je (?:vous |te |t'|l')?\s?(?:l')?\s?ai (?:déjà|bien) (?:dit|expliqué|donné|mentionné)",
        r"non,? j'ai (?:dit|demandé)|non,? je (?:parlais|disais|voulais)",
        r"ce n'est pas ce que j'ai (?:dit|demandé)",
        r"(?:vous avez|tu as) (?:encore |déjà )?oublié|je (?:le )?répète|encore une fois[,:]",
    ),
    "es": (
        r"como (?:ya )?(?:te|le|os|les) (?:he )?(?:dije|dicho|comenté|mencioné|expliqué)",
        r"como (?:ya )?(?:dije|he dicho|mencioné|comenté)",
        r"ya (?:te|le|os|les|lo) (?:lo )?(?:he )?(?:dije|dicho|di|dado|expliqué|comenté)",
        r"no,? (?:yo )?(?:dije|he dicho|quería decir|pedí)|eso no es lo que (?:dije|pedí)",
        r"(?:lo |te )?repito|otra vez[,:]|(?:te|se) (?:has |ha |te )?olvid(?:aste|ado|ó)",
    ),
    "it": (
        r"come (?:ti|le|vi) (?:ho |avevo )?(?:già )?(?:detto|dicevo|spiegato|scritto)",
        r"come (?:ho |avevo )?(?:già )?(?:detto|menzionato|spiegato)|come dicevo",
        r"(?:te l'|gliel'|ve l'|l')ho (?:già|appena) (?:detto|spiegato|dato|scritto)",
        r"(?:ti|le|vi) ho già (?:detto|spiegato|dato|scritto)",
        r"no,? (?:io )?(?:ho detto|avevo detto|intendevo|ho chiesto)",
        r"non è quello che ho (?:detto|chiesto)",
        r"(?:lo )?ripeto|ancora una volta[,:]|(?:hai|ha) (?:di nuovo )?dimenticato",
    ),
    "pt": (
        r"como (?:eu )?(?:já )?(?:te |lhe |vos )?(?:disse|falei|mencionei|expliquei)",
        r"(?:eu )?já (?:te |lhe |vos |o )?(?:disse|falei|tinha dito|dei|expliquei|mencionei)",
        r"não,? (?:eu )?(?:disse|falei|quis dizer|pedi)",
        r"não foi isso (?:que )?(?:eu )?(?:disse|pedi)",
        r"(?:eu )?repito|outra vez[,:]|mais uma vez[,:]|(?:você |tu )?(?:já )?esquece(?:u|ste)",
    ),
    "nl": (
        r"zoals (?:ik )?(?:je |u )?(?:al |net |eerder )?(?:zei|gezegd|vertelde|verteld|schreef)",
        r"zoals (?:ik )?(?:al )?(?:heb )?(?:gezegd|verteld|vermeld)",
        r"(?:ik (?:heb|had)|(?:heb|had) ik) (?:je |u |dat |het )*(?:toch |al ).{0,24}gezegd",
        r"(?:ik (?:heb|had)|(?:heb|had) ik) (?:je |u |dat |het )*(?:toch |al ).{0,24}gegeven",
        r"nee,? ik (?:zei|bedoelde|vroeg|heb)",
        r"dat (?:is niet wat ik|heb ik niet) (?:zei|gezegd|vroeg)",
        r"ik herhaal|nogmaals|(?:ben je|bent u|je bent|u bent) .{0,16}vergeten",
    ),
    "ru": (
        r"как я (?:уже |вам |тебе )*(?:говорил|сказал|писал|упоминал|объяснял)а?",
        r"я (?:же |вам |тебе |это )*уже (?:вам |тебе |это )*(?:говорил|сказал|писал|давал)а?",
        r"(?:я же|же я) (?:вам |тебе |это )*(?:говорил|сказал|просил)а?",
        r"нет,? я (?:сказал|говорил|имел|имела|просил)а?",
        r"я (?:не это|этого не) (?:сказал|говорил|просил)а?",
        r"повторяю|ещё раз[,:]|еще раз[,:]|(?:ты|вы) (?:опять |снова )?забыл[аи]?",
    ),
    "zh": (
        r"我(?:已经|刚才|刚刚|之前|上次|早就|都|不是)(?:跟你|和你|对你)?(?:说过|说了|说的|提过|讲过)",
        r"我(?:已经|刚才|刚刚|之前|上次|早就|都|不是)(?:告诉过|告诉|给过|给)你",
        r"(?:正如|就像|像|如)我(?:之前|刚才|上次|已经)?(?:所)?(?:说|提到|告诉)",
        r"不[,，是对]{1,3}我(?:说|指|问|要)的?是|不是,?我说的|我不是(?:说|这个意思)",
        r"(?:我)?(?:再说一遍|再说一次|重复一遍)|你(?:又|是不是)?忘(?:了|记)",
    ),
    "ja": (
        r"(?:さっき|先ほど|前に|以前|もう|すでに|既に).{0,12}(?:言いました|言った|お伝えし|伝えまし|伝えた)",
        r"(?:さっき|先ほど|前に|以前|もう|すでに|既に).{0,12}(?:話しました|話した|説明しました)",
        r"(?:言った|申し上げた|お伝えした|伝えた|話した)(?:よう|とおり|通り|はず|でしょ)",
        r"(?:いいえ|いや|違います|違う)[、,。]?.{0,24}(?:と言いました|と言った|と言ったの|です、と)",
        r"(?:繰り返し|もう一度言い|何度も言)|忘れ(?:ました|たの|てい|ちゃ)",
    ),
}
"""By language: how its speakers say so, as regular expressions without regard to case."""

_UNSPACED: Final = frozenset({"zh", "ja"})
_LONGEST: Final = 2_000
"""Characters of a message that are read."""


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((language, _pattern(language, forms)) for language, forms in CORRECTIONS.items())


def _pattern(language: str, forms: tuple[str, ...]) -> re.Pattern[str]:
    either = "|".join(forms)
    whole = either if language in _UNSPACED else rf"(?<!\w)(?:{either})(?!\w)"
    return re.compile(whole, re.IGNORECASE)


class Correction(NamedTuple):
    """That a text says that something was said before: in which language, and in which words."""

    language: str
    phrase: str


def correction(text: str) -> Correction | None:
    """The words by which a text says that something was said before; None where it does not."""
    said = " ".join(text[:_LONGEST].replace("\u2019", "'").split())
    for language, form in _patterns():
        if found := form.search(said):
            return Correction(language, found.group())
    return None
