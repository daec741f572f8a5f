"""A place and a number, said and asked in many languages, with a wrong value each."""

# ruff: noqa: RUF001 - sentences in many scripts

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Sentences(NamedTuple):
    """What is said and asked in one language.

    `place` is written as a dictionary has it, and `said` as the language inflects it. `decoy` is a
    wrong place, with the sentence that would say it.
    """

    said: str
    asked: str
    place: str
    decoy: str
    decoy_said: str
    number_said: str
    number_asked: str


NUMBER = "7731"
WRONG_NUMBERS = ("7713", "773", "77310", "1")


def write_script(
    path: Path, each: Sentences, turns: int = 0, talk: Sequence[str] | None = None
) -> Path:
    """A script that states a place and a number, changes the place, and asks after other talk.

    The other talk is in English, or made of the sentences `talk`.
    """
    filler: list[dict[str, object]] = [{"filler": turns}] if turns and talk is None else []
    for n in range(turns if talk else 0):
        filler += [{"user": f"{(talk or ())[n % len(talk or ())]} ({n + 1})"}, {"assistant": "OK."}]
    said = [
        {"user": each.decoy_said, "facts": {"place": each.decoy}},
        {"assistant": "OK."},
        {"user": each.said, "facts": {"place": each.place}},
        {"assistant": "OK."},
        {"user": each.number_said, "facts": {"number": NUMBER}},
        {"assistant": "OK."},
        {"user": "+1"},
        {"assistant": "OK."},
    ]
    probes = {
        "place": {"ask": each.asked, "expect": each.place, "not": each.decoy},
        "number": {"ask": each.number_asked, "expect": NUMBER, "not": WRONG_NUMBERS[0]},
    }
    script = {"memsim": 1, "name": path.stem, "turns": [*said, *filler], "probes": probes}
    path.write_text(json.dumps(script, ensure_ascii=False), encoding="utf-8")
    return path


