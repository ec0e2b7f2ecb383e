"""The pages about kinds of change: an index, one page a subject, one a kind with its cases, and names."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from abistore.diffing.context import load
from abistore.model.kind_names import FORMER_NAMES, kind_of, name_now
from abistore.report.model import ChangeKind
from abistore.report.plain import labelled
from abistore.service.kinds import ExplainedKind, by_kind, changes, explain

DOCS = Path(__file__).parent
FOLDER = "reference/kinds"
Kinds = Mapping[str, Sequence[ChangeKind]]


def kind_pages() -> dict[str, str]:
    """Every page about kinds by its place in the documentation."""
    kinds, subjects = by_kind(changes()), subjects_of_kinds()
    homes = {kind: load()[cards[0].kind].check.__module__ for kind, cards in kinds.items()}
    return {
        f"{FOLDER}/index.md": _index(kinds, subjects),
        f"{FOLDER}/all-kinds.md": _all(kinds),
        f"{FOLDER}/kind-names.md": "\n".join(_names()) + "\n",
        **{f"{FOLDER}/{subject_page(module)}": _subject(module, each) for module, each in subjects.items()},
        **{f"{FOLDER}/{kind}.md": kind_page(kind, cards, homes[kind]) for kind, cards in kinds.items()},
    }


def subjects_of_kinds() -> dict[str, Kinds]:
    """The kinds of each subject, a module of rules, both in the order of names."""
    modules: dict[str, set[str]] = {}
    for name, rule in load().items():
        modules.setdefault(rule.check.__module__, set()).add(kind_of(name))
    kinds = by_kind(changes())
    return {module: {kind: kinds[kind] for kind in sorted(modules[module])} for module in sorted(modules)}


def subject_page(module: str) -> str:
    """The file of a subject's page; its hyphens tell it from the page of a kind."""
    return f"about-{module.rpartition('.')[2].replace('_', '-')}.md"


def subject_title(module: str) -> str:
    """A subject as the navigation shows it: ``Headers: classes``."""
    first, _, rest = module.rpartition(".")[2].partition("_")
    return f"{first.capitalize()}: {rest}" if rest else first.capitalize()


def _sentence(module: str) -> str:
    return (sys.modules[module].__doc__ or "").partition("\n")[0]


def _index(kinds: Kinds, subjects: Mapping[str, Kinds]) -> str:
    lines = [
        "# Kinds of change",
        "",
        f"{len(kinds)} kinds with {sum(map(len, kinds.values()))} variants. `abistore changes` lists them, and",
        "`abistore explain KIND` prints a page: what a change does to a built program, how to avoid it, and cases.",
        "",
        "The impact is the default one, of the profile `strict_abi`; a policy may give another. The same change has",
        "another impact under other circumstances: these are variants of its kind. In policies and suppressions",
        "`KIND` is the plain variant alone, `KIND.VARIANT` that variant, and `KIND.*` all.",
        "",
        "[All kinds, worst first](all-kinds.md) · [which evidence shows which kind](../../lab/kinds-by-evidence.md) ·",
        "[how kinds are named](kind-names.md)",
        "",
        "| subject | kinds | |",
        "|---|--:|---|",
    ]
    rows = (
        f"| [{subject_title(m)}]({subject_page(m)}) | {len(each)} | {_sentence(m)} |" for m, each in subjects.items()
    )
    return "\n".join((*lines, *rows)) + "\n"


def _subject(module: str, kinds: Kinds) -> str:
    return "\n".join((f"# {subject_title(module)}", "", _sentence(module), "", *_table(kinds))) + "\n"


def _all(kinds: Kinds) -> str:
    lines = ["# All kinds, worst first"]
    for impact, heading in IMPACTS.items():
        chosen = {kind: cards for kind, cards in sorted(kinds.items()) if cards[0].impact == impact}
        lines += ["", f"## {heading}", "", *_table(chosen)]
    return "\n".join(lines) + "\n"


