"""Words of many languages that deny, that call a value old, and that say one does not know.

Phrases are parted by bars. `*` is the rest of a word or its beginning, `...` is up to three words,
and a stroke parts words of which one is there. Accents do not count. Phrases of scripts without
spaces are found inside a row of characters.
"""

# ruff: noqa: RUF001 - words of other scripts stand where they are meant

from __future__ import annotations

from typing import Final

DENYING: Final = (
    # German, Dutch, Scandinavian
    "nicht|kein|keine|keinen|keinem|keiner|keines|keinesfalls|keineswegs|niemals|weder|niet|geen|nooit|inte|ej|aldrig"
    "|ikke|ikkje|aldri|ekki|aldrei"
    # Romance
    "|pas|jamais|aucun*|ne ... plus|no|nunca|jamas|tampoco|nao|non|nu|niciodata"
    # Slavic, Baltic
    "|nie|nigdy|neni|nejsou|nebude*|nebyl*|nekona*|nikdy|nikoli*|ne u|ne v|ne ve|ne na|ne|nije"
    "|nisu|nece|ni v|ni na"
    "|nera|nebus|nebuvo|nevyk*|nav|nebija"
    "|не|нет|ни|нема*|ніколи|никогда|няма|није|нису"
    # Uralic, Basque, Albanian, Greek, Armenian, Georgian
    "|nem|nincs*|ei|eivat|eika|mitte|ez da|ez dago|ez zen|ez du|nuk|jo ne|s eshte"
    "|δεν|δε|οχι|μη|μην|ոչ|չի|չէ|չեն|չէր|არ|არა|აღარ|ვერ"
    # Semitic, Persian, African
    "|ليس*|وليس*|لست|لا|ولا|لم|ولم|لن|ولن|غير|بدلا من|לא|ולא|אין|אינ*|איננ*|نه"
    "|si|sio|siyo|haifanyiki|hautafanyika|akukho|ayikho|awukho"
    # Austronesian, Vietnamese
    "|bukan*|tidak|belum|khong|hindi|wala"
    # Scripts without spaces
    "|不是|不在|不再|不会|不會|不住|不叫|不对|并非|並非|并不|並不|而非|没在|没有在|沒有在|没有"
    "|沒有"
    "|ไม่ใช่|ไม่ได้|ไม่อยู่|ไม่จัด|มิใช่|ບໍ່ແມ່ນ|ບໍ່ໄດ້|ບໍ່ຢູ່|មិនមែន|មិន|ពុំ"
)
"""They deny what follows in the clause; at its end, what stands before."""

DENYING_BACK: Final = (
    "degil*|deyil*|yok|yoxdur|*miyor|*muyor|*mayacak|*meyecek|emas*|емес*|биш*|үгүй|угуй"
    "|아니|아니다|아니었*|아니라|아니고|아니에요|아니예요|아닙*|아닌*|않*|없*"
    "|नहीं|नही|नाही|नाहीत|होइन|छैन|हुँदैन|નથી|નહીં|ਨਹੀਂ|نہیں|না|নয়|নেই|নাই"
    "|இல்லை|அல்ல|கிடையாது|కాదు|లేదు|జరగదు|ಅಲ್ಲ|ಇಲ್ಲ|അല്ല|ഇല്ല|නැත*|නොවේ|නොවෙයි|නෙවෙයි|නෑ"
    "|نیست*|نبود|نمی*|نخواهد|ندارد|نمیشود|አይደለም|የለም|አይሆንም"
    "|ではない|ではなく|じゃない|じゃなく|ではありません|ではなかった|じゃありません|ません"
    "|မဟုတ်|မရှိ"
    # Said to be wrong
    "|falsch|verkehrt|faux|inexact|falso|errado|sbagliato|fout|onjuist|felaktigt|forkert|błędne"
    "|špatně|неверно|неправильно|невірно|λάθος|yanlış*|väärin|خطأ|שגוי|गलत|틀렸*|틀립*|错了|錯了|間違い"
)
"""They deny what stands before them in the clause."""

DENYING_NOTHING: Final = (
    "nicht nur|niet alleen|inte bara|ikke bare|ikke kun|pas seulement|pas que|no solo"
    "|no solamente"
    "|nao so|nao apenas|nao somente|non solo|non solamente|non soltanto|nie tylko|nejen|ne samo"
    "|не только|не лише|не тільки|не само|nem csak|ei vain|ei ainult|δεν ... μονο|οχι μονο"
    "|ليس فقط|لا شك|لا ريب|לא רק|אין ספק|نه تنها|bukan hanya|tidak hanya|khong chi|hindi lang"
    "|no cabe duda|no hay duda|kein* zweifel|aucun doute|nao ha duvida|bez wątpienia"
    "|밖에 없*|*밖에 없*|틀림 없*|의심* 없*|सिर्फ नहीं|केवल नहीं"
    "|間違いなく|間違いあり|不仅|不但|不只|不過|不过|没有变|没有改变|すみません|かもしれません|違いありません"
    "|しかありません|なければなりません"
    "|ไม่ใช่แค่|ไม่ใช่เพียง"
)
"""They look like a denial and are none."""

NOT_WITH: Final = {
    "ei": "og|er|det|i|este|la|lui|und|das|ist",
    "no": "e|foi|fica|num|numa|um|uma|em|ao|da|do|das|dos|na|*cao|*iao",
    "pas": "het|een|ik|van",
    "non": "fiction|profit|stop|dairy|alcoholic|stick|binary|verbal|violent",
    "emas": "cincin|kalung|yang|dan|ini|di|dari|warna",
    "si": "el|es|en|il|di|je|les|se|un|una|che|la",
}
"""Words that mean something else beside these others, which tell the language."""

