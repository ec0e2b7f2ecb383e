"""Every command gives its answer in a process of its own, as a shell starts it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema
import pytest

from abistore.cli.main import cli
from abistore.cli.verbs import answer_types, declared
from abistore.report.plain import answers_schema
from tests.build import build_library
from tests.cli.commands import commands
from tests.cli.conftest import NEW, OLD
from tests.warm import starting

ANSWERS = {
    "approve export": ("", 0, "  - "),
    "approve list": ("libcase", 0, "accepted once"),
    "approve sync": ("approvals.yaml", 0, "the database matches the file"),
    "approve withdraw": ("GONE --reason enough", 0, "withdrawn"),
    "approve add": ("GROWN --reason wanted", 0, "approved"),
    "db baseline clear": ("libcase", 0, "release is cleared"),
    "db baseline history": ("libcase", 0, "release  1.0"),
    "db baseline list": ("", 0, "release  1.0"),
    "db baseline promote": ("libcase release candidate --reason tested", 0, "baseline candidate is 1.0"),
    "db baseline set": ("libcase@1.1", 0, "baseline release is 1.1"),
    "approve note": ("GROWN seen", 0, "seen"),
    "archive ingest": ("items.txt", 0, "1 stored"),
    "archive report": ("--since 2020-01-01", 0, "libcase"),
    "blame": ("libcase", 0, "gone"),
    "changes": ("", 0, "func_removed"),
    "compare": ("old.so new.so", 4, "BREAKING"),
    "config completion": ("bash", 0, "_abistore_completion"),
    "config schema": ("policy", 0, '"$defs"'),
    "config show": ("", 0, "ABISTORE_DB"),
    "consumers add": ("app --name other", 0, "other"),
    "consumers broken": ("libcase@2.0", 4, "breaks 1 of 1 known consumer"),
    "consumers list": ("", 0, "app"),
    "consumers remove": ("app", 0, "app"),
    "consumers show": ("app", 0, "norm"),
    "consumers using": ("libcase norm", 0, "app"),
    "db audit": ("", 0, "schema 0"),
    "db backup": ("backup.db", 0, "written"),
    "db check": ("", 0, "sound"),
    "db forget": ("libcase@2.0", 0, "2.0"),
    "db init": ("", 0, "exists"),
    "db merge": ("other.db", 0, "nothing new"),
    "db prune": ("--keep-last 1 --dry-run", 0, ""),
    "db scheme": ("libcase pep440", 0, "pep440"),
    "db stats": ("", 0, "releases"),
    "db upgrade": ("", 0, "up to date"),
    "db vacuum": ("", 0, "bytes"),
    "env can-ship": ("libcase@1.1 --to production", 0, "libcase@1.1 may ship to production"),
    "env diff": ("production staging", 0, "libcase"),
    "env drift": ("empty --env production", 69, "missing"),
    "env list": ("", 0, "production: 2 members"),
    "env record": ("staging libcase@1.1", 0, "recorded libcase@1.1 in staging"),
    "env remove": ("production libcase", 0, "libcase"),
    "explain": ("func_removed", 0, "An exported function was removed."),
    "export": ("libcase@1.1", 0, '"release":"1.1"'),
    "gate": ("new.so --version 3.0", 4, "BREAKING"),
    "history": ("libcase", 0, "2.0"),
    "import": ("snapshot.json", 0, "known"),
    "init": ("", 0, "library   libcase"),
    "ingest": ("new.so --version 3.0", 0, "stored    libcase 3.0"),
    "list": ("", 0, "libcase"),
    "log": ("norm", 0, "first stored  norm"),
    "matrix": ("libcase", 0, "built against"),
    "mcp call": ("abi_list", 0, "1 line stored"),
    "mcp config": ("claude-code", 0, "mcp"),
    "mcp prompts": ("", 0, "review_release"),
    "mcp resources": ("", 0, "abistore://libraries"),
    "mcp serve": ("", 0, ""),
    "mcp skill": ("", 0, "# Review an ABI with abistore"),
    "mcp token": ("tokens", 0, "tokens: a token"),
    "mcp tools": ("", 0, "abi_compare"),
    "comment": ("accepted.yaml", 64, ""),
    "notify": ("", 0, '{"cursor":"'),
    "policy bind": ("libcase --reason tested", 0, "bound: libcase to the default policy"),
    "policy bound": ("", 0, "libother"),
    "policy unbind": ("libother --reason tested", 0, "libother"),
    "policy check": ("policy.yaml", 0, "own: sound"),
    "policy show": ("", 0, "strict_abi"),
    "db release edit": ("libcase@2.0 --revision abc", 0, "2.0"),
    "db release tag": ("libcase@2.0 lts", 0, "libcase 2.0: lts"),
    "site": ("-o site", 0, "1 library, 3 releases"),
    "show": ("libcase@1.1", 0, "exports       3"),
    "policy suppress check": ("accepted.yaml", 0, "sound: 1 suppression"),
    "policy suppress list": ("accepted.yaml", 0, "gone"),
    "policy suppress suggest": ("old.so new.so", 0, "suppressions:"),
    "verdict": ("libcase@2.0", 4, "BREAKING"),
    "whatif": ("libcase@2.0 --declare DECLARED", 4, "BREAKING"),
    "witness": ("old.so new.so", 0, "undefined reference to `gone'"),
}
"""Words behind each command, the exit code, and what it prints among other things. Words in capitals are filled in."""

DECLARED = "struct point { int x, y; };"
EXTENDED = "struct point { int x, y, z; };"

APP = f"""
{DECLARED}
int norm(const struct point *p);
int main(void) {{ struct point p = {{1, 2}}; return norm(&p); }}
"""


def start(place: Path, *words: str, warm: bool = False) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ABISTORE_DB": str(place / "abi.db")}
    command = starting.abistore(environment) if warm else starting.REAL
    return subprocess.run(
        [*command, *words], cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def asked(of_three: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of its own that remembers the verdict of the last release."""
    database = tmp_path_factory.mktemp("asked") / "abi.db"
    shutil.copy(of_three, database)
    start(database.parent, "verdict", "libcase@2.0")
    return database


