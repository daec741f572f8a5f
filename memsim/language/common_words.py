"""Common words of seven languages beside English, folded: no message is recognised by them."""

# ruff: noqa: RUF001 - letters of other scripts stand where they are meant

from __future__ import annotations

from typing import Final

_GERMAN: Final = """
    aber alle allem allen aller alles also andere anderen auch auf aus bei beim bereits bitte bis
    dabei dafur damit danach danke dann daran darauf daruber das dass davon dazu dein deine dem
    den denn der deren des dich die dies diese diesem diesen dieser dieses dir doch dort durch
    eben ein eine einem einen einer eines einfach einige etwas euch euer fur ganz gar gegen gehen
    geht genau gerade gern gerne gesagt gibt gleich gut haben habe hast hat hatte hatten heute
    hier hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer immer ins ist jede jeden jeder jedes
    jetzt kann kannst kein keine keinen konnen konnte konnten lassen machen macht man mehr mein
    meine meinem meinen meiner mich mir mit mochte mochten morgen muss mussen musste nach nachste
    naturlich neben nein nicht nichts noch nun nur oben oder ohne sagen sagte schon sehr sein
    seine seinem seinen seiner seit sich sie sind sollte sollten sondern sonst uber uhr und uns
    unser unsere unten unter viel viele vielleicht vom von vor wann war waren warum was weil
    weiter welche welcher wenn wer werde werden wie wieder will wir wird wirklich wissen wurde
    wurden zeit zum zur zwar zwischen
"""
_FRENCH: Final = """
    afin aide alors apres assez aucun aussi autre autres avant avec avez avoir avons beaucoup bien
    bonjour cela celle celui cependant ces cet cette ceux chaque chez chose comme comment dans
    depuis dernier des deux devant devez doit donc dont elle elles encore entre est etait etaient
    ete etes etre eux faire fait faut hier ici ils jamais jour jours jusqu juste laquelle leur
    leurs lors lui maintenant mais meme mes merci moi moins mon notre nous nouveau nouvelle parce
    par pas pendant personne peut peux plus plusieurs pour pourquoi pouvez pouvoir premier pres
    puis quand quel quelle quelles quelque quelques quels qui quoi rien sais sans sera seront ses
    seulement soit son sont sous suis sur surtout tes toi ton toujours tous tout toute toutes tres
    trop une vers veux voici voila vos votre voudrais vous
"""
_SPANISH: Final = """
    ademas ahora algo alguien algun alguna algunas algunos alla alli ante antes aqui asi aun
    aunque bien buenas bueno buenos cada casi como con contra cosa cosas cual cuales cualquier
    cuando cuanto debe debo del dentro desde despues dia dias donde dos durante ella ellas ellos
    entonces entre era eran eres esa esas ese eso esos esta estaba estado estamos estan estar
    estas este esto estos estoy favor fue fueron gracias gran hace hacer hacia han hasta hay hola
    hoy incluso las les los luego mas mejor menos mientras misma mismo mucha muchas mucho muchos
    muy nada nadie necesito nos nosotros nuestra nuestro nueva nuevo nunca otra otras otro otros
    para parte pero poco podemos poder por porque primero puede pueden puedes puedo pues que quien
    quiero quieres sea segun ser sera siempre sido siempre sin sobre solo somos son soy sus tal
    tambien tampoco tan tanto tener tengo tiene tienen tienes toda todas todavia todo todos tras
    una unas uno unos usted ustedes vamos vez veces voy
"""
_ITALIAN: Final = """
    abbiamo adesso agli alcune alcuni alla alle allora altra altre altri altro anche ancora anni
    avere aveva bene buongiorno certo che chi ciao come con cosa cose cosi cui dal dalla dalle
    degli del della delle dello dentro deve devo di dobbiamo dopo dove due era erano essere fare
    fatto fino fosse fra gia gli grazie hai hanno ieri invece lei loro lui mai meglio meno mentre
    mia mie miei mio molta molte molti molto negli nel nella nelle nessun nessuno niente noi non
    nostra nostro nulla nuova nuovo ogni oggi oppure ora per perche pero piu poco poi possiamo
    posso prima proprio pure qua quale quali qualche qualcosa quando quanto quella quelle quelli
    quello questa queste questi questo qui quindi sara sei sempre senza siamo siete solo sono
    sopra sotto stata stati stato stessa stesso sua sue sugli sul sulla suo suoi tanto tra troppo
    tua tue tuo tutta tutte tutti tutto una uno vero verso voglio voi volta vorrei vostra vostro
"""
_PORTUGUESE: Final = """
    agora ainda alem algo alguem algum alguma algumas alguns ali ante antes aos aquela aquele
    aquilo aqui assim ate atraves bem boa bom cada coisa coisas com como contra cada dela dele
    deles dentro depois desde dessa desse desta deste deve devo dia dias disso dizer dois durante
    ela elas ele eles entao entre era eram essa essas esse esses esta estao estar estas estava
    este estes estou eu favor faz fazer foi for foram fui hoje isso isto ja lhe lhes logo maior
    mais mas melhor menos mesma mesmo meu meus minha minhas muita muitas muito muitos nada nao nas
    nem nenhum nenhuma ninguem nos nossa nosso nova novo nunca obrigada obrigado ola onde ontem
    outra outras outro outros para parte pela pelo perante pode podem poderia pois por porem
    porque posso pouco preciso primeiro qual quais qualquer quando quanto quase que quem quer
    quero sao seja sem sempre sendo ser sera seu seus sido sim sobre somos sou sua suas tambem
    tanto tao tem tempo tenho ter teve teu tinha toda todas todo todos tua tudo uma umas uns vai
    vamos vez vezes voce voces vou
"""
_DUTCH: Final = """
    aan alle alleen alles als altijd andere anders beetje begin bent bij binnen boven buiten daar
    daarna dan dat deze dezelfde die dit doen doet door dus echt een eens eerst eerste eigen
    eigenlijk elke enkele erg even gaan gaat geen geld geweest gewoon goed goede graag had hadden
    hallo hebben hebt heeft heel hele hen het hier hij hoe hoeveel hun iedereen iemand iets ik
    ieder jaar jou jouw jullie kan keer komt kon kunnen kunt laat laatste later maar maken maakt
    meer meest meestal men met mij mijn misschien moest moet moeten mogen morgen naar nadat net
    niemand niet niets nieuw nieuwe nodig nog nooit omdat onder ons onze ook ooit over sinds
    sommige staat steeds tegen terug tijd toch toen tot tussen twee uit uur vaak van vanaf vandaag
    veel verder via vind volgende voor voordat waar waarom wanneer want waren was wat weer weet
    wel welke werd werden weten wie wij wil willen worden wordt zal zeer zegt zelf zelfs zich zien
    zijn zonder zou zouden zoals zodat
"""
_RUSSIAN: Final = """
    без более больше будет будут будто был была были было быть вам вами вас ваш ваша ваше ведь
    весь вместе вот все всегда всего всем всех всю вчера где говорил говорила даже для днеи день
    дня его ему если есть еще здесь знаю или именно иногда как какая какие какои какую когда
    конечно которая которое которые которыи котороя кто куда либо лучше между меня мне много могу
    может можно можете мои моя мое мои мы над надо наконец нам нас наш наша наше него нее неи
    некоторые нельзя нет нибудь никогда них ничего нужно один одна одно около она они оно опять
    очень перед под пожалуиста пока после потом потому почему почти при про просто раз разве сам
    сама сами своеи свои свою своя себе себя сегодня сеичас сказал сказала снова совсем спасибо
    такая также такие такое такои там тебе тебя тем теперь тогда того тоже только тому тот тут уже
    хорошо хотел хочу хотя чего чем через что чтобы чуть эта эти этим этих это этого этои этом
    этот эту
"""
COMMON_WORDS: Final = frozenset(
    f"{_GERMAN} {_FRENCH} {_SPANISH} {_ITALIAN} {_PORTUGUESE} {_DUTCH} {_RUSSIAN}".split()
)
"""Words that conversations in these languages are full of, whatever they are about."""
