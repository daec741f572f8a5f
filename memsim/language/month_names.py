"""Months of many languages, as the beginnings that all of their forms share."""

# ruff: noqa: RUF001 - letters of other scripts stand where they are meant

from __future__ import annotations

from typing import Final

MONTH_NAMES: Final = (
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "ianuari februari marti april mai iuni iuli august septembri octombri noiembri decembri",
    "stycz lut marc kwiet maj czerw lip sierp wrześ październik listopad grud",
    "stycz luty marzec kwiec maja czerw lipiec sierp wrzes październik listopad grudzień",
    "led únor březn dubn květn červn července srpn září říjn listopad prosin",
    "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec",
    "január február marec apríl máj jún júl august september október november december",
    "siječnj veljač ožuj travnj svibnj lipnj srpnj kolovoz rujn - studen prosin",
    "január február március április május június július augusztus szeptember október - -",
    "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu - - joulukuu",
    "- - - - - - - - - lokakuu marraskuu -",
    "jaanuar veebruar märts aprill mai juuni juuli august september oktoober november detsember",
    "janvār februār mart aprī maij jūnij jūlij august septembr oktobr novembr decembr",
    "saus vasar kov baland geguž biržel liep rugpjū rugsėj spal lapkri gruod",
    "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "januari februari maret april mei juni juli agustus september oktober november desember",
    "januari februari machi aprili mei juni julai agosti septemba oktoba novemba desemba",
    "январ феврал март апрел мая июн июл август сентябр октябр ноябр декабр",
    "январ феврал март апрел май июн июл август сентябр октябр ноябр декабр",
    "січ лют берез квіт трав черв лип серп верес жовт листопад груд",
    "януари февруари март април май юни юли август септември октомври ноември декември",
    "јануар фебруар март април мај јун јул август септембар октобар новембар децембар",
    "қаңтар ақпан наурыз сәуір мамыр маусым шілде тамыз қыркүйек қазан қараша желтоқсан",
    "ιανουαρι φεβρουαρι μαρτι απριλι μαϊ ιουνι ιουλι αυγουστ σεπτεμβρι οκτωβρι νοεμβρι δεκεμβρι",
    "հունվար փետրվար մարտ ապրիլ մայիս հունիս հուլիս օգոստոս սեպտեմբեր հոկտեմբեր նոյեմբեր դեկտեմբեր",
    "იანვარ თებერვალ მარტ აპრილ მაის ივნის ივლის აგვისტო სექტემბერ ოქტომბერ ნოემბერ დეკემბერ",
    "ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר",
    "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
    "جانفي فيفري مارس إبريل ماي جوان جويلية أوت سبتمبر أكتوبر نونبر دجنبر",
    "ژانویه فوریه مارس آوریل مه ژوئن ژوئیه اوت سپتامبر اکتبر نوامبر دسامبر",
    "जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर",
    "जानेवारी फेब्रुवारी मार्च एप्रिल मे जून जुलै ऑगस्ट सप्टेंबर ऑक्टोबर नोव्हेंबर डिसेंबर",
    "জানুয়ারি ফেব্রুয়ারি মার্চ এপ্রিল মে জুন জুলাই আগস্ট সেপ্টেম্বর অক্টোবর নভেম্বর ডিসেম্বর",
    "ஜனவரி பிப்ரவரி மார்ச் ஏப்ரல் மே ஜூன் ஜூலை ஆகஸ்ட் செப்டம்பர் அக்டோபர் நவம்பர் டிசம்பர்",
    "జనవరి ఫిబ్రవరి మార్చి ఏప్రిల్ మే జూన్ జూలై ఆగస్టు సెప్టెంబర్ అక్టోబర్ నవంబర్ డిసెంబర్",
    "ಜನವರಿ ಫೆಬ್ರವರಿ ಮಾರ್ಚ್ ಏಪ್ರಿಲ್ ಮೇ ಜೂನ್ ಜುಲೈ ಆಗಸ್ಟ್ ಸೆಪ್ಟೆಂಬರ್ ಅಕ್ಟೋಬರ್ ನವೆಂಬರ್ ಡಿಸೆಂಬರ್",
    "ജനുവരി ഫെബ്രുവരി മാർച്ച് ഏപ്രിൽ മേയ് ജൂൺ ജൂലൈ ഓഗസ്റ്റ് സെപ്റ്റംബർ ഒക്ടോബർ നവംബർ ഡിസംബർ",
    "มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม",
)
"""A line for each language, or for each way in which it writes them, from January on.

`-` stands where another language says the same for another month.
"""
