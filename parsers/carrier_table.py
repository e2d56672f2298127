"""The carriers as data: what can stand in front of a line, and samples; see `parsers.carriers`."""

from __future__ import annotations

from parsers.lazy_dataclass import dataclass

_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?Z|[+-]\d\d:?\d\d)?"
BRACKET_TIME = r"\[(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d"
_LEVELS = r"(?:TRACE|DEBUG|INFO|NOTICE|DEFAULT|WARNING|WARN|ERROR|CRITICAL|FATAL|ALERT|EMERGENCY)"


@dataclass(frozen=True, slots=True)
class Carrier:
    """One way in which a line can be wrapped."""

    id: str
    name: str
    """The public name: docker, k8s, slurm, ray, journald, app-logger, gcp."""
    first: str
    """The characters that a wrapped line can begin with ('' = any); tested before the pattern."""
    literal: str
    """Text that must be in the line ('' = none); tested before the pattern."""
    pattern: str
    """Matched at the begin of the line; what it takes is the carrier's, the rest is carried text."""
    certain: bool
    """False: the shape is common elsewhere too, so it counts only when a line of this label in the same
    file carried an SGLang record."""
    samples: tuple[tuple[str, str, str], ...]
    """(line, label, carried text)."""
    proven_by: str = ""
    """Id of the carrier whose proven labels count for this one; '' = its own."""


TIME_ALONE = "time-alone"
"""Id of the carrier that is a time and nothing else. SGLang's own head can look the same, so that only the
lines inside of tracebacks can prove it."""
_DIGITS, _LOWER = "0123456789", "abcdefghijklmnopqrstuvwxyz"
_UPPER = _LOWER.upper()

