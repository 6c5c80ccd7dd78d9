# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The modules of torch.nn, with the inputs of PyTorch's own tests (torch.testing)."""

from __future__ import annotations

import functools
import sys
import types
import unittest
from typing import Any

import torch

from .model import SEED, Instance, Model


def list_modules() -> list[Model]:
    """Returns the modules of torch.nn that take positional arguments."""
    # torch.testing imports expecttest, but uses it only for its own test cases.
    stand_in: Any = types.ModuleType("expecttest")
    stand_in.TestCase = unittest.TestCase
    sys.modules.setdefault("expecttest", stand_in)
    from torch.testing._internal.common_modules import module_db

    return [
        Model(f"torch/{info.name}", functools.partial(_make, info))
        for info in module_db
        # The samples of FractionalMaxPool fail in PyTorch. Lazy modules have no weights before the first call.
        if not any(word in info.name for word in ("Fractional", "Lazy")) and _find(info)
    ]


def _find(info: Any) -> Any:
    """Returns the first sample of a module whose arguments are positional, or None."""
    torch.manual_seed(SEED)
    samples = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=False)
    return next((one for one in samples if one.forward_input is not None and not one.forward_input.kwargs), None)


def _make(info: Any) -> Instance:
    sample = _find(info)
    created = sample.constructor_input
    return Instance(info.module_cls(*created.args, **created.kwargs).eval(), tuple(sample.forward_input.args))
