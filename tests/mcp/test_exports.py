"""Dumps that are written to disk: new files below one folder, and nothing else, whatever a path says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from abistore.mcp.jobs import Jobs
from abistore.mcp.operands import check_export, write_new
from abistore.mcp.settings import Refusal, Settings
from tests.mcp.conftest import Agent


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "exports"
    (made / "inner").mkdir(parents=True)
    return made


@pytest.fixture
def exporter(stored: Path, root: Path, jobs: Jobs) -> Agent:
    settings = Settings(database=str(stored), allow_write=True, export_root=str(root))
    return Agent(settings, jobs, "2026-07-28")


def test_a_dump_is_written_to_a_new_file_below_the_export_root(
    exporter: Agent, root: Path, libraries: dict[str, Path]
) -> None:
    to = root / "inner" / "geo.json"
    given = {"library_path": str(libraries["2.0"]), "inline": True}
    answer = exporter("abi_dump", **given, output_path=str(to))
    assert (answer["output_path"], answer["bytes"]) == ("geo.json", to.stat().st_size)
    assert answer["headline"].startswith("WRITTEN: geo.json: libgeo")
    assert "snapshot" not in answer
    assert exporter("abi_compare", old_input=str(to), new_input=str(libraries["2.0"]))["verdict"] == "NO_CHANGE"
    before = to.read_bytes()
    again = exporter.refused("abi_dump", **given, output_path=str(to))
    assert (again["code"], again["error"]) == ("PATH_DENIED", "output_path exists already: nothing is overwritten")
    assert to.read_bytes() == before
    assert [path.name for path in (root / "inner").iterdir()] == ["geo.json"]
    assert exporter("abi_dump", **given)["snapshot"]


def test_the_tool_says_that_it_writes_only_where_it_does(exporter: Agent, writer: Agent, modern: Agent) -> None:
    for agent, reads in ((exporter, False), (writer, True), (modern, True)):
        (tool,) = (tool for tool in agent.tools() if tool.name == "abi_dump")
        assert tool.annotations
        assert tool.annotations.read_only_hint is reads
        assert ("output_path" in tool.input_schema["properties"]) is not reads


def test_a_server_that_writes_no_files_says_so(writer: Agent, modern: Agent, libraries: dict[str, Path]) -> None:
    for agent in (writer, modern):
        refused = agent.refused("abi_dump", library_path=str(libraries["2.0"]), output_path="/tmp/new.json")
        assert refused["code"] == "WRITE_DISABLED"
        assert refused["hint"] == "start the server with --allow-write and --export-root"


@pytest.mark.parametrize(
    ("path", "code", "error"),
    [
        ("geo.json", "INVALID_ARGUMENT", "output_path is a relative path"),
        ("{root}/geo.txt", "INVALID_ARGUMENT", "output_path must have a .json extension, got: '.txt'"),
        ("{root}/geo", "INVALID_ARGUMENT", "output_path must have a .json extension, got: ''"),
        ("{root}", "INVALID_ARGUMENT", "output_path must have a .json extension, got: ''"),
        ("{root}/../geo.json", "PATH_DENIED", "output_path is not below the export root"),
        ("{root}/inner/../../../geo.json", "PATH_DENIED", "output_path is not below the export root"),
        ("{root}-other/geo.json", "PATH_DENIED", "output_path is not below the export root"),
        ("/etc/geo.json", "PATH_DENIED", "output_path is not below the export root"),
        ("//etc/geo.json", "PATH_DENIED", "output_path is not below the export root"),
        ("{root}/.ssh/geo.json", "PATH_DENIED", "output_path is in a folder of the system, or of keys"),
        ("{root}/none/geo.json", "PATH_DENIED", "output_path is in a folder that does not exist"),
        ("{root}/link/geo.json", "PATH_DENIED", "output_path leads through a symbolic link, or a file"),
        ("{root}/file.json", "PATH_DENIED", "output_path exists already: nothing is overwritten"),
        ("{root}/dangling.json", "PATH_DENIED", "output_path exists already: nothing is overwritten"),
        ("{root}/pipe.json", "PATH_DENIED", "output_path exists already: nothing is overwritten"),
    ],
)
def test_no_path_leads_elsewhere(
    path: str, code: str, error: str, exporter: Agent, root: Path, libraries: dict[str, Path], tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "link").symlink_to(outside)
    (root / "dangling.json").symlink_to(outside / "new.json")
    (root / "file.json").write_text("mine")
    os.mkfifo(root / "pipe.json")
    refused = exporter.refused("abi_dump", library_path=str(libraries["1.0"]), output_path=path.format(root=root))
    assert (refused["code"], refused["error"]) == (code, error)
    assert list(outside.iterdir()) == []
    assert (root / "file.json").read_text() == "mine"
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("folder", ["/etc", "/usr/bin", "/dev", "/proc/self", "/home/ana/.ssh", "/home/ana/.config/gh"])
def test_no_export_root_opens_folders_of_the_system_and_of_keys(folder: str) -> None:
    settings = Settings(export_root="/")
    with pytest.raises(Refusal, match="folder of the system, or of keys"):
        check_export(settings, f"{folder}/geo.json")


def test_a_root_that_is_reached_by_a_link_is_the_folder_that_it_leads_to(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "way"
    link.symlink_to(root)
    for number, given in enumerate((link, root)):
        write_new(Settings(export_root=str(link)), str(given / f"{number}.json"), b"{}")
    assert sorted(path.name for path in root.glob("*.json")) == ["0.json", "1.json"]
