# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles samples of PyTorch's own operator database and compares the results with PyTorch.

for outcome in check(name, Sizes()): ...
"""

import collections
import contextlib
import dataclasses
import io
import itertools
import random
import re
import sys
import types
import unittest.mock
import warnings
from typing import Any

import inlay
import torch
from inlay._compile.driver import compile_imported
from inlay._compile.model import import_model
from inlay._compile.options import Options
from inlay._dialect.text import dtype_name, tensor_text
from torch import nn
from torch.utils import _pytree as pytree

# The lists of torch.testing import expecttest, but use it only for their own test cases.
if "expecttest" not in sys.modules:
    sys.modules["expecttest"] = types.ModuleType("expecttest")
    sys.modules["expecttest"].TestCase = unittest.TestCase
from torch.testing._internal import common_methods_invocations as invocations

TARGETS = {"host": ("host", "torch"), "vulkan": ("vulkan", "host", "torch")}
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

# Relative and absolute tolerances. Those of op_db are for one library on two devices.
_TOLERANCES = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 2e-5, torch.float64: 1e-7}

# Operators whose results PyTorch does not define. Only dims and dtypes are compared.
_UNDEFINED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}

# Operators that choose one of several equal elements, with the number of their argument `dim`. PyTorch does not define
# which one, so the elements at the indices are compared.
_CHOICES = {"kthvalue": 2, "median": 1, "mode": 1, "nanmedian": 1, "topk": 2}


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Limits of what is drawn.

    samples: for each operator and dtype. elements: the most elements of all tensors of a sample. dtypes: the number of
    dtypes, chosen by the seed.
    """

    samples: int = 4
    elements: int = 4000
    dtypes: int = len(DTYPES)
    seed: int = 0
    targets: tuple[str, ...] = tuple(TARGETS)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a sample on a target.

    kind: "right", "closer" (another result than PyTorch's, which is that of PyTorch in float64), "refused" (an
    inlay.Error that names a call), "unclear" (one that names none), "wrong" or "raised" (another exception).
    """

    op: str
    dtype: str
    target: str
    kind: str
    sample: str
    text: str = ""
    fallbacks: tuple[str, ...] = ()  # the calls that PyTorch ran


def names():
    """Returns the names of all operators: "add", "linalg.norm.subgradients_at_zero"."""
    return list(_INFOS)


def _name(info):
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name


_INFOS = {_name(info): info for info in invocations.op_db}


# -- Drawing ----------------------------------------------------------------------------------------------------------


class _Sample(nn.Module):
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
        place = _CHOICES[self.op]
        dim = kwargs.get("dim", args[place] if len(args) > place else -1)
        if args[0].dim() and index.dim() < args[0].dim():
            return torch.gather(args[0], dim, index.unsqueeze(dim))
        return torch.gather(args[0], dim, index) if args[0].dim() else args[0]

    def results(self, exact=False):
        """Returns what PyTorch returns, or None if it raises an error. exact: True to compute in float64."""
        torch.manual_seed(_SEED)
        given = [
            tensor.double() if exact and tensor.is_floating_point() else tensor.clone() for tensor in self.tensors()
        ]
        try:
            with torch.no_grad():
                return self(*given)
        except Exception:
            return None

    def __str__(self):
        def text(value):
            return tensor_text(value.dtype, value.shape) if isinstance(value, torch.Tensor) else value

        args, kwargs = pytree.tree_unflatten(map(text, self._leaves), self._spec)
        return f"{args} {kwargs}" if kwargs else str(args)


def _draw(name, sizes):
    """Yields (sample, result of PyTorch) for an operator."""
    info, chooser = _INFOS[name], random.Random(f"{name} {sizes.seed}")
    dtypes = [dtype for dtype in DTYPES if dtype in info.supported_dtypes("cpu")]
    if len(dtypes) > sizes.dtypes:
        dtypes = chooser.sample(dtypes, sizes.dtypes)
    for dtype in dtypes:
        torch.manual_seed(sizes.seed)
        found = [_Sample(name, info, sample, dtype) for sample in itertools.islice(_inputs(info, dtype), 200)]
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


# -- Running ----------------------------------------------------------------------------------------------------------


class _Batch(nn.Module):
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


_TOGETHER = 12  # samples in a module
_SEED = 42  # of op_db's own functions that draw random numbers


def check(name, sizes):
    """Yields the Outcomes of the samples of an operator."""
    warnings.simplefilter("ignore")
    drawn = list(_draw(name, sizes))
    # Calls that draw random numbers run alone, because their numbers depend on the calls before them.
    together = 1 if _is_random(drawn) else _TOGETHER
    for start in range(0, len(drawn), together):
        yield from _check_batch(drawn[start : start + together], sizes.targets)


def _is_random(drawn):
    """Returns true if a sample draws random numbers or sets a seed."""
    for sample, _ in drawn:
        before = torch.get_rng_state()
        with unittest.mock.patch("torch.manual_seed", wraps=torch.manual_seed) as seeded, torch.no_grad():
            sample(*[tensor.clone() for tensor in sample.tensors()])
        if seeded.called or not torch.equal(before, torch.get_rng_state()):
            return True
    return False


def _check_batch(drawn, targets):
    samples = [sample for sample, _ in drawn]
    found = []
    try:
        for target, results, fallbacks in _run(samples, targets):
            for number, ((sample, wanted), got) in enumerate(zip(drawn, results, strict=True)):
                fault = _difference(sample, got, wanted)
                kind = "right" if fault is None else "closer" if _is_exact(sample, got) else "wrong"
                found.append(_outcome(sample, target, kind, fault or "", fallbacks[number]))
        return found
    except Exception as error:
        if len(drawn) > 1:
            return [outcome for one in drawn for outcome in _check_batch([one], targets)]
        kind = _kind_of(error)
        text = f"{type(error).__name__}: {error}"[:2000]
        done = {outcome.target for outcome in found}
        left = [target for target in targets if target not in done]
        return found + [_outcome(samples[0], target, kind, text) for target in left]


def _kind_of(error):
    if not isinstance(error, inlay.Error) or isinstance(error, inlay.errors.InternalError):
        return "raised"
    return "refused" if re.search(r"aten[.:]|\bnode '|\binput '", str(error)) else "unclear"


def _outcome(sample, target, kind, text, fallbacks=()):
    return Outcome(sample.op, dtype_name(sample.dtype), target, kind, str(sample), text, fallbacks)


def _run(samples, targets):
    """Yields (target, results of each sample, calls of each sample that PyTorch ran)."""
    tensors = [tensor for sample in samples for tensor in sample.tensors()]
    with contextlib.redirect_stderr(io.StringIO()):
        imported = import_model(_Batch(samples), tuple(tensors))
    owners = _owners(imported.program.text)
    for target in targets:
        compiled = compile_imported(imported.program, Options.make({"targets": TARGETS[target]}), imported.convention)
        torch.manual_seed(_SEED)
        yield target, compiled(*[tensor.clone() for tensor in tensors]), _fallbacks(compiled.report, owners)


def _owners(text):
    """Returns the number of the sample of each op by the label of the op, from the locations in the text."""
    return {label: int(number) for number, label in re.findall(r'\["_samples\.(\d+)", "[^"]*"\]\]\}>\["([^"]+)"', text)}


def _fallbacks(report, owners):
    found = collections.defaultdict(tuple)
    for op in report["ops"]:
        if op["target"] == "torch":
            found[owners.get(op["label"])] += (f"{op['name']}: {op['reason']['text']}",)
    return found


def _is_exact(sample, got):
    """Returns true if 16-bit results are those of float64. PyTorch computes some operators in the 16-bit type."""
    if sample.dtype not in (torch.float16, torch.bfloat16) or (exact := sample.results(exact=True)) is None:
        return False
    ours, theirs = pytree.tree_leaves(got), pytree.tree_leaves(exact)
    rounded = [
        want.to(mine.dtype) if isinstance(want, torch.Tensor) else want for mine, want in zip(ours, theirs, strict=True)
    ]
    return _difference(sample, ours, rounded) is None


def _difference(sample, got, wanted):
    """Returns a sentence about the first difference of two results; None if they agree."""
    ours, theirs = pytree.tree_leaves(got), pytree.tree_leaves(wanted)
    op = sample.op
    if op in _CHOICES and len(ours) == len(theirs) == 2:
        ours[1], theirs[1] = sample.chosen(ours[1]), sample.chosen(theirs[1])
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
