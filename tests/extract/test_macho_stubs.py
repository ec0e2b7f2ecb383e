"""Tests of text stubs (``.tbd``), which linkers read instead of dylibs."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from abistore.diffing.judge.judged import compare
from abistore.errors import ExtractError, InputError
from abistore.model.declarations import SELF
from abistore.model.shapes import MachoLibrary
from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_files import from_json, to_json
from tests.extract.damage import tighten
from tests.extract.macho_fixtures import build_dylib, exports, library, snapshot, snapshots
from tests.extract.test_macho_hostile import DAMAGED, mutated_text, outcome

pytestmark = pytest.mark.full

THIRD = """--- !tapi-tbd-v3
archs:           [ i386, x86_64 ]
uuids:           [ 'i386: 00000000-0000-0000-0000-000000000000' ]
platform:        macosx
install-name:    /usr/lib/libcase.1.dylib
current-version: 1.4
compatibility-version: 1.2
exports:
  - archs:           [ i386, x86_64 ]
    re-exports:      [ /usr/lib/libback.1.dylib ]
    symbols:         [ _plain, __ZN3geo4normEv, __ZTVN3geo5PointE ]
    objc-classes:    [ Case ]
    weak-def-symbols: [ _weak ]
    thread-local-symbols: [ _per_thread ]
  - archs:           [ x86_64 ]
    symbols:         [ _wide ]
...
"""

FOURTH = """--- !tapi-tbd
tbd-version:     4
targets:         [ x86_64-macos, arm64-macos ]
install-name:    '/usr/lib/libcase.1.dylib'
current-version: 1.4
compatibility-version: 1.2
reexported-libraries:
  - targets:         [ x86_64-macos, arm64-macos ]
    libraries:       [ '/usr/lib/system/libinner.dylib', '/usr/lib/libback.1.dylib' ]
exports:
  - targets:         [ x86_64-macos, arm64-macos ]
    symbols:         [ _plain, __ZN3geo4normEv, __ZTVN3geo5PointE, '$ld$hide$os10.4$_plain' ]
    objc-classes:    [ Case ]
    weak-symbols:    [ _weak ]
    thread-local-symbols: [ _per_thread ]
  - targets:         [ x86_64-macos ]
    symbols:         [ _wide ]
--- !tapi-tbd
tbd-version:     4
targets:         [ x86_64-macos, arm64-macos ]
install-name:    '/usr/lib/system/libinner.dylib'
parent-umbrella:
  - targets:         [ x86_64-macos, arm64-macos ]
    umbrella:        System
exports:
  - targets:         [ x86_64-macos, arm64-macos ]
    symbols:         [ _inner ]