ONLY_WITH: Final = {
    "hindi": "sa|ang|ko|ay|ito|si|na|naman",
    "ne": "yra|vyks|vyko|bus|buvo|bet|tai|mano|pas|je",
    "nu": "este|e|la|mai|va|se|sunt|lui",
    "mais": "pas|est|les|au|une|le|la|ne|non",
    "mas": "nao|em",
    "ma": "non",
}
"""Words that mean it only beside one of these."""

CORRECT: Final = (
    "richtig|korrekt|mehr|wahr|statt|stimmt|correct|vrai|juste|cierto|correcto|verdad|certo"
    "|correto"
    "|giusto|vero|corretto|juist|waar|meer|rätt|sant|längre|riktig|rigtigt|længere|lenger|prawda"
    "|już|pravda|správně|верно|правда|правильно|больше|вірно|так|oikein|enää|igaz|helyes|már"
    "|σωστό"
    "|πια|صحيح|صحيحا|נכון|benar|lagi|đúng|नु|hier|aqui|ici|qui|ya|plus|più|mais|adevarat|corect"
    "|ole|jest|az|είναι|det|to|oso|nó|vậy"
)
"""Words after a denial with which it is of what stands before: `Berlin ist nicht richtig`."""

CONTRASTING: Final = (
    "sondern|und|aber|weil|sino|pero|porque|mais|mas|ma|bensi|perche|maar|want|men|och|og|utan"
    "|eftersom"
    "|ale|lecz|tylko|nybrz|protoze|bet|но|а|и|але|бо|vaan|mutta|koska|hanem|mert|αλλα|και|γιατι"
    "|بل|ولكن|لكن|אלא|אבל|כי|ve|ama|fakat|cunku|बल्कि|और|लेकिन|क्योंकि|কিন্তু|এবং|বরং|*이고|*이며"
    "|*이지만"
    "|melainkan|tetapi|karena|ma la|ci|dar|nhung|而是|而在|但是|但|แต่"
)
"""Words at which a denial ends."""

OLD: Final = (
    "früher|ehemals|ehemalig*|vorher|bisher|damals|ursprünglich|vroeger|voorheen|eerder"
    "|oorspronkelijk"
    "|tidigare|förut|förr|ursprungligen|tidligere|opprinnelig|oprindeligt|áður"
    "|auparavant|autrefois|anciennement|précédemment|ancien|ancienne|initialement"
    "|antes|anteriormente|originalmente|inicialmente|prima|precedentemente|originariamente"
    "|inainte|anterior|initial|dawniej|wcześniej|poprzednio|pierwotnie|dříve|předtím|původně"
    "|predtým"
    "|раньше|прежде|ранее|сначала|изначально|раніше|спочатку|колись|преди|раније|ranije|prije"
    "|prej"
    "|anksčiau|agrāk|korábban|azelőtt|régebben|eredetileg|aiemmin|alun|entinen|varem|algselt"
    "|παλιά|παλαιότερα|προηγουμένως|αρχικά|önceden|eskiden|daha önce|əvvəl|əvvəllər|oldin|бұрын"
    "|өмнө"
    "|سابقا|قبلا|پیشتر|קודם|בעבר|לפני כן|पहले|पूर्वी|पहिले|आधी|আগে|পূর্বে|முன்பு|గతంలో|ముందు"
    "|ಹಿಂದೆ|മുമ്പ്|කලින්|이전*|예전*|원래*|전에는|trước đây|lúc đầu|dulu|dulunya|dahulu|sebelumnya"
    "|dati|zamani|awali|ადრე|նախկինում|lehen|më parë|ቀደም"
    "|以前|かつて|元々|もともと|之前|原来|原先|原本|เคย|เมื่อก่อน|ก่อนหน้านี้|เดิม"
)
"""Words that call a value beside them one of the past."""

NOW: Final = (
    "jetzt|nun|inzwischen|heute|nu|tegenwoordig|numera|nå|maintenant|désormais|aujourd hui|ahora"
    "|actualmente|agora|atualmente|adesso|ora|attualmente|acum|teraz|obecnie|nyní|teď|teraz"
    "|сейчас"
    "|теперь|зараз|тепер|сега|сада|sada|zdaj|dabar|tagad|most|jelenleg|nyt|nykyään|nüüd|τώρα"
    "|πλέον"
    "|şimdi|artık|indi|hozir|қазір|одоо|الآن|اکنون|עכשיו|כעת|अब|আ এখন|এখন|இப்போது|ఇప్పుడు|ಈಗ"
    "|ഇപ്പോൾ"
    "|දැන්|지금*|이제*|bây giờ|hiện|sekarang|kini|ngayon|sasa|ახლა|հիմա|orain|tani|አሁን|今|现在"
    "|現在|ตอนนี้"
    "|ปัจจุบัน"
)
"""Words between a value and such a word that end its reach."""

