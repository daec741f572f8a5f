"""Closed word lists of the offline model; open word classes are never listed."""

from __future__ import annotations

from typing import Final


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP: Final = _listed(
    """
    a about above after again against ah all also although am an and any anyway are aren't
    as at be because been before being below between both but by can can't cannot could
    couldn't did didn't do does doesn't doing don't down during each either else even ever
    every for from further had hadn't has hasn't have haven't having he he'd he'll he's
    hello her here here's hers herself hey hi him himself his how how's however i i'd i'll
    i'm i've if in into is isn't it it'd it'll it's its itself just let let's may maybe me
    might more most much must my myself neither no nor not of off oh ok okay on once only
    onto or other ought our ours ourselves out over own per please quite rather really s
    same shall she she'd she'll she's should shouldn't since so some still such t than thank
    thanks that that's the their theirs them themselves then there there's these they they'd
    they'll they're they've this those though through thus till to too toward towards under
    until up upon us very via was wasn't we we'd we'll we're we've well were weren't what
    what's when when's where where's whether which while who who's whom whose why why's will
    with within without won't would wouldn't yeah yep yes yet you you'd you'll you're you've
    your yours yourself yourselves
    """
)
"""Words without content."""

LIGHT: Final = _listed(
    """
    again ago already always back bring call come current currently day end exactly feel
    find get give go going got happen keep kind know last lately latest like long look lot
    make mean mention moment most name new now number old one people person plan put recent
    recently remember said say see set show sort start take talk tell thing think time today
    try type use used want way week work year
    """
)
"""Frequent words of questions: they help to rank, but hardly to recognise."""

ASKING: Final = _listed(
    """
    am are can could did do does had has have is may might shall should was were will would
    """
)
"""Verbs that open a yes-or-no question."""

WH: Final = _listed("how what when where which who whom whose why")
"""Words that open other questions."""

FIRST_PERSON: Final = _listed(
    """
    i i'd i'll i'm i've me mine my myself our ours us we we'd we'll we're we've
    """
)

SECOND_PERSON: Final = _listed("you you'd you'll you're you've your yours yourself")

THIRD_PERSON: Final = _listed(
    """
    he he'd he'll he's her hers him his she she'd she'll she's their theirs them they they'd
    they'll they're they've
    """
)

NEGATIVE: Final = _listed(
    """
    aren't can't cannot couldn't didn't doesn't don't hadn't hasn't haven't isn't longer
    neither never no nobody none nor not nothing shouldn't wasn't weren't won't wouldn't
    """
)

REACTION: Final = _listed(
    """
    absolutely agree agreed amazing appreciate awesome beautiful best bet bye cheers
    congrats congratulations cool definitely exciting fantastic fine fun glad good gotcha
    great haha happy hey incredible inspiring interesting kidding lol love lovely luck nice
    perfect proud sorry sound sounds super sure thank totally understand welcome wonderful
    wow yay yep yup
    """
)
"""Words of replies without content."""

DECIDING: Final = _listed(
    """
    address agree allergic always approve avoid blocked budget cancel cause changed chose
    confirm constraint deadline decide decision due error fail favourite fix forbidden id
    important instead limit lives maximum minimum moved must never number only password plan
    postponed prefer price require root rule switched team update works
    """
)
"""Words of decisions, constraints, preferences and changes."""

CORRECTING: Final = _listed(
    """
    actually anymore but change changed correction except formerly instead longer moved no
    not originally previously rather switched unless used was were
    """
)
"""Words of a contrast: such a sentence is quoted whole or not at all."""

CONTINUING: Final = _listed(
    """
    also and because but he he's her here his it it's its she she's so that that's their
    then there these they they're this those where which who
    """
)
"""Words that continue the sentence before."""

UPDATING: Final = _listed(
    """
    actually anymore became change changed correction instead longer moved new now postponed
    renamed replaced rescheduled since switched update updated
    """
)
"""Words that announce a change."""

RESCHEDULING: Final = _listed(
    """
    brought changed delayed extended moved postponed pushed rescheduled shifted switched
    """
)

COLOURS: Final = _listed(
    """
    amber aqua azure beige black blue bronze brown burgundy charcoal copper coral cream
    crimson cyan emerald gold golden gray green grey indigo ivory khaki lavender lilac lime
    magenta maroon mauve mint navy ochre olive orange peach pink plum purple red rose ruby
    salmon scarlet silver tan teal turquoise vermilion violet white yellow
    """
)

KIN: Final = _listed(
    """
    aunt boss boyfriend brother child children colleague cousin coworker dad daughter doctor
    father friend friends girlfriend grandfather grandma grandmother grandpa husband kids
    landlord manager mentor mentors mom mother mum neighbor neighbour nephew niece parents
    partner sister son spouse teacher team uncle wife
    """
)
"""Words for relatives and other relations."""

PETS: Final = _listed("cat dog horse kitten parrot pet pony puppy rabbit hamster tortoise")

LANGUAGES: Final = _listed(
    """
    american arabic british bulgarian chinese croatian czech danish dutch english estonian
    finnish french german greek hebrew hindi hungarian icelandic indian irish italian japanese
    korean latin latvian lithuanian mexican norwegian persian polish portuguese romanian russian
    scottish serbian slovak slovenian spanish swedish swiss thai turkish ukrainian vietnamese
    welsh
    """
)
"""Languages, and words for where something is from."""

