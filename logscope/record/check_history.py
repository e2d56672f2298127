"""A planned launch against what this store has seen: did the same fail before, and what fixed it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from logscope.compare import noise
from logscope.compare.command_line import typed_arguments
from logscope.compare.configs import config_values
from logscope.explain.records import Remedy
from logscope.record.checking import Finding, Planned, Severity
from logscope.store.interface import RunHistory
from logscope.store.records import RunFacts, StoredRun
from parsers.lazy_dataclass import dataclass
from parsers.records import Json, Outcome

_MOST_FAILURES = 5
_MOST_SUCCESSES = 6
_SHAPE_KEYS = (
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "intermediate_size",
    "moe_intermediate_size",
    "num_hidden_layers",
    "n_routed_experts",
    "num_experts",
)
"""Keys of config.json that the shapes and number of weights follow."""

Item = tuple[str, str]
"""Kind and name: ``("arg", "tp_size")``, ``("env", "NCCL_DEBUG")``, ``("config", "draft.hidden_size")``."""


@dataclass(frozen=True, slots=True)
class Past:
    """The runs of the store that say something about the plan."""

    good: tuple[StoredRun, ...]
    """Ready runs of the same model, newest first."""
    failed: tuple[StoredRun, ...]
    """Failed runs of the same model, one a root error, newest first."""
    history: RunHistory | None = None


def past_of(plan: Planned, history: RunHistory) -> Past:
    """Loads what the store holds of the planned model."""
    model = plan.arguments.get("model_path")
    near = [fact for fact in history.facts() if fact.model_path == model and fact.mark != "skip"]
    good = [fact for fact in near if _is_good(fact)][:_MOST_SUCCESSES]
    failed: dict[str, RunFacts] = {}
    for fact in near:
        if fact.outcome is Outcome.FAILED and fact.root_fingerprint and fact.mark != "good":
            failed.setdefault(fact.root_fingerprint, fact)
    chosen = list(failed.values())[:_MOST_FAILURES]
    return Past(
        tuple(history.load(fact.run_id) for fact in good),
        tuple(history.load(fact.run_id) for fact in chosen),
        history,
    )


def history_findings(plan: Planned, past: Past) -> Iterator[Finding]:
    """Combinations that failed before and never got ready; configs that changed under their weights."""
    wanted = items_of(plan.as_run(), plan.env)
    if wanted is None:
        return
    yield from _similar_model(plan, past)
    same = next((run for run in past.good if _is_equal(wanted, items_of(run))), None)
    if same is not None:
        yield Finding(
            "same-launch-got-ready",
            "other",
            "history",
            Severity.NOTE,
            f"the same arguments, variables and config got ready before ({same.path})",
        )
        return
    if past.good:
        yield from _changed_shapes(plan, wanted, past.good[0])
    for failure in past.failed:
        finding = _same_failure(wanted, failure, past)
        if finding is not None:
            yield finding


def items_of(run: StoredRun, env: Mapping[str, str] | None = None) -> dict[Item, str] | None:
    """What was typed, set and configured, by kind and name; None when the command line is not known."""
    context = run.context
    typed = typed_arguments(context.argv, run.sglang_version) if context is not None else None
    if typed is None or context is None:
        return None
    held: dict[Item, str] = {("arg", name): _text(value) for name, value in typed.items()}
    for name, value in (context.env or {}).items():
        held["env", name] = value
    for role in context.model_configs:
        for key, setting in config_values(run, role).items():
            held["config", f"{role}.{key}"] = _text(setting)
    if run.sglang_version:
        held["version", "sglang"] = run.sglang_version
    return {item: value for item, value in held.items() if not _is_noise(item)}


def _changed_shapes(plan: Planned, wanted: Mapping[Item, str], good: StoredRun) -> Iterator[Finding]:
    """A key that the weights' shapes follow differs from the last good run, at the same path."""
    before = items_of(good) or {}
    for role, argument in (("target", "model_path"), ("draft", "speculative_draft_model_path")):
        if wanted.get(("arg", argument)) != before.get(("arg", argument)) or _other_weights(plan, good, role):
            continue
        for key in _SHAPE_KEYS if role == "draft" else (*_SHAPE_KEYS, "vocab_size"):
            item = ("config", f"{role}.{key}")
            if item in wanted and item in before and wanted[item] != before[item]:
                yield Finding(
                    "config-changed-under-weights",
                    "config",
                    f"{role}.{key}",
                    Severity.RISK,
                    f"{role} config.json says {key} {wanted[item]}, it was {before[item]} in the "
                    "last good run: the weights keep the old shape unless replaced too",
                    (f"good run {good.path}",),
                    (
                        Remedy(
                            "Put the old value back.",
                            f"{key} = {before[item]}",
                            "lasting",
                            "the weights are those of the good run",
                        ),
                    ),
                )


def _other_weights(plan: Planned, good: StoredRun, role: str) -> bool:
    """True when both sides list their weight files and these differ in size."""
    sides = [
        {file.name: file.size for file in context.model_files if file.role == role and not file.sha256}
        for context in (plan.context, good.context)
        if context is not None
    ]
    return len(sides) == 2 and all(sides) and sides[0] != sides[1]


