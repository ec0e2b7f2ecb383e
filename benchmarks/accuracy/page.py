"""``docs/lab/accuracy.md``: the figures, and what every pair was judged."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks.accuracy.asking import Said, is_break
from benchmarks.accuracy.clients import clients
from benchmarks.accuracy.judging import ASKED, Judged
from benchmarks.accuracy.truth import BEFORE, pairs
from examples.obtain import PROJECT

PAGE = PROJECT / "docs" / "lab" / "accuracy.md"
CAUSES = PROJECT / "benchmarks" / "accuracy" / "causes.md"

INTRODUCTION = """# Right on real releases

How often do abistore and `abidiff` (libabigail {abidiff}) answer rightly whether a new release breaks what was built
with the one before? Made on {date} from {pairs} consecutive pairs of releases of {libraries} libraries, C and C++, by

```console
$ python -m benchmarks.accuracy --document    # obtains, builds, judges; needs gcc, g++, npm and abigail-tools
$ python -m benchmarks.accuracy.clients       # builds clients with old releases and runs them with new ones
```

Sources come with `pip download` and `npm pack` (`examples/*recipes.py`); they are compiled
with `-g -O2` and one SONAME for all releases, so that no tool is told the answer by the name.

**Truth** (`benchmarks/accuracy/truth.csv`, with a reason for each pair): a pair breaks where a client that the
installed headers of the old release let one build goes wrong with the new one. It was found by reading the differences
of headers and sources, and in {shown} pairs by a client in `benchmarks/clients` that runs. Declarations behind an
opt-in macro count, private members do not, nor do exports that no installed header declares.

**A break** is for abistore the verdict BREAKING, for abidiff bit 8 of its exit code.
"""

EVIDENCE = """
"From the files": what debug information and export tables tell. "With headers": abistore reads the installed headers
(`--old-header`, `--new-header`) with the macros that open all of them; abidiff is given folders of the same headers
(`--headers-dir1`, `--headers-dir2`), which name what is public.

The goal, precision 0.97 at recall 1.00, is not met. What abistore tells without headers: debug information names the
header that defines a class or declares a function that another unit calls, and an `include` folder tells public headers
from others. Nothing tells them apart where all lie in one folder, where a library is one file made of all, or where a C
function's definition is all that is known of it; there a removed export and a changed type are said to break. Some
members are private by a comment only. The miss is a macro, which debug information holds with `-g3` only, and which
is not read; headers show that it changed, as a source break, for nothing tells that programs pass it to the library.

## Independent pairs

{count} pairs of {libraries} libraries were judged from the differences of headers and sources before any tool was run
on them, and no rule was made with them in view. The figures *before* are what both tools answered then
(`benchmarks/accuracy/before.csv`): they are the independent ones. Those *after* are of the same run as the rest of this
page, when general causes had been mended, such as headers that are not public and interfaces that are C. Before, this
benchmark told by patterns over the headers' text what they declare; after, the tools read them. One judgement was
wrong, and was corrected in both after both tools had named what it had overlooked: libada 2.7.7 -> 2.9.2 breaks. As
first judged, it was one true alarm less and one false alarm more for each row.
"""

OTHERS = """
The other pairs are not independent of the rules: some mechanisms (fields that are regrouped, retired or put into a
union, what callbacks hand out, headers that are not public) were made with them in view. None is tied to a name of a
library.
"""

MECHANISMS = """## What tells

Reasons that hold for any library, each with a case that alarms and one that must not (`abistore explain KIND`):

- An enumerator called size, end or total ends a list where the others run up to it without a gap. Among errors,
  results, states and tokens it is a value that functions return, and its change breaks. Errors between one called
  `ERR_BEGIN` and one called `ERR_END` or `ERR_END_ALL` are bounded by these: neither says what is wrong.
