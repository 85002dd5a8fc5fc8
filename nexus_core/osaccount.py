"""Under root: the account that the bundled PostgreSQL runs as, and its way to the data.

PostgreSQL refuses to run as root. As anybody else nothing here does anything.
"""

import logging
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

from nexus_core.errors import SetupFailed
from nexus_core.i18n import _

if sys.platform != "win32":
    import pwd

ACCOUNT = "nexus-postgres"
_log = logging.getLogger(__name__)


def identity(owner: tuple[int, int] | None) -> dict[str, Any]:
    """How subprocess starts a program as that user and group; as oneself when None."""
    return {"user": owner[0], "group": owner[1], "extra_groups": []} if owner else {}


def of(data: Path) -> tuple[int, int] | None:
    """Under root, the user and group for the server: the folder's owner, or an account made for it."""
    if os.geteuid() != 0:
        return None
    found = data.stat()
    if found.st_uid:
        return found.st_uid, found.st_gid
    try:
        entry = pwd.getpwnam(ACCOUNT)
    except KeyError:
        options = ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin"]
        subprocess.run(["useradd", *options, ACCOUNT], check=True, capture_output=True)
        entry = pwd.getpwnam(ACCOUNT)
    return entry.pw_uid, entry.pw_gid


def open_way(path: Path) -> None:
    """Let the server's account pass through the folders above `path`; anybody may then, none may list."""
    for folder in path.parents:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            _log.warning(_("Other accounts may pass through %s from now on: PostgreSQL's has to."), folder)
            folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


def make_private(folder: Path, owner: tuple[int, int] | None) -> None:
    """Make a folder that is the owner's alone, or make sure that it is; SetupFailed when it is not."""
    expected = owner[0] if owner else os.geteuid()
    if not folder.exists():
        folder.mkdir(mode=0o700)
        os.chown(folder, *(owner or (-1, -1)))
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != expected or found.st_mode & 0o077:
        raise SetupFailed(_("{folder} is somebody else's: set NEXUS_HOME to a shorter path.").format(folder=folder))
