"""A report as SARIF 2.1.0 (OASIS standard), for code scanning and other viewers of analysis results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from abistore import __version__
from abistore.model.kind_names import former_names
from abistore.model.words import json_text
from abistore.report.model import ChangeKind, Report, ReportedFinding, ReportedNotChecked, ReportFormat, Style
from abistore.report.outline import NO_REASON, advice, told_verdict
from abistore.report.plain import page
from abistore.report.reasons import said as decided
from abistore.report.wording import affects, consequences, overridden, place, said_of, subject, unchecked, value_lines

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {
    "breaking": "error",
    "api_break": "error",
    "risk": "warning",
    "compatible": "note",
    "notice": "note",
    "advice": "note",
}
LOGICAL = {"function": "function", "variable": "variable", "record": "type", "enum": "type", "alias": "type"}
ROOT = "SRCROOT"
"""The base of relative file names: the folder in which the library was compiled."""

LINK = re.compile(r"(\[[^\[\]]+\])\(")
NAMES_SHOWN = 20
"""How many affected exports a result lists; ``affectedCount`` has them all."""


def render(report: Report, style: Style) -> str:
    """The report as an indented SARIF log with one run."""
    run = _without_links(_run(report, style.docs))
    log = msgspec.json.encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})
    return msgspec.json.format(log, indent=2).decode()


def _without_links(value: Any) -> Any:
    """``value`` without text that viewers take for a link (section 3.11.6), which names may look like."""
    if isinstance(value, dict):
        return {
            key: LINK.sub(r"\1 (", each) if key == "text" and isinstance(each, str) else _without_links(each)
            for key, each in value.items()
        }
    return [_without_links(each) for each in value] if isinstance(value, list) else value


def _run(report: Report, docs: str) -> dict[str, Any]:
    kinds = sorted({finding.kind for finding in (*report.changes, *report.suppressed)})
    cards = {card.kind: card for card in report.kinds}
    places = {kind: number for number, kind in enumerate(kinds)}
    artifact = report.new.soname or report.new.library
    return {
        "tool": {
            "driver": {
                "name": "abistore",
                "version": __version__,
                "rules": [_rule(kind, cards.get(kind), docs) for kind in kinds],
            }
        },
        "automationDetails": {"id": f"abistore/{report.new.library}/{report.new.target}/"},
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder in which the library was compiled."}}},
        "invocations": [_invocation(report)],
        "results": [
            *({**_result(finding, places, artifact), **_approved(finding)} for finding in report.changes),
            *(
                {**_result(finding, places, artifact), "suppressions": [_suppression(finding)]}
                for finding in report.suppressed
            ),
        ],
        "columnKind": "unicodeCodePoints",
        "properties": {
            "verdict": report.verdict,
            "unequalEvidence": list(report.unequal_evidence),
            "evidenceGap": report.evidence_gap,
            "guessed": report.guessed,
            "advice": [{"id": each.kind, "text": text} for each, text in advice(report)],
            **({"decision": msgspec.to_builtins(report.decision)} if report.decision else {}),
            **({"libraries": msgspec.to_builtins(report.libraries)} if report.libraries else {}),
            "policy": report.policy,
            "policyFile": msgspec.to_builtins(report.policy_file),
            "suppressionFiles": msgspec.to_builtins(report.suppression_files),
            "old": str(report.old),
            "new": str(report.new),
            "oldDigest": report.old.digest,
            "newDigest": report.new.digest,
        },
    }


def _invocation(report: Report) -> dict[str, Any]:
    return {
        "executionSuccessful": True,
        "exitCode": report.exit_code,
        "toolExecutionNotifications": [
            *_headlines(report),
            *map(_unchecked, report.not_checked),
            *(_notification("note", f"Note: {remark}.") for remark in report.notes),
        ],
    }


def _headlines(report: Report) -> Iterator[dict[str, Any]]:
    """Missing required evidence, what the verdict does not cover, what is approved, and advice."""
    for number, text in enumerate(decided(report)):
        missing = report.error and number == 0
        yield _notification("error" if missing else "note", f"{text}.", report.code if missing else "decision")
    if report.evidence_gap:
        yield _notification("warning", f"{told_verdict(report)}.", "unequal-evidence")
    if report.guessed:
        yield _notification("note", f"{report.guessed}.", "guessed")
    for each, text in advice(report):
        yield _notification("warning", f"Advice: {text}.", f"advice/{each.kind}")


def _unchecked(item: ReportedNotChecked) -> dict[str, Any]:
    hint = f" Hint: {item.hint}." if item.hint else ""
    made = _notification("note", f"Not checked: {unchecked(item)}.{hint}", f"not-checked/{item.reason}")
    return {**made, "properties": {"facet": item.facet, "side": item.side, "names": len(item.names)}}


def _notification(level: str, text: str, identity: str = "") -> dict[str, Any]:
    return {"level": level, **({"descriptor": {"id": identity}} if identity else {}), "message": {"text": text}}


def _rule(kind: str, card: ChangeKind | None, docs: str) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "id": kind,
        "name": "".join(word.capitalize() for word in re.split("[_.]", kind)),
        "helpUri": page(kind, docs),
    }
    if before := former_names(kind):
        rule["deprecatedIds"] = list(before)
    if card is not None:
        rule |= {
            "shortDescription": {"text": card.title},
            "fullDescription": {"text": card.why},
            "help": {
                "text": f"{card.why}\n\nFix: {card.fix}",
                "markdown": _help(card),
            },
            "defaultConfiguration": {"level": LEVELS[card.impact]},
            "properties": {
                "tags": ["abi", card.impact, card.element, card.action],
                "impact": card.impact,
                "evidence": card.evidence,
            },
        }
    return rule


def _help(card: ChangeKind) -> str:
    """The page about a kind, so that viewers show it wherever the documentation is."""
    about = f"**Impact:** {card.impact} · **evidence:** {card.evidence} · **about:** {card.element}, {card.action}"
    return "\n\n".join(
        (card.title, about, card.why, f"**Fix:** {card.fix}", f"`abistore explain {card.kind}` shows an example.")
    )


def _result(finding: ReportedFinding, places: Mapping[str, int], artifact: str) -> dict[str, Any]:
    return {
        "ruleId": finding.kind,
        "ruleIndex": places[finding.kind],
        "level": LEVELS[finding.impact],
        "message": {"text": _message(finding)},
        "locations": [{"physicalLocation": _physical(finding, artifact), "logicalLocations": [_logical(finding)]}],
        "partialFingerprints": {"abistoreChange/v2": finding.id, "abistorePlace/v1": finding.place},
        "properties": {
            "impact": finding.impact,
            "evidence": finding.facet,
            "affected": list(finding.affected[:NAMES_SHOWN]),
            "affectedCount": finding.affected_count,
            "consequences": list(consequences(finding)),
            **({"libraries": list(finding.libraries)} if finding.libraries else {}),
            **({"said": list(said_of(finding))} if said_of(finding) else {}),
        },
    }


def _message(finding: ReportedFinding) -> str:
    """The sentence that viewers show in lists, then the lines that differ."""
    lines = value_lines(finding)
    both = f" ({lines[0]})" if len(lines) == 1 else ""
    affected = f"; {affects(finding)}" if affects(finding) else ""
    policy = f" ({overridden(finding)})" if overridden(finding) else ""
    text = f"{subject(finding)}: {finding.description}{both}{affected}.{policy}"
    return "\n".join([text, *lines]) if len(lines) > 1 else text


def _physical(finding: ReportedFinding, artifact: str) -> dict[str, Any]:
    """The declaration's file and line; the library itself if no debug information tells them."""
    where = place(finding)
    if where is None:
        return {"artifactLocation": {"uri": quote(artifact)}}
    file, line = where
    location = {"uri": f"file://{quote(file)}"} if file.startswith("/") else {"uri": quote(file), "uriBaseId": ROOT}
    return {"artifactLocation": location, **({"region": {"startLine": line}} if line > 0 else {})}


