"""Answers in many languages that do not know, that deny a value, and that give it."""

# ruff: noqa: RUF001 - sentences in many scripts

from __future__ import annotations

from typing import NamedTuple


class Answers(NamedTuple):
    """Answers in one language, one a line, about a value."""

    value: str
    unknown: str
    denying: str
    giving: str


ANSWERS = {
    "German": Answers(
        "Berlin",
        """\
Das weiß ich leider nicht.
Dazu liegen mir keine Informationen vor.
Das wurde im Gespräch nicht erwähnt.
Keine Ahnung.
Leider kann ich das nicht sagen.
Darüber habe ich keine Angaben.
Im Gespräch ist davon keine Rede.
Das kann ich dir leider nicht beantworten.
Mir ist nichts darüber bekannt.
""",
        """\
Das Treffen findet nicht in Berlin statt.
Nicht in Berlin.
Nicht mehr in Berlin.
Leipzig, nicht Berlin.
""",
        """\
Nicht in Leipzig, sondern in Berlin.
Es findet in Berlin statt.
""",
    ),
    "French": Answers(
        "Lyon",
        """\
Je ne sais pas.
Cela n'a pas été mentionné.
Je n'ai aucune information à ce sujet.
Aucune idée.
Je l'ignore.
Cette information ne figure pas dans la conversation.
Je n'en ai aucune idée.
Désolé, je ne m'en souviens plus.
On ne me l'a pas dit.
""",
        """\
La réunion n'a pas lieu à Lyon.
Pas à Lyon.
Ce n'est plus à Lyon.
À Lille, pas à Lyon.
""",
        """\
Pas à Lille mais à Lyon.
La réunion a lieu à Lyon.
""",
    ),
    "Spanish": Answers(
        "Sevilla",
        """\
No lo sé.
No tengo esa información.
Eso no se mencionó en la conversación.
Ni idea.
No dispongo de ese dato.
No lo recuerdo.
En ningún momento se dijo.
Lo siento, no tengo constancia de ello.
No me lo has dicho.
""",
        """\
La reunión no es en Sevilla.
No es en Sevilla.
Ya no es en Sevilla.
Segovia, no Sevilla.
""",
        """\
No es en Segovia sino en Sevilla.
La reunión es en Sevilla.
""",
    ),
    "Portuguese": Answers(
        "Braga",
        """\
Não sei.
Isso não foi mencionado.
Não tenho essa informação.
Não faço ideia.
Infelizmente não sei dizer.
A conversa não diz isso.
Não me lembro.
Lamento, mas não tenho conhecimento disso.
Você não me contou.
""",
        """\
A reunião não é em Braga.
Não em Braga.
Já não é em Braga.
Coimbra, não Braga.
""",
        """\
Não é em Coimbra, mas em Braga.
A reunião é em Braga.
""",
    ),
    "Portuguese, with no before a name": Answers(
        "Porto",
        """\
Não há informação sobre isso.
""",
        """\
Não é no Porto.
""",
        """\
A reunião é no Porto.
O encontro fica no Porto.
A reunião está marcada no Porto.
""",
    ),
    "Italian": Answers(
        "Roma",
        """\
Non lo so.
Non è stato menzionato.
Non ho informazioni al riguardo.
Nessuna idea.
Non saprei.
Non mi risulta.
La conversazione non lo dice.
Mi dispiace, non ne ho idea.
Non me l'hai detto.
""",
        """\
La riunione non si tiene a Roma.
Non a Roma.
Non è più a Roma.
""",
        """\
Non a Milano ma a Roma.
La riunione si tiene a Roma.
""",
    ),
    "Dutch": Answers(
        "Breda",
        """\
Dat weet ik niet.
Daar is geen informatie over.
Dat is niet genoemd in het gesprek.
Geen idee.
Ik zou het niet weten.
Dat staat niet in het gesprek.
Ik kan het niet vinden.
Sorry, dat herinner ik me niet.
Je hebt het me niet verteld.
""",
        """\
De vergadering is niet in Breda.
Niet in Breda.
Niet meer in Breda.
Utrecht, niet Breda.
""",
        """\
Niet in Utrecht maar in Breda.
De vergadering is in Breda.
""",
    ),
    "Swedish": Answers(
        "Malmö",
        """\
Det vet jag inte.
Det nämndes inte i samtalet.
Jag har ingen information om det.
Ingen aning.
Jag är inte säker.
Det framgår inte.
Jag kan inte svara på det.
Tyvärr minns jag inte det.
Det har du inte berättat.
""",
        """\
Mötet hålls inte i Malmö.
Inte i Malmö.
Inte längre i Malmö.
Uppsala, inte Malmö.
""",
        """\
Inte i Uppsala utan i Malmö.
Mötet hålls i Malmö.
""",
    ),
    "Danish": Answers(
        "Odense",
        """\
Det ved jeg ikke.
Det blev ikke nævnt.
Jeg har ingen oplysninger om det.
Det er jeg ikke sikker på.
Samtalen siger intet om det.
""",
        """\
Mødet holdes ikke i Odense.
Ikke i Odense.
Ikke længere i Odense.
""",
        """\
Mødet holdes i Odense.
""",
    ),
    "Norwegian": Answers(
        "Tromsø",
        """\
Det vet jeg ikke.
Det ble ikke nevnt.
Jeg har ingen opplysninger om det.
""",
        """\
Møtet holdes ikke i Tromsø.
Ikke i Tromsø.
""",
        """\
Møtet holdes i Tromsø.
""",
    ),
    "Polish": Answers(
        "Kraków",
        """\
Nie wiem.
Nie wspomniano o tym.
Nie mam takich informacji.
Nie mam pojęcia.
Nie jestem pewien.
Nie ma o tym mowy w rozmowie.
Trudno powiedzieć, nie pamiętam.
Przykro mi, nie pamiętam tego.
Nie mówiłeś mi o tym.
""",
        """\
Spotkanie nie odbędzie się w Krakowie.
Nie w Krakowie.
Już nie w Krakowie.
W Warszawie, nie w Krakowie.
""",
        """\
Nie w Warszawie, tylko w Krakowie.
Spotkanie odbędzie się w Krakowie.
""",
    ),
    "Czech": Answers(
        "Brno",
        """\
Nevím.
To nebylo zmíněno.
Nemám o tom žádné informace.
Netuším.
To bohužel nevím.
V rozhovoru se o tom nemluvilo.
Nepamatuji si to.
Omlouvám se, to nevím.
To jsi mi neřekl.
""",
        """\
Schůzka se nekoná v Brně.
Ne v Brně.
Schůzka už není v Brně.
V Praze, ne v Brně.
""",
        """\
Ne v Praze, ale v Brně.
Schůzka se koná v Brně.
""",
    ),
    "Slovak": Answers(
        "Žilina",
        """\
Neviem.
To nebolo spomenuté.
Nemám o tom informácie.
""",
        """\
Stretnutie nie je v Žiline.
Nie v Žiline.
""",
        """\
Stretnutie je v Žiline.
""",
    ),
    "Croatian": Answers(
        "Split",
        """\
Ne znam.
To nije spomenuto.
Nemam informacija o tome.
""",
        """\
Sastanak nije u Splitu.
Ne u Splitu.
""",
        """\
Sastanak je u Splitu.
""",
    ),
    "Russian": Answers(
        "Казань",
        """\
Я не знаю.
Об этом не упоминалось.
У меня нет такой информации.
Понятия не имею.
К сожалению, я этого не знаю.
В разговоре об этом не говорится.
Мне это неизвестно.
Извините, не могу сказать.
Вы мне этого не говорили.
""",
        """\
Встреча пройдёт не в Казани.
Не в Казани.
Больше не в Казани.
В Москве, а не в Казани.
""",
        """\
Не в Москве, а в Казани.
Встреча пройдёт в Казани.
""",
    ),
    "Ukrainian": Answers(
        "Харків",
        """\
Я не знаю.
Про це не згадувалося.
У мене немає такої інформації.
Не маю уявлення.
На жаль, мені це невідомо.
У розмові про це не йдеться.
Не пам'ятаю.
Вибачте, я не можу відповісти.
Ви мені цього не казали.
""",
        """\
Зустріч відбудеться не в Харкові.
Не в Харкові.
Вже не в Харкові.
""",
        """\
Не у Львові, а в Харкові.
Зустріч відбудеться у Харкові.
""",
    ),
    "Bulgarian": Answers(
        "Варна",
        """\
Не знам.
Това не беше споменато.
Нямам информация за това.
""",
        """\
Срещата не е във Варна.
Не във Варна.
""",
        """\
Срещата ще бъде във Варна.
""",
    ),
    "Arabic": Answers(
        "بيروت",
        """\
لا أعرف.
لم يُذكر ذلك في المحادثة.
ليس لدي معلومات عن ذلك.
لا توجد معلومات.
للأسف لا أعلم.
لم تتم الإشارة إلى ذلك.
هذا غير معروف.
عذرا، ليست لدي أي معلومات.
لم تخبرني بذلك.
""",
        """\
الاجتماع ليس في بيروت.
ليس في بيروت.
لم يعد في بيروت.
القاهرة، لا بيروت.
""",
        """\
ليس في القاهرة بل في بيروت.
الاجتماع سيكون في بيروت.
""",
    ),
    "Hebrew": Answers(
        "חיפה",
        """\
אני לא יודע.
זה לא הוזכר בשיחה.
אין לי מידע על כך.
אין לי מושג.
לצערי איני יודע.
המידע לא קיים בשיחה.
לא נאמר לי.
סליחה, אני לא זוכר.
לא סיפרת לי.
""",
        """\
הפגישה לא תתקיים בחיפה.
לא בחיפה.
כבר לא בחיפה.
""",
        """\
לא בירושלים אלא בחיפה.
הפגישה תתקיים בחיפה.
""",
    ),
    "Persian": Answers(
        "شیراز",
        """\
نمی‌دانم.
در گفتگو ذکر نشده است.
اطلاعاتی در این باره ندارم.
متأسفانه نمی‌دانم.
مشخص نیست.
""",
        """\
جلسه در شیراز نیست.
نه در شیراز.
جلسه در شیراز برگزار نمی‌شود.
""",
        """\
جلسه در شیراز است.
""",
    ),
    "Hindi": Answers(
        "मुंबई",
        """\
मुझे नहीं पता।
इसका उल्लेख नहीं किया गया।
मेरे पास यह जानकारी नहीं है।
मुझे याद नहीं।
माफ़ कीजिए, मैं नहीं जानता।
बातचीत में यह नहीं बताया गया।
कोई जानकारी उपलब्ध नहीं है।
क्षमा करें, मुझे इसकी जानकारी नहीं है।
आपने मुझे नहीं बताया।
""",
        """\
बैठक मुंबई में नहीं होगी।
मुंबई में नहीं।
अब मुंबई में नहीं।
""",
        """\
दिल्ली में नहीं, मुंबई में।
बैठक मुंबई में होगी।
""",
    ),
    "Bengali": Answers(
        "খুলনা",
        """\
আমি জানি না।
এটি উল্লেখ করা হয়নি।
আমার কাছে এই তথ্য নেই।
দুঃখিত, আমার জানা নেই।
এ বিষয়ে কিছু বলা হয়নি।
""",
        """\
সভাটি খুলনায় হবে না।
খুলনায় নয়।
""",
        """\
সভাটি খুলনায় হবে।
ঢাকায় নয়, খুলনায়।
""",
    ),
    "Tamil": Answers(
        "மதுரை",
        """\
எனக்குத் தெரியாது.
அது குறிப்பிடப்படவில்லை.
என்னிடம் அந்தத் தகவல் இல்லை.
மன்னிக்கவும், எனக்குத் தெரியவில்லை.
""",
        """\
கூட்டம் மதுரையில் இல்லை.
மதுரையில் அல்ல.
""",
        """\
கூட்டம் மதுரையில் நடக்கும்.
""",
    ),
    "Telugu": Answers(
        "విజయవాడ",
        """\
నాకు తెలియదు.
నా దగ్గర ఆ సమాచారం లేదు.
""",
        """\
సమావేశం విజయవాడలో కాదు.
""",
        """\
సమావేశం విజయవాడలో జరుగుతుంది.
""",
    ),
    "Chinese": Answers(
        "北京",
        """\
我不知道。
对话中没有提到。
没有相关信息。
我不确定。
无法从记录中得知。
抱歉，我不清楚。
对话里没有说明。
记录中并未提及。
很抱歉，我没有这方面的信息。
你没有告诉过我。
""",
        """\
会议不在北京举行。
不是北京。
已经不在北京了。
在上海，不是在北京。
""",
        """\
不在上海，而在北京。
会议在北京举行。
不是上海而是北京。
""",
    ),
    "Japanese": Answers(
        "京都",
        """\
わかりません。
会話では言及されていません。
その情報はありません。
知りません。
すみません、覚えていません。
会話からは分かりません。
特に述べられていません。
申し訳ありませんが、存じません。
まだ聞いていません。
""",
        """\
会議は京都ではありません。
京都ではない。
もう京都ではありません。
会議は京都で開かれません。
大阪です。京都ではありません。
""",
        """\
大阪ではなく京都です。
会議は京都で開かれます。
""",
    ),
    "Korean": Answers(
        "부산",
        """\
모르겠습니다.
대화에서 언급되지 않았습니다.
그 정보는 없습니다.
잘 모르겠어요.
죄송하지만 알 수 없습니다.
대화에 그런 내용이 없습니다.
기억나지 않아요.
죄송해요, 잘 모르겠네요.
말씀해 주신 적이 없습니다.
""",
        """\
회의는 부산에서 열리지 않습니다.
부산이 아닙니다.
더 이상 부산이 아니에요.
서울입니다. 부산은 아니에요.
""",
        """\
서울이 아니라 부산입니다.
회의는 부산에서 열립니다.
""",
    ),
    "Thai": Answers(
        "เชียงใหม่",
        """\
ไม่ทราบ
ไม่มีข้อมูล
ไม่ได้กล่าวถึงในการสนทนา
ฉันไม่รู้ครับ
ขอโทษ ฉันไม่แน่ใจ
ไม่มีการพูดถึงเรื่องนี้
ไม่ทราบครับ
ขออภัย ฉันไม่มีข้อมูลนั้น
คุณไม่ได้บอกฉัน
""",
        """\
การประชุมไม่ได้จัดที่เชียงใหม่
ไม่ใช่เชียงใหม่
""",
        """\
การประชุมจัดที่เชียงใหม่
""",
    ),
    "Vietnamese": Answers(
        "Huế",
        """\
Tôi không biết.
Điều này không được đề cập.
Tôi không có thông tin đó.
Rất tiếc, tôi không rõ.
Cuộc trò chuyện không nhắc đến điều đó.
Tôi không nhớ.
Xin lỗi, tôi không có thông tin về việc này.
Bạn chưa nói với tôi.
""",
        """\
Cuộc họp không diễn ra ở Huế.
Không phải ở Huế.
Không còn ở Huế nữa.
""",
        """\
Cuộc họp diễn ra ở Huế.
""",
    ),
    "Indonesian": Answers(
        "Medan",
        """\
Saya tidak tahu.
Hal itu tidak disebutkan.
Tidak ada informasi tentang itu.
Entahlah.
Maaf, saya kurang tahu.
Percakapan tidak menyebutkannya.
Saya tidak ingat.
Maaf, saya tidak punya informasi itu.
Kamu belum memberi tahu saya.
""",
        """\
Rapatnya bukan di Medan.
Bukan di Medan.
Tidak lagi di Medan.
""",
        """\
Bukan di Bandung, melainkan di Medan.
Rapatnya diadakan di Medan.
""",
    ),
    "Finnish": Answers(
        "Turku",
        """\
En tiedä.
Sitä ei mainittu keskustelussa.
Minulla ei ole siitä tietoa.
Ei aavistustakaan.
Valitettavasti en tiedä sitä.
Keskustelussa ei puhuta siitä.
En muista.
Anteeksi, en osaa sanoa.
Et ole kertonut sitä.
""",
        """\
Kokous ei ole Turussa.
Ei Turussa.
Ei enää Turussa.
Kokousta ei pidetä Turussa.
""",
        """\
Ei Helsingissä vaan Turussa.
Kokous pidetään Turussa.
""",
    ),
    "Estonian": Answers(
        "Tartu",
        """\
Ma ei tea.
Seda ei mainitud.
Mul ei ole selle kohta teavet.
""",
        """\
Koosolek ei toimu Tartus.
Mitte Tartus.
""",
        """\
Koosolek toimub Tartus.
""",
    ),
    "Hungarian": Answers(
        "Szeged",
        """\
Nem tudom.
Ez nem hangzott el.
Nincs erről információm.
Fogalmam sincs.
Sajnos ezt nem tudom.
A beszélgetésben erről nincs szó.
Nem emlékszem.
Sajnálom, nincs erről információm.
Ezt nem mondtad.
""",
        """\
A találkozó nem Szegeden lesz.
Nem Szegeden.
Már nem Szegeden.
""",
        """\
Nem Budapesten, hanem Szegeden.
A találkozó Szegeden lesz.
""",
    ),
    "Greek": Answers(
        "Πάτρα",
        """\
Δεν ξέρω.
Αυτό δεν αναφέρθηκε.
Δεν έχω αυτή την πληροφορία.
Δεν γνωρίζω.
Δυστυχώς δεν το γνωρίζω.
Δεν αναφέρεται πουθενά.
Δεν θυμάμαι.
Λυπάμαι, δεν έχω ιδέα.
Δεν μου το είπες.
""",
        """\
Η συνάντηση δεν γίνεται στην Πάτρα.
Όχι στην Πάτρα.
Δεν είναι πια στην Πάτρα.
""",
        """\
Όχι στην Αθήνα αλλά στην Πάτρα.
Η συνάντηση γίνεται στην Πάτρα.
""",
    ),
    "Turkish": Answers(
        "İzmir",
        """\
Bilmiyorum.
Bu konuşmada belirtilmemiş.
Bu konuda bilgim yok.
Hiçbir fikrim yok.
Maalesef bilmiyorum.
Konuşmada bundan söz edilmiyor.
Emin değilim.
Üzgünüm, hatırlamıyorum.
Bunu bana söylemedin.
""",
        """\
Toplantı İzmir'de değil.
İzmir'de değil.
Artık İzmir'de değil.
Toplantı İzmir'de yapılmayacak.
""",
        """\
Ankara'da değil, İzmir'de.
Toplantı İzmir'de yapılacak.
""",
    ),
    "Romanian": Answers(
        "Sibiu",
        """\
Nu știu.
Nu a fost menționat.
Nu am această informație.
Îmi pare rău, nu știu.
Conversația nu menționează asta.
""",
        """\
Întâlnirea nu are loc la Sibiu.
Nu la Sibiu.
""",
        """\
Întâlnirea are loc la Sibiu.
""",
    ),
    "Catalan": Answers(
        "Lleida",
        """\
No ho sé.
No es va esmentar.
""",
        """\
La reunió no és a Lleida.
""",
        """\
La reunió és a Lleida.
""",
    ),
    "Swahili": Answers(
        "Kisumu",
        """\
Sijui.
Hakuna taarifa kuhusu hilo.
""",
        """\
Mkutano si Kisumu.
""",
        """\
Mkutano utafanyika Kisumu.
""",
    ),
    "Tagalog": Answers(
        "Davao",
        """\
Hindi ko alam.
Hindi ito nabanggit.
""",
        """\
Hindi sa Davao ang pulong.
""",
        """\
Ang pulong ay gaganapin sa Davao.
""",
    ),
    "Georgian": Answers(
        "ბათუმი",
        """\
არ ვიცი.
ეს არ არის ნახსენები.
""",
        """\
შეხვედრა არ არის ბათუმში.
""",
        """\
შეხვედრა ბათუმში გაიმართება.
""",
    ),
    "Armenian": Answers(
        "Գյումրի",
        """\
Չգիտեմ։
Այդ մասին տեղեկություն չկա։
""",
        """\
Հանդիպումը Գյումրիում չէ։
""",
        """\
Հանդիպումը կլինի Գյումրիում։
""",
    ),
    "Lithuanian": Answers(
        "Kaunas",
        """\
Nežinau.
Apie tai neturiu informacijos.
""",
        """\
Susitikimas vyks ne Kaune.
""",
        """\
Susitikimas vyks Kaune.
""",
    ),
    "Latvian": Answers(
        "Liepāja",
        """\
Es nezinu.
Tas nav minēts.
""",
        """\
Sanāksme nav Liepājā.
""",
        """\
Sanāksme notiks Liepājā.
""",
    ),
}