UNKNOWN: Final = (
    # German
    "weiß* ... nicht|nicht ... wissen|kein* ahnung|kein* ... information*|kein* angabe*"
    "|kein* ... hinweis*|kein* erwähnung|kein* daten|nicht ... erwähnt|nicht ... genannt"
    "|nicht ... gesagt|nicht ... angegeben|nicht bekannt|nicht sicher|nicht ... erinner*"
    "|erinnere ... nicht|nicht ... sagen|nicht ... beantworten|nicht ... finden|nicht hervor"
    "|nicht verfügbar|nicht ... mitgeteilt|nichts ... gesagt|nie ... gesagt|nie erwähnt"
    "|nichts darüber|nicht genug*|niemand ... gesagt|überfragt|unklar"
    # Dutch, Afrikaans
    "|weet ... niet|weten ... niet|geen idee|geen ... informatie|geen ... gegevens"
    "|geen vermelding|niet ... vermeld|niet ... genoemd|niet ... gezegd|niet bekend|niet zeker"
    "|herinner ... niet|niet ... zeggen|niet ... vinden|niet ... beantwoorden|niet ... verteld"
    "|niet ... aangegeven|niet beschikbaar|onduidelijk|nooit ... gezegd"
    # Swedish, Danish, Norwegian, Icelandic
    "|vet ... inte|ingen aning|ingen ... information|inga uppgifter|inte ... nämn*|*nämn* inte"
    "|*nämn* ikke|*nevn* ikke|*nævn* ikke|inte ... sagt|inte säker*|minns ... inte"
    "|inte ... svara*|framgår inte|inte ... hitta*|inte ... angiv*|inte känt|inte ... säga"
    "|ved ... ikke|vet ... ikke|ingen anelse|ingen ... informasjon*|ingen ... oplysning*"
    "|ingen ... opplysning*|ikke ... nævn*|ikke ... nevn*|ikke ... sagt|ikke sikker"
    "|husker ... ikke|fremgår ... ikke|ikke ... svare|ikke ... oplyst|ikke ... opplyst"
    "|ikke kjent|ikke kendt|ikke ... finde*|ikke ... finne|veit ... ikkje|veit ekki|ekki viss"
    "|man ekki|ekki ... nefnt"
    # French
    "|sais pas|on ne sait pas|savons pas|sais ... rien|ne sais|ignore|aucune idée"
    "|aucune ... information*|aucune mention|aucune donnée|pas d information*|pas ... mentionné*"
    "|pas ... précisé*|pas ... indiqué*|pas ... dit|pas sûr*|pas certain*|pas connu*"
    "|souviens pas|rappelle pas|peux pas ... répondre|peux pas ... dire|pas ... trouv*"
    "|pas disponible|jamais ... dit|jamais ... mentionné*|pas ... information*|rien ... dit"
    "|rien n indique|pas ... l information"
    # Spanish, Catalan, Galician
    "|no ... sé|no ... sabemos|no se sabe|ni idea|no tengo idea|no tengo ... información"
    "|no hay ... información|no hay datos|no ... menciona*|no ... mencionó|no ... especifica*"
    "|no ... indica*|no ... dice|no ... dijo|no ... dicho|no estoy seguro|no estoy segura"
    "|no ... recuerdo|no ... acuerdo|no puedo ... responder|no puedo ... decir*|no ... encuentro"
    "|no ... consta|desconozco|se desconoce|no se conoce|no ... proporcion*|nunca ... dijo"
    "|nunca ... mencion*|sin información|ninguna información|no ho sé|no n estic segur*"
    "|no ... esment*|no hi ha informació|no ... informació|non o sei|non sei"
    # Portuguese
    "|não ... sei|não sabemos|não se sabe|não faço ideia|não tenho ideia|não ... informaç*"
    "|não ... mencion*|não ... especific*|não ... indica*|não ... disse*|não ... dito"
    "|não tenho certeza|não ... lembro|não ... recordo|não posso ... responder|não posso dizer"
    "|não ... encontr*|não consta|desconheço|não ... informado|nenhuma informação|nenhuma menção"
    "|sem informaç*|não ... conhecido|não há ... dados|nunca ... disse*|não ... referid*"
    # Italian
    "|non ... so|non ... sappiamo|non si sa|non ... idea|nessuna idea|non ... informazion*"
    "|nessuna informazione|non ... menzion*|non ... specific*|non ... indicat*|non ... detto"
    "|non ... dice|non sono sicur*|non sono cert*|non ... ricordo|non posso ... rispondere"
    "|non posso dir*|non ... trov*|non risulta|ignoro|lo ignoro|non ... noto|non ... fornit*"
    "|mai ... detto|mai ... menzion*|non ho dati|nessuna menzione"
    # Romanian
    "|nu ... știu|nu știm|nu se știe|nu am idee|habar n|nicio idee|nu ... informați*"
    "|nu ... menționa*|nu ... menționat*|nu ... precizat*|nu ... spus|nu sunt sigur*"
    "|nu ... amintesc|nu pot răspunde|nu ... găs*|nu ... specific*|nu ... cunosc*"
    # Polish, Czech, Slovak
    "|nie ... wiem|nie wiemy|nie wiadomo|nie ... pojęcia|brak ... informacji|brak danych"
    "|nie ma ... informacji|nie mam ... informacji|nie ... wspomni*|nie ... wspomina*|nie podano"
    "|nie ... podan*|nie powiedzia*|nie ... powiedzian*|nie jestem pew*|nie pamiętam"
    "|nie mogę ... odpowiedzieć|nie mogę ... powiedzieć|nie ... znal*|nie określono"
    "|nie ... wynika|nie ... znan*|nevím|nevíme|neví se|netuším|nemám ... informac*"
    "|nejsou ... informac*|není ... informac*|žádné informace|není ... zmín*|nebyl* ... zmín*"
    "|neříká*|neřekl*|nebyl* řečeno|nejsem si jist*|nepamatuji|nepamatuju|nevzpomínám"
    "|nemohu ... odpovědět|nelze ... určit|není ... uveden*|není známo|neuved*|nenaš*"
    "|nemůžu ... najít|neviem|nevieme|nemám ... informáci*|nie je ... uveden*|nie je známe"
    "|nie som si ist*|nepamätám|nespomína*|nebol* ... spomen*|nebol* ... uveden*"
    "|nebol* ... povedan*"
    # Croatian, Serbian, Slovene
    "|ne znam|ne znamo|nije poznato|nije navedeno|nije spomenuto|nemam pojma|nemam informacij*"
    "|nema ... informacij*|nisam sigur*|ne sjećam|ne sećam|ne mogu ... odgovoriti|ne vem"
    "|ni znano|ni omenjeno|ni podatk*|nisem prepričan*|ne spomnim"
    # Russian, Ukrainian, Belarusian, Bulgarian, Macedonian, Serbian
    "|не знаю|не знаем|не известно|неизвестно|понятия не имею|нет ... информации|нет ... данных"
    "|нет ... сведений|не ... упомина*|не ... упомян*|не ... указан*|не ... сказан*|не говорили"
    "|не сказал*|не уверен*|не помню|не припомню|не могу ... ответить|не могу ... сказать"
    "|не ... нашел|не ... нашла|не ... найти|не сообщ*|не располагаю|без понятия|не ... знайшов"
    "|не ... знайшла|не ... знайти|невідомо|не відомо|немає ... інформації|немає ... даних"
    "|не ... згад*|не ... вказан*|не ... зазначен*|не впевнен*|не памʼятаю|не пам ятаю"
    "|не пам'ятаю|не можу ... відповісти|не можу ... сказати|гадки не маю|не маю ... уявлення"
    "|не маю ... інформації|не маю ... даних|не ведаю|няма ... інфармацыі|не зная|не е известно"
    "|няма ... информация|нямам ... информация|не ... споменат*|не ... споменава*|не се спомен*"
    "|не е посочен*|не съм сигур*|не помня|нямам представа|не знам|нема ... информаци*"
    "|не е познато|нема ... информација|није познато|није наведено|немам појма"
    # Lithuanian, Latvian, Estonian, Finnish, Hungarian
    "|nežinau|nežinome|nežinoma|neturiu ... informacij*|nėra ... informacij*|nepaminėta|neminima"
    "|nesu tikr*|neatsimenu|neprisimenu|nezinu|nezinām|nav zināms|nav ... informācij*|nav minēt*"
    "|neesmu pārliecināt*|neatceros|nav ne jausmas|ei tea|pole ... teavet|ei ole ... teavet"
    "|pole ... infot|ei ole ... infot|pole mainitud|ei ... mainitud|ei mainita|pole kindel"
    "|ei ole kindel|ei mäleta|pole aimugi|pole teada|en ... tiedä|emme tiedä|ei ... tiedossa"
    "|ei tiedetä|ei ... tietoa|ei ... tietoja|ei ole mainittu|ei ... mainittu|ei ... kerrottu"
    "|ei kerrota|en ole varma|en muista|en osaa sanoa|en osaa vastata|en voi vastata|en löyd*"
    "|ei ... löyd*|ei aavistusta|aavistustakaan|ei selviä|ei ilmene|nem tudom|nem tudjuk"
    "|nem tudni|nem ismert|fogalmam sincs|nincs ... információ*|nincs ... adat*"
    "|nincs ... tudomásom|nem említ*|nem ... említ*|nem szerepel|nem ... mondt*|nem derül"
    "|nem vagyok biztos|nem emlékszem|nem találo*|nem tudok válaszolni|nincs megadva"
    "|nincs ... említve|nem hangzott el"
    # Greek, Albanian, Basque, Georgian, Armenian
    "|δεν ... ξέρω|δεν ξέρουμε|δεν γνωρίζ*|δεν είναι γνωστό|δεν ... ιδέα"
    "|δεν υπάρχ* ... πληροφορ*|δεν έχω ... πληροφορ*|δεν ... αναφέρ*|δεν ... αναφερθεί"
    "|δεν είμαι σίγουρ*|δεν είμαι βέβαι*|δεν θυμάμαι|δεν μπορώ ... απαντήσω|δεν μπορώ ... πω"
    "|δεν βρ*|άγνωστο|δεν ... διευκρινίζ*|δεν ... ειπώθηκε|καμία πληροφορία|nuk e di|nuk di"
    "|nuk dihet|nuk ka ... informacion|nuk kam ... informacion|nuk përmend*|nuk është përmendur"
    "|nuk jam i sigurt|nuk mbaj mend|s e di|ez dakit|ez dakigu|ez dago ... informaziorik"
    "|ez dut ... informaziorik|ez da aipat*|ez nago ziur|ez naiz gogoratzen|ez da ezagutzen"
    "|ez da esan|არ ვიცი|არ ვიცით|უცნობია|არ არის ნახსენები|ინფორმაცია არ*|არ მაქვს ინფორმაცია"
    "|არ მახსოვს|არ ვარ დარწმუნებული|არ არის ცნობილი|არ არის მითითებული|არაფერია ნათქვამი|չգիտեմ"
    "|չգիտենք|հայտնի չէ|տեղեկություն չկա|տեղեկություններ չկան|չի նշվ*|նշված չէ|վստահ չեմ"
    "|չեմ հիշում|տեղեկություն չունեմ"
    # Turkish, Azerbaijani, Kazakh, Uzbek, Kyrgyz, Mongolian
    "|bilmiyor*|bilinmiyor|bilemiyorum|bilemem|haberim yok|fikrim yok|bilgim yok|bilgi* ... yok*"
    "|bilgi* ... bulunm*|emin değil*|bahsedilmem*|bahsedilmiyor|bahsedilmedi|bahsetmed*"
    "|belirtilmem*|belirtilmedi|belirtilmiyor|söylenmedi|söylenmem*|söylemed*|hatırlamıyorum"
    "|hatırlayamıyorum|bulamadım|bulamıyorum|söyleyemem|yanıtlayamam|cevaplayamam|bilmirəm"
    "|bilmirik|məlum deyil|məlumat* ... yox*|qeyd olunmayıb|qeyd edilməyib|əmin deyiləm"
    "|xatırlamıram|yadımda deyil|bilmayman|bilmaymiz|ma lumot* ... yo q*|maʼlumot* ... yoʻq"
    "|aytilmagan|noma lum|ishonchim komil emas|eslolmayman|esimda yo q|білмеймін|білмейміз"
    "|белгісіз|ақпарат* ... жоқ|мәлімет* ... жоқ|айтылмаған|сенімді емеспін|есімде жоқ|билбейм"
    "|белгисиз|маалымат* ... жок|мэдэхгүй|мэдэхгуй|мэдээлэл ... алга|мэдээлэл ... байхгүй"
    "|тодорхойгүй|санахгүй|дурдаагүй|итгэлгүй"
    # Arabic, Persian, Urdu, Hebrew
    "|لا أعرف|لا اعرف|لا أعلم|لا اعلم|لا ندري|لا أدري|لا نعرف|لست متأكد*|غير متأكد*|غير معروف"
    "|غير معلوم|غير مذكور|غير محدد|لا توجد ... معلومات|لا يوجد ... معلومات|لا توجد أي"
    "|ليس لدي ... معلومات|ليست لدي ... معلومات|لا أملك ... معلومات|لا تتوفر|لم يذكر*|لم يتم ذكر*"
    "|لم تذكر*|لم يرد|لا أتذكر|لا أذكر|لا يمكنني|لا أستطيع|لم أجد|ليس لدي فكرة|لا فكرة لدي"
    "|لا علم لي|لم تخبرني|لم يتم تحديد*|نمی دانم|نمیدانم|نمی‌دانم|نمیدونم|نمی دونم|اطلاعی ندارم"
    "|اطلاعات* ... ندارم|اطلاعات* ... نیست|اطلاعاتی ... وجود ندارد|ذکر نشده|گفته نشده"
    "|مطمئن نیستم|یادم نیست|به خاطر ندارم|مشخص نیست|معلوم نیست|اشاره* نشده|معلوم نہیں|نہیں جانتا"
    "|نہیں جانتی|علم نہیں|یاد نہیں|یقین نہیں|ذکر نہیں|معلومات ... نہیں|پتہ نہیں|לא יודע*"
    "|לא ידוע*|אינני יודע*|איני יודע*|אין לי מושג|אין לי ... מידע|אין ... מידע|לא הוזכר*|לא צוין"
    "|לא צוינה|לא נאמר*|לא אמר*|לא בטוח*|אינני בטוח*|לא זוכר*|איני זוכר*|לא ניתן לדעת|לא מצאתי"
    "|לא מוצא*|לא יכול* ... לענות|לא יכול* ... לומר|לא מוזכר*|לא סופר"
    # Indic
    "|नहीं पता|पता नहीं|मालूम नहीं|नहीं मालूम|नहीं जानता|नहीं जानती|नहीं जानते|जानकारी नहीं"
    "|जानकारी ... नहीं|उल्लेख नहीं|ज़िक्र नहीं|जिक्र नहीं|याद नहीं|यकीन नहीं|निश्चित नहीं"
    "|नहीं बताया|बताया नहीं|नहीं कह सक*|उत्तर नहीं दे|अज्ञात है|ज्ञात नहीं|माहीत नाही"
    "|माहिती नाही|माहिती ... नाही|ठाऊक नाही|आठवत नाही|उल्लेख नाही|उल्लेख ... नाही|खात्री नाही"
    "|नमूद ... नाही|सांगितले नाही|थाहा छैन|जानकारी छैन|जानकारी ... छैन|उल्लेख ... छैन|सम्झना छैन"
    "|याद छैन|निश्चित छैन|भनिएको छैन|জানি না|জানা নেই|জানা যায়নি|তথ্য নেই|কোনো তথ্য ... নেই"
    "|উল্লেখ ... নেই|উল্লেখ ... হয়নি|মনে নেই|মনে পড়ছে না|নিশ্চিত নই|বলা হয়নি|জানা নাই|ખબર નથી"
    "|જાણતો નથી|જાણતી નથી|માહિતી નથી|માહિતી ... નથી|ઉલ્લેખ નથી|ઉલ્લેખ ... નથી|યાદ નથી|ખાતરી નથી"
    "|ਨਹੀਂ ਪਤਾ|ਪਤਾ ਨਹੀਂ|ਜਾਣਕਾਰੀ ਨਹੀਂ|ਜਾਣਕਾਰੀ ... ਨਹੀਂ|ਜ਼ਿਕਰ ਨਹੀਂ|ਯਾਦ ਨਹੀਂ|ਨਹੀਂ ਜਾਣਦਾ|ਯਕੀਨ ਨਹੀਂ"
    "|தெரியாது|தெரியவில்லை|தகவல் இல்லை|தகவல் ... இல்லை|குறிப்பிடப்படவில்லை|நினைவில்லை"
    "|நினைவில் இல்லை|உறுதியாக ... இல்லை|சொல்லப்படவில்லை|తెలియదు|తెలీదు|సమాచారం లేదు"
    "|సమాచారం ... లేదు|ప్రస్తావించ*లేదు|గుర్తు లేదు|గుర్తులేదు|ఖచ్చితంగా ... లేను|పేర్కొనలేదు"
    "|చెప్పలేదు|ಗೊತ್ತಿಲ್ಲ|ತಿಳಿದಿಲ್ಲ|ತಿಳಿಯದು|ಮಾಹಿತಿ ಇಲ್ಲ|ಮಾಹಿತಿಯಿಲ್ಲ|ಮಾಹಿತಿ ... ಇಲ್ಲ|ನೆನಪಿಲ್ಲ"
    "|ಉಲ್ಲೇಖಿಸಿಲ್ಲ|ಖಚಿತವಿಲ್ಲ|ಹೇಳಿಲ್ಲ|അറിയില്ല|അറിഞ്ഞുകൂടാ|വിവരം ഇല്ല|വിവരമില്ല|വിവരങ്ങൾ ... ഇല്ല"
    "|ഓർമ്മയില്ല|ഓർക്കുന്നില്ല|പരാമർശിച്ചിട്ടില്ല|ഉറപ്പില്ല|പറഞ്ഞിട്ടില്ല|දන්නේ නැත*|දන්නේ නැහැ"
    "|දන්නෙ නෑ|දන්නෑ|තොරතුරු නැත|තොරතුරු ... නැත*|මතක නැත*|සඳහන් ... නැත*|විශ්වාස නැත*|නොදනිමි"
    # Korean, Vietnamese, Malay, Tagalog, Swahili, Amharic, Zulu
    "|모르*|모릅*|모름|몰라*|알 수 없*|알 수가 없*|알지 못*|정보* ... 없*|언급* ... 없*"
    "|언급되지 않*|언급하지 않*|말씀하지 않*|말한 적* 없*|말씀하신 적* 없*|기억나지 않*"
    "|기억이 나지 않*|기억이 안 *|기억하지 못*|확신할 수 없*|확실하지 않*|확인할 수 없*"
    "|찾을 수 없*|나와 있지 않*|답할 수 없*|답변할 수 없*|기록* 없*|không biết|không rõ"
    "|không có ... thông tin|chưa có thông tin|không được đề cập|không đề cập|không được nhắc"
    "|không nhắc|không nhớ|không chắc|không nói rõ|chưa ... nói|không thể trả lời|không tìm thấy"
    "|chẳng biết|không được nêu|chưa rõ|không thấy|tidak tahu|tak tahu|tidak mengetahui"
    "|tidak diketahui|tidak ada ... informasi|tidak ada ... maklumat"
    "|tidak memiliki ... informasi|tidak punya ... informasi|tidak mempunyai ... informasi"
    "|tidak disebut*|tidak ... menyebut*|tidak ingat|tidak yakin|tidak pasti|kurang tahu"
    "|tidak dapat ... menjawab|tidak bisa ... menjawab|tidak menemukan|belum ... disebut*"
    "|entahlah|tidak ada data|hindi ko alam|di ko alam|hindi namin alam|hindi alam"
    "|walang ... impormasyon|wala akong ... impormasyon|hindi ... nabanggit|hindi ... binanggit"
    "|hindi binanggit|hindi ko matandaan|hindi ko maalala|hindi ako sigurado|ewan ko"
    "|walang nabanggit|sijui|hatujui|sifahamu|haijulikani|hakuna ... taarifa|hakuna ... habari"
    "|sina ... taarifa|sina ... habari|haijatajwa|haikutajwa|sikumbuki|sina uhakika"
    "|hamna taarifa|አላውቅም|አናውቅም|አይታወቅም|መረጃ የለም|መረጃ ... የለም|መረጃ የለኝም|አልተጠቀሰም|አላስታውስም|እርግጠኛ አይደለሁም"
    "|angazi|asazi|akwaziwa|alukho ulwazi|ayikho imininingwane|angikhumbuli|angiqinisekile"
    "|akushiwongo"
    # Chinese, Japanese, Thai, Lao, Khmer, Burmese
    "|不知道|我不清楚|不太清楚|不清楚|不确定|不確定|无法确定|無法確定|不记得|不記得|没有提到"
    "|沒有提到|没有提及|沒有提及|未提及|未提到|没提到|没提过|没有提过|没有说|没说|没有相关"
    "|沒有相關|没有任何信息|没有信息|沒有資訊|没有关于|無相關|无相关|没有记录|沒有記錄|无法回答"
    "|無法回答|无法得知|无法从|無法從|無法得知|无从得知|不得而知|未知|找不到|没有告诉|沒有告訴"
    "|没告诉|不详|不詳|不晓得|わかりません|わからない|分かりません|分からない|判りません"
    "|知りません|知らない|存じません|不明です|不明である|情報はありません|情報がありません"
    "|情報はない|情報がない|情報はございません|記載がありません|記載はありません"
    "|記載されていません|言及されていません|言及はありません|言及がありません|述べられていません"
    "|覚えていません|覚えていない|思い出せ|確かではありません|確信が持てません|確認できません"
    "|お答えできません|答えられません|聞いていません|見つかりません|見当たりません"
    "|触れられていません|記録がありません|記録はありません|定かではありません|ไม่ทราบ|ไม่รู้|ไม่มีข้อมูล"
    "|ไม่ได้กล่าวถึง|ไม่ได้ระบุ|ไม่ได้บอก|ไม่ได้พูดถึง|ไม่แน่ใจ|จำไม่ได้|ไม่พบข้อมูล"
    "|ไม่สามารถตอบ|ไม่มีการกล่าวถึง|ไม่มีการระบุ|ไม่ปรากฏ|ตอบไม่ได้|ບໍ່ຮູ້|ບໍ່ຊາບ|ບໍ່ມີຂໍ້ມູນ"
    "|ບໍ່ໄດ້ກ່າວ|ບໍ່ໄດ້ບອກ|ບໍ່ແນ່ໃຈ|ຈື່ບໍ່ໄດ້|មិនដឹង|មិនមានព័ត៌មាន|គ្មានព័ត៌មាន|មិនបានបញ្ជាក់"
    "|មិនបាននិយាយ|មិនចាំ|មិនប្រាកដ|ពុំដឹង|မသိ|အချက်အလက် မရှိ|အချက်အလက်မရှိ|သတင်းအချက်အလက် မရှိ"
    "|မဖော်ပြ|မပြောထား|မမှတ်မိ|မသေချာ"
    "|nicht ... enthalten/vorliegt/besprochen/beantwortbar/ersichtlich/überliefert"
    # The same, said by other verbs: German, Dutch
    "|kein* rede|nirgends ... erwähnt/gesagt|keinerlei ... angaben/informationen"
    "|niet ... weten/besproken/opgenomen/bekend/duidelijk|staat niet ... gesprek|kein* gespeichert*"
    "|geen antwoord"
    "|ne/pas ... figure/apparaît/dit/mentionne/précise/indique/contient/trouve/connais/sache"
    "|pas ... parlé/question de/réponse|on ne sait"
    # The same, said by other verbs: Romance
    "|ne ... mentionne/précise/figure/dit/contient ... pas|rien à ce sujet|no dispongo"
    "|no se habl*|no ... conozco/aparece/figura/contien*/dispon*/proporcion*/comenta*"
    "|en ningún momento|não ... diz*/contém/conheço/disponho|não se fala*"
    "|não consigo responder/dizer/encontrar"
    "|non ... saprei/risulta/dice/parlato/conosco/contiene/emerge/dispongo|non se ne parla"
    "|nu ... menționează/spune/conține/rezultă/dispun|nu se vorbește"
    "|nie ... mowy/mówion*/wspom*/zawiera/wynika/dysponuję"
    # The same, said by other verbs: Slavic
    "|trudno powiedzieć|nemluvilo|nemluví se|nehovoří se|nehovořilo|neobsah*|nezazn*|nezmiň*"
    "|neuvád*|nevyplý*|nedozv*|nehovorí sa|nehovorilo|nezmien*|neobsahuj*"
    "|ne ... spominje*/navodi|ne zna se|nije ... rečeno/spomenuto/navedeno"
    "|не ... говорится/говорилось/говорили/скажу/обсужд*/содержит*"
    "|не ... известно/прозвуч*/располагаю/значит*"
    "|ничего ... сказан*/известно/говорится/говорилось"
    "|не ... йдеться/говориться/говорилося/говорили/обговор*/містить*/відомо/прозвуч*"
    "|нічого ... сказано/відомо|не се говори/казва|не ... съдърж*|нищо ... казано/известно"
    # The same, said by other verbs: Greek, Baltic, Uralic
    "|δεν ... γνωρίζ*/ξέρ*/μνημον*/λέει/λέγεται/προκύπτ*/διαθέτ*/περιέχ*/συζητ*"
    "|τίποτα ... σχετικ*|nieko ... nežin*/nemin*/nesak*"
    "|ei ... puhuta/puhuttu/sanota/sanottu/löydy/selville/muista/kerro/sisällä"
    "|eivät ... kerro/mainitse|ei ... öelda/öeldud/räägi*/selgu/leia/sisalda"
    "|nem ... esik/esett szó|nem ... tartalmaz*/derül*/hangz*/tisztázott/ismerem/tudható"
    "|nem beszéltek róla|nincs ... szó/nyoma/említés/adatom/információm|semmit ... tudok"
    "|siger/sier intet/ingenting|ikke ... omtal*/fortalt/vide/vite/besvare/angivet/angitt"
    "|siger/sier ikke|inte ... omnämn*/veta/besvara/diskutera*|säger inte|säger inget/ingenting"
    "|söz edil*|ifade edilm*|zikredilm*"
    # The same, said by other verbs: Turkish, Semitic, Persian
    "|konuşulmadı|konuşulmam*|geçmiyor|yer almıyor|belli değil|bilgi verilm*"
    "|لم ... ذكر*/الإشارة/يتطرق/يشر|لم تتم الإشارة"
    "|لا ... يذكر/تذكر/يرد/يظهر/يتوفر/أجد/تتضمن/يتضمن"
    "|לא ... מופיע/דובר/צוין/ברור/הזכיר/הזכירו/נמסר|המידע לא *|اطلاعی ... نیست/ندارم"
    "|نمی ... دانم|گفته نشد|صحبت* نشد*|روشن نیست|नहीं कहा गया"
    # The same, said by other verbs: Indic
    "|कुछ नहीं कहा|উল্লেখ ... নেই/নাই|কিছু ... বলা হয়নি|கூறப்படவில்லை|தகவல் ... கிடைக்கவில்லை"
    "|చెప్పబడలేదు"
    # The same, said by other verbs: Korean, Vietnamese, Malay
    "|내용* ... 없*|말씀* 없*|나오지 않*|알려* 않*|알려* 없*|밝혀* 않*"
    "|không ... biết/rõ/nhắc/nêu/đề/nhớ/chắc|không nói đến/gì/về"
    "|tidak ... menyebutkan*/dibahas/dijelaskan/tertera/terdapat/tercantum"
    "|tidak ... dibicarakan/mengatakan/jelas/tahu"
    "|belum ... diketahui"
    # The same, said by other verbs: Chinese, Japanese, Thai
    "|没有说明|沒有說明|没有记载|没有写|没有谈到|没谈到|并未提|没有透露|沒有透露|没有具体"
    "|无法判断|無法判斷|说不准|说不好|不好说|无可奉告|判断できません|判明していません"
    "|書かれていません|話していません|話題に出ていません|特定できません|伺っていません"
    "|知らされていません|ไม่มีการพูดถึง|ไม่ได้ถูกกล่าว|ไม่ได้ให้ข้อมูล|ไม่มีระบุ|ไม่มีการบอก|ไม่มีใครบอก"
    # Nobody told it
    "|souviens plus|no tengo constancia|no ... contado/dijiste/comentado"
    "|não ... conhecimento/contou"
    "|inte ... berättat/berättade|nie mówiłeś/mówiłaś/mówił/mówili mi|не казали|не ... повідомили"
    "|לא סיפר*|没有这方面|没有这个信息|沒有這方面|말씀해 주신 적* 없*|들은 적* 없*|알려 주* 않*"
    "|belum/tidak memberi tahu|belum ... cerita*|et/ei ... kertonut|δεν ... είπες/είπατε/ανέφερες"
    "|বলেননি|نگفت*"
)
"""Phrases that say that one does not know, or was not told."""