def _table(kinds: Kinds) -> Iterator[str]:
    """Kinds with the facts of their plain variants; of one that has none, what its variants are."""
    yield from ("| kind | impact | evidence | what happened |", "|---|---|---|---|")
    for kind, (first, *others) in kinds.items():
        variants = ", ".join(card.variant for card in (first, *others) if card.variant)
        title = first.title if not first.variant else f"One of the variants {variants}."
        yield f"| [`{kind}`]({kind}.md) | {first.impact} | {first.evidence} | {title} |"


def kind_page(kind: str, cards: Sequence[ChangeKind], module: str) -> str:
    """The page of one kind: of each variant what happens to a consumer, how to fix it, and its cases."""
    parts = [f"# {kind}", f"[Kinds](index.md) / [{subject_title(module)}]({subject_page(module)})"]
    parts += (part for card in cards for part in _variant(explain(card.kind)))
    return "\n\n".join(parts) + "\n"


def _variant(one: ExplainedKind) -> Iterator[str]:
    level = "###" if one.variant else "##"
    if one.variant:
        yield f"## `.{one.variant}` {{ #{one.kind} }}"
    yield f"**{one.title}**"
    yield f"{one.impact} · evidence: {one.evidence} · about: {one.element}, {one.action}"
    yield one.why
    yield f"**Fix:** {one.fix}"
    if one.aliases:
        yield f"Also called {', '.join(f'`{alias}`' for alias in one.aliases)}."
    if one.example:
        yield f"{level} Example\n\n{labelled(one.example)}"
    if one.near_misses:
        yield f"{level} Stays silent\n\n{labelled(one.near_misses)}"


IMPACTS = {
    "breaking": "Breaking: some built consumers fail",
    "api_break": "Source breaks: built consumers work, some sources stop compiling",
    "risk": "Risks: consumers may fail, depending on what no comparison can see",
    "compatible": "Compatible: built consumers go on working, and sources still compile",
    "notice": "Notices: about the evidence or the toolchain, without weight unless a policy gives it",
    "advice": "Advice: what to do about all findings together; no finding itself, without weight under any policy",
}


VERBS = {
    "added": "is there now, and was not",
    "removed": "was there, and is not any more",
    "changed": "differs, and no other verb says how",
    "renamed": "is the same under another name",
    "likely_renamed": "is probably the same under another name",
    "reordered": "are the same in another order",
    "widened": "allows more than before",
    "narrowed": "allows or shows less than before",
}

SUBJECTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "availability": ("what a declaration says of the systems that have it", ("",)),
    "constexpr": ("a promise that a declaration may be used for constants", ("",)),
    "constraint": ("a concept, or what a template asks of its arguments", ("",)),
    "declaration": ("anything that is declared: a function, variable or type", ("", "definition")),
    "deprecation": ("a mark that something is deprecated", ("",)),
    "enum": ("an enumeration", ("scope",)),
    "evidence": ("what a build shows of its ABI", ("", "agreement")),
    "file": ("the library's file", ("kind", "refusal")),
    "func": ("a function", ("promise",)),
    "header": ("a public header", ("", "include")),
    "macho": ("what only Mach-O files tell", ("directive", "protection")),
    "macro": ("a macro with parameters, or one that stands for no value", ("",)),
    "mode": ("what headers show programs of one mode, as those built with NDEBUG", ("",)),
    "namespace": ("a namespace and what stands in it", ("", "inline")),
    "nodiscard": ("a mark that a result is not to be ignored", ("",)),
    "param": ("a parameter", ("pointee_qualifier",)),
    "special_member": ("a constructor, destructor or assignment that compilers can write", ("deletion",)),
    "symbol": ("one exported symbol", ("address", "decoration", "version_code")),
    "symbols": ("many exported symbols together", ("", "foreign")),
    "system": ("the system that the library is for", ("minimum",)),
    "template": ("a template", ("parameter",)),
    "type": (
        "a type: a class, union, enumeration or alias",
        ("ability", "definition", "foreign_layout", "private", "symbols"),
    ),
    "union": ("a union", ("field", "storage")),
    "var": ("a variable", ("",)),
    "virtual_method": ("a virtual member function", ("",)),
    "vptr": ("the pointer to the vtable in an object", ("",)),
    "vtable": ("the vtable of a class", ("slot",)),
}
"""What each prefix stands for, and the parts of it that kinds are about; an empty part is the subject itself."""


