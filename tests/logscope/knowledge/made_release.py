"""A made-up SGLang of a few files, so that the builder is tried on shapes whose answer is plain to see."""

from __future__ import annotations

from pathlib import Path

from logscope.knowledge.build.release import FileCache, ReleaseFacts, read_release
from logscope.knowledge.build.sources import read_tree

ARGUMENTS = """
import dataclasses
from typing import Optional

@dataclasses.dataclass
class ServerArgs:
    model_path: str
    page_size: int = 1
    draft_depth: Optional[int] = None
    kv_layout: str = "flat"
    tp_size: int = 1
    hook_list: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        if self.draft_depth is None:
            self.draft_depth = 4

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", "--model", type=str, required=True)
        parser.add_argument("--page-size", type=int, default=ServerArgs.page_size)
        parser.add_argument("--draft-depth", type=int)
        parser.add_argument("--kv-layout", choices=["flat", "paged"])
        parser.add_argument("--tensor-parallel-size", "--tp", type=int)
        parser.add_argument("--depth", action=DeprecatedAliasStoreAction, dest="draft_depth", new_flag="--draft-depth")

    @classmethod
    def from_cli_args(cls, args):
        args.tp_size = args.tensor_parallel_size
"""


def write_release(folder: Path, files: dict[str, str], version: str = "9.0.0") -> Path:
    """Writes an unpacked package; paths of `files` are below ``sglang/``."""
    held = {
        "srt/server_args.py": ARGUMENTS,
        "srt/__init__.py": "",
        "version.py": f'__version__ = "{version}"\n',
    }
    for path, text in {**held, **files}.items():
        place = folder / "sglang" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def read(folder: Path, files: dict[str, str], version: str = "9.0.0") -> ReleaseFacts:
    """Writes a release and reads it."""
    return read_release(read_tree(write_release(folder, files, version)), FileCache(None))
