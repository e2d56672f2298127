"""The packed facts against an independent reading of some releases (the folder of LOGSCOPE_EVAL_DATA)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from logscope import knowledge
from logscope.knowledge import library

DATA = os.environ.get("LOGSCOPE_EVAL_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="LOGSCOPE_EVAL_DATA names no folder with another reading")


def _held(name: str) -> dict[str, Any]:
    held: dict[str, Any] = json.loads((Path(DATA or "") / name).read_text(encoding="utf-8"))
    return held


def _versions() -> list[str]:
    order: list[str] = _held("server_args.json")["_meta"]["versions"]
    return order


def _at(changes: list[list[Any]] | None, version: str, order: list[str]) -> Any:
    value = None
    for since, told in changes or ():
        if order.index(since) <= order.index(version):
            value = told
    return value


def _alive(fields: dict[str, Any], version: str, order: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in fields.items():
        first, last = field["first"], field["last"]
        ended = last is not None and order.index(last) < order.index(version)
        if (
            order.index(first) <= order.index(version)
            and not ended
            and version not in field.get("absent_in", ())
        ):
            yield name, field


def test_every_argument_has_the_same_default_and_flags() -> None:
    order = _versions()
    fields = _held("server_args.json")["fields"]

    wrong = []
    compared = 0
    for version in set(order) & set(knowledge.releases()):
        for name, field in _alive(fields, version, order):
            compared += 1
            fact = knowledge.argument_fact(name, version)
            flags = {
                _at(field.get("cli"), version, order),
                *(_at(field.get("aliases"), version, order) or ()),
            }
            default = _at(field["default"], version, order)
            if fact is None or fact.default != default or set(fact.flags) != flags - {None}:
                wrong.append((version, name, default, fact))

    assert compared > 5000
    assert len(wrong) <= compared // 1000, wrong[:20]


def test_no_release_has_many_arguments_that_the_other_reading_does_not_have() -> None:
    order = _versions()
    fields = _held("server_args.json")["fields"]

    for version in set(order) & set(knowledge.releases()):
        view = library.view(version)
        assert view is not None
        known = {name for name, _ in _alive(fields, version, order)}
        mine = {
            name
            for name, held in view.catalogue.arguments["fields"].items()
            if library.value_at(held["default"], view.index) is not None
        }
        assert len(mine - known) <= 3, (version, mine - known)


def test_the_servers_variables_are_known_with_their_defaults() -> None:
    order = _versions()
    variables = _held("env_vars.json")

    missing = []
    differing = []
    compared = 0
    for version in set(order) & set(knowledge.releases()):
        view = library.view(version)
        assert view is not None
        for name, field in _alive({n: f for n, f in variables.items() if "first" in f}, version, order):
            if "srt" not in field["areas"]:
                continue
            uses = library.value_at(view.catalogue.environment["uses"].get(name), view.index)
            compared += 1
            history = field.get("default_history")
            default = _at(history, version, order) if history else field["default"]
            if uses is None:
                missing.append((version, name))
            elif not {use[1] for use in uses} & set(default if isinstance(default, list) else [default]):
                differing.append((version, name, default, uses))

    assert compared > 5000
    assert len(missing) <= compared // 200, missing[:20]
    assert len(differing) <= compared // 100, differing[:20]
