"""An approval covers what was reported below the finding, and says what is new there."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.diffing.judge import consequences
from abistore.model.kind_names import former_names
from abistore.service import approving
from tests.build import build_library
from tests.cli.conftest import Call

BASE = """
struct P { virtual void p(); };
void P::p() {}
struct Q { virtual void q(); };
void Q::q() {}
struct D : P, Q { int m; virtual void own(); };
void D::own() {}
int use(D *d) { return d->m; }
"""
GROWN = BASE.replace("virtual void p();", "virtual void p(); virtual void more();") + "void P::more() {}\n"
REBASED = GROWN.replace("struct D : P, Q", "struct R {};\nstruct D : P, Q, R")


@pytest.fixture
def builds() -> tuple[Path, Path, Path]:
    base, grown, rebased = (build_library(each, language="c++") for each in (BASE, GROWN, REBASED))
    return base, grown, rebased


def accept(call: Call, base: Path, grown: Path) -> str:
    """Release ``base``, keep ``grown`` as a candidate, and approve all that breaks in it: the first identity."""
    assert call("ingest", base, "--version", "1.0", "--set-baseline").code == 0
    done = call("ingest", grown, "--version", "1.1", "--against", "baseline", "--keep-failed", "--json")
    found = [each for each in done.json["files"][0]["verdict"]["changes"] if each["impact"] == "breaking"]
    for each in found:
        assert call("approve", each["id"], "--library", "libcase", "--reason", "meant", "--approver", "ana").code == 0
    return str(found[0]["id"])


def test_a_finding_with_another_break_below_it_is_not_approved_and_the_report_says_why(
    abistore: Call, builds: tuple[Path, Path, Path]
) -> None:
    base, grown, rebased = builds
    accept(abistore, base, grown)
    assert abistore("gate", grown, "--version", "1.2").code == 0
    done = abistore("gate", rebased, "--version", "1.2", "--json")
    assert done.code == 4
    (finding,) = [each for each in done.json["files"][0]["judged"]["verdict"]["changes"] if each["unapproved"]]
    assert finding["kind"] == "virtual_method_added.trailing"
    assert "now also rtti_inheritance_changed of typeinfo for D `56 -> 72`: approve again" in finding["unapproved"]
    assert len(finding["covers"]) == 2


def test_a_reviewed_file_approves_what_the_identity_covers(
    abistore: Call, builds: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    base, grown, rebased = builds
    identity = accept(abistore, base, grown)
    file = tmp_path / "approvals.yaml"
    assert abistore("approve", "export", "-o", file).code == 0
    assert "covers" in file.read_text()
    assert abistore("approve", "withdraw", identity, "--reason", "by mistake").code == 0
    assert abistore("gate", grown, "--version", "1.2").code == 4
    assert abistore("approve", "sync", file).code == 0
    assert abistore("gate", grown, "--version", "1.2").code == 0
    assert abistore("gate", rebased, "--version", "1.2").code == 4
    told = file.read_text().replace(identity, identity[:-1] + ("0" if identity[-1] != "0" else "1"))
    file.write_text(told)
    assert abistore("approve", "sync", file).code == 64


@pytest.mark.parametrize("former", former_names("virtual_method_added.trailing"))
def test_a_file_of_approvals_may_say_the_former_name_of_a_variant(
    abistore: Call, builds: tuple[Path, Path, Path], tmp_path: Path, former: str
) -> None:
    base, grown, _ = builds
    identity = accept(abistore, base, grown)
    file = tmp_path / "approvals.yaml"
    assert abistore("approve", "export", "-o", file).code == 0
    assert abistore("approve", "withdraw", identity, "--reason", "by mistake").code == 0
    assert "virtual_method_added.trailing" in file.read_text()
    file.write_text(file.read_text().replace("virtual_method_added.trailing", former))
    assert abistore("approve", "sync", file).code == 0
    assert abistore("gate", grown, "--version", "1.2").code == 0


def test_what_was_approved_before_identities_covered_anything_holds_for_all_that_was_reported_with_it(
    abistore: Call, builds: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    base, grown, rebased = builds
    with monkeypatch.context() as before:
        before.setattr(consequences._Parents, "consequence", lambda self, index: self._findings[index])
        before.setattr(approving, "covered", lambda finding: None)
        approved = accept(abistore, base, grown)
    assert abistore("gate", grown, "--version", "1.2").code == 0
    done = abistore("gate", rebased, "--version", "1.2", "--json")
    assert done.code == 4
    found = done.json["files"][0]["judged"]["verdict"]["changes"]
    assert approved not in {each["id"] for each in found}
    assert any("now also" in each["unapproved"] for each in found)
