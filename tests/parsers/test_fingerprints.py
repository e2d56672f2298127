"""A fingerprint stays the same under all that varies between ranks, runs and machines, and only then."""

from __future__ import annotations

from datetime import datetime
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.fingerprint import fingerprint, message_fingerprint, normalise

_number = st.integers(0, 10**9)
_small = st.integers(0, 99)
_name = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=12)
_time = st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2099, 1, 1))
_hex = st.text("0123456789abcdef", min_size=8, max_size=32).filter(
    lambda text: any(c.isdigit() for c in text) and any(c.isalpha() for c in text)
)


@given(_number, _number)
def test_numbers_do_not_count(one: int, other: int) -> None:
    text = "Tried to allocate {0} bytes of which {0} are free (torch.Size([{0}, 7])) and {0}x4"

    assert fingerprint(text.format(one)) == fingerprint(text.format(other))


@given(_small, _small)
def test_ranks_and_devices_do_not_count(one: int, other: int) -> None:
    text = "DP{0} TP{0} rank {0} on cuda:{0} [rank{0}] of layers.{0}.mlp lost its peer at GPU {0}"

    assert fingerprint(text.format(one)) == fingerprint(text.format(other))


@given(st.lists(_name, min_size=1, max_size=5), st.lists(_name, min_size=1, max_size=5))
def test_paths_do_not_count(one: list[str], other: list[str]) -> None:
    text = "cannot open '/{0}/demo.json' or /{0}: no such file in /{0}/x.py:{1}"

    left, right = (text.format("/".join(parts), len(parts)) for parts in (one, other))

    assert fingerprint(left) == fingerprint(right)


@given(_hex, _hex, st.integers(1024, 65535), st.integers(1024, 65535))
def test_ids_addresses_and_ports_do_not_count(one: str, other: str, port: int, other_port: int) -> None:
    text = "request {0} from 10.0.{1[0]}.7:{1} at 0x{0} to http://host-{1}.demo:{1}/v1?id={0} was lost"

    assert fingerprint(text.format(one, str(port))) == fingerprint(text.format(other, str(other_port)))


@given(_time, _time)
def test_times_do_not_count(one: datetime, other: datetime) -> None:
    text = "stopped at {:%Y-%m-%d %H:%M:%S} after waiting since {:%H:%M:%S.%f}"

    assert fingerprint(text.format(one, one)) == fingerprint(text.format(other, other))


@given(st.text(max_size=300))
def test_any_text_has_a_fingerprint_of_16_hex_digits(text: str) -> None:
    assert len(fingerprint(text)) == 16
    assert int(fingerprint(text), 16) >= 0


@given(st.text(max_size=300))
def test_white_space_and_colour_do_not_count(text: str) -> None:
    coloured = f"\x1b[31m {text} \x1b[0m"

    assert fingerprint(coloured) == fingerprint(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("expected fp8 weights", "expected fp4 weights"),
        ("sm_90 is not supported here", "sm_120 is not supported here"),
        ("No module named 'datasets'", "No module named 'tilelang'"),
        ("Connection closed by peer [10.0.0.9]:2711", "Connection reset by peer [10.0.0.9]:2711"),
        ("KeyError: 'mlp.scale'", "KeyError: 'mlp.bias'"),
    ],
)
def test_words_count(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)


def test_class_counts_only_where_the_message_says_little() -> None:
    assert message_fingerprint("AssertionError", "") != message_fingerprint("EOFError", "")
    assert message_fingerprint("KeyError", "'scale'") != message_fingerprint("AttributeError", "'scale'")
    assert message_fingerprint(
        "torch.OutOfMemoryError", "out of memory on this device"
    ) == message_fingerprint("torch.cuda.OutOfMemoryError", "out of memory on this device")


def test_masked_text_is_readable() -> None:
    text = "[../third_party/gloo/pair.cc:534] Connection closed by peer [203.0.113.15]:26496"

    assert normalise(text) == "[<path>] Connection closed by peer [<addr>]:<n>"


@pytest.mark.parametrize("number", ["7", "12", "90", "1050", "100000", "0"])
def test_a_fingerprint_does_not_depend_on_what_was_asked_before(number: str) -> None:
    texts = [
        f"tried {number}.00 MiB of 0x{number}f at rank{number}",
        f"fp8 kernel for sm_90 failed {number} times",
        f"sm{number} is no float{number}",
        f"{number}x1f3 and 0x{number}0 and 1x{number}0",
    ]

    for text in texts:
        asked = message_fingerprint("ValueError", text)

        said = normalise(text)
        said = said if said.count(" ") >= 3 else f"ValueError: {said}"
        assert asked == blake2b(said.encode(), digest_size=8).hexdigest()
