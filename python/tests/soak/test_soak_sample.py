# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A short run of the soak test. INLAY_FULL=1 runs all of it."""

import os
import pathlib
import subprocess
import sys

SOAK = pathlib.Path(__file__).with_name("soak.py")
FULL = os.environ.get("INLAY_FULL", "0") not in ("", "0")
SAMPLE = ["--calls=1000", "--sessions=100", "--loads=20", "--compiles=10"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SOAK, *arguments], capture_output=True, text=True, check=False)


def test_memory_files_and_threads_stay_flat() -> None:
    result = run("--targets=vulkan,host", *([] if FULL else SAMPLE))
    assert result.returncode == 0, result.stdout + result.stderr
    assert [line.split(":")[0] for line in result.stdout.splitlines() if line.endswith("flat")] == [
        "calls",
        "sessions",
        "loads",
        "compiles",
    ]
