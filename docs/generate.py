"""Write the documents that derive from the code: command line, schemas, lists of kinds and of names, table of rooms.

Run ``python docs/generate.py``; a test fails where they are not current. ``python docs/generate.py FOLDER`` writes all
documents there, for a site, with a page for each kind of change in ``FOLDER/kinds``: what ``--docs-base`` links to.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click
import msgspec

from abistore.cli.commands.config import completion_script
from abistore.cli.main import cli
from abistore.cli.verbs import WHOLE, answer_types, declared
from abistore.diffing.context import FILE as SUBSCRIPTIONS
from abistore.diffing.context import load, subscriptions
from abistore.diffing.policy_documents import PolicyDocument
from abistore.diffing.suppression_files import SuppressionDocument
from abistore.model.declarations import SHORT
from abistore.model.hints import SOURCE as HINTS
from abistore.model.hints import TABLE as HINTS_TABLE
from abistore.model.hints import Hint
from abistore.model.kind_names import FORMER_NAMES, name_now, variant_of
from abistore.model.snapshot_files import FORMAT_NAME, FORMAT_VERSION, File
from abistore.model.statements import ReleaseStatement
from abistore.report.formats.json import schema
from abistore.report.model import ChangeKind
from abistore.report.plain import answer_schema, answers_schema, labelled
from abistore.service.approval_files import ApprovalDocument
from abistore.service.kinds import FILE as KINDS
from abistore.service.kinds import ExplainedKind, by_kind, changes, explain
from abistore.service.project import ConfigurationFile
from docs.manual import manual

DOCS = Path(__file__).parent
WIDTH = 100

HEAD = """# Command line

