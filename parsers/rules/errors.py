"""Logged errors and warnings that are no exceptions, and what exception classes mean for a launch."""

from __future__ import annotations

from parsers.rules.message_rule import MessageRule, Weight, rule

ERROR_RULES: tuple[MessageRule, ...] = (
    rule(
        "bind-error",
        Weight.ERROR,
        ("attempting to bind", "ddress already in use", "EADDRINUSE"),
        r"(?P<message>\[Errno (?:98|48|99|13)\] .*bind on address.*"
        r"|(?:\[Errno 98\] )?error while attempting to bind.*"
        r"|^(?!.*Error: ).*\bEADDRINUSE\b.*|^\[Errno 98\] Address already in use.*)",
        "[Errno 98] error while attempting to bind on address ('0.0.0.0', 9100): address already in use",
        "[Errno 99] error while attempting to bind on address ('10.1.1.1', 9100): cannot assign requested "
        "address",
        type="OSError",
    ),
    rule(
        "usage-error",
        Weight.ERROR,
        ": error: ",
        r"^(?:[\w./-]+(?: [\w-]+){0,2}): error: (?P<message>(?:unrecognized arguments?|argument \S+"
        r"|the following arguments|ambiguous option"
        r"|one of the arguments|expected |invalid choice|too few arguments|not allowed|unknown (?:option"
        r"|flag|argument)).*)",
        "launch_server.py: error: unrecognized arguments: --demo_switch 3",
        "sglang serve: error: argument --dtype: invalid choice: 'float99' (choose from 'auto', 'half')",
        "launch_server.py: error: the following arguments are required: --model-path/--model",
        type="argparse",
    ),
    rule(
        "watchdog-soft",
        Weight.WARNING,
        "atchdog timeout",
        r"[Ww]atchdog timeout \(self\.watchdog_timeout=[^)]{0,60}self\.soft=True\)",
        "Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=True)",
        type="Watchdog timeout",
    ),
    rule(
        "watchdog",
        Weight.ERROR,
        "atchdog timeout",
        r"(?P<message>(?:\w+ )?[Ww]atchdog timeout \(self\.watchdog_timeout=(?![^)]{0,60}self\.soft=True)[^"
        r")]{0,80}\)?)",
        "Watchdog timeout (self.watchdog_timeout=300)",
        "Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)",
        type="Watchdog timeout",
    ),
    rule(
        "python-cannot-start",
        Weight.ERROR,
        ("No module named", "can't open file"),
        r"^\S*python[\w.]*: (?P<message>No module named (?:sglang|vllm)\S*.*|can't open file .*"
        r"|Error while finding module.*)",
        "/usr/bin/python3: No module named sglang.launch_server",
        "python3: can't open file '/x/run.py': [Errno 2] No such file or directory",
        type="ModuleNotFoundError",
    ),
    rule(
        "shell-cannot-start",
        Weight.ERROR,
        ("command not found", "response from daemon"),
        r"(?P<message>(?:sglang|python[\d.]*|torchrun): command not found"
        r"|docker: Error response from daemon: .*)",
        "bash: line 3: sglang: command not found",
        "docker: Error response from daemon: could not select device driver",
        type="shell",
    ),
    rule(
        "not-enough-memory",
        Weight.WRAPPER,
        ("Not enough memory. Please try", "out of memory. Try to lower", "memory leak detected"),
        r"^(?P<message>Not enough memory\. Please try.*|(?:Prefill|Decode) out of memory\. Try to lower.*"
        r"|.{0,60}memory leak detected.*)",
        "Prefill out of memory. Try to lower your batch size.",
        "token_to_kv_pool_allocator memory leak detected! available_size=1",
        type="RuntimeError",
    ),
    rule(
        "asgi-exception",
        Weight.HEADLINE,
        "Exception in ASGI application",
        r"Exception in ASGI application",
        "Exception in ASGI application",
        type="ASGI",
    ),
    rule(
        "request-error",
        Weight.HEADLINE,
        (
            "rror in request",
            "transfer failed for request",
            "bootstrap failed for request",
            "handshake failed for request",
            "Failed to parse JSON",
            "Invalid request",
            "KVTransferError",
        ),
        r"^(?:Error in request: (?P<message>.*)|.*(?:transfer|bootstrap"
        r"|handshake) failed for request.*?with exception (?P<type>\w+).*"
        r"|.*(?:transfer|bootstrap|handshake) failed for request.*)|^Invalid request",
        "Error in request: shape '[1, 8]' is invalid for input of size 7",
        "Decode transfer failed for request rank=0 rid='a1' with exception "
        "KVTransferError(bootstrap_room=77): peer gone",
        type="request",
    ),
    rule(
        "health-check-failed",
        Weight.LOGGED,
        "Health check failed",
        r"Health check failed\b",
        "Health check failed. Server couldn't get a response from detokenizer for last 20 seconds. tic "
        "start time: 04:05:06",
        type="health check",
    ),
    rule(
        "nan-in-sampling",
        Weight.LOGGED,
        "NaN in the",
        r"Detected errors during sampling! NaN in the \w+",
        "Detected errors during sampling! NaN in the logits.",
        type="NaN",
    ),
)

