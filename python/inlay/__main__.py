# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m inlay --version`: the versions of what works together here, and the devices."""

import argparse
import sys

import torch

from . import _inlay


def describe() -> str:
    """A line for each version and device."""
    versions = f"inlay {_inlay.__version__}, LLVM {_inlay.llvm_version}, PyTorch {torch.__version__}"
    lines = [f"{versions}, Python {sys.version.split()[0]}"]
    devices = _inlay.devices()
    lines += [f"Vulkan device {number}: {device}" for number, device in enumerate(devices)]
    return "\n".join(lines if devices else [*lines, "no Vulkan device: all that Inlay compiles runs on the host"])


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m inlay", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--version", action="version", version=describe())
    parser.parse_args()
    parser.print_help()


if __name__ == "__main__":
    main()
