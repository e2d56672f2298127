"""The version guess: exact only where a version is printed, else a range that holds the truth."""

from __future__ import annotations

from tests.parsers.reading import read

TIME = "[2026-02-03 04:05:06] "


def _guess(*lines: str) -> tuple[str, str | None, str | None]:
    version = read("\n".join(lines) + "\n").run.version
    return version.kind, version.first, version.last


def test_a_version_in_a_path_of_sglang_is_exact() -> None:
    lines = [
        "Traceback (most recent call last):",
        '  File "/opt/venvs/sglang-0.5.4.post3/lib/python3.11/site-packages/sglang/launch_server.py", line 3, in <module>',
        "ValueError: demo",
    ]

    version = read("\n".join(lines) + "\n").run.version

    assert (version.kind, version.version) == ("exact", "0.5.4.post3")
    assert "line 2" in version.reason


def test_the_version_of_a_sister_package_is_not_that_of_sglang() -> None:
    kind, _, _ = _guess(
        "Requirement already satisfied: sglang-router==0.3.2 in /usr/lib",
        "Requirement already satisfied: sgl-kernel==0.3.18 in /usr/lib",
        '  File "/opt/sglang-router-0.3.2/x.py", line 1, in f',
        TIME + "Load weight begin. avail mem=1.00 GB",
        TIME + "The server is fired up and ready to roll!",
    )

    assert kind == "unknown"


def test_a_wording_gives_a_range_with_its_neighbours() -> None:
    assert _guess(TIME + "Init torch distributed ends. elapsed=1.25 s, mem usage=0.25 GB") == (
        "range",
        "0.5.8.post1",
        "0.5.21",
    )


def test_a_range_is_open_where_nothing_bounds_it() -> None:
    assert _guess(TIME + "Init parallel begin.", TIME + "Init parallel ends. elapsed=1.25 s") == (
        "range",
        "0.5.20",
        None,
    )


def test_names_of_arguments_narrow_the_range() -> None:
    banner = TIME + "server_args=ServerArgs(model_path='/m/a', enable_flashinfer_mla=False, tp_size=1)"

    kind, first, last = _guess(banner)

    assert kind == "range"
    assert (first, last) == ("0.4.1.post7", "0.4.5.post3")


def test_unknown_arguments_of_a_fork_change_nothing() -> None:
    banner = TIME + "server_args=ServerArgs(model_path='/m/a', {}tp_size=1)"

    assert _guess(banner.format("")) == _guess(banner.format("our_own_flag=True, "))


def test_wordings_that_contradict_each_other_give_no_range() -> None:
    kind, first, last = _guess("[gpu_id=0] Init nccl begin.", TIME + "Init parallel begin.")

    assert (kind, first, last) == ("unknown", None, None)