ABBREVIATIONS: Final = _listed(
    """
    al approx cf dept dr e.g etc fig i.e inc jr ltd mr mrs ms no prof sr st vol vs
    """
)
"""Words whose full stop does not end a sentence."""

LABELS: Final = _listed(
    """
    address answer budget change constraint date deadline decision fact goal identity
    important kind name note notes number order phone plan preference price priority
    question reminder requirement result rule status subject summary task team time title
    todo topic total type update user_id version warning
    """
)
"""Words before a colon that are labels and no speakers."""

PRONOUNS: Final = _listed(
    """
    all everything he here i it one she that there these they this those we what who you
    """
)

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
SEASONS: Final = ("spring", "summer", "autumn", "fall", "winter")

SYNONYMS: Final = (
    "live move reside relocate settle",
    "job work occupation profession employ career position",
    "buy purchase get acquire order",
    "favourite prefer love enjoy like fond",
    "car vehicle drive",
    "kid child children",
    "son child kid",
    "daughter child kid",
    "movie film",
    "begin start",
    "finish complete end",
    "deadline due",
    "cost price pay charge",
    "birthday born birth",
    "wife spouse partner",
    "husband spouse partner",
    "grandma grandmother",
    "grandpa grandfather",
    "trip travel visit journey vacation holiday",
    "doctor physician",
    "allergic allergy",
    "decide choose pick settle decision choice",
    "marry wedding",
    "meet meeting appointment",
    "study degree major university college",
    "hobby pastime activity",
    "phone mobile telephone",
    "mail email",
    "bug error fault failure",
    "fix repair solve resolve",
    "store shop",
    "sick ill",
    "receive get",
    "attend go participate join",
    "make create build",
    "inspire motivate",
    "plan intend going",
    "recommend suggest",
    "country nation",
    "gift present",
    "adopt adoption",
    "sell sale",
    "die death",
    "argue argument",
    "see watch",
    "must require requirement",
    "limit maximum cap",
    "ship deliver delivery send",
    "refund reimburse",
    "cat kitten",
    "dog puppy",
    "excite thrill eager",
    "music song",
    "pet > dog cat puppy kitten rabbit parrot hamster tortoise",
    "parent > mother father",
    "sibling > brother sister",
    "relative > mother father brother sister uncle aunt cousin grandmother grandfather",
    "drink > tea coffee juice water wine beer",
    "fruit > apple banana berry cherry grape lemon mango orange peach pear plum strawberry",
    "meat > beef chicken ham lamb pork turkey",
    "instrument > bass bassoon cello clarinet drum flute guitar harp oboe piano trumpet violin",
    f"language > {' '.join(sorted(LANGUAGES))}",
    "sport > basketball cricket football golf hockey rugby running swimming tennis",
)
"""Groups of words that can replace each other at a discount; before `>`, the word for all."""

EARLIER: Final = _listed("earlier first formerly initially original originally previous previously")
"""Words that ask for an earlier state."""

IRREGULAR: Final = dict(
    pair.split("=")
    for pair in _listed(
        """
        ate=eat awoke=wake became=become began=begin begun=begin bent=bend bit=bite
        bitten=bite biz=business blew=blow blown=blow bought=buy bound=bind broke=break
        broken=break brought=bring built=build burnt=burn came=come caught=catch
        children=child chose=choose chosen=choose color=colour colors=colour dad=father
        drank=drink drawn=draw dreamt=dream drew=draw driven=drive drove=drive drunk=drink
        dug=dig eaten=eat fallen=fall fam=family fave=favourite faves=favourite
        favorite=favourite favorites=favourite fed=feed feet=foot fell=fall felt=feel
        flew=fly flown=fly forgot=forget forgotten=forget fought=fight found=find
        froze=freeze frozen=freeze gave=give given=give gone=go got=get gotten=get grew=grow
        grown=grow heard=hear held=hold hid=hide hidden=hide hung=hang image=picture
        info=information kept=keep knew=know known=know laid=lay leaves=leave led=lead
        left=leave lent=lend lives=live lost=lose made=make meant=mean men=man met=meet
        mice=mouse mom=mother mum=mother paid=pay photo=picture photograph=picture
        photography=picture photos=picture pic=picture pics=picture ran=run rang=ring
        ridden=ride risen=rise rode=ride rose=rise said=say sang=sing sank=sink sat=sit
        saw=see seen=see sent=send shook=shake shot=shoot shown=show slept=sleep slid=slide
        sold=sell sought=seek spent=spend spoke=speak spoken=speak spun=spin stole=steal
        stolen=steal stood=stand stuck=stick sung=sing swam=swim swore=swear swum=swim
        taken=take taught=teach teeth=tooth thought=think threw=throw thrown=throw told=tell
        took=take tore=tear torn=tear understood=understand went=go woke=wake women=woman
        won=win wore=wear worn=wear written=write wrote=write
        """
    )
)
"""Irregular forms, and different spellings of one word."""
