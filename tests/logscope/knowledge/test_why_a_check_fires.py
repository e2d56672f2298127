"""The finding between two releases, on releases made so that there is one right answer."""

from __future__ import annotations

import pytest

from logscope import knowledge
from parsers.records import Frame
from tests.logscope.knowledge.conftest import Publish

SAYS = "this layout cannot hold the blocks of the draft"
RAISES = f'def f(server_args):\n    if server_args.page_size > 1:\n        raise ValueError("{SAYS}")\n'
WARNS = f'def f(server_args):\n    if server_args.page_size > 1:\n        logger.warning("{SAYS}")\n'
NOTHING = "def f(server_args):\n    pass\n"
MESSAGE = f"ValueError: {SAYS}"


def _gated(default: str) -> str:
    return (
        "def f(self):\n"
        f'    if get_bool_env_var("POOL_ALLOW_WIDE", "{default}"):\n        logger.warning("{SAYS}")\n'
        f'    else:\n        raise ValueError("{SAYS}, so it stops")\n'
    )


@pytest.mark.parametrize(
    ("good", "bad", "message", "finding"),
    [
        (NOTHING, RAISES, MESSAGE, "new"),
        (WARNS, RAISES, MESSAGE, "promoted"),
        (RAISES, WARNS, SAYS, "demoted"),
        (RAISES, RAISES.replace("> 1", "> 8"), MESSAGE, "guard-changed"),
        (RAISES.replace("cannot hold", "does not hold"), RAISES, MESSAGE, "reworded"),
        (RAISES, RAISES, MESSAGE, "unchanged"),
        (RAISES.replace(SAYS, "pages are no good here"), RAISES, MESSAGE, "reworded"),
        (RAISES, RAISES, "RuntimeError: CUDA error: an illegal memory access was encountered", "foreign"),
        (RAISES, RAISES, "ValueError: no", "unknown"),
    ],
)
def test_what_happened_to_a_check(publish: Publish, good: str, bad: str, message: str, finding: str) -> None:
    publish({"9.0.0": {"srt/pool.py": good}, "9.1.0": {"srt/pool.py": bad}})

    told = knowledge.validation("9.0.0", "9.1.0", message)

    assert told.finding == finding
    assert (told.site is None) == (finding in ("foreign", "unknown"))


def test_a_default_that_changed_is_named_with_both_values_and_the_way_out(publish: Publish) -> None:
    publish(
        {
            "9.0.0": {"srt/pool.py": _gated("true")},
            "9.1.0": {"srt/pool.py": _gated("true")},
            "9.2.0": {"srt/pool.py": _gated("false")},
        }
    )

    told = knowledge.validation("9.0.0", "9.2.0", f"{MESSAGE}, so it stops")

    assert told.finding == "default-flipped"
    (gate,) = told.gates
    assert (gate.name, gate.good_default, gate.bad_default, gate.avoid) == (
        "POOL_ALLOW_WIDE",
        "true",
        "false",
        "true",
    )
    assert [(span.value, span.first, span.last) for span in gate.defaults] == [
        ("true", "9.0.0", "9.1.0"),
        ("false", "9.2.0", None),
    ]
    assert told.introduced_in == "9.2.0"


def test_a_default_that_changes_nothing_by_itself_is_no_flip(publish: Publish) -> None:
    old = f'def f(self):\n    if float(os.getenv("POOL_SHARE", "0.0")) > 0:\n        raise ValueError("{SAYS}")\n'
    new = f'def f(self):\n    if float(os.getenv("POOL_SHARE", "1.0")) < 1:\n        raise ValueError("{SAYS}")\n'
    publish({"9.0.0": {"srt/pool.py": old}, "9.1.0": {"srt/pool.py": new}})

    told = knowledge.validation("9.0.0", "9.1.0", MESSAGE)

    assert told.finding == "guard-changed"
    assert any("POOL_SHARE" in note for note in told.notes)


