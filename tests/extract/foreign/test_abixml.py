"""libabigail's ABIXML: read as debug information of the same library is, by a parser that refuses entities."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.errors import ExtractError, InputError, LimitExceeded
from abistore.extract.capture import read_all, read_snapshot
from abistore.extract.files import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import SELF, Name
from abistore.model.findings import Verdict
from abistore.model.shapes import Enum, Import, Library, Record, Symbol
from benchmarks.dumps import as_recorded, asked, told
from tests.build import build_library
from tests.cases import RULES, cases
from tests.effort import steps
from tests.extract.foreign.reading import OPTIONS, assert_no_change, dump_of, real_library, written

pytestmark = pytest.mark.fast

C = """
typedef struct { int a; struct { int q; } in; union { int x; float y; }; } unnamed_t;
typedef enum { E1, E2 } choice_t;
enum named { N1 = -1, N2 };
struct only_declared;
int table[2][3];
__thread int local;
int take(unnamed_t *a, choice_t e, enum named n, struct only_declared *f, int (*cb)(int, ...), _Bool b) { return 0; }
int weak(void) __attribute__((weak)); int weak(void) { return 1; }
int alias(void) __attribute__((alias("weak")));
struct flexible { int n; char data[]; };
int flex(struct flexible *x) { return 0; }
struct view { const void *begin; const volatile void *end; void *const owner; };
int look(const void *at, struct view *view, const char *name) { return 0; }
"""
CPP = """
#include <string>
#include <vector>
struct D { int q; virtual ~D(); virtual void f(); };
D::~D() {} void D::f() {}
struct V : virtual D { int v; void f() override; }; void V::f() {}
struct S { int a; int D::*pd; int b; void (D::*pm)(int); int c; }; int use(S *s) { return s->c; }
int member(int D::*p, int q) { return q; }
enum class Sc : unsigned short { A = 65535 }; enum Big : unsigned long { B = 0xffffffffffffffffUL };
int constants(Sc, Big) { return 1; }
struct St { std::string s; std::vector<int> v; }; int strings(St *s, std::string const &x) { return 0; }
struct Failed : std::exception { const char *what() const noexcept override; };
const char *Failed::what() const noexcept { return ""; }
inline namespace v1 { struct In { int i; }; int in(In *) { return 1; } }
namespace { struct Hidden { int h; }; } void *hidden(Hidden *) { return 0; }
"""
HEAD = "<abi-corpus version='2.1' architecture='elf-amd-x86_64' soname='libcase.so.1'>"
SYMBOL = (
    "<elf-function-symbols><elf-symbol name='f' type='func-type' binding='global-binding' "
    "visibility='default-visibility' is-defined='yes'/></elf-function-symbols>"
)


@pytest.mark.full
@pytest.mark.parametrize("name", ["v1", "v2", "rich"])
def test_the_abixml_of_a_library_equals_the_library(name: str) -> None:
    library = real_library(name)
    assert_no_change(dump_of(library, "abixml"), read_snapshot(library, OPTIONS))


@pytest.mark.full
@pytest.mark.parametrize(("language", "source"), [("c", C), ("c++", CPP)])
def test_what_abidw_leaves_out_is_no_change(language: str, source: str) -> None:
    library = build_library(source, language=language)
    assert_no_change(dump_of(library, "abixml"), read_snapshot(library, OPTIONS))


@pytest.mark.full
def test_two_abixml_files_differ_as_their_libraries_do() -> None:
    libraries = [real_library(f"v{number}") for number in (1, 2)]
    dumps = [dump_of(each, "abixml") for each in libraries]
    found = told(compare(*dumps))
    assert found == told(compare(*as_recorded([read_snapshot(each, OPTIONS) for each in libraries], dumps)))
    assert found


@pytest.mark.full
@pytest.mark.parametrize(
    "label",
    [
        *("func_removed-1", "type_size_changed-1", "type_field_removed-1", "enum_member_removed-1"),
        *(
            "type_base_changed-1",
            "func_virtual_added-1",
            "symbol_version_defined_removed.of_export-1",
            "typedef_base_changed-1",
        ),
    ],
)
def test_cases_of_rules_are_found_through_abixml(label: str) -> None:
    kind, _, number = label.rpartition("-")
    seen = asked(cases(RULES / f"{kind}.md")[int(number) - 1], "abixml")
    assert seen is not None
    assert not (seen.failed or seen.false or seen.missed or seen.invented)


@pytest.mark.full
def test_symbols_have_their_versions_aliases_types_and_binding() -> None:
    snapshot = dump_of(real_library("rich"), "abixml")
    symbols = snapshot.entries["symbol"]
    versions = {
        (each.version, each.default) for each in symbols[Name("function", "rich_new")] if isinstance(each, Symbol)
    }
    assert versions == {("RICH_1.0", False), ("RICH_2.0", True)}
    assert snapshot.variants("layout", Name("function", "rich_new"))
    c = dump_of(build_library(C), "abixml")
    assert c.variants("symbol", Name("function", "weak")) == (Symbol("function", weak=True),)
    assert c.variants("symbol", Name("variable", "local")) == (Symbol("thread_local", size=4),)
    assert c.variants("layout", Name("function", "alias")) == c.variants("layout", Name("function", "weak"))
    assert c.facts == Library("shared", "libcase.so.1")


@pytest.mark.full
def test_a_function_of_which_abidw_drops_parameters_is_not_described() -> None:
    snapshot = dump_of(build_library(CPP, language="c++"), "abixml")
    assert not snapshot.variants("layout", Name("function", "_Z6memberM1Dii"))
    assert snapshot.evidence_of("layout").state == "partial"


def test_a_group_gives_one_snapshot_for_each_corpus(tmp_path: Path) -> None:
    one, other = (f"{head}{SYMBOL}</abi-corpus>" for head in (HEAD, HEAD.replace("libcase", "libother")))
    text = f"<abi-corpus-group>{one}{other}</abi-corpus-group>"
    path = written(tmp_path, text, "both.abi")
    with InputFile(path) as file:
        found = read_all(file, ExtractOptions())
    assert [(each.library, each.exports) for each in found] == [("libcase", 1), ("libother", 1)]
    with pytest.raises(InputError, match="contains 2 libraries"):
        read_snapshot(path, ExtractOptions())


def test_undefined_symbols_are_imports_where_the_file_has_them(tmp_path: Path) -> None:
    undefined = (
        "<undefined-elf-function-symbols><elf-symbol name='malloc' version='GLIBC_2.2.5' type='func-type' "
        "binding='global-binding' visibility='default-visibility' is-defined='no'/></undefined-elf-function-symbols>"
    )
    snapshot = read_snapshot(written(tmp_path, f"{HEAD}{SYMBOL}{undefined}</abi-corpus>"), OPTIONS)
    assert snapshot.variants("symbol", Name("import", "malloc")) == (Import(version="GLIBC_2.2.5"),)
    assert "Import" not in (snapshot.evidence_of("symbol").unrecorded or ())


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_compressed_abixml_is_read(tmp_path: Path, compress: type[bytes]) -> None:
    text = f"<?xml version='1.0'?>\n<!-- made by hand -->\n{HEAD}{SYMBOL}</abi-corpus>"
    plain = read_snapshot(written(tmp_path, text), OPTIONS)
    assert read_snapshot(written(tmp_path, compress(text.encode())), OPTIONS).entries == plain.entries


LAUGHS = "".join(f"<!ENTITY l{n + 1} '{f'&l{n};' * 10}'>" for n in range(9))


@pytest.mark.parametrize(
    "text",
    [
        f"<!DOCTYPE abi-corpus [<!ENTITY l0 'ha'>{LAUGHS}]>{HEAD}&l9;</abi-corpus>",
        f"<!DOCTYPE abi-corpus SYSTEM 'file:///etc/passwd'>{HEAD}</abi-corpus>",
        f"<!DOCTYPE abi-corpus [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>{HEAD}&x;</abi-corpus>",
        f"{HEAD}&unknown;</abi-corpus>",
        f"{HEAD}<elf-needed>",
        f"{HEAD}</abi-corpus><abi-corpus/>",
        "<?xml version='1.0' encoding='no-such-thing'?><abi-corpus/>",
        HEAD.replace("amd-x86_64", "pdp-11") + "</abi-corpus>",
        "<abi-corpus/>",
        "<abi-corpus-group/>",
    ],
)
def test_entities_and_damaged_documents_are_errors(tmp_path: Path, text: str) -> None:
    with pytest.raises(ExtractError) as caught:
        read_snapshot(written(tmp_path, text), OPTIONS)
    assert caught.value.message


def test_depth_is_bounded_and_types_that_mention_themselves_end(tmp_path: Path) -> None:
    with pytest.raises(LimitExceeded, match="nested"):
        read_snapshot(written(tmp_path, HEAD + "<namespace-decl name='a'>" * 100_000), OPTIONS)
    loop = (
        "<abi-instr><pointer-type-def type-id='b' id='a'/><qualified-type-def type-id='a' const='yes' id='b'/>"
        "<function-decl name='f' elf-symbol-id='f'><return type-id='a'/></function-decl></abi-instr>"
    )
    assert read_snapshot(written(tmp_path, f"{HEAD}{SYMBOL}{loop}</abi-corpus>"), OPTIONS).exports == 1
    chain = "".join(f"<pointer-type-def type-id='t{n + 1}' id='t{n}'/>" for n in range(5000))
    function = "<function-decl name='f' elf-symbol-id='f'><return type-id='t0'/></function-decl>"
    text = f"{HEAD}{SYMBOL}<abi-instr>{chain}{function}</abi-instr></abi-corpus>"
    assert read_snapshot(written(tmp_path, text), OPTIONS).exports == 1


def test_effort_is_linear(tmp_path: Path) -> None:
    def text(count: int) -> str:
        fields = "<data-member access='public' layout-offset-in-bits='0'><var-decl name='m' type-id='i'/></data-member>"
        function = "<function-decl name='f' elf-symbol-id='f'><return type-id='r'/></function-decl>"
        record = f"<class-decl name='r' is-struct='yes' size-in-bits='32' id='r'>{fields * count}</class-decl>"
        types = f"<type-decl name='int' size-in-bits='32' id='i'/>{record}"
        return f"{HEAD}{SYMBOL}<abi-instr>{types}{function}</abi-instr></abi-corpus>"

    paths = [written(tmp_path, text(count), f"{count}.abi") for count in (1000, 2000)]
    one, two = (steps(lambda path=path: read_snapshot(path, OPTIONS)) for path in paths)  # type: ignore[misc]
    assert two < 2.2 * one


def test_numbers_that_no_library_has_are_not_taken_over(tmp_path: Path) -> None:
    huge = "9" * 5000
    parts = (
        f"<enum-decl name='e' id='e'><underlying-type type-id='u'/><enumerator name='A' value='{huge}'/></enum-decl>"
        f"<type-decl name='u' size-in-bits='-8' id='u'/><class-decl name='r' size-in-bits='{huge}' id='r'>"
        "<data-member access='public' layout-offset-in-bits='-64'><var-decl name='m' type-id='e'/></data-member>"
        "</class-decl>"
        "<function-decl name='f' elf-symbol-id='f'><return type-id='r'/></function-decl>"
    )
    snapshot = read_snapshot(written(tmp_path, f"{HEAD}{SYMBOL}<abi-instr>{parts}</abi-instr></abi-corpus>"), OPTIONS)
    (record,) = snapshot.variants("layout", Name("record", "r"))
    assert isinstance(record, Record)
    assert (record.size, record.fields[0].offset) == (0, 0)
    (enum,) = snapshot.variants("layout", Name("enum", "e"))
    assert enum == Enum(0, enum.enumerators) if isinstance(enum, Enum) else False
    assert compare(snapshot, snapshot).verdict is Verdict.NO_CHANGE
    assert snapshot.variants("symbol", SELF)
