"""The command line: python -m nexus_core serve | migrate | backup | export | import | erase | demo | token | …"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from nexus_core import (
    backup,
    config,
    database,
    demo,
    doctor,
    embedded,
    erasure,
    exchange,
    importing,
    migrate,
    serve,
    token_command,
)
from nexus_core.database import Scope
from nexus_core.entries import entry_line
from nexus_core.errors import NexusError, SetupFailed
from nexus_core.i18n import _, ngettext
from nexus_core.search import Filter


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, or 1 after one line on stderr that says what to do."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    given = _parser().parse_args(arguments)
    for variable, value in (("NEXUS_HOST", given.host), ("PORT", given.port)):
        if value is not None:
            os.environ[variable] = str(value)  # the application reads its settings too
    config.reset()
    command: Callable[[argparse.Namespace], int] = given.command
    try:
        return command(given)
    except NexusError as error:
        print(f"nexus: {error.message}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m nexus_core", description=_("Assistants that remember, over PostgreSQL.")
    )
    parser.set_defaults(host=None, port=None)
    commands = parser.add_subparsers(required=True, metavar="command")
    start = commands.add_parser("serve", help=_("serve cockpit and API on one port"))
    start.add_argument("--host", help=_("address to listen on (default: NEXUS_HOST, else 127.0.0.1)"))
    start.add_argument("--port", type=int, help=_("port to listen on (default: PORT, else 8501)"))
    start.set_defaults(command=_serve)
    dump = commands.add_parser("backup", help=_("write everything into a new file, for pg_restore"))
    dump.add_argument("file", type=Path, metavar="FILE", help=_("the file to make, such as nexus.dump"))
    dump.set_defaults(command=_backup)
    out = commands.add_parser("export", help=_("write the owner's conversations, and those of projects, as JSON files"))
    out.add_argument("file", type=Path, metavar="DIR", help=_("the directory to write them into"))
    out.set_defaults(command=_export)
    in_ = commands.add_parser("import", help=_("bring conversations in, for the owner, from a file"))
    in_.add_argument(
        "file", type=Path, metavar="FILE", help=_("Nexus' own JSON, ChatGPT's or Claude's export, or a zip")
    )
    in_.set_defaults(command=_import)
    erase = commands.add_parser("erase", help=_("erase a person: everything of theirs, for good"))
    erase.add_argument("email", metavar="EMAIL", help=_("the person's e-mail address"))
    erase.add_argument("--workspace", metavar="NAME", help=_("only in the workspace with this short name; else in all"))
    erase.add_argument("--yes", action="store_true", help=_("do it; without this nothing happens"))
    erase.set_defaults(command=_erase)
    token_command.add(commands)
    show = commands.add_parser("demo", help=_("fill the workspace “demo” with a year of made-up data, or remove it"))
    show.set_defaults(command=_demo)
    away = _("remove it, with everything in it")
    show.add_argument("--remove", dest="command", action="store_const", const=_remove_demo, help=away)
    for name, command, words in (
        ("migrate", _migrate, _("bring the database to this version's schema")),
        ("url", _url, _("print the database's URL for psql and pg_dump; the bundled server is left running")),
        ("doctor", _doctor, _("say what is wrong here and how to mend it")),
        ("stop", _stop, _("stop the bundled server when no Nexus uses it")),
    ):
        commands.add_parser(name, help=words).set_defaults(command=command)
    return parser


def _serve(given: argparse.Namespace) -> int:
    serve.serve()
    return 0


def _migrate(given: argparse.Namespace) -> int:
    try:
        done = migrate.migrate(database.url())
    finally:
        embedded.release()  # stops the bundled server only if started here: somebody's psql may be on it
    print("\n".join(done) or _("Nothing to apply: the schema is current."))
    return 0


def _backup(given: argparse.Namespace) -> int:
    file: Path = given.file
    try:
        size = backup.write(file)
    finally:
        embedded.release()
    print(_("{file}: {size:,.0f} KiB. docs/sql.md says how to restore it.").format(file=file, size=size / 1024))
    return 0


def _export(given: argparse.Namespace) -> int:
    directory: Path = given.file
    try:
        scope = token_command.owner()
        directory.mkdir(parents=True, exist_ok=True)
        names = []
        for name, chunks in exchange.files(scope, exchange.wanted(scope, Filter()), "json"):
            with (directory / name).open("wb") as file:
                file.writelines(chunks)
            names.append(name)
    except OSError as error:
        raise SetupFailed(_("{file}: {why}.").format(file=directory, why=error.strerror)) from error
    finally:
        embedded.release()
    print(ngettext("{n} conversation.", "{n} conversations.", len(names)).format(n=len(names)))
    return 0


def _import(given: argparse.Namespace) -> int:
    path: Path = given.file
    failed = 0
    try:
        scope = token_command.owner()
        with path.open("rb") as file:
            for outcome in importing.run(scope, file):
                failed += outcome.status == "failed"
                print(f"{outcome.status}: {outcome.title} {outcome.reason}".rstrip(), flush=True)
    except OSError as error:
        raise SetupFailed(_("{file}: {why}.").format(file=path, why=error.strerror)) from error
    finally:
        embedded.release()
    return 1 if failed else 0


def _erase(given: argparse.Namespace) -> int:
    email: str = given.email
    if not given.yes:
        print(_("This erases everything of {email} for good. Add --yes to do it.").format(email=email), file=sys.stderr)
        return 1
    try:
        scope = Scope(None, token_command.owner().user_id, "system", "cli")
        erased = erasure.erase_everywhere(scope, email, workspace=given.workspace)
    finally:
        embedded.release()
    for table, rows in erased.removed.items():
        print(f"{table}: {rows:,}")
    for one in erased.staying:
        words = _("stays in {workspace}, memory of {project}: {entry}")
        print(words.format(workspace=one.workspace, project=one.project_name, entry=entry_line(one.entry)))
    print(_("Workspaces: {names}").format(names=", ".join(erased.workspaces)))
    print(_("Erased.") if erased.whole else _("Erased here; another workspace still has this person."))
    return 0


def _demo(given: argparse.Namespace) -> int:
    try:
        demo.load(token_command.owner())
    finally:
        embedded.release()
    print(_("The demo workspace is there: choose it in the list on the left, or open /?workspace=demo."))
    return 0


def _remove_demo(given: argparse.Namespace) -> int:
    try:
        demo.remove(token_command.owner())
    finally:
        embedded.release()
    print(_("The demo workspace is removed."))
    return 0


def _url(given: argparse.Namespace) -> int:
    print(database.url())
    embedded.leave()
    return 0


def _doctor(given: argparse.Namespace) -> int:
    fine = True
    try:
        for finding in doctor.examine():
            print(finding, flush=True)
            fine = fine and finding.fine
    finally:
        embedded.release()
    return 0 if fine else 1


def _stop(given: argparse.Namespace) -> int:
    stopped = embedded.stop()
    print(_("The bundled server is stopped.") if stopped else _("Nothing to stop: it does not run, or Nexus uses it."))
    return 0


if __name__ == "__main__":
    sys.exit(main())
