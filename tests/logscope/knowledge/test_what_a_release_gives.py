"""What the builder reads out of a release, on sources written for it."""

from __future__ import annotations

from pathlib import Path

from logscope.knowledge.build.facts import Site
from logscope.knowledge.build.reads import shown
from logscope.knowledge.wording import fold, piece_hash
from tests.logscope.knowledge.made_release import read


def _sites(folder: Path, text: str, **more: str) -> list[Site]:
    return list(read(folder, {"srt/pool.py": text, **more}).files["srt/pool.py"])


def _pieces(text: str) -> tuple[int, int]:
    return len(fold(text)), piece_hash(fold(text))


def _said(site: Site) -> list[list[tuple[int, int]]]:
    return [[piece[:2] for piece in template.pieces] for template in site.templates]


def test_a_message_built_first_and_raised_later_has_its_words(tmp_path: Path) -> None:
    text = """
def check(wide, size):
    kind = "the draft" if wide else "the target"
    msg = f"Layout of {kind} needs {size} more blocks"
    if wide:
        logger.warning(msg)
    else:
        raise ValueError(f"{msg}, so it stops")
"""

    warned, raised = _sites(tmp_path, text)

    assert warned.kind == "warning"
    assert _said(warned)[0] == [_pieces("Layout of the draft needs"), _pieces("more blocks")]
    assert [_pieces("Layout of the target needs"), _pieces("more blocks, so it stops")] in _said(raised)


def test_a_guard_keeps_variables_arguments_and_their_polarity(tmp_path: Path) -> None:
    text = """
def check(server_args):
    if server_args.page_size > 1 and not (get_bool_env_var("POOL_ALLOW_WIDE", "true") or is_ci()):
        raise ValueError("this layout cannot be used")
"""

    (site,) = _sites(tmp_path, text)

    told = {(one.kind, one.name): (one.operator, one.value, one.is_enough, one.default) for one in site.atoms}
    assert told["arg", "page_size"] == (">", "1", True, "")
    assert told["env", "POOL_ALLOW_WIDE"] == ("false", "", True, "'true'")


def test_a_variable_read_into_a_name_still_guards(tmp_path: Path) -> None:
    text = """
STRICT = os.environ.get("POOL_STRICT", "0") == "1"

def check(pool):
    if STRICT:
        raise RuntimeError("a block was lost on the way")
"""

    (site,) = _sites(tmp_path, text)

    (atom,) = site.atoms
    assert (atom.name, atom.operator, atom.value, atom.default) == ("POOL_STRICT", "==", "'1'", "'0'")


def test_an_assertion_fires_when_its_condition_does_not_hold(tmp_path: Path) -> None:
    (site,) = _sites(
        tmp_path, 'def f(server_args):\n    assert server_args.kv_layout == "paged", "needs pages"\n'
    )

    (atom,) = site.atoms
    assert (site.kind, site.type) == ("assert", "AssertionError")
    assert (atom.operator, atom.value) == ("!=", "'paged'")


def test_the_way_of_reading_a_variable_does_not_change_a_guard(tmp_path: Path) -> None:
    old = 'def f(self):\n    if get_bool_env_var("POOL_STRICT"):\n        raise ValueError("lost a block")\n'
    new = 'def f(self):\n    if envs.POOL_STRICT.get():\n        raise ValueError("lost a block")\n'

    (before,), (after,) = _sites(tmp_path / "a", old), _sites(tmp_path / "b", new)

    assert before.guard == after.guard


def test_a_raise_that_cannot_leave_its_function_is_marked(tmp_path: Path) -> None:
    text = """
def inside():
    try:
        raise ValueError("caught in this very function")
    except ValueError as e:
        logger.warning(f"went on after {e} in the pool")

def outside():
    try:
        raise ValueError("goes up through the function")
    except ValueError:
        raise
"""

    flags = {site.function: site.flags for site in _sites(tmp_path, text) if site.kind == "raise"}

    assert flags == {"inside": "c", "outside": ""}


def test_the_call_of_a_raise_or_warn_helper_is_the_check(tmp_path: Path) -> None:
    helper = """
def complain_or_stop(pool, strict, text):
    if strict:
        raise ValueError(text)
    logger.warning(text)
"""
    text = """
def check(pool):
    complain_or_stop(pool, envs.POOL_STRICT.get(), f"{pool.name} lost blocks while idle")
"""

    sites = _sites(tmp_path, text, **{"srt/complain.py": helper})

    (site,) = [one for one in sites if "h" in one.flags]
    assert (site.kind, site.type, site.line) == ("raise", "ValueError", 3)
    assert "t" in site.flags
    assert [(one.name, one.operator) for one in site.atoms] == [("POOL_STRICT", "true")]


