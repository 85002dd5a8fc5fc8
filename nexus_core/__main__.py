"""The command line: python -m nexus_core serve | migrate | backup | url | doctor | stop."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from nexus_core import backup, config, database, doctor, embedded, migrate, serve
from nexus_core.errors import SetupFailed
from nexus_core.i18n import _


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, or 1 after one line on stderr that says what to do."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    given = _parser().parse_args(arguments)
    for variable, value in (("NEXUS_HOST", given.host), ("PORT", given.port)):
        if value is not None:
            os.environ[variable] = str(value)  # the application reads its settings too
    config.reset()
    command: Callable[..., int] = given.command
    try:
        return command(given.file) if given.file else command()
    except SetupFailed as error:
        print(f"nexus: {error.message}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m nexus_core", description=_("Assistants that remember, over PostgreSQL.")
    )
    parser.set_defaults(host=None, port=None, file=None)
    commands = parser.add_subparsers(required=True, metavar="command")
    start = commands.add_parser("serve", help=_("serve cockpit and API on one port"))
    start.add_argument("--host", help=_("address to listen on (default: NEXUS_HOST, else 127.0.0.1)"))
    start.add_argument("--port", type=int, help=_("port to listen on (default: PORT, else 8501)"))
    start.set_defaults(command=_serve)
    dump = commands.add_parser("backup", help=_("write everything into a new file, for pg_restore"))
    dump.add_argument("file", type=Path, metavar="FILE", help=_("the file to make, such as nexus.dump"))
    dump.set_defaults(command=_backup)
    for name, command, words in (
        ("migrate", _migrate, _("bring the database to this version's schema")),
        ("url", _url, _("print the database's URL for psql and pg_dump; the bundled server is left running")),
        ("doctor", _doctor, _("say what is wrong here and how to mend it")),
        ("stop", _stop, _("stop the bundled server when no Nexus uses it")),
    ):
        commands.add_parser(name, help=words).set_defaults(command=command)
    return parser


def _serve() -> int:
    serve.serve()
    return 0


def _migrate() -> int:
    try:
        done = migrate.migrate(database.url())
    finally:
        embedded.release()  # stops the bundled server only if started here: somebody's psql may be on it
    print("\n".join(done) or _("Nothing to apply: the schema is current."))
    return 0


def _backup(file: Path) -> int:
    try:
        size = backup.write(file)
    finally:
        embedded.release()
    print(_("{file}: {size:,.0f} KiB. docs/sql.md says how to restore it.").format(file=file, size=size / 1024))
    return 0


def _url() -> int:
    print(database.url())
    embedded.leave()
    return 0


def _doctor() -> int:
    fine = True
    try:
        for finding in doctor.examine():
            print(finding, flush=True)
            fine = fine and finding.fine
    finally:
        embedded.release()
    return 0 if fine else 1


def _stop() -> int:
    stopped = embedded.stop()
    print(_("The bundled server is stopped.") if stopped else _("Nothing to stop: it does not run, or Nexus uses it."))
    return 0


if __name__ == "__main__":
    sys.exit(main())