CARRIERS: tuple[Carrier, ...] = (
    Carrier(
        "ray-actor",
        "ray",
        "(",
        "pid=",
        r"\((?P<label>[^()\n]{0,80}?pid=\d+)(?:, ip=[^)\s]{1,60})?\) ?",
        True,
        (
            (
                "(Engine pid=4101, ip=10.0.0.7) [2026-01-05 08:00:00 TP0] hello",
                "Engine pid=4101",
                "[2026-01-05 08:00:00 TP0] hello",
            ),
            (
                '(WorkerDict pid=616)   File "a.py", line 1, in f',
                "WorkerDict pid=616",
                '  File "a.py", line 1, in f',
            ),
        ),
    ),
    Carrier(
        "kubectl-prefix",
        "k8s",
        "[",
        "[pod/",
        rf"\[pod/(?P<label>[^\]\s]{{1,200}})\] ?(?:(?P<at>{_ISO}) ?)?",
        True,
        (("[pod/llm-0/server] [2026-01-05 08:00:00] hi", "llm-0/server", "[2026-01-05 08:00:00] hi"),),
    ),
    Carrier(
        "cri",
        "k8s",
        _DIGITS,
        " std",
        r"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)) std(?:out|err) "
        r"(?P<tag>[FP]) ?",
        True,
        (
            (
                "2026-02-03T04:05:06.123456789Z stderr F [2026-02-03 04:05:06] hi",
                "",
                "[2026-02-03 04:05:06] hi",
            ),
            ("2026-02-03T04:05:06.123456789+08:00 stdout P half", "", "half"),
        ),
    ),
    Carrier(
        "gcp-export",
        "gcp",
        _UPPER,
        "T",
        rf"(?P<level>{_LEVELS})[ \t]+(?P<at>\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{{1,9}})?Z)[ \t]?"
        r"(?:\[(?P<label>resource\.[^\]\n]{1,120})\][ \t]?)?",
        True,
        (("ERROR 2025-05-02T10:00:09.300000000Z ValueError: no", "", "ValueError: no"),),
    ),
    Carrier(
        "syslog-iso",
        "journald",
        _DIGITS,
        "]: ",
        r"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)) "
        r"[\w.-]{1,64} (?P<label>[\w.@/-]{1,64})\[\d+\]: ?",
        True,
        (("2026-02-03T04:05:06+0000 host1 llm[77]: hi", "llm", "hi"),),
    ),
    Carrier(
        "time-front",
        "k8s",
        _DIGITS,
        "T",
        r"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d))[ \t]"
        r"(?! {1,4}(?:INFO|WARN) |(?:ERROR|DEBUG|TRACE) \w{1,60}(?:::|\.))",
        True,
        (("2025-06-01T18:00:02.000000001Z Load weight begin.", "", "Load weight begin."),),
    ),
    Carrier(
        "time-front-empty",
        "k8s",
        _DIGITS,
        "T",
        r"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d))\Z",
        True,
        (("2025-06-01T18:00:02.000000001Z", "", ""),),
    ),
    Carrier(
        "shipper-bracket",
        "k8s",
        "[",
        "T",
        r"\[(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d))\](?: |\Z)"
        r"(?! {1,4}(?:INFO|WARN) |(?:ERROR|DEBUG|TRACE) \w{1,60}(?:::|\.))",
        True,
        (("[2026-02-03T04:05:06.123Z] [2026-02-03 04:05:06 TP0] hi", "", "[2026-02-03 04:05:06 TP0] hi"),),
    ),
    Carrier(
        "journal",
        "journald",
        _UPPER,
        ": ",
        r"(?P<at>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-3]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?) "
        r"(?![\w.]{1,60}(?:Error|Exception):)"
        r"(?:[\w.-]{1,64} (?=[\w.@/:-]{1,64}(?:\[\d+\])?: ))?(?P<label>[\w.@/:-]{1,64}?)(?:\[\d+\])?: ?",
        True,
        (
            (
                "Jun 01 18:00:03 demo-unit[77]: [2025-06-01 10:00:03] hi",
                "demo-unit",
                "[2025-06-01 10:00:03] hi",
            ),
            ("Jun  1 18:00:03 host1 sglang.service[77]: hi", "sglang.service", "hi"),
            ("Jun  1 18:00:03 host1 kernel: Out of memory", "kernel", "Out of memory"),
        ),
    ),
    Carrier(
        "logger-brackets",
        "app-logger",
        "[",
        "] [",
        rf"\[(?P<at>{_ISO})\] (?:\[[A-Za-z_][\w.:/-]{{0,120}}\] )?\[ ?(?P<level>{_LEVELS}) ?\]"
        r"(?: \[(?P<label>[A-Za-z][\w.-]{0,60}[_-]?\d{0,6})\](?= |\Z))? ?",
        True,
        (
            (
                "[2025-07-01 02:00:00] [bench.core] [INFO] [worker_0] [2025-07-01 02:00:00] hi",
                "worker_0",
                "[2025-07-01 02:00:00] hi",
            ),
            ("[2025-07-01 02:00:30] [bench.core] [WARNING] plain words", "", "plain words"),
        ),
    ),
    Carrier(
        "logger-dashes",
        "app-logger",
        _DIGITS,
        " - ",
        rf"(?P<at>{_ISO}) - (?:[\w.-]{{1,80}} - )?(?P<level>{_LEVELS}) - ?",
        False,
        (
            (
                "2025-06-01 18:00:02,000 - serve - INFO - [2025-06-01 10:00:02 TP1] hi",
                "",
                "[2025-06-01 10:00:02 TP1] hi",
            ),
        ),
    ),
    Carrier(
        "logger-streams",
        "app-logger",
        _DIGITS,
        " | std",
        rf"(?P<at>{_ISO}) \| {_LEVELS} *\| std(?:err|out) \| ?",
        True,
        (
            (
                '2025-06-01 18:00:02 | ERROR | stderr |   File "a.py", line 1, in f',
                "",
                '  File "a.py", line 1, in f',
            ),
            ("2025-06-01 18:00:02 | INFO | stdout | ", "", ""),
        ),
    ),
    Carrier(
        "logger-loguru",
        "app-logger",
        _DIGITS,
        " | ",
        rf"(?P<at>{_ISO}) \| (?P<level>{_LEVELS}) *\| (?:[\w.<>:-]{{1,120}} [-|] ?)?",
        False,
        (
            (
                "2025-06-01 18:00:02 | ERROR | stderr | [2025-06-01 10:00:02] hi",
                "",
                "[2025-06-01 10:00:02] hi",
            ),
            (
                "2025-06-01 18:00:02.123 | INFO     | app.run:go:12 - [2025-06-01 10:00:02] hi",
                "",
                "[2025-06-01 10:00:02] hi",
            ),
            (
                "2025-06-01 18:00:02 | WARNING | sglang.srt.utils | [2025-06-01 10:00:02] hi",
                "",
                "[2025-06-01 10:00:02] hi",
            ),
        ),
    ),
    Carrier(
        "logger-colon",
        "app-logger",
        _UPPER,
        ":",
        rf"(?P<level>{_LEVELS}):[\w.-]{{1,80}}:",
        False,
        (("INFO:serve.child:[2025-06-01 10:00:02] hi", "", "[2025-06-01 10:00:02] hi"),),
    ),
    Carrier(
        "second-time",
        "app-logger",
        "[" + _DIGITS,
        "[",
        rf"\[?(?P<at>{_ISO})\]?[ \t]{{1,4}}(?={BRACKET_TIME}|\([^()\n]{{0,80}}pid=\d)",
        True,
        (
            (
                "[2025-06-01 18:00:01] (Engine pid=41) [2025-06-01 10:00:01 TP0] hi",
                "",
                "(Engine pid=41) [2025-06-01 10:00:01 TP0] hi",
            ),
            ("[2025-06-01 18:00:01] [2025-06-01 10:00:01 TP0] hi", "", "[2025-06-01 10:00:01 TP0] hi"),
            ("2025-06-01 18:00:01 [2025-06-01 10:00:01 TP0] hi", "", "[2025-06-01 10:00:01 TP0] hi"),
        ),
    ),
    Carrier(
        TIME_ALONE,
        "app-logger",
        "[" + _DIGITS,
        ":",
        rf"(?:\[(?P<at>{_ISO})\]|(?P<at>{_ISO}))(?:[ \t]|\Z)",
        False,
        (),
    ),
    Carrier(
        "named-bracket",
        "app-logger",
        "[",
        "] ",
        r"\[(?!(?:DP|PP|TP|EP)\d{1,4}\] [^\[])(?P<label>[A-Za-z_][\w.-]{0,60})\](?: |\Z)",
        False,
        (
            ("[worker_1] [2025-06-01 10:00:01 TP0] hi", "worker_1", "[2025-06-01 10:00:01 TP0] hi"),
            ("[prefill] [2025-06-01 10:00:01 TP0] hi", "prefill", "[2025-06-01 10:00:01 TP0] hi"),
        ),
    ),
    Carrier(
        "mpi",
        "slurm",
        "[",
        "]<std",
        r"\[\d{1,4},(?P<label>\d{1,5})\]<std(?:out|err)>: ?",
        True,
        (("[1,3]<stderr>:[2025-06-01 10:00:01 TP0] hi", "3", "[2025-06-01 10:00:01 TP0] hi"),),
    ),
    Carrier(
        "process-manager",
        "app-logger",
        _DIGITS,
        "| ",
        r"(?:\d\d:\d\d:\d\d |\d{1,4}\|)(?P<label>[A-Za-z][\w.-]{0,60}) *\| ?",
        False,
        (
            ("10:00:01 web.1   | [2025-06-01 10:00:01 TP0] hi", "web.1", "[2025-06-01 10:00:01 TP0] hi"),
            ("0|llm  | [2025-06-01 10:00:01 TP0] hi", "llm", "[2025-06-01 10:00:01 TP0] hi"),
        ),
    ),
    Carrier(
        "pod-and-container",
        "k8s",
        _LOWER,
        "-",
        r"(?P<label>[a-z][a-z0-9.]*(?:-[a-z0-9.]+){1,12} [a-z][a-z0-9-]{0,60}) (?=.|\Z)",
        False,
        (
            (
                "llm-0-7c9f engine [2025-06-01 10:00:01 TP0] hi",
                "llm-0-7c9f engine",
                "[2025-06-01 10:00:01 TP0] hi",
            ),
        ),
    ),
    Carrier(
        "compose",
        "docker",
        _LOWER + _UPPER + _DIGITS,
        "|",
        r"(?P<label>[A-Za-z0-9][\w.-]{0,80}) *\| ?(?=.|\Z)",
        False,
        (
            ("api-1  | [2025-03-01 09:00:00] hi", "api-1", "[2025-03-01 09:00:00] hi"),
            ("api-1  | ", "api-1", ""),
        ),
    ),
    Carrier(
        "compose-exit",
        "docker",
        _LOWER + _UPPER + _DIGITS,
        " exited with code ",
        r"(?P<label>[A-Za-z0-9][\w.-]{0,80}) (?=exited with code \d{1,3}(?: \(\w+\))?\s*\Z)",
        False,
        (("api-1 exited with code 137", "api-1", "exited with code 137"),),
        "compose",
    ),
    Carrier(
        "slurm-label",
        "slurm",
        _DIGITS + " ",
        ": ",
        r" {0,4}(?P<label>\d{1,5}): ",
        False,
        (("12: [2025-03-01 09:00:00] hi", "12", "[2025-03-01 09:00:00] hi"),),
    ),
)