Generated from `--help-all` by `python docs/generate.py`. Exit codes: [exit-codes.md](exit-codes.md). JSON:
[one envelope](reports.md#json-one-envelope), and [answers-schema.json](answers-schema.json).
"""


def command_line() -> str:
    """The reference of all commands, as Markdown."""
    return "\n".join([HEAD, *_sections(cli, click.Context(cli, info_name="abistore", **cli.context_settings))])


def written(schema: Any, indent: int = 2) -> str:
    """A schema as a document, the same by each version of msgspec.

    Only older ones keep the indentation of docstrings, and only newer ones say which names the keys of mappings have.
    """

    def cleaned(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: cleandoc(each) if key == "description" and isinstance(each, str) else cleaned(each)
                for key, each in value.items()
                if key != "propertyNames"
            }
        return [cleaned(each) for each in value] if isinstance(value, list | tuple) else value

    return json.dumps(cleaned(schema), indent=indent) + "\n"


def report_schema() -> str:
    """The JSON Schema of a comparison report."""
    return written(schema())


def statement_schema() -> str:
    """The JSON Schema of a release statement: the answer of `verdict --statement`."""
    return written(answer_schema("abistore release statement", ("verdict",), {"statement": ReleaseStatement}))


def answers() -> str:
    """The schema of what each verb prints with ``--json``, by the types that its declaration names."""
    return written(answers_schema({words: answer_types(each) for words, each in declared(cli)}), indent=1)


def snapshot_schema() -> str:
    """The JSON Schema of a snapshot file, from the classes that read and write it."""
    _, definitions = msgspec.json.schema_components([File], ref_template="#/$defs/{name}")
    words = {short: word for word, short in SHORT.items()}
    file = definitions.pop("File")
    file["properties"] |= {"format": {"const": FORMAT_NAME}, "version": {"const": FORMAT_VERSION}}
    for described in definitions.values():
        for short, field in described.get("properties", {}).items():
            if short in words:
                field["title"] = words[short]
    document = {
        **file,
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"abistore snapshot, format {FORMAT_VERSION}",
        "$defs": definitions,
    }
    return written(document)


def config_schema() -> str:
    """The JSON Schema of ``abistore.toml``, from the classes that read it."""
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "abistore.toml",
        **msgspec.json.schema(ConfigurationFile),
    }
    return written(document)


def policy_schema() -> str:
    """The JSON Schema of a policy file."""
    return json.dumps(PolicyDocument.model_json_schema(), indent=2) + "\n"


def suppression_schema() -> str:
    """The JSON Schema of a file of suppressions."""
    return json.dumps(SuppressionDocument.model_json_schema(), indent=2) + "\n"


def approvals_schema() -> str:
    """The JSON Schema of a file of approvals."""
    return json.dumps(ApprovalDocument.model_json_schema(), indent=2) + "\n"


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    context.terminal_width = WIDTH
    context.meta[WHOLE] = True
    level = "#" * min(3, 1 + len(context.command_path.split()))
    yield f"{level} {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _sections(below, click.Context(below, parent=context, info_name=name))


IMPACTS = {
    "breaking": "Breaking: some built consumers fail",
    "api_break": "Source breaks: built consumers work, some sources stop compiling",
    "risk": "Risks: consumers may fail, depending on what no comparison can see",
    "compatible": "Compatible: built consumers go on working, and sources still compile",
    "notice": "Notices: about the evidence or the toolchain, without weight unless a policy gives it",
    "advice": "Advice: what to do about all findings together; no finding itself, without weight under any policy",
}


def kinds_page() -> str:
    """The list of all kinds of change, worst first, their variants, and how they are called."""
    kinds = by_kind(changes())
    variants = sum(map(len, kinds.values()))
    lines = [
        "# Kinds of change",
        "",
        f"{len(kinds)} kinds with {variants} variants, generated from the rules by `python docs/generate.py`.",
        "`abistore changes` lists them. `abistore explain KIND` tells what one does to a built consumer and how to",
        "avoid it, and shows a case. The impact is the default one, of the profile `strict_abi`; a policy may give",
        "another.",
        "",
        "The same change has another impact under other circumstances: these are [variants](#variants) of its kind. In",
        "policies and suppressions `KIND` is the plain variant alone, `KIND.VARIANT` that variant, and `KIND.*` all.",
        "[Which kinds each evidence shows](../lab/kinds-by-evidence.md): debug information and headers.",
    ]
    for impact, heading in IMPACTS.items():
        chosen = [kind for kind, cards in kinds.items() if cards[0].impact == impact]
        lines += ["", f"## {heading}", "", "| kind | subject | evidence | what happened |", "|---|---|---|---|"]
        lines += [f'| <a id="{kind}"></a>`{kind}` | {_facts(kinds[kind])} |' for kind in sorted(chosen)]
    varied = {kind: cards for kind, cards in sorted(kinds.items()) if any(card.variant for card in cards)}
    return "\n".join((*lines, *_variants(varied), *_names())) + "\n"


def _facts(cards: Sequence[ChangeKind]) -> str:
    """The facts of a kind: those of its plain variant; of one that has none, what its variants are."""
    first = cards[0]
    title = (
        first.title
        if not first.variant
        else f"One of the [variants](#variants): {', '.join(c.variant for c in cards)}."
    )
    return f"{first.element} | {first.evidence} | {title}"


def _variants(kinds: Mapping[str, Sequence[ChangeKind]]) -> Iterator[str]:
    yield from ("", "## Variants", "")
    yield "What happens to consumers and how to avoid it is told by `abistore explain KIND.VARIANT`."
    for kind, cards in kinds.items():
        yield from ("", f"### {kind}", "", "| variant | impact | evidence | what happened |", "|---|---|---|---|")
        for card in cards:
            place = f'<a id="{card.kind}"></a>`.{card.variant}`' if card.variant else "plain"
            yield f"| {place} | {card.impact} | {card.evidence} | {card.title} |"


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
    yield from ("", "## How kinds are called", "")
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
    yield from (f"| `{before}` | [`{name}`](#{name}) |" for before, name in now.items())


def kind_page(kind: str, cards: Sequence[ChangeKind]) -> str:
    """The page of one kind: of each variant what happens to a consumer, how to fix it, and its cases."""
    parts = [part for card in cards for part in _variant(explain(card.kind))]
    return "\n\n".join((f"# {kind}", *parts, "[All kinds](../kinds.md)")) + "\n"


def _variant(one: ExplainedKind) -> Iterator[str]:
    if one.variant:
        yield f"# {one.kind}"
    yield one.title
    yield f"{one.impact} · evidence: {one.evidence} · about: {one.element}, {one.action}"
    yield one.why
    yield f"**Fix:** {one.fix}"
    if one.aliases:
        yield f"Also called {', '.join(f'`{alias}`' for alias in one.aliases)}."
    if one.example:
        yield f"## Example\n\n{labelled(one.example)}"
    if one.near_misses:
        yield f"## Stays silent\n\n{labelled(one.near_misses)}"


ROOMS = "<!-- rooms -->\n", "<!-- end of rooms -->\n"


def architecture() -> str:
    """The page about the code, with the table of its rooms as their own documentation has it."""
    before, _, rest = (DOCS / "lab" / "architecture.md").read_text().partition(ROOMS[0])
    return "".join((before, ROOMS[0], *_rooms(), ROOMS[1], rest.partition(ROOMS[1])[2]))


def _rooms() -> Iterator[str]:
    package = DOCS.parent / "abistore"
    yield "| room | modules | one sentence |\n|---|--:|---|\n"
    for init in sorted(package.rglob("*/__init__.py")):
        said = ast.get_docstring(ast.parse(init.read_text())) or ""
        modules = len(list(init.parent.glob("*.py"))) - 1
        yield f"| `{init.parent.relative_to(package)}/` | {modules} | {_sentence(said)} |\n"


def _sentence(text: str) -> str:
    """The first line of a docstring as Markdown."""
    return re.sub(r":\w+:`(?:[\w.]+\.)?(\w+)`", r"`\1`", text.partition("\n")[0]).replace("``", "`")


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
        "dylibs), written here by `python docs/generate.py`. *Headers* are those of a library without debug",
        "information, or the source of the case read as one. A number is the reason why the kind is not seen.",
        "",
        "| kind | " + " | ".join(EVIDENCE.values()) + " |",
        "|---|" + "---|" * len(EVIDENCE),
    ]
    for kind, seen in sorted(kinds.items()):
        cells = (_cell(seen[evidence], numbers) for evidence in EVIDENCE)
        lines.append(f"| [{kind}](../reference/kinds.md#{kind}) | {' | '.join(cells)} |")
    counted = (sum(seen[evidence] == "seen" for seen in kinds.values()) for evidence in EVIDENCE)
    lines.append(f"| **{len(kinds)} kinds, seen** | {' | '.join(f'**{count}**' for count in counted)} |")
    missing = sorted({one.kind for one in changes()} - kinds.keys())
    lines += ["", f"Not measured yet: {', '.join(missing)}."] if missing else []
    lines += ["", "## Why a kind is not seen", "", "| | reason |", "|--:|---|"]
    lines += [f'| <a id="{number}"></a>{number} | {reasons[reason]} |' for reason, number in numbers.items()]
    return "\n".join(lines) + "\n"


def _cell(seen: str, numbers: dict[str, int]) -> str:
    return "yes" if seen == "seen" else f"[{numbers[seen]}](#{numbers[seen]})"


MEASURED = "<!-- measured -->\n", "<!-- end of measured -->\n"


def other_dumps() -> str:
    """The page about other tools' dumps, with what `benchmarks/dumps.py` measured last."""
    before, _, rest = (DOCS / "reference" / "other-dumps.md").read_text().partition(MEASURED[0])
    return "".join((before, MEASURED[0], *_dumps(), MEASURED[1], rest.partition(MEASURED[1])[2]))


def _dumps() -> Iterator[str]:
    measured = json.loads((DOCS / "reference" / "other-dumps.json").read_text())
    yield "| | cases | cases read | findings | false | missed | more |\n|---|--:|--:|--:|--:|--:|--:|\n"
    for form, tool in (("abixml", "ABIXML (abidw 2.2)"), ("abicc", "ABICC dumps (abi-dumper 1.2)")):
        sums = measured[form]
        cells = (str(sums[what]) for what in ("cases", "read", "findings", "false", "missed", "invented"))
        yield f"| {tool} | {' | '.join(cells)} |\n"


def kinds_file() -> str:
    """The kinds as the package carries them, so that telling what is remembered loads no rule."""
    kinds = (
        ChangeKind(
            **{name: getattr(rule, name) for name in ("kind", "evidence", "element", "action", "aliases")},
            **{name: getattr(rule, name) for name in ("title", "why", "fix")},
            impact=rule.impact.label,
            variant=variant_of(rule.kind),
        )
        for _, rule in sorted(load().items())
    )
    return json.dumps([msgspec.structs.asdict(kind) for kind in kinds], indent=1, ensure_ascii=False) + "\n"


def subscriptions_file() -> str:
    """Who looks at each delta, as the package carries it, so that comparing imports the rules that it needs."""
    lines = (f"{json.dumps(delta)}: {msgspec.json.encode(told).decode()}" for delta, told in subscriptions().items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def hints_file() -> str:
    """The hints as the package carries them for itself."""
    hints = msgspec.toml.decode(HINTS.read_bytes(), type=dict[str, Hint], strict=True)
    lines = (f"{json.dumps(effect)}: {msgspec.json.encode(hint).decode()}" for effect, hint in hints.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


DOCUMENTS = {
    "lab/architecture.md": architecture,
    "reference/commands.md": command_line,
    "reference/report-schema.json": report_schema,
    "reference/statement-schema.json": statement_schema,
    "reference/answers-schema.json": answers,
    "reference/snapshot-schema.json": snapshot_schema,
    "reference/config-schema.json": config_schema,
    "reference/policy-schema.json": policy_schema,
    "reference/suppression-schema.json": suppression_schema,
    "reference/approvals-schema.json": approvals_schema,
    "reference/kinds.md": kinds_page,
    "lab/kinds-by-evidence.md": evidence_page,
    "reference/other-dumps.md": other_dumps,
    "installed/abistore.1": partial(manual, cli),
    **{f"installed/abistore.{shell}": partial(completion_script, shell) for shell in ("bash", "zsh", "fish")},
}


def write_site(folder: Path) -> None:
    """Write all documents to ``folder``, and the page of each kind."""
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"), dirs_exist_ok=True)
    for name, make in DOCUMENTS.items():
        (folder / name).write_text(make())
    (folder / "reference" / "kinds").mkdir(exist_ok=True)
    for kind, cards in by_kind(changes()).items():
        (folder / "reference" / "kinds" / f"{kind}.md").write_text(kind_page(kind, cards))


if __name__ == "__main__":
    if sys.argv[1:]:
        write_site(Path(sys.argv[1]))
    else:
        KINDS.write_text(kinds_file())
        SUBSCRIPTIONS.write_text(subscriptions_file())
        HINTS_TABLE.write_text(hints_file())
        for name, make in DOCUMENTS.items():
            (DOCS / name).write_text(make())
