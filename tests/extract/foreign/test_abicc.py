"""ABICC's Perl dumps: read as debug information of the same library is, with what abi-dumper gets wrong put right."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import tracemalloc
from contextlib import nullcontext
from pathlib import Path

import msgspec
import pytest

from abistore.diffing.judge.judged import compare
from abistore.errors import ExtractError, InputError, LimitExceeded
from abistore.extract.capture import read_snapshot
from abistore.extract.dumps.abicc import with_defaults
from abistore.extract.dumps.perl import Hash, read_value, reading_of
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import SELF, Name
from abistore.model.shapes import Enum, Field, Inline, MemberPointer, Record
from benchmarks.dumps import as_recorded, told
from tests.effort import steps
from tests.extract.foreign.reading import OPTIONS, REAL, assert_no_change, dump_of, real_library, written

pytestmark = pytest.mark.fast

HEAD = "$VAR1 = {'ABI_DUMP_VERSION' => '3.5', 'Arch' => 'x86_64', 'WordSize' => '8', 'LibraryName' => 'libcase.so.1', "
EMPTY = HEAD + "'Symbols' => {}, 'TypeInfo' => {}, 'SymbolInfo' => {}};\n"


@pytest.mark.parametrize(("name", "folder"), [("shapes-1", "v1"), ("shapes-2", "v2"), ("rich", "rich")])
def test_a_real_dump_equals_the_library_of_its_sources(name: str, folder: str) -> None:
    assert_no_change(read_snapshot(REAL / f"{name}.dump", OPTIONS), read_snapshot(real_library(folder), OPTIONS))


def test_two_real_dumps_differ_as_their_libraries_do() -> None:
    dumps = [read_snapshot(REAL / f"shapes-{number}.dump", OPTIONS) for number in (1, 2)]
    libraries = [read_snapshot(real_library(f"v{number}"), OPTIONS) for number in (1, 2)]
    found = told(compare(*dumps))
    assert found == told(compare(*as_recorded(libraries, dumps)))
    assert {each.split()[1] for each in found} >= {"func_removed", "type_size_changed"}


@pytest.mark.parametrize(("asked", "machine"), [(None, "arm"), ("armhf", "armhf"), ("x86_64", "arm")])
def test_a_caller_says_how_floats_are_passed_where_a_dump_leaves_it_open(
    asked: str | None, machine: str, tmp_path: Path
) -> None:
    text = EMPTY.replace("'x86_64'", "'arm'").replace("'WordSize' => '8'", "'WordSize' => '4'")
    dump = written(tmp_path, text)
    assert read_snapshot(dump, msgspec.structs.replace(OPTIONS, platform=asked)).target.machine == machine


def test_offsets_that_were_taken_for_hexadecimal_are_put_right() -> None:
    snapshot = read_snapshot(REAL / "rich.dump", OPTIONS)
    (record,) = snapshot.variants("layout", Name("record", "CStruct"))
    assert isinstance(record, Record)
    assert [field.offset // 8 for field in record.fields] == [0, 16, 32, 48]
    assert "hexadecimal offsets were detected" in snapshot.evidence_of("layout").detail


def types(*records: tuple[int, list[tuple[int, str]]]) -> dict[str, Hash]:
    found: dict[str, Hash] = {
        "1": {"Type": "Intrinsic", "Name": "int", "Size": "4"},
        "2": {"Type": "Intrinsic", "Name": "char", "Size": "1"},
        "3": {"Type": "Struct", "Name": "struct other", "Size": "4"},
    }
    for number, (size, members) in enumerate(records):
        memb: Hash = {
            str(i): {"name": f"m{i}", "offset": str(at), "type": type} for i, (at, type) in enumerate(members)
        }
        found[f"9{number}"] = {"Type": "Struct", "Name": f"struct s{number}", "Size": str(size), "Memb": memb}
    return found


def test_which_reading_of_offsets_is_true_is_told_by_all_records_together() -> None:
    small = (8, [(0, "1"), (4, "1")])
    plain = (24, [(0, "1"), (4, "1"), (8, "1"), (12, "1"), (16, "1"), (20, "1")])
    passed_through_hex = (24, [(0, "1"), (4, "1"), (8, "1"), (18, "1"), (22, "1"), (32, "1")])
    assert reading_of(types(small)) == "plain"
    assert reading_of(types(small, plain)) == "plain"
    assert reading_of(types(small, passed_through_hex)) == "hexadecimal"
    either = (64, [(0, "3"), (32, "3")])
    assert reading_of(types(either)) == "unreliable"
    assert reading_of(types(either, plain)) == "plain"
    assert reading_of(types(either, passed_through_hex)) == "hexadecimal"
    assert reading_of(types(plain, passed_through_hex)) == "unreliable"


def test_a_layout_that_cannot_be_told_is_not_used_and_the_snapshot_says_so(tmp_path: Path) -> None:
    def dump(offset: int) -> str:
        return (
            HEAD + "'Symbols' => {'x' => {'use' => 1}}, "
            "'SymbolInfo' => {'5' => {'ShortName' => 'use', 'Param' => {'0' => {'type' => '6'}}}}, "
            "'TypeInfo' => {'6' => {'Type' => 'Pointer', 'BaseType' => '7'}, "
            "'7' => {'Type' => 'Struct', 'Name' => 'struct s', 'Size' => '64', 'Memb' => {"
            "'0' => {'name' => 'a', 'offset' => '0', 'type' => '8'}, "
            f"'1' => {{'name' => 'b', 'offset' => '{offset}', 'type' => '8'}}}}}}, "
            "'8' => {'Type' => 'Struct', 'Name' => 'struct t', 'Size' => '4'}}};"
        )

    old, new = (read_snapshot(written(tmp_path, dump(offset), f"{offset}.dump"), OPTIONS) for offset in (32, 48))
    evidence = old.evidence_of("layout")
    assert evidence.reason == "layout-unreliable"
    assert "Field.offset" in (evidence.unrecorded or ())
    assert not compare(old, new).findings
    assert any("offsets of members" in each.detail for each in compare(old, new).not_checked)


def test_traps_of_real_dumps_are_known() -> None:
    snapshot = read_snapshot(REAL / "rich.dump", OPTIONS)
    (pod,) = snapshot.variants("layout", Name("record", "rich::inner::Pod"))
    assert isinstance(pod, Record)
    assert isinstance(pod.fields[-1], Field)
    assert isinstance(pod.fields[-1].type, Inline)  # anon-struct-rich.h-5
    (function,) = (shapes for name, shapes in snapshot.entries["layout"].items() if "3useE" in name.spelling)
    aliases = snapshot.entries["layout"]
    assert isinstance(getattr(aliases[Name("alias", "rich::inner::memfn_t")][0], "target", None), MemberPointer)
    assert len(function) == 1
    versions = {(each.version, each.default) for each in snapshot.entries["symbol"][Name("function", "rich_new")]}  # type: ignore[union-attr]
    assert versions == {("RICH_1.0", False), ("RICH_2.0", True)}
    assert not any("anon-" in name.spelling for name in snapshot.entries["layout"])


def test_values_that_are_written_twice_are_signed(tmp_path: Path) -> None:
    text = (
        HEAD + "'Symbols' => {'x' => {'level' => -4}}, 'SymbolInfo' => {'5' => {'ShortName' => 'level', 'Data' => 1, "
        "'Return' => '6'}}, 'TypeInfo' => {'6' => {'Type' => 'Enum', 'Name' => 'enum e', 'Size' => '4', 'Memb' => "
        "{'0' => {'name' => 'LOW', 'value' => '18446744073709551615 (-1)'}, "
        "'1' => {'name' => 'HIGH', 'value' => '7'}}}}};"
    )
    (enum,) = read_snapshot(written(tmp_path, text), OPTIONS).variants("layout", Name("enum", "e"))
    assert isinstance(enum, Enum)
    assert [each.value for each in enum.enumerators] == [-1, 7]


def test_names_of_standard_templates_get_the_arguments_that_dumps_leave_out() -> None:
    assert with_defaults("std::vector<int>") == "std::vector<int, std::allocator<int>>"
    text = "std::__cxx11::basic_string<char>"
    assert with_defaults(f"Box<{text}>") == f"Box<{text[:-1]}, std::char_traits<char>, std::allocator<char>>>"
    assert with_defaults("std::pair<int, long>") == "std::pair<int, long>"
    whole = "std::vector<int, my::pool<int>>"
    assert with_defaults(whole) == whole


@pytest.mark.full
def test_dumps_that_the_tool_makes_now_equal_their_libraries() -> None:
    library = real_library("v1")
    assert_no_change(dump_of(library, "abicc"), read_snapshot(library, OPTIONS))


def test_compressed_dumps_and_archives_of_one_are_read(tmp_path: Path) -> None:
    text = (REAL / "shapes-1.dump").read_bytes()
    plain = read_snapshot(REAL / "shapes-1.dump", OPTIONS)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        folder = tarfile.TarInfo("dumps")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        member = tarfile.TarInfo("dumps/ABI.dump")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text))
    flat = io.BytesIO()
    with tarfile.open(fileobj=flat, mode="w:gz") as tar:
        tar.addfile(member, io.BytesIO(text))
    for name, data in {"a.gz": gzip.compress(text), "a.xz": lzma.compress(text), "b.tar.gz": flat.getvalue()}.items():
        assert read_snapshot(written(tmp_path, data, name), OPTIONS).entries == plain.entries
    assert read_snapshot(written(tmp_path, archive.getvalue(), "c.tar.gz"), OPTIONS).entries == plain.entries


def test_a_file_that_unpacks_to_far_more_is_refused_early(tmp_path: Path) -> None:
    bomb = gzip.compress(b"$VAR1 = {" + b" " * (200 << 20), 1)
    with pytest.raises(LimitExceeded, match="unpack"):
        read_snapshot(written(tmp_path, bomb, "bomb.gz"), OPTIONS)


@pytest.mark.parametrize(
    "text",
    [
        "$VAR1 = {'a' => system('true')};",
        "$VAR1 = {'a' => `true`};",
        "$VAR1 = {'a' => do { 1 }};",
        "$VAR1 = bless( {}, 'Foo' );",
        "$VAR1 = {'a' => $VAR1->{'b'}};",
        "$VAR1 = {'a' => \\'b'};",
        "$VAR1 = {'a' => sub { }};",
        "$VAR1 = {'a' => 'b'}; print 1;",
        "$VAR1 = {'a' => 'b'",
        "$VAR1 = {'a' => };",
        "$VAR1 = {'a'};",
        "$VAR1 = [1, => 2];",
        "$VAR1 = }",
        "$VAR1 = 'unended",
        "$VAR1 = ",
        EMPTY.replace("'x86_64'", "'pdp11'"),
        EMPTY.replace("'8'", "'2'"),
        "$VAR1 = {};",
        "$VAR1 = 'text';",
    ],
)
def test_what_is_no_dump_is_an_error_and_nothing_of_it_runs(tmp_path: Path, text: str) -> None:
    with pytest.raises(ExtractError) as caught:
        read_snapshot(written(tmp_path, text), OPTIONS)
    assert caught.value.message


def test_scalars_are_read_as_perl_writes_them() -> None:
    text = r"""$VAR1 = {'it\'s' => 'a\\b', "x\x{263a}\n" => -1.5e3, 'list' => [undef, 7, {}, [],], };"""
    assert read_value(text, "case") == {"it's": "a\\b", "x\u263a\n": "-1.5e3", "list": [None, "7", {}, []]}


@pytest.mark.parametrize("quote", ["'", '"'])
@pytest.mark.parametrize("end", [True, False])
def test_escapes_take_no_memory_each(quote: str, end: bool) -> None:
    text = f"$VAR1 = {quote}" + "\\x" * 100_000 + (f"{quote};" if end else "")
    tracemalloc.start()
    with nullcontext() if end else pytest.raises(ExtractError, match="line 1 is not"):
        read_value(text, "case")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * len(text)  # the text as pieces; one pattern for the whole keeps 57 times as much


def test_depth_and_numbers_are_bounded_and_effort_is_linear(tmp_path: Path) -> None:
    with pytest.raises(LimitExceeded):
        read_snapshot(written(tmp_path, "$VAR1 = " + "{'a' => " * 100_000), OPTIONS)
    huge = EMPTY.replace(
        "'TypeInfo' => {}", "'TypeInfo' => {'1' => {'Type' => 'Struct', 'Size' => '" + "9" * 5000 + "'}}"
    )
    assert read_snapshot(written(tmp_path, huge), OPTIONS).exports == 0
    texts = ["$VAR1 = {" + "'a' => {'b' => ['c', 1]}, " * count + "};" for count in (1000, 2000)]
    one, two = (steps(lambda text=text: read_value(text, "case")) for text in texts)  # type: ignore[misc]
    assert two < 2.2 * one


def test_types_that_mention_themselves_end(tmp_path: Path) -> None:
    text = (
        HEAD + "'Symbols' => {'x' => {'f' => 1}}, 'SymbolInfo' => {'5' => {'ShortName' => 'f', 'Return' => '6'}}, "
        "'TypeInfo' => {'6' => {'Type' => 'Const', 'BaseType' => '7'}, "
        "'7' => {'Type' => 'Pointer', 'BaseType' => '6'}}};"
    )
    assert read_snapshot(written(tmp_path, text), OPTIONS).exports == 1


def test_the_library_and_version_are_those_of_the_dump_unless_said(tmp_path: Path) -> None:
    snapshot = read_snapshot(REAL / "shapes-1.dump", ExtractOptions())
    assert (snapshot.library, snapshot.version) == ("libshapes", "1.0")
    assert snapshot.variants("symbol", SELF)
    assert read_snapshot(REAL / "shapes-1.dump", ExtractOptions(library="other", version="7")).label == "other 7"
    with pytest.raises(InputError, match="not a library"):
        read_snapshot(written(tmp_path, "VAR1 = {}"), OPTIONS)
