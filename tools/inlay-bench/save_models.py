# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Saves models of inlay_models as containers: save_models.py FOLDER MODEL... writes FOLDER/MODEL-host.inlay, which runs
on the host alone, and FOLDER/MODEL-vulkan.inlay, which runs on a device what that can."""

import pathlib
import sys

import inlay
import torch
from inlay_models import make


def main(folder: str, *names: str) -> None:
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for name in names:
        example = make(name)
        with torch.no_grad():
            exported = torch.export.export(example.model, example.args, example.kwargs, strict=False)
            for targets in (("host",), ("vulkan", "host")):
                inlay.compile(exported, targets=targets).save(f"{folder}/{name}-{targets[0]}.inlay")


if __name__ == "__main__":
    main(*sys.argv[1:])
