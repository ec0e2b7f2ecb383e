"""What docs/reference/stability.md promises: what was kept of former releases is still there, and is read."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import abistore
from abistore.model.snapshot_files import FORMAT_VERSION, from_json, to_json
from tests.cli.conftest import Call
from tests.promises.kept import FOLDER, PROMISES, kept

STABILITY = FOLDER.parents[1] / "docs" / "reference" / "stability.md"
SNAPSHOTS = sorted(FOLDER.glob("snapshot-*.json"))
BUNDLES = sorted(FOLDER.glob("bundle-*.bundle"))

ASKED = {
    "list": (),
    "history": ("libcase",),
    "verdict": ("libcase@2.0",),
    "compare": ("libcase@1.0", "libcase@2.0"),
    "show": ("libcase@2.0", "point"),
    "log": ("point",),
    "blame": ("libcase",),
    "matrix": ("libcase",),
    "explain": ("func_removed",),
    "changes": (),
    "db stats": (),
    "db baseline list": (),
}
"""Verbs whose answers an old reader reads."""


@pytest.mark.parametrize("name", sorted(PROMISES))
def test_what_was_kept_is_still_there(name: str) -> None:
    """If this fails, a script, a reader or a program breaks: keep the old beside the new, as docs/reference says."""
    promise = PROMISES[name]
    assert promise.broken(kept(name), promise.today()) == []


@pytest.mark.parametrize("verb", sorted(ASKED))
def test_a_reader_of_the_first_schema_reads_the_answers_of_today(verb: str, stored: Call) -> None:
    schema = kept("answers-1")
    reader = Draft202012Validator({"$ref": f"#/$defs/verb {verb}".replace(" ", "%20"), "$defs": schema["$defs"]})
    done = stored(*verb.split(), *ASKED[verb], "--json")
    assert done.envelope["schema"] == f"abistore/{verb.replace(' ', '-')}/1"
    assert [error.message for error in reader.iter_errors(done.envelope)] == []


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.stem)
def test_a_snapshot_file_of_every_format_is_read(path: Path) -> None:
    said = json.loads(path.read_bytes())
    read = from_json(path.read_bytes())
    assert set(read.entries) == set(said["facets"])
    if said["version"] == FORMAT_VERSION:
        assert json.loads(to_json(read)) == said


@pytest.mark.parametrize("path", BUNDLES, ids=lambda path: path.stem)
def test_a_bundle_of_every_format_is_imported(path: Path, tmp_path: Path) -> None:
    (done,) = abistore.import_bundles([path], abistore.MergePlan(), database=tmp_path / "abi.db")
    assert {str(each.version) for each in done.releases} >= {"1.0", "1.1", "1.2", "R_1"}
    assert abistore.db_check(database=tmp_path / "abi.db") == ()


def test_the_formats_of_today_are_kept() -> None:
    assert SNAPSHOTS and SNAPSHOTS[-1].name == f"snapshot-{FORMAT_VERSION}.json"
    assert BUNDLES


def test_the_page_names_the_test_of_each_promise() -> None:
    page = STABILITY.read_text()
    assert all(f"`{name}.json`" in page for name in PROMISES)


Breaking = Callable[[Any], object]

BREAKS: dict[str, tuple[str, Breaking]] = {
    "a verb is removed": ("commands", lambda today: today.pop("gate")),
    "an option is removed": ("commands", lambda today: today["gate"]["options"].pop("--merge-base")),
    "an option takes no value": ("commands", lambda today: today["gate"]["options"].update({"-o": {"takes": "flag"}})),
    "a word of an option is removed": (
        "commands",
        lambda today: today["gate"]["options"]["--fail-on"]["words"].remove("risk"),
    ),
    "an option is required": ("commands", lambda today: today["gate"]["options"]["--policy"].update(required=True)),
    "an argument is added": (
        "commands",
        lambda today: today["gate"]["arguments"].append({"required": True, "many": False}),
    ),
    "a code is removed": ("codes", lambda today: today["errors"].pop("evidence")),
    "a code exits otherwise": ("codes", lambda today: today["errors"].update(evidence=71)),
    "a key of an answer is removed": (
        "answers-1",
        lambda today: today["$defs"]["Summary"]["properties"].pop("breaking"),
    ),
    "a key of an answer may be missing": (
        "answers-1",
        lambda today: today["$defs"]["Summary"]["required"].remove("breaking"),
    ),
    "a key of an answer is retyped": (
        "answers-1",
        lambda today: today["$defs"]["Summary"]["properties"].update(breaking={"type": "string"}),
    ),
    "a key of an answer may be null": (
        "answers-1",
        lambda today: today["$defs"]["Summary"]["properties"].update(
            breaking={"anyOf": [{"type": "integer"}, {"type": "null"}]}
        ),
    ),
    "a schema has another number": (
        "answers-1",
        lambda today: today["$defs"]["verb gate"]["properties"]["schema"].update(const="abistore/gate/2"),
    ),
    "an outcome is new": (
        "answers-1",
        lambda today: today["$defs"]["verb gate"]["properties"]["outcome"]["anyOf"][0]["enum"].append("perhaps"),
    ),
    "a key of a file is removed": (
        "files",
        lambda today: today["abistore.toml"]["$defs"]["GateTable"]["properties"].popitem(),
    ),
    "a function is removed": ("python", lambda today: today.pop("compare")),
    "a parameter is removed": ("python", lambda today: today["compare"]["parameters"].pop()),
    "a parameter is required": ("python", lambda today: today["compare"]["parameters"].append(["more", True, True])),
    "a position is changed": ("python", lambda today: today["compare"]["parameters"].insert(1, ["x", False, False])),
    "a field is removed": ("python", lambda today: today["Report"]["fields"].pop()),
    "a field of a plan is required": ("python", lambda today: today["IngestPlan"]["fields"].append(["x", True])),
    "an error has another base": ("python", lambda today: today["NoLibrary"]["bases"].remove("InputError")),
    "a tool is removed": ("mcp", lambda today: today["tools"].pop("abi_compare")),
    "an argument of a tool is required": (
        "mcp",
        lambda today: today["tools"]["abi_list"]["arguments"].update(required=["library"]),
    ),
    "an argument of a tool is removed": (
        "mcp",
        lambda today: today["tools"]["abi_list"]["arguments"]["properties"].pop("library"),
    ),
    "a key of a tool is removed": (
        "mcp",
        lambda today: today["tools"]["abi_list"]["answer"]["properties"].pop("items"),
    ),
    "an address is removed": ("mcp", lambda today: today["addresses"].pop()),
    "a prompt is removed": ("mcp", lambda today: today["prompts"].popitem()),
    "a kind is removed": ("kinds", lambda today: today.remove("func_removed")),
}


@pytest.mark.parametrize("case", sorted(BREAKS))
def test_a_break_of_a_promise_is_found(case: str) -> None:
    name, change = BREAKS[case]
    before = kept(name)
    after = copy.deepcopy(before)
    change(after)
    assert PROMISES[name].broken(before, before) == []
    assert PROMISES[name].broken(before, after) != []


ADDITIONS: dict[str, tuple[str, Breaking]] = {
    "an option": ("commands", lambda today: today["gate"]["options"].update({"--new": {"takes": "flag"}})),
    "a verb": ("commands", lambda today: today.update(new={"arguments": [], "options": {}})),
    "a code": ("codes", lambda today: today["errors"].update(new=65)),
    "a key": ("answers-1", lambda today: today["$defs"]["Summary"]["properties"].update(new={"type": "string"})),
    "a parameter": ("python", lambda today: today["compare"]["parameters"].append(["new", True, False])),
    "an argument": (
        "mcp",
        lambda today: today["tools"]["abi_list"]["arguments"]["properties"].update(new={"type": "string"}),
    ),
    "a kind": ("kinds", lambda today: today.append("new_kind")),
}


@pytest.mark.parametrize("case", sorted(ADDITIONS))
def test_what_is_added_breaks_no_promise(case: str) -> None:
    name, change = ADDITIONS[case]
    before = kept(name)
    after = copy.deepcopy(before)
    change(after)
    assert before != after
    assert PROMISES[name].broken(before, after) == []