def _names() -> Iterator[str]:
    yield from ("# How kinds are named", "")
    yield "A kind that the field has a name for keeps that name: `abistore changes --established` lists these names and"
    yield "what tells each. Every other kind is called by its subject, the part of it that is meant, and one of eight"
    yield "verbs: `type_ability_removed`. A variant says the circumstances: `type_ability_removed.copy`."
    yield from ("", "| verb | the subject |", "|---|---|", *(f"| {verb} | {what} |" for verb, what in VERBS.items()))
    yield from ("", "| subject | what it is | parts |", "|---|---|---|")
    for prefix, (what, parts) in SUBJECTS.items():
        yield f"| {prefix} | {what} | {', '.join(filter(None, parts))} |"
    yield from ("", "Names that kinds had before work in policies, suppressions and `abistore explain`:", "")
    yield from ("| before | now |", "|---|---|")
    now = {before: name_now(before) for before in FORMER_NAMES}
    yield from (f"| `{before}` | [`{name}`]({kind_of(name)}.md) |" for before, name in now.items())


EVIDENCE = {
    "gcc": "GCC, DWARF",
    "clang": "Clang, DWARF",
    "headers": "headers, no debug information",
    "pe-dwarf": "DLL, DWARF",
    "pe-pdb": "DLL, PDB",
    "macho": "dylib, .dSYM",
}
"""How the cases are built, and the headings of the columns."""


def evidence_page() -> str:
    """Which kinds each evidence shows, as `benchmarks/kinds_by_evidence.py` measured it last."""
    measured = json.loads((DOCS / "lab" / "kinds-by-evidence.json").read_text())
    kinds, reasons = measured["kinds"], measured["reasons"]
    numbers = {reason: number for number, reason in enumerate(reasons, 1)}
    lines = [
        "# Kinds by evidence",
        "",
        "Which kinds of change each evidence shows: the cases of each kind, built once for each column and compared.",
        "Measured by `python -m benchmarks.kinds_by_evidence` (GCC 12, Clang 14; Clang 22 of zig for DLLs and",
        "dylibs). *Headers* are those of a library without debug",
        "information, or the source of the case read as one. A number is the reason why the kind is not seen.",
        "",
        "| kind | " + " | ".join(EVIDENCE.values()) + " |",
        "|---|" + "---|" * len(EVIDENCE),
    ]
    for kind, seen in sorted(kinds.items()):
        cells = (_cell(seen[evidence], numbers) for evidence in EVIDENCE)
        lines.append(f"| {_link(kind)} | {' | '.join(cells)} |")
    counted = (sum(seen[evidence] == "seen" for seen in kinds.values()) for evidence in EVIDENCE)
    lines.append(f"| **{len(kinds)} kinds, seen** | {' | '.join(f'**{count}**' for count in counted)} |")
    missing = sorted({one.kind for one in changes()} - kinds.keys())
    lines += ["", f"Not measured yet: {', '.join(missing)}."] if missing else []
    lines += ["", "## Why a kind is not seen", "", "| | reason |", "|--:|---|"]
    lines += [f'| <a id="{number}"></a>{number} | {reasons[reason]} |' for reason, number in numbers.items()]
    return "\n".join(lines) + "\n"


def _cell(seen: str, numbers: dict[str, int]) -> str:
    return "yes" if seen == "seen" else f"[{numbers[seen]}](#{numbers[seen]})"


def _link(kind: str) -> str:
    return f"[`{kind}`](../{FOLDER}/{kind_of(kind)}.md)"
