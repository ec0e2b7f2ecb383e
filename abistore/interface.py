"""What ``import abistore`` offers: the verbs, their arguments and results, and the errors that they raise."""

from __future__ import annotations

from abistore.errors import (
    AbistoreError,
    DamagedStore,
    EvidenceMissing,
    ExtractError,
    Incomparable,
    InputError,
    LimitExceeded,
    OutputError,
    PolicyError,
    SchemaMismatch,
    SnapshotError,
    SnapshotNotFound,
    StoreBusy,
    StoreError,
    UnknownFormat,
    UsageError,
    VersionTaken,
)
from abistore.model.findings import Churn, Impact, Side, Verdict
from abistore.model.history import (
    Amendment,
    AuditRecord,
    BaselineMove,
    LineKey,
    LineOrder,
    Release,
    ReleaseFacts,
    StoreStats,
    StoreUpgrade,
)
from abistore.model.names import Name
from abistore.model.snapshot import Evidence, Location, Snapshot, Target
from abistore.report import render
from abistore.report.model import ChangeKind, ComparedDeclaration, Report, ReportedFinding, Summary
from abistore.report.style import Style
from abistore.service.administration.administration import (
    InitialisedStore,
    VacuumedStore,
    db_audit,
    db_backup,
    db_check,
    db_forget,
    db_init,
    db_stats,
    db_upgrade,
    db_vacuum,
)
from abistore.service.administration.amending import EditPlan, release_edit
from abistore.service.administration.baselines import (
    BaselinePlan,
    baseline_history,
    baselines,
    clear_baseline,
    set_baseline,
)
from abistore.service.administration.ordering import SchemeCard, db_scheme
from abistore.service.catalogue import ExplainedKind, changes, explain
from abistore.service.completing import libraries, policies, references
from abistore.service.declarations import DeclarationText, SnapshotCard, StoredFacts, TypeUsers, card, declarations
from abistore.service.history.findings import StoredFinding, StoredFindings, findings
from abistore.service.history.history import History, HistoryRow, history
from abistore.service.history.log import LogEntry, log
from abistore.service.history.verdicts import Judgement, remembered, verdict
from abistore.service.ingest.gates import Gate
from abistore.service.ingest.ingesting import Ingested, IngestPlan, ingest
from abistore.service.ingest.transfer import ExportedRelease, export, import_
from abistore.service.judging.evidence import EvidenceRequirement, requirement
from abistore.service.judging.filtering import show_only
from abistore.service.judging.judging import compare, gated
from abistore.service.judging.ruling import Ruling, ruling
from abistore.service.judging.suppressing import (
    ListedSuppression,
    PolicyCard,
    Suggestion,
    policy_card,
    suggest,
    suppressions,
)
from abistore.service.listing import ListedLine, lines, releases
from abistore.service.open_store import OpenStore, open_store
from abistore.service.operands import Selection
from abistore.service.snapshots import Dump, ExtractOptions, capture, dump

__all__ = [
    "AbistoreError",
    "Amendment",
    "AuditRecord",
    "BaselineMove",
    "BaselinePlan",
    "ChangeKind",
    "Churn",
    "ComparedDeclaration",
    "DamagedStore",
    "DeclarationText",
    "Dump",
    "EditPlan",
    "Evidence",
    "EvidenceMissing",
    "EvidenceRequirement",
    "ExplainedKind",
    "ExportedRelease",
    "ExtractError",
    "ExtractOptions",
    "Gate",
    "History",
    "HistoryRow",
    "Impact",
    "Incomparable",
    "IngestPlan",
    "Ingested",
    "InitialisedStore",
    "InputError",
    "Judgement",
    "LimitExceeded",
    "LineKey",
    "LineOrder",
    "ListedLine",
    "ListedSuppression",
    "Location",
    "LogEntry",
    "Name",
    "OpenStore",
    "OutputError",
    "PolicyCard",
    "PolicyError",
    "Release",
    "ReleaseFacts",
    "Report",
    "ReportedFinding",
    "Ruling",
    "SchemaMismatch",
    "SchemeCard",
    "Selection",
    "Side",
    "Snapshot",
    "SnapshotCard",
    "SnapshotError",
    "SnapshotNotFound",
    "StoreBusy",
    "StoreError",
    "StoreStats",
    "StoreUpgrade",
    "StoredFacts",
    "StoredFinding",
    "StoredFindings",
    "Style",
    "Suggestion",
    "Summary",
    "Target",
    "TypeUsers",
    "UnknownFormat",
    "UsageError",
    "VacuumedStore",
    "Verdict",
    "VersionTaken",
    "baseline_history",
    "baselines",
    "capture",
    "card",
    "changes",
    "clear_baseline",
    "compare",
    "db_audit",
    "db_backup",
    "db_check",
    "db_forget",
    "db_init",
    "db_scheme",
    "db_stats",
    "db_upgrade",
    "db_vacuum",
    "declarations",
    "dump",
    "explain",
    "export",
    "findings",
    "gated",
    "history",
    "import_",
    "ingest",
    "libraries",
    "lines",
    "log",
    "open_store",
    "policies",
    "policy_card",
    "references",
    "release_edit",
    "releases",
    "remembered",
    "render",
    "requirement",
    "ruling",
    "set_baseline",
    "show_only",
    "suggest",
    "suppressions",
    "verdict",
]
