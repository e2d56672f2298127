"""Lines on which an exception is printed: ``package.ClassName: message``."""

from __future__ import annotations

from parsers.lazy_pattern import lazy_pattern

_EXCEPTION = lazy_pattern(
    r"^[*|`>\s]{0,8}(?P<type>(?:[A-Za-z_<][\w<>-]*+[./])*+[A-Za-z_][\w<>]*+(?:\([A-Za-z_][\w.]*+\))?)(?:: "
    r"?(?P<message>.*))?$"
)
_CLASS_NAME = lazy_pattern(
    r"(?:Error|Exception|Exit|Interrupt|Iteration|Timeout|Expired|Failed|Failure|Fault|Empty|Full|Abort"
    r"|Aborted|Group|Cancelled|Unavailable"
    r"|NotFound|Resources|Disconnected|Refused|Denied|Exceeded|Derived|Warning|Enabled|Unsupported"
    r"|Invalid\w*|Panic\w*|Stop\w*)$"
)
_BARE_NAME = lazy_pattern(r"[A-Za-z0-9](?:Error|Exception|NotFound)$|[a-z]Failed$|OutOfResources$")
_NO_CLASS = frozenset(
    {
        "INFO", "WARNING", "WARN", "ERROR", "DEBUG", "CRITICAL", "FATAL", "NOTE", "TRACE", "Warning", "Error",
        "Note", "None", "Killed", "Aborted", "Process", "Thread", "Terminated", "Failed",
    }
)  # fmt: skip
_KEYWORDS = frozenset(
    {
        "try", "else", "finally", "lambda", "except", "if", "for", "while", "with", "def", "class", "return",
        "raise", "yield", "await", "async", "import", "from", "pass", "del", "assert", "not", "elif", "match",
        "case",
    }
)  # fmt: skip


def read_exception(body: str, *, is_strict: bool, is_bare: bool = False) -> tuple[str, str] | None:
    """Class and message of an exception line, or None.

    Strict: the class must look like one. Bare: the line stands outside a traceback, so that only the
    usual endings of a class count."""
    match = _EXCEPTION.match(body)
    if match is None:
        return None
    name, message = match["type"], match["message"]
    last = name.rsplit(".", 1)[-1].rsplit("/", 1)[-1].split("(")[0]
    if name in _NO_CLASS or last in _KEYWORDS or name in _KEYWORDS:
        return None
    is_class_like = (_BARE_NAME if is_bare else _CLASS_NAME).search(last) is not None
    if not is_class_like and (is_strict or message is None):
        return None
    if not is_class_like and not ("." in name or last[:1].isupper()):
        return None
    return name, _clean(message or "")


def _clean(message: str) -> str:
    message = message.strip()
    return message[:-2].rstrip() if message.endswith("**") else message


def looks_like_class(name: str) -> bool:
    """True when a name ends as the names of exception classes do."""
    return _CLASS_NAME.search(name) is not None
