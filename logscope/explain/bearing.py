"""Which differences between a failed run and the next good one can have fixed the failure.

Between two launches many things change that have nothing to do with why the first one failed. Where the
failure atlas knows the failure, it names what it hangs on; a busy port is never fixed by a model's argument.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from logscope.compare.noise import INERT_ARGUMENTS
from logscope.config import config_dir
from logscope.knowledge.atlas import AtlasMatch, atlas, match, user_rules_path
from logscope.knowledge.records import AtlasRule
from logscope.store.records import Seen
from parsers.lazy_dataclass import replace
from parsers.records import Run

_COARSE_KINDS = {"sglang": "version", "GPUs": "hardware", "host": "hardware", "model": "arg"}
"""Differences that are no argument, and the kind of change that an atlas rule calls them."""
_OWN_WORDS = ("message", "traceback")


def what_bears(seen: Seen, run: Run, matches: Sequence[AtlasMatch] | None = None) -> Seen:
    """`seen` with only those differences in `fixed_by` that can bear on why `run` failed.

    Of a failure that points at the machine, all others are left out, be it that none is left: `fixed_in` then
    tells when it went away by itself. `matches` are those of the run, the best first, where they are known.
    """
    if not seen.fixed_by:
        return seen
    if matches is None:
        matches = match(atlas(user_rules_path(config_dir())), run)
    telling = tuple(text for text in seen.fixed_by if _name(text) not in INERT_ARGUMENTS)
    hit = next((each for each in matches if each.where in _OWN_WORDS), None)
    if hit is None:
        return replace(seen, fixed_by=telling)
    touching = tuple(text for text in telling if touches(hit.rule, text))
    points_at_host = hit.rule.cause_kind == "host"
    return replace(seen, fixed_by=touching if touching or points_at_host else telling)


def touches(rule: AtlasRule, difference: str) -> bool:
    """True when the rule names what differs; `difference` is ``arg NAME: old -> new``, ``GPUs: ...``."""
    kind, name = _kind(difference), _name(difference)
    if name in _COARSE_KINDS and kind == "":
        return any(changed == _COARSE_KINDS[name] for changed, _ in rule.usually_changed)
    if kind == "config":
        return any(name.endswith(key) for key in rule.evidence_config_keys)
    return name in rule.evidence_args or any(_names(text, name) for text in _texts(rule))


def _texts(rule: AtlasRule) -> tuple[str, ...]:
    changed = (text for kind, text in rule.usually_changed if kind in ("arg", "env"))
    return (*changed, *(remedy.apply for remedy in rule.remedies))


def _names(text: str, name: str) -> bool:
    """True when the name, its flag, or a pattern such as ``NCCL_IB_*`` stands in the text."""
    words = re.findall(r"[\w*-]+", text)
    flag = "--" + name.replace("_", "-")
    return any(
        word in (name, flag) or (word.endswith("*") and len(word) > 3 and name.startswith(word[:-1]))
        for word in words
    )


def _kind(difference: str) -> str:
    first = difference.partition(" ")[0]
    return first if first in ("arg", "env", "config") else ""


def _name(difference: str) -> str:
    return difference.removeprefix(_kind(difference)).partition(":")[0].strip()
