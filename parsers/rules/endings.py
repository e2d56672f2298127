"""What the kernel, shells, containers, systemd and Slurm say of a process that they saw end."""

from __future__ import annotations

from parsers.rules.message_rule import MessageRule, Weight, rule

OUTSIDE_RULES: tuple[MessageRule, ...] = (
    rule(
        "kernel-oom",
        Weight.KILL,
        (
            "ut of memory: Killed process",
            "oom-kill",
            "OOMKilled",
            "oom_kill",
            "Killed process",
            "Out Of Memory",
        ),
        r"[Oo]ut of memory: Killed process|(?<!result ')oom[-_]kill(?!er)|OOMKilled|Killed process \d+ \("
        r"|task \d+: Out Of Memory",
        "[81234.5] Out of memory: Killed process 4242 (sglang::schedul) total-vm:1kB, anon-rss:2kB",
        "Memory cgroup out of memory: Killed process 4242 (python3) total-vm:1kB",
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0. Some of your processes may have "
        "been killed",
        "Last State: Terminated Reason: OOMKilled",
        "srun: error: node7: task 3: Out Of Memory",
        type="OOM killer",
    ),
    rule(
        "shell-killed",
        Weight.KILL,
        ("Killed", "killed", "已杀死", "已砍掉"),
        r"^(?:\S+: (?:line|行|第) ?\d+(?: ?行)?[:：] +\d+ |\[\d+\][+-]? +(?:\d+ +)?"
        r"|srun: error: \S+: tasks? [\d,-]+: |zsh: |bash: )?(?:[Kk]illed\b(?! process)|已杀死|已砍掉)"
        r"(?:\s*$|\s+(?:python|sglang|nohup|CUDA|env|bash|sh|\S+/)\S*.*|\s{2,}\S.*)",
        "Killed",
        "./run.sh: line 9:    41 Killed                  python3 -m sglang.launch_server",
        "srun: error: node7: task 3: Killed",
        "[1]+  Killed                  nohup python -m sglang.launch_server",
        "zsh: killed     python -m sglang.launch_server",
        "已杀死",
        "./run.sh: 行 9:    41 已杀死                  python3 -m sglang.launch_server",
        type="SIGKILL",
    ),
    rule(
        "shell-signal",
        Weight.CHILD_DEATH,
        ("core dumped", "Segmentation fault", "Aborted", "Bus error"),
        r"^(?:\S+: line \d+: +\d+ |srun: error: \S+: tasks? [\d,-]+: |\[\d+\][+-]? +)?"
        r"(?P<type>Segmentation fault|Aborted|Bus error)(?:\s*\(core dumped\))?(?:\s*$|\s+(?:python|sglang"
        r"|nohup|\S+/)\S*.*)",
        "Segmentation fault (core dumped)",
        "./run.sh: line 9:    41 Aborted                 (core dumped) python3 -m sglang.launch_server",
        "srun: error: node7: task 3: Segmentation fault",
        flags=0,
    ),
    rule(
        "shell-segfault-translated",
        Weight.CHILD_DEATH,
        ("段错误", "段錯誤", "Speicherzugriffsfehler"),
        r"^(?:\S+ .{0,40}\d+ )?(?:段错误|(?:程式)?記憶體區段錯誤|Speicherzugriffsfehler)(?:\s|[(（]|\Z)",
        "段错误 (核心已转储)",
        "./run.sh: 行 9:    41 段错误               (核心已转储) python3 -m sglang.launch_server",
        "Speicherzugriffsfehler (Speicherabzug geschrieben)",
        type="Segmentation fault",
    ),
    rule(
        "shell-abort-translated",
        Weight.CHILD_DEATH,
        ("已放弃", "已放棄", "Abgebrochen"),
        r"^(?:\S+ .{0,40}\d+ )?(?:已放[弃棄]|Abgebrochen)(?:\s|[(（]|\Z)",
        "已放弃 (核心已转储)",
        type="Aborted",
    ),
    rule(
        "unit-killed",
        Weight.KILL,
        "code=killed",
        r"code=killed, status=9",
        "sglang.service: Main process exited, code=killed, status=9/KILL",
        type="SIGKILL",
    ),
    rule(
        "out-of-host-memory",
        Weight.KILL,
        ("OOM killer", "oom-kill", "low on memory"),
        r"killed by the OOM killer|Failed with result 'oom-kill'"
        r"|killed due to the node running low on memory",
        "sglang.service: A process of this unit has been killed by the OOM killer.",
        "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
        type="SIGKILL",
    ),
    rule(
        "unit-failed",
        Weight.CONSEQUENCE,
        ("code=exited", "Failed with result", "code=dumped"),
        r"Main process exited, code=(?:exited|dumped)|Failed with result '(?:exit-code|core-dump|signal"
        r"|timeout)'",
        "sglang.service: Main process exited, code=exited, status=1/FAILURE",
        "sglang.service: Failed with result 'exit-code'.",
        type="systemd",
    ),
    rule(
        "srun-error",
        Weight.CONSEQUENCE,
        ("srun: error:", "srun: Job step", "srun: Force"),
        r"^srun: (?:error: \S+: tasks? [\d,-]+: (?:Exited with|Terminated)|Job step|Force)",
        "srun: error: node7: task 3: Exited with exit code 1",
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        type="srun",
    ),
    rule(
        "job-cancelled",
        Weight.STOP,
        (
            "CANCELLED AT",
            "DUE TO TIME LIMIT",
            "DUE TO PREEMPTION",
            "Stopping container",
            "SignalException",
            "failed liveness probe",
            "failed startup probe",
            "Stopping sglang",
        ),
        r"CANCELLED AT|DUE TO (?:TIME LIMIT|PREEMPTION)|^Stopping container"
        r"|SignalException: Process \d+ got signal: (?:15|2)|failed (?:liveness"
        r"|startup) probe, will be restarted"
        r"|^(?:systemd\[\d+\]: )?Stopping sglang\S*",
        "slurmstepd: error: *** STEP 7.0 ON node7 CANCELLED AT 2026-02-03T04:05:06 DUE TO TIME LIMIT ***",
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 44 got signal: 15",
        "Container sglang failed liveness probe, will be restarted",
        "Stopping sglang.service - demo server...",
        type="cancelled",
    ),
)
