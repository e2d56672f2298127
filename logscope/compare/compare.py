"""Two runs in, one `RunDiff` out. Knows nothing of how a diff is shown or explained."""

from __future__ import annotations

from logscope.compare.arguments import argument_diff
from logscope.compare.configs import config_diff
from logscope.compare.metrics import metric_changes
from logscope.compare.mismatches import mismatches
from logscope.compare.peers import peers_of
from logscope.compare.records import MetricChange, RunDiff
from logscope.compare.relevance import with_relevance
from logscope.compare.stages import stage_changes
from logscope.compare.surroundings import environment_diff, file_diff, host_diff, version_diff
from logscope.compare.validations import validation_changes
from logscope.errors import RunNotFound
from logscope.store.interface import RunHistory
from logscope.store.records import Baseline, StoredRun
from parsers.lazy_dataclass import replace


def compare(history: RunHistory, bad: StoredRun, good: StoredRun | None = None) -> RunDiff:
    """Everything that differs between the two; without `good`, the baseline of the history is taken."""
    chosen = history.baseline(bad.run_id) if good is None else _given(history, bad, good)
    if good is None and chosen.run_id is not None:
        try:
            good = history.load(chosen.run_id)
        except RunNotFound:
            chosen = replace(chosen, run_id=None, reason="the baseline is no longer in the store")
    if good is not None and good.run_id == bad.run_id:
        return RunDiff(good, bad, chosen, cleared=("both are the same run",), matters=False)
    diff = with_relevance(
        _against(history, bad, good, chosen) if good is not None else _alone(history, bad, chosen)
    )
    return replace(diff, matters=_matters(diff))


def _given(history: RunHistory, bad: StoredRun, good: StoredRun) -> Baseline:
    """The person chose the good run; the history still knows which runs failed first."""
    judged = history.baseline(bad.run_id)
    if judged.run_id == good.run_id:
        return replace(judged, reason=f"given; {judged.reason}")
    return Baseline(
        good.run_id, "given", None, first_bad=judged.first_bad, first_failed=judged.first_failed
    )


def _against(history: RunHistory, bad: StoredRun, good: StoredRun, chosen: Baseline) -> RunDiff:
    arguments = argument_diff(good, bad)
    env, env_cleared, env_unknown = environment_diff(good, bad)
    versions, version_cleared, version_unknown = version_diff(good, bad)
    host, host_cleared = host_diff(good, bad)
    configs, config_cleared, config_unknown = config_diff(good, bad)
    files, file_cleared = file_diff(good, bad)
    cleared = (arguments.cleared, env_cleared, *version_cleared, *host_cleared, *config_cleared, file_cleared)
    unknown = (arguments.not_compared, env_unknown, *version_unknown, *config_unknown)
    return RunDiff(
        good=good,
        bad=bad,
        baseline=chosen,
        args=arguments.rows,
        env=env,
        versions=versions,
        host=host,
        configs=configs,
        files=files,
        mismatches=mismatches(bad, good),
        validations=validation_changes(history, bad, good),
        stages=stage_changes(bad, good, history.usual(bad.run_id)),
        metrics=metric_changes(bad, good, peers_of(history, bad, good)),
        cleared=tuple(text for text in cleared if text),
        not_compared=tuple(text for text in unknown if text),
        first_bad=chosen.first_bad,
        first_failed=chosen.first_failed,
    )


def _alone(history: RunHistory, bad: StoredRun, chosen: Baseline) -> RunDiff:
    """No comparable run: only what contradicts itself and what the log says."""
    return RunDiff(
        good=None,
        bad=bad,
        baseline=chosen,
        mismatches=mismatches(bad),
        validations=validation_changes(history, bad, None),
        stages=stage_changes(bad, None, history.usual(bad.run_id)),
        metrics=(),
        not_compared=(f"nothing to compare with: {chosen.reason}",),
        first_bad=chosen.first_bad,
        first_failed=chosen.first_failed,
    )


def _matters(diff: RunDiff) -> bool:
    if diff.good is None:  # nothing differs from nothing: a run that serves is no bad news
        return not diff.bad.run.ready or _failed(diff.bad)
    if diff.good.run.ready != diff.bad.run.ready or _failed(diff.good) != _failed(diff.bad):
        return True
    values = (*diff.env, *diff.versions, *diff.configs, *diff.files)
    if any(not row.is_noise for row in values) or any(not row.is_noise for row in diff.args):
        return True
    if any(row.name != "host" for row in diff.host):  # one of a fleet of equal machines is no difference
        return True
    new_errors = any(
        row.level == "error" and not row.benign and row.status in ("new", "promoted")
        for row in diff.validations
    )
    return new_errors or any(row.is_significant and not _is_of_machine(row) for row in diff.metrics)


def _is_of_machine(row: MetricChange) -> bool:
    """Free memory says how full the machine was; one load among several is judged with the others."""
    return row.metric.startswith(("memory ", "decode throughput at "))


def _failed(run: StoredRun) -> bool:
    return run.run.outcome not in ("ready", "running", "unknown") or run.run.root_error is not None
