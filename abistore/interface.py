"""What ``import abistore`` offers: the verbs, their arguments and results, and the errors that they raise."""

from __future__ import annotations

from abistore.errors import (
    AbistoreError as AbistoreError,
    AmbiguousReference as AmbiguousReference,
    AuditRewritten as AuditRewritten,
    BaselineLost as BaselineLost,
    BundleError as BundleError,
    ConfigError as ConfigError,
    DamagedStore as DamagedStore,
    EvidenceMissing as EvidenceMissing,
    ExpiredKey as ExpiredKey,
    ExtraMissing as ExtraMissing,
    ExtractError as ExtractError,
    HeaderError as HeaderError,
    Incomparable as Incomparable,
    InputError as InputError,
    LimitExceeded as LimitExceeded,
    MalformedStatement as MalformedStatement,
    NotVerified as NotVerified,
    OutputError as OutputError,
    PatchError as PatchError,
    PathDenied as PathDenied,
    PolicyError as PolicyError,
    RevokedKey as RevokedKey,
    SchedulerLost as SchedulerLost,
    RuleBound as RuleBound,
    RuleConflict as RuleConflict,
    SchemaMismatch as SchemaMismatch,
    SignersError as SignersError,
    SigningKeyError as SigningKeyError,
    SnapshotError as SnapshotError,
    SnapshotNotFound as SnapshotNotFound,
    StaleBaseline as StaleBaseline,
    StaleStatement as StaleStatement,
    SurfaceDiffers as SurfaceDiffers,
    StoreBusy as StoreBusy,
    StoreError as StoreError,
    NoLibrary as NoLibrary,
    UndeliveredEvent as UndeliveredEvent,
    UnknownFormat as UnknownFormat,
    Unsigned as Unsigned,
    UntrustedKey as UntrustedKey,
    UsageError as UsageError,
    VersionTaken as VersionTaken,
    WrongFile as WrongFile,
    WrongSignature as WrongSignature,
    WrongProfile as WrongProfile,
    WrongTarget as WrongTarget,
)
from abistore.model.findings import Churn as Churn, Impact as Impact, Side as Side, Verdict as Verdict
from abistore.model.history import (
    Amendment as Amendment,
    AuditHead as AuditHead,
    AuditRecord as AuditRecord,
    BaselineMove as BaselineMove,
    FindingReview as FindingReview,
    LineKey as LineKey,
    LineOrder as LineOrder,
    Release as Release,
    ReleaseFacts as ReleaseFacts,
    StoreStats as StoreStats,
    StoreUpgrade as StoreUpgrade,
    TaggedRelease as TaggedRelease,
    VerifiedAudit as VerifiedAudit,
)
from abistore.model.approvals import Deprecation as Deprecation, LineDeprecations as LineDeprecations
from abistore.model.versions import DeprecationWindow as DeprecationWindow
from abistore.model.approvals import Approval as Approval, ApprovedFacts as ApprovedFacts
from abistore.model.approvals import (
    BrokenBy as BrokenBy,
    ConsumedSymbol as ConsumedSymbol,
    ConsumerDetails as ConsumerDetails,
    StoredConsumer as StoredConsumer,
)
from abistore.model.decision import AllowPlan as AllowPlan, Bump as Bump
from abistore.model.decision import Decision as Decision, Reason as Reason, Waiver as Waiver, Way as Way
from abistore.model.history import Merged as Merged, MergedRelease as MergedRelease
from abistore.model.declarations import Name as Name
from abistore.model.statements import (
    BaselineRole as BaselineRole,
    Evaluation as Evaluation,
    FoldedRelease as FoldedRelease,
    Ledger as Ledger,
    LineDifference as LineDifference,
    LineOfRelease as LineOfRelease,
    MovedFinding as MovedFinding,
    MovedVerdict as MovedVerdict,
    Standing as Standing,
)
from abistore.model.statements import SignedSubject as SignedSubject, VerifiedStatement as VerifiedStatement
from abistore.model.statements import (
    ReleaseStatement as ReleaseStatement,
    StatedApproval as StatedApproval,
    StatedExport as StatedExport,
    StatedGap as StatedGap,
    StatedLine as StatedLine,
)
from abistore.model.snapshot import (
    Evidence as Evidence,
    Location as Location,
    ReleaseTag as ReleaseTag,
    Snapshot as Snapshot,
    TagSignature as TagSignature,
    Target as Target,
)
from abistore.report import render as render
from abistore.report.history import Matrix as Matrix, MatrixRelease as MatrixRelease, UnjudgedPair as UnjudgedPair
from abistore.report.model import (
    ChangeKind as ChangeKind,
    ComparedDeclaration as ComparedDeclaration,
    Report as Report,
    ReportedApproval as ReportedApproval,
    ReportedFinding as ReportedFinding,
    ReportedReview as ReportedReview,
    Summary as Summary,
)
from abistore.report.model import Style as Style
from abistore.service.administration import (
    AuditQuery as AuditQuery,
    InitialisedStore as InitialisedStore,
    VacuumedStore as VacuumedStore,
    db_audit as db_audit,
    db_backup as db_backup,
    db_check as db_check,
    db_forget as db_forget,
    db_init as db_init,
    db_stats as db_stats,
    db_upgrade as db_upgrade,
    db_vacuum as db_vacuum,
)
from abistore.service.administration import EditPlan as EditPlan, release_edit as release_edit
from abistore.service.administration import (
    BaselinePlan as BaselinePlan,
    baseline_history as baseline_history,
    baselines as baselines,
    clear_baseline as clear_baseline,
    set_baseline as set_baseline,
    set_release_baseline as set_release_baseline,
)
from abistore.service.administration import SchemeCard as SchemeCard, db_scheme as db_scheme
from abistore.service.administration import TagPlan as TagPlan, release_tag as release_tag
from abistore.service.administration import (
    PrunedSnapshot as PrunedSnapshot,
    PrunedStore as PrunedStore,
    RetentionPlan as RetentionPlan,
    db_prune as db_prune,
    older_than as older_than,
)
from abistore.service.approving import (
    ApprovalPlan as ApprovalPlan,
    ApprovedBreak as ApprovedBreak,
    WithdrawalPlan as WithdrawalPlan,
    approve as approve,
    withdraw as withdraw,
)
from abistore.service.approved_gates import with_approvals as with_approvals, without_said as without_said
from abistore.service.approving import LedgerEntry as LedgerEntry, approvals as approvals
from abistore.service.approval_files import (
    ExportedLedger as ExportedLedger,
    SyncedLedger as SyncedLedger,
    export_approvals as export_approvals,
    sync_approvals as sync_approvals,
)
from abistore.service.built_libraries import BuiltLibrary as BuiltLibrary
from abistore.service.demo import Demonstration as Demonstration, demo as demo
from abistore.service.init import InitialisedProject as InitialisedProject, init as init
from abistore.service.project import NextCommand as NextCommand
from abistore.service.public_headers import ProjectHeaders as ProjectHeaders
from abistore.service.project import Configuration as Configuration, configuration as configuration
from abistore.service.kinds import ExplainedKind as ExplainedKind, changes as changes, explain as explain
from abistore.service.listing import libraries as libraries, policies as policies, references as references
from abistore.service import asked_by as asked_by
from abistore.service.database import OpenStore as OpenStore, locate as locate, open_store as open_store
from abistore.service.consumer_verdicts import (
    ConsumerUse as ConsumerUse,
    UnusedExports as UnusedExports,
    UsersOfName as UsersOfName,
    consumers_using as consumers_using,
    unused_exports as unused_exports,
)
from abistore.service.consumer_verdicts import (
    JudgedConsumer as JudgedConsumer,
    ProgramRange as ProgramRange,
    ReleaseForConsumers as ReleaseForConsumers,
    SatisfyingRelease as SatisfyingRelease,
    consumers_broken as consumers_broken,
    program_range as program_range,
)
from abistore.service.consumers import (
    AddedConsumer as AddedConsumer,
    AddedConsumers as AddedConsumers,
    ShownConsumer as ShownConsumer,
    add_consumers as add_consumers,
    consumers as consumers,
    remove_consumers as remove_consumers,
    show_consumer as show_consumer,
)
from abistore.model.environments import (
    CanShip as CanShip,
    ChangedMember as ChangedMember,
    DriftedFile as DriftedFile,
    Environment as Environment,
    EnvironmentDifference as EnvironmentDifference,
    EnvironmentDrift as EnvironmentDrift,
    EnvironmentMember as EnvironmentMember,
    HurtMember as HurtMember,
    ShippedRelease as ShippedRelease,
    RecordedMembers as RecordedMembers,
)
from abistore.service.environments import (
    env_diff as env_diff,
    env_drift as env_drift,
    env_list as env_list,
    env_record as env_record,
    env_remove as env_remove,
)
from abistore.service.shipping import env_can_ship as env_can_ship
from abistore.service.declarations import (
    DeclarationText as DeclarationText,
    DeclaredIn as DeclaredIn,
    SnapshotCard as SnapshotCard,
    StoredFacts as StoredFacts,
    TypeUsers as TypeUsers,
    card as card,
    declarations as declarations,
)
from abistore.service.declarations import (
    DeclarationDifference as DeclarationDifference,
    DeclaredName as DeclaredName,
    ShownDeclaration as ShownDeclaration,
    declaration_differences as declaration_differences,
    declared_like as declared_like,
    shown_declarations as shown_declarations,
)
from abistore.service.declarations import DeclaredExports as DeclaredExports
from abistore.service.gating import (
    GatePlan as GatePlan,
    GateResult as GateResult,
    SinceMergeBase as SinceMergeBase,
    gate as gate,
    since_merge_base as since_merge_base,
)
from abistore.service.gating import (
    BuildReviewPlan as BuildReviewPlan,
    ConsumersOfBuild as ConsumersOfBuild,
    Novelty as Novelty,
    beside_build as beside_build,
    beside_comparison as beside_comparison,
    ReviewedBuild as ReviewedBuild,
    consumers_of_build as consumers_of_build,
    review_build as review_build,
)
from abistore.service.predecessors import UsualCounterpart as UsualCounterpart, usual_counterpart as usual_counterpart
from abistore.service.generate import GeneratedFile as GeneratedFile, generate as generate
from abistore.service.surface import Surface as Surface, SurfaceCheck as SurfaceCheck
from abistore.service.surface import check_surface as check_surface, surface as surface
from abistore.service.log import deprecations as deprecations
from abistore.service.log import StoredFinding as StoredFinding, StoredFindings as StoredFindings, findings as findings
from abistore.service.history import History as History, HistoryRow as HistoryRow, history as history
from abistore.service.history import (
    lines_with_outcomes as lines_with_outcomes,
    releases_with_outcomes as releases_with_outcomes,
)
from abistore.service.log import LogEntry as LogEntry, LoggedEvent as LoggedEvent, log as log
from abistore.service.log import logged_events as logged_events
from abistore.service.matrix import ReleaseRange as ReleaseRange, matrix as matrix
from abistore.service.log import Reviewed as Reviewed, ReviewPlan as ReviewPlan, review as review, reviews as reviews
from abistore.service.verdicts import (
    Judgement as Judgement,
    UsualVerdict as UsualVerdict,
    usual_verdict as usual_verdict,
    verdict as verdict,
    verdict_between as verdict_between,
)
from abistore.service.ingest_gates import Gate as Gate
from abistore.service.ingest import ingest as ingest
from abistore.service.ingest_gates import Ingested as Ingested, IngestPlan as IngestPlan
from abistore.service.imports import ExportedRelease as ExportedRelease, export as export, import_ as import_
from abistore.service.inventory import (
    Inventory as Inventory,
    InventoryItem as InventoryItem,
    exports as exports,
    types as types,
)
from abistore.service.inventory import ProvidedSymbol as ProvidedSymbol, provides as provides
from abistore.service.inventory import TypeUser as TypeUser, UsedType as UsedType, who_uses as who_uses
from abistore.service.judging import EvidenceRequirement as EvidenceRequirement, requirement as requirement
from abistore.service.judging import show_only as show_only
from abistore.service.comparing import compare as compare
from abistore.service.decision import DecisionRequest as DecisionRequest, decided as decided
from abistore.service.history import first_decision as first_decision
from abistore.service.ruling import Ruling as Ruling, ruling as ruling
from abistore.service.ruling import (
    ListedSuppression as ListedSuppression,
    PolicyCard as PolicyCard,
    Suggestion as Suggestion,
    policy_card as policy_card,
    suggest as suggest,
    suppressions as suppressions,
)
from abistore.service.ledger import evaluate as evaluate
from abistore.service.ledger import ledger as ledger, lines_of_release as lines_of_release
from abistore.service.statements import statement as statement
from abistore.service.attesting import (
    SignedAudit as SignedAudit,
    SignedStatement as SignedStatement,
    sign_audit as sign_audit,
    sign_statement as sign_statement,
    verify_audit as verify_audit,
    verify_statement as verify_statement,
)
from abistore.service.signatures import Trust as Trust, TrustedKey as TrustedKey, trust as trust
from abistore.service.listing import (
    FailedLibrary as FailedLibrary,
    ListedLine as ListedLine,
    ListedRelease as ListedRelease,
    OfEach as OfEach,
    is_pattern as is_pattern,
    lines as lines,
    matching as matching,
    of_each as of_each,
    stored_as as stored_as,
    releases as releases,
    releases_of_digest as releases_of_digest,
)
from abistore.service.notifying import (
    Event as Event,
    EventsSince as EventsSince,
    Notified as Notified,
    NotifyPlan as NotifyPlan,
    events as events,
    keep_cursor as keep_cursor,
    kept_cursor as kept_cursor,
    notice as notice,
    notify as notify,
)
from abistore.service.posting import (
    CommentPlan as CommentPlan,
    PostedComment as PostedComment,
    post_comment as post_comment,
)
from abistore.service.snapshots import Selection as Selection
from abistore.archive.reporting import (
    ArchiveReport as ArchiveReport,
    BrokenRelease as BrokenRelease,
    RedGate as RedGate,
    archive_report as archive_report,
)
from abistore.model.rules import BoundRule as BoundRule, Binding as Binding
from abistore.service.binding import (
    BindingPlan as BindingPlan,
    BoundPattern as BoundPattern,
    bind as bind,
    bound as bound,
    bound_rule as bound_rule,
    evidence_for as evidence_for,
    unbind as unbind,
)
from abistore.service.blame import blame as blame
from abistore.service.bisect import first_broken as first_broken
from abistore.service.commits import CommitSource as CommitSource
from abistore.report.since import (
    Blame as Blame,
    BlamedBreak as BlamedBreak,
    Commit as Commit,
    DatedRelease as DatedRelease,
    EarlierBreak as EarlierBreak,
    FirstBroken as FirstBroken,
    RestoredBreak as RestoredBreak,
)
from abistore.service.matrix import (
    CompatibleRange as CompatibleRange,
    RunsOn as RunsOn,
    compatible_range as compatible_range,
)
from abistore.report.model import Witness as Witness
from abistore.service.witnesses import Witnesses as Witnesses, WitnessPlan as WitnessPlan, witnesses as witnesses
from abistore.service.site import SiteBuilt as SiteBuilt, build_site as build_site
from abistore.service.site import SitePlan as SitePlan
from abistore.service.snapshots import (
    Dump as Dump,
    ExtractOptions as ExtractOptions,
    HeaderOptions as HeaderOptions,
    capture as capture,
    dump as dump,
)
from abistore.service.imports import (
    Bundle as Bundle,
    MergePlan as MergePlan,
    db_merge as db_merge,
    export_bundle as export_bundle,
    import_bundles as import_bundles,
    is_bundle as is_bundle,
)
from abistore.service.whatif import (
    WhatIf as WhatIf,
    WhatIfBaseline as WhatIfBaseline,
    WhatIfPlan as WhatIfPlan,
    WhatIfRoom as WhatIfRoom,
    WhatIfWay as WhatIfWay,
    whatif as whatif,
)
from abistore.archive.log import ArchiveRun as ArchiveRun, FailureCount as FailureCount, LoggedItem as LoggedItem
from abistore.archive.running import ArchivePlan as ArchivePlan, archive_ingest as archive_ingest