@pytest.fixture(scope="module")
def findings(asked: Path) -> dict[str, str]:
    """The identities of what broke in the last release, by what broke."""
    done = start(asked.parent, "verdict", "libcase@2.0", "--json")
    changes = json.loads(done.stdout)["data"]["changes"]
    found = {"GONE": identity(changes, "gone"), "GROWN": identity(changes, "point")}
    return found | {"DECLARED": DECLARED, "EXTENDED": EXTENDED}


def identity(changes: list[dict[str, str]], symbol: str) -> str:
    (found,) = {each["id"] for each in changes if symbol in json.dumps(each)}
    return found


@pytest.fixture(scope="module")
def sound(asked: Path, findings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands read, and a store with three releases, a baseline, a consumer and an approval."""
    place = tmp_path_factory.mktemp("sound")
    shutil.copy(asked, place / "abi.db")
    shutil.copy(asked, place / "other.db")
    for name, source in (("old", OLD), ("new", NEW)):
        shutil.copy(build_library(source), place / f"{name}.so")
    (place / "app.c").write_text(
        f"{DECLARED} int norm(const struct point *); int main(void) {{ struct point p = {{1, 2}}; return norm(&p); }}\n"
    )
    subprocess.run(["gcc", "-g", "app.c", "-o", "app", "old.so"], cwd=place, check=True)
    (place / "empty").mkdir()
    (place / "items.txt").write_text("new.so 3.0\n")
    (place / "policy.yaml").write_text("name: own\nbase: strict_abi\n")
    (place / "approvals.yaml").write_text("project: case\napprovals: []\n")
    (place / "accepted.yaml").write_text("suppressions:\n  - symbol: gone\n    reason: nobody called it\n")
    for words in (
        ("db", "baseline", "set", "libcase@1.0"),
        ("consumers", "add", "app"),
        ("approve", findings["GONE"], "--reason", "accepted once"),
        ("env", "record", "production", "libcase@1.0", "app"),
        ("env", "record", "staging", "libcase@2.0"),
        ("policy", "bind", "libother", "--reason", "why"),
        ("export", "libcase@1.1", "-o", "snapshot.json"),
    ):
        done = start(place, *words)
        assert done.returncode == 0, done.stderr
    return place


@pytest.mark.parametrize("command", ANSWERS)
def test_a_command_answers_in_a_process_of_its_own(
    command: str, sound: Path, findings: dict[str, str], tmp_path: Path
) -> None:
    shutil.copytree(sound, tmp_path, dirs_exist_ok=True)
    words, code, printed = ANSWERS[command]
    done = start(tmp_path, *command.split(), *(findings.get(word, word) for word in words.split()))
    assert done.returncode == code, done.stdout + done.stderr
    assert printed in done.stdout


SCHEMA = answers_schema({words: answer_types(each) for words, each in declared(cli)})
UNTIL_CLOSED = {"mcp serve"}
"""What answers no question."""

OTHER_ANSWERS = {
    "approve export": ("-o out.yaml",),
    "approve list": ("--notes", "libcase --past"),
    "approve sync": ("other.yaml --check", "nowhere.yaml"),
    "blame": ("point",),
    "changes": ("--established",),
    "compare": (
        "old.so old.so",
        "old.so new.so --bisect",
        "old.so bare.so --require layout",
        "old.so nowhere.so",
        "old.so new.so -o out.json",
        "old.so new.so -o out.sarif",
        "old.so",
    ),
    "db check": ("--db damaged.db",),
    "db merge": ("conflict.db --dry-run",),
    "explain": ("GONE",),
    "export": (
        "libcase@1.1 -o out.json",
        "new.so -o out.json",
        "--bundle -o out.bundle",
        "libcase@1.1 --format version-script",
    ),
    "gate": (
        "old.so --version 1.0.1",
        "bare.so --version 3.0",
        "nowhere.so --version 3.0",
        "old.so new.so --version 3.0 -o out.json",
    ),
    "history": ("libcase --compare-with-strict --policy sdk_vendor", "libcase -o out.json"),
    "import": ("whole.bundle",),
    "ingest": ("new.so --version 3.0 --against 1.0", "nowhere.so --version 3.0", "bare.so --version 3 --against 1.0"),
    "list": ("libcase", "--provides norm"),
    "matrix": ("libcase@1.0", "--program app"),
    "mcp call": ("abi_list library=libgoe",),
    "mcp serve": ("--check",),
    "policy suppress suggest": ("old.so new.so -o out.yaml",),
    "show": (
        "libcase@1.1 norm",
        "libcase@1.1 --exports",
        "libcase@1.1 --types",
        "libcase --users point",
        "libcase --exports --unused",
        "libcase --deprecated",
        "nowhere@1",
    ),
    "verdict": (
        "libcase@1.1",
        "libcase@2.0 --all-baselines",
        "libcase@2.0 --all-targets",
        "libcase@2.0 --statement",
        "libcase@2.0 -o out.json",
    ),
    "whatif": ("libcase@1.0 --declare EXTENDED",),
}
"""Other words behind commands: each answer that one may give, what passes, fails and stays undecided, and errors."""

PRINTS_A_FILE = {("export", "libcase@1.1")}
CALLS = {(command, words) for command, (words, *_) in ANSWERS.items() if command not in UNTIL_CLOSED}
CALLS |= {(command, words) for command, several in OTHER_ANSWERS.items() for words in several}
CODES = {"pass": {0}, "fail": {1, 2, 4}, "undecided": {72}}
"""What may be the exit code of an outcome: 1 is what `git bisect` reads."""


@pytest.fixture(scope="module")
def unsound(sound: Path, findings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, with a library without debug information, and stores and files that disagree or are damaged."""
    place = tmp_path_factory.mktemp("unsound")
    shutil.copytree(sound, place, dirs_exist_ok=True)
    subprocess.run(["strip", "-g", "-o", "bare.so", "old.so"], cwd=place, check=True)
    shutil.copy(sound / "abi.db", place / "damaged.db")
    with sqlite3.connect(place / "damaged.db") as damaged:
        damaged.execute("UPDATE shape SET body = body || ' ' WHERE id = (SELECT min(id) FROM shape)")
    damaged.close()
    for words in (
        ("ingest", "new.so", "--version", "1.0", "--db", "conflict.db"),
        ("export", "--bundle", "-o", "whole.bundle"),
        ("approve", "GROWN", "--reason", "wanted", "--db", "other.db"),
        ("approve", "export", "--db", "other.db", "-o", "other.yaml"),
    ):
        done = start(place, *(findings.get(word, word) for word in words))
        assert done.returncode == 0, done.stderr
    return place


def asked_for_json(unsound: Path, findings: dict[str, str], place: Path, words: str) -> tuple[int, dict[str, Any]]:
    """The exit code of a command in a copy of a folder, and the one object that it prints."""
    shutil.copytree(unsound, place, dirs_exist_ok=True)
    done = start(place, *(findings.get(word, word) for word in words.split()), "--json", warm=True)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize(("command", "words"), sorted(CALLS - PRINTS_A_FILE))
def test_json_is_one_object_that_says_what_the_process_does_and_fits_its_schema(
    command: str, words: str, unsound: Path, findings: dict[str, str], tmp_path: Path
) -> None:
    code, answer = asked_for_json(unsound, findings, tmp_path, f"{command} {words}")
    shape = {"$ref": f"#/$defs/{quote(f'verb {command}')}", "$defs": SCHEMA["$defs"]}
    jsonschema.Draft202012Validator(shape).validate(answer)
    assert answer["exit_code"] == code
    assert code in CODES.get(answer["outcome"], {code})
    assert (answer["error"] is not None) == (code >= 64)
    assert answer["error"] or answer["data"] is not None
    if "-o out.json" in words and command != "export":
        assert json.loads((tmp_path / "out.json").read_text()) == answer


CONCLUSIONS = {
    "compare old.so old.so": (0, "pass", "NO_CHANGE", None),
    "compare old.so new.so": (4, "fail", "BREAKING", None),
    "compare old.so new.so --fail-on never": (0, "pass", "BREAKING", None),
    "compare old.so new.so --bisect": (1, "fail", "BREAKING", None),
    "compare old.so bare.so --require layout": (72, "undecided", "NO_CHANGE", "evidence"),
    "compare old.so nowhere.so": (65, None, None, "input"),
    "compare old.so nowhere.so --bisect": (125, None, None, "input"),
    "compare old.so": (64, None, None, "usage"),
    "frobnicate": (64, None, None, "usage"),
    "gate new.so --version 3.0": (4, "fail", "BREAKING", None),
    "gate old.so --version 1.0.1": (0, "pass", "NO_CHANGE", None),
    "gate old.so nowhere.so --version 1.0.1": (65, None, None, "input"),
    "ingest new.so --version 3.0": (0, None, None, None),
    "ingest new.so --version 3.0 --against 1.0": (4, "fail", "BREAKING", None),
    "ingest bare.so --version 3.0 --against 1.0": (72, "undecided", "NO_CHANGE", "evidence"),
    "verdict libcase@2.0": (4, "fail", "BREAKING", None),
    "verdict libcase@2.0 --statement": (4, "fail", "BREAKING", None),
    "verdict libcase@2.0 --all-baselines": (4, "fail", "BREAKING", None),
    "whatif libcase@2.0 --declare DECLARED": (4, "fail", "BREAKING", None),
    "consumers broken libcase@2.0": (4, "fail", "BREAKING", None),
    "consumers broken libcase@1.1": (0, "pass", None, None),
    "db check": (0, None, None, None),
    "db check --db damaged.db": (74, None, None, "store"),
    "history libcase": (0, None, None, None),
}
"""The exit code, outcome, verdict and error of calls."""


@pytest.mark.parametrize("words", CONCLUSIONS)
def test_an_answer_says_what_was_decided(words: str, unsound: Path, findings: dict[str, str], tmp_path: Path) -> None:
    code, answer = asked_for_json(unsound, findings, tmp_path, words)
    error = answer["error"] and answer["error"]["code"]
    assert (code, answer["outcome"], answer["verdict"], error) == CONCLUSIONS[words]


def test_every_command_is_asked() -> None:
    assert set(ANSWERS) == {" ".join(words) for words, _ in commands()}
