"""Processes that serve this one."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.child import Child, receive, send

SERVING = """
import socket
from abistore.child import receive, send

def serve(descriptor):
    with socket.socket(fileno=descriptor) as channel:
        send(channel, receive(channel))
"""


@pytest.mark.parametrize("module", ["json", "sys", "abistore", "socket", "struct"])
def test_no_module_of_the_current_folder_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    (checkout := tmp_path / "checkout").mkdir()
    (checkout / f"{module}.py").write_text("open('run', 'w')")
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "echoing.py").write_text(SERVING)
    monkeypatch.chdir(checkout)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    child = Child("echoing")
    try:
        channel = child.channel()
        send(channel, b"heard")
        assert receive(channel) == b"heard"
    finally:
        child.kill()
    assert not (checkout / "run").exists()
