"""Endings, particles and prefixes that languages join to a name, by script.

Each table names its languages. Endings are written with accents and compared without. They follow
the case and particle paradigms of the reference grammars.
"""

# ruff: noqa: RUF001 - letters of other scripts stand where they are meant

from __future__ import annotations

from typing import Final

LATIN_PREFIXES: Final = "i e u o ku kwa use nase ase wase yase lase base zase ngase"
"""Class prefixes and locatives of Zulu and Xhosa: `iTheku`, `eThekwini`, `useThekwini`."""

LATIN_BASES: Final = "a s e o i y u as is us ys es os um ia ir"
"""Endings of a base form that another ending may replace: `Praha`, `Praze`."""

LATIN: Final = (
    # Finnish, Estonian
    "ssa ssä sta stä lla llä lta ltä lle ksi na nä tta ttä tse n "
    "an än en in on un yn iin aan nsa nsä ansa änsä "
    "een seen s st sse l lt le ks ni ga ta t d de te tes test tele id "
    # Hungarian
    "ban ben ba be ra re ról ről ból ből on en ön nál nél tól től "
    "hoz hez höz nak nek val vel "
    "ig ért ként ul ül ot et öt at t k ok ek ak ja je juk ük unk "
    "om em am im od ed ad i ni "
    # Turkish, Azerbaijani, Uzbek
    "də dən ə nə yə lər ləri dədir "
    "da de ta te dan den tan ten ya ye yi yı yu yü nin nın nun nün "
    "in un ün yla yle la le lar "
    "ning niki ler ları lerin ların ndan nden nda nde na ne dir dır dur dür "
    "tir tır tur tür ydi ydı ki "
    "im um m imiz umuz lik lı li lu cı ci "
    # Polish, Czech, Slovak, Slovene, Croatian
    "a e i o u y ie em iem owi ovi ou oj om ów u ach ech ich ami "
    "emi ych ego emu ým ím ej aj "
    "ja ją ama ima ih eh ah ov ev iu "
    # Lithuanian, Latvian
    "uje yje ėje oje ui iui iai ai io o os ės iu ų us ais oms ems "
    "as is ys am ame ē ei ie um "
    "im ām "
    # Romanian, Albanian, German, Scandinavian, Basque, Malay
    "ul ului ei ilor lor le ia s es er ern en ar et ets ni an n ko ra ren "
    "aren tik rekin nya ku mu lah kah "
    # Zulu, Xhosa
    "ini eni wini weni "
)

ENGLISH: Final = (
    "s es er ern en ar ren et ed n t d k id an ed ei ie el les um us is on in un or na ni le la "
    "ne ko ra"
)
"""Endings of that table that English words have too."""

CYRILLIC_BASES: Final = "а я о е ё ь й и ы і ї у ия ие"
CYRILLIC: Final = (
    # Russian, Ukrainian, Belarusian
    "а я у ю ом ем ём ой ей ою ею е и ы і ї ь ах ях ам ям ами ями "
    "ов ев ёв ів їв ові еві єві "
    "ию ием ии ием ією ого его ому ему ым им ых их ій ія ію ії м х "
    # Bulgarian, Macedonian: articles
    "ът та то те ят а я ия ния от "
    # Kazakh, Kyrgyz, Tatar, Mongolian, Serbian
    "ад эд од өд анд энд онд өнд аас ээс "
    "да де та те дан ден тан тен нан нен га ге ка ке ға қа на не "
    "ны ні ди ты ти нын нің дын "
    "дің тын тің мен бен пен лар лер дар дер тар тер д т аас ээс "
    "оос өөс ийн ын ыг ийг аар гаас гээс гоос гөөс гийн "
    "до дө го гө дон дөн гон нун нүн ну нү ди ро "
    "ээр оор өөр руу рүү тай тэй той ма има "
)

POSSESSIVE: Final = "ina ine ino inu inoj inom ина ине ино ину иној ином"
"""Endings of adjectives that South Slavic languages make of names in -a: `Klarina torba`.

An index leaves them out. They make no form of a name, because Martina is not Marta.
"""

GREEK_BASES: Final = "α η ο ος ης ας ι α υς ες ους"
GREEK: Final = "α η ο ος ης ας ι ου ων ους ες ον αν ην ε ως εως εις υ οι ιου ιων ια ατος ατα"

ARMENIAN_BASES: Final = "ի ա ը"
ARMENIAN: Final = (
    "ի յի ը ն ում ից ով ին իս իդ յան ան ու ուն եր ներ ներում ներից ի ումն ումը ինն ինը"
)

GEORGIAN_BASES: Final = "ი ა ე ო უ"
GEORGIAN: Final = (
    "ი ს ში ზე ით ად მა მ თან იდან დან ის ისთვის ისა ვით მდე ამდე ებ ები ებში ებს კენ ისკენ ია ა"
)

