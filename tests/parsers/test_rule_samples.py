"""Every rule table carries samples; they are run here, so that a new entry is a tested entry."""

from __future__ import annotations

import pytest
import regex

from parsers import secrets
from parsers.carrier_table import CARRIERS
from parsers.carriers import CarrierReader
from parsers.heads import HEADS, parse_head
from parsers.rules import access, batches, env, milestones, starts
from parsers.rules.banner import FORMS, banner_form, read_banner
from parsers.rules.milestone_table import MILESTONES
from parsers.rules.milestones import parse_milestone
from parsers.versions import SHAPES, VersionEvidence


@pytest.mark.parametrize(
    ("name", "line", "label", "carried"),
    [(one.name, *sample) for one in CARRIERS for sample in one.samples],
    ids=lambda value: str(value)[:40],
)
def test_a_carrier_is_taken_off_its_samples(name: str, line: str, label: str, carried: str) -> None:
    reader = CarrierReader(proven={("compose", "api-1")})

    step = reader.one_step(line)

    assert step is not None
    assert (step.names, step.label, step.text) == ((name,), label, carried)


@pytest.mark.parametrize(
    ("line", "rank", "level", "message"),
    [sample for rule in HEADS for sample in rule.samples],
    ids=lambda value: str(value)[:40],
)
def test_a_head_is_read_from_its_samples(line: str, rank: str, level: str | None, message: str) -> None:
    head = parse_head(line)

    assert head is not None
    assert (head.rank, head.level, line[head.end :]) == (rank, level, message)


@pytest.mark.parametrize(("body", "kind", "values"), batches.SAMPLES, ids=lambda value: str(value)[:40])
def test_a_batch_line_is_read_from_its_samples(body: str, kind: int, values: dict[str, float]) -> None:
    batch = batches.parse_batch(body)

    assert batch is not None
    assert batch.complete
    assert batch.kind == kind
    assert values.items() <= batch.values().items()
    assert [body[pair.start : pair.end].rstrip("%") for pair in batch.pairs if pair.value == 66.0] in (
        [],
        ["66.00"],
    )


@pytest.mark.parametrize(("body", "method", "path", "status"), access.SAMPLES)
def test_an_access_line_is_read_from_its_samples(body: str, method: str, path: str, status: int) -> None:
    assert access.parse_access(body) == access.AccessLine(method, path, status)


@pytest.mark.parametrize(
    ("name", "body", "values"),
    [(rule.name, *sample) for rule in MILESTONES for sample in rule.samples],
    ids=lambda value: str(value)[:40],
)
def test_a_milestone_is_read_from_its_samples(
    name: str, body: str, values: tuple[tuple[str, float | str], ...]
) -> None:
    hit = parse_milestone(body)

    assert hit is not None
    assert hit.name == name
    assert set(values) <= set(hit.values)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.id)
def test_a_banner_form_is_read_from_its_sample(form: object) -> None:
    one = next(known for known in FORMS if known is form)

    banner = read_banner(one.sample)

    assert banner is not None
    assert banner.complete
    assert [(argument.name, argument.value) for argument in banner.arguments] == list(one.expected)
    assert banner_form(one.sample) is one


@pytest.mark.parametrize(("line", "variables"), env.SAMPLES, ids=lambda value: str(value)[:40])
def test_variables_are_read_from_their_samples(line: str, variables: tuple[tuple[str, str], ...]) -> None:
    assert env.shown_variables(line) == variables


@pytest.mark.parametrize("line", env.NO_SAMPLES)
def test_a_mention_of_a_variable_is_no_setting(line: str) -> None:
    assert env.shown_variables(line) == ()


@pytest.mark.parametrize(
    ("line", "version"),
    [sample for shape in SHAPES for sample in shape.samples],
    ids=lambda value: str(value)[:40],
)
def test_a_printed_version_is_exact(line: str, version: str) -> None:
    evidence = VersionEvidence()

    evidence.see_text(line, 1)

    guess = evidence.guess((), False)
    assert (guess.kind, guess.version) == ("exact", version)


@pytest.mark.parametrize(("line", "secret"), secrets.SAMPLES, ids=lambda value: str(value)[:40])
def test_a_secret_is_masked_in_its_samples(line: str, secret: str) -> None:
    masker = secrets.Masker(b"salt")

    masked = masker.mask(line)

    assert secret not in masked
    assert "***" in masked
    assert masker.masked == 1
    assert secrets.may_hold_secret(line.encode())


@pytest.mark.parametrize("line", secrets.HARMLESS)
def test_nothing_is_masked_where_there_is_no_secret(line: str) -> None:
    masker = secrets.Masker(b"salt")

    assert masker.mask(line) == line
    assert masker.masked == 0


def test_no_sample_is_taken_by_another_kind_of_rule() -> None:
    bodies = {
        "batch": [sample[0] for sample in batches.SAMPLES],
        "access": [sample[0] for sample in access.SAMPLES],
        "milestone": [sample[0] for rule in MILESTONES for sample in rule.samples],
        "banner": [form.sample for form in FORMS],
    }

    for kind, texts in bodies.items():
        for body in texts:
            takers = {
                "batch": batches.parse_batch(body) is not None,
                "access": access.parse_access(body) is not None,
                "milestone": parse_milestone(body) is not None,
                "banner": banner_form(body) is not None,
            }
            assert [taker for taker, took in takers.items() if took] == [kind], body


@pytest.mark.parametrize(("line", "start"), starts.SAMPLES, ids=lambda value: str(value)[:40])
def test_a_line_that_begins_a_launch_is_known(line: str, start: starts.Start) -> None:
    assert starts.launch_start(line) is start


def test_the_documented_names_of_milestones_are_those_that_are_given() -> None:
    documented = set(regex.findall(r"``([a-z-]+)``", milestones.__doc__ or ""))

    given = {rule.name for rule in MILESTONES} | {"args", "load-progress", "graph-progress"}

    assert documented == given
