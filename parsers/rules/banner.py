"""Where the server arguments stand in a log, in all forms that releases have printed.

A banner is a record whose message begins with it. The same text inside a traceback's source line, a chat
message or a benchmark client's ``Namespace(...)`` is none.
"""

from __future__ import annotations

from collections.abc import Callable

from parsers.lazy_dataclass import dataclass, replace
from parsers.lazy_pattern import lazy_pattern
from parsers.rules.args import Banner, read_call, read_dict, read_flat, read_json


@dataclass(frozen=True, slots=True)
class BannerForm:
    """One printed form: the text that the message begins with, and how what follows is read."""

    id: str
    begins: str
    read: Callable[[str, int], Banner]
    closing: str
    """The bracket that ends it; '' where it ends with its line."""
    since: str
    until: str
    sample: str
    expected: tuple[tuple[str, object], ...]


FORMS: tuple[BannerForm, ...] = (
    BannerForm(
        "call",
        "server_args=ServerArgs(",
        read_call,
        ")",
        "0.2.0",
        "0.5.18",
        "server_args=ServerArgs(model_path='/m/a, b', tp_size=2, lora_paths=['a=/x', 'b'], "
        "mode=<M.X: 'x'>, flag=None)",
        (
            ("model_path", "/m/a, b"),
            ("tp_size", 2),
            ("lora_paths", ["a=/x", "b"]),
            ("mode", "<M.X: 'x'>"),
            ("flag", None),
        ),
    ),
    BannerForm(
        "dict",
        "server_args={",
        read_dict,
        "}",
        "0.5.19",
        "",
        "server_args={'model_path': '/m/a', 'tp_size': 4, 'nested': {'a': (1, 2)}}",
        (("model_path", "/m/a"), ("tp_size", 4), ("nested", {"a": [1, 2]})),
    ),
    BannerForm(
        "json",
        "server_args: {",
        read_json,
        "}",
        "0.5.5.post3",
        "",
        'server_args: {"model_path": "/m/a", "flag": true, "none": null}',
        (("model_path", "/m/a"), ("flag", True), ("none", None)),
    ),
    BannerForm(
        "colon-call",
        "server_args: ServerArgs(",
        read_call,
        ")",
        "0.5.5.post3",
        "",
        "server_args: ServerArgs(model_path='/m/a', num_gpus=2)",
        (("model_path", "/m/a"), ("num_gpus", 2)),
    ),
    BannerForm(
        "bare-call",
        "ServerArgs(model_path=",
        lambda text, start: read_call(text, start - len("model_path=")),
        ")",
        "0.1.6",
        "",
        "ServerArgs(model_path='/m/a', tp_size=1)",
        (("model_path", "/m/a"), ("tp_size", 1)),
    ),
    BannerForm(
        "flat",
        "server_args: ",
        read_flat,
        "",
        "0.1.20",
        "0.1.20",
        "server_args: disable_flashinfer=False, attention_reduce_in_fp32=False, ",
        (("disable_flashinfer", False), ("attention_reduce_in_fp32", False)),
    ),
)

_DIFFUSION = frozenset({"json", "colon-call"})
"""Forms that only the diffusion server prints."""
_FLAT = lazy_pattern(r"server_args: (?:[a-z]\w{1,60}=[^,=]{1,80}, ){2}")
_PREFIX = lazy_pattern(r"\[[\w.-]{1,40}\] |launch_server: |(?:Launching|Starting)[\w ]{0,30} with ")


def banner_form(body: str) -> BannerForm | None:
    """The form that the message begins with, or None when it is no banner."""
    if "erver" not in body[:200]:
        return None
    for form in FORMS:
        if body.startswith(form.begins):
            if form.id == "flat" and not _FLAT.match(body):
                return None
            return form
    prefix = _PREFIX.match(body)
    return banner_form(body[prefix.end() :]) if prefix is not None else None


def read_banner(body: str) -> Banner | None:
    """Read a whole banner; None when the message is none or holds not one complete pair."""
    form = banner_form(body)
    if form is None:
        return None
    start = body.index(form.begins)
    banner = form.read(body, start + len(form.begins))
    if banner.complete and not banner.arguments:
        return None
    return replace(banner, is_diffusion=True) if form.id in _DIFFUSION else banner


MAX_WRAPS = 1000
"""Physical lines that a wrapped banner can have."""


class OpenBanner:
    """A banner whose end may still come: terminals and shippers break its line, also inside a word."""

    def __init__(self, form: BannerForm, text: str) -> None:
        self._parts = [text]
        self._form_id = form.id
        self.is_complete = not form.closing or self._ends()

    @staticmethod
    def begin(body: str) -> OpenBanner | None:
        """The banner that the message begins, or None when it begins none."""
        form = banner_form(body)
        if form is None:
            return None
        start = body.index(form.begins) + len(form.begins)
        if form.id != "flat" and body[start:].strip() and not _looks_like_pairs(body, start, form):
            return None
        return OpenBanner(form, body)

    @property
    def parts(self) -> int:
        """Physical lines that it has so far."""
        return len(self._parts)

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def extend(self, text: str) -> bool:
        """Take the next physical line when it goes on with the banner."""
        if len(self._parts) > MAX_WRAPS or not _goes_on(text):
            return False
        self._parts.append(text)
        self.is_complete = self._ends()
        return True

    def _ends(self) -> bool:
        closing = next(form.closing for form in FORMS if form.id == self._form_id)
        if closing not in self._parts[-1][-400:] and closing not in self._parts[-1]:
            return False
        banner = read_banner(self.text)
        return banner is not None and banner.complete


def _looks_like_pairs(body: str, start: int, form: BannerForm) -> bool:
    """Printed values, not source code: at least one of the first values is a literal."""
    banner = form.read(body[: start + 20_000], start)
    if banner.arguments:
        return any(argument.is_literal for argument in banner.arguments[:8])
    return not banner.complete and _FIRST_VALUE.match(body, start) is not None


_FIRST_VALUE = lazy_pattern(
    r"\s*['\"]?[a-z]\w{0,80}(?:['\"]?(?:=|: )(?:['\"\d\[{(-]|None|True|False|\Z)|['\"]?:?\Z)"
)
_FOREIGN = ("Traceback", "  File", "WARNING", "INFO", "ERROR", "usage:", "E0000", "W0", "During handling")
_CONTINUES = lazy_pattern(r"[a-z]\w{0,80}=|['\"]\w{1,80}['\"]: |[)}]\s*\Z|\A[\w'\"./-]{1,400}, ")


def _goes_on(text: str) -> bool:
    if text.startswith(_FOREIGN):
        return False
    return _CONTINUES.search(text[:20_000]) is not None
