"""Debug files from servers: Debian's debuginfod on loopback, and servers that misbehave."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from abistore.extract.debuginfod import fetch
from abistore.extract.elf.container import ElfFile
from abistore.extract.elf.reader import DebugSearch, find_alternate, find_debug
from abistore.extract.reader import ExtractOptions
from tests.extract.test_debuginfo import Dwz, Split, library

pytestmark = pytest.mark.full

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
        assert fetch("00" * 20, 1 << 30, lambda _: "").path is None
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
        (sends(b"half", declared=8), "truncated"),
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


# --- what servers and users get wrong -----------------------------------------------------------------------------


def kept(cache: Path) -> list[Path]:
    return [path for path in cache.rglob("*") if path.is_file()]


def sends_to(place: Callable[[BaseHTTPRequestHandler], str]) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", place(handler))
        handler.end_headers()

    return answer


def test_headers_that_trickle_end_with_the_time_out(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()

    def trickle(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.0 200 OK\r\nX-Long: ")
        while not done.wait(0.05):
            try:
                handler.wfile.write(b"x")
            except OSError:
                return

    with serve(trickle) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        monkeypatch.setenv("DEBUGINFOD_TIMEOUT", "1")
        found = search(split)
        done.set()
    assert found.reason == "debuginfod-failed"
    assert "timed out" in found.detail


def test_all_servers_together_have_one_time(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    asked: list[str] = []

    def wait(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        done.wait(20)

    with serve(wait) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", " ".join([url] * 50))
        monkeypatch.setenv("DEBUGINFOD_MAXTIME", "1")
        found = search(split)
        done.set()
    assert found.reason == "debuginfod-failed"
    assert len(asked) == 1
    assert found.detail.count("the time limit for all servers has passed") == 49


@pytest.mark.parametrize("scheme", ["file", "ftp", "data", "gopher"])
def test_no_redirection_leads_elsewhere_than_to_the_web(
    scheme: str, split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(sends_to(lambda _: f"{scheme}://{split.debug}")) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        found = search(split)
    assert (found.file, found.reason, kept(cache)) == (None, "debuginfod-failed", [])
    assert f"{scheme}: unsupported scheme; only http and https are supported" in found.detail


def test_redirections_are_followed_a_few_times_only(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def place(handler: BaseHTTPRequestHandler) -> str:
        asked.append(handler.path)
        return f"/{len(asked)}"

    with serve(sends_to(place)) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        found = search(split)
    assert "more than 5 redirections" in found.detail
    assert len(asked) == 6


@pytest.mark.parametrize("variable", ["DEBUGINFOD_TIMEOUT", "DEBUGINFOD_MAXTIME", "DEBUGINFOD_MAXSIZE"])
@pytest.mark.parametrize("value", ["-1", "soon", "1e9", "\u0663"])
def test_a_limit_that_is_no_number_is_named(
    variable: str, value: str, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1")
    monkeypatch.setenv(variable, value)
    found = search(split)
    assert (found.file, found.reason) == (None, "debuginfod-failed")
    assert found.detail == f"{variable} is not a number: {value!r}"


@pytest.mark.parametrize("value", ["", "0", "9" * 12, "9" * 5000])
def test_a_limit_may_be_as_large_as_one_likes(value: str, split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(sends(split.debug.read_bytes())) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        for variable in ("DEBUGINFOD_TIMEOUT", "DEBUGINFOD_MAXTIME", "DEBUGINFOD_MAXSIZE"):
            monkeypatch.setenv(variable, value)
        assert search(split).file is not None


@pytest.mark.parametrize(
    "wrong", ["http://[", "http://127.0.0.1:99999", "http://", "gopher://h", "h:8002", "http://h\u2100"]
)
def test_a_wrong_address_is_named_and_the_next_one_is_asked(
    wrong: str, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBUGINFOD_URLS", wrong)
    found = search(split)
    assert (found.file, found.reason) == (None, "debuginfod-failed")
    assert found.detail.startswith(f"{wrong}: ")
    with serve(sends(split.debug.read_bytes())) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", f"{wrong} {url}")
        assert search(split).file is not None


def test_no_server_is_asked_for_an_absurd_build_id(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1")
    found = fetch("ab" * 65_000, 1 << 30, lambda _: "")
    assert (found.path, found.detail[:32]) == (None, "its build-id has 65,000 bytes, w")
    assert kept(cache) == []


def test_a_wrong_file_in_the_cache_is_asked_for_again(
    split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = cache / str(ElfFile(split.path).build_id) / "debuginfo"
    target.parent.mkdir(parents=True)
    target.write_bytes(library(source="int other;").read_bytes())
    with serve(sends(split.debug.read_bytes())) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        assert search(split).file is not None
    assert kept(cache) == [target]
    assert target.read_bytes() == split.debug.read_bytes()


def test_a_wrong_alternate_file_is_not_kept(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dwz").mkdir()
    dwz = Dwz(tmp_path / "dwz", "/nowhere/common.dwz")
    dwz.common.unlink()
    with serve(sends(library(source="int other;").read_bytes())) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        assert find_alternate(ElfFile(dwz.libraries[0]), ExtractOptions(debuginfod=True)) is None
    assert kept(cache) == []


def test_a_full_disk_is_told_and_does_not_stop_reading(
    split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with serve(sends(split.debug.read_bytes())) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        try:
            found = search(split)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert (found.file, found.reason, kept(cache)) == (None, "debuginfod-failed", [])
        assert "the cache cannot keep it (File too large)" in found.detail
        assert search(split).file is not None


def test_a_cache_that_is_no_folder_does_not_stop_reading(
    split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.write_text("a file")
    monkeypatch.setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1")
    assert "the cache cannot keep it" in search(split).detail


def test_what_a_killed_download_left_is_removed_by_the_next(
    split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = threading.Event()
    served = split.debug.read_bytes()

    def half(handler: BaseHTTPRequestHandler) -> None:
        sends(served[:100], declared=len(served))(handler)
        handler.wfile.flush()
        held.wait(20)

    with serve(half) as url:
        program = (
            "import sys; from abistore.extract.debuginfod import fetch; fetch(sys.argv[1], 1 << 30, lambda path: '')"
        )
        environment = {**os.environ, "DEBUGINFOD_URLS": url}
        command = [sys.executable, "-c", program, str(ElfFile(split.path).build_id)]
        with subprocess.Popen(command, env=environment) as process:
            while not any(path.stat().st_size for path in kept(cache)):
                assert process.poll() is None
                time.sleep(0.02)
            monkeypatch.setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1")
            search(split)
            assert len(kept(cache)) == 1, "what is being downloaded is left alone"
            process.send_signal(signal.SIGKILL)
        held.set()
    search(split)
    assert list(cache.glob(".*")) == []
