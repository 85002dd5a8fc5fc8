"""Imported by the process that servers are forked from: everything that a server loads before it is of use."""

import asyncio
import gc
import os

import app  # noqa: F401
from nexus_core import llm, prices, tokens

os.environ.update(llm._ENVIRONMENT)
import litellm

prices.table()
tokens.warm()
asyncio.run(llm._first_steps(litellm))
gc.freeze()
