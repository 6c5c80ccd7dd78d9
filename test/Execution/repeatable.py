# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check that a program computes the same bits in each run, on the host and on Vulkan.

In deterministic mode the results on the host must not depend on the number of threads either.

    repeatable.py FOLDER [--runs N] [--no-vulkan]
"""

import argparse
import os
import pathlib
import subprocess
import sys
import zipfile

# The model has sums that threads could share: a product, a convolution, a softmax and a reduction of all elements.
MODEL = """
func.func public @forward(%x: tensor<1x16x40x40xf32> loc("x"), %w: tensor<32x16x3x3xf32> loc("w"),
                          %v: tensor<1600x333xf32> loc("v")) -> (tensor<32x333xf32>, tensor<1xf32>) {
  %0 = inlay.conv %x, %w stride [1, 1] padding [1, 1] dilation [1, 1] groups 1
    : (tensor<1x16x40x40xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x40x40xf32>
  %1 = inlay.reshape %0 shape [32, 1600] : (tensor<1x32x40x40xf32>) -> tensor<32x1600xf32>
  %2 = inlay.softmax %1 dim -1 : (tensor<32x1600xf32>) -> tensor<32x1600xf32>
  %3 = inlay.matmul %2, %v : (tensor<32x1600xf32>, tensor<1600x333xf32>) -> tensor<32x333xf32>
  %4 = inlay.gelu %3 : (tensor<32x333xf32>) -> tensor<32x333xf32>
  %5 = inlay.reshape %0 shape [51200] : (tensor<1x32x40x40xf32>) -> tensor<51200xf32>
  %6 = inlay.sum %5 dims [0] keepdim : (tensor<51200xf32>) -> tensor<1xf32>
  return %4, %6 : tensor<32x333xf32>, tensor<1xf32>
}
"""


def run(folder, program, **variables):
    """Runs the program and returns the bytes of each result."""
    output = folder / "results.npz"
    command = ["inlay-run", str(folder / program), "--seed=1", f"--output={output}"]
    subprocess.run(command, env={**os.environ, **variables}, check=True)
    with zipfile.ZipFile(output) as archive:  # the archive itself differs between runs, since it holds times
        return tuple(archive.read(name) for name in sorted(archive.namelist()))


def count_different(results):
    return len(set(results)) - 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=100 if os.environ.get("INLAY_FULL") else 15)
    parser.add_argument("--no-vulkan", dest="vulkan", action="store_false")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "model.mlir").write_text(MODEL)
    wrong = 0
    for target in ["host", "vulkan"] if options.vulkan else ["host"]:
        program = f"{target}.inlay"
        where = ["--targets=vulkan", "--require-device"] if target == "vulkan" else ["--targets=host"]
        compiler = ["inlay-compile", str(options.folder / "model.mlir"), *where, "-o", str(options.folder / program)]
        subprocess.run(compiler, check=True)
        different = count_different([run(options.folder, program) for _ in range(options.runs)])
        print(f"{target}: {options.runs} runs, {different} differ", flush=True)
        wrong += different
    threads = range(1, 17)
    different = count_different(
        [run(options.folder, "host.inlay", INLAY_DETERMINISTIC="1", INLAY_NUM_THREADS=str(n)) for n in threads]
    )
    print(f"host on 1 to {max(threads)} threads: {different} differ")
    return 1 if wrong + different else 0


if __name__ == "__main__":
    sys.exit(main())