WORDED_RULES: tuple[MessageRule, ...] = (
    rule(
        "level-error",
        Weight.LOGGED,
        ("ERROR", "CRITICAL", "FATAL"),
        r"^\[?(?:ERROR|CRITICAL|FATAL)\b(?:\]|:|\s)\s*:?\s*(?P<message>.*)|- (?:ERROR|CRITICAL"
        r"|FATAL) -\s*(?P<message>.*)",
        "ERROR:    Application startup failed. Exiting.",
        "2026-02-03 04:05:06,789 - demo.core - ERROR - no more slots",
    ),
    rule(
        "worded-error",
        Weight.LOGGED,
        ("rror: ", "rror occurred", "Error ", "fatal: "),
        r"^(?:[\w.-]+: )?(?:fatal |[Ee]rror|Fatal)\b.{0,40}?: \S|[Ee]rror occurred|^[Ee]rror (?:while|when"
        r"|in|during|loading)\b",
        "error: resource(s) were provided, but no name was specified",
        "Error loading the demo plug-in: no such symbol",
    ),
    rule(
        "worded-warning",
        Weight.WARNING,
        (
            "arning",
            "WARN",
            "allback",
            "allback to",
            "alling back",
            "all back",
            "ot supported",
            "Fail",
            "fail",
            "annot",
            "Could not",
            "could not",
            "ot fully",
            "sub-optimal",
            "may lead",
            "might",
            "roll back",
            "nable to",
            "ot found",
            "nvalid",
            "gnor",
            "issing",
            "ot enough",
            "larger than",
            "rror",
        ),
        r"\b[Ww]arning\b|\bWARN(?:ING)?\b|[Ff]all(?:ing)? ?back|not supported|unsupported|\b[Ff]ail(?:ed"
        r"|ure)? to\b|\b[Ff]ailed\b|^[Cc]annot\b|\bcannot be\b"
        r"|\b[Cc]ould not\b|not fully|sub-optimal|\bmay lead to\b|\bmight (?:be|cause|lead)\b|roll back"
        r"|\b[Uu]nable to\b|\bnot found\b|^Invalid\b"
        r"|\bnot enough\b|\bUnexpected error\b|\bIgnoring\b",
        "sgl-kernel is not supported on current platform. Fallback to other kernel libraries.",
        "modelslim quantization is not fully optimized yet. The speed can be slower than non-quantized "
        "models.",
        "WARNING:  Invalid HTTP request received.",
        "Failed to get weights iterator: demo/wrong (repository not found).",
    ),
)
"""General words, asked only when no other rule took the line."""

CONSEQUENCE_TYPES = frozenset(
    {
        "EOFError", "BrokenPipeError", "CancelledError", "SystemExit", "GeneratorExit", "ProcessLookupError",
        "ChildFailedError", "BrokenProcessPool", "ProcessExitedException", "ConnectionAbortedError",
    }
)  # fmt: skip
"""Exception classes that say only that something else ended."""

STOP_TYPES = frozenset({"KeyboardInterrupt", "SignalException"})
"""Exception classes of a person or an orchestrator ending the launch."""

WRAPPER_TYPES = frozenset(
    {
        "CalledProcessError",
        "ExceptionGroup",
        "BaseExceptionGroup",
        "ProcessRaisedException",
        "RayTaskError",
        "RayActorError",
        "ActorDiedError",
    }
)
"""Exception classes that stand around a named error."""

PROBE_TYPES = frozenset(
    {
        "KeyError",
        "ImportError",
        "ModuleNotFoundError",
        "AttributeError",
        "StopIteration",
        "LookupError",
        "IndexError",
    }
)
"""Exception classes that code catches on purpose to say something clearer."""

HUB_TYPES = frozenset(
    {
        "HTTPError", "HTTPStatusError", "HfHubHTTPError", "RepositoryNotFoundError", "GatedRepoError",
        "EntryNotFoundError", "RemoteEntryNotFoundError", "RevisionNotFoundError", "HFValidationError",
    }
)  # fmt: skip
"""Exception classes of a model hub's answer, which loaders turn into words on the model."""

CONNECTION_TYPES = frozenset(
    {
        "ConnectionError", "ConnectionRefusedError", "ConnectionResetError", "NewConnectionError",
        "MaxRetryError", "ReadTimeout", "ConnectTimeout", "ReadTimeoutError", "ProtocolError",
        "RemoteDisconnected", "ConnectTimeoutError",
    }
)  # fmt: skip
"""Exception classes of a peer that gives no answer."""
