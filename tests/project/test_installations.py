"""No message, configuration, page or example installs abistore by its name alone: no package index has it."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from abistore.cli.commands.mcp import CLIENTS, starting

PROJECT = Path(__file__).parents[2]
OWN = {Path(__file__), PROJECT / "pyproject.toml"}
"""The project itself may name its extras, which pip finds in it."""

INSTALLER = re.compile(
    r"(?:pip3? (?:install|download|wheel)|pipx (?:install|inject|run)|uvx|uv (?:add|run|tool install|tool run)"
    r"|(?:conda|mamba|brew|apt|apt-get) install)(?: |$)"
)
NAMED = re.compile(r"abistore(?:-mcp)?(?:[=<>~!]=?[\w.*]+)?")
EXTRAS = re.compile(r"(?<![\w./}-])abistore\[[\w,{}-]+\](?! @ )")
SEPARATOR = re.compile(r"[`;|#]|&&|\\n")
QUOTES = re.compile(r"[\s\"',()]+")


def installs_the_name(line: str) -> bool:
    """Whether a line installs the bare name, or has it with extras where no path or URL belongs to it."""
    return EXTRAS.search(line) is not None or any(map(_is_bare, SEPARATOR.split(line)))


def _is_bare(part: str) -> bool:
    words = QUOTES.sub(" ", part)
    found = INSTALLER.search(words)
    if found is None:
        return False
    wanted = words[found.end() :].split()
    if "--from" in wanted:  # what comes after its value is a command
        wanted = wanted[: wanted.index("--from") + 2]
    return any(NAMED.fullmatch(word) for word in wanted)


def texts() -> Iterator[tuple[Path, str]]:
    """Every text of the project; those of Python once more as they are put together from several lines."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, check=True, text=True).stdout
    for path in sorted(PROJECT / name for name in listed.split("\0") if name):
        if path in OWN or not path.is_file():
            continue
        data = path.read_bytes()
        if b"abistore" in data and b"\0" not in data:
            text = data.decode("utf-8", "replace")
            yield path, text
            if path.suffix == ".py":
                nodes = ast.walk(ast.parse(text))
                values = [node.value for node in nodes if isinstance(node, ast.Constant)]
                yield path, "\n".join(value for value in values if isinstance(value, str))


def test_nothing_in_the_project_installs_a_name_that_nobody_owns() -> None:
    found = [
        f"{path.relative_to(PROJECT)}: {line.strip()}"
        for path, text in texts()
        for line in text.splitlines()
        if "abistore" in line and installs_the_name(line)
    ]
    assert found == []


@pytest.mark.parametrize("client", list(CLIENTS))
@pytest.mark.parametrize("uvx", [False, True])
def test_no_configuration_for_a_client_does(client: str, uvx: bool) -> None:
    config = starting(client, "abi.db", uvx=uvx)
    (server,) = config.config["servers" if client == "vscode" else "mcpServers"].values()
    assert not installs_the_name(" ".join([server["command"], *server["args"]]))
    assert not any(map(installs_the_name, config.notes))


@pytest.mark.parametrize(
    "line",
    [
        "pip install abistore",
        "python -m pip install -U 'abistore==0.1.0'",
        "pip install 'abistore[postgres]'",
        "pipx install abistore[mcp]",
        "pipx run abistore list",
        "uvx abistore list",
        "uvx abistore-mcp",
        "uvx --from abistore abistore-mcp",
        '["uvx", "--from", "abistore[mcp]", "abistore-mcp"]',
        "uv tool install abistore",
        "RUN pip install --no-cache-dir abistore && true",
        "uv add abistore>=0.1",
        'dependencies = ["abistore[mcp]"]',
    ],
)
def test_an_installation_of_the_name_is_seen(line: str) -> None:
    assert installs_the_name(line)


@pytest.mark.parametrize(
    "line",
    [
        "pip install .",
        "pipx install '.[mcp]' # abistore",
        "python -m pip install -e '/home/me/abistore[postgres]'",
        "pip install ./abistore",
        "pip install dist/abistore-0.1.0-py3-none-any.whl",
        "uvx --from 'abistore[mcp] @ file:///home/me/abistore' abistore-mcp",
        "`pip install '.[postgres]'`; `abistore db init` once",
        "pip install . && abistore list",
        "claude mcp add abistore -- abistore-mcp",
    ],
)
def test_an_installation_of_a_checkout_or_a_wheel_is_none_of_the_name(line: str) -> None:
    assert not installs_the_name(line)