- Enumerations and constants of the library's own headers are compared where no export names them: they are what
  programs pass for a plain `int`. Where nothing tells that consumers include the header, their change is a risk.
  Where all headers lie in one folder, one that declares an export or a type of one is taken for public, and constants
  in it that only the library uses are compared too: nothing in debug information tells such a header from a public
  one. Who uses a constant does not tell either: programs and the library pass the same ones. Headers tell.
- Symbols of the language runtime that are linked in are nobody's interface, strong ones and clones for transactions
  too: they are foreign where they come, go or change. `std::hash<geo::Point>` mentions another name, and is the
  library's own.
- A library that exports C functions and none of C++ leaves type information of template instances behind, and what is
  local to inline functions: these are foreign, whether a linker made them strong or not (`symbols_removed.foreign`).
- Relocations tell what a vtable and type information hold, in stripped libraries too: a slot that holds another
  function breaks, and so does a function that became pure, which GCC 12 never records, or another base.
- An inline variable of C++17 is in each program that uses it, and one address in the whole process: its copy in the
  library may go (`symbols_removed.inline`). Its unique symbol tells, or the header that defines it; a variable that a
  header only declares is the library's, and breaks (`var_removed`).
- A class template is known to be instantiated explicitly where the library exports several of its members and uses
  none: compilers emit what a unit uses, and all of what it instantiates explicitly. That nothing uses one is seen in
  dynamic relocations, where the library calls its own functions through these (not with `-Bsymbolic`). Constructors
  have two symbols, of which either counts; destructors and virtual functions are emitted for a vtable, and tell
  nothing. A member that goes from such an instance breaks (`func_removed`), and so does the whole, whatever the
  compilers (`func_removed.instantiation`). Function templates are told by their symbols alone. So it is with each
  member of an instance of which a header says `extern template`, as the template declares it: programs ask for it.
- A private member function or private static data member is out of programs' reach, and what happens to it is a risk
  (`symbols_removed.inaccessible`). It breaks where the library exports a copy of an inline function that has access to
  it, which programs have compiled in too, and where it is virtual: derived classes have it in their vtables.
- So are the members of a private nested class, unless a public member of the class around it takes, returns, renames
  or inherits one: `list.first().next()` needs no name for what `first` returns. A protected class counts as private
  where nobody can derive: no constructor is left to programs, or the class is `final`, which headers alone tell.
  GCC from 8 and Clang from 14 record the access of nested classes, GCC alone that of nested enumerations; PDB files
  do not. Where no unit defines the class around, nothing is known, and the member counts as public. A public alias
  of the private class that no member uses is recorded by no compiler: headers tell of it.
- Private numbers and pointers of a class that change places or types within the same bytes are a risk with headers
  (`type_field_type_changed.private`): programs copy these bytes and do no more. It breaks where anything that programs
  have compiled in may look into them: an inline body, a friend, a template, a function whose body is not in the headers
  that were given, a comparison or initialisation that the compiler writes. Without headers nothing tells, and it
breaks. - So is a private nested class with headers, where programs hold pointers at most (`type_private_changed`): a
  `struct Impl` behind a private `Impl *`. It breaks where the class around has a friend or a member template, where a
  member holds one by value, and where an inline body, a default argument or an initialiser with access to it leads
  there, by a member or by its name. Without headers nothing tells, and it breaks, unless a source file or a private
  header defines it.
- An inline function that is declared deleted stays in the programs that have it compiled in: sources break
  (`func_deleted_dwarf.inline`). Where it was private, no source could call it (`declaration_changed.inaccessible`).
- A class in which each virtual function is pure or inline has no key function: programs emit its vtable and type
  information themselves (Itanium C++ ABI, 5.2.3), and do not miss those of the library (`type_symbols_removed`).
  Headers tell; without them, a class with other members in the library is taken for one with a key function.
- Exports that differ in a tag, a namespace or an affix are one change only where programs ask for one of them: copies
  of inline functions they have themselves (`glibcxx_dual_abi_flip_detected`).