SENTENCES = {
    "en": Sentences(
        "The meeting takes place in Lisbon.",
        "Where does the meeting take place?",
        "Lisbon",
        "Dublin",
        "The meeting takes place in Dublin.",
        "My order number is 7731.",
        "What is my order number?",
    ),
    "de": Sentences(
        "Das Treffen findet in Leipzig statt.",
        "Wo findet das Treffen statt?",
        "Leipzig",
        "Dresden",
        "Das Treffen findet in Dresden statt.",
        "Meine Bestellnummer ist 7731.",
        "Wie lautet meine Bestellnummer?",
    ),
    "fr": Sentences(
        "La réunion a lieu à Lyon.",
        "Où a lieu la réunion ?",
        "Lyon",
        "Lille",
        "La réunion a lieu à Lille.",
        "Mon numéro de commande est 7731.",
        "Quel est mon numéro de commande ?",
    ),
    "es": Sentences(
        "La reunión es en Sevilla.",
        "¿Dónde es la reunión?",
        "Sevilla",
        "Segovia",
        "La reunión es en Segovia.",
        "Mi número de pedido es 7731.",
        "¿Cuál es mi número de pedido?",
    ),
    "it": Sentences(
        "La riunione si tiene all'Aquila.",
        "Dove si tiene la riunione?",
        "Aquila",
        "Ancona",
        "La riunione si tiene ad Ancona.",
        "Il mio numero d'ordine è 7731.",
        "Qual è il mio numero d'ordine?",
    ),
    "pt": Sentences(
        "A reunião é em Coimbra.",
        "Onde é a reunião?",
        "Coimbra",
        "Braga",
        "A reunião é em Braga.",
        "O número da minha encomenda é 7731.",
        "Qual é o número da minha encomenda?",
    ),
    "nl": Sentences(
        "De vergadering is in Utrecht.",
        "Waar is de vergadering?",
        "Utrecht",
        "Breda",
        "De vergadering is in Breda.",
        "Mijn bestelnummer is 7731.",
        "Wat is mijn bestelnummer?",
    ),
    "sv": Sentences(
        "Mötet hålls i Uppsala.",
        "Var hålls mötet?",
        "Uppsala",
        "Malmö",
        "Mötet hålls i Malmö.",
        "Mitt ordernummer är 7731.",
        "Vad är mitt ordernummer?",
    ),
    "pl": Sentences(
        "Spotkanie odbędzie się w Warszawie.",
        "Gdzie odbędzie się spotkanie?",
        "Warszawa",
        "Kraków",
        "Spotkanie odbędzie się w Krakowie.",
        "Mój numer zamówienia to 7731.",
        "Jaki jest mój numer zamówienia?",
    ),
    "cs": Sentences(
        "Schůzka se koná v Praze.",
        "Kde se koná schůzka?",
        "Praha",
        "Brno",
        "Schůzka se koná v Brně.",
        "Číslo mé objednávky je 7731.",
        "Jaké je číslo mé objednávky?",
    ),
    "ru": Sentences(
        "Встреча пройдёт в Москве.",
        "Где пройдёт встреча?",
        "Москва",
        "Казань",
        "Встреча пройдёт в Казани.",
        "Номер моего заказа 7731.",
        "Какой номер моего заказа?",
    ),
    "uk": Sentences(
        "Зустріч відбудеться у Львові.",
        "Де відбудеться зустріч?",
        "Львів",
        "Харків",
        "Зустріч відбудеться у Харкові.",
        "Номер мого замовлення 7731.",
        "Який номер мого замовлення?",
    ),
    "bg": Sentences(
        "Срещата ще бъде в Пловдив.",
        "Къде ще бъде срещата?",
        "Пловдив",
        "Варна",
        "Срещата ще бъде във Варна.",
        "Номерът на поръчката ми е 7731.",
        "Какъв е номерът на поръчката ми?",
    ),
    "el": Sentences(
        "Η συνάντηση γίνεται στην Αθήνα.",
        "Πού γίνεται η συνάντηση;",
        "Αθήνα",
        "Πάτρα",
        "Η συνάντηση γίνεται στην Πάτρα.",
        "Ο αριθμός της παραγγελίας μου είναι 7731.",
        "Ποιος είναι ο αριθμός της παραγγελίας μου;",
    ),
    "ro": Sentences(
        "Întâlnirea are loc la Brașov.",
        "Unde are loc întâlnirea?",
        "Brașov",
        "Sibiu",
        "Întâlnirea are loc la Sibiu.",
        "Numărul comenzii mele este 7731.",
        "Care este numărul comenzii mele?",
    ),
    "hu": Sentences(
        "A találkozó Budapesten lesz.",
        "Hol lesz a találkozó?",
        "Budapest",
        "Szeged",
        "A találkozó Szegeden lesz.",
        "A rendelésszámom 7731.",
        "Mi a rendelésszámom?",
    ),
    "fi": Sentences(
        "Kokous pidetään Helsingissä.",
        "Missä kokous pidetään?",
        "Helsinki",
        "Turku",
        "Kokous pidetään Turussa.",
        "Tilausnumeroni on 7731.",
        "Mikä on tilausnumeroni?",
    ),
    "et": Sentences(
        "Koosolek toimub Tallinnas.",
        "Kus koosolek toimub?",
        "Tallinn",
        "Põlva",
        "Koosolek toimub Põlvas.",
        "Minu tellimuse number on 7731.",
        "Mis on minu tellimuse number?",
    ),
    "tr": Sentences(
        "Toplantı Ankara'da yapılacak.",
        "Toplantı nerede yapılacak?",
        "Ankara",
        "İzmir",
        "Toplantı İzmir'de yapılacak.",
        "Sipariş numaram 7731'dir.",
        "Sipariş numaram nedir?",
    ),
    "he": Sentences(
        "הפגישה תתקיים בירושלים.",
        "איפה תתקיים הפגישה?",
        "ירושלים",
        "חיפה",
        "הפגישה תתקיים בחיפה.",
        "מספר ההזמנה שלי הוא 7731.",
        "מה מספר ההזמנה שלי?",
    ),
    "ar": Sentences(
        "الاجتماع سيكون بالقاهرة.",
        "أين سيكون الاجتماع؟",
        "القاهرة",
        "بيروت",
        "الاجتماع سيكون ببيروت.",
        "رقم طلبي هو ٧٧٣١.",
        "ما هو رقم طلبي؟",
    ),
    "fa": Sentences(
        "جلسه در تهران برگزار می\u200cشود.",
        "جلسه کجا برگزار می\u200cشود؟",
        "تهران",
        "شیراز",
        "جلسه در شیراز برگزار می\u200cشود.",
        "شماره سفارش من ۷۷۳۱ است.",
        "شماره سفارش من چیست؟",
    ),
    "hi": Sentences(
        "बैठक दिल्ली में होगी।",
        "बैठक कहाँ होगी?",
        "दिल्ली",
        "मुंबई",
        "बैठक मुंबई में होगी।",
        "मेरा ऑर्डर नंबर ७७३१ है।",
        "मेरा ऑर्डर नंबर क्या है?",
    ),
    "bn": Sentences(
        "সভাটি ঢাকায় হবে।",
        "সভাটি কোথায় হবে?",
        "ঢাকা",
        "খুলনা",
        "সভাটি খুলনায় হবে।",
        "আমার অর্ডার নম্বর ৭৭৩১।",
        "আমার অর্ডার নম্বর কত?",
    ),
    "ta": Sentences(
        "கூட்டம் சென்னையில் நடக்கும்.",
        "கூட்டம் எங்கே நடக்கும்?",
        "சென்னை",
        "மதுரை",
        "கூட்டம் மதுரையில் நடக்கும்.",
        "என் ஆர்டர் எண் ௭௭௩௧.",
        "என் ஆர்டர் எண் என்ன?",
    ),
    "te": Sentences(
        "సమావేశం హైదరాబాద్\u200cలో జరుగుతుంది.",
        "సమావేశం ఎక్కడ జరుగుతుంది?",
        "హైదరాబాద్",
        "విజయవాడ",
        "సమావేశం విజయవాడలో జరుగుతుంది.",
        "నా ఆర్డర్ నంబర్ ౭౭౩౧.",
        "నా ఆర్డర్ నంబర్ ఏమిటి?",
    ),
    "th": Sentences(
        "การประชุมจัดที่กรุงเทพ",
        "การประชุมจัดที่ไหน",
        "กรุงเทพ",
        "เชียงใหม่",
        "การประชุมจัดที่เชียงใหม่",
        "หมายเลขคำสั่งซื้อของฉันคือ ๗๗๓๑",
        "หมายเลขคำสั่งซื้อของฉันคืออะไร",
    ),
    "zh": Sentences(
        "会议在上海举行。",
        "会议在哪里举行？",
        "上海",
        "北京",
        "会议在北京举行。",
        "我的订单号是7731。",
        "我的订单号是多少？",
    ),
    "ja": Sentences(
        "会議は大阪で開かれます。",
        "会議はどこで開かれますか？",
        "大阪",
        "京都",
        "会議は京都で開かれます。",
        "私の注文番号は7731です。",
        "私の注文番号は何ですか？",
    ),
    "ko": Sentences(
        "회의는 서울에서 열립니다.",
        "회의는 어디에서 열립니까?",
        "서울",
        "부산",
        "회의는 부산에서 열립니다.",
        "제 주문 번호는 7731입니다.",
        "제 주문 번호는 무엇입니까?",
    ),
    "vi": Sentences(
        "Cuộc họp diễn ra ở Huế.",
        "Cuộc họp diễn ra ở đâu?",
        "Huế",
        "Hà Nội",
        "Cuộc họp diễn ra ở Hà Nội.",
        "Số đơn hàng của tôi là 7731.",
        "Số đơn hàng của tôi là gì?",
    ),
    "id": Sentences(
        "Rapatnya diadakan di Bandung.",
        "Di mana rapatnya diadakan?",
        "Bandung",
        "Medan",
        "Rapatnya diadakan di Medan.",
        "Nomor pesananku 7731.",
        "Berapa nomor pesananku?",
    ),
    "sw": Sentences(
        "Mkutano utafanyika Mombasa.",
        "Mkutano utafanyika wapi?",
        "Mombasa",
        "Kisumu",
        "Mkutano utafanyika Kisumu.",
        "Namba ya agizo langu ni 7731.",
        "Namba ya agizo langu ni ipi?",
    ),
    "ka": Sentences(
        "შეხვედრა თბილისში გაიმართება.",
        "სად გაიმართება შეხვედრა?",
        "თბილისი",
        "ბათუმი",
        "შეხვედრა ბათუმში გაიმართება.",
        "ჩემი შეკვეთის ნომერია 7731.",
        "რა არის ჩემი შეკვეთის ნომერი?",
    ),
    "hy": Sentences(
        "Հանդիպումը կլինի Երևանում։",
        "Որտե՞ղ կլինի հանդիպումը։",
        "Երևան",
        "Գյումրի",
        "Հանդիպումը կլինի Գյումրիում։",
        "Իմ պատվերի համարն է 7731։",
        "Ո՞րն է իմ պատվերի համարը։",
    ),
    "lt": Sentences(
        "Susitikimas vyks Vilniuje.",
        "Kur vyks susitikimas?",
        "Vilnius",
        "Kaunas",
        "Susitikimas vyks Kaune.",
        "Mano užsakymo numeris yra 7731.",
        "Koks mano užsakymo numeris?",
    ),
    "sr": Sentences(
        "Састанак ће бити у Београду.",
        "Где ће бити састанак?",
        "Београд",
        "Ниш",
        "Састанак ће бити у Нишу.",
        "Број моје поруџбине је 7731.",
        "Који је број моје поруџбине?",
    ),
    "kk": Sentences(
        "Кездесу Алматыда өтеді.",
        "Кездесу қайда өтеді?",
        "Алматы",
        "Шымкент",
        "Кездесу Шымкентте өтеді.",
        "Менің тапсырыс нөмірім 7731.",
        "Менің тапсырыс нөмірім қандай?",
    ),
    "lv": Sentences(
        "Sanāksme notiks Daugavpilī.",
        "Kur notiks sanāksme?",
        "Daugavpils",
        "Liepāja",
        "Sanāksme notiks Liepājā.",
        "Mans pasūtījuma numurs ir 7731.",
        "Kāds ir mans pasūtījuma numurs?",
    ),
    "sl": Sentences(
        "Srečanje bo v Mariboru.",
        "Kje bo srečanje?",
        "Maribor",
        "Koper",
        "Srečanje bo v Kopru.",
        "Številka mojega naročila je 7731.",
        "Kakšna je številka mojega naročila?",
    ),
    "kn": Sentences(
        "ಸಭೆ ಮೈಸೂರಿನಲ್ಲಿ ನಡೆಯಲಿದೆ.",
        "ಸಭೆ ಎಲ್ಲಿ ನಡೆಯಲಿದೆ?",
        "ಮೈಸೂರು",
        "ಹಾಸನ",
        "ಸಭೆ ಹಾಸನದಲ್ಲಿ ನಡೆಯಲಿದೆ.",
        "ನನ್ನ ಆರ್ಡರ್ ಸಂಖ್ಯೆ ೭೭೩೧.",
        "ನನ್ನ ಆರ್ಡರ್ ಸಂಖ್ಯೆ ಎಷ್ಟು?",
    ),
    "am": Sentences(
        "ስብሰባው በጎንደር ይካሄዳል።",
        "ስብሰባው የት ይካሄዳል?",
        "ጎንደር",
        "ባሕርዳር",
        "ስብሰባው በባሕርዳር ይካሄዳል።",
        "የትዕዛዝ ቁጥሬ 7731 ነው።",
        "የትዕዛዝ ቁጥሬ ስንት ነው?",
    ),
    "km": Sentences(
        "ការប្រជុំធ្វើនៅបាត់ដំបង។",
        "ការប្រជុំធ្វើនៅឯណា?",
        "បាត់ដំបង",
        "កំពត",
        "ការប្រជុំធ្វើនៅកំពត។",
        "លេខបញ្ជាទិញរបស់ខ្ញុំគឺ ៧៧៣១។",
        "លេខបញ្ជាទិញរបស់ខ្ញុំគឺប៉ុន្មាន?",
    ),
    "ur": Sentences(
        "ملاقات لاہور میں ہوگی۔",
        "ملاقات کہاں ہوگی؟",
        "لاہور",
        "ملتان",
        "ملاقات ملتان میں ہوگی۔",
        "میرا آرڈر نمبر ۷۷۳۱ ہے۔",
        "میرا آرڈر نمبر کیا ہے؟",
    ),
    "eu": Sentences(
        "Bilera Bilbon izango da.",
        "Non izango da bilera?",
        "Bilbo",
        "Donostia",
        "Bilera Donostian izango da.",
        "Nire eskaera-zenbakia 7731 da.",
        "Zein da nire eskaera-zenbakia?",
    ),
    "sq": Sentences(
        "Takimi do të mbahet në Shkodër.",
        "Ku do të mbahet takimi?",
        "Shkodra",
        "Vlora",
        "Takimi do të mbahet në Vlorë.",
        "Numri i porosisë sime është 7731.",
        "Cili është numri i porosisë sime?",
    ),
    "zu": Sentences(
        "Umhlangano useThekwini, ngiyabonga.",
        "Umhlangano ukuphi?",
        "iTheku",
        "eGoli",
        "Umhlangano useGoli, ngiyabonga.",
        "Inombolo ye-oda yami ngu-7731.",
        "Iyini inombolo ye-oda yami?",
    ),
}
