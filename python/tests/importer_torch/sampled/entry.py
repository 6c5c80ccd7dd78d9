# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An entry of the lists of sampled operators."""

from dataclasses import dataclass, field

import torch

# Relative and absolute tolerances, for results with one or two roundings.
TOLERANCES = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5, torch.float64: 1e-12}


@dataclass(frozen=True)
class Sampled:
    """An operator in the op_db of torch.testing.

    name, variant: its name ("add", "nn.functional.gelu") and its `variant_test_name`.
    tolerance: a factor of the usual tolerances.
    skip: predicates of a Sample by a sentence with the reason. Samples that satisfy one are not drawn, because the
        result of PyTorch is not determined or PyTorch can't export them.
    torch: predicates of samples that PyTorch may run.
    host: predicates of samples that the host may run although Vulkan is the first target.
    specials: add tensors with NaN, infinities, zeros of both signs and extreme integers (default: for pointwise
        operators).
    without: dtypes that are not drawn, besides those that the operator lacks.
    """

    name: str
    variant: str = ""
    tolerance: float = 1
    skip: dict = field(default_factory=dict)
    torch: dict = field(default_factory=dict)
    host: dict = field(default_factory=dict)
    specials: bool | None = None
    without: tuple = ()

    def __str__(self):
        return f"{self.name}.{self.variant}" if self.variant else self.name


def always(_):
    """Returns true: the reason holds for every sample."""
    return True


def dtype_in(*dtypes):
    """Returns the predicate of samples of these dtypes."""
    return lambda sample: sample.dtype in dtypes