- A namespace has another name where most of what it holds is there under that name. Everything is compared under the
  old names then: what only moved is no change beyond the move, and a field that came with it is told. Inline
  namespaces, and names that look like versions (`v1`, `Imf_3_2`, `lts_2023`), are written by no program
  (`inline_namespace_moved`, `inline_namespace_moved.unexported`); others are (`namespace_renamed`).
- A deleted function that is not declared any more was never called (`declaration_removed`).
- Only private members take a type: programs do not allocate it (`type_size_changed.handle`).
- An export that stands in no version node but a private one, by the node's name, is for the other libraries of the
  project (`symbol_version_node_removed.private`). Namespaces tell nothing: installed headers declare `detail` and
  `internal`, and inline functions call them.
- An instance of a public template with a private argument is private: nobody else can name it
  (`symbols_removed.internal`), and it makes the header of its argument no public one (`type_private_changed`).
- Most C++ functions that are known by their definition need types of an `include` folder, and of no other header: the
  folder is the public one. Where C functions are many and public headers declare next to no C++, C++ functions are
  internal, and a header called one of C++ (`context.hpp`) is not needed for a pointer that is handed out.
- Where most C functions do with the headers of an `include` folder, one that is known by its definition only and
  needs a type of a header beside its source file is internal, and so is that header (`symbols_removed.private`).
- A record that some units know by a dummy of another size (`struct state { int dummy; };`), and that the library
  allocates, is a handle: programs see the dummy (`type_private_changed`).
- A header that only defines a C function, for the one source file that includes it, declares nothing for others: the
  function is public as far as is known (`symbols_removed.private`).
- Where all headers of a C library lie in one folder, one that is known to declare exports is public, and so is what it
  has to include. A record to which it gives an alias, and which a header defines that it does not need, is a handle
  (`type_private_changed`).
  Without an alias it is a handle where a unit of C calls the functions with a declaration of it only, and each export
  that uses it is known to be declared in another header: that unit includes all that callers need. Where an export is
  known by its definition only, its header may be that of the record, and the change breaks. In C++ a declaration tells
  nothing: compilers leave the definition of a class to the unit that has its constructors or its vtable.
- Variants of one function by instruction set (`blend_sse41`, `blend_avx2`) are one finding. Where the function itself
  stays, programs call that (`func_removed.dispatched`); else the variants are what they called
  (`func_removed.instruction_set`).
- A data object that moves between writable and read-only memory is a risk where no type tells more
  (`var_became_const.storage`, `var_lost_const.storage`): the sections and what the loader protects after relocation
  tell, in stripped libraries too. A constant that was computed at start and is known to the compiler now moves as well:
  with debug information or headers that is silent, and a variable that became `const` breaks (`var_became_const`).
- A version of the C library that every system of the machine has raises no floor: glibc's own `shlib-versions` say
  which it began with (riscv64 2.27, riscv32 2.32, loongarch64 2.36, aarch64 and ppc64le 2.17), and the tests read the
  lowest of the C libraries that cross compilers bring.
- A macro is compared by what programs get: where all that it names comes to a number or a string, by that (`INT8_MIN`
  is `(-128)`), and with the constant that it names it changes too (`constant_changed`). What the system's headers
  define counts where the text differs, and not where only two machines do. Compilers' own macros (`__INT_MAX__`) are
  not read.
- A macro that comes to an attribute, a calling convention or nothing by way of others is no constant.
- A constant whose name and value the headers still have is not gone: an enumerator that became a macro
  (`enum_member_removed.to_constant`), a constant of an enumeration that got a name (`constant_changed.to_enumerator`).
- What a result points to decides what sources can keep it as: `const` that comes breaks them, and so does `const` that
  goes two pointers deep. Where an inline function's parameters point to `const` now, all that callers pass converts
  (`declaration_changed.inline_widened`).
- A callback that returned nothing and returns a value is a break where programs supply it: an old one leaves the
  register as it is, and whether the library looks at it, no declaration tells (`typedef_base_changed`). Where
  functions of the library only return the pointer, programs call what is behind, and ignore the value
  (`typedef_base_changed.value_added`).
