"""The command line, the server and Python give the same facts: there is no second engine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from inspect import isfunction
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from pydantic.fields import FieldInfo

import abistore
from abistore.arguments import described
from abistore.cli.main import cli, run
from abistore.cli.verbs import declared
from abistore.interface import open_store
from abistore.mcp.tools.all import TOOLS
from abistore.mcp.tools.all import WRITING as WRITING_TOOLS
from abistore.model.history import ReleaseFacts
from abistore.report.plain import plain
from abistore.report.wording import numbers
from tests.mcp.conftest import Agent, fill
from tests.mcp.test_resources import read

Asked = Callable[[Agent, Path], Any]
Python = Callable[[abistore.OpenStore, Path], Any]


class Forms(NamedTuple):
    """One verb on the command line, over MCP, and in Python. A text in place of a call says why there is none."""

    command: list[str]
    mcp: Asked | str
    python: Python


@pytest.fixture
def judged(libraries: dict[str, Path], tmp_path: Path) -> Path:
    database = tmp_path / "judged.db"
    with open_store(database, create=True) as store:
        fill(store, libraries)
        abistore.history("libgeo", database=store)
        for environment, reference in (("production", "libgeo@1.0"), ("staging", "libgeo@1.1")):
            abistore.env_record(environment, [reference], database=store)
    return database


def report(agent: Agent, library: Path) -> Any:
    answer = agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", include_report=True)
    return result(answer["report"])


def at(uri: str) -> Asked:
    return lambda agent, library: result(json.loads(read(agent, f"abistore://{uri}")))


def result(answer: dict[str, Any]) -> Any:
    """What a resource tells, without its status; of a report that whole, with what JSON leaves out as usual."""
    if "changes" in answer:
        return plain(msgspec.convert(answer, abistore.Report))
    return {key: value for key, value in answer.items() if key != "status"}


def shown(key: str, verb: Callable[[abistore.OpenStore], Any]) -> Python:
    return lambda store, library: {key: plain(verb(store))}


def flat(verb: Callable[[abistore.OpenStore], Any]) -> Python:
    return lambda store, library: plain(verb(store))


ESTABLISHED = "the field knows the tool's answer in another shape; a test below compares the facts"
BOUNDED = "the tool answers in pages; a test below compares the facts"
MANY = "of many libraries at once, a tool is called for each: tests/cli/test_many_libraries.py"
OPERATOR = "who looks after the database does this where it lies"
FILES = "it reads a file of whoever writes it; abi_findings(state='suppressed') tells what it does"

SAME: dict[str, Forms] = {
    "compare": Forms(
        ["compare", "libgeo@1.0", "libgeo@2.0"],
        report,
        lambda store, library: plain(abistore.compare("libgeo@1.0", "libgeo@2.0", database=store)),
    ),
    "verdict": Forms(
        ["verdict", "libgeo@2.0"],
        at("libraries/libgeo/releases/2.0/verdict"),
        lambda store, library: plain(abistore.verdict("libgeo@2.0", database=store).report),
    ),
    "lines_with_outcomes": Forms(
        ["list"], at("libraries"), shown("lines", lambda store: abistore.lines_with_outcomes(database=store))
    ),
    "releases_with_outcomes": Forms(
        ["list", "libgeo"],
        at("libraries/libgeo"),
        shown("releases", lambda store: abistore.releases_with_outcomes("libgeo", database=store)),
    ),
    "history": Forms(
        ["history", "libgeo"],
        at("libraries/libgeo/history"),
        shown("histories", lambda store: abistore.history("libgeo", database=store)),
    ),
    "baseline_history": Forms(
        ["db", "baseline", "history", "libgeo"],
        at("libraries/libgeo/baseline"),
        shown("baselines", lambda store: abistore.baseline_history("libgeo", database=store)),
    ),
    "export": Forms(
        ["export", "libgeo@2.0"],
        at("libraries/libgeo/releases/2.0/snapshot.json"),
        lambda store, library: json.loads(abistore.export("libgeo@2.0", database=store).json),
    ),
    "dump": Forms(
        ["export", "LIBRARY", "--version", "9"],
        lambda agent, library: agent("abi_dump", library_path=str(library), version="9", inline=True)["snapshot"],
        lambda store, library: json.loads(abistore.dump(library, options=abistore.ExtractOptions(version="9")).json),
    ),
    "db_stats": Forms(
        ["db", "stats"],
        lambda agent, library: {"stats": agent("abi_store_stats")["store"]},
        shown("stats", lambda store: abistore.db_stats(database=store)),
    ),
    "changes": Forms(["changes"], ESTABLISHED, lambda store, library: kinds()),
    "explain": Forms(["explain", "func_removed"], ESTABLISHED, flat(lambda store: abistore.explain("func_removed"))),
    "log": Forms(["log", "point"], BOUNDED, shown("events", lambda store: abistore.log("point", database=store))),
    "matrix": Forms(
        ["matrix", "libgeo"],
        at("libraries/libgeo/matrix"),
        shown("matrices", lambda store: abistore.matrix("libgeo", database=store)),
    ),
    "ledger": Forms(
        ["verdict", "--all-baselines", "libgeo@2.0"],
        at("libraries/libgeo/releases/2.0/ledger"),
        shown("ledgers", lambda store: abistore.ledger("libgeo@2.0", database=store)),
    ),
    "statement": Forms(
        ["verdict", "--statement", "libgeo@2.0"],
        at("libraries/libgeo/releases/2.0/statement"),
        shown("statement", lambda store: abistore.statement("libgeo@2.0", database=store)),
    ),
    "lines_of_release": Forms(
        ["verdict", "--all-targets", "libgeo@2.0"],
        at("libraries/libgeo/releases/2.0/lines"),
        shown("lines", lambda store: abistore.lines_of_release("libgeo@2.0", database=store)),
    ),
    "evaluate": Forms(
        ["history", "--compare-with-strict", "libgeo", "--policy", "sdk_vendor"],
        at("libraries/libgeo/policies/sdk_vendor/evaluation"),
        shown("evaluations", lambda store: abistore.evaluate("libgeo", abistore.ruling("sdk_vendor"), database=store)),
    ),
    "deprecations": Forms(
        ["show", "--deprecated", "libgeo"],
        at("libraries/libgeo/deprecations"),
        shown("deprecations", lambda store: abistore.deprecations("libgeo", database=store)),
    ),
    "blame": Forms(
        ["blame", "libgeo"],
        at("libraries/libgeo/blame"),
        shown("blames", lambda store: abistore.blame("libgeo", database=store)),
    ),
    "first_broken": Forms(
        ["blame", "point"],
        at("symbols/point/first-broken"),
        shown("found", lambda store: abistore.first_broken("point", database=store)),
    ),
    "compatible_range": Forms(
        ["matrix", "libgeo@1.1"],
        at("libraries/libgeo/releases/1.1/range"),
        shown("range", lambda store: abistore.compatible_range("libgeo@1.1", database=store)),
    ),
    "exports": Forms(
        ["show", "--exports", "libgeo@2.0"],
        at("libraries/libgeo/releases/2.0/exports"),
        shown("inventory", lambda store: abistore.exports("libgeo@2.0", database=store)),
    ),
    "types": Forms(
        ["show", "--types", "libgeo@2.0"],
        at("libraries/libgeo/releases/2.0/types"),
        shown("inventory", lambda store: abistore.types("libgeo@2.0", database=store)),
    ),
    "who_uses": Forms(
        ["show", "libgeo@2.0", "--users", "point"],
        at("libraries/libgeo/releases/2.0/types/point/users"),
        shown("types", lambda store: abistore.who_uses("point", reference="libgeo@2.0", database=store)),
    ),
    "provides": Forms(
        ["list", "--provides", "norm"],
        at("symbols/norm/providers"),
        shown("providers", lambda store: abistore.provides("norm", database=store)),
    ),
    "consumers": Forms(
        ["consumers", "list", "libgeo"],
        at("libraries/libgeo/consumers"),
        shown("consumers", lambda store: abistore.consumers("libgeo", database=store)),
    ),
    "consumers_broken": Forms(
        ["consumers", "broken", "libgeo@2.0"],
        at("libraries/libgeo/releases/2.0/consumers"),
        shown("release", lambda store: abistore.consumers_broken("libgeo@2.0", database=store)),
    ),
    "consumers_using": Forms(
        ["consumers", "using", "libgeo", "norm"],
        at("libraries/libgeo/consumers/norm"),
        shown("use", lambda store: abistore.consumers_using("libgeo", "norm", database=store)),
    ),
    "env_list": Forms(
        ["env", "list"],
        at("environments"),
        shown("environments", lambda store: abistore.env_list(database=store)),
    ),
    "env_can_ship": Forms(
        ["env", "can-ship", "libgeo@2.0", "--to", "production"],
        at("libraries/libgeo/releases/2.0/ships/production"),
        shown("shipping", lambda store: abistore.env_can_ship("libgeo@2.0", "production", database=store)),
    ),
    "env_diff": Forms(
        ["env", "diff", "production", "staging"],
        at("environments/production/differences/staging"),
        shown("difference", lambda store: abistore.env_diff("production", "staging", database=store)),
    ),
    "baselines": Forms(
        ["db", "baseline", "list"],
        "abistore://libraries has them with each line",
        shown("baselines", lambda store: abistore.baselines(database=store)),
    ),
    "card": Forms(
        ["show", "libgeo@1.0"],
        "abi_dump and abi_list tell what of it decides",
        shown("snapshot", lambda store: abistore.card("libgeo@1.0", database=store)),
    ),
    "declarations": Forms(
        ["show", "libgeo@1.0", "point"],
        "abi_finding has a declaration before and after",
        shown("declarations", lambda store: abistore.declarations("libgeo@1.0", "point", database=store)),
    ),
    "db_audit": Forms(["db", "audit"], OPERATOR, shown("audit", lambda store: abistore.db_audit(database=store))),
    "db_scheme": Forms(
        ["db", "scheme", "libgeo"], OPERATOR, flat(lambda store: abistore.db_scheme("libgeo", database=store))
    ),
    "db_check": Forms(["db", "check"], OPERATOR, shown("problems", lambda store: abistore.db_check(database=store))),
    "reviews": Forms(
        ["approve", "list", "--notes"], BOUNDED, shown("notes", lambda store: abistore.reviews(database=store))
    ),
    "approvals": Forms(
        ["approve", "list", "libgeo"],
        at("libraries/libgeo/approvals"),
        shown("approvals", lambda store: abistore.approvals("libgeo", database=store)),
    ),
    "policy_card": Forms(
        ["policy", "show", "strict_abi"],
        "abi_help and abistore://docs/policies tell of policies",
        shown("policy", lambda store: abistore.policy_card("strict_abi")),
    ),
}
"""Verbs that more than one of the three has, with the same JSON."""


def kinds() -> Any:
    found = plain({"changes": abistore.changes()})["changes"]
    return {"count": len(found), "changes": found}


ALIKE = "the command wraps it: a test below compares what it writes or tells"
FORM = "Python alone: the command line has it as an option, and MCP as an argument"
OTHER: dict[str, str] = {
    "ingest": ALIKE,
    "archive_report": "agents ask about one library: tests/archive/test_report.py",
    "archive_ingest": "no agent writes archives, which take hours and machines: tests/archive/test_ingest.py",
    "set_baseline": ALIKE,
    "set_release_baseline": "set_baseline in all lines of a version, for people: tests/store/test_lines.py",
    "asked_by": "who asks for verdicts: the command line and the server say it themselves",
    "db_forget": ALIKE,
    "release_edit": ALIKE,
    "release_tag": ALIKE,
    "review": ALIKE,
    "approve": ALIKE,
    "withdraw": "abi_approve(state='withdrawn') asks a person as the approval did: tests/mcp/test_deciding.py",
    "findings": ALIKE,
    "add_consumers": "who builds the programs stores them, and no agent: tests/cli/test_consumers.py",
    "remove_consumers": "who stored them takes them out: tests/cli/test_consumers.py",
    "show_consumer": "abistore://libraries/{library}/consumers tells what of it decides: tests/cli/test_consumers.py",
    "env_record": "who deploys records it, and no agent: tests/cli/test_environments.py",
    "env_remove": "who deploys records it, and no agent: tests/cli/test_environments.py",
    "env_drift": "of a folder on the user's disk: tests/cli/test_environments.py",
    "program_range": "of a program on the user's disk: tests/cli/test_consumers.py",
    "unused_exports": "exports, of which nobody uses some: tests/cli/test_consumers.py",
    "clear_baseline": "no command and no tool: a baseline is moved, not cleared",
    "import_": "as ingest, of what export wrote: abi_ingest takes a snapshot as library_path",
    "db_init": OPERATOR,
    "db_upgrade": OPERATOR,
    "db_backup": OPERATOR,
    "db_vacuum": OPERATOR,
    "db_merge": OPERATOR,
    "db_prune": OPERATOR,
    "older_than": "what the words of db_prune's option mean",
    "export_bundle": OPERATOR,
    "import_bundles": OPERATOR,
    "is_bundle": "which of two ways a file is imported",
    "generate": "it makes a file for another tool, which a build runs and no agent: tests/cli/test_generate.py",
    "sign_statement": "a key of the pipeline, which no agent has: tests/cli/test_signed_statement.py",
    "sign_audit": "a key of whoever is responsible for the store: tests/cli/test_signed_audit.py",
    "verify_audit": "a file that people keep elsewhere: tests/cli/test_signed_audit.py",
    "verify_statement": "a file that people pass on: tests/cli/test_signed_statement.py",
    "trust": FILES,
    "surface": "text that people review in git: tests/cli/test_surface.py",
    "check_surface": "a file in the sources, which a pipeline compares: tests/cli/test_surface.py",
    "suggest": FILES,
    "suppressions": FILES,
    "capture": "dump tells it as JSON",
    "configuration": FORM,
    "init": "it writes a file into a project, for people: tests/service/test_init.py",
    "demo": "it shows people what a verdict is: tests/service/test_demo.py",
    "witnesses": "it starts compilers, which no server of agents does: tests/witness/test_witnesses.py",
    "whatif": "agents get it shortened: tests/mcp/test_whatif.py",
    "build_site": "it writes a folder for people; agents read abistore://libraries/...: tests/store/test_site.py",
    "gate": "abi_gate asks it of stored builds; a pipeline asks it of its files: tests/cli/test_gate.py",
    "review_build": "abi_review_build; the command line has gate and compare: tests/mcp/test_reviewing.py",
    "usual_counterpart": "what verdict is against where an agent names nothing: tests/mcp/test_history_tools.py",
    "usual_verdict": "abi_summary without against: tests/mcp/test_history_tools.py",
    "shown_declarations": "declarations, one text each: tests/mcp/test_showing.py",
    "declaration_differences": "abi_show(against=...); people compare: tests/mcp/test_showing.py",
    "declared_like": "abi_show of a prefix, and of files: tests/mcp/test_showing.py",
    "consumers_of_build": "abi_consumers(new_input=...), of files too: tests/mcp/test_consuming.py",
    "beside_comparison": "abi_findings(beside=...); people keep reports: tests/mcp/test_findings.py",
    "beside_build": "abi_findings(beside=...); the command line has gate --merge-base: tests/mcp/test_findings.py",
    "logged_events": "log, with one entry for each release: tests/mcp/test_history_tools.py",
    "decided": FORM,
    "bind": "who is responsible for the store binds, and no agent: tests/cli/test_bound_rules.py",
    "unbind": "who is responsible for the store binds, and no agent: tests/cli/test_bound_rules.py",
    "bound": "agents read what is bound in each decision: tests/cli/test_bound_rules.py",
    "bound_rule": "what is bound to one library, for gates",
    "evidence_for": "what a gate needs, with what is bound",
    "events": "agents subscribe to resources: tests/cli/test_notify.py",
    "post_comment": "it speaks with the token of a pipeline's job: tests/cli/test_comment.py",
    "notice": "writes a text for people about events: tests/cli/test_notify.py",
    "notify": "it starts programs, which no server of agents does: tests/cli/test_notify.py",
    "kept_cursor": "the file of a cursor: tests/cli/test_notify.py",
    "keep_cursor": "the file of a cursor: tests/cli/test_notify.py",
    "first_decision": "history has it with its first row, abi_summary tells it: tests/mcp/test_history_tools.py",
    "since_merge_base": FORM,
    "export_approvals": FILES,
    "sync_approvals": FILES,
    "with_approvals": "compare and verdict say what is approved; this adds it to a report that was made before",
    "without_said": "the reverse of with_approvals",
    "render": FORM,
    "requirement": FORM,
    "ruling": FORM,
    "show_only": FORM,
    "matching": MANY,
    "stored_as": MANY,
    "of_each": MANY,
    "is_pattern": MANY,
    "libraries": "for completions, which have tests of their own",
    "references": "for completions, which have tests of their own",
    "policies": "for completions, which have tests of their own",
    "locate": "where the database is, which is nobody's answer",
    "open_store": "makes a store the database of the others",
    "lines": "lines_with_outcomes, for callers that look lines up",
    "releases": "releases_with_outcomes, for callers that look releases up",
    "releases_of_digest": "for comparisons by their ids",
    "verdict_between": "verdict, of two releases that are known already",
}
"""Verbs that are compared otherwise, or that one of the three has alone, with the reason."""


TOLD_BY: dict[str, tuple[tuple[str, ...], ...]] = {
    "abi_approve": (("approve", "add"),),
    "abi_baseline": (("db", "baseline", "set"),),
    "abi_compare": (("compare",),),
    "abi_consumers": (("consumers", "using"), ("matrix",)),
    "abi_delete": (("db", "forget"),),
    "abi_dump": (("export",),),
    "abi_explain_change": (("explain",),),
    "abi_gate": (("gate",), ("verdict",)),
    "abi_history": (("history",),),
    "abi_ingest": (("ingest",),),
    "abi_list": (("list",),),
    "abi_list_changes": (("changes",),),
    "abi_review": (("approve", "note"),),
    "abi_review_build": (("gate",),),
    "abi_show": (("show",),),
    "abi_summary": (("verdict",),),
    "abi_symbol_history": (("log",),),
    "abi_tag": (("db", "release", "tag"),),
    "abi_whatif": (("whatif",),),
}
"""The verbs of the command line that do what a tool does."""


@pytest.mark.parametrize("tool", sorted(TOLD_BY))
def test_a_tool_takes_the_description_of_an_argument_from_where_its_verb_does(tool: str) -> None:
    verbs = dict(declared(cli))
    of_verbs = {each.name for words in TOLD_BY[tool] for each in verbs[words].params}
    hints = {**TOOLS, **WRITING_TOOLS}[tool].hints()
    assert [name for name, hint in hints.items() if name in of_verbs and not described(hint).agents] == []


def test_no_argument_of_a_tool_is_described_twice() -> None:
    told: dict[tuple[str, str], list[FieldInfo]] = {}
    for tool in (*TOOLS.values(), *WRITING_TOOLS.values()):
        for name, hint in tool.hints().items():
            for each in getattr(hint, "__metadata__", ()):
                if isinstance(each, FieldInfo) and each.description:
                    others = told.setdefault((name, each.description), [])
                    others += [each] if all(each is not other for other in others) else []
    assert len(told) > 30
    assert {key for key, fields in told.items() if len(fields) > 1} == set()


def test_a_verb_that_is_added_is_compared_or_has_its_reason() -> None:
    verbs = {name for name in abistore.__all__ if isfunction(getattr(abistore, name))}
    assert SAME.keys() | OTHER.keys() == verbs
    assert not SAME.keys() & OTHER.keys()


@pytest.mark.parametrize("verb", sorted(SAME))
def test_a_verb_gives_the_same_json_to_all(
    verb: str,
    judged: Path,
    modern: Agent,
    libraries: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forms = SAME[verb]
    library = libraries["2.0"]
    monkeypatch.setenv("ABISTORE_DB", str(judged))
    capsys.readouterr()
    words = [str(library) if word == "LIBRARY" else word for word in forms.command]
    run(words if verb in {"export", "dump"} else [*words, "--json"])
    printed = json.loads(capsys.readouterr().out)
    if verb not in {"export", "dump"}:
        printed = printed["data"]
    if callable(forms.mcp):
        assert forms.mcp(modern.set(database=str(judged)), library) == printed
    with open_store(judged, read_only=True) as store:
        assert forms.python(store, library) == printed


def written(database: Path) -> Any:
    """What a store says, without who wrote it and when."""
    with open_store(database, read_only=True) as store:
        audit = abistore.db_audit(database=store)
        stored = [(one.version, one.digest, one.revision) for one in abistore.releases("libgeo", database=store)]
        moves = [(move.version, move.reason) for move in abistore.baseline_history("libgeo", database=store)]
    return [(one.action, one.subject, one.detail) for one in audit], stored, moves


REMOVED = "413dac85"
"""The first digits of the finding that gone() was removed."""

WRITING: dict[str, tuple[list[str], tuple[str, dict[str, Any]] | None, Python]] = {
    "ingest": (
        ["ingest", "LIBRARY", "--version", "3.0"],
        ("abi_ingest", {"library": "libgeo", "version": "3.0", "library_path": "LIBRARY"}),
        lambda store, library: abistore.ingest(library, abistore.IngestPlan(version="3.0"), database=store),
    ),
    "set_baseline": (
        ["db", "baseline", "set", "libgeo@1.1", "--reason", "tested"],
        ("abi_baseline", {"library": "libgeo", "version": "1.1", "reason": "tested"}),
        lambda store, library: abistore.set_baseline(
            "libgeo@1.1", abistore.BaselinePlan(reason="tested"), database=store
        ),
    ),
    "db_forget": (
        ["db", "forget", "libgeo@2.0", "--reason", "wrong"],
        ("abi_delete", {"library": "libgeo", "version": "2.0", "reason": "wrong", "confirm_digest": "DIGEST"}),
        lambda store, library: abistore.db_forget("libgeo@2.0", reason="wrong", database=store),
    ),
    "release_tag": (
        ["db", "release", "tag", "libgeo@1.0", "lts", "--note", "until 2030"],
        ("abi_tag", {"library": "libgeo", "version": "1.0", "tag": "lts", "note": "until 2030"}),
        lambda store, library: abistore.release_tag(
            "libgeo@1.0", "lts", abistore.TagPlan("until 2030"), database=store
        ),
    ),
    "review": (
        ["approve", "note", REMOVED, "as planned", "--state", "intended"],
        ("abi_review", {"finding_id": REMOVED, "state": "intended", "note": "as planned"}),
        lambda store, library: abistore.review(REMOVED, abistore.ReviewPlan("intended", "as planned"), database=store),
    ),
    "approve": (  # over MCP the approver is the client: tests/mcp/test_deciding.py
        ["approve", REMOVED, "--reason", "as planned", "--until", "3.0", "--approver", "ana"],
        None,
        lambda store, library: abistore.approve(
            REMOVED, abistore.ApprovalPlan("as planned", approver="ana", until="3.0"), database=store
        ),
    ),
    "release_edit": (
        ["db", "release", "edit", "libgeo@1.0", "--revision", "abc", "--reason", "known now"],
        None,
        lambda store, library: abistore.release_edit(
            "libgeo@1.0", abistore.EditPlan(ReleaseFacts(revision="abc"), reason="known now"), database=store
        ),
    ),
}


@pytest.mark.parametrize("verb", sorted(WRITING))
def test_a_verb_writes_the_same_for_all(
    verb: str, judged: Path, modern: Agent, libraries: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    words, call, python = WRITING[verb]
    library = libraries["1.1"]
    by_command, by_tool = judged.with_name("command.db"), judged.with_name("tool.db")
    for copy in (by_command, by_tool):
        shutil.copy(judged, copy)
    with open_store(judged) as store:
        digest = next(one.digest for one in abistore.releases("libgeo", database=store) if one.version == "2.0")
        python(store, library)
    run([*(str(library) if word == "LIBRARY" else word for word in words), "--db", str(by_command)])
    assert written(by_command) == written(judged)
    if call is not None:
        tool, arguments = call
        given = {
            name: {"LIBRARY": str(library), "DIGEST": digest}.get(value, value) for name, value in arguments.items()
        }
        modern.set(database=str(by_tool), allow_write=True, approvals="auto")(tool, **given)
        assert written(by_tool) == written(judged)


def test_a_stored_finding_is_told_alike(
    judged: Path, modern: Agent, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABISTORE_DB", str(judged))
    with open_store(judged, read_only=True) as store:
        found = abistore.findings(REMOVED, database=store).findings[-1]
    capsys.readouterr()
    run(["explain", REMOVED, "--json"])
    printed = json.loads(capsys.readouterr().out)["data"]
    answer = modern.set(database=str(judged))("abi_finding", finding_id=REMOVED)
    assert answer["finding"]["id"] == found.change.id
    assert found.change.id in json.dumps(printed)
    assert answer["found_in"] == f"{found.old} -> {found.new}"


def test_the_tools_tell_the_facts_of_the_verbs(judged: Path, modern: Agent) -> None:
    agent = modern.set(database=str(judged))
    with open_store(judged, read_only=True) as store:
        (history,) = abistore.history("libgeo", database=store)
        whole = abistore.compare("libgeo@1.0", "libgeo@2.0", database=store)
        events = abistore.log("point", database=store)
        verdict = abistore.verdict("libgeo@2.0", against="baseline", database=store)
    rows = agent("abi_history", library="libgeo")["rows"]
    assert [(row["version"], row["verdict"]) for row in rows] == [
        (row.release.version, row.verdict.name if row.verdict else None) for row in history.rows
    ]
    answer = agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0")
    assert numbers(whole.summary) in answer["headline"]
    assert [change["id"] for change in answer["changes"]] == [change.id for change in whole.changes]
    assert answer["summary"] == msgspec.to_builtins(whole.summary)
    told = agent("abi_symbol_history", symbol="point")["events"]
    assert [(event["version"], event["action"]) for event in told] == list(
        dict.fromkeys((one.version, one.action) for one in events)
    )
    summary = agent("abi_summary", library="libgeo")
    assert (summary["verdict"], summary["exit_code"]) == (verdict.report.verdict, verdict.report.exit_code)
    gate = agent("abi_gate", library="libgeo")
    assert (gate["verdict"], gate["exit_code"]) == (verdict.report.verdict, verdict.report.exit_code)


def test_the_kinds_are_those_of_the_verbs(modern: Agent) -> None:
    assert modern("abi_list_changes")["count"] == len(abistore.changes())
    explained = abistore.explain("func_removed")
    answer = modern("abi_explain_change", change_kind="func_removed")
    assert (answer["description"], answer["fix_guidance"]) == (explained.title, explained.fix)


def test_a_finding_has_one_id_everywhere(modern: Agent, judged: Path) -> None:
    agent = modern.set(database=str(judged))
    answer = agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0")
    comparison = answer["comparison_id"]
    ids = [change["id"] for change in answer["changes"]]
    assert [item["id"] for item in agent("abi_findings", comparison_id=comparison)["items"]] == ids
    assert [item["id"] for item in agent("abi_summary", library="libgeo")["top"]] == ids
    for identity in ids:
        one = agent("abi_finding", finding_id=identity, comparison_id=comparison)["finding"]
        assert one["id"] == identity
        assert one["kind"] == next(change["kind"] for change in answer["changes"] if change["id"] == identity)
