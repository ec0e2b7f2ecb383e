"""Rules that are bound in the store: no option, file or argument makes a gate pass that fails under the rule alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import abistore as python
from abistore.cli.main import cli
from tests.build import build_library
from tests.cli.conftest import Call, Done
from tests.shipped import program

pytestmark = pytest.mark.fast

WHY = ("--reason", "LIB-7", "--actor", "ana")
FIRST = "struct point { int x, y; }; int norm(struct point *p) { return p->x; } int gone(void) { return 1; }"
SECOND = FIRST.replace("int gone(void) { return 1; }", "int fresh(void) { return 2; }")
THIRD = FIRST.replace("int x, y", "int x, z, y")
LESS = "policy.yaml", "name: mild\nbase: strict_abi\nkinds:\n  func_removed: {impact: compatible, reason: ours}\n"
SUPPRESSIONS = (
    "known.yaml",
    "suppressions:\n  - symbol: gone\n    change_kind: func_removed\n    reason: nobody calls it\n",
)


def library(source: str, *flags: str) -> Path:
    return build_library(source, name="libfoo.so", soname="libfoo.so.1", flags=flags or ("-g",))


@pytest.fixture
def released(abistore: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command line over a release that is the baseline, in a folder with a mild policy and a suppression."""
    monkeypatch.chdir(tmp_path)
    for name, text in (LESS, SUPPRESSIONS):
        (tmp_path / name).write_text(text)
    words = ("--version", "1.0", "--set-baseline", "--revision", "0123456789")
    assert abistore("ingest", library(FIRST), *words).code == 0
    return abistore


def gate(call: Call, *words: str, version: str = "1.1") -> Done:
    return call("gate", library(SECOND), "--version", version, *words)


LOOSER = {
    "fails on nothing": ("--fail-on", "never"),
    "suppresses it": ("--suppress", "known.yaml"),
    "has a mild policy": ("--policy", "policy.yaml"),
    "allows it by its label": ("--allow", "major"),
    "asks for no evidence": ("--require", "none", "--fail-on", "never"),
    "passes over what the merge base has": ("--introduced-only", "--merge-base", "0123456789"),
}
"""Ways of a command line to let a release pass that removes an export; the last one needs a build that has it."""


@pytest.mark.parametrize("words", LOOSER.values(), ids=LOOSER)
def test_an_option_that_lets_more_pass_is_refused(released: Call, words: tuple[str, ...]) -> None:
    if "--introduced-only" in words:
        released("ingest", library(SECOND), "--version", "1.0.1", "--revision", "abcdef0123")
        words = ("--introduced-only", "--merge-base", "abcdef0123")
    version = "2.0"
    assert gate(released, *words, version=version).code == 0
    assert released("policy", "bind", "lib*", *WHY).code == 0
    alone = gate(released, version=version)
    assert alone.code == 4
    bound = gate(released, *words, "--json", version=version)
    assert bound.code == 64
    assert bound.json["files"][0]["judged"]["code"] == "rule-bound"


ELSEWHERE = [
    (verb, what)
    for verb, without in {"ingest": (), "verdict": (), "compare": ("allows it by its label",)}.items()
    for what in LOOSER
    if what not in (*without, "passes over what the merge base has")
]
"""The other verbs, with the ways that they have."""


@pytest.mark.parametrize(("verb", "what"), ELSEWHERE)
def test_no_verb_lets_it_pass(released: Call, verb: str, what: str) -> None:
    assert released("ingest", library(SECOND), "--version", "1.1").code == 0
    released("policy", "bind", "libfoo", *WHY)
    calls: dict[str, tuple[str | Path, ...]] = {
        "ingest": ("ingest", library(SECOND), "--version", "1.1", "--against", "baseline"),
        "verdict": ("verdict", "libfoo@1.1", "--against", "baseline"),
        "compare": ("compare", "libfoo@1.0", library(SECOND)),
    }
    assert released(*calls[verb]).code == 4
    assert released(*calls[verb], *LOOSER[what]).code == 64