def _similar_model(plan: Planned, past: Past) -> Iterator[Finding]:
    """A model path without a run, close to one that has some: mostly a typing error."""
    model = plan.arguments.get("model_path")
    if past.good or past.failed or past.history is None or not isinstance(model, str):
        return
    known = sorted({fact.model_path for fact in past.history.facts() if fact.model_path and fact.ready})
    for near in difflib.get_close_matches(model, known, 1, 0.85):
        yield Finding(
            "model-path-is-new",
            "arg",
            "model_path",
            Severity.NOTE,
            f"no run of {model} is known; {near} got ready before",
            remedies=(
                Remedy(f"Did you mean {near}?", f"--model-path {near}", "lasting", "it is a typing error"),
            ),
        )


def _same_failure(wanted: Mapping[Item, str], failure: StoredRun, past: Past) -> Finding | None:
    """The failure, when the plan has every change that made it and nothing that neither side had."""
    bad = items_of(failure)
    if bad is None:
        return None
    base = _baseline(failure, past)
    good = items_of(base) if base is not None else None
    if good is None:
        return _finding(failure, bad, set(), None, past) if _is_equal(wanted, bad) else None
    changed = _changed(good, bad)

    def has_it_all(items: Mapping[Item, str]) -> bool:
        """Every change of the failure, and nothing that neither it nor its baseline had."""
        has_changes = bool(changed) and all(items.get(item) == bad.get(item) for item in changed)
        return has_changes and all(items.get(i) in (bad.get(i), good.get(i)) for i in {*items, *bad, *good})

    if not has_it_all(wanted):
        return None
    if any(has_it_all(items_of(run) or {}) for run in past.good):
        return None  # it got ready in another run
    return _finding(failure, bad, changed, good, past)


def _finding(
    failure: StoredRun,
    bad: Mapping[Item, str],
    changed: set[Item],
    good: Mapping[Item, str] | None,
    past: Past,
) -> Finding:
    error = failure.run.root_error
    message = f"{error.type}: {error.message}".splitlines()[0] if error is not None else failure.run.reason
    kind, subject = _suspect(changed, bad, good) if changed else ("other", "command line")
    told = [
        f"{item[1]}: {_shown(good, item)} -> {_shown(bad, item)}" for item in sorted(changed, key=_likely)
    ]
    line = f" (line {error.line})" if error is not None else ""
    return Finding(
        "failed-before",
        kind,
        subject,
        Severity.RISK,
        f"the same combination failed before: {message[:160]}",
        (f"run {failure.path}{line}", *(f"changed there: {one}" for one in told[:6])),
        tuple(_fixes(failure, bad, past)),
    )


def _suspect(changed: set[Item], bad: Mapping[Item, str], good: Mapping[Item, str] | None) -> Item:
    """The change to name first: what is new before what has another value, in the order it was typed."""
    order = {item: number for number, item in enumerate(bad)}
    return min(
        changed, key=lambda item: (item in (good or {}), _likely(item)[0], order.get(item, len(order)))
    )


def _fixes(failure: StoredRun, bad: Mapping[Item, str], past: Past) -> Iterator[Remedy]:
    """What the next good run had otherwise."""
    later = [run for run in past.good if _started(run) > _started(failure)]
    if not later:
        return
    fixed = items_of(later[-1])  # the good runs are newest first
    if fixed is None:
        return
    for item in sorted(_changed(bad, fixed), key=_likely)[:4]:
        kind, name = item
        yield Remedy(
            f"{name}: {_shown(bad, item)} -> {_shown(fixed, item)}, as in the next good run.",
            f"{name}={fixed[item]}" if kind == "env" and item in fixed else "",
            "lasting",
            "that run wanted the same",
            worked_before=later[-1].path,
        )


def _baseline(failure: StoredRun, past: Past) -> StoredRun | None:
    if past.history is None:
        return None
    chosen = past.history.baseline(failure.run_id).run_id
    held = next((run for run in past.good if run.run_id == chosen), None)  # loading one costs 20 ms
    return past.history.load(chosen) if held is None and chosen is not None else held


def _changed(left: Mapping[Item, str] | None, right: Mapping[Item, str]) -> set[Item]:
    """Items that differ. A role whose config is known on one side only is no difference."""
    left = left or {}
    both = {item[1].partition(".")[0] for item in left if item[0] == "config"} & {
        item[1].partition(".")[0] for item in right if item[0] == "config"
    }
    return {
        item
        for item in {*left, *right}
        if left.get(item) != right.get(item) and (item[0] != "config" or item[1].partition(".")[0] in both)
    }


def _is_equal(left: Mapping[Item, str], right: Mapping[Item, str] | None) -> bool:
    return right is not None and not _changed(left, right)


def _is_good(fact: RunFacts) -> bool:
    return fact.mark == "good" or (fact.mark != "bad" and fact.ready and fact.outcome is Outcome.READY)


def _started(run: StoredRun) -> str:
    return run.started_at.isoformat() if run.started_at is not None else ""


def _is_noise(item: Item) -> bool:
    kind, name = item
    if kind == "arg":
        return name in noise.NOISE_ARGUMENTS or name in noise.INERT_ARGUMENTS
    if kind == "env":
        return name in noise.NOISE_ENV
    return kind == "config" and name.partition(".")[2] in noise.NOISE_CONFIG_KEYS


def _likely(item: Item) -> tuple[int, str]:
    return ("arg", "env", "config", "version").index(item[0]), item[1]


def _shown(items: Mapping[Item, str] | None, item: Item) -> str:
    return (items or {}).get(item, "(unset)")


def _text(value: Json) -> str:
    return str(value)
