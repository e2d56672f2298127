"""What the marks of a rule stand for in this run: its named groups, the run's arguments, steps from them."""

from __future__ import annotations

from collections.abc import Mapping

from logscope.compare.facts import RunFacts
from logscope.compare.metrics import milestone_value
from logscope.compare.values import show
from logscope.explain.scene import Scene
from parsers.records import Json

_NEUTRAL = {
    "asked": "LENGTH",
    "derived": "LIMIT",
    "package": "PACKAGE",
    "library": "LIBRARY",
    "path": "PATH",
    "port": "",
    "required": "more",
    "limit": "less",
    "needs": "",
    "model_path": "MODEL",
    "quantization": "that method",
}
"""Words for what the error does not tell."""
_USUAL = {"tp_size": 1, "cuda_graph_max_bs": 160, "chunked_prefill_size": 8192, "max_running_requests": 64}
"""Where the run names no number, the step is taken from this one."""
_USUAL_FRACTION = 0.85


def rule_values(scene: Scene, groups: Mapping[str, str] | None = None) -> dict[str, str]:
    """Mark -> text; the groups of the matched rule go before everything else."""
    facts = RunFacts(scene.bad)
    values = dict(_NEUTRAL)
    for name in ("model_path", "port", "quantization"):
        held = facts.value(f"args.{name}")
        if held is not None:
            values[name] = show(held)
    for name, usual in _USUAL.items():
        number = _number(facts.value(f"args.{name}"), milestone_value(scene.bad, "limits", name), usual)
        values[name] = str(number)
        values[f"double_{name}"] = str(number * 2)
        values[f"half_{name}"] = str(max(number // 2, 1))
    fraction = facts.value("args.mem_fraction_static")
    held_fraction = float(fraction) if isinstance(fraction, int | float) else _USUAL_FRACTION
    values["lower_mem_fraction"] = f"{max(held_fraction - 0.05, 0.1):.2f}"
    values["higher_mem_fraction"] = f"{min(held_fraction + 0.05, 0.95):.2f}"
    return {**values, **(groups or {})}


def _number(typed: Json, printed: float | None, usual: int) -> int:
    for value in (typed, printed):
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 1:
            return int(value)
    return usual