...
"""

FIFTH = """{
"main_library": {
  "target_info": [{"target": "x86_64-macos", "min_deployment": "10.14"},
                  {"target": "arm64-macos", "min_deployment": "11"}],
  "install_names": [{"name": "/usr/lib/libcase.1.dylib"}],
  "current_versions": [{"version": "1.4"}], "compatibility_versions": [{"version": "1.2"}],
  "reexported_libraries": [{"names": ["/usr/lib/libback.1.dylib"]}],
  "exported_symbols": [
    {"text": {"global": ["_plain", "__ZN3geo4normEv"], "weak": ["_weak"]},
     "data": {"global": ["__ZTVN3geo5PointE"], "objc_class": ["Case"], "thread_local": ["_per_thread"]}},
    {"targets": ["x86_64-macos"], "text": {"global": ["_wide"]}}
  ]},
"tapi_tbd_version": 5
}
"""

COMMON = {"plain", "_ZN3geo4normEv", "_ZTVN3geo5PointE", "OBJC_CLASS_$_Case", "OBJC_METACLASS_$_Case", "weak"}


def stub(text: str, folder: Path) -> tuple[Snapshot, ...]:
    path = folder / "libcase.tbd"
    path.write_text(text)
    return snapshots(path)


@pytest.mark.parametrize("text", [THIRD, FOURTH, FIFTH], ids=["version 3", "version 4", "version 5"])
def test_each_version_tells_the_same_of_a_library(text: str, tmp_path: Path) -> None:
    found = stub(text, tmp_path)
    for each in found:
        symbols = exports(each)
        assert COMMON | {"per_thread"} <= set(symbols)
        assert ("wide" in symbols) == (each.target.machine == "x86_64")
        assert [name for name, symbol in symbols.items() if symbol.weak] == ["weak"]
        assert symbols["per_thread"].type == "thread_local"
        assert not any(name.startswith("$ld") for name in symbols)
        facts = library(each)
        assert (facts.name, facts.compatibility_version) == ("/usr/lib/libcase.1.dylib", "1.2")
        assert facts.on_macho.reexports == ("/usr/lib/libback.1.dylib",)
        assert each.provenance.product_version == "1.4"
        assert (each.library, each.target.format, each.target.os_abi) == ("libcase", "macho", "macos")
        assert from_json(to_json(each)) == each
    machines = {"i386", "x86_64"} if text is THIRD else {"x86_64", "aarch64"}
    assert {each.target.machine for each in found} == machines


def test_libraries_in_the_same_file_that_are_re_exported_count_as_one(tmp_path: Path) -> None:
    found = stub(FOURTH, tmp_path)
    assert len(found) == 2  # a snapshot for each target of the first library
    assert "inner" in exports(found[0])


def test_the_oldest_system_is_told_where_the_version_tells_it(tmp_path: Path) -> None:
    assert [library(each).on_macho.minimum_os for each in stub(FIFTH, tmp_path)] == ["10.14", "11.0"]


def test_the_first_versions_write_an_underscore_before_classes(tmp_path: Path) -> None:
    text = THIRD.replace("--- !tapi-tbd-v3", "---").replace("[ Case ]", "[ _Case ]")
    assert "OBJC_CLASS_$_Case" in exports(stub(text, tmp_path)[0])


def test_a_dylib_and_its_stub_tell_the_same(tmp_path: Path) -> None:
    path = build_dylib("int plain(void) { return 1; } int table[4] = {1};", flags=("-O1",))
    built = snapshot(path)
    text = (
        FOURTH.partition("reexported-libraries")[0].replace("/usr/lib/libcase", "@rpath/libcase").replace("1.2", "1.0")
    )
    text += "exports:\n  - targets: [ arm64-macos ]\n    symbols: [ _plain, _table ]\n"
    told = next(each for each in stub(text, tmp_path) if each.target.machine == "aarch64")
    for old, new in ((built, told), (told, built)):
        assert compare(old, new).findings == ()


STUBS = {"version 3": THIRD, "version 4": FOURTH, "version 5": FIFTH}


@pytest.mark.parametrize("version", STUBS)
def test_a_symbol_that_becomes_thread_local_is_a_break(version: str, tmp_path: Path) -> None:
    text = STUBS[version]
    apart = text.replace("_plain, ", "").replace('"_plain", ', "")
    moved = apart.replace("[ _per_thread ]", "[ _per_thread, _plain ]").replace(
        '["_per_thread"]', '["_per_thread", "_plain"]'
    )
    for old, new in ((text, moved), (moved, text)):
        before, after = (stub(each, tmp_path)[0] for each in (old, new))
        assert [each.kind for each in compare(before, after).findings] == ["symbol_type_changed"]


@pytest.mark.parametrize("version", STUBS)
def test_what_a_stub_tells_linkers_about_single_systems_is_compared(version: str, tmp_path: Path) -> None:
    text = STUBS[version].replace(", '$ld$hide$os10.4$_plain'", "")
    hidden = text.replace("[ _plain,", "[ _plain, '$ld$hide$os10.15$_plain',").replace(
        '["_plain",', '["_plain", "$ld$hide$os10.15$_plain",'
    )
    old, new = (stub(each, tmp_path)[0] for each in (text, hidden))
    assert library(new).on_macho.directives == ("$ld$hide$os10.15$_plain",)
    assert [(each.kind, each.old_value) for each in compare(old, new).findings] == [
        ("macho_directive_changed.hidden", "plain for os10.15")
    ]
    assert [each.kind for each in compare(new, old).findings] == ["macho_directive_changed.shown"]


def test_directives_that_were_not_read_are_not_checked(tmp_path: Path) -> None:
    new = stub(FOURTH, tmp_path)[0]
    facts = library(new)
    former = msgspec.structs.replace(facts, macho=msgspec.structs.replace(facts.on_macho, directives=None))
    entries = {"symbol": {**new.entries["symbol"], SELF: (former,)}}
    comparison = compare(msgspec.structs.replace(new, entries=entries), new)
    assert comparison.findings == ()
    assert "directives-not-read" in {each.reason for each in comparison.not_checked}


def test_a_class_and_its_variables_that_a_stub_lost_break(tmp_path: Path) -> None:
    text = FOURTH.replace("objc-classes:    [ Case ]", "objc-classes: [ Case ]\n    objc-ivars: [ Case._held ]")
    for lost in ("objc-classes: [ Case ]", "objc-ivars: [ Case._held ]"):
        old, new = (stub(each, tmp_path)[0] for each in (text, text.replace(lost, lost.partition("[")[0] + "[]")))
        assert "var_removed" in {each.kind for each in compare(old, new).findings}


def test_a_stub_that_lost_a_symbol_breaks(tmp_path: Path) -> None:
    old, new = (stub(each, tmp_path)[0] for each in (FOURTH, FOURTH.replace("_plain, ", "")))
    assert "func_removed" in {each.kind for each in compare(old, new).findings}


def test_stubs_of_the_system_are_read() -> None:
    import ziglang

    path = next((Path(ziglang.__file__).parent / "lib" / "libc" / "darwin").glob("*.tbd"))
    found = snapshots(path)
    assert "x86_64" in {each.target.machine for each in found}
    assert all({"malloc", "printf"} <= set(exports(each)) for each in found if each.target.os_abi == "macos")
    facts = library(found[0]).on_macho
    assert facts == MachoLibrary(stub=True, minimum_os=facts.minimum_os, directives=facts.directives)
    assert "$ld$hide$os10.10$___chkstk_darwin" in (facts.directives or ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("--- !tapi-tbd\na: &a [x]\nb: *a\n", "references"),
        ("--- !tapi-tbd\n" + "- " * 30 + "x\n", "nested too deeply"),
        ("--- !tapi-tbd\n- just a list\n", "not a table"),
        ("--- !tapi-tbd\ntargets: [ x ]\n", "install-name is missing"),
        ("--- !tapi-tbd\n{", "tbd"),
        ('{"main_library": {"install_names": 1}}', "not a list"),
        ('{"main_library": ' + "[" * 5000, "not JSON"),
    ],
)
def test_a_text_that_is_no_stub_is_an_error(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ExtractError, match=said):
        stub(text, tmp_path)


@pytest.mark.parametrize("text", [THIRD, FOURTH, FIFTH], ids=["version 3", "version 4", "version 5"])
def test_damaged_stubs_give_a_snapshot_or_an_error(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tighten(monkeypatch)
    path, errors = tmp_path / "libcase.tbd", 0
    for number in range(DAMAGED):
        path.write_bytes(mutated_text(text.encode(), random.Random(number)))
        found = outcome(path)
        errors += isinstance(found, InputError)
        for each in found if isinstance(found, tuple) else ():
            assert from_json(to_json(each)) == each
    assert 0 < errors < DAMAGED
