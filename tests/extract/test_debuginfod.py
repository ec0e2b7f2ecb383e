"""Debug files from servers: Debian's debuginfod on loopback, and servers that misbehave."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from abistore.extract.debuginfo import DebugSearch, find_alternate, find_debug
from abistore.extract.debuginfod import fetch
from abistore.extract.elf.container import ElfFile
from abistore.extract.reader import ExtractOptions
from tests.extract.test_debuginfo import Dwz, Split, library

Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no servers but those of the test."""
    for variable in ("DEBUGINFOD_URLS", "DEBUGINFOD_MAXSIZE", "DEBUGINFOD_TIMEOUT", "DEBUGINFOD_MAXTIME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "cache"


@pytest.fixture
def split(tmp_path: Path) -> Split:
    """A stripped library whose debug file is away from it."""
    (tmp_path / "lib").mkdir()
    split = Split(tmp_path / "lib", library(), link=False)
    split.debug = split.move_debug_to(tmp_path / "served" / "libcase.so.debug")
    return split


def search(split: Split, *, allowed: bool = True) -> DebugSearch:
    return find_debug(ElfFile(split.path), ExtractOptions(debuginfod=allowed))


@contextmanager
def serve(answer: Answer) -> Iterator[str]:
    """A server on loopback that answers every request with ``answer``; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def sends(body: bytes, *, declared: int | None = None, code: int = 200) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        handler.send_header("Content-Length", str(len(body) if declared is None else declared))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


# --- the real server ----------------------------------------------------------------------------------------------


@contextmanager
def debuginfod(folder: Path, database: Path, build_id: str) -> Iterator[str]:
    """Debian's own server over the files of ``folder``, once it knows ``build_id``."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["debuginfod", "-F", "-p", str(port), "-d", str(database), "-c", "1", str(folder)]
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(300):
                if _answers(f"{url}/buildid/{build_id}/debuginfo"):
                    break
                time.sleep(0.05)
            yield url
        finally:
            server.terminate()


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except HTTPError as error:
        error.close()
        return False
    except OSError:
        return False


@pytest.mark.skipif(shutil.which("debuginfod") is None, reason="debuginfod is not installed")
def test_the_real_server_gives_the_debug_file(split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_id = ElfFile(split.path).build_id or ""
    served = split.debug.read_bytes()
    with debuginfod(split.debug.parent, cache.with_name("served.sqlite"), build_id) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", f"http://127.0.0.1:1 {url}/")
        found = search(split)
        assert found.source == "debuginfod"
        assert found.file is not None
        assert found.file.path == cache / build_id / "debuginfo"
        assert found.file.path.read_bytes() == served
        assert fetch("00" * 20, 1 << 30).path is None
    monkeypatch.setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1")
    assert search(split).file is not None, "the cache answers when no server does"


@pytest.mark.skipif(shutil.which("debuginfod") is None, reason="debuginfod is not installed")
def test_the_real_server_gives_the_alternate_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "dwz"
    folder.mkdir()
    dwz = Dwz(folder, "/nowhere/common.dwz")
    build_id = ElfFile(dwz.common).build_id or ""
    with debuginfod(folder, tmp_path / "served.sqlite", build_id) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        found = find_alternate(ElfFile(dwz.libraries[0]), ExtractOptions(debuginfod=True))
    assert found is not None
    assert found.build_id == build_id


# --- manners ------------------------------------------------------------------------------------------------------


def test_no_server_is_asked_without_leave(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        sends(b"", code=404)(handler)

    with serve(answer) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        assert search(split, allowed=False).reason == "no-debug-info"
        assert asked == []
        assert search(split).reason == "no-debug-info"
        assert asked == [f"/buildid/{ElfFile(split.path).build_id}/debuginfo"]


def test_leave_without_servers_is_a_reason(split: Split) -> None:
    found = search(split)
    assert (found.file, found.reason, found.hint) == (None, "debuginfod-failed", "set DEBUGINFOD_URLS")


def test_an_unreachable_server_is_a_reason(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1")
    found = search(split)
    assert (found.file, found.reason) == (None, "debuginfod-failed")
    assert "127.0.0.1" in found.detail


def test_only_web_addresses_are_asked(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUGINFOD_URLS", f"file://{split.debug.parent}")
    assert search(split).reason == "debuginfod-failed"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (sends(b"x" * 3_000_000), "more than"),
        (sends(b"half", declared=8), "cut off"),
        (sends(b"", code=500), "500"),
        (lambda handler: handler.wfile.write(b"this is not HTTP\r\n\r\n"), "127.0.0.1"),
        (lambda handler: None, "127.0.0.1"),
    ],
    ids=["too-large", "cut-off", "server-error", "not-http", "silent"],
)
def test_a_bad_answer_is_a_reason_and_is_not_kept(
    answer: Answer, words: str, split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBUGINFOD_MAXSIZE", "2000000")
    with serve(answer) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        found = search(split)
    assert (found.file, found.reason) == (None, "debuginfod-failed")
    assert words in found.detail
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_a_silent_server_is_left_after_the_time_out(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()

    def wait(_handler: BaseHTTPRequestHandler) -> None:
        done.wait(20)

    with serve(wait) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        monkeypatch.setenv("DEBUGINFOD_TIMEOUT", "1")
        found = search(split)
        done.set()
    assert found.reason == "debuginfod-failed"
    assert "timed out" in found.detail


def test_a_trickling_server_is_left_after_the_longest_time(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()

    def trickle(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        while not done.wait(0.05):
            try:
                handler.wfile.write(b"x")
            except OSError:
                return

    with serve(trickle) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        monkeypatch.setenv("DEBUGINFOD_MAXTIME", "1")
        found = search(split)
        done.set()
    assert "too long" in found.detail


def test_a_file_of_another_build_is_stale_and_is_not_kept(
    split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(sends(library(source="int other;").read_bytes())) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        found = search(split)
    assert (found.file, found.reason, found.source) == (None, "stale-debug-file", "debuginfod")
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_the_second_server_is_asked_when_the_first_has_none(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(sends(b"", code=404)) as empty, serve(sends(split.debug.read_bytes())) as full:
        monkeypatch.setenv("DEBUGINFOD_URLS", f"{empty} {full}")
        assert search(split).file is not None


# --- passwords ----------------------------------------------------------------------------------------------------


def test_a_user_and_a_password_are_sent_to_their_server_and_to_no_other(
    split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []

    def remember(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.headers["Authorization"])

    def give(handler: BaseHTTPRequestHandler) -> None:
        remember(handler)
        sends(split.debug.read_bytes())(handler)

    with serve(give) as other:

        def redirect(handler: BaseHTTPRequestHandler) -> None:
            remember(handler)
            handler.send_response(302)
            handler.send_header("Location", f"{other}{handler.path}")
            handler.end_headers()

        with serve(redirect) as url:
            monkeypatch.setenv("DEBUGINFOD_URLS", url.replace("http://", "http://user:p%40ss@"))
            assert search(split).file is not None
    assert asked == ["Basic dXNlcjpwQHNz", None]


def test_no_reason_tells_the_password_of_a_server(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = (
        "http://u:s3cr3t@127.0.0.1:1",
        "http://u:s3cr3t@127.0.0.1:port",
        "http://u:s3cr3t@[::1",
        "http://s3cr3t@h.invalid",
    )
    monkeypatch.setenv("DEBUGINFOD_URLS", " ".join(urls))
    found = search(split)
    assert found.reason == "debuginfod-failed"
    assert "s3cr3t" not in f"{found.detail}{found.hint}"
    assert found.detail.startswith("http://***@127.0.0.1:1: ")
