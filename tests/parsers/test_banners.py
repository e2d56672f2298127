"""Server arguments in all forms, and the text that only looks like them."""

from __future__ import annotations

import pytest

from parsers.rules.args import read_call
from parsers.rules.banner import OpenBanner
from tests.parsers.reading import Reading, read

TIME = "[2026-02-03 04:05:06] "


def _values(reading: Reading) -> dict[str, object]:
    return {one.name: one.value for one in reading.run.server_args}


def test_values_that_are_no_literals_stay_as_text_with_a_mark() -> None:
    banner = read_call(
        "a=<Mode.X: 'x, y'>, b=[Ref(id='1', ok=True), Ref(id='2', ok=False)], c=1e999, d={'k': (1, 2)})"
    )

    assert banner.complete
    assert [(one.name, one.value, one.is_literal) for one in banner.arguments] == [
        ("a", "<Mode.X: 'x, y'>", False),
        ("b", "[Ref(id='1', ok=True), Ref(id='2', ok=False)]", False),
        ("c", "1e999", False),
        ("d", {"k": [1, 2]}, True),
    ]


def test_quotes_and_brackets_inside_values_split_nothing() -> None:
    banner = read_call("""a='it''s', b="say \\"(\\" ]", c='\\\\', d={1, 2}, e=None)""")

    assert [one.value for one in banner.arguments] == ["its", 'say "(" ]', "\\", [1, 2], None]


def test_the_flat_list_of_an_old_release_is_read() -> None:
    text = "[gpu_id=0] server_args: disable_flashinfer=False, attention_reduce_in_fp32=False, enable_mla=True, \n"

    reading = read(text + "[gpu_id=0] Load weight begin. avail mem=70.50 GB\n")

    assert _values(reading) == {
        "disable_flashinfer": False,
        "attention_reduce_in_fp32": False,
        "enable_mla": True,
    }
    assert reading.run.ranks == ("gpu_id=0",)


def test_the_json_of_a_diffusion_server_is_read() -> None:
    text = (
        '[02-03 04:05:06] server_args: {"model_path": "/m/demo", "num_gpus": 2, "fast": true, "lora": null}\n'
    )

    reading = read(text)

    assert _values(reading) == {"model_path": "/m/demo", "num_gpus": 2, "fast": True, "lora": None}
    assert reading.run.started_at is None


def test_a_banner_with_level_and_file_in_its_head_is_read() -> None:
    reading = read(
        "[2026-02-03 04:05:06] INFO engine.py:123: server_args=ServerArgs(model_path='/m/demo', tp_size=1)\n"
    )

    assert reading.run.model_path == "/m/demo"


@pytest.mark.parametrize("width", [60, 80, 133])
def test_a_banner_wrapped_by_a_terminal_is_joined(width: int) -> None:
    text = TIME + (
        "server_args=ServerArgs(model_path='/models/a-rather-long-name-of-a-model', tokenizer_path='/models/x', "
        "tokenizer_mode='auto', trust_remote_code=True, mem_fraction_static=0.88, chunked_prefill_size=8192, "
        "dist_init_addr='10.0.0.5:5000', served_model_name='demo', lora_paths=['a=/m/a', 'b=/m/b'], node_rank=1)"
    )
    wrapped = "\n".join(text[start : start + width] for start in range(0, len(text), width))

    joined = read(wrapped + "\n" + TIME + "Load weight begin. avail mem=1.00 GB\n")

    assert _values(joined) == _values(read(text + "\n"))
    assert joined.run.server_args_complete


def test_a_cut_banner_does_not_swallow_the_next_line() -> None:
    lines = [
        TIME + "server_args=ServerArgs(model_path='/m/demo', tp_size=2, chat_templ",
        "WARNING: All log messages are written to STDERR",
        "Traceback (most recent call last):",
        '  File "/opt/sglang/srt/x.py", line 3, in f',
        "    g(a=1, b=2)",
        "ValueError: demo",
    ]

    run = read("\n".join(lines) + "\n").run

    assert {one.name: one.value for one in run.server_args} == {"model_path": "/m/demo", "tp_size": 2}
    assert not run.server_args_complete
    assert run.root_error is not None
    assert run.root_error.line == 6


@pytest.mark.parametrize(
    "text",
    [
        "    server_args=ServerArgs(model_path=model_path, tp_size=tp),",
        "server_args=ServerArgs(model_path=path, tokenizer_path=path, **kwargs)",
        "server_args=server_args, port_args=port_args)",
        "benchmark_args=Namespace(backend='sglang', host='127.0.0.1', port=30000)",
        "args=Namespace(model_path='/m/demo', tp_size=1)",
        TIME
        + "Receive: obj=GenerateReqInput(text=\"what is server_args=ServerArgs(model_path='/x', tp_size=1)?\")",
    ],
)
def test_text_that_only_looks_like_a_banner_is_none(text: str) -> None:
    reading = read(text + "\n" + TIME + "The server is fired up and ready to roll!\n")

    assert reading.run.server_args == ()
    assert reading.run.server_args_line is None


def test_an_open_banner_ends_with_its_bracket() -> None:
    opened = OpenBanner.begin("server_args={'model_path': '/m/demo', 'nested': {'a': ")

    assert opened is not None
    assert not opened.is_complete
    assert opened.extend("1}}")
    assert opened.is_complete


def test_a_secret_in_the_arguments_never_leaves_the_reader() -> None:
    reading = read(TIME + "server_args=ServerArgs(model_path='/m/demo', api_key='topsecret', tp_size=1)\n")

    value = _values(reading)["api_key"]
    assert isinstance(value, str)
    assert value.startswith("***")
    assert len(value) == 7
    assert reading.run.coverage.masked == 1
    assert "topsecret" not in repr(reading.log)


def test_the_mask_depends_on_secret_and_salt_only() -> None:
    text = TIME + "server_args=ServerArgs(model_path='/m/demo', api_key='{}', tp_size=1)\n"

    masks = [
        _values(read(text.format(secret), salt=salt))["api_key"]
        for secret, salt in (("aaa1", b"x"), ("aaa1", b"x"), ("aaa2", b"x"), ("aaa1", b"y"))
    ]

    assert masks[0] == masks[1]
    assert len(set(masks)) == 3