VOID: Final = (
    "unbekannt|keine angabe|keine angaben|onbekend|okänt|okänd|ukjent|ukendt|óþekkt|inconnu"
    "|inconnue|non précisé|desconocido|desconocida"
    "|sin datos|desconhecido|desconhecida|sconosciuto|ignoto|necunoscut|nieznane|nieznany|neznámé"
    "|neznámo|nepoznato|neznano|неизвестно|невідомо|неизвестен"
    "|nežinoma|nezināms|teadmata|tuntematon|ei tiedossa|ismeretlen|άγνωστο|e panjohur|ezezaguna"
    "|უცნობია|անհայտ|bilinmiyor|belirsiz|naməlum|belgisiz|белгісіз"
    "|مجهول|غير معروف|نامشخص|نامعلوم|לא ידוע|अज्ञात|अज्ञात है|অজানা|অজ্ঞাত|અજ્ઞાત|ਅਣਜਾਣ|தெரியாது"
    "|తెలియదు|ಅಜ್ಞಾತ|അജ്ഞാതം|නොදනී|알 수 없음|불명|không rõ|tidak diketahui"
    "|hindi alam|haijulikani|不明|未知|不详|不詳|ไม่ทราบ|nie wiadomo|brak informacji|brak"
)
"""Whole answers that say so in a word."""

