"""The reader of text stubs: a snapshot for each target of each library that is not a part of another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from abistore.errors import ExtractError
from abistore.extract.facets import FacetReading, join, symbol_facet, unread
from abistore.extract.input_file import InputFile
from abistore.extract.macho.exports import guessed_kind
from abistore.extract.macho.stubs.document import PLATFORMS, StubDocument, StubNames, WrongStub
from abistore.extract.macho.stubs.heads import is_json_stub, is_stub
from abistore.extract.macho.stubs.json_stub import read_json
from abistore.extract.macho.stubs.yaml_stub import read_yaml
from abistore.extract.macho.symbol_table import DIRECTIVE, OWN, plain_name
from abistore.extract.reader import ExtractOptions, identified
from abistore.model.digest import sort_variants
from abistore.model.names import SELF, Name, by_name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Evidence, Snapshot, Target, Variants, usual_machine
from abistore.model.tables import Library, MachoLibrary, Symbol

MOST_TARGETS = 64
_NARROW = ("i386", "armv", "arm64_32")
_HINT = "pass the dylib with its .dSYM, or name the public headers with --header"


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins a text stub."""
    return is_stub(head)


def read(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot of each target. Raises :class:`ExtractError` where the text is no stub."""
    file.check_size(options.max_bytes)
    data = file.read_at(0, file.size)
    try:
        documents = list(read_json(data) if is_json_stub(file.head) else read_yaml(data.decode("utf-8", "replace")))
        if not documents:
            raise WrongStub("it names no library")
        inlined = {each.name: each for each in documents[1:]}
        parts = {name for each in documents for one in each.reexports for name in one.names}
        for each in (documents[0], *(one for one in documents[1:] if one.name not in parts)):
            if len(each.targets) > MOST_TARGETS or not each.targets:
                raise WrongStub(f"{each.name} is for {len(each.targets)} targets")
            for target in dict.fromkeys(each.targets):
                yield _snapshot(file, options, target, [each, *_parts_of(each, target, inlined)])
    except WrongStub as error:
        raise ExtractError(
            f"{file.path}: is no text stub that can be read: {error}", "make it again with tapi"
        ) from error


def _parts_of(document: StubDocument, target: str, inlined: dict[str, StubDocument]) -> Iterator[StubDocument]:
    """The libraries of the file that a library re-exports, directly or through others: linkers see one library."""
    pending, seen = list(_of(document.reexports, target)), {document.name}
    while pending:
        name = pending.pop()
        if name not in seen and name in inlined:
            seen.add(name)
            yield inlined[name]
            pending.extend(_of(inlined[name].reexports, target))


def _of(named: Iterable[StubNames], target: str) -> list[str]:
    """The names that hold for ``target``, sorted."""
    return sorted({name for each in named if not each.targets or target in each.targets for name in each.names})


def _snapshot(file: InputFile, options: ExtractOptions, target: str, documents: Sequence[StubDocument]) -> Snapshot:
    main, entries = documents[0], _exports(documents, target)
    count = len(entries)
    entries[SELF] = (_library(documents, target),)
    binary = unread(file, options, main.name, _target(target), reader="tbd", product_version=main.current)
    readings = [symbol_facet(entries, count)]
    if options.layout:
        detail = "a text stub names symbols, and no types"
        readings.append(FacetReading(Evidence("layout", "missing", "no-debug-info", detail, _HINT, "", 0, count)))
    return identified(join(binary, readings), file, options)


def _exports(documents: Iterable[StubDocument], target: str) -> dict[Name, Variants]:
    gathered: dict[Name, set[AnyShape]] = {}
    held = (each for document in documents for each in document.symbols if not each.targets or target in each.targets)
    for each in held:
        for symbol in each.names:
            name = plain_name(symbol)
            if name and name not in OWN and not DIRECTIVE.match(symbol):
                kind = guessed_kind(name) if each.sort == "unknown" else _KINDS[each.sort]
                gathered.setdefault(Name(kind, name), set()).add(Symbol(each.sort, each.weak))
    return {name: sort_variants(shapes) for name, shapes in sorted(gathered.items(), key=by_name)}


_KINDS: dict[str, Literal["function", "variable"]] = {
    "function": "function",
    "data": "variable",
    "thread_local": "variable",
}


def _directives(documents: Iterable[StubDocument], target: str) -> set[str]:
    """What the libraries of the file tell linkers about programs for single systems."""
    held = (each for document in documents for each in document.symbols if not each.targets or target in each.targets)
    return {name for each in held for name in each.names if DIRECTIVE.match(name)}


def _library(documents: Sequence[StubDocument], target: str) -> Library:
    document, own = documents[0], {each.name for each in documents}
    return Library(
        file_kind="shared",
        name=document.name,
        compatibility_version=document.compatibility,
        features=tuple(sorted(_features(document))),
        macho=MachoLibrary(
            minimum_os=document.minimum.get(target),
            reexports=tuple(each for each in _of(document.reexports, target) if each not in own),
            clients=tuple(_of(document.clients, target)),
            stub=True,
            directives=tuple(sorted(_directives(documents, target))),
        ),
    )


def _features(document: StubDocument) -> Iterator[str]:
    if {"flat_namespace"} & set(document.flags):
        yield "flat namespace"
    if not {"not_app_extension_safe"} & set(document.flags):
        yield "app extensions"


def _target(target: str) -> Target:
    """The platform of ``arm64-ios-simulator``."""
    arch, _, platform = target.partition("-")
    machine = "aarch64-ilp32" if arch == "arm64_32" else usual_machine(arch)
    bits: Literal[32, 64] = 32 if arch.startswith(_NARROW) else 64
    return Target("macho", machine, bits, "little", PLATFORMS.get(platform, platform) or "macos")
