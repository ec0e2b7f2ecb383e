"""Compilers: protections of the file, how values are passed, and functions that compilers generate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.parts import BuildMode, CallOptions, RecordedOptions, Toolchain
from abistore.diffing.side import SideFacts
from abistore.diffing.surface.export_table import is_weak
from abistore.model.declarations import Added, Changed, Name, Removed
from abistore.model.findings import Impact
from abistore.model.names.qualified import demangle, last_component
from abistore.model.names.symbols import TLS_INITIALIZER, freed_by, made_for, primary
from abistore.model.shapes import Function, Library, Named, Pointer, Qualified, Record, Symbol, TypeRef, symbol_type
from abistore.model.words import (
    BIND_NOW,
    BRANCHES,
    EXECUTABLE_STACK,
    FORTIFY,
    FULL_RELRO,
    PARTIAL_RELRO,
    STACK_CANARY,
    TEXT_RELOCATIONS,
    WRITABLE_CODE,
)
from abistore.patterns import pattern

RELRO = {PARTIAL_RELRO: "partial", FULL_RELRO: "full"}
SORTS = ("none", *RELRO.values())


def _gained(library: Changed[Library], weakness: str) -> bool:
    return weakness in library.new.weaknesses and weakness not in library.old.weaknesses


def _overcome(library: Changed[Library], weakness: str) -> bool:
    return weakness in library.old.weaknesses and weakness not in library.new.weaknesses


def _lost(library: Changed[Library], protection: str) -> bool:
    return protection in library.old.protections and protection not in library.new.protections


def _relro(library: Library) -> str:
    return next((RELRO[each] for each in library.protections if each in RELRO), "none")


def _branches(library: Library) -> set[str]:
    return set(library.protections) & BRANCHES


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def executable_stack(library: Changed[Library]) -> Iterator[Note]:
    """The library asks for an executable stack.

    The loader makes all stacks of the process executable. Where a policy (or glibc 2.41's ``dlopen``) forbids that, it
    refuses to load the library.

    Fix: mark assembler sources with ``.section .note.GNU-stack,"",@progbits``; avoid nested functions' trampolines.
    """
    if _gained(library, EXECUTABLE_STACK):
        yield Note("an executable stack is requested", "no", "yes")


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def executable_stack_removed(library: Changed[Library]) -> Iterator[Note]:
    """The library no longer asks for an executable stack.

    It loads under stricter policies too.

    Fix: nothing.
    """
    if _overcome(library, EXECUTABLE_STACK):
        yield Note("an executable stack is no longer requested", "yes", "no")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def relro_weakened(library: Changed[Library]) -> Iterator[Note]:
    """Less of the library's data is read-only after relocation (RELRO).

    Programs work as before, but an attacker can overwrite more of the pointers that they call through.

    Fix: link with ``-Wl,-z,relro,-z,now``.
    """
    old, new = _relro(library.old), _relro(library.new)
    if SORTS.index(new) < SORTS.index(old):
        yield Note("less data is protected after relocation", old, new)


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def bind_now_disabled(library: Changed[Library]) -> Iterator[Note]:
    """The library's symbols are bound lazily again.

    A missing symbol is found at its first call instead of at start. The table of calls (GOT) stays writable.

    Fix: link with ``-Wl,-z,now``.
    """
    if _lost(library, BIND_NOW) and _relro(library.old) == _relro(library.new):
        yield Note("symbols are bound lazily", "now", "lazy")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def stack_canary_removed(library: Changed[Library]) -> Iterator[Note]:
    """No function of the library checks its stack (stack protector).

    Programs work as before. A buffer overrun in the library is no longer stopped.

    Fix: build with ``-fstack-protector-strong``.
    """
    if _lost(library, STACK_CANARY):
        yield Note("no stack protector is used", "yes", "no")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def fortify_source_weakened(library: Changed[Library]) -> Iterator[Note]:
    """The library no longer calls the checking variants of libc functions (FORTIFY).

    Programs work as before. A buffer overrun in the library is no longer stopped.

    Fix: build with ``-O2 -D_FORTIFY_SOURCE=2`` or higher.
    """
    if _lost(library, FORTIFY):
        yield Note("no checking libc function is used", "yes", "no")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed", aliases=("cet_protection_weakened",))
def branch_protection_weakened(library: Changed[Library]) -> Iterator[Note]:
    """The library no longer declares a branch or return protection (IBT, SHSTK, BTI, PAC).

    The loader turns the protection off for the whole process. Where the protection is enforced, it refuses to load the
    library.

    Fix: build all units with ``-fcf-protection`` (x86) or ``-mbranch-protection=standard`` (AArch64), assembler too.
    """
    if _branches(library.old) - _branches(library.new):
        yield Note("branch protection was removed", *_protections(library))


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed", aliases=("cet_protection_improved",))
def branch_protection_improved(library: Changed[Library]) -> Iterator[Note]:
    """The library declares an additional branch or return protection (IBT, SHSTK, BTI, PAC).

    Consumers work as before.

    Fix: nothing.
    """
    old, new = _branches(library.old), _branches(library.new)
    if new - old and not old - new:
        yield Note("branch protection was added", *_protections(library))


def _protections(library: Changed[Library]) -> tuple[str | None, str | None]:
    old, new = (" ".join(sorted(_branches(side))) or None for side in (library.old, library.new))
    return old, new


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def text_relocation_introduced(library: Changed[Library]) -> Iterator[Note]:
    """The loader must change the library's code (text relocations).

    Processes no longer share these pages of code. Policies that forbid writable code reject the library.

    Fix: build all code with ``-fPIC``; link with ``-Wl,-z,text`` to find what is not.
    """
    if _gained(library, TEXT_RELOCATIONS):
        yield Note("the loader must change code", "no", "yes")


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def text_relocation_removed(library: Changed[Library]) -> Iterator[Note]:
    """The loader no longer changes the library's code (text relocations).

    It loads under stricter policies too.

    Fix: nothing.
    """
    if _overcome(library, TEXT_RELOCATIONS):
        yield Note("the loader no longer changes code", "yes", "no")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def writable_executable_segment(library: Changed[Library]) -> Iterator[Note]:
    """The library has a segment that is writable and executable.

    Policies that forbid this reject the library. Elsewhere an attacker can write code into it.

    Fix: link without ``-Wl,-N`` and linker scripts that merge segments.
    """
    if _gained(library, WRITABLE_CODE):
        yield Note("a segment is writable and executable", "no", "yes")


def _note(mode: Changed[BuildMode], name: str) -> Iterator[Note]:
    if mode.old.name == name:
        yield Note(f"{mode.old.name}: units were compiled differently", _units(mode.old), _units(mode.new))


def _units(mode: BuildMode) -> str:
    return ", ".join(mode.values)


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def exceptions_mode_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Units are compiled without C++ exceptions, or with them again.

    An exception that passes through code without unwind tables terminates the program. A function that reported errors
    by exceptions ends the process instead.

    Fix: build with the old setting, or document that the library no longer throws.
    """
    yield from _note(mode, "exceptions")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def rtti_mode_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Units are compiled without run-time type information, or with it again.

    ``dynamic_cast`` and ``typeid`` of the library's classes, and ``catch`` of its exceptions, need the type
    information. Programs that derive from the classes may not link.

    Fix: build with the old setting.
    """
    yield from _note(mode, "RTTI")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def threadsafe_statics_mode_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Static variables in functions are initialised without a lock, or with one again.

    An inline function runs in the copy of the program or of the library, whichever the loader finds first. If one of
    them takes no lock, two threads may initialise the variable at once.

    Fix: build the library and its consumers with the same setting.
    """
    yield from _note(mode, "thread-safe statics")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def tls_model_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Thread-local variables are accessed by another model.

    The initial-exec model needs room in the static block of the process: ``dlopen`` of the library may fail. Both sides
    of an exported variable must agree on its place.

    Fix: build with the old ``-ftls-model``.
    """
    yield from _note(mode, "TLS model")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def enum_size_flag_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """The rule for the size of enumerations changed (``-fshort-enums``).

    Changed sizes are reported separately. Programs that include the headers must be compiled with the same rule, or
    they size each enumeration differently.

    Fix: give the enumerations an underlying type, or build with the old setting.
    """
    yield from _note(mode, "size of enumerations")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def wchar_model_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """The width of ``wchar_t`` changed (``-fshort-wchar``).

    Wide strings that cross between programs and the library are read with the wrong width.

    Fix: build with the old setting; use ``char16_t`` or ``char32_t`` in interfaces.
    """
    yield from _note(mode, "width of wchar_t")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def char_signedness_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Plain ``char`` changed its signedness.

    The bits are the same. The library and the inline functions in its headers compare and widen values above 127
    differently.

    Fix: build with the old setting, or write ``signed char`` and ``unsigned char``.
    """
    yield from _note(mode, "signedness of char")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def struct_packing_mode_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Structs are packed by default, or no longer (``-fpack-struct``).

    Changed layouts are reported separately. Programs that include the headers must be compiled with the same setting,
    or they lay out every struct differently.

    Fix: pack single structs with an attribute, and build with the old setting.
    """
    yield from _note(mode, "packing")


@rule(Impact.NOTICE, evidence="layout", element="library", action="changed")
def float_abi_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Floating-point values are passed by another convention (``-mfloat-abi``, ``-msoft-float``).

    Exports with such parameters or results are reported separately (``calling_convention_changed``): callers pass
    values in other registers than the functions read.

    Fix: build with the old setting.
    """
    yield from _note(mode, "floating point")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def sanitizer_mode_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Units are compiled with other sanitizers.

    An instrumented library needs the sanitizer's runtime in the process from the start. Programs without it do not load
    the library, or report accesses that are right.

    Fix: ship a build without sanitizers.
    """
    yield from _note(mode, "sanitizers")


@rule(Impact.NOTICE, evidence="layout", element="library", action="changed")
def lto_mode_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Units are compiled with link-time optimisation, or no longer.

    It changes no interface. Exports that only assembler code or ``dlsym`` uses may vanish, which is reported
    separately.

    Fix: nothing.
    """
    yield from _note(mode, "link-time optimisation")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def cxx_standard_floor_raised(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Units are compiled for a later C++ standard.

    Its effects on this library's ABI are reported separately: ``noexcept`` in mangled names (C++17), ``char8_t``
    (C++20), other members of the standard library. Headers may require the newer standard of consumers.

    Fix: build for the old standard, or document which one the headers need.
    """
    yield from _note(mode, "C++ standard")


@rule(
    Impact.RISK,
    evidence="layout",
    element="library",
    action="changed",
    aliases=("abi_relevant_build_flag_changed", "build_context_changed", "whole_program_vtables_mode_changed"),
)
def toolchain_flag_drift(toolchain: Changed[Toolchain]) -> Iterator[Note]:
    """Other compiler options changed that can affect layouts, calls or mangled names.

    Their effects on this library's ABI are reported separately. Programs compile the inline functions and templates of
    its headers with their own options, which must match the library's.

    Fix: build with the old release's options, or document which ones consumers need.
    """
    yield Note("options that can affect the ABI changed", *_differing(toolchain.old.options, toolchain.new.options))


def _differing(old: Sequence[str], new: Sequence[str]) -> tuple[str | None, str | None]:
    lost, come = (" ".join(sorted(set(one) - set(other))) or None for one, other in ((old, new), (new, old)))
    return lost, come


@rule(Impact.NOTICE, variant="call_options", evidence="layout", element="library", action="changed")
def toolchain_flag_drift_call_options(calls: Changed[CallOptions]) -> Iterator[Note]:
    """Compiler options changed that affect how arguments and results are passed.

    Each affected export, callback and virtual function is reported separately (``calling_convention_changed``). The
    same applies to changed sizes and symbols. Others are called as before.

    Fix: nothing, or build with the old release's options.
    """
    yield Note("options that affect calls changed", *_differing(calls.old.options, calls.new.options))


@rule(Impact.NOTICE, variant="options", evidence="layout", element="library", action="changed")
def evidence_narrowed_options(recorded: Changed[RecordedOptions]) -> Iterator[Note]:
    """Only one of the builds records its compiler options.

    Changes of exceptions, RTTI, packing and similar options were not compared. GCC records options by default, Clang
    with ``-grecord-command-line``.

    Fix: build both releases with the same compiler, or make it record its options.
    """
    old, new = (
        " ".join(each.options) if each.options is not None else "none recorded" for each in (recorded.old, recorded.new)
    )
    yield Note("options of one side are not known", old, new)


@rule(Impact.BREAKING, variant="deallocation", evidence="symbol", element="functions", action="added")
def func_added_deallocation(symbol: Added[Symbol], context: Context) -> Iterator[Note]:
    """A class with a virtual destructor got its own ``operator delete``.

    Existing binaries allocate objects with the program's global ``operator new``. ``delete`` calls the destructor
    through the library's vtable. That one frees the memory with the class's own operator, which did not allocate it.

    Fix: add such operators only to a new class, or make them accept memory from the global ones.
    """
    found = freed_by(symbol.subject.name.spelling)
    if found and _is_freed_by_library(*found, context):
        yield Note("library and programs use different allocators", None, demangle(symbol.subject.name.spelling))


def _is_freed_by_library(destructor: str, operators: str, context: Context) -> bool:
    """Whether the library alone has the deleting destructor of a class, of which programs may create objects."""
    if not all(_has_strong(side, destructor) for side in (context.old, context.new)):
        return False
    if any(each.startswith(operators) for each in context.old.exports.names):
        return False  # programs allocate by the class's own operators already
    name = Name("record", demangle(destructor).rpartition("::")[0])
    records = (shape for shape in context.old.snapshot.described(name) if isinstance(shape, Record))
    if any(method.pure for record in records for method in record.virtuals):
        return False  # programs have objects of derived classes only, which they free themselves
    return context.old.tables.may_be_derived_from(name)


def _has_strong(side: SideFacts, symbol: str) -> bool:
    variants = side.variants("symbol", Name("function", symbol))
    return bool(variants) and not is_weak(variants)


@rule(Impact.RISK, variant="at_run_time", evidence="symbol", element="variables", action="added")
def var_value_changed_at_run_time(symbol: Added[Symbol], context: Context) -> Iterator[Note]:
    """A thread-local variable is now initialised at run time.

    Programs whose header says ``thread_local`` initialise it before use. Programs whose header declared a constant
    initialiser (``constinit``, ``__thread``, a C header) may read it before its initialisation.

    Fix: nothing, unless the header declared it so; in that case keep the initialiser constant.
    """
    spelling = symbol.subject.name.spelling
    if spelling.startswith(TLS_INITIALIZER) and _is_thread_local(made_for(spelling), context.old):
        yield Note("the variable is initialised at run time", None, demangle(spelling))


def _is_thread_local(symbol: str | None, side: SideFacts) -> bool:
    variants = side.variants("symbol", Name("variable", symbol)) if symbol else ()
    return any(isinstance(each, Symbol) and symbol_type(each) == "tls" for each in variants)


@rule(Impact.COMPATIBLE, variant="at_load_time", evidence="symbol", element="variables", action="removed")
def var_value_changed_at_load_time(symbol: Removed[Symbol]) -> Iterator[Note]:
    """A thread-local variable is no longer initialised at run time.

    Programs call the initialiser through a weak reference, only if it exists.

    Fix: nothing.
    """
    spelling = symbol.subject.name.spelling
    if spelling.startswith(TLS_INITIALIZER):
        yield Note("the variable is initialised at load time", demangle(spelling), None)


def special_member(function: Function) -> Name | None:
    """The class whose destructor, copy or move constructor ``function`` is; ``None`` for any other function."""
    method = function.method
    if method is None or method.virtual != "no":
        return None
    simple = last_component(method.owner.spelling)
    name = last_component(function.display)
    if name == f"~{simple}" or (name == simple and _takes_own(function.parameters, method.owner)):
        return method.owner
    return None


def _takes_own(parameters: tuple[TypeRef, ...], owner: Name) -> bool:
    match parameters:
        case (Pointer(target=Named(name) | Qualified(target=Named(name)), sort="&" | "&&"),):
            return name == owner
        case _:
            return False


def _new_member_of(symbol: Added[Symbol], context: Context) -> Name | None:
    """The class whose first exported special member ``symbol`` is, if the debug information hides what that does."""
    name = symbol.subject.name
    function = context.new.shape(name)
    owner = special_member(function) if isinstance(function, Function) else None
    if owner is None or primary(name.spelling) != name.spelling:
        return None
    old, new = context.old.shape(owner), context.new.shape(owner)
    if not isinstance(old, Record) or not isinstance(new, Record) or None not in (old.passing, new.passing):
        return None
    had_one = any(special_member(each) == owner for each in context.old.tables.methods(owner))
    return None if had_one or context.old.tables.is_polymorphic(old) else owner


@rule(Impact.RISK, variant="special_member", evidence="layout", element="types", action="changed")
def value_abi_trait_changed_special_member(symbol: Added[Symbol], context: Context) -> Iterator[Note]:
    """A class passed by value got a destructor, copy or move constructor in the library.

    If the class had none before, not even an inline one, objects that were passed in registers are now passed by
    address. Callers and the library then disagree. If the class contains standard library objects, debug information
    does not show whether it had one.

    Fix: keep these members defaulted in the class; nothing, if the class had them inline before.
    """
    owner = _new_member_of(symbol, context)
    if owner is not None and context.passed_with(owner):
        member = demangle(symbol.subject.name.spelling)
        yield Note(f"{owner.spelling} may be passed differently", None, member, context.affected(owner))


def _passing(record: Changed[Record]) -> tuple[str, str] | None:
    """How both sides pass objects of a record by value, where both are known and differ."""
    old, new = record.old.passing, record.new.passing
    if record.within is not None or old is None or new is None or old == new:
        return None
    return PASSED[old], PASSED[new]


def _moves_registers(record: Changed[Record], context: Context) -> bool:
    """Whether what is passed by value, and is or embeds a record of the same size, goes into other registers."""
    from abistore.diffing.types.sameness import MOST_BYTES, registers  # few records are passed by value

    name = record.subject.name
    if record.old.size != record.new.size or record.old.size > MOST_BYTES:
        return False
    for value in context.passed_with(name):
        old, new = registers(Named(value), context.old.types), registers(Named(value), context.new.types)
        if None not in (old, new) and old != new:
            return True
    return False


def _is_passed_otherwise(record: Changed[Record], context: Context) -> bool:
    """Whether a record that is passed by address on one side only is ever passed in another way.

    A result that is too large for registers lies in memory of the caller on both sides.
    """
    from abistore.diffing.types.sameness import is_too_large  # few records are passed by value

    name = record.subject.name
    passed = context.passed_with(name)
    if not passed or not all(is_too_large(each, context.old.types) for each in passed):
        return bool(passed)
    return bool(context.taken_with(name))


PASSED = {"value": "as its members", "reference": "by the address of a copy"}


@rule(
    Impact.BREAKING,
    evidence="layout",
    element="types",
    action="changed",
    effect="other",
    aliases=("trivially_copyable_lost",),
)
def value_abi_trait_changed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A type is passed by value differently, e.g. by the address of a copy.

    Callers and the library disagree about the location of the object. A class may have gained or lost a non-trivial
    destructor, copy or move constructor. Then its objects moved from registers to the address of a copy, or back. Or a
    new field mixes integers and floating-point numbers in one register: objects of the same size use other registers.
    Or a flexible array was added (``char data[]``): in C++ such objects are passed in memory.

    Fix: keep these members unchanged, defaulted in the class or not; pass the type by reference.
    """
    passing = _passing(record)
    if passing is not None and _is_passed_otherwise(record, context):
        yield Note("objects are passed differently", *passing)
    elif passing is None and record.within is None and _moves_registers(record, context):
        yield Note("objects are passed in other registers")


@rule(
    Impact.RISK,
    variant="unused",
    evidence="layout",
    element="types",
    action="changed",
    effect="other",
    aliases=("trivially_copyable_lost",),
)
def value_abi_trait_changed_unused(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A class would be passed by value differently, but the library never passes it by value.

    No exported function, callback or virtual method takes it by value, or returns it in registers: larger results are
    in the caller's memory. Existing and recompiled code that exchange it by value disagree, and existing code does not
    run a new destructor.

    Fix: keep destructor, copy and move constructor unchanged, defaulted in the class or not.
    """
    passing = _passing(record)
    if passing is not None and not _is_passed_otherwise(record, context) and not _is_uncopied(record.old):
        yield Note("objects would be passed differently", *passing)


COPY = pattern(r"(\w+)\(const (?:.*::)?\1(?:<.*>)?&\)")
"""A copy constructor, as members that are ``= delete`` are spelled."""


def _is_uncopied(record: Record) -> bool:
    """Whether nobody could copy objects of ``record``, so that no program passes one by value."""
    return any(COPY.fullmatch(member) for member in record.deleted)
