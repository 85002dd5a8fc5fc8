"""The words that the built-in assistant knows, in English and Spanish: what it hears and what it says."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


@dataclass(frozen=True)
class Language:
    """One language. Patterns match folded text (no accents, no capitals) save `facts` and `names`, which need them.

    `facts` gives key, verb and value of what a person says of themselves; `names` their name: surely so in the groups
    `full` and `plain`, perhaps so in `maybe` ("I'm Ana", but also "I'm Spanish"). `asks_fact` has one group, the key
    of what a person asks about themselves; `asked` speaks of questions. `says` are the assistant's sentences, `places`
    names for where it looked.
    """

    stemmer: str
    stop: frozenset[str]
    facts: re.Pattern[str]
    names: re.Pattern[str]
    asks_fact: re.Pattern[str]
    asks_name: re.Pattern[str]
    asks: re.Pattern[str]
    lists: Mapping[str, re.Pattern[str]]
    needs_model: re.Pattern[str]
    about_itself: re.Pattern[str]
    greets: re.Pattern[str]
    thanks: re.Pattern[str]
    many: frozenset[str]
    overview: re.Pattern[str]
    asked: re.Pattern[str]
    own: frozenset[str]
    places: Mapping[str, str]
    says: Mapping[str, str]


_NEXT = r"(?:, and|, but|,| and| but) my\b|(?:, y|, pero|,| y| pero) mis?\b"
_VALUE = rf"(?P<value>(?:(?!{_NEXT})(?:[^.;!?\n]|\.(?=\S))){{1,120}})"
_CAPITAL = r"[^\W\d_a-zà-öø-ÿ][\w'’-]*"
_CAPITALS = rf"{_CAPITAL}(?: (?:(?:de|la|del|los|las|van|von|der|da|dos) ){{0,2}}{_CAPITAL}){{0,3}}"
_SURE = rf"(?:(?P<full>{_CAPITALS})|(?P<plain>[^\W\d_][\w'’-]*)(?=\s*(?:$|[,.;!)]| and | but | y | pero )))"
_MAYBE = rf"(?P<maybe>{_CAPITALS})"

ENGLISH = Language(
    stemmer="english",
    stop=_words(
        "a about again all also am an and any are as at be because been before but by can could did do does for from"
        " get give had has have he her him his how i if in into is it its just know like list me mention mentioned"
        " my of on one or our out please recall remember remind said say says she should show so some tell than that"
        " the their them then there these they thing this those to told up us was we were what when where which who"
        " whom whose why will with would you your s t m re ve ll d find talk talked anything something everything"
    ),
    facts=re.compile(
        r"\b[Mm]y (?P<key>(?:(?!my\b|and\b|that\b|is\b)[\w'’-]+ ){1,5}?)"
        r"(?P<verb>(?:is|was) (?:called|named)|is|are|was|were) " + _VALUE
    ),
    names=re.compile(rf"\b[Mm]y name(?: is|['’]s) {_SURE}|\b(?:I(?:['’]m| am)(?: called)?|[Cc]all me) {_MAYBE}"),
    asks_fact=_any(
        r"^(?:and |so )?(?:what|who|when|where|which|how)(?:'s| is| are| was| were) my ([\w' -]{1,40}?)"
        r"(?: called| named)?\W*$",
        r"\bname of my ([\w' -]{1,40})\W*$",
        r"(?:know|remember|tell me|remind me|what) (?:what )?my ([\w' -]{1,40}?)(?: is| are| was)?\W*$",
    ),
    asks_name=_any(r"\bmy name\b(?! (?:is|was) \w)", r"\bwho am i\b", r"\bwhat am i called\b"),
    asks=_any(
        r"^(?:and |so |but |ok |please )*(?:what|who|whom|whose|when|where|which|why|how|is|are|was|were|do|does"
        r"|did|can|could|will|would|should|has|have|had)\b",
        r"^(?:please )?(?:tell|show|list|find|search|look|give|remind|recall|summari[sz]e|name)\b",
    ),
    lists=MappingProxyType({
        "decision": _any(r"\bdecisions?\b", r"\bdecided?\b"),
        "question": _any(r"\b(?:open|pending|unanswered) questions?\b", r"\bstill open\b"),
        "risk": _any(r"\brisks?\b"),
        "link": _any(r"\blinks\b"),
    }),
    needs_model=_any(
        r"^(?:can you |could you |please )*(?:write|draft|compose|translate|explain|calculate|compute|generate|create"
        r"|rewrite|improve|code|program|invent|imagine|brainstorm|suggest)\b"
    ),
    about_itself=_any(
        r"\b(?:are|r) you (?:an? )?(?:\w+ ){0,2}(?:ai|llm|model|bot|chatgpt|gpt|claude|human|robot|person)\b",
        r"\bwho are you\b", r"\bwhat are you\b", r"\bwhat can you do\b", r"\bhow do you work\b", r"^help\W*$",
        r"\b(?:connect|add|use|set up|configure) (?:an? |the |my )?(?:\w+ )?(?:language )?(?:model|llm|openai|anthropic"
        r"|ollama|claude|gpt|api key)\b", r"\blanguage model\b",
    ),
    greets=re.compile(r"^(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| \w+)?\W*$"),
    thanks=re.compile(r"^(?:ok |okay |great |many )?(?:thanks|thank you|thx)(?: \w+){0,3}\W*$"),
    many=frozenset(),
    asked=_any(r"\b(?:ask(?:ed|ing)?|questions?)\b"),
    overview=_any(
        r"\bsummar(?:y|i[sz]e)\b", r"\bwhat (?:have|did) we (?:\w+ )?(?:talk|discuss|say|sa[iy]d|do)\w*(?: about)?\W*$",
        r"\bwhat do you (?:know|remember)(?: about me)?\W*$", r"\brecap\b",
    ),
    own=_words("i me my mine we us our myself"),
    places=MappingProxyType({
        "project": "this project", "conversation": "this conversation", "trial": "this trial",
        "memory": "project memory",
    }),
    says=MappingProxyType({
        "name": "Your name is {value}.",
        "fact": "Your {key} {verb} {value}.",
        "facts": "Your {key} {verb} {value}.",
        "welcome": "You are welcome.",
        "earlier": "Before that, you had said:",
        "found": "This is what I remember:",
        "closest": "I have no direct answer. The closest that I remember:",
        "nothing": "I remember nothing about that: I looked in {scope}.",
        "empty": "I remember nothing yet: there is nothing in {scope}.",
        "no_fact": "You have not told me that, as far as I remember: I looked in {scope}.",
        "noted": "Noted. It stays in this conversation, and you can ask me about it.",
        "noted_name": "Noted, {value}. It stays in this conversation, and you can ask me about it.",
        "related": "On this I also remember:",
        "decision": "The decisions that I remember:",
        "question": "The open questions that I remember:",
        "risk": "The risks that I remember:",
        "link": "The links that I remember:",
        "overview": "This is what has been said:",
        "greeting": "Hello. Tell me something to remember, or ask me about what is in {scope}.",
        "needs_model": "That needs a language model. I can only look up and quote what is in {scope}.",
        "short": "Built-in assistant: I look up and quote, I am not a language model.",
        "full": (
            "I am not a language model but Nexus’s built-in assistant: I look up what was said and quote it, without"
            " any network. To connect a model:\n\n"
            "1. Set its key in the file `.env`, such as `OPENAI_API_KEY` or `ANTHROPIC_API_KEY` (for Ollama"
            " `OLLAMA_API_BASE`), and start Nexus again. A server with an OpenAI-compatible address may need none.\n"
            "2. On the page *Models* make a profile of it; there such a server’s address goes, too, mostly with `/v1`"
            " at its end.\n"
            "3. Make the profile the default there: it then answers in Just Chat and for agents that name no other. An"
            " agent’s own model is chosen on the page *Agents*."
        ),
        "user": "you", "assistant": "assistant", "kind_decision": "decision", "kind_question": "open question",
        "kind_risk": "risk", "kind_summary": "summary", "kind_link": "link",
    }),
)  # fmt: skip

SPANISH = Language(
    stemmer="spanish",
    stop=_words(
        "a al algo alguien algun alguna ante antes aqui asi aun con como cual cuales cuando cuanto cuantos de decir del"
        " desde dice dije dijiste dijo dime donde dos e el ella ellos en entre era eran es esa ese eso esta estan este"
        " esto estos fue fueron ha habia hay han has he la las le les lo los mas me mi mis muy nada ni no nos nosotros"
        " nuestra nuestro o os otra otro para pero por porque pues que quien quienes se sea ser si sido sobre son soy"
        " su sus tal tambien te tengo ti tiene todo tu tus un una uno unos y ya yo recuerda recuerdas recuerdame sabes"
        " muestra muestrame busca lista hablamos dijimos quedamos acerca cosa cosas estoy estaba"
    ),
    facts=re.compile(
        r"\b[Mm]is? (?P<key>(?:(?!mis?\b|y\b|que\b|se\b)[\w-]+ ){1,5}?)"
        r"(?P<verb>es|son|era|eran|está|están|se llaman?) " + _VALUE
    ),
    names=re.compile(rf"\b(?:[Mm]e llamo|[Mm]i nombre es) {_SURE}|\b(?:[Ss]oy|[Ll]l[aá]mame) {_MAYBE}"),
    asks_fact=_any(
        r"^\W*(?:y )?(?:cual(?:es)?|quien(?:es)?|cuando|donde|como|que)"
        r"(?: es| son| era| eran| esta| estan| se llaman?) mis? ([\w -]{1,40})\W*$",
        r"\bnombre de mis? ([\w -]{1,40})\W*$",
        r"(?:sabes|recuerdas|dime|recuerdame)(?: cual(?:es)?)?(?: es| son)? mis? ([\w -]{1,40})\W*$",
    ),
    asks_name=_any(r"\bcomo me llam[oa]", r"\bmi nombre\b(?! (?:es|era) \w)", r"\bquien soy\b"),
    asks=_any(
        r"^\W*(?:y |pero |entonces )*(?:que|quien|quienes|cual|cuales|cuando|donde|como|cuanto|cuantos|cuanta|cuantas"
        r"|por que|a que|de que|en que|con quien)\b",
        r"^\W*(?:por favor,? )?(?:dime|muestra|muestrame|lista|busca|buscame|recuerdame|resume|hazme)\b",
        r"^\W*(?:sabes|recuerdas|tienes|puedes|hay|hemos)\b",
    ),
    lists=MappingProxyType({
        "decision": _any(r"\bdecision(?:es)?\b", r"\bdecidi\w*\b", r"\bacord(?:amos|ado)\b"),
        "question": _any(r"\bpreguntas? (?:abiert|pendient)\w*\b", r"\b(?:dudas|cuestiones) (?:abiert|pendient)\w*\b"),
        "risk": _any(r"\briesgos?\b"),
        "link": _any(r"\benlaces\b"),
    }),
    needs_model=_any(
        r"^\W*(?:puedes |podrias |por favor,? )*(?:escrib|redact|traduc|explic|calcul|gener|cre[ae]|reescrib|mejor[ae]"
        r"|program[ae]|invent|imagin|sugier|propon)\w*"
    ),
    about_itself=_any(
        r"\beres (?:un |una )?(?:\w+ ){0,2}(?:ia|ai|llm|modelo|bot|chatgpt|gpt|claude|humano|humana|robot|persona)\b",
        r"\bquien eres\b", r"\bque eres\b", r"\bque (?:puedes|sabes) hacer\b", r"\bcomo funcionas\b", r"^\W*ayuda\W*$",
        r"\b(?:conect|anad|agreg|us|configur)\w* (?:un |el |mi )?(?:modelo|llm|openai|anthropic|ollama|claude|gpt)\b",
        r"\bmodelo de lenguaje\b",
    ),
    greets=re.compile(r"^\W*(?:hola|buenos dias|buenas(?: tardes| noches)?)(?: \w+)?\W*$"),
    thanks=re.compile(r"^\W*(?:ok |vale |muchas |mil )?gracias(?: \w+){0,3}\W*$"),
    many=_words("son eran están llaman"),
    asked=_any(r"\bpregunt"),
    overview=_any(
        r"\bresum(?:en|e|eme|ir)\b", r"\b(?:de )?que (?:hemos hablado|hablamos|dijimos)\W*$",
        r"\bque (?:sabes|recuerdas)(?: de mi| sobre mi)?\W*$",
    ),
    own=_words("yo me mi mis mio mia nos nosotros nuestro nuestra conmigo"),
    places=MappingProxyType({
        "project": "este proyecto", "conversation": "esta conversación", "trial": "esta prueba",
        "memory": "memoria del proyecto",
    }),
    says=MappingProxyType({
        "name": "Te llamas {value}.",
        "fact": "Tu {key} {verb} {value}.",
        "facts": "Tus {key} {verb} {value}.",
        "welcome": "De nada.",
        "earlier": "Antes habías dicho:",
        "found": "Esto es lo que recuerdo:",
        "closest": "No tengo una respuesta directa. Lo más cercano que recuerdo:",
        "nothing": "No recuerdo nada sobre eso: he buscado en {scope}.",
        "empty": "Todavía no recuerdo nada: no hay nada en {scope}.",
        "no_fact": "No me lo has dicho, que yo recuerde: he buscado en {scope}.",
        "noted": "Anotado. Queda en esta conversación y puedes preguntarme por ello.",
        "noted_name": "Anotado, {value}. Queda en esta conversación y puedes preguntarme por ello.",
        "related": "Sobre esto también recuerdo:",
        "decision": "Las decisiones que recuerdo:",
        "question": "Las preguntas abiertas que recuerdo:",
        "risk": "Los riesgos que recuerdo:",
        "link": "Los enlaces que recuerdo:",
        "overview": "Esto es lo que se ha dicho:",
        "greeting": "Hola. Cuéntame algo para recordar o pregúntame por lo que hay en {scope}.",
        "needs_model": "Para eso hace falta un modelo de lenguaje. Yo solo busco y cito lo que hay en {scope}.",
        "short": "Asistente integrado: busco y cito, no soy un modelo de lenguaje.",
        "full": (
            "No soy un modelo de lenguaje, sino el asistente integrado de Nexus: busco lo que se dijo y lo cito, sin"
            " usar la red. Para conectar un modelo:\n\n"
            "1. Pon su clave en el archivo `.env`, como `OPENAI_API_KEY` o `ANTHROPIC_API_KEY` (para Ollama,"
            " `OLLAMA_API_BASE`), y vuelve a iniciar Nexus. Un servidor con una dirección compatible con OpenAI puede"
            " no necesitarla.\n"
            "2. En la página *Modelos* crea un perfil; ahí va también la dirección de ese servidor, casi siempre con"
            " `/v1` al final.\n"
            "3. Haz que ese perfil sea el predeterminado: entonces responde en Just Chat y para los agentes que no"
            " nombran otro. El modelo propio de un agente se elige en la página *Agentes*."
        ),
        "user": "tú", "assistant": "asistente", "kind_decision": "decisión", "kind_question": "pregunta abierta",
        "kind_risk": "riesgo", "kind_summary": "resumen", "kind_link": "enlace",
    }),
)  # fmt: skip
