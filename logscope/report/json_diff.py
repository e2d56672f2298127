"""JSON of an explained diff, exactly as the public contract names it (``docs/json.md``)."""

from __future__ import annotations

from collections.abc import Sequence

from logscope.compare.records import (
    ArgumentChange,
    MetricChange,
    Mismatch,
    StageChange,
    ValidationChange,
    ValueChange,
)
from logscope.explain.records import Cause, Explanation, Remedy
from logscope.report.json_report import brief_run_value, dump
from logscope.store.records import Contrast, Seen, Spread
from parsers.records import Json

DIFF_SCHEMA = "logscope.diff/1"


def diff_json(explanation: Explanation) -> str:
    """The document of ``logscope diff`` and ``logscope explain``."""
    return dump(diff_value(explanation))


def diff_value(explanation: Explanation) -> dict[str, Json]:
    """The document as a value."""
    diff = explanation.diff
    baseline = diff.baseline
    missing = next((change.stage.value for change in diff.stages if change.first_missing), None)
    return {
        "schema": DIFF_SCHEMA,
        "good": None if diff.good is None else brief_run_value(diff.good),
        "bad": brief_run_value(diff.bad),
        "baseline_reason": baseline.reason,
        "baseline": {
            "run_id": baseline.run_id,
            "distance": baseline.distance,
            "differences": list(baseline.differences),
            "runner_up": baseline.runner_up,
        },
        "first_bad": diff.first_bad,
        "first_failed": diff.first_failed,
        "verdict": explanation.verdict,
        "matters": diff.matters,
        "causes": [_cause(cause) for cause in explanation.causes],
        "args": [_argument(change) for change in diff.args],
        "env": _values(diff.env),
        "versions": _values(diff.versions),
        "host": _values(diff.host),
        "configs": _values(diff.configs),
        "files": _values(diff.files),
        "mismatches": [_mismatch(mismatch) for mismatch in diff.mismatches],
        "validations": [_validation(change) for change in diff.validations],
        "milestones": [_stage(change) for change in diff.stages],
        "first_missing_stage": missing,
        "throughput": [_metric(change) for change in diff.metrics],
        "cleared": [*diff.cleared, *diff.not_compared],
        "not_compared": list(diff.not_compared),
    }


def _cause(cause: Cause) -> Json:
    return {
        "rank": cause.rank,
        "title": cause.title,
        "kind": cause.kind,
        "subject": cause.subject,
        "score": cause.score,
        "mechanism": cause.mechanism,
        "evidence": [
            {"text": evidence.text, "run": evidence.run, "line": evidence.line} for evidence in cause.evidence
        ],
        "remedies": [_remedy(remedy) for remedy in cause.remedies],
        "seen_before": _seen(cause.seen_before),
        "contrast": _contrast(cause.contrast),
        "score_parts": [{"name": part.name, "points": part.points, "why": part.why} for part in cause.parts],
    }


def _remedy(remedy: Remedy) -> Json:
    return {
        "action": remedy.action,
        "apply": remedy.apply,
        "durability": remedy.durability,
        "assumes": remedy.assumes,
        "risks": remedy.risks,
        "worked_before": remedy.worked_before,
    }


def _seen(seen: Seen | None) -> Json:
    if seen is None:
        return None
    return {
        "runs": seen.runs,
        "first": seen.first_run,
        "first_at": None if seen.first_at is None else seen.first_at.isoformat(),
        "fixed_by": list(seen.fixed_by),
        "fixed_in": seen.fixed_in,
    }


def _contrast(contrast: Contrast | None) -> Json:
    if contrast is None:
        return None
    return {
        "failures_with": contrast.failures_with,
        "failures": contrast.failures,
        "successes_with": contrast.successes_with,
        "successes": contrast.successes,
    }


def _argument(change: ArgumentChange) -> Json:
    value: dict[str, Json] = {
        "name": change.name,
        "good": change.good,
        "bad": change.bad,
        "change": change.change.value,
        "origin_good": change.origin_good.value,
        "origin_bad": change.origin_bad.value,
        "relevance": change.relevance,
        "noise": change.is_noise,
        "note": change.note,
    }
    if change.renamed_from is not None:
        value["renamed_from"] = change.renamed_from
    return value


def _values(changes: Sequence[ValueChange]) -> Json:
    return [_value(change) for change in changes]


def _value(change: ValueChange) -> Json:
    value: dict[str, Json] = {
        "name": change.name,
        "good": change.good,
        "bad": change.bad,
        "change": change.change.value,
        "relevance": change.relevance,
        "noise": change.is_noise,
        "note": change.note,
    }
    if change.role is not None:
        value["role"] = change.role
    return value


def _mismatch(mismatch: Mismatch) -> Json:
    return {
        "rule": mismatch.rule,
        "subject": mismatch.subject,
        "text": mismatch.text,
        "reason": mismatch.reason,
        "values": dict(mismatch.values),
        "relevance": mismatch.relevance,
        "in_good_too": mismatch.in_good_too,
    }


def _validation(change: ValidationChange) -> Json:
    return {
        "fingerprint": change.fingerprint,
        "level": change.level,
        "type": change.type,
        "message": change.message,
        "line": change.line,
        "good_line": change.good_line,
        "status": change.status,
        "benign": change.benign,
        "seen_before": change.seen_before,
        "introduced_in": change.introduced_in,
        "finding": change.finding,
        "explanation": change.explanation,
    }


def _stage(change: StageChange) -> Json:
    return {
        "stage": change.stage.value,
        "good": change.good_reached,
        "bad": change.bad_reached,
        "bad_complete": change.bad_complete,
        "seconds": {
            "good": change.good_seconds,
            "bad": change.bad_seconds,
            "usual": _spread(change.usual_seconds),
        },
        "mem_gb": {"good": change.good_mem_gb, "bad": change.bad_mem_gb},
        "outside_usual": change.is_outside,
        "first_missing": change.first_missing,
    }


def _spread(spread: Spread | None) -> Json:
    if spread is None:
        return None
    return {"runs": spread.runs, "median": spread.median, "low": spread.low, "high": spread.high}


def _metric(change: MetricChange) -> Json:
    return {
        "metric": change.metric,
        "unit": change.unit,
        "good": change.good,
        "bad": change.bad,
        "ratio": change.ratio,
        "significant": change.is_significant,
        "noise": change.noise,
        "interval": None if change.interval is None else list(change.interval),
    }