def test_a_variable_that_the_good_release_sets_itself_counts(publish: Publish) -> None:
    held = _gated("false")
    publish(
        {
            "9.0.0": {"srt/pool.py": held, "srt/worker.py": 'os.environ["POOL_ALLOW_WIDE"] = "1"\n'},
            "9.1.0": {"srt/pool.py": held, "srt/worker.py": "x = 1\n"},
        }
    )

    told = knowledge.validation("9.0.0", "9.1.0", f"{MESSAGE}, so it stops")

    assert told.finding == "default-flipped"
    assert told.gates[0].good_default == "1"
    assert any("set to 1 by SGLang itself" in note for note in told.notes)


def test_a_check_is_new_since_the_first_release_that_has_it(publish: Publish) -> None:
    publish(
        {
            "9.0.0": {"srt/pool.py": NOTHING},
            "9.1.0": {"srt/pool.py": RAISES},
            "9.2.0": {"srt/pool.py": RAISES},
        }
    )

    assert knowledge.validation("9.0.0", "9.2.0", MESSAGE).introduced_in == "9.1.0"


def test_a_copy_in_a_new_file_does_not_make_the_check_new(publish: Publish) -> None:
    publish({"9.0.0": {"srt/a.py": RAISES}, "9.1.0": {"srt/a.py": RAISES, "srt/b.py": RAISES}})

    told = knowledge.validation("9.0.0", "9.1.0", MESSAGE)

    assert (told.finding, told.confidence) == ("unchanged", "shared template")


def test_a_check_that_moved_to_another_file_is_the_same(publish: Publish) -> None:
    publish({"9.0.0": {"srt/a.py": RAISES}, "9.1.0": {"srt/b.py": RAISES}})

    assert knowledge.validation("9.0.0", "9.1.0", MESSAGE).finding == "unchanged"


def test_copies_that_fared_differently_leave_it_open_without_a_frame(publish: Publish) -> None:
    edited = RAISES.replace("> 1", "> 8")
    publish(
        {
            "9.0.0": {"srt/a.py": RAISES, "srt/b.py": RAISES},
            "9.1.0": {"srt/a.py": RAISES, "srt/b.py": edited},
        }
    )

    assert knowledge.validation("9.0.0", "9.1.0", MESSAGE).finding == "unknown"
    frames = [Frame("/venv/site-packages/sglang/srt/b.py", 3, "f")]
    framed = knowledge.validation("9.0.0", "9.1.0", MESSAGE, frames)
    assert (framed.finding, framed.confidence) == ("guard-changed", "frame")


def test_a_check_without_words_is_found_by_its_frame(publish: Publish) -> None:
    bare = "def f(server_args):\n    assert server_args.page_size == 1\n"
    publish({"9.0.0": {"srt/pool.py": NOTHING}, "9.1.0": {"srt/pool.py": bare}})

    frames = [Frame("/x/sglang/srt/run.py", 9, "run"), Frame("/x/sglang/srt/pool.py", 2, "f")]
    told = knowledge.validation("9.0.0", "9.1.0", "AssertionError", frames, "AssertionError")

    assert (told.finding, told.confidence) == ("new", "frame")
    assert told.gates[0].name == "page_size"
    assert told.gates[0].avoid == "1"


def test_an_error_below_sglang_is_not_its_own(publish: Publish) -> None:
    publish({"9.0.0": {"srt/pool.py": RAISES}, "9.1.0": {"srt/pool.py": RAISES}})
    frames = [Frame("/x/sglang/srt/pool.py", 3, "f"), Frame("/x/torch/nn/linear.py", 7, "forward")]

    told = knowledge.validation("9.0.0", "9.1.0", "RuntimeError: shape mismatch between the tensors", frames)

    assert told.finding == "foreign"


def test_the_interpreters_own_words_are_not_matched_without_a_frame(publish: Publish) -> None:
    text = (
        "def __getattr__(self, name):\n    raise AttributeError(f\"'{name}' object has no attribute 'x'\")\n"
    )
    publish({"9.0.0": {"srt/pool.py": text}, "9.1.0": {"srt/pool.py": text}})

    told = knowledge.validation("9.0.0", "9.1.0", "AttributeError: 'NoneType' object has no attribute 'x'")

    assert told.finding == "foreign"