def _logical(finding: ReportedFinding) -> dict[str, str]:
    name = f"{finding.display}::{finding.part}" if finding.part else finding.display
    return {
        "fullyQualifiedName": name,
        "kind": "member" if finding.part else LOGICAL.get(finding.subject, "module"),
        **({"decoratedName": finding.symbol} if finding.symbol not in ("", finding.display) else {}),
    }


def _approved(finding: ReportedFinding) -> dict[str, Any]:
    """An approval as viewers know it: the result is there with its level, and somebody accepted it."""
    said = finding.approved
    if said is None:
        return {}
    told = {"approvedBy": said.approver, "approved": said.approved, "scope": said.scope}
    told |= {name: text for name in ("until", "ticket", "origin") if (text := getattr(said, name))}
    return {
        "suppressions": [{"kind": "external", "status": "accepted", "justification": said.reason, "properties": told}]
    }


def _suppression(finding: ReportedFinding) -> dict[str, Any]:
    """``justification`` is the reason that the suppression gives."""
    until = {"expires": str(finding.suppression_expires)} if finding.suppression_expires else {}
    return {
        "kind": "external",
        "status": "accepted",
        "justification": finding.suppression_reason or NO_REASON,
        "properties": {"suppressedBy": finding.suppressed_by, **until},
    }


FORMAT = ReportFormat(render, suffix=".sarif", escape=json_text)
