"""Where files are read from: below the folders that the server was started with, and nothing is told of others."""

from __future__ import annotations

import json
import os
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from abistore.files import canonical
from tests.mcp.conftest import Agent

pytestmark = pytest.mark.fast


@pytest.fixture
def folder(libraries: dict[str, Path], tmp_path: Path) -> Path:
    """A folder that may be read, with two libraries; outside it a file of every sort."""
    found = tmp_path / "root"
    found.mkdir()
    for version in ("1.0", "2.0"):
        shutil.copy(libraries[version], found / f"libgeo-{version}.so")
    (tmp_path / "secret.yaml").write_text("base: strict_abi\n")
    shutil.copy(libraries["2.0"], tmp_path / "libgeo.so")
    (found / "link.so").symlink_to(tmp_path / "libgeo.so")
    os.mkfifo(tmp_path / "pipe")
    return found


@pytest.fixture
def confined(modern: Agent, folder: Path) -> Agent:
    return modern.set(read_roots=(canonical(folder),))


def test_files_below_the_folder_are_compared(confined: Agent, folder: Path) -> None:
    old, new = folder / "libgeo-1.0.so", folder / "libgeo-2.0.so"
    assert confined("abi_compare", old_input=str(old), new_input=str(new))["verdict"] == "BREAKING"
    assert confined("abi_compare", old_input="libgeo@1.0", new_input=str(new))["verdict"] == "BREAKING"
    assert confined("abi_dump", library_path=str(old))["summary"]["functions"] == 2


ELSEWHERE = ("libgeo.so", "absent.so", "pipe", "secret.yaml", "root/link.so", "root/../libgeo.so", "root/../absent", "")
ARGUMENTS: dict[str, dict[str, Any]] = {
    "old_input": {"new_input": "libgeo@2.0"},
    "new_input": {"old_input": "libgeo@1.0"},
    "policy_file": {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0"},
    "suppression_file": {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0"},
    "headers": {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0"},
    "include_dirs": {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0"},
}


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_what_is_elsewhere_is_refused_and_nothing_is_told_of_it(argument: str, confined: Agent, folder: Path) -> None:
    told = set()
    for name in ELSEWHERE:
        path = f"{folder.parent}/{name}"
        given = [path] if argument in {"headers", "include_dirs"} else path
        told.add(json.dumps(confined.refused("abi_compare", **ARGUMENTS[argument], **{argument: given})))
    (only,) = told
    assert json.loads(only)["code"] == "PATH_DENIED"
    assert json.loads(only)["error"].endswith("not below a folder that may be read")


CALLS: dict[str, str] = {
    "abi_compare": "new_input",
    "abi_review_build": "new_input",
    "abi_consumers": "new_input",
    "abi_dump": "library_path",
    "abi_show": "reference",
}
OTHERS: dict[str, dict[str, Any]] = {"abi_compare": {"old_input": "libgeo@1.0"}, "abi_show": {"name": "norm"}}


@pytest.mark.parametrize("tool", CALLS)
def test_a_build_of_another_machine_is_led_to_the_store(tool: str, modern: Agent, confined: Agent) -> None:
    given = {CALLS[tool]: "/ci/build/libgeo.so", **OTHERS.get(tool, {})}
    for agent, code in ((modern, "NOT_FOUND"), (confined, "PATH_DENIED")):
        refused = agent.refused(tool, **given)
        assert refused["code"] == code
        assert "a build of another one is stored from there and then named libfoo@VERSION" in refused["hint"]
    assert "### A build of another machine" in modern.ask(partial(page, "tools"))


async def page(name: str, client: Client) -> str:
    return str((await client.read_resource(f"abistore://docs/{name}")).contents[0].text)


def test_a_name_without_a_folder_is_no_file_of_the_server(confined: Agent) -> None:
    """Processes work in the root of the disk, where ``etc`` is a folder."""
    told = {
        confined.refused("abi_compare", old_input=name, new_input="libgeo@2.0")["error"].replace(name, "NAME")
        for name in ("etc", "proc", "no-such-name")
    }
    assert told == {"NAME: neither a file nor a reference"}


def test_without_a_folder_only_what_is_stored_is_read(modern: Agent, folder: Path) -> None:
    agent = modern.set(read_roots=())
    assert agent.refused("abi_dump", library_path=str(folder / "libgeo-1.0.so"))["code"] == "PATH_DENIED"
    assert agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0")["verdict"] == "BREAKING"


def test_a_linker_script_below_the_folder_leads_to_nothing_elsewhere(confined: Agent, folder: Path) -> None:
    script = folder / "libscript.so"
    script.write_text(f"GROUP ( {folder.parent}/libgeo.so )\n")
    refused = confined.refused("abi_dump", library_path=str(script))
    assert "none of which exists" in refused["error"]
    assert str(folder.parent) not in json.dumps(refused)


def test_a_folder_of_libraries_is_read_without_what_its_links_lead_to(confined: Agent, folder: Path) -> None:
    """``link.so`` leads to a library outside; a link to a folder is judged by where it leads."""
    only = folder / "only"
    only.mkdir()
    shutil.copy(folder / "libgeo-1.0.so", only / "libgeo.so.1")
    (only / "libother.so.2").symlink_to(folder.parent / "libgeo.so")
    assert confined("abi_compare", old_input=str(only), new_input="libgeo@1.0")["verdict"] == "NO_CHANGE"
    (folder / "away").symlink_to(folder.parent)
    assert confined.refused("abi_dump", library_path=str(folder / "away"))["code"] == "PATH_DENIED"
