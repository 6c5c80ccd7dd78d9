# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an entry of the lists says."""

from dataclasses import dataclass, field

import torch

# Relative and absolute, for results of a rounding or two.
TOLERANCES = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5, torch.float64: 1e-12}


@dataclass(frozen=True)
class Sampled:
    """One operator of torch.testing's op_db.

    name: as there ("add", "nn.functional.gelu"); variant: its `variant_test_name`.
    tolerance: factor to the usual tolerances.
    skip: sentence -> whether it is about a sample (a function of `Sample`). Such a sample isn't drawn: PyTorch's own
        result isn't settled, or it can't be exported.
    torch: likewise, of samples that may be left to PyTorch.
    host: likewise, of samples that may run on the host where Vulkan goes first.
    specials: whether to add tensors with NaN, infinities, zeros of both signs and extreme integers; by default if the
        operator works element by element.
    without: dtypes that aren't drawn, beside those that the operator lacks.
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
    """For a sentence that is about every sample."""
    return True


def dtype_in(*dtypes):
    """For a sentence about samples of these dtypes."""
    return lambda sample: sample.dtype in dtypes
