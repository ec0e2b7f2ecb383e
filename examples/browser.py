"""A browser without a window: what a page looks like and says of itself, asked through a pipe."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from examples.obtain import Missing

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe"),
)
NAMES = ("chromium", "google-chrome", "chromium-browser")


class Screen(NamedTuple):
    """What a page is shown on: so many pixels, in a light or dark scheme."""

    width: int
    height: int
    dark: bool = False


class Browser:
    """Speaks the protocol of Chromium's developer tools through two descriptors of pipes."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back = to, back
        self._pending, self._asked = b"", 0
        self._session = ""
        self.errors: list[str] = []

    def open(self) -> None:
        """Begin with an empty page."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **said: Any) -> dict[str, Any]:
        """The answer to one question; what the page complains of meanwhile is kept in ``errors``."""
        self._asked += 1
        session = {"sessionId": self._session} if self._session else {}
        os.write(
            self._to, json.dumps({"id": self._asked, "method": method, "params": said, **session}).encode() + b"\0"
        )
        while True:
            told = self._message()
            if told.get("id") == self._asked:
                if "error" in told:
                    raise RuntimeError(f"{method}: {told['error']['message']}")
                answer: dict[str, Any] = told["result"]
                return answer

    def show(self, address: str, screen: Screen) -> None:
        """Load a page, and wait until it is."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if screen.dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        size = {"width": screen.width, "height": screen.height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        self.ask("Page.navigate", url=address)
        while self.evaluate("document.readyState") != "complete":
            pass

    def evaluate(self, script: str) -> Any:
        """The value of an expression on the page, which may be a promise."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["text"])
        return found["result"].get("value")

    def picture(self) -> bytes:
        """What is on the screen, as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            data = os.read(self._back, 1 << 20)
            if not data:
                raise RuntimeError("the browser ended")
            self._pending += data
        first, _, self._pending = self._pending.partition(b"\0")
        told: dict[str, Any] = json.loads(first)
        said = told.get("params", {})
        if told.get("method") == "Runtime.exceptionThrown":
            self.errors.append(said["exceptionDetails"]["text"])
        if told.get("method") == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.errors.append(f"{said['entry']['text']} {said['entry'].get('url', '')}")
        return told


def program() -> str:
    """The browser of this machine. Raises Missing where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise Missing("chromium is not installed; on Debian and Ubuntu: apt-get install chromium")
    return found


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a new profile, which ends with the block. Raises Missing where there is none."""
    reads, to = os.pipe()
    back, writes = os.pipe()
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        child = _spawn([program(), *FLAGS, f"--user-data-dir={profile}"], reads, writes)
        os.close(reads)
        os.close(writes)
        try:
            shown = Browser(to, back)
            shown.open()
            yield shown
        finally:
            os.close(to)
            os.close(back)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _spawn(words: list[str], reads: int, writes: int) -> int:
    """Start the browser with the pipes as the descriptors 3 and 4, where it looks for them."""
    high = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 10) for each in (reads, writes)]
    quiet = [(os.POSIX_SPAWN_OPEN, each, os.devnull, os.O_WRONLY, 0) for each in (1, 2)]
    laid = [(os.POSIX_SPAWN_DUP2, each, place) for place, each in enumerate(high, 3)]
    child = os.posix_spawn(words[0], words, os.environ, file_actions=[*quiet, *laid])
    for each in high:
        os.close(each)
    return child
