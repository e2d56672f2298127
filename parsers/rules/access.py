"""Access-log lines of the HTTP server."""

from __future__ import annotations

import functools

import regex

from parsers.lazy_dataclass import dataclass

PROBE_PATHS = frozenset(
    {
        "/health",
        "/health_generate",
        "/ping",
        "/get_model_info",
        "/model_info",
        "/get_server_info",
        "/server_info",
        "/v1/models",
        "/metrics",
        "/freeze_gc",
        "/flush_cache",
        "/favicon.ico",
        "/",
    }
)
"""Requests of probes, monitors and the warm-up itself: no evidence that the server does its work."""

SAMPLES = (
    ('10.0.0.5:40000 - "POST /generate HTTP/1.1" 200 OK', "POST", "/generate", 200),
    ('127.0.0.1:5 - "GET /v1/models?x=1 HTTP/1.1" 404 Not Found', "GET", "/v1/models", 404),
    (
        '[::1]:5 - "POST /v1/chat/completions HTTP/2" 500 Internal Server Error',
        "POST",
        "/v1/chat/completions",
        500,
    ),
)


@dataclass(frozen=True, slots=True)
class AccessLine:
    """One request as the access log shows it; the query string is left out."""

    method: str
    path: str
    status: int

    @property
    def is_work(self) -> bool:
        """A served request that is no probe."""
        return self.status < 400 and self.path not in PROBE_PATHS


def parse_access(body: str) -> AccessLine | None:
    """Read a record's body as an access line, or None when it is none."""
    if ' - "' not in body[:120] or "HTTP/" not in body:
        return None
    match = _pattern().match(body)
    if match is None:
        return None
    return AccessLine(match["method"], match["path"], int(match["status"]))


@functools.cache
def _pattern() -> regex.Pattern[str]:
    return regex.compile(
        r"(?P<client>[\w.:\[\]%-]{1,80}) - "
        r"\"(?P<method>[A-Z]{3,10}) (?P<path>[^\"? ]{1,2000})(?:\?[^\" ]{0,8000})? "
        r"HTTP/[\d.]{1,3}\" (?P<status>\d{3})(?: [A-Za-z' -]{0,40})?(?: \d+(?:\.\d+)?m?s)?\s*\Z"
    )
