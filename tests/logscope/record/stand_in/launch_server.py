"""A stand-in for SGLang's launcher: takes any flag, prints what a launch prints, and fails by a hidden rule.

The rule is a JSON file (HIDDEN_RULE): ``fails_with`` lists conditions (``--flag``, ``--flag=value``,
``ENV=value``) that must all hold; ``refuses`` lists pairs of flags of which the first
needs the second (a usage error);
``other_failure`` conditions lead to another error; ``lucky`` lets every n-th failing launch get ready.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

HEAD = "[2026-02-03 04:05:06]"


def main() -> None:
    rule = json.loads(Path(os.environ["HIDDEN_RULE"]).read_text())
    typed = sys.argv[1:]
    flags = {word for word in typed if word.startswith("--")}
    for needy, needed in rule.get("refuses", []):
        if needy in flags and needed not in flags:
            say(f"usage: launch_server.py [-h]\nlaunch_server.py: error: {needy} needs {needed}")
            sys.exit(2)
    if rule.get("unknown") and (unknown := sorted(flags & set(rule["unknown"]))):
        say("usage: launch_server.py [-h]")
        say(f"launch_server.py: error: unrecognized arguments: {' '.join(unknown)}")
        sys.exit(2)
    say(f"{HEAD} server_args=ServerArgs(model_path='/m', tp_size=1, port={value(typed, '--port') or 30000})")
    if os.environ.get("STRAY_WORKER"):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"], start_new_session=True)
    say(f"{HEAD} Load weight begin. avail mem=70.00 GB")
    say(f"{HEAD} Load weight end. type=LlamaForCausalLM, avail mem=50.00 GB, mem usage=20.00 GB.")
    time.sleep(float(rule.get("seconds", 0)))
    if holds(rule.get("other_failure", [""]), typed):
        fail("RuntimeError: something else is wrong here")
    if holds(rule["fails_with"], typed) and not is_lucky(rule):
        fail("ValueError: the hidden rule is broken by this launch")
    serve(typed)


def holds(conditions: list[str], typed: list[str]) -> bool:
    return all(holds_one(condition, typed) for condition in conditions)


def holds_one(condition: str, typed: list[str]) -> bool:
    name, equals, wanted = condition.partition("=")
    if not name.startswith("--"):
        return bool(name) and os.environ.get(name) == wanted
    return value(typed, name) == wanted if equals else name in typed


def value(typed: list[str], flag: str) -> str | None:
    return typed[typed.index(flag) + 1] if flag in typed else None


def is_lucky(rule: dict[str, object]) -> bool:
    """Every n-th launch that should fail gets ready: counted over launches in a file."""
    every = rule.get("lucky")
    if not isinstance(every, int):
        return False
    counter = Path(os.environ["HIDDEN_RULE"] + ".count")
    count = int(counter.read_text()) + 1 if counter.exists() else 1
    counter.write_text(str(count))
    return count % every == 0


def fail(error: str) -> None:
    say(f"{HEAD} Scheduler hit an exception: Traceback (most recent call last):")
    say('  File "/opt/sglang/srt/managers/scheduler.py", line 2000, in run_scheduler_process')
    say("    scheduler = Scheduler(server_args)")
    say(error)
    say("")
    say(f"{HEAD} Received sigquit from a child process. It usually means the child failed.")
    os.kill(os.getpid(), signal.SIGKILL)


def serve(typed: list[str]) -> None:
    listener = socket.create_server(("127.0.0.1", int(value(typed, "--port") or 30000)))
    say(f"{HEAD} The server is fired up and ready to roll!")
    time.sleep(120)
    listener.close()


def say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
