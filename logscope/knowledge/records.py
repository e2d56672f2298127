"""Facts about SGLang by release, and answers about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsers.lazy_dataclass import dataclass

if TYPE_CHECKING:  # only names of annotations: facts can be asked for without loading the parsers
    from parsers.records import Frame, Json


@dataclass(frozen=True, slots=True)
class ArgumentFact:
    """A server argument as one release declares it."""

    name: str
    default: str | None
    """repr of the declared default; ``<required>``, ``<factory>``, ``<computed>``; None = not declared."""
    type: str | None
    flags: tuple[str, ...]
    choices: tuple[str, ...]
    is_rewritten: bool
    """SGLang rewrites it at start (the printed value need not be what was passed)."""


@dataclass(frozen=True, slots=True)
class Period:
    """One value over a span of releases, both ends included."""

    first: str
    last: str | None
    """None: still so in the newest known release."""
    value: str | None


@dataclass(frozen=True, slots=True)
class Life:
    """The life of an argument or an environment variable over the releases."""

    name: str
    kind: str
    """``arg`` or ``env``."""
    first: str
    last: str | None
    defaults: tuple[Period, ...]
    renamed_to: str | None = None
    renamed_from: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """A variable or argument that decides whether a check fires."""

    name: str
    kind: str
    """``env`` or ``arg``."""
    good_default: str | None
    bad_default: str | None
    avoid: str | None
    """The value that avoids the failing branch, where the guard's polarity tells."""
    defaults: tuple[Period, ...] = ()


@dataclass(frozen=True, slots=True)
class ValidationFinding:
    """Is this check new between two releases, or why does it fire now."""

    finding: str
    """``new``, ``promoted``, ``demoted``, ``default-flipped``, ``guard-changed``, ``reworded``,
    ``unchanged``, ``foreign`` or ``unknown``."""
    confidence: str
    """``frame``, ``unique template``, ``shared template``, ``near miss`` or ``none``."""
    site: Frame | None
    """Path below ``sglang/``, line and function in the bad release."""
    gates: tuple[Gate, ...]
    introduced_in: str | None
    good_version: str
    bad_version: str
    explanation: str
    """One or two sentences a person can read."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AtlasRemedy:
    """A way out as the atlas knows it."""

    rank: int
    action: str
    kind: str
    """``durable``, ``quick``, ``workaround`` or ``last resort``."""
    assumes: str
    trade_off: str
    apply: str = ""
    """The flag, variable or key to type, with ``{name}`` marks; '' where the action holds it."""
    needs: tuple[str, ...] = ()
    """Conditions under which it is offered: ``!cpu``, ``carrier=k8s``, ``args.nnodes>1`` (docs/causes.md)."""


@dataclass(frozen=True, slots=True)
class AtlasRule:
    """One failure kind, echo or harmless look-alike."""

    id: str
    title: str
    category: str
    rule_class: str
    """``failure``, ``secondary`` or ``benign``."""
    stage: str
    severity: str
    match_kind: str
    exception_types: tuple[str, ...]
    tokens: tuple[str, ...]
    patterns: tuple[str, ...]
    not_patterns: tuple[str, ...]
    after: tuple[str, ...]
    before: tuple[str, ...]
    root_signal: str
    usually_changed: tuple[tuple[str, str], ...]
    """(kind, what)."""
    evidence_args: tuple[str, ...]
    evidence_config_keys: tuple[str, ...]
    remedies: tuple[AtlasRemedy, ...]
    more_specific_than: tuple[str, ...]
    samples: tuple[str, ...] = ()
    origin: str = "package"
    """``package`` or the path of the user's own rules file."""
    cause_kind: str = ""
    """What the failure itself points at when no difference explains it: ``host``, ``version``,
    ``other`` or ``config``; '' where the cause is looked for among the differences only."""
    cause_subject: str = ""
    """Subject of that cause; ``{name}`` stands for a named group of the pattern, or a run's fact."""
    cause_title: str = ""
    cause_frames: tuple[str, ...] = ()
    """Words of which one must stand in a traceback frame for the rule to hold; () asks for none."""
    cause_score: float = 0.5
    """How sure the failure alone makes that cause, 0 to 1."""


@dataclass(frozen=True, slots=True)
class ConfigRule:
    """Two values that must agree: target against draft, config against args."""

    id: str
    left: str
    """``draft.max_position_embeddings``, ``target.num_attention_heads``, ``args.tp_size`` ..."""
    relation: str
    """``==``, ``>=``, ``divisible-by``, ``in`` ..."""
    right: str
    reason: str
    since: str | None = None
    severity: str = "fatal"
    """``fatal`` or ``advice`` (some releases serve all the same)."""
    example: Json = None
    """``{wrong: SIDES, right: SIDES}``: values that break the rule and values that keep it; a test."""
    subject: str = ""
    """What a cause built on it is called; `left` where it is ''."""
    when: tuple[str, ...] = ()
    """Conditions that must all hold: ``args.x``, ``!draft.y``, ``args.x=A|B``, ``args.x>0``."""
    unless_env: str = ""
    """A variable that, when it is switched on, turns the contradiction into a warning."""
    text: str = ""
    """The sentence, with ``{left}`` and ``{right}``."""
    remedies: tuple[AtlasRemedy, ...] = ()
