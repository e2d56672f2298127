"""Masks secrets in a line before anything else sees it.

The mask keeps a salted hash of four digits, so that a changed value is seen as changed.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from parsers.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    import regex

TRIGGERS: tuple[bytes, ...] = (
    b"api_key", b"api-key", b"API_KEY", b"API-KEY", b"apikey", b"APIKEY", b"hf_", b"TOKEN", b"hf_token",
    b"auth_token", b"auth-token", b"access_token", b"access-token", b"bearer_token", b"bearer-token",
    b"refresh_token", b"refresh-token", b"secret", b"SECRET", b"sk-", b"earer ", b"uthorization",
    b"UTHORIZATION", b"assword", b"PASSWORD", b"passwd", b"AKIA", b"ghp_", b"github_pat_", b"glpat-",
    b"xoxb-", b"ACCESS_KEY", b"access_key", b"Api-Key", b"API-Key", b"ApiKey", b"?token=", b"&token=",
    b"?key=", b"&key=", b"?sig=", b"&sig=", b"ignature=", b"Security-Token=",
)  # fmt: skip
"""A line without any of these, and without an address that names a user, holds no secret known here."""

SAMPLES: tuple[tuple[str, str], ...] = (
    ("ServerArgs(api_key='abc123', tp_size=1)", "abc123"),
    ("{'admin_api_key': 'adm-1', 'port': 1}", "adm-1"),
    ("export HF_TOKEN=hf_AbCdEfGhIjKlMnOpQrStUvWx", "hf_AbCdEfGhIjKlMnOpQrStUvWx"),
    ("--api-key topsecret1 --port 30000", "topsecret1"),
    ("token hf_AbCdEfGhIjKlMnOpQrStUvWx was rejected", "hf_AbCdEfGhIjKlMnOpQrStUvWx"),
    ("Authorization: Bearer eyJhbGciOi.abc.def", "eyJhbGciOi.abc.def"),
    ("headers={'Authorization': 'Basic dXNlcjpwYXNz'}", "dXNlcjpwYXNz"),
    ("pip install https://user:pa55word@host/simple", "pa55word"),
    ("key sk-proj-abcdefghijklmnop1234 used", "sk-proj-abcdefghijklmnop1234"),
    ("AWS_SECRET_ACCESS_KEY=abcd/EFGH+1234", "abcd/EFGH+1234"),
    ("postgres://user:p@ss@word9@db/x", "ss@word9"),
    ("headers: X-Api-Key: hdr-1234 refused", "hdr-1234"),
    ("GET https://host/v1?token=tok-999&x=1 failed", "tok-999"),
    ("GET https://host/m.bin?X-Amz-Date=1&X-Amz-Signature=9f8e7d6c HTTP/1.1", "9f8e7d6c"),
    ("blob https://store/m.bin?se=2026&sig=aB%2Bc%3D", "aB%2Bc%3D"),
    ("argv: ['python3', '--api-key', 'topsecret1', '--port', '30000']", "topsecret1"),
    ('args: ["--api-key=topsecret1"]', "topsecret1"),
)
"""(line, secret that must be gone); run by the tests."""

HARMLESS: tuple[str, ...] = (
    "ServerArgs(api_key=None, skip_tokenizer_init=False)",
    "#token: 700, token usage: 0.03",
    "{'api_key': None, 'admin_api_key': ''}",
    "Please set a HF_TOKEN to enable higher rate limits",
    "git clone git@github.com:a/b.git",
    "max_new_tokens=16, bos_token='<s>'",
    "GET http://127.0.0.1:30000/health?key=&x=1 by ops@host",
    "see https://host/page?design=3&tokens=5",
    "  --api-key API_KEY     Set API key of the server.",
    "python3 -m sglang.launch_server --api-key $API_KEY --port 30000",
    "HF_TOKEN=${HF_TOKEN}",
    "set HF_TOKEN=<token> first, then api_key=<your key>",
    "export OPENAI_API_KEY=...",
    "api_key: Optional[str] = None",
    "the password: optional, Bearer authentication",
)
"""Lines in which nothing may be masked."""
_PLACEHOLDER = lazy_pattern(
    r"\A(?:\$\{?[A-Z_][A-Z0-9_]*\}?|<.*|\.\.+|(?:[A-Z]+_)*(?:KEY|TOKEN|PASSWORD|SECRET)|Optional\[.*"
    r"|optional|required|missing|invalid|authentication|credentials)[,.;:]?\Z"
)
"""What stands in a usage text, a script or a declaration instead of a secret."""
_NAMES = (
    r"(?:(?i:api[_-]?key)|HF_TOKEN|hf_token|FACE_HUB_TOKEN|GITHUB_TOKEN"
    r"|(?:auth|access|bearer|secret|refresh)[_-]token"
    r"|(?:AUTH|ACCESS|BEARER|SECRET|API|WANDB|MODELSCOPE|CI_JOB)_TOKEN"
    r"|password|PASSWORD|passwd|(?:SECRET|secret)(?:[_-](?:ACCESS[_-]KEY|access[_-]key|KEY|key))?"
    r"|ACCESS_KEY(?:_ID)?|access_key)"
)
_VALUE = r"""['"]?(?P<secret>[^\s'",;&)\]}]{1,500})"""
_SECRET = lazy_pattern(
    rf"""{_NAMES}['"]?\s?[=:]\s?{_VALUE}"""
    rf"""|--(?:[a-z]{{1,20}}-){{0,4}}{_NAMES}(?:[= ]|['"], ?){_VALUE}"""
    r"""|(?:[Aa]uthorization|AUTHORIZATION)['"]?\s?[:=]\s?['"]?"""
    r"""(?:(?:Bearer|Basic|Token|bearer|basic) )?(?P<secret>[^\s'",)}]{3,4000})"""
    r"""|\b[Bb]earer (?P<secret>[A-Za-z0-9._~+/-]{8,4000}=*)"""
    r"""|://[^\s/:@'"]{0,100}:(?P<secret>[^\s/'"]{1,200})@"""
    r"""|[?&](?:[Tt]oken|key|sig|[Ss]ignature|X-Amz-S(?:ignature|ecurity-Token))=(?P<secret>[^\s'"&#)\]}>]{1,4000})"""
    r"""|(?<![A-Za-z0-9_])(?P<secret>hf_[A-Za-z0-9]{16,100}|sk-[A-Za-z0-9_-]{16,200}|ghp_[A-Za-z0-9]{20,80}"""
    r"""|github_pat_[A-Za-z0-9_]{20,120}|glpat-[\w-]{16,60}|xoxb-[\w-]{16,100}|AKIA[A-Z0-9]{16})"""
    r"""(?![A-Za-z0-9])"""
)


def may_hold_secret(raw: bytes) -> bool:
    """False when the line certainly holds no secret that is known here.

    Unrolled, and the frequent ``token`` is looked at twice: the test runs on every line.
    """
    if not (
        b"key" in raw
        or b"KEY" in raw
        or b"Key" in raw
        or b"oken" in raw
        or b"TOKEN" in raw
        or b"ecret" in raw
        or b"SECRET" in raw
        or b"assw" in raw
        or b"ASSW" in raw
        or b"uthori" in raw
        or b"UTHORI" in raw
        or b"earer" in raw
        or b"hf_" in raw
        or b"sk-" in raw
        or b"AKIA" in raw
        or b"gh" in raw
        or b"glpat" in raw
        or b"xoxb" in raw
    ):
        return (b"@" in raw or b"sig=" in raw or b"ignature=" in raw) and b"://" in raw
    return (b"@" in raw and b"://" in raw) or any(trigger in raw for trigger in TRIGGERS)


class Masker:
    """Masks with one salt and counts what it masked."""

    def __init__(self, salt: bytes = b"") -> None:
        self._salt = salt
        self.masked = 0

    def mask(self, text: str) -> str:
        """The text with each secret replaced by ``***`` and four digits of its salted hash."""
        return _SECRET.sub(self._replace, text)

    def mask_again(self, text: str, masked_before: str) -> str:
        """Mask a whole text whose begin was masked and counted already."""
        counted = self.masked
        masked = self.mask(text)
        self.masked = max(counted, self.masked - masked_before.count("***"))
        return masked

    def _replace(self, match: regex.Match[str]) -> str:
        secret = match["secret"]
        if secret.startswith("***") or secret in _NO_SECRETS or _PLACEHOLDER.match(secret):
            return match[0]
        self.masked += 1
        start = match.start("secret") - match.start()
        end = match.end("secret") - match.start()
        return f"{match[0][:start]}{self._mask_of(secret)}{match[0][end:]}"

    def _mask_of(self, secret: str) -> str:
        digest = hashlib.sha256(self._salt + secret.encode("utf-8", "surrogatepass")).hexdigest()
        return f"***{digest[:4]}"


_NO_SECRETS = frozenset(
    {"None", "null", "True", "False", "true", "false", "EMPTY", "str", "Optional", "your"}
)
