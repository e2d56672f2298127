"""config.json of target and draft in two runs, key by dotted key."""

from __future__ import annotations

from collections.abc import Mapping

from logscope.compare import noise
from logscope.compare.records import Change, ValueChange
from logscope.compare.values import element_note, flatten, is_same
from logscope.store.records import StoredRun
from parsers.records import Json

ROLES = ("target", "draft")


def config_diff(
    good: StoredRun, bad: StoredRun
) -> tuple[tuple[ValueChange, ...], tuple[str, ...], tuple[str, ...]]:
    """Rows by role and key, with what was cleared and what could not be compared."""
    rows: list[ValueChange] = []
    cleared: list[str] = []
    unknown: list[str] = []
    for role in ROLES:
        left, right = config_of(good, role), config_of(bad, role)
        if left is None and right is None:
            if role == "target" or _has_draft(bad):
                unknown.append(f"{_name(role)} config.json: not recorded")
        elif left is None or right is None:
            unknown.append(_one_sided(role, good if left is None else bad, "good" if left is None else "bad"))
        else:
            changed = _role_rows(role, left, right)
            rows.extend(changed)
            if not any(not row.is_noise for row in changed):
                cleared.append(f"{_name(role)} config.json: same{_when(good, bad, role)}")
    return tuple(sorted(rows, key=lambda row: (row.is_noise, -row.relevance))), tuple(cleared), tuple(unknown)


def config_of(run: StoredRun, role: str) -> Json:
    """The parsed config.json of a role, its text where it was no JSON, None when it is not known."""
    return run.context.model_configs.get(role) if run.context is not None else None


def config_values(run: StoredRun, role: str) -> Mapping[str, Json]:
    """Dotted key -> value; {} when the config is not known or no JSON object."""
    held = config_of(run, role)
    return dict(flatten(held)) if isinstance(held, dict) else {}


def _has_draft(run: StoredRun) -> bool:
    return bool(run.argument("speculative_draft_model_path"))


def _name(role: str) -> str:
    return "model" if role == "target" else "draft"


def _one_sided(role: str, run: StoredRun, side: str) -> str:
    if role == "draft" and not _has_draft(run):
        return f"draft config.json: the {side} run has no draft model"
    return f"{_name(role)} config.json: not known of the {side} run"


def _when(good: StoredRun, bad: StoredRun, role: str) -> str:
    late = any(
        run.context is not None and run.context.config_origin.get(role) == "now" for run in (good, bad)
    )
    return " (read from disk at ingest, not at launch)" if late else ""


def _role_rows(role: str, left: Json, right: Json) -> list[ValueChange]:
    if not isinstance(left, dict) or not isinstance(right, dict):
        if isinstance(left, dict) == isinstance(right, dict) and left == right:
            return []
        note = (
            "config.json is no valid JSON" if not isinstance(right, dict) else "config.json was no valid JSON"
        )
        return [ValueChange("config.json", _valid(left), _valid(right), Change.CHANGED, role, 0.9, note=note)]
    one, other = dict(flatten(left)), dict(flatten(right))
    rows = []
    for key in [*other, *(key for key in one if key not in other)]:
        if key not in one:
            rows.append(_row(role, key, None, other[key], Change.ADDED))
        elif key not in other:
            rows.append(_row(role, key, one[key], None, Change.REMOVED))
        elif not is_same(one[key], other[key], strict=True):
            rows.append(_row(role, key, one[key], other[key], Change.CHANGED))
    return rows


def _row(role: str, key: str, good: Json, bad: Json, change: Change) -> ValueChange:
    is_noise = key in noise.NOISE_CONFIG_KEYS or noise.only_moved(good, bad)
    note = element_note(good, bad) if change is Change.CHANGED else ""
    return ValueChange(key, good, bad, change, role, 0.0 if is_noise else 0.5, is_noise, note)


def _valid(held: Json) -> str:
    return "valid JSON" if isinstance(held, dict) else "not valid JSON"
