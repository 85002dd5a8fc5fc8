"""Every address that is not the cockpit's, in the order in which they are looked for."""

from starlette.routing import BaseRoute, Mount, Route

from nexus_core.api import api, health, shared, signin
from nexus_core.api.mcp import Mcp
from nexus_core.api.metrics import read
from nexus_core.api.openai import v1

PROGRAMS: list[BaseRoute] = [
    Mount("/api", app=api),
    Mount("/v1", app=v1),
    *(Route(path, Mcp()) for path in ("/mcp", "/mcp/")),
    Route("/metrics", read),
]
"""Where programs come in."""

routes: list[BaseRoute] = [Route("/health", health), *signin.routes, *shared.routes, *PROGRAMS]