- Compilers record options that the ABI depends on: exceptions, type information, packing, sizes of enumerations,
  the C++ standard and the like are one risk each for the library where both builds record them
  (`exceptions_mode_changed` and its neighbours in `abistore changes`), and a notice where one does not
  (`evidence_narrowed.options`). The last option of a unit holds, and what is said to be the default is the default.
  They are no part of a digest.
- A new export whose name has a type without a name in it, which compilers number by its place in the source, is a
  risk (`unnamed_type_in_public_abi`); what inline functions share by such names is not.
- A new class with virtual functions whose destructor is not virtual is a risk, unless a base is not described or
  headers say that nobody deletes it (`polymorphic_type_non_virtual_dtor`).
- A new overload is followed through the rules of overload resolution for numbers, `0`, `nullptr` and string
  literals, in parameters by value and by `const &`: calls that become ambiguous or go elsewhere are risks
  (`overload_ambiguity_introduced`, `overload_set_rerouted`). Templates, derived classes and other arguments are not
  followed.
- Where one side's compiler records a fact that the other's does not, the fact is not checked
  ([what compilers record](recorded.md)).
- Two structs without a name are one type only if fields of one name lie at one offset: behind a pointer too
  (`type_field_type_changed`).

## What files alone cannot know

Without headers, these answers about the open half of the [unseen pairs](accuracy-unseen.md) stay wrong, since the
files of another pair would be alike and the right answer the other one:

- Five breaks are missed in libraries without debug information (four of libmujoco, one of libtinyxml2): members are
  inserted in structs that callers allocate, limits that size arrays grow. Instructions hold the new offsets, and
  nothing tells of which struct. C symbols name no types, mangled ones name parameters and not what these hold, sizes
  are recorded of exported objects only. The layout is told as not checked; headers show all five.
- Exports that no installed header declares go from libraries without debug information (libassimp, libcasadi,
  libcufft). They have the same binding, visibility and version node as public ones, and their names say nothing.
- Internal headers lie in an `include` folder from which some are installed (libh3, libsass), or all headers lie in
  one folder (liblmdb: `midl.h`). What is installed is a line of the build, which debug information does not record.
- Virtual functions are appended to a class that a static function hands out and other functions take back
  (librdkafka++). The library casts such objects to its own class. LevelDB's `Env` looks the same, and programs derive
  from that one: there the same change breaks. So headers do not tell either.
