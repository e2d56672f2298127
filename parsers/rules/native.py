"""Last words of what lies below Python: signals, asserts on the device, C++, HIP, NCCL, Rust, the kernel.

A native line shortly before a Python exception is the cause of that exception, so these rules name
candidates for the root error.
"""

from __future__ import annotations

from parsers.lazy_pattern import lazy_pattern
from parsers.rules.message_rule import MessageRule, Weight, rule

SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}
"""Signal numbers of Linux that end a process."""

NATIVE_RULES: tuple[MessageRule, ...] = (
    rule(
        "caught-signal",
        Weight.NATIVE,
        "Caught signal",
        r"(?P<message>Caught signal \d+ \([^)]{0,200}\)?)",
        "[node-x:77:0:99] Caught signal 11 (Segmentation fault: address not mapped to object at address 0x3)",
        " Caught signal 7 (Bus error: nonexistent physical address)   ==== backtrace (tid: 12) ====",
        type="signal",
    ),
    rule(
        "signal-received",
        Weight.NATIVE,
        ("*** SIG", "Segfault encountered"),
        r"\*\*\* (?P<type>SIG(?:SEGV|ABRT|BUS|FPE|ILL))\b.*|!!!!!!! Segfault encountered",
        "*** SIGSEGV (@0x0) received by PID 4242 (TID 0x7f) from PID 0; stack trace: ***",
        "!!!!!!! Segfault encountered !!!!!!!",
        type="SIGSEGV",
    ),
    rule(
        "worker-bus-error",
        Weight.NATIVE,
        "bus error encountered in worker",
        r"(?P<message>Unexpected bus error encountered in worker.*)",
        "ERROR: Unexpected bus error encountered in worker. This might be caused by too little memory.",
        type="SIGBUS",
    ),
    rule(
        "fatal-python-abort",
        Weight.DUMP,
        "Fatal Python error",
        r"(?P<message>Fatal Python error: Aborted)",
        "Fatal Python error: Aborted",
        type="Fatal Python error",
    ),
    rule(
        "fatal-python",
        Weight.NATIVE,
        "Fatal Python error",
        r"(?P<message>Fatal Python error: (?!Aborted).*)",
        "Fatal Python error: Segmentation fault",
        "Fatal Python error: Bus error",
        "Fatal Python error: none_dealloc: deallocating None: bug likely caused by a refcount error",
        type="Fatal Python error",
    ),
    rule(
        "device-assert",
        Weight.NATIVE,
        ("Assertion `", "Assertion failed"),
        r"(?<![\w./+-])(?P<message>[\w./+-]++(?<=\.(?:cuh?|hip|cc|cpp|c|h|hpp"
        r"|py)):\d++:.{0,400}?Assertion (?:`[^`']{0,300}['`] failed|failed).*)"
        r"|^(?P<message>\w{1,60}\(\): Assertion `[^`']{0,300}['`] failed.*)",
        "/x/native/cuda/Indexing.cu:1500: indexSelectSmallIndex: block: [32,0,0], thread: [63,0,0] "
        "Assertion `srcIndex < srcSelectDimSize` failed.",
        "/x/IndexKernel.hip:94: operator(): block: [0,0,0], thread: [1,0,0] Assertion `index out of "
        "bounds` failed.",
        "python3: /x/lower.cpp:77: run: Assertion `rank > 0' failed.",
        "operator(): Assertion `count != 0` failed.",
        type="CUDA assert",
    ),
    rule(
        "hip-fatal",
        Weight.NATIVE,
        (" us: ", "Memory access fault", "HSA_STATUS_ERROR", "HSA Exception", "hipError"),
        r":\d:[^\s:]{0,300}\.cpp *:\d+ *: \d+ us: +.*|Memory access fault by GPU.*"
        r"|^.{0,120}HSA_STATUS_ERROR\w*.*|HW Exception by GPU",
        ":0:/long/clr/hipamd/src/hip_global.cpp:117 : 6190051732 us:  Cannot find Symbol with name: "
        "_ZN7ck_tile",
        "Memory access fault by GPU node-1 (Agent handle: 0x9) on address 0x7f00. Reason: Page not present.",
        "Queue at 0x7f aborting with error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a "
        "hardware exception",
        type="HIP fatal",
    ),
    rule(
        "cuda-failed",
        Weight.NATIVE,
        (
            "Failed: Cuda error",
            "Failed: CUDA error",
            "Failed: HIP error",
            "Failed, NCCL error",
            "Cuda failure",
            "HIP failure",
            "CUDA failure",
            "Failed: hip error",
            "Failed: HIP",
        ),
        r"(?:^|[\]\s])(?P<message>(?P<type>Failed: (?:[Cc]uda|CUDA|HIP|hip) error|Failed, NCCL error"
        r"|(?:Cuda|CUDA|HIP) failure)\b.*)",
        "Failed: Cuda error /workspace/csrc/custom_all_reduce.cuh:364 'invalid argument'",
        "HIP failure: 'invalid device ordinal'",
        "Test CUDA failure demo.cu:66 'out of memory'",
    ),
    rule(
        "cuda-error-line",
        Weight.NATIVE,
        (
            "CUDA error",
            "CUDA Error",
            "HIP error",
            "HIP Error",
            "CUDA runtime error",
            "ROCm error",
            "NPU error",
        ),
        r"^(?:\[[^\]]{1,60}\] )?(?P<message>(?P<type>(?:CUDA|HIP|ROCm)(?: runtime)? [Ee]rror)(?:: | \("
        r"| at | in |, ).*)",
        "CUDA Error: no kernel image is available for execution on the device (209) /x/decode.cuh: line 77",
        "CUDA error (/x/demo.cu:88): an illegal memory access was encountered",
    ),
    rule(
        "nvshmem",
        Weight.NATIVE,
        ("non-zero status", "NULL value"),
        r"^(?P<message>\S{1,300}\.(?:cu|cpp|c|h):(?:\d+: ?)?.{0,200}(?:non-zero status|NULL value).*)",
        "/x/nvshmem/host/init/init.cu:810: non-zero status: 7 nvshmem bootstrap failed",
        type="NVSHMEM",
    ),
    rule(
        "curesult",
        Weight.NATIVE,
        ("CUresult error", "CUDA_ERROR_", "cudaError_t"),
        r"(?P<type>CUresult) error.*|^\[?[\w.]+\.cpp\]? .*\bCUDA_ERROR_\w+.*",
        "[torch_memory_saver.cpp] CUresult error: 2 (out of memory) file=csrc/utils.h func=cu_mem_create "
        "line=104",
        type="CUresult",
    ),
    rule(
        "nccl-watchdog-timeout",
        Weight.NATIVE,
        "Watchdog caught collective operation timeout",
        r"\[E[^\]]{0,120}\] *(?P<message>.{0,300}?Watchdog caught collective operation timeout.*)",
        "[rank1]:[E301 07:00:05.000000001 Demo.cpp:10] [PG ID 2 Rank 1] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=7)",
        "[E ProcessGroupNCCL.cpp:475] [Rank 3] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=91)",
        type="NCCL watchdog timeout",
    ),
    rule(
        "c10d-peer-dump",
        Weight.PEER,
        ("dump signal", "TCPStore.cpp", "Received a dump", "HeartbeatMonitor"),
        r"\[E[^\]]{0,120}\] .*(?:dump signal|HeartbeatMonitor)|\[E[^\]]{0,80}(?:TCPStore"
        r"|socket)\.cpp:\d+\] .*",
        "[rank2]:[E301 07:00:05.1 ProcessGroupNCCL.cpp:1552] [PG ID 0 Rank 2] Received a dump signal due "
        "to a collective timeout from rank 1",
        "[E301 07:00:05.1 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=80): failed to recv, "
        "got 0 bytes",
        type="peer closed",
    ),
    rule(
        "c10d-exception",
        Weight.NATIVE,
        "terminated with exception",
        r"\[[EF][^\]]{0,120}\] *(?P<message>.{0,300}?terminated with exception: (?P<type>CUDA error"
        r"|HIP error|NCCL error|NPU error|[\w:]+)?.*)",
        "[rank1]:[E129 08:52:51.6 ProcessGroupNCCL.cpp:1595] [PG ID 2 Rank 1] Process group watchdog "
        "thread terminated with exception: CUDA error: an illegal memory access was encountered",
        type="ProcessGroup watchdog",
    ),
    rule(
        "c10d-error",
        Weight.FORERUNNER,
        ("]:[E", "[E ", "[E1", "[E2", "[E3", "[E4", "[E5", "[E6", "[E7", "[E8", "[E9", "[E0"),
        r"(?:\[rank\d+\]:)?\[E(?:\d{3,4})? ?[^\]]{0,100}?(?P<type>(?!TCPStore"
        r"|socket)\b\w+)\.cpp:\d+\] *(?P<message>(?!.{0,300}(?:Watchdog caught|terminated with exception"
        r"|dump signal|HeartbeatMonitor)).+)",
        "[rank0]:[E301 07:00:05.1 ProcessGroupNCCL.cpp:629] [Rank 0] Some NCCL operations have failed or "
        "timed out.",
    ),
    rule(
        "cpp-terminate",
        Weight.NATIVE,
        "terminate called",
        r"(?P<message>terminate called after throwing an instance of '(?P<type>[^']{1,200})'.*)",
        "terminate called after throwing an instance of 'c10::DistBackendError'",
        "terminate called after throwing an instance of 'std::runtime_error'",
    ),
    rule(
        "cpp-terminate-bare",
        Weight.DUMP,
        "terminate called",
        r"(?P<message>terminate called (?:recursively|without an active exception).*)",
        "terminate called without an active exception",
        "terminate called recursively",
        type="C++ terminate",
    ),
    rule(
        "cpp-what",
        Weight.NATIVE,
        "what():",
        r"^\s*what\(\): +(?P<message>(?:.{0,200}?terminated with exception: )?(?P<type>CUDA error|HIP error"
        r"|NCCL error|NPU error)?.*)",
        "  what():  [PG ID 2 PG GUID 3 Rank 1] Process group watchdog thread terminated with exception: CUDA "
        "error: an illegal memory access was encountered",
        "  what():  Unable to open the demo file",
        type="C++ exception",
    ),
    rule(
        "heap-corruption",
        Weight.NATIVE,
        ("free()", "malloc()", "double free", "corrupted", "munmap_chunk()", "stack smashing"),
        r"^(?:\*\*\* )?(?P<message>free\(\): \w.*|malloc\(\): \w.*|double free or corruption.*"
        r"|corrupted (?:size vs|double-linked).*"
        r"|munmap_chunk\(\): .*|realloc\(\): .*|stack smashing detected.*)",
        "free(): invalid pointer",
        "double free or corruption (!prev)",
        "*** stack smashing detected ***: terminated",
        type="SIGABRT",
    ),
    rule(
        "glog-fatal",
        Weight.NATIVE,
        "F",
        r"^F(?:\d{4}|\d{8}) \d\d:\d\d:\d\d\.\d+ +\d+ (?P<type>[\w.-]+):\d+\] (?P<message>.+)",
        "F0203 04:05:06.123456  4242 transfer_engine.cpp:66] Check failed: ok ",
        "F20250203 04:05:06.123456 4242 store.cc:9] Check failed: fd > 0",
    ),
    rule(
        "glog-error",
        Weight.FORERUNNER,
        "E",
        r"^E(?:\d{4}|\d{8}) \d\d:\d\d:\d\d\.\d+ +\d+ (?P<type>[\w.-]+):\d+\] (?P<message>.+)",
        "E0203 04:05:06.123456  4242 rdma_context.cpp:130] Failed to register memory 0x7f: Bad address [14]",
        "E20250203 04:05:06.123456 4242 demo.h:9] no route",
    ),
    rule(
        "rust-panic",
        Weight.NATIVE,
        "panicked at",
        r"(?P<message>thread '[^']{0,120}' (?:\(\d+\) )?panicked at .+)",
        "thread '<unnamed>' panicked at src/tree.rs:88:14:",
        "thread 'tokio-runtime-worker' (77) panicked at 'index out of bounds', src/lib.rs:3:5",
        type="panic",
    ),
    rule(
        "nccl-notice",
        Weight.NOTICE,
        "CCL WARN",
        r"CCL WARN (?:.{0,60}No (?:plugin|device) found|Missing \"|NUMA auto balancing"
        r"|.{0,80}which can lead to|.*\b(?:is|are) not supported\b|.{0,40}Plugin\b)",
        'host-0:7:8 [0] NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system '
        "instability",
        "host-0:7:8 [0] NCCL WARN NET/IB : No device found.",
        type="NCCL WARN",
    ),
    rule(
        "nccl-peer",
        Weight.PEER,
        "CCL WARN",
        r"(?P<type>[NR]CCL WARN) (?P<message>.*(?:Connection closed by remote peer|[Cc]onnection refused"
        r"|Connection reset|Accept failed|remote process exited|peer .{0,40}closed).*)",
        "host-0:7:8 [0] misc/socket.cc:58 NCCL WARN socketProgress: Connection closed by remote peer "
        "host-1<4242>",
    ),
    rule(
        "nccl-warn",
        Weight.FORERUNNER,
        "CCL WARN",
        r"(?P<type>[NR]CCL WARN) (?P<message>(?!Missing \"|NUMA auto|.{0,60}No (?:plugin|device) found"
        r"|.{0,80}which can lead to|.*(?:is|are) not supported\b|.{0,40}Plugin\b"
        r"|.*(?:onnection closed by remote|onnection refused|onnection reset|Accept failed"
        r"|remote process exited)).+)",
        "host-0:100:1012 [1] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-Ab1 to "
        "9637892 bytes",
    ),
    rule(
        "hip-call-failed",
        Weight.NATIVE,
        ("fail to call", "[HIP error]", "HIP error at"),
        r"(?<![\w.-])(?P<message>(?P<type>[\w.-]++(?<=\.(?:h|hpp|cpp|hip|cu|cuh))):\d++ fail to call .*)",
        "[AITER] /x/aiter/csrc/include/demo_hip_common.h:45 fail to call hipModuleLoad(&module, path) ---> "
        "[HIP error](invalid image)",
    ),
    rule(
        "nvidia-xid",
        Weight.NATIVE,
        "NVRM: Xid",
        r"(?P<message>NVRM: Xid.*)",
        "[81234.5] NVRM: Xid (PCI:0000:4f:00): 79, pid=4242, GPU has fallen off the bus.",
        type="Xid",
    ),
    rule(
        "npu-error-code",
        Weight.LOGGED,
        ("ERR0", "AclNN_", "EZ9999", "EI0", "EE9999", "E39999"),
        r"\bERR\d{5}\b|\bAclNN_\w+\(E\w\d+\)|^(?:E[A-Z]\d{4}|E\d{5}): ",
        "[ERROR] 2026-06-09-03:35:23 (PID:9, Device:0, RankID:-1) ERR00100 PTA call acl api failed.",
        "EZ9999: Inner Error!",
        type="NPU error",
    ),
    rule(
        "memfabric-error",
        Weight.LOGGED,
        " error ",
        r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ error \d+ .{0,60}?\[(?P<type>\w+) [\w.-]+:\d+\] "
        r"(?P<message>.+)",
        "2026-01-02 03:04:05.425469 error 27260 pid[18] [AccLink link_default.h:504] Failed to send "
        "message as the link is broken",
    ),
)

_SIGNAL_NUMBER = lazy_pattern(r"Caught signal (\d+)")


def signal_name(message: str) -> str:
    """``SIGSEGV`` for 'Caught signal 11 (...)'."""
    match = _SIGNAL_NUMBER.search(message)
    number = int(match[1]) if match is not None and len(match[1]) < 4 else 0
    return SIGNALS.get(number, f"signal {number}")