HANGUL: Final = (
    "이라고는 이라고 라고 이랑 랑 으로부터 로부터 에서부터 "
    "에서는 에서도 에서의 에서 에게서 에게 한테서 한테 "
    "께서 께 으로는 으로도 으로 로는 로도 로 까지 부터 "
    "마다 처럼 보다 만큼 밖에 조차 마저 이나 나 "
    "이든지 든지 에는 에도 에 의 은 는 이 가 을 "
    "를 와 과 도 만 들 님 씨 시 쯤 "
    "입니다 이에요 이예요 예요 이야 야 이다 다 "
    "입니까 인가요 이었습니다 였습니다 이었어요 였어요 이고 고 "
    "이며 며 이지만 지만 이라서 라서 이면 면 인데 "
    "인 이죠 죠 이네요 네요 이라 라 합니다 해요 "
)
HANGUL_SHORT: Final = "에 에서 에는 까지 부터 을 를 은 는 로 으로 입니다 이에요 예요 이다 이고 이며"
"""Particles after a word of one syllable, which other words might begin with."""

INDIC: Final = (
    # Bengali, Assamese
    "য় তে র কে য়ের ের টি টা টির টায় এ ে েই য়েই ও ত লৈ "
    # Hindi, Marathi, Nepali
    "्यात ्याला ्याहून ्याचा ्याची ्याचे ्यामध्ये "
    "े ों ें ा ी ि त ात ला ाला हून ाहून चा ची चे च्या ाचा ाची ाचे ाच्या मध्ये "
    "ने ाने मा लाई को का की ले बाट "
    # Gujarati, Punjabi
    "માં થી ને નો ની નું ના એ ે ੇ ੀ ਿਆਂ ਾਂ ਵਿੱਚ ਤੋਂ ਨੂੰ ਦਾ ਦੀ "
    # Tamil
    "ில் யில் வில் த்தில் த்தை ல் க்கு ுக்கு இற்கு ிற்கு யிலிருந்து "
    "ிலிருந்து ை யை வை ால் யால் ுடன் யுடன் "
    "ின் யின் வின் த்தின் த்திற்கு ம் ும் யும் வும் லிருந்து "
    # Telugu
    "లో లోని లోనే ాన్ని ానికి కి కు ను ని తో నుండి నుంచి లోకి కే యొక్క ది ం పై "
    # Kannada
    "ದಲ್ಲಿ ನಲ್ಲಿ ಯಲ್ಲಿ ಲ್ಲಿ ಿನಲ್ಲಿ ಗೆ ಕ್ಕೆ ಿಂದ ದಿಂದ ನಿಂದ ಯಿಂದ ನ ದ "
    "ಯ ಅನ್ನು ನ್ನು ವನ್ನು ಯನ್ನು ರಲ್ಲಿ ಿಗೆ "
    # Malayalam
    "ിൽ യിൽ ത്തിൽ ൽ ിലേക്ക് യിലേക്ക് ലേക്ക് ിൽനിന്ന് യിൽനിന്ന് "
    "ന്റെ യുടെ ുടെ ിന്റെ ക്ക് യ്ക്ക് ിന് "
    "നെ െ ് യെ ും യും ിലെ യിലെ ിലാണ് യിലാണ് ആണ് "
    # Sinhala
    "දී ේදී වල වලදී ට "
    "ේ යේ හි ට ගේ ින් යෙන් ෙන් යට "
)

ARABIC: Final = "ه ته تها تهم ها هم هن ي ك كم نا ات ين ون ان تين ا ای های ها را م ت ش مان تان شان"
"""Arabic pronouns and plurals; Persian endings."""

ETHIOPIC: Final = "ን ም ው ዎ ና ንም"

CHANGES: Final = {
    "LATIN": "g:z g:dz k:c h:z r:rz r:er ad:od að:oð ch:s t:c d:dz d:dzi er:r ek:k ec:c",
    "CYRILLIC": "к:ц г:з х:с ів:ов ів:ев ець:ц ів:ев иів:иєв ец:ц ек:к ок:к",
}
"""Consonants that change before an ending: Praha, Praze; Львів, Львові; Shkodra, Shkodër."""

GRADES: Final = "nk:ng nt:nn lt:ll rt:rr mp:mm kk:k pp:p tt:t k: p:v t:d"
"""Finnish consonants that change before the last vowel: Helsinki, Helsingissä; Turku, Turussa."""

CHILLUS: Final = "ർ:ര ൽ:ല ൾ:ള ൻ:ന ൺ:ണ"
"""Malayalam final letters, and what they are before a vowel sign."""

VOWELS: Final = "ू:ु ी:ि"
"""Marathi vowel signs that are short before an ending: नागपूर, नागपुरात."""

HEBREW_PREFIX: Final = "ו?(?:כש|מש|ש)?[בכלמה]?ה?"
ARABIC_PREFIX: Final = "[وف]?(?:ال|[بكل]ال|لل|[بكلس])?"
ETHIOPIC_PREFIX: Final = "(?:እንደ|ስለ|ወደ|[በከለየእ])?"
