# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Validate each kernel of a module with engines: `validate_kernels.py MODULE COMMAND...`.

COMMAND takes the name of a file with SPIR-V, like spirv-val. Prints the output of COMMAND and the number of kernels.
"""

import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    module, *command = sys.argv[1:]
    kernels = re.findall(r'plan\.kernel @\S+ spirv dense<"0x([0-9A-F]+)">', pathlib.Path(module).read_text())
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, words in enumerate(kernels):
            file = pathlib.Path(folder) / f"{number}.spv"
            file.write_bytes(bytes.fromhex(words))
            status |= subprocess.run([*command, str(file)], check=False).returncode
    print(f"{len(kernels)} kernels")
    sys.exit(status)


if __name__ == "__main__":
    main()
