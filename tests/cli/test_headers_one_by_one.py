"""Headers that were given one by one: gone where the folder holds them no more, else not given."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.model.snapshot import HeadersRead
from abistore.model.snapshot_files import from_json, to_json
from tests.build import build_library
from tests.cli.conftest import Call

pytestmark = pytest.mark.full

SOURCE = "int norm(int x) { return x; } int other(int x) { return x; }"
API = "int norm(int);\n"
OTHER = "#define LIMIT 4\nint other(int);\n"


def release(tmp_path: Path, name: str, **files: str) -> Path:
    """A folder of headers: ``api="..."`` is its ``api.h``, ``geo__api`` that of ``geo``."""
    for file, text in files.items():
        path = tmp_path / name / f"{file.replace('__', '/')}.h"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / name


def built(extra: str = "") -> Path:
    return build_library(SOURCE + extra, flags=("-g",))


def headers(folder: Path, *names: str, word: str = "--header") -> list[str | Path]:
    return [each for name in names for each in (word, folder / name)]


def compared(abistore: Call, old: list[str | Path], new: list[str | Path]) -> tuple[str, set[str], list[str]]:
    """The verdict, the symbols and parts that changed, and what is said of headers that were not given."""
    done = abistore("compare", built(), built(), *old, *new, "--json")
    told = [one["detail"] for one in done.json["not_checked"] if one["reason"] == "headers-not-given"]
    return (
        done.json["verdict"],
        {each[key] for each in done.json["changes"] for key in ("symbol", "part") if each[key]},
        told,
    )


def test_a_header_that_the_folder_holds_no_more_is_gone(abistore: Call, tmp_path: Path) -> None:
    old, new = release(tmp_path, "old", api=API, other=OTHER), release(tmp_path, "new", api=API)
    asked = headers(old, "api.h", "other.h", word="--old-header"), headers(new, "api.h", word="--new-header")
    verdict, changed, told = compared(abistore, *asked)
    assert (verdict, told) == ("API_BREAK", [])
    assert {"LIMIT", "other.h"} <= changed


def test_a_header_that_lies_there_was_not_given(abistore: Call, tmp_path: Path) -> None:
    old, new = (release(tmp_path, each, api=API, other=OTHER) for each in ("old", "new"))
    asked = headers(old, "api.h", "other.h", word="--old-header"), headers(new, "api.h", word="--new-header")
    verdict, changed, told = compared(abistore, *asked)
    assert (verdict, changed) == ("NO_CHANGE", set())
    assert told == [
        "other.h lies beside the given headers and was given for the other side, but not for the new side: "
        "changes in the missing part are not reported"
    ]


def test_of_headers_that_lie_elsewhere_nothing_is_known(abistore: Call, tmp_path: Path) -> None:
    """The folder that the other one lay in was given nothing of."""
    old = release(tmp_path, "old", one__api=API, two__other=OTHER)
    new = release(tmp_path, "new", one__api=API)
    asked = (
        headers(old, "one/api.h", "two/other.h", word="--old-header"),
        headers(new, "one/api.h", word="--new-header"),
    )
    verdict, changed, told = compared(abistore, *asked)
    assert (verdict, changed, len(told)) == ("NO_CHANGE", set(), 1)
    assert told[0].startswith("other.h was given for the other side, but not for the new side")


def test_a_header_that_comes_is_new(abistore: Call, tmp_path: Path) -> None:
    old, new = release(tmp_path, "old", api=API), release(tmp_path, "new", api=API, other=OTHER)
    asked = headers(old, "api.h", word="--old-header"), headers(new, "api.h", "other.h", word="--new-header")
    verdict, changed, told = compared(abistore, *asked)
    assert (verdict, told) == ("COMPATIBLE", [])
    assert {"LIMIT", "other.h"} <= changed


@pytest.mark.parametrize(("lies", "verdict"), [(False, "API_BREAK"), (True, "NO_CHANGE")])
def test_headers_of_one_name_are_told_apart_by_their_folders(
    abistore: Call, tmp_path: Path, lies: bool, verdict: str
) -> None:
    own: dict[str, str] = {"api": '#include "geo/api.h"\n', "geo__api": API}
    old = release(tmp_path, "geo-1.4", **own, geo__other=OTHER, other="int top;\n")
    new = release(tmp_path, "geo-1.5", **own, **({"geo__other": OTHER} if lies else {}), other="int top;\n")
    names = "api.h", "geo/api.h", "other.h"
    asked = (
        headers(old, *names, "geo/other.h", word="--old-header"),
        headers(new, *names, word="--new-header"),
    )
    found = compared(abistore, *asked)
    assert found[0] == verdict, found


@pytest.mark.parametrize(("lies", "code"), [(False, 2), (True, 72)])
def test_a_gate_knows_what_is_gone_from_the_stored_release(
    abistore: Call, tmp_path: Path, lies: bool, code: int
) -> None:
    folder = release(tmp_path, "include", api=API, other=OTHER)
    words = ("--library", "libcase", *headers(folder, "api.h"))
    first = abistore("ingest", built(), *words, *headers(folder, "other.h"), "--version", "1.0", "--set-baseline")
    assert first.code == 0, first.err
    if not lies:
        (folder / "other.h").unlink()
    new = built(" int newer;")
    done = abistore("gate", new, *words, "--version", "1.1", "--require", "source")
    assert done.code == code, done.out + done.err
    assert abistore("ingest", new, *words, "--version", "1.1").code == 0
    stored = abistore("compare", "libcase@1.0", "libcase@1.1", "--json")
    assert (stored.json["verdict"] == "API_BREAK") is not lies


@pytest.mark.parametrize("side", ["old", "new"])
def test_a_snapshot_of_before_does_not_tell_what_is_gone(abistore: Call, tmp_path: Path, side: str) -> None:
    old, new = release(tmp_path, "old", api=API, other=OTHER), release(tmp_path, "new", api=API)
    paths = dict[str, Path]()
    for place, given in (("old", headers(old, "api.h", "other.h")), ("new", headers(new, "api.h"))):
        paths[place] = tmp_path / f"{place}.json"
        snapshot = from_json(abistore("export", built(), *given).out.encode())
        read = snapshot.provenance.headers
        assert isinstance(read, HeadersRead)
        former = replace(snapshot, provenance=replace(snapshot.provenance, headers=replace(read, folders=())))
        paths[place].write_bytes(to_json(former if place == side else snapshot))
    done = abistore("compare", paths["old"], paths["new"], "--json")
    assert done.json["verdict"] == "NO_CHANGE"
    assert [one["reason"] for one in done.json["not_checked"]].count("headers-not-given") == 1
