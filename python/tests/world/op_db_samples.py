# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws samples of PyTorch's own operator database, and compares results with those of PyTorch.

for sample, wanted in draw("add", Sizes()): ...
"""

import contextlib
import dataclasses
import itertools
import random
import re
import sys
import types
import unittest.mock
from typing import Any

import inlay
import torch
from inlay._dialect.text import dtype_name, tensor_text
from torch import nn
from torch.utils import _pytree as pytree

# The lists of torch.testing import expecttest, but use it only for their own test cases.
if "expecttest" not in sys.modules:
    sys.modules["expecttest"] = types.ModuleType("expecttest")
    sys.modules["expecttest"].TestCase = unittest.TestCase
from torch.testing._internal import common_methods_invocations as invocations

# The targets of each route. A route "compile-..." calls torch.compile and also computes gradients.
TARGETS = {
    "host": ("host", "torch"),
    "vulkan": ("vulkan", "host", "torch"),
    "compile-host": ("host", "torch"),
    "compile-vulkan": ("vulkan", "host", "torch"),
}
DTYPES = (
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)
SEED = 42  # of op_db's own functions that draw random numbers

# Relative and absolute tolerances. Those of op_db are for one library on two devices.
_TOLERANCES = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 2e-5, torch.float64: 1e-7}

# Operators whose results PyTorch does not define. Only dims and dtypes are compared.
_UNDEFINED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}

# Operators that choose one of several equal elements, with the number of their argument `dim`. PyTorch does not define
# which one, so the elements at the indices are compared.
CHOICES = {"kthvalue": 2, "median": 1, "mode": 1, "nanmedian": 1, "topk": 2}


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Limits of what is drawn.

    samples: for each operator and dtype. elements: the most elements of all tensors of a sample. dtypes: the number of
    dtypes, chosen by the seed. targets: names in TARGETS.
    """

    samples: int = 4
    elements: int = 4000
    dtypes: int = len(DTYPES)
    seed: int = 0
    targets: tuple[str, ...] = ("host", "vulkan")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a sample on a target.

    kind: "right", "closer" (another result than PyTorch's, which is that of PyTorch in float64), "refused" (an
    inlay.Error that names a call), "unclear" (one that names none), "wrong" or "raised" (another exception). Under
    torch.compile the errors are the warnings about graphs that run in PyTorch, and "foreign" is a fault that PyTorch's
    own backend "aot_eager" has too.
    """

    op: str
    dtype: str
    target: str
    kind: str
    sample: str
    text: str = ""
    fallbacks: tuple[str, ...] = ()  # the calls that PyTorch ran


def kind_of(error):
    """Returns the kind of an Outcome of which an exception is the result."""
    if not isinstance(error, inlay.Error) or isinstance(error, inlay.errors.InternalError):
        return "raised"
    return kind_of_reason(str(error))


def kind_of_reason(text):
    """Returns the kind of an Outcome of which the text of an inlay.Error is the result."""
    return "refused" if re.search(r"aten[.:]|\bnode '|\binput '|while it ran \w", text) else "unclear"


def names():
    """Returns the names of all operators: "add", "linalg.norm.subgradients_at_zero"."""
    return list(_INFOS)


def _name(info):
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name


_INFOS = {_name(info): info for info in invocations.op_db}


# -- Drawing ----------------------------------------------------------------------------------------------------------


class Sample(nn.Module):
    """A call of an operator, as a module of its tensors."""

    def __init__(self, op, info, sample, dtype):
        super().__init__()
        self.op, self.dtype = op, dtype
        self._function = info.op
        self._leaves, self._spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))

    def tensors(self):
        """Returns the tensors among the arguments."""
        return [leaf for leaf in self._leaves if isinstance(leaf, torch.Tensor)]

    def forward(self, *tensors):
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self._leaves]
        args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        return self._function(*args, **kwargs)

    def chosen(self, index):
        """Returns the elements of the first argument at the indices that the operator returned."""
        args, kwargs = pytree.tree_unflatten(self._leaves, self._spec)
        place = CHOICES[self.op]
        dim = kwargs.get("dim", args[place] if len(args) > place else -1)
        if args[0].dim() and index.dim() < args[0].dim():
            return torch.gather(args[0], dim, index.unsqueeze(dim))
        return torch.gather(args[0], dim, index) if args[0].dim() else args[0]

    def results(self, exact=False):
        """Returns what PyTorch returns, or None if it raises an error. exact: True to compute in float64."""
        torch.manual_seed(SEED)
        given = [widened(tensor) if exact else tensor.clone() for tensor in self.tensors()]
        try:
            with torch.no_grad():
                return self(*given)
        except Exception:
            return None

    def outcome(self, target, kind, text="", fallbacks=()):
        """Returns the Outcome of this sample on a target."""
        return Outcome(self.op, dtype_name(self.dtype), target, kind, str(self), text, fallbacks)

    def __str__(self):
        def text(value):
            return tensor_text(value.dtype, value.shape) if isinstance(value, torch.Tensor) else value

        args, kwargs = pytree.tree_unflatten(map(text, self._leaves), self._spec)
        return f"{args} {kwargs}" if kwargs else str(args)


def widened(tensor):
    """Returns a copy of a tensor in float64, or in its own dtype if that is no floating-point type."""
    return tensor.double() if tensor.is_floating_point() else tensor.clone()


class Batch(nn.Module):
    """Samples that are compiled together."""

    def __init__(self, samples):
        super().__init__()
        self._samples = nn.ModuleList(samples)
        self._counts = [len(sample.tensors()) for sample in samples]

    def forward(self, *tensors):
        given = iter(tensors)
        return [
            sample(*itertools.islice(given, count)) for sample, count in zip(self._samples, self._counts, strict=True)
        ]


def draw(name, sizes):
    """Yields (Sample, result of PyTorch) for an operator."""
    info, chooser = _INFOS[name], random.Random(f"{name} {sizes.seed}")
    dtypes = [dtype for dtype in DTYPES if dtype in info.supported_dtypes("cpu")]
    if len(dtypes) > sizes.dtypes:
        dtypes = chooser.sample(dtypes, sizes.dtypes)
    for dtype in dtypes:
        torch.manual_seed(sizes.seed)
        found = [Sample(name, info, sample, dtype) for sample in itertools.islice(_inputs(info, dtype), 200)]
        found = [sample for sample in found if _is_small(sample, sizes.elements)]
        chooser.shuffle(found)
        drawn = ((sample, sample.results()) for sample in found)
        yield from itertools.islice(((sample, wanted) for sample, wanted in drawn if wanted is not None), sizes.samples)


def _inputs(info, dtype):
    """Yields the samples that op_db has for a dtype. Drawing fails for some dtypes in op_db itself."""
    with contextlib.suppress(RuntimeError, ValueError, TypeError):
        yield from info.sample_inputs("cpu", dtype, requires_grad=False)


def _is_small(sample, elements):
    tensors = sample.tensors()
    strided = all(tensor.layout == torch.strided and not tensor.is_nested for tensor in tensors)
    return strided and sum(tensor.numel() for tensor in tensors) <= elements


def draws_random_numbers(samples):
    """Returns true if a sample draws random numbers or sets a seed."""
    for sample in samples:
        before = torch.get_rng_state()
        with unittest.mock.patch("torch.manual_seed", wraps=torch.manual_seed) as seeded, torch.no_grad():
            sample(*[tensor.clone() for tensor in sample.tensors()])
        if seeded.called or not torch.equal(before, torch.get_rng_state()):
            return True
    return False


# -- Comparison -------------------------------------------------------------------------------------------------------


def is_exact(sample, got):
    """Returns true if 16-bit results are those of float64. PyTorch computes some operators in the 16-bit type."""
    if sample.dtype not in (torch.float16, torch.bfloat16) or (exact := sample.results(exact=True)) is None:
        return False
    pairs = zip(pytree.tree_leaves(got), pytree.tree_leaves(exact), strict=True)
    rounded = [want.to(mine.dtype) if isinstance(want, torch.Tensor) else want for mine, want in pairs]
    return difference(sample, got, rounded) is None


def difference(sample, got, wanted):
    """Returns a sentence about the first difference of two results; None if they agree."""
    ours, theirs = pytree.tree_leaves(got), pytree.tree_leaves(wanted)
    if sample.op in CHOICES and len(ours) == len(theirs) == 2:
        ours[1], theirs[1] = sample.chosen(ours[1]), sample.chosen(theirs[1])
    return leaves_difference(sample.op, ours, theirs)


def leaves_difference(op, ours, theirs):
    """Returns a sentence about the first difference of two lists; None if they agree."""
    if len(ours) != len(theirs):
        return f"got {len(ours)} results, but expected {len(theirs)}"
    for number, (mine, want) in enumerate(zip(ours, theirs, strict=True)):
        if fault := _leaf_difference(op, mine, want):
            return f"result {number}: {fault}"
    return None


def _leaf_difference(op, mine, want) -> Any:
    if not isinstance(want, torch.Tensor):
        return None if mine == want or (mine != mine and want != want) else f"got {mine!r}, but expected {want!r}"
    mine, want = mine.detach(), want.detach()
    if (mine.dtype, mine.shape) != (want.dtype, want.shape):
        return f"got {tensor_text(mine.dtype, mine.shape)}, but expected {tensor_text(want.dtype, want.shape)}"
    if op.partition(".")[0] in _UNDEFINED or _INFOS[op].name in _UNDEFINED:
        return None
    if want.layout != torch.strided:
        mine, want = mine.to_dense(), want.to_dense()
    tolerance = _TOLERANCES.get(want.dtype, 1e-5 if want.dtype.is_complex else 0)
    try:
        torch.testing.assert_close(mine, want, rtol=tolerance, atol=tolerance, equal_nan=True)
    except AssertionError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        close = torch.isclose(mine, want, rtol=tolerance, atol=tolerance, equal_nan=True).flatten()
        first = int((~close).int().argmax())
        pair = f"got {mine.flatten()[first].item()!r}, but expected {want.flatten()[first].item()!r}"
        return f"{pair} (element {first}); {' '.join(lines[1:])}"
    return None
