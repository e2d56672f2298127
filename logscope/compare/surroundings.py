"""Environment, versions, host and model files of two runs, as far as their context files hold them."""

from __future__ import annotations

from collections.abc import Mapping

from logscope.compare import noise
from logscope.compare.records import Change, ValueChange
from logscope.store.records import StoredRun

# fmt: off
_PACKAGES_NEAR = [
    "torch", "transformers", "tokenizers", "huggingface-hub", "flashinfer", "flashinfer-python",
    "sgl-kernel", "sglang-kernel", "triton", "xgrammar", "numpy", "safetensors", "nvidia-nccl-cu12",
    "nvidia-nccl-cu13", "vllm", "outlines", "compressed-tensors",
]
# fmt: on
"""Packages that the server leans on: a change of one of them stands before the rest."""


def environment_diff(good: StoredRun, bad: StoredRun) -> tuple[tuple[ValueChange, ...], str, str]:
    """Rows, what was cleared, what could not be compared. An unknown environment is not an empty one."""
    left, left_known = _environment(good)
    right, right_known = _environment(bad)
    if not left_known or not right_known:
        missing = " and ".join(
            name for name, known in (("good", left_known), ("bad", right_known)) if not known
        )
        shown = {name: value for name, value in left.items() if name in right}
        rows = _rows(shown, {name: right[name] for name in shown}) if shown else ()
        return rows, "", f"environment: not known of the {missing} run"
    rows = _rows(left, right)
    cleared = (
        "" if any(not row.is_noise for row in rows) else f"environment: {len(right)} variables, the same"
    )
    return rows, cleared, ""


def _environment(run: StoredRun) -> tuple[Mapping[str, str], bool]:
    printed = {variable.name: variable.value for variable in run.run.env}
    if run.context is None or run.context.env is None:
        return printed, False
    return {**printed, **run.context.env}, True


def _rows(left: Mapping[str, str], right: Mapping[str, str]) -> tuple[ValueChange, ...]:
    rows = []
    for name in sorted({*left, *right}):
        good, bad = left.get(name), right.get(name)
        if good == bad:
            continue
        is_noise = noise.is_noise_env(name, good, bad)
        rows.append(
            ValueChange(
                name, good, bad, _change(good, bad), None, 0.0 if is_noise else _env_weight(name), is_noise
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.is_noise, -row.relevance, row.name)))


def _env_weight(name: str) -> float:
    near = (
        "SGLANG_",
        "SGL_",
        "NCCL_",
        "CUDA_",
        "HIP_",
        "TORCH_",
        "PYTORCH_",
        "HF_",
        "FLASHINFER_",
        "TRITON_",
    )
    return 0.4 if name.startswith(near) else 0.15


def _change(good: object, bad: object) -> Change:
    return Change.ADDED if good is None else Change.REMOVED if bad is None else Change.CHANGED


def version_diff(
    good: StoredRun, bad: StoredRun
) -> tuple[tuple[ValueChange, ...], tuple[str, ...], tuple[str, ...]]:
    """sglang first, then commit, driver and packages; with what was cleared and not compared."""
    rows: list[ValueChange] = []
    cleared: list[str] = []
    unknown: list[str] = []
    _compare_sglang(good, bad, rows, cleared, unknown)
    left, right = good.context, bad.context
    for name, one, other in (
        ("sglang commit", left and left.sglang_commit, right and right.sglang_commit),
        ("driver", left and left.driver, right and right.driver),
        ("image", left and left.image, right and right.image),
        ("kernel", left and left.kernel, right and right.kernel),
    ):
        if one and other:
            if one != other:
                rows.append(ValueChange(name, one, other, Change.CHANGED, relevance=0.3))
            else:
                cleared.append(f"{name}: same ({one})")
    packages, note = _package_rows(left.packages if left else {}, right.packages if right else {})
    rows.extend(packages)
    (unknown if note.endswith("not recorded") else cleared).extend([note] if note else [])
    return tuple(rows), tuple(cleared), tuple(unknown)