FORMS = {"format", "mode", "color", "json", "quiet", "verbose", "help", "help_all", "github", "gitlab", "output"}
"""Options about the answer alone."""


def ways() -> Iterator[tuple[str, ...]]:
    """Every flag of `gate`, and every choice with each of its values."""
    command = cli.get_command(click.Context(cli), "gate")
    assert command is not None
    for option in command.params:
        if not isinstance(option, click.Option) or option.name in FORMS or option.is_eager:
            continue
        if isinstance(option.type, click.Choice):
            yield from ((option.opts[0], str(value)) for value in option.type.choices)
        elif option.is_flag:
            yield from ((name,) for name in (*option.opts, *option.secondary_opts) if name.startswith("--"))


@pytest.mark.parametrize("version", ["1.1", "2.0"])
def test_no_flag_and_no_choice_of_a_gate_makes_it_pass(released: Call, version: str) -> None:
    released("policy", "bind", "lib*", "--since-soname", *WHY)
    assert gate(released, version=version).code == 4
    every = [*ways(), ("--library", "another", "--bootstrap"), ("--channel", "another", "--bootstrap")]
    assert len(every) > 12
    passed = [words for words in every if gate(released, *words, version=version).code == 0]
    assert passed == []


def test_what_is_stricter_holds(released: Call) -> None:
    released("policy", "bind", "libfoo", *WHY)
    same = released("gate", library(FIRST), "--version", "1.1", "--fail-on", "risk", "--allow", "never")
    assert same.code == 0
    assert gate(released, "--require", "layout,symbol").code == 4


def test_a_projects_file_does_not_make_it_pass(released: Call, tmp_path: Path) -> None:
    (tmp_path / "abistore.toml").write_text('suppress = ["known.yaml"]\npolicy = "policy.yaml"\n')
    assert gate(released).code == 0
    released("policy", "bind", "libfoo", *WHY)
    assert gate(released).code == 64


def test_an_agent_does_not_make_it_pass(released: Call) -> None:
    assert released("ingest", library(SECOND), "--version", "1.1").code == 0
    released("policy", "bind", "libfoo", *WHY)
    call = ("mcp", "call", "abi_gate", "library=libfoo", "version=1.1", "fail_on=never")
    assert "bound in the store" in released(*call).out + released(*call).err
    compared = released(
        "mcp", "call", "abi_compare", "old_input=libfoo@1.0", "new_input=libfoo@1.1", "policy=plugin_abi"
    )
    assert "bound in the store" in compared.out + compared.err


def test_python_does_not_make_it_pass(released: Call, database: Path) -> None:
    python.bind("libfoo", python.BindingPlan("LIB-7"), database=database)
    gate = python.Gate(against="baseline", fail_on="never")
    (done,) = python.ingest(library(SECOND), python.IngestPlan(version="1.1", gate=gate), database=database)
    assert (done.status, done.code) == ("failed", "rule-bound")


def test_another_name_for_the_library_is_no_way_around(released: Call) -> None:
    released("policy", "bind", "libfoo", "--require", "layout", *WHY)
    stripped = library(FIRST, "-g0")
    assert released("ingest", stripped, "--version", "1.1", "--library", "another").code == 72


def test_a_decision_says_what_is_bound_by_whom_and_why(released: Call) -> None:
    released("policy", "bind", "lib*", "--require", "layout", *WHY)
    decision = gate(released, "--json").json["files"][0]["judged"]["verdict"]["decision"]
    told = [each["sentence"] for each in decision["reasons"] if each["code"] == "bound"]
    assert told == ["bound in the store: evidence layout ('lib*', by ana: LIB-7)"]
    rows = released("history", "libfoo", "--json").json["histories"][0]["rows"]
    assert [each["code"] for each in rows[0]["decision"]["reasons"]][-1] == "bound"


