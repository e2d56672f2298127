"""Logs of made launches, as SGLang 0.5.4 prints them, for tests of the store."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parents[3] / "sample_logs"
START = datetime(2026, 2, 3, 4, 5, 6)


def launch_log(
    start: datetime = START,
    ready: bool = True,
    error: str | None = None,
    decode: int = 0,
    stopped: bool = False,
    **arguments: Any,
) -> str:
    """The text of one launch. `error` is raised while loading, or after ready; `decode` counts decode lines."""
    clock = _Clock(start)
    values: dict[str, Any] = {
        "model_path": "/models/tiny", "served_model_name": "tiny", "device": "cuda", "tp_size": 1, "dp_size": 1,
        "pp_size": 1, "ep_size": 1, "nnodes": 1, "port": 30000, "quantization": None,
        "speculative_algorithm": None, "mem_fraction_static": 0.8, "random_seed": start.microsecond + start.second,
        **arguments,
    }  # fmt: skip
    banner = ", ".join(f"{name}={value!r}" for name, value in values.items())
    lines = [
        f"{clock} server_args=ServerArgs({banner})",
        f"{clock} Init torch distributed begin.",
        f"{clock} Init torch distributed ends. mem usage=0.10 GB",
        f"{clock} Load weight begin. avail mem=78.00 GB",
    ]
    if ready:
        lines += _until_ready(clock) + _served(clock, decode)
    if error is not None:
        lines += _failure(clock, error)
    if stopped:
        lines += [
            f"{clock} INFO:     Shutting down",
            f"{clock} SIGTERM received. Draining requests and shutting down...",
        ]
    return "\n".join(lines) + "\n"


def write_log(path: Path, text: str, **context: Any) -> Path:
    """Writes the log, and a context file beside it where there is a context."""
    path.write_text(text, encoding="utf-8")
    if context:
        held = {"schema": "logscope.context/1", **context}
        path.with_name(path.name.removesuffix(".log") + ".context.json").write_text(json.dumps(held))
    return path


class _Clock:
    """Heads of lines, one second after the other."""

    def __init__(self, start: datetime) -> None:
        self._now = start - timedelta(seconds=1)

    def __str__(self) -> str:
        self._now += timedelta(seconds=1)
        return f"[{self._now:%Y-%m-%d %H:%M:%S}]"


def _until_ready(clock: _Clock) -> list[str]:
    return [
        f"{clock} Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=62.00 GB, mem usage=16.00 GB.",
        f"{clock} KV Cache is allocated. #tokens: 65536, K size: 4.00 GB, V size: 4.00 GB",
        f"{clock} Memory pool end. avail mem=53.00 GB",
        f"{clock} max_total_num_tokens=65536, chunked_prefill_size=2048, max_prefill_tokens=16384, "
        "max_running_requests=32, context_len=4096, available_gpu_mem=53.00 GB",
        f"{clock} INFO:     Started server process [42]",
        f"{clock} INFO:     Application startup complete.",
        f"{clock} INFO:     Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)",
        f'{clock} INFO:     127.0.0.1:47574 - "GET /get_model_info HTTP/1.1" 200 OK',
        f"{clock} Prefill batch, #new-seq: 1, #new-token: 6, #cached-token: 0, token usage: 0.00, #running-req: 0, "
        "#queue-req: 0, ",
        f'{clock} INFO:     127.0.0.1:47584 - "POST /generate HTTP/1.1" 200 OK',
        f"{clock} The server is fired up and ready to roll!",
    ]


def _served(clock: _Clock, decode: int) -> list[str]:
    lines: list[str] = []
    if decode:
        lines.append(
            f"{clock} Prefill batch, #new-seq: 2, #new-token: 100, #cached-token: 20, token usage: 0.00, "
            "#running-req: 0, #queue-req: 1, "
        )
    lines += [
        f"{clock} Decode batch, #running-req: {2 + number % 2}, #token: {200 + number}, token usage: 0.01, "
        f"cuda graph: True, gen throughput (token/s): {100 + number}.50, #queue-req: 0, "
        for number in range(decode)
    ]
    return lines


def _failure(clock: _Clock, error: str) -> list[str]:
    return [
        f"{clock} Scheduler hit an exception: Traceback (most recent call last):",
        '  File "/usr/lib/python3/site-packages/sglang/srt/managers/scheduler.py", line 3007, in run_scheduler_process',
        "    scheduler = Scheduler(server_args, port_args)",
        '  File "/usr/lib/python3/site-packages/sglang/srt/model_executor/model_runner.py", line 411, in load_model',
        "    self.model = get_model()",
        error,
        "",
        f"{clock} Received sigquit from a child process. It usually means the child failed.",
    ]