def test_a_message_that_is_cut_off_is_recognised(publish: Publish) -> None:
    text = (
        "def f(a, b):\n"
        '    raise ValueError(f"the draft asks for {a} blocks but its pool was made for {b} blocks only, "\n'
        '                     "so make the pool larger or the draft smaller")\n'
    )
    publish({"9.0.0": {"srt/pool.py": NOTHING}, "9.1.0": {"srt/pool.py": text}})

    told = knowledge.validation(
        "9.0.0", "9.1.0", "ValueError: the draft asks for 12 blocks but its pool was made for 7 bl"
    )

    assert told.finding == "new"
    assert any("cut off" in note for note in told.notes)


def test_a_release_between_known_ones_is_answered_by_the_lower_and_says_so(publish: Publish) -> None:
    publish({"9.0.0": {"srt/pool.py": NOTHING}, "9.1.0": {"srt/pool.py": RAISES}})

    told = knowledge.validation("9.0.5.post2", "9.1.0.post1", MESSAGE)

    assert told.finding == "new"
    assert [note for note in told.notes if "9.0.5.post2" in note and "9.0.0" in note]


@pytest.mark.parametrize(
    ("good", "bad"), [(None, "9.1.0"), ("9.0.0", None), ("0.0.1", "9.1.0"), ("x", "9.1.0")]
)
def test_an_unknown_release_leaves_it_open(publish: Publish, good: str | None, bad: str | None) -> None:
    publish({"9.0.0": {"srt/pool.py": RAISES}, "9.1.0": {"srt/pool.py": RAISES}})

    assert knowledge.validation(good, bad, MESSAGE).finding == "unknown"


def test_a_flag_that_is_gone_is_told_with_what_took_its_place(publish: Publish) -> None:
    from tests.logscope.knowledge.made_release import ARGUMENTS

    renamed = ARGUMENTS.replace("kv_layout", "pool_layout").replace("--kv-layout", "--pool-layout")
    publish({"9.0.0": {}, "9.1.0": {"srt/server_args.py": renamed}})

    told = knowledge.validation("9.0.0", "9.1.0", "run.py: error: unrecognized arguments: --kv-layout paged")

    assert told.finding == "guard-changed"
    assert told.introduced_in == "9.1.0"
    other = knowledge.validation("9.0.0", "9.1.0", "run.py: error: unrecognized arguments: --kvlayout paged")
    assert other.finding == "unchanged"


def test_a_choice_that_is_gone_is_a_changed_condition(publish: Publish) -> None:
    from tests.logscope.knowledge.made_release import ARGUMENTS

    fewer = ARGUMENTS.replace('choices=["flat", "paged"]', 'choices=["flat"]')
    publish({"9.0.0": {}, "9.1.0": {"srt/server_args.py": fewer}})

    said = "run.py: error: argument --kv-layout: invalid choice: 'paged' (choose from 'flat')"

    assert knowledge.validation("9.0.0", "9.1.0", said).finding == "guard-changed"


LONGER = "Warning: Target model's context_length (4096) is greater than the derived context_length (2048)."


def test_text_of_the_good_release_only_is_not_called_foreign() -> None:
    finding = knowledge.validation("0.5.1", "0.4.6", LONGER)

    assert finding.finding == "unknown"
    assert "a check of 0.5.1 has this text and none of 0.4.6 has it" in finding.explanation
    assert "swapped" in finding.explanation


@pytest.mark.parametrize(("good", "bad"), [("0.4.6", "0.5.1"), ("0.5.1", "0.4.6")])
def test_a_piece_of_a_text_is_too_short_to_tell(good: str, bad: str) -> None:
    finding = knowledge.validation(good, bad, "is greater than the derived context_length")

    assert finding.finding == "unknown"
    assert "too short" in finding.explanation and "give the whole message" in finding.explanation


def test_message_of_others_names_the_release_in_which_it_is_not() -> None:
    finding = knowledge.validation("0.4.6", "0.5.1", "CUDA out of memory. Tried to allocate 2.00 GiB")

    assert finding.finding == "foreign"
    assert "no check of 0.5.1 has this text" in finding.explanation


def test_message_without_its_class_is_judged_as_the_error() -> None:
    bare = knowledge.validation("0.4.6", "0.5.1", LONGER)
    told = knowledge.validation("0.4.6", "0.5.1", LONGER, (), "ValueError")

    assert bare.finding == told.finding == "default-flipped"
    assert any("without its class" in note for note in bare.notes)
