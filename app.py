"""Nexus: the ASGI application (cockpit at /, REST at /api), and the script of every page."""

import gc
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from anyio import to_thread
from starlette.middleware import Middleware
from streamlit import runtime
from streamlit.runtime.pages_manager import PagesManager

from nexus_core import database, embedded, llm, migrate, replica, worker
from nexus_core.api.doors import routes
from nexus_core.api.gate import Gate
from nexus_core.api.shell import Shell
from nexus_core.api.speech import Speech
from nexus_core.errors import NexusError
from pages.components import frame


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    """Bring the database up to date before the first request, and run the worker meanwhile."""
    try:
        await to_thread.run_sync(lambda: migrate.migrate(database.url()))
        await to_thread.run_sync(worker.worker)
    except NexusError as error:
        sys.stderr.write(f"{error.message}\n")
        sys.stderr.flush()
        embedded.stop()
        os._exit(1)  # an exception would reach the terminal as a page of traceback
    gc.freeze()  # what is imported now stays; a full collection need not look at it again
    yield
    await to_thread.run_sync(worker.close)
    replica.reset()
    database.reset()
    await to_thread.run_sync(embedded.stop)


if __name__ == "__main__":
    frame.run()
    if runtime.exists():  # not in a test of a page
        llm.warm()
else:
    # Until some session has navigated, Streamlit would look for pages beside this file and take a deep link for lost.
    PagesManager.uses_pages_directory = False
    app = st.App(
        __file__,
        routes=routes,
        middleware=[Middleware(Speech), Middleware(Gate), Middleware(Shell)],
        lifespan=lifespan,
        on_script_error=frame.failed,
    )