def test_evidence_is_required_of_every_build_that_is_stored(released: Call) -> None:
    stripped = library(FIRST, "-g0")
    assert released("ingest", stripped, "--version", "1.1", "--dry-run").code == 0
    released("policy", "bind", "libfoo", "--require", "layout", *WHY)
    assert released("ingest", stripped, "--version", "1.1").code == 72
    assert released("list", "libfoo", "--json").json["releases"][0]["version"] == "1.0"
    assert released("gate", stripped, "--version", "1.1", "--require", "symbol").code == 72
    assert released("verdict", "libfoo@1.0").code == 0


def test_a_bound_policy_is_that_of_its_text_and_replaces_the_default(released: Call, tmp_path: Path) -> None:
    assert gate(released).code == 4
    assert released("policy", "bind", "libfoo", "--policy", "policy.yaml", *WHY).code == 0
    assert gate(released, "--policy", "policy.yaml").code == 0
    (tmp_path / "policy.yaml").write_text(LESS[1].replace("compatible", "risk"))
    assert gate(released).code == 0
    assert gate(released, "--policy", "policy.yaml").code == 64
    assert gate(released, "--policy", "plugin_abi").code == 64
    assert released("history", "libfoo", "--json").json["histories"][0]["policy"] == "mild"


ASKED = {
    "an edit": ("whatif", "libfoo@1.0", "--declare", "struct point { int x, z, y; };"),
    "who broke": ("blame", "libfoo"),
    "who broke a type": ("blame", "point"),
    "programs": ("consumers", "broken", "libfoo@1.1"),
    "an environment": ("env", "can-ship", "libfoo@1.1", "--to", "production"),
    "replacements": ("matrix", "libfoo@1.0"),
    "witnesses": ("witness", "libfoo@1.0", "libfoo@1.1"),
}
"""Verbs that judge and decide nothing, about a field that was inserted in 1.1."""

BREAKS = re.compile(r"BREAKING$|breaks 1 |first broken|since 1\.1|not on +1\.1|1 witness", re.MULTILINE)


def test_what_decides_nothing_is_judged_by_the_bound_policy_too(released: Call, tmp_path: Path) -> None:
    (tmp_path / "layouts.yaml").write_text("categories:\n  abi_breaking: {impact: risk, reason: built together}\n")
    assert released("ingest", library(THIRD), "--version", "1.1").code == 0
    user = program(tmp_path / "bin", "user", "int norm(void *); int main(void) { return norm(0); }", library(FIRST))
    assert released("consumers", "add", user).code == 0
    assert released("env", "record", "production", "libfoo@1.0", "user").code == 0
    broken = {what for what, words in ASKED.items() if BREAKS.search(released(*words).out)}
    assert broken == ASKED.keys()
    released("policy", "bind", "libfoo", "--policy", "layouts.yaml", *WHY)
    assert [what for what, words in ASKED.items() if BREAKS.search(released(*words).out)] == []
    loose = ("whatif", "libfoo@1.0", "--declare", "struct point { int x, z, y; };", "--fail-on", "never")
    assert released(*loose).code == 64


def test_a_release_must_break_no_earlier_one_of_its_soname(released: Call) -> None:
    grown = library(FIRST + "int between(void) { return 3; }")
    assert released("ingest", grown, "--version", "1.1").code == 0
    back = ("--version", "1.2")
    assert released("gate", library(FIRST), *back).code == 0
    released("policy", "bind", "libfoo", "--since-soname", *WHY)
    done = released("gate", library(FIRST), *back)
    assert done.code == 4
    assert "compared with libfoo 1.1" in done.out
    assert released("gate", grown, *back).code == 0
    assert released("ingest", library(FIRST), *back).code == 4
    renamed = build_library(FIRST, name="libfoo.so", soname="libfoo.so.2", flags=("-g",))
    assert released("gate", renamed, "--version", "2.0", "--library", "libfoo").code == 0
    released("policy", "unbind", "libfoo", *WHY)
    assert released("ingest", library(FIRST), *back).code == 0
    released("policy", "bind", "libfoo", "--since-soname", *WHY)
    assert released("verdict", "libfoo@1.2", "--against", "1.0").code == 4


def shipped(call: Call, what: str | Path) -> Done:
    return call("env", "can-ship", what, "--to", "production", "--json")


