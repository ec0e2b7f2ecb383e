"""What the compilers were told: options that the ABI depends on. Each mode is one finding for the whole library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.compare.diff.parts import BuildMode, CallOptions, RecordedOptions, Toolchain
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Changed
from abistore.model.findings import Impact


def _note(mode: Changed[BuildMode], name: str) -> Iterator[Note]:
    if mode.old.name == name:
        yield Note(f"{mode.old.name}: units were compiled otherwise", _units(mode.old), _units(mode.new))


def _units(mode: BuildMode) -> str:
    return ", ".join(mode.values)


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def exceptions_mode_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Units are compiled without C++ exceptions, or with them again.

    An exception that passes through code without unwind tables terminates the program, and a function that reported
    errors by exceptions ends the process instead.

    Fix: build with the old setting, or document that the library no longer throws.
    """
    yield from _note(mode, "exceptions")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def rtti_mode_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Units are compiled without run-time type information, or with it again.

    ``dynamic_cast`` and ``typeid`` of the library's classes, and ``catch`` of its exceptions, need what is no
    longer there; programs that derive from them may not link.

    Fix: build with the old setting.
    """
    yield from _note(mode, "RTTI")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def threadsafe_statics_mode_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Static variables of functions are initialised without a lock, or with one again.

    An inline function runs in the copy of the program or of the library, whichever the loader finds first. Where
    one of them takes no lock, two threads may initialise the variable at once.

    Fix: build the library and its consumers with the same setting.
    """
    yield from _note(mode, "thread-safe statics")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def tls_model_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Thread-local variables are accessed by another model.

    The initial-exec model needs room in the static block of the process: ``dlopen`` of the library may fail. Both
    sides of an exported variable must agree on its place.

    Fix: build with the old ``-ftls-model``.
    """
    yield from _note(mode, "TLS model")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def enum_size_flag_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Enumerations are sized by another rule (``-fshort-enums``).

    The sizes that changed here have findings of their own. Programs that include the headers must be compiled by
    the same rule, or they size each enumeration otherwise.

    Fix: give the enumerations an underlying type, or build with the old setting.
    """
    yield from _note(mode, "size of enumerations")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def wchar_model_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """``wchar_t`` has another width (``-fshort-wchar``).

    Wide strings that cross between programs and the library are read with the wrong width.

    Fix: build with the old setting; use ``char16_t`` or ``char32_t`` in interfaces.
    """
    yield from _note(mode, "width of wchar_t")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def char_signedness_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Plain ``char`` is signed where it was unsigned, or the reverse.

    The bits are the same. The library and the inline functions in its headers compare and widen values above 127
    otherwise.

    Fix: build with the old setting, or write ``signed char`` and ``unsigned char``.
    """
    yield from _note(mode, "signedness of char")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def struct_packing_mode_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Structs are packed by default, or no longer (``-fpack-struct``).

    Layouts that changed here have findings of their own. Programs that include the headers must be compiled with
    the same setting, or they lay every struct out otherwise.

    Fix: pack single structs with an attribute, and build with the old setting.
    """
    yield from _note(mode, "packing")


@rule(Impact.NOTICE, evidence="layout", element="library", action="changed")
def float_abi_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Floating-point values are passed by another convention (``-mfloat-abi``, ``-msoft-float``).

    Exports with such parameters or results have findings of their own (``calling_convention_changed``): callers pass
    them in other registers than functions expect.

    Fix: build with the old setting.
    """
    yield from _note(mode, "floating point")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def sanitizer_mode_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Units are compiled with other sanitizers.

    An instrumented library needs the sanitizer's runtime in the process from the start: programs that lack it do
    not load it, or report accesses that are right.

    Fix: ship what was built without sanitizers.
    """
    yield from _note(mode, "sanitizers")


@rule(Impact.NOTICE, evidence="layout", element="library", action="changed")
def lto_mode_changed(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Units are compiled with link-time optimisation, or no longer.

    It changes no interface. Exports that only assembler code or ``dlsym`` names may vanish, which is a finding of
    its own.

    Fix: nothing.
    """
    yield from _note(mode, "link-time optimisation")


@rule(Impact.RISK, evidence="layout", element="library", action="changed")
def cxx_standard_floor_raised(mode: Changed[BuildMode]) -> Iterator[Note]:
    """Units are compiled for a later C++ standard.

    What it changed in this library's ABI has findings of its own: ``noexcept`` in mangled names (C++17),
    ``char8_t`` (C++20), other members of the standard library. Headers may need the newer standard of consumers.

    Fix: build for the old standard, or tell consumers which one the headers need.
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
    """Further compiler options changed that layouts, calls or mangled names can depend on.

    What they changed in this library's ABI has findings of its own. Programs compile the inline functions and
    templates of its headers with their own options, which must agree with the library's.

    Fix: build with the old release's options, or tell consumers which ones they need.
    """
    yield Note("options that the ABI can depend on differ", *_differing(toolchain.old.options, toolchain.new.options))


def _differing(old: Sequence[str], new: Sequence[str]) -> tuple[str | None, str | None]:
    """What only one side has."""
    lost, come = (" ".join(sorted(set(one) - set(other))) or None for one, other in ((old, new), (new, old)))
    return lost, come


@rule(Impact.NOTICE, variant="call_options", evidence="layout", element="library", action="changed")
def toolchain_flag_drift_call_options(calls: Changed[CallOptions]) -> Iterator[Note]:
    """Compiler options changed that decide how values get into functions and out of them.

    Each export, callback and virtual function with a parameter or result that they concern has a finding of its own
    (``calling_convention_changed``); so have sizes and symbols that they change. Others are called as before.

    Fix: nothing, or build with the old release's options.
    """
    yield Note("options that calls depend on differ", *_differing(calls.old.options, calls.new.options))


@rule(Impact.NOTICE, variant="options", evidence="layout", element="library", action="changed")
def evidence_narrowed_options(recorded: Changed[RecordedOptions]) -> Iterator[Note]:
    """Only one of the builds records its compiler options.

    Whether exceptions, RTTI, packing and the like are as before was not compared. GCC records options by default,
    Clang with ``-grecord-command-line``.

    Fix: build both releases with the same compiler, or let it record its options.
    """
    old, new = (
        " ".join(each.options) if each.options is not None else "none recorded" for each in (recorded.old, recorded.new)
    )
    yield Note("options of one side are not known", old, new)
