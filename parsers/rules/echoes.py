"""Echoes: what processes say because something else already failed, and signs of killing and stopping.

None of these is the root error while anything else is there; some of them end a launch.
"""

from __future__ import annotations

from parsers.rules.endings import OUTSIDE_RULES
from parsers.rules.message_rule import MessageRule, Weight, rule

ECHO_RULES: tuple[MessageRule, ...] = (
    rule(
        "parent-sigquit",
        Weight.SIGQUIT,
        ("igquit from a child", "SIGQUIT received."),
        r"(?P<message>Received sigquit from a child proc\w*.*|SIGQUIT received\. .*)",
        "Received sigquit from a child process. It usually means the child failed.",
        "Received sigquit from a child proces. It usually means the child failed.",
        "SIGQUIT received. signum=None, frame=None. It usually means one child failed.",
        type="SIGQUIT",
    ),
    rule(
        "scheduler-dead",
        Weight.SIGQUIT,
        "scheduler is dead",
        r"Rank \d+ scheduler is dead(?!.{0,80}[Ee]xit code: -9\b)",
        "Rank 0 scheduler is dead. Please check if there are relevant logs.",
        type="dead scheduler",
    ),
    rule(
        "scheduler-died-killed",
        Weight.KILL,
        "died during initialization",
        r"[Ss]cheduler\w* died during initialization \(exit code: -9\)",
        "Rank 3 scheduler died during initialization (exit code: -9). If the exit code is -9, it may be "
        "memory.",
        type="exit code -9",
    ),
    rule(
        "scheduler-died",
        Weight.CHILD_DEATH,
        "died during initialization",
        r"[Ss]cheduler\w* died during initialization(?! \(exit code: -9\))",
        "Rank 1 scheduler died during initialization (exit code: -11). Look above.",
        type="dead scheduler",
    ),
    rule(
        "subprocess-stopped",
        Weight.CONSEQUENCE,
        "crashed with exit code",
        r"Subprocess \S+ \(pid=\d+\) crashed with exit code (?:-15|-2|0|143|130)\b",
        "Subprocess detokenizer (pid=71) crashed with exit code -15. Triggering SIGQUIT for cleanup...",
        type="exit code -15",
    ),
    rule(
        "subprocess-killed",
        Weight.KILL,
        "crashed with exit code",
        r"Subprocess \S+ \(pid=\d+\) crashed with exit code (?:-9|137)\b",
        "Subprocess scheduler_0 (pid=4243) crashed with exit code -9. Triggering SIGQUIT for cleanup...",
        type="exit code -9",
    ),
    rule(
        "subprocess-crashed",
        Weight.CHILD_DEATH,
        "crashed with exit code",
        r"Subprocess \S+ \(pid=\d+\) crashed with (?P<type>exit code (?!(?:-15|-2|0|143|130|-9|137)\b)-?\d+)",
        "Subprocess scheduler_3 (pid=88) crashed with exit code -11. Triggering SIGQUIT for cleanup...",
    ),
    rule(
        "child-killed",
        Weight.KILL,
        "Child process unexpectedly failed",
        r"Child process unexpectedly failed with (?:an exit code |exitcode=)(?:9|137|-9)\b",
        "Child process unexpectedly failed with an exit code 9. pid=4243",
        "Child process unexpectedly failed with exitcode=9. pid=4243",
        type="exit code 9",
        after_ready=Weight.CONSEQUENCE,
    ),
    rule(
        "child-stopped",
        Weight.CONSEQUENCE,
        "Child process unexpectedly failed",
        r"Child process unexpectedly failed with (?:an exit code |exitcode=)-?(?:2|15)\b",
        "Child process unexpectedly failed with an exit code 2. pid=4243",
        "Child process unexpectedly failed with exitcode=15. pid=4243",
        type="child stopped",
    ),
    rule(
        "child-failed",
        Weight.CONSEQUENCE,
        "Child process unexpectedly failed",
        r"Child process unexpectedly failed with (?:an exit code |exitcode=)(?!(?:9|137|-9|-?2|-?15)\b)-?\d+",
        "Child process unexpectedly failed with an exit code 256. pid=32885",
        type="child exit",
    ),
    rule(
        "exit-code-killed",
        Weight.KILL,
        ("xit code: -9", "exitcode: -9"),
        r"^(?:.{0,80}? )?[Ee]xit code: -9\b|\(exitcode: -9\)",
        "Exit code: -9",
        "Rank 0 scheduler is dead. Exit code: -9",
        "failed (exitcode: -9) local_rank: 0 (pid: 77) of binary: /usr/bin/python3",
        type="exit code -9",
    ),
    rule(
        "container-killed",
        Weight.KILL,
        ("exited with code 137", "exit code 137", "code: 137"),
        r"exited with code 137\b|exit code:? 137\b",
        "sglang-1 exited with code 137",
        "command terminated with exit code 137",
        type="exit code 137",
    ),
    rule(
        "exit-code-native",
        Weight.CHILD_DEATH,
        ("xit code: -", "exitcode: -"),
        r"^(?P<type>[Ee]xit code: -(?!9\b)\d+)|\(exitcode: -(?!9\b)\d+\)",
        "Exit code: -11",
        "failed (exitcode: -6) local_rank: 2 (pid: 77) of binary: /usr/bin/python3",
        type="exit code",
    ),
    rule(
        "exit-code",
        Weight.CONSEQUENCE,
        ("xit code: ", "exitcode: ", "exited with code", "exit code ", "terminated with "),
        r"^[Ee]xit code: \d+|\(exitcode: \d+\)|^(?!srun).*exited with code (?!137\b)\d+"
        r"|^(?!srun).*with exit code (?:1|2|143|134|139)\s*$"
        r"|^Scheduler or DataParallelController \d+ terminated with -?\d+",
        "Exit code: 1",
        "sglang-1 exited with code 1",
        "command terminated with exit code 1",
        "FATA[0295] exec failed with exit code 1",
        "Scheduler or DataParallelController 4243 terminated with 0",
        type="exit code",
    ),
    *OUTSIDE_RULES,
    rule(
        "sigterm",
        Weight.STOP,
        (
            "SIGTERM received",
            "Received SIGTERM",
            "received SIGTERM",
            "SIGINT",
            "signal 15",
            "Received signal 2",
        ),
        r"(?<!SIGQUIT )SIGTERM received|[Rr]eceived (?:signal )?SIG(?:TERM|INT)\b|[Rr]eceived signal (?:15"
        r"|2)\b|Signal SIG(?:TERM|INT) received",
        "SIGTERM received. signum=15 frame=None. Draining requests and shutting down...",
        "Signal SIGTERM received while health check failed. Force exiting.",
        "Received SIGTERM. Shutting down.",
        type="SIGTERM",
    ),
    rule(
        "initialization-failed-see-above",
        Weight.WRAPPER,
        ("Initialization failed", "nitialization failed", "see root cause above", "WorkerProc", "EngineCore"),
        r"Initialization failed\. Please see the error messages? above|[Ee]ngine core initialization failed"
        r"|WorkerProc (?:initialization failed|failed to start)|EngineCore failed to start",
        "RuntimeError: Initialization failed. Please see the error messages above.",
        "RuntimeError: Engine core initialization failed. See root cause above.",
        type="RuntimeError",
    ),
    rule(
        "init-state-ok",
        Weight.CONSEQUENCE,
        "init_state: init ok",
        r"Initialization failed\. \w+_init_state: init ok",
        "Initialization failed. detoken_init_state: init ok",
        type="init state",
    ),
    rule(
        "graph-capture-wrapper",
        Weight.WRAPPER,
        "raph failed",
        r"(?P<message>Capture (?:[\w-]+ ){0,4}graph failed\b.*)",
        "Exception: Capture cuda graph failed: no kernel image is available for execution on the device",
        "Exception: Capture prefill CUDA graph failed: CUDA out of memory",
        type="Exception",
    ),
    rule(
        "peer-closed",
        Weight.PEER,
        (
            "onnection closed by peer",
            "onnection reset by peer",
            "remote process exited",
            "ncclRemoteError",
            "roken pipe",
            "RemoteError",
            "Socket closed",
            "onnection was likely closed",
        ),
        r"(?:gloo|pair\.cc|c10d|TCPStore|socket\.cpp|TCPStore\.cpp|NCCL|nccl|HCCL|RCCL|ProcessGroup|store)"
        r".{0,400}?(?:onnection closed by peer|onnection reset by peer|remote process exited|RemoteError"
        r"|roken pipe"
        r"|Socket closed|onnection was likely closed)|ncclRemoteError",
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer "
        "[10.0.0.9]:2711",
        "RuntimeError: [/x/gloo/transport/tcp/pair.cc:535] Read error [10.0.0.4]:6858: Connection reset by "
        "peer",
        "torch.distributed.DistBackendError: NCCL error in: /x/NCCLUtils.hpp:268, remote process exited or "
        "there was a network error",
        type="peer closed",
    ),
    rule(
        "peer-not-loaded",
        Weight.PEER,
        ("could finish the model loading", "NOT connected to"),
        r"could finish the model loading, but|Rank \d+ is NOT connected to",
        "ValueError: TP rank 1 could finish the model loading, but there are other ranks that didn't "
        "finish loading.",
        "[Gloo] Rank 8 is NOT connected to: [1]",
        type="peer missing",
    ),
    rule(
        "store-timeout",
        Weight.PEER,
        (
            "wait timeout after",
            "Timeout waiting for key",
            "socket has timed out",
            "got error",
            "Timed out after",
            "timed out after",
            "Socket Timeout",
            "Timed out waiting",
            "DistStoreError",
        ),
        r"wait timeout after \d+ ?ms|Timeout waiting for key|client socket has timed out"
        r"|store->get\('[^']*'\) got error"
        r"|failed to connect to .{0,120}after \d+ ?ms|[Tt]imed out after \d+ (?:seconds"
        r"|ms) waiting for clients|Socket Timeout"
        r"|gloo.{0,200}Timed out waiting",
        "torch.distributed.DistStoreError: wait timeout after 600000ms, keys: /default_pg/0//cuda//1",
        "RuntimeError: The client socket has timed out after 600000ms while trying to connect to "
        "(10.0.0.5, 5000).",
        "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 clients "
        "joined.",
        type="store time-out",
    ),
    rule(
        "crash-diagnostics",
        Weight.CONSEQUENCE,
        ("crash", "py-spy", "yspy", "oredump", "kill_process_tree", "No live scheduler", "Dumping"),
        r"Dumping requests before crash|crash dump already performed|^Py-?spy (?:dump for|failed)"
        r"|[Pp]y-?spy\b|kill_process_tree called"
        r"|No live scheduler processes found|before crash diagnostics|CUDA coredump",
        "Dumping requests before crash. crash_dump_folder=None",
        "Pyspy failed to dump PID 4243. Error: /bin/sh: 1: py-spy: not found",
        "kill_process_tree called: parent_pid=1, include_parent=True, pid=1",
        "Sleeping 5 seconds before crash diagnostics to let GPU activity settle.",
        type="crash diagnostics",
    ),
    rule(
        "asyncio-teardown",
        Weight.CONSEQUENCE,
        (
            "was destroyed but it is pending",
            "vent loop is closed",
            "never retrieved",
            "never awaited",
            "CancelledError",
        ),
        r"Task was destroyed but it is pending|[Ee]vent loop is closed"
        r"|(?:Task|Future) exception was never retrieved"
        r"|^(?:asyncio\.exceptions\.)?CancelledError",
        "Task was destroyed but it is pending!",
        "Future exception was never retrieved",
        "RuntimeError: Event loop is closed",
        type="asyncio",
    ),
    rule(
        "container-restart",
        Weight.CONSEQUENCE,
        ("Back-off restarting", "CrashLoopBackOff"),
        r"Back-off restarting failed container|CrashLoopBackOff",
        "Warning  BackOff  kubelet  Back-off restarting failed container sglang in pod demo-0",
        type="container restart",
    ),
    rule(
        "harness-server-exited",
        Weight.CONSEQUENCE,
        (
            "erver process exited",
            "erver exited",
            "failed to start",
            "erver process terminated",
            "erver task ended",
            "died before",
        ),
        r"[Ss]erver (?:process )?(?:exited|terminated)(?: unexpectedly)? with (?:exit )?code"
        r"|[Ss]erver failed to start|SGLang server task ended|[Ss]erver (?:pid=\d+ )?died before",
        "Exception: Server process exited with code -9. Check server logs for errors.",
        "TimeoutError: Server failed to start within the timeout period.",
        "SGLang server task ended",
        "ERROR: server pid=4242 died before /health=200",
        type="harness",
    ),
)