def test_a_check_past_an_early_return_says_so(tmp_path: Path) -> None:
    text = """
def check(server_args):
    if server_args.page_size == 1:
        return
    raise ValueError("pages are not possible here")
"""

    (site,) = _sites(tmp_path, text)

    assert "e" in site.flags
    (atom,) = site.atoms
    assert atom.is_early
    assert (atom.operator, atom.value) == ("!=", "1")


def test_a_tail_that_is_added_under_a_condition_is_not_needed(tmp_path: Path) -> None:
    text = """
def check(more):
    msg = "No room for the blocks."
    if more:
        msg += " Take a larger machine."
    raise RuntimeError(msg)
"""

    (site,) = _sites(tmp_path, text)

    assert [_pieces("No room for the blocks.")] in _said(site)
    assert [_pieces("No room for the blocks. Take a larger machine.")] in _said(site)


def test_arguments_have_default_flags_choices_and_what_rewrites_them(tmp_path: Path) -> None:
    release = read(tmp_path, {})

    declared = release.arguments.declared
    assert declared["model_path"].default == "<required>"
    assert declared["model_path"].flags == ("--model-path", "--model")
    assert declared["kv_layout"].choices == ("flat", "paged")
    assert declared["tp_size"].flags == ("--tensor-parallel-size", "--tp")
    assert declared["hook_list"].default == "[]"
    assert release.resolved == {"draft_depth": True}
    (retired,) = release.arguments.retired
    assert (retired.flag, retired.name, retired.points_to) == ("--depth", "draft_depth", "--draft-depth")


def test_arguments_in_annotated_fields_are_read_too(tmp_path: Path) -> None:
    spread = """
class Pool:
    _NS_PATH = "pool"
    spare_blocks: A[int, "How many."] = 3
    block_kind: A[Literal["a", "b"], Arg(help="Which.", aliases=["--kind"])] = "a"
    held_only: A[int, Arg(no_cli=True)] = 0
    computed_later: A[int, Derived("doc")]
"""

    declared = read(tmp_path, {"srt/arg_groups/fields/pool.py": spread}).arguments.declared

    assert declared["spare_blocks"].flags == ("--spare-blocks",)
    assert declared["block_kind"].flags == ("--block-kind", "--kind")
    assert declared["block_kind"].choices == ("a", "b")
    assert declared["held_only"].flags == ()
    assert "computed_later" not in declared


def test_variables_have_defaults_and_how_their_text_is_judged(tmp_path: Path) -> None:
    text = """
class Envs:
    POOL_CENTRAL = EnvBool(False)

a = os.environ.get("POOL_TEXT", "abc")
b = get_bool_env_var("POOL_FLAG", "true")
c = int(os.getenv("POOL_COUNT", "3"))
os.environ["POOL_SET"] = "1"
"""

    env = read(tmp_path, {"srt/environ.py": text}).env

    told = {name: [(use.action, use.default, use.kind) for use in uses] for name, uses in env.items()}
    assert told["POOL_CENTRAL"] == [("declared", "False", "EnvBool")]
    assert told["POOL_TEXT"] == [("read", "'abc'", "text")]
    assert told["POOL_FLAG"] == [("read", "'true'", "helper-bool")]
    assert told["POOL_COUNT"] == [("read", "'3'", "text")]
    assert told["POOL_SET"] == [("set", "'1'", "")]


def test_tests_and_benchmarks_of_a_package_are_not_read(tmp_path: Path) -> None:
    text = 'raise ValueError("never in a server")\n'

    release = read(
        tmp_path, {"test/one.py": text, "srt/layers/benchmark/two.py": text, "bench_serving.py": text}
    )

    assert release.files == {}


def test_a_file_that_does_not_parse_is_left_out(tmp_path: Path) -> None:
    release = read(
        tmp_path, {"srt/broken.py": "def f(:\n", "srt/whole.py": 'raise ValueError("said here once")\n'}
    )

    assert list(release.files) == ["srt/whole.py"]


def test_a_new_neighbouring_branch_does_not_change_a_condition(tmp_path: Path) -> None:
    old = """
def f(server_args, kind):
    if kind == "a":
        pass
    elif server_args.page_size > 1:
        raise ValueError("this kind has no pages")
"""
    new = old.replace("    elif server", '    elif kind == "b":\n        pass\n    elif server')

    (before,), (after,) = _sites(tmp_path / "a", old), _sites(tmp_path / "b", new)

    assert before.guard == after.guard
    assert [atom.name for atom in before.atoms] == ["page_size"]


def test_sets_are_shown_in_one_order_and_all_else_as_python_does() -> None:
    plain = [1, (), (1,), ("a", [2, {"k": None}]), {}, set(), "it's", 1.5, b"x", True]

    assert [shown(value) for value in plain] == [repr(value) for value in plain]
    assert shown([{"b", "a", "c"}]) == "[{'a', 'b', 'c'}]"
