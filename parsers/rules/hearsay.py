"""Which rules tell of something that happened elsewhere: for readers of several logs of one launch."""

from __future__ import annotations

from parsers.rules.echoes import ECHO_RULES
from parsers.rules.message_rule import Weight
from parsers.rules.native import NATIVE_RULES

STOP_RULE_IDS = frozenset(("stop-exception", *(one.id for one in ECHO_RULES if one.weight is Weight.STOP)))
"""Rules of a server that was told to end."""

ECHO_RULE_IDS = STOP_RULE_IDS | {
    "consequence-class",
    "teardown-traceback",
    *(
        one.id
        for one in (*ECHO_RULES, *NATIVE_RULES)
        if one.weight in (Weight.PEER, Weight.CONSEQUENCE, Weight.SIGQUIT)
    ),
}
"""Rules of what only reports that another process went away or that something else ended."""
