"""What makes a text without any SGLang record likely to be of a launch, and what speaks against it."""

from __future__ import annotations

from parsers.lazy_dataclass import dataclass

MAX_PASTED = 400
"""Lines of a text that is taken for the cut rest of a launch although nothing of SGLang is named in it."""

NEAR = (
    "torch",
    "CUDA",
    "NCCL",
    "flashinfer",
    "triton",
    "transformers",
    "safetensors",
    "hipError",
    "HSA_STATUS_ERROR",
    "Memory access fault by GPU",
    "scheduler is dead",
    "scheduler died during initialization",
)
"""Words of the libraries beneath SGLang, and what a parent says of a rank; programs akin say that too."""
OTHER_ENGINES = (
    "vllm serve",
    "vllm/entrypoints",
    "vllm/v1/",
    "vllm_omni",
    "text_generation_",
    "tensorrt_llm",
    "lmdeploy",
    "lightllm",
    "llama_model_load",
)
"""Words of another engine's log: what it says of the libraries beneath is not of an SGLang launch."""
_OTHER_LABELS = ("EngineCore", "APIServer", "VllmWorker")
_CLIENTS = ("bench_serving", "bench_one_batch_server", "backend='sglang'", "sglang/lang/")
"""Words of programs that only send requests to a server."""
_SERVERS = ("launch_server", "/srt/", "sglang serve", "sglang::")


@dataclass(slots=True)
class Likeness:
    """What a text names, while nothing that only SGLang prints was seen in it."""

    names_sglang: bool = False
    """SGLang is named in a command, a path or an error."""
    is_near: bool = False
    """What SGLang stands on is named: an error in such a text can be the rest of a launch."""
    is_foreign: bool = False
    """Another engine is named."""
    is_client: bool = False
    """A program is named that only sends requests."""
    is_server: bool = False
    """Code or a command of a server is named."""
    has_command: bool = False
    """The command line that launches a server was seen."""

    def see(self, text: str) -> None:
        """Look at one line."""
        if "sglang" in text or "launch_server" in text:
            self.names_sglang = True
            self.is_client = self.is_client or any(word in text for word in _CLIENTS)
            self.is_server = self.is_server or any(word in text for word in _SERVERS)
        self.is_near = self.is_near or any(word in text for word in NEAR)
        self.is_foreign = self.is_foreign or any(word in text for word in OTHER_ENGINES)

    def degree(self, label: str, lines: int, has_errors: bool, has_own_times: bool) -> int:
        """How surely it is a launch: 2 likely, 1 the possible rest of one, 0 none."""
        if self.names_sglang and not (self.is_client and not self.is_server):
            return 2 if has_errors or has_own_times else 0
        is_other = self.is_foreign or self.is_client or label.startswith(_OTHER_LABELS)
        return int(self.is_near and has_errors and not is_other and lines <= MAX_PASTED)