def test_what_ships_must_break_no_earlier_release_of_its_soname_whoever_uses_it(released: Call) -> None:
    assert released("ingest", library(FIRST + "int between(void) { return 3; }"), "--version", "1.1").code == 0
    assert released("ingest", library(FIRST + "int other(void) { return 3; }"), "--version", "1.2").code == 0
    assert released("env", "record", "production", "libfoo@1.0").code == 0
    assert shipped(released, "libfoo@1.2").code == 0
    released("policy", "bind", "libfoo", "--since-soname", *WHY)
    done = shipped(released, "libfoo@1.2")
    (said,) = done.json["shipping"]["bound"]
    given = released("gate", library(FIRST + "int other(void) { return 3; }"), "--version", "1.2", "--json")
    asked = given.json["files"][0]["judged"]["verdict"]["decision"]
    assert (done.code, said["headline"], said["reasons"]) == (given.code, asked["headline"], asked["reasons"])
    assert done.code == 4
    assert done.json["shipping"]["would_do"] == ["1.0", "1.1"]
    built = shipped(released, library(FIRST + "int unbuilt(void) { return 3; }"))
    assert (built.code, [each["against"]["version"] for each in built.json["shipping"]["bound"]]) == (4, ["1.1", "1.2"])
    assert "bound in the store" in released("env", "can-ship", "libfoo@1.2", "--to", "production").out
    assert shipped(released, "libfoo@1.0").code == 0  # it is there


def test_what_ships_needs_the_bound_evidence(released: Call) -> None:
    bare = library(FIRST + "int more(void) { return 3; }", "-g0")
    assert released("env", "record", "production", "libfoo@1.0").code == 0
    assert shipped(released, bare).code == 0
    released("policy", "bind", "libfoo", "--require", "layout", *WHY)
    done = shipped(released, bare)
    given = released("gate", bare, "--version", "1.1")
    assert (done.code, given.code) == (72, 72)
    assert done.json["shipping"]["outcome"] == "undecided"
    assert [each["code"] for each in done.json["shipping"]["bound"][0]["reasons"]][-1] == "bound"
    released("policy", "bind", "libfoo", "--require", "source", *WHY)
    assert shipped(released, library(FIRST + "int more(void) { return 3; }")).code == 72


def test_a_bound_scheme_decides_which_releases_may_break(released: Call) -> None:
    released("ingest", library(FIRST), "--version", "1.0.0", "--library", "libsem", "--set-baseline")
    renamed = build_library(SECOND, name="libfoo.so", soname="libfoo.so.2", flags=("-g",))
    words = ("gate", renamed, "--library", "libsem", "--version")
    assert released(*words, "1.1.0").code == 0
    released("policy", "bind", "libsem", "--scheme", "semver", *WHY)
    assert released(*words, "1.1.0").code == 4
    assert released(*words, "2.0.0").code == 0


