"""What the marks of a rule stand for in this run: its named groups, the run's arguments, steps from them."""

from __future__ import annotations

from collections.abc import Mapping

from logscope.compare.facts import RunFacts
from logscope.compare.metrics import milestone_value
from logscope.compare.values import show
from logscope.explain.remedies import flag_of
from logscope.explain.scene import Scene, is_off, is_switch
from logscope.store.records import short_id
from parsers.records import Json

NEUTRAL = {
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
    "good_version": "VERSION",
    "good_model": "PATH",
    "good_draft": "PATH",
    "good_id": "GOOD",
    "dist_init_addr": "HOST:5000",
    "dist_host": "HOST",
    "dist_port": "5000",
    "bootstrap_port": "8998",
    "nnodes": "2",
    "port_flag": "--port",
    "next_port": "30001",
    "feature": "the feature that imports it",
    "feature_off": "",
}
"""Words for what the error does not tell."""
_USUAL = {"tp_size": 1, "cuda_graph_max_bs": 160, "chunked_prefill_size": 8192, "max_running_requests": 64}
"""Where the run names no number, the step is taken from this one."""
_USUAL_FRACTION = 0.85


def rule_values(scene: Scene, groups: Mapping[str, str] | None = None) -> dict[str, str]:
    """Mark -> text; the groups of the matched rule go before everything else."""
    facts = RunFacts(scene.bad)
    values = dict(NEUTRAL)
    for name in ("model_path", "port", "quantization"):
        held = facts.value(f"args.{name}")
        if held is not None:
            values[name] = show(held).rstrip("/") or "/"
    for name, usual in _USUAL.items():
        number = _number(facts.value(f"args.{name}"), milestone_value(scene.bad, "limits", name), usual)
        values[name] = str(number)
        values[f"double_{name}"] = str(number * 2)
        values[f"half_{name}"] = str(max(number // 2, 1))
    fraction = facts.value("args.mem_fraction_static")
    held_fraction = float(fraction) if isinstance(fraction, int | float) else _USUAL_FRACTION
    values["lower_mem_fraction"] = f"{max(held_fraction - 0.05, 0.1):.2f}"
    values["higher_mem_fraction"] = f"{min(held_fraction + 0.05, 0.95):.2f}"
    watchdog, chunk = (facts.value(f"args.{name}") for name in ("watchdog_timeout", "chunked_prefill_size"))
    values["longer_watchdog"] = str(max(1200, 2 * _number(watchdog, None, 300)))
    values["smaller_chunk"] = str(min(2048, max(_number(chunk, None, 8192) // 2, 1)))
    return {**values, **_of_addresses(facts, groups or {}), **_of_runs(scene), **(groups or {})}


def side_values(left: Json, right: Json) -> dict[str, str]:
    """Marks of a rule on two values that must agree."""
    values = {"left": show(left), "right": show(right), "factor": "FACTOR", "divisor": "N", "multiple": "N"}
    if isinstance(left, int | float) and isinstance(right, int | float) and left > 0 and right > 0:
        values["factor"] = f"{left / right:g}"
        divisors = (n for n in range(int(right), 0, -1) if left % n == 0)
        values["divisor"] = str(next(divisors, 1))
        values["multiple"] = str(max(int(left // right * right), int(right)))
    return values


def _of_runs(scene: Scene) -> dict[str, str]:
    """Names of both runs, and what the good one had."""
    values = {"bad_id": short_id(scene.bad.run_id)}
    good = scene.diff.good
    if good is None:
        return values
    before, now = RunFacts(good), RunFacts(scene.bad)
    values["good_id"] = short_id(good.run_id)
    if good.sglang_version:
        values["good_version"] = good.sglang_version
    for word, name in (("good_model", "model_path"), ("good_draft", "speculative_draft_model_path")):
        held = before.value(f"args.{name}")
        if held and held != now.value(f"args.{name}"):
            values[word] = show(held)
    switched_on = [row for row in scene.changed_arguments if is_switch(row) and not is_off(row.bad)]
    if len(switched_on) == 1:
        (row,) = switched_on
        flag = flag_of(row.name)
        values["feature"] = f"{show(row.bad)}, newly set by {flag}" if isinstance(row.bad, str) else flag
        values["feature_off"] = f"drop {flag}"
    return values


_PORTS = ("nccl_port", "disaggregation_bootstrap_port", "grpc_port", "smg_http_sidecar_port")


def _of_addresses(facts: RunFacts, groups: Mapping[str, str]) -> dict[str, str]:
    """Host and ports as the run has them, and the flag whose port the error names."""
    values = dict[str, str]()
    address = facts.value("args.dist_init_addr")
    if isinstance(address, str) and ":" in address:
        host, _, port = address.rpartition(":")
        values |= {"dist_init_addr": address, "dist_host": host, "dist_port": port}
    for word, name in (("nnodes", "nnodes"), ("bootstrap_port", "disaggregation_bootstrap_port")):
        held = facts.value(f"args.{name}")
        if isinstance(held, int) and held > 1:
            values[word] = str(held)
    port = groups.get("port") or show(facts.value("args.port"))
    if port.isdigit():
        values["next_port"] = str(int(port) + 1)
        flags = (name for name in _PORTS if show(facts.value(f"args.{name}")) == port)
        values["port_flag"] = "--" + next(flags, "port").replace("_", "-")
        if values.get("dist_port") == port:
            values |= {"port_flag": "--dist-init-addr", "next_port": f"{values['dist_host']}:{int(port) + 1}"}
    return values


def _number(typed: Json, printed: float | None, usual: int) -> int:
    for value in (typed, printed):
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 1:
            return int(value)
    return usual
