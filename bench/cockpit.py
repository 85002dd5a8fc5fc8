"""A person's open page, as Streamlit's own browser code speaks: protobuf over a WebSocket, timers included."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import ChatInputValue
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

WHOLE = {ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR}
MOST_BYTES = 64 * 1024 * 1024
PATIENCE = 120.0  # seconds until a page that does not come is a failure


@dataclass
class Times:
    """Seconds that runs took, as the browser waits for them: from its request, or from the server's own start of one.

    `whole` are runs of the page, `fragments` the looks at an answer while it is written.
    """

    whole: list[float] = field(default_factory=list)
    fragments: list[float] = field(default_factory=list)


class Cockpit:
    """One tab: it asks, keeps what it is shown, and looks again by the timers that the server sets."""

    def __init__(self, socket: ClientConnection, query: str, times: Times) -> None:
        self.shown: dict[tuple[int, ...], str] = {}
        self.watchers: list[Callable[[str], None]] = []
        self.failures: list[str] = []  # what a page could not do
        self.alerts: list[str] = []
        self._socket, self._query, self._times = socket, query, times
        self._page = ""
        self._box: tuple[str, str] | None = None  # the chat box's widget and the fragment that it is in
        self._timers: dict[str, tuple[float, asyncio.Task[None]]] = {}
        self._asked: float | None = None
        self._looked: float | None = None
        self._drawing = False
        self._idle = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, address: str, cookie: str, page: str, query: str, times: Times) -> Self:
        """Open a page and wait until it is drawn; raises websockets' InvalidStatus when the gate says no."""
        socket = await connect(
            address.replace("http", "ws", 1) + "/_stcore/stream",
            origin=address,  # type: ignore[arg-type]
            additional_headers={"Cookie": cookie},
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=MOST_BYTES,
            compression=None,
        )
        tab = cls(socket, query, times)
        await tab._run(page_name=page)
        return tab

    async def click(self) -> None:
        """Whatever makes the whole page be drawn again; returns when it is."""
        await self._run(page_script_hash=self._page)

    async def say(self, text: str) -> None:
        """Type into the chat's box and send; returns when the page with the question is drawn."""
        assert self._box is not None, f"the page has no box to write in: {self.failures + self.alerts}"
        widget, fragment = self._box
        message = self._message(page_script_hash=self._page, fragment_id=fragment)
        state = message.rerun_script.widget_states.widgets.add()
        state.id = widget
        state.chat_input_value.CopyFrom(ChatInputValue(data=text))
        await self._send_and_wait(message)

    @property
    def at_rest(self) -> bool:
        """Whether the page is drawn and nothing on it is looked at again by itself."""
        return self._asked is None and not self._timers

    async def close(self) -> None:
        """Close the tab."""
        for _interval, task in self._timers.values():
            task.cancel()
        self._reading.cancel()
        await self._socket.close()

    async def _run(self, **state: str) -> None:
        await self._send_and_wait(self._message(**state))

    async def _send_and_wait(self, message: BackMsg) -> None:
        self._idle.clear()
        self._asked = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        async with asyncio.timeout(PATIENCE):
            await self._idle.wait()

    def _message(self, **state: str | bool) -> BackMsg:
        message = BackMsg()
        for name, value in ({"query_string": self._query} | state).items():
            setattr(message.rerun_script, name, value)
        message.rerun_script.context_info.timezone = "UTC"
        message.rerun_script.context_info.locale = "en"
        return message

    async def _read(self) -> None:
        async for raw in self._socket:
            message = ForwardMsg()
            message.ParseFromString(raw)  # type: ignore[arg-type]
            kind = message.WhichOneof("type")
            if handle := getattr(self, f"_on_{kind}", None):
                handle(message)

    def _on_new_session(self, message: ForwardMsg) -> None:
        self._page = message.new_session.page_script_hash
        if not message.metadata.run.fragment_ids:
            self._drawing = True
            for _interval, task in self._timers.values():
                task.cancel()
            self._timers.clear()
            self.shown.clear()
            if self._asked is None:
                self._asked = time.perf_counter()

    def _on_navigation(self, message: ForwardMsg) -> None:
        self._page = message.navigation.page_script_hash

    def _on_page_info_changed(self, message: ForwardMsg) -> None:
        self._query = message.page_info_changed.query_string

    def _on_delta(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        if element.HasField("markdown"):
            self.shown[tuple(message.metadata.delta_path)] = element.markdown.body
            for watcher in self.watchers:
                watcher(element.markdown.body)
        elif element.HasField("chat_input") and not element.chat_input.disabled:
            self._box = element.chat_input.id, message.delta.fragment_id
        elif element.HasField("alert"):
            self.alerts.append(element.alert.body)
        elif element.HasField("exception"):
            self.failures.append(element.exception.message)

    def _on_script_finished(self, message: ForwardMsg) -> None:
        """A page is drawn at its end, or at that of a look right after it: Streamlit forgets to tell the end of a run
        when a request for a fragment meets it, and a browser takes either for the end."""
        now, looked = time.perf_counter(), message.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
        if self._asked is not None and (message.script_finished in WHOLE or (looked and self._drawing)):
            self._times.whole.append(now - self._asked)
            self._asked, self._drawing = None, False
            self._idle.set()
        if looked and self._looked is not None:
            self._times.fragments.append(now - self._looked)
            self._looked = None

    def _on_auto_rerun(self, message: ForwardMsg) -> None:
        fragment, interval = message.auto_rerun.fragment_id, message.auto_rerun.interval
        known = self._timers.get(fragment)
        if known and known[0] == interval:
            return
        if known:
            known[1].cancel()
        self._timers[fragment] = interval, asyncio.create_task(self._tick(fragment, interval))

    def _on_stop_auto_rerun(self, message: ForwardMsg) -> None:
        for fragment in message.stop_auto_rerun.fragment_ids:
            if known := self._timers.pop(fragment, None):
                known[1].cancel()

    async def _tick(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            if self._looked is None:
                self._looked = time.perf_counter()
            message = self._message(page_script_hash=self._page, fragment_id=fragment, is_auto_rerun=True)
            await self._socket.send(message.SerializeToString())