NEGATIVE_FACTS = """\
Je n'ai pas de voiture.
Il ne parle pas français.
Elle ne sait pas nager.
Ele não fala francês.
Ela não sabe nadar.
Não, ele não vem.
Ele não tem carro.
Er spricht kein Französisch.
Sie wohnt nicht im Zentrum.
Nicht vor Montag.
Das Auto steht nicht in der Garage.
Er hat nichts gegessen.
Er raucht nicht.
Он не говорит по-французски.
Он не пьёт кофе.
У него нет машины.
Не раньше понедельника.
Вона не говорить німецькою.
У неї немає собаки.
Nie mówi po francusku.
Nie pada.
Nie ma psa.
Nie posiadam samochodu.
Nemluví francouzsky.
Nevidí dobře.
Nemá auto.
Ne govori francuski.
No habla francés.
No sabe nadar.
No tiene hermanos.
No come carne.
Non parla francese.
Non sa nuotare.
Non ha la macchina.
Hij spreekt geen Frans.
Hij rookt niet.
De auto staat niet in de garage.
Han talar inte franska.
Hon äter inte kött.
Han vill inte prata.
Han snakker ikke fransk.
Hun spiser ikke kjøtt.
Hän ei puhu ranskaa.
Hän ei osaa uida.
Hän ei syö lihaa.
Nem beszél franciául.
Nem esett eső.
Nincs kutyája.
Nem eszik húst.
Δεν μιλάει γαλλικά.
Δεν τρώει κρέας.
Nu vorbește franceza.
Nu are mașină.
Et eszik.
Fransızca konuşmuyor.
Davet edilmedi.
Arabası yok.
Et yemiyor.
لا يتكلم الفرنسية.
ليس لديه سيارة.
لم يذهب إلى المدرسة.
הוא לא מדבר צרפתית.
הספר לא נמצא בבית.
אין לו כלב.
वह फ़्रेंच नहीं बोलता।
उसके पास कार नहीं है।
उसने पत्र नहीं लिखा।
সে মাংস খায় না।
অவன் இறைச்சி சாப்பிடுவதில்லை.
他不会说法语。
他没有车。
她不吃肉。
没有狗。
彼はフランス語を話しません。
車はありません。
肉を食べない。
그는 프랑스어를 하지 못합니다.
그는 말이 없습니다.
차가 없습니다.
เขาไม่พูดภาษาฝรั่งเศส
เขาไม่มีรถ
Anh ấy không nói tiếng Pháp.
Anh ấy không có xe.
Dia tidak berbicara bahasa Prancis.
Dia tidak punya mobil.
Tidak ada susu.
Hindi siya kumakain ng karne.
Hana gari.
او ماشین ندارد.
او فرانسه حرف نمی‌زند.
Nevalgo mėsos.
Viņš neēd gaļu.
Ta ei söö liha.
Той не яде месо.
Ne jede meso.
"""
"""Negative facts, which are answers."""
