"""The catalogues of translations: what the code says, what a language lacks, and taking translations in.

    python -m tests.catalogue                  what Spanish lacks, as JSON
    python -m tests.catalogue --add es FILE    take translations in; what the code no longer says goes

FILE holds what is printed with "es" filled in; "-" is standard input:

    [{"id": "Save", "es": "Guardar"},
     {"id": "{n} run", "plural": "{n} runs", "es": ["{n} ejecución", "{n} ejecuciones"]}]
"""

import argparse
import ast
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from babel.messages import Catalog, Message, extract, pofile

from nexus_core.i18n import LANGUAGES, LOCALE

ROOT = Path(__file__).resolve().parents[1]
PLURALS = {"es": "nplurals=2; plural=(n != 1);"}
"""CLDR counts millions apart (un millón de …): no sentence here needs that."""
SPEAKS = ("_", "later", "ngettext", "pgettext")
HEADER = """\
# What Nexus says; docs/translating.md says how this is kept.
msgid ""
msgstr ""
"Language: {code}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plural}\\n"

"""


def said() -> Catalog:
    """Every message of the code, without translations.

    Python is read by its own parser: before 3.12, Babel's sees no call inside an f-string.
    """
    found = Catalog()
    for path in [ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "nexus_core").rglob("*.py")]:
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in SPEAKS:
                words = [given.value for given in call.args if isinstance(given, ast.Constant)]
                if words:
                    context = words.pop(0) if call.func.id == "pgettext" else None
                    text = tuple(words[:2]) if call.func.id == "ngettext" else words[0]
                    found.add(text, locations=[(str(path.relative_to(ROOT)), call.lineno)], context=context)
    for path in (ROOT / "nexus_core").rglob("*.html"):
        for line, words, _comments, context in extract.extract_from_file("jinja2", path):
            found.add(words, locations=[(str(path.relative_to(ROOT)), line)], context=context)
    return found


def path_of(code: str) -> Path:
    """Where the translations of a language are."""
    return LOCALE / code / "LC_MESSAGES" / "nexus.po"


def read(code: str) -> Catalog:
    """The translations of a language; none yet where there is no file."""
    path = path_of(code)
    if not path.exists():
        return Catalog(locale=code)
    with path.open("rb") as file:
        return pofile.read_po(file, locale=code)


def messages(catalogue: Catalog) -> dict[tuple[str, str], Message]:
    """The messages of a catalogue by context and English singular."""
    return {key_of(message.context, message.id): message for message in catalogue if message.id}


def key_of(context: str | None, words: str | Iterable[str]) -> tuple[str, str]:
    """What tells messages apart."""
    return context or "", words if isinstance(words, str) else next(iter(words))


def lacking(code: str) -> list[dict[str, Any]]:
    """What a language has no translation of, as entries to fill in."""
    known, found = messages(read(code)), []
    for key, message in messages(said()).items():
        mine = known.get(key)
        if mine is None or mine.id != message.id or not all(_texts(mine.string)):
            plural = {} if isinstance(message.id, str) else {"plural": message.id[1]}
            context = {"context": message.context} if message.context else {}
            where = sorted({f"{path}:{line}" for path, line in message.locations})
            empty = ["", ""] if plural else ""
            found.append({"where": ", ".join(where), "id": key[1], **plural, **context, code: empty})
    return found


def add(code: str, entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Write a language anew, with these translations; returns what the code does not say of them."""
    known, now = messages(read(code)), messages(said())
    given = {key_of(entry.get("context"), entry["id"]): entry[code] for entry in entries if all(_texts(entry[code]))}
    made = Catalog(locale=code)
    made.mime_headers = [("Plural-Forms", PLURALS[code])]
    for key, message in sorted(now.items()):
        mine = known.get(key)
        text = given.get(key) or (mine.string if mine is not None and mine.id == message.id else None)
        if text and isinstance(text, str) == isinstance(message.id, str):
            places = sorted({(path, 0) for path, _line in message.locations})
            made.add(message.id, text if isinstance(text, str) else tuple(text), places, context=message.context)
    path = path_of(code)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(HEADER.format(code=code, plural=PLURALS[code]).encode())
        pofile.write_po(file, made, omit_header=True, width=100, include_lineno=False)
    return [words for _context, words in given.keys() - now.keys()]


def _texts(text: str | Iterable[str]) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


def main() -> None:
    """See the module's description."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--add", nargs=2, metavar=("LANGUAGE", "FILE"))
    parser.add_argument("--language", default="es", choices=sorted(set(LANGUAGES) - {"en"}))
    given = parser.parse_args()
    if not given.add:
        print(json.dumps(lacking(given.language), ensure_ascii=False, indent=1))
        return
    code, file = given.add
    text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    for words in add(code, json.loads(text)):
        print(f"The code does not say: {words}", file=sys.stderr)


if __name__ == "__main__":
    main()