- A constant moves, and the library goes on understanding the old value (libblosc2): only its source says so.
"""


def write(found: Sequence[Judged], date: str, abidiff: str) -> None:
    """Write the page."""
    shown = {(each.library, each.old, each.new) for each in clients() if not each.is_source}
    introduction = INTRODUCTION.format(
        date=date,
        abidiff=abidiff,
        pairs=len(found),
        libraries=len({each.pair.library for each in found}),
        shown=len(shown),
    )
    fresh = [each for each in found if each.pair.independent]
    evidence = EVIDENCE.format(count=len(fresh), libraries=len({each.pair.library for each in fresh}))
    independent = [*_table({"before": before(), "after": fresh}), OTHERS]
    rest = *_wrong(found), *_sources(found), *_pairs(found)
    parts = [introduction, *_figures(found), evidence, *independent, MECHANISMS, CAUSES.read_text(), *rest]
    PAGE.write_text("\n".join(parts).rstrip("\n") + "\n")


def before() -> list[Judged]:
    """What both tools said of the independent pairs before anything was mended for them."""
    known = {(each.library, each.old, each.new): each for each in pairs()}
    with BEFORE.open(newline="") as table:
        return [
            Judged(
                known[row["library"], row["old"], row["new"]],
                {tool: _said(tool, row[tool]) for tool in ASKED},
                {tool: _said(tool, row[f"{tool} with headers"]) for tool in ASKED},
            )
            for row in csv.DictReader(table)
        ]


def _said(tool: str, word: str) -> Said:
    return Said(word, is_break(tool, word))


MODES: Mapping[str, Callable[[Judged], Mapping[str, Said]]] = {
    "from the files": lambda each: each.plain,
    "with headers": lambda each: each.declared,
}


def _figures(found: Sequence[Judged]) -> Iterator[str]:
    yield "## Is it a binary break?\n"
    yield from _table({"": found})


def _table(groups: Mapping[str, Sequence[Judged]]) -> Iterator[str]:
    """One row for each tool and evidence, of each group; a group without a name has no column."""
    named = any(groups)
    columns = "tool | evidence | true alarms | false alarms | missed | rightly silent | precision | recall |"
    yield f"| {'when | ' if named else ''}{columns}"
    yield f"|{'---|' if named else ''}---|---|---:|---:|---:|---:|---:|---:|"
    for group, found in groups.items():
        for mode, answers in MODES.items():
            for tool in ASKED:
                said = [(each.pair.breaks, answers(each)[tool].breaks) for each in found]
                yield f"| {f'{group} | ' if named else ''}{tool} | {mode} | {_counts(said)} |"


def _counts(said: Sequence[tuple[bool, bool | None]]) -> str:
    """Alarms and misses of pairs of truth and answer, and what follows from them."""
    kinds = (True, True), (False, True), (True, False), (False, False)
    hit, false, missed, silent = (said.count(each) for each in kinds)
    precision, recall = hit / max(hit + false, 1), hit / max(hit + missed, 1)
    return f"{hit} | {false} | {missed} | {silent} | {precision:.2f} | {recall:.2f}"


def _wrong(found: Sequence[Judged]) -> Iterator[str]:
    yield "## Where abistore is wrong\n"
    for mode, answers in MODES.items():
        yield f"{mode.capitalize()}:\n"
        for each in found:
            answer = answers(each)["abistore"]
            if answer.breaks == each.pair.breaks:
                continue
            pair = f"{each.pair.library} {each.pair.old} -> {each.pair.new}"
            if answer.breaks:
                named = ", ".join(f"`{cause[:100]}`" for cause in answer.causes[:3])
                more = f" and {len(answer.causes) - 3} more" if len(answer.causes) > 3 else ""
                yield f"- false alarm, {pair}: {named}{more}. Truth: {each.pair.reason}."
            else:
                yield f"- missed ({answer.word}), {pair}: {each.pair.reason}."
        yield ""


def _sources(found: Sequence[Judged]) -> Iterator[str]:
    """The verdicts that a program must be changed, and not only built again."""
    shown = {(each.library, each.old, each.new): each for each in clients() if each.is_source}
    yield "## Source breaks\n"
    yield "Verdicts API_BREAK, and the program in `benchmarks/clients` that compiles with the old headers only:\n"
    for each in found:
        if each.plain["abistore"].word == "API_BREAK":
            pair = each.pair.library, each.pair.old, each.pair.new
            proof = f"confirmed by {shown[pair].path.name}: {shown[pair].why}" if pair in shown else "not confirmed."
            yield f"- {each.pair.library} {each.pair.old} -> {each.pair.new}: {proof}"
    yield ""


def _pairs(found: Sequence[Judged]) -> Iterator[str]:
    client = {(each.library, each.old, each.new): each.path.name for each in clients() if not each.is_source}
    yield "## All pairs\n"
    yield "Wrong answers are **bold**; abidiff answers `incompatible`, `change` or `none`.\n"
    yield "| library | old | new | breaks? | abistore | with headers | abidiff | with headers | why | client |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for each in found:
        pair = each.pair
        cells = [
            *(pair.library, pair.old, pair.new, "yes" if pair.breaks else "no"),
            *(_cell(answers[tool], pair.breaks) for tool in ASKED for answers in (each.plain, each.declared)),
            *(pair.reason.replace("|", "\\|"), client.get((pair.library, pair.old, pair.new), "")),
        ]
        yield f"| {' | '.join(cells)} |"


def _cell(answer: Said, truth: bool) -> str:
    return answer.word if answer.breaks == truth else f"**{answer.word}**"