def test_a_package_obeys_what_is_bound_to_one_of_its_libraries(released: Call, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    for name in ("libfoo", "libbar"):
        source = SECOND if name == "libfoo" else FIRST
        built = build_library(source, name=f"{name}.so", soname=f"{name}.so.1", flags=("-g",))
        (folder / f"{name}.so.1").write_bytes(built.read_bytes())
    bar = build_library(FIRST, name="libbar.so", soname="libbar.so.1", flags=("-g",))
    assert released("ingest", bar, "--version", "1.0", "--set-baseline").code == 0
    words = ("ingest", folder, "--version", "1.1", "--against", "baseline")
    assert released(*words, "--fail-on", "never", "--dry-run").code == 0
    released("policy", "bind", "libfoo", *WHY)
    assert released(*words, "--fail-on", "never").code == 64
    assert released(*words).code == 4


def test_rules_are_listed_replaced_and_taken_back_and_the_audit_keeps_all(released: Call) -> None:
    assert released("policy", "bound").out == "nothing is bound\n"
    assert released("policy", "bind", "lib*", "--require", "symbol,layout", *WHY).code == 0
    assert "bound already" in released("policy", "bind", "lib*", "--require", "layout,symbol", *WHY).out
    assert "was evidence symbol, layout" in released("policy", "bind", "lib*", "--since-soname", *WHY).out
    found = released("policy", "bound", "libfoo", "--json").json["bound"]
    assert [(each["rule"]["pattern"], each["libraries"]) for each in found] == [("lib*", ["libfoo"])]
    assert released("policy", "bound", "other", "--json").json["bound"] == []
    assert released("policy", "unbind", "lib*", *WHY).code == 0
    assert released("policy", "unbind", "lib*", *WHY).code == 67
    actions = [each["action"] for each in released("db", "audit", "--actor", "ana", "--json").json["audit"]]
    assert actions == ["unbind", "bind", "bind"]
    assert released("db", "check").code == 0


def test_two_rules_that_contradict_each_other_let_nothing_pass(released: Call, database: Path) -> None:
    released("policy", "bind", "lib*", "--policy", "plugin_abi", *WHY)
    assert released("policy", "bind", "libfoo", "--policy", "sdk_vendor", *WHY).code == 64
    assert [each.rule.pattern for each in python.bound(database=database)] == ["lib*"]
    released("policy", "bind", "libnew", "--policy", "sdk_vendor", *WHY)
    new = build_library(FIRST, name="libnew.so", soname="libnew.so.1", flags=("-g",))
    assert released("ingest", new, "--version", "1.0").code == 64
    released("policy", "unbind", "libnew", *WHY)
    assert released("ingest", new, "--version", "1.0").code == 0


def test_a_rule_needs_a_reason_and_a_pattern(released: Call) -> None:
    for words in (("libfoo",), ("", *WHY), ("lib foo", *WHY), ("libfoo", "--require", "none", *WHY)):
        assert released("policy", "bind", *words).code == 64
    for pattern in ("lib[", "lib[]", "lib[!]", "lib[ab]*["):
        done = released("policy", "bind", pattern, *WHY, "--json")
        assert (done.code, done.envelope["error"]["code"]) == (64, "usage")
    for pattern in ("lib[[]", "lib[]a]", "lib[!]]*", "lib[a-f]"):
        assert released("policy", "bind", pattern, *WHY).code == 0


def test_of_two_databases_the_stricter_rule_holds(released: Call, tmp_path: Path, database: Path) -> None:
    other = tmp_path / "other.db"
    python.ingest(library(FIRST), python.IngestPlan(version="1.0"), database=other)
    python.bind("libfoo", python.BindingPlan("there", require="layout", policy="plugin_abi"), database=other)
    python.bind("libfoo", python.BindingPlan("here", since_soname=True), database=database)
    assert released("db", "merge", other).code == 0
    (found,) = python.bound(database=database)
    assert (found.rule.require, found.rule.since_soname, found.rule.policy) == (("layout",), True, "plugin_abi")
    python.bind("libfoo", python.BindingPlan("here", policy="sdk_vendor"), database=database)
    refused = released("db", "merge", other)
    assert refused.code == 68
    assert "plugin_abi" in refused.err
    assert released("db", "merge", other, "--prefer", "here").code == 0
    assert python.bound(database=database)[0].rule.policy == "sdk_vendor"
    python.unbind("libfoo", reason="there", database=other)
    assert released("db", "merge", other).code == 0
    assert python.bound(database=database)[0].rule.policy == "sdk_vendor"


def test_no_rule_keeps_a_password(released: Call, tmp_path: Path) -> None:
    quoted = LESS[1].replace("ours", "see https://ci:s3cr3t@ci.example.org/1")
    (tmp_path / "policy.yaml").write_text(quoted)
    done = released("policy", "bind", "libfoo", "--policy", "policy.yaml", *WHY)
    assert (done.code, "has a password or token" in done.err) == (64, True)
    assert released("policy", "bind", "libfoo", "--reason", "https://ci:s3cr3t@ci.example.org/1").code == 0
    shown = released("policy", "bound", "--json")
    assert "https://***@ci.example.org/1" in shown.out
    assert "s3cr3t" not in shown.out