GUESSING: Final = (
    "ich glaube|glaube ich|ich denke|denke ich|ich vermute|vermutlich|wahrscheinlich|vielleicht"
    "|ik denk|denk ik|ik geloof|misschien|waarschijnlijk|jag tror|tror jag|kanske"
    "|förmodligen|troligen|jeg tror|tror jeg|måske|kanskje|sannsynligvis|formentlig|je crois"
    "|je pense|peut être|probablement|sans doute|creo que|pienso que|quizá*|tal vez"
    "|probablemente|supongo|acho que|penso que|creio que|talvez|provavelmente|credo che|credo sia"
    "|penso che|forse|probabilmente|cred că|poate|probabil"
    "|myślę|sądzę|chyba|prawdopodobnie|myslím|možná|pravděpodobně|mislim|možda|verjetno|думаю"
    "|кажется|наверное|возможно|вероятно|скорее всего|мабуть|можливо|ймовірно"
    "|мисля|може би|мислам|manau|galbūt|turbūt|domāju|varbūt|arvan|võib olla|ilmselt|tõenäoliselt"
    "|luulen|ehkä|luultavasti|azt hiszem|talán|valószínűleg|gondolom"
    "|νομίζω|ίσως|μάλλον|πιθανώς|besoj|ndoshta|uste dut|beharbada|agian|ვფიქრობ|ალბათ|կարծում եմ"
    "|երևի|հավանաբար|sanırım|galiba|belki|muhtemelen|bence|güman|yəqin|ehtimol|мүмкін|магадгүй"
    "|أظن|اظن|أعتقد|اعتقد|ربما|لعل|فکر می*|شاید|احتمالا|אני חושב*|אולי|כנראה|נראה לי|शायद|लगता है"
    "|संभवतः|कदाचित|बहुतेक|হয়তো|মনে হয়|সম্ভবত|કદાચ|ਸ਼ਾਇਦ|ஒருவேளை|நினைக்கிறேன்|బహుశా"
    "|అనుకుంటున్నాను|ಬಹುಶಃ|ഒരുപക്ഷേ|සමහරවිට"
    "|아마|아마도|것 같*|생각*|có lẽ|có thể là|tôi nghĩ|chắc là|mungkin|barangkali|saya kira"
    "|saya rasa"
    "|siguro|marahil|labda|nadhani|pengine|ምናልባት"
    "|可能|也许|也許|大概|我想|我觉得|我覺得|应该是|應該是|多分|たぶん|おそらく|恐らく|思います"
    "|思う|でしょう|かもしれ|น่าจะ|คงจะ|คิดว่า|อาจจะ|อาจ"
    "|ອາດຈະ|ប្រហែល|ထင်"
)
"""Phrases of a guess, which is an answer."""