def _compare_sglang(
    good: StoredRun, bad: StoredRun, rows: list[ValueChange], cleared: list[str], unknown: list[str]
) -> None:
    one, other = good.sglang_version, bad.sglang_version
    if one and other:
        if one == other:
            cleared.append(f"sglang version: same ({one})")
        else:
            rows.append(ValueChange("sglang", one, other, Change.CHANGED, relevance=0.4))
        return
    left, right = _span(good), _span(bad)
    if left is not None and right is not None and _are_apart(*left, *right):
        note = "judged from the wording of the logs"
        rows.append(
            ValueChange("sglang", _spoken(left), _spoken(right), Change.CHANGED, relevance=0.3, note=note)
        )
    else:
        unknown.append("sglang version: not exact in both logs")


def _span(run: StoredRun) -> tuple[str, str] | None:
    """The releases that the run can be of, first and last; None when nothing is known."""
    if run.sglang_version:
        return run.sglang_version, run.sglang_version
    guess = run.run.version
    return (guess.first, guess.last) if guess.first and guess.last else None


def _spoken(span: tuple[str, str]) -> str:
    first, last = span
    return first if first == last else f"{first}..{last}"


def _are_apart(first: str, last: str, other_first: str, other_last: str) -> bool:
    """True when two spans of releases cannot hold one release in common."""
    from packaging.version import InvalidVersion, Version  # 15 ms, and few comparisons need it

    try:
        return Version(last) < Version(other_first) or Version(other_last) < Version(first)
    except InvalidVersion:
        return False


def _package_rows(left: Mapping[str, str], right: Mapping[str, str]) -> tuple[list[ValueChange], str]:
    if not left or not right:
        return [], "packages: not recorded"
    one = {_package_name(name): version for name, version in left.items()}
    other = {_package_name(name): version for name, version in right.items()}
    one.pop("sglang", None), other.pop("sglang", None)
    rows = [
        ValueChange(
            name,
            one.get(name),
            other.get(name),
            _change(one.get(name), other.get(name)),
            relevance=0.35 if name in _PACKAGES_NEAR else 0.2,
        )
        for name in sorted({*one, *other})
        if one.get(name) != other.get(name)
    ]
    rows.sort(key=lambda row: (-row.relevance, row.name))
    return rows, "" if rows else f"packages: {len(other)} compared, the same"


def _package_name(name: str) -> str:
    return name.lower().replace("_", "-")


def host_diff(good: StoredRun, bad: StoredRun) -> tuple[tuple[ValueChange, ...], tuple[str, ...]]:
    """Host, GPUs and the recorded facts of the machine; with what was cleared."""
    rows: list[ValueChange] = []
    cleared: list[str] = []
    if good.host and bad.host:
        if good.host != bad.host:
            rows.append(ValueChange("host", good.host, bad.host, Change.CHANGED, relevance=0.2))
        else:
            cleared.append(f"host: same ({bad.host})")
    left, right = good.context, bad.context
    if left is None or right is None:
        return tuple(rows), tuple(cleared)
    if left.gpus and right.gpus:
        if left.gpus != right.gpus:
            rows.append(ValueChange("gpus", list(left.gpus), list(right.gpus), Change.CHANGED, relevance=0.3))
        else:
            cleared.append("GPUs: same")
    rows.extend(
        ValueChange(name, left.facts[name], right.facts[name], Change.CHANGED, relevance=0.1)
        for name in sorted(left.facts.keys() & right.facts.keys())
        if left.facts[name] != right.facts[name]
    )
    return tuple(rows), tuple(cleared)


def file_diff(good: StoredRun, bad: StoredRun) -> tuple[tuple[ValueChange, ...], str]:
    """Model files that came, went or changed size or content; with what was cleared."""
    left = {(f.role, f.name): f for f in good.context.model_files} if good.context else {}
    right = {(f.role, f.name): f for f in bad.context.model_files} if bad.context else {}
    if not left or not right:
        return (), ""
    rows = []
    for role, name in sorted({*left, *right}):
        one, other = left.get((role, name)), right.get((role, name))
        size_one, size_other = (one.size if one else None), (other.size if other else None)
        sums = (one.sha256 if one else None, other.sha256 if other else None)
        is_rewritten = None not in sums and sums[0] != sums[1]
        if size_one == size_other and not is_rewritten:
            continue
        note = "same size, other content" if size_one == size_other else "bytes"
        rows.append(ValueChange(name, size_one, size_other, _change(one, other), role, 0.5, note=note))
    return tuple(rows), "" if rows else f"model files: {len(right)} compared, the same"
