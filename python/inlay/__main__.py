# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the versions of Inlay, LLVM and PyTorch, and the devices: `python -m inlay --version`."""

import argparse
import sys

import torch

from . import _inlay


def describe() -> str:
    """Returns a line with the versions and a line for each Vulkan device."""
    versions = f"inlay {_inlay.__version__}, LLVM {_inlay.llvm_version}, PyTorch {torch.__version__}"
    lines = [f"{versions}, Python {sys.version.split()[0]}"]
    devices = _inlay.devices()
    lines += [f"Vulkan device {number}: {device}" for number, device in enumerate(devices)]
    return "\n".join(lines if devices else [*lines, "no Vulkan device: compiled models run on the host"])


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        "python -m inlay", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--version", action="version", version=describe())
    parser.parse_args()
    parser.print_help()


if __name__ == "__main__":
    main()
