# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws samples of PyTorch's operators from the lists of torch.testing. Many samples share a compiled module.

samples = draw(entry, count)
check(samples)
"""

import dataclasses
import itertools
import random
import re
import sys
import types
import unittest
from typing import Any

import torch
from inlay._compile.imported import compile_imported
from inlay._compile.model import import_model
from inlay._compile.options import Options
from inlay._dialect.text import ELEMENT_TYPES, tensor_text
from sampled.entry import TOLERANCES
from torch import nn
from torch.utils import _pytree as pytree

# The lists of torch.testing import expecttest, but use it only for their own test cases.
if "expecttest" not in sys.modules:
    sys.modules["expecttest"] = types.ModuleType("expecttest")
    sys.modules["expecttest"].TestCase = unittest.TestCase
from torch.testing._internal import common_methods_invocations as invocations
from torch.testing._internal.opinfo import core

_INFOS = {(info.name, info.variant_test_name): info for info in invocations.op_db}
_MOST_ELEMENTS = 20000  # of all tensors of a sample
_BATCH = 40  # samples in a module

TARGETS = {"host": ("host", "torch"), "vulkan": ("vulkan", "host", "torch"), "torch": ("torch",)}

# Functions that Vulkan lacks.
_LACKS = re.compile(r"vulkan has no math\.\w+ of f64")


@dataclasses.dataclass
class Sample:
    """A call of the operator of an entry: `function(*args, **kwargs)`."""

    entry: Any
    function: Any
    args: tuple
    kwargs: dict
    dtype: torch.dtype

    def tensors(self):
        """Returns all tensors among the arguments in order."""
        return [leaf for leaf in pytree.tree_leaves((self.args, self.kwargs)) if isinstance(leaf, torch.Tensor)]

    def __str__(self):
        def text(value):
            return tensor_text(value.dtype, value.shape) if isinstance(value, torch.Tensor) else value

        args, kwargs = pytree.tree_map(text, (self.args, self.kwargs))
        return f"{self.entry} {args} {kwargs}"


# -- Drawing ----------------------------------------------------------------------------------------------------------


def draw(entry, count=None):
    """Returns `count` samples of the operator over its dtypes, including float32 if it has samples, or all samples."""
    info = _INFOS[entry.name, entry.variant]
    dtypes = sorted(set(ELEMENT_TYPES) & set(info.supported_dtypes("cpu")) - set(entry.without), key=str)
    chooser = random.Random(str(entry))
    if count is not None and len(dtypes) > count:
        preferred = [dtype for dtype in dtypes if dtype == torch.float32]
        others = [dtype for dtype in dtypes if dtype not in preferred]
        dtypes = preferred + chooser.sample(others, count - len(preferred))
    samples = []
    for number, dtype in enumerate(dtypes):
        torch.manual_seed(number)
        found = [sample for sample in _samples(entry, info, dtype) if _is_wanted(entry, sample)]
        if count is not None:
            share = -(-(count - len(samples)) // (len(dtypes) - number))
            found = chooser.sample(found, min(share, len(found)))
        samples += found
    strided = [_strided(sample) if chooser.random() < 0.25 else sample for sample in samples]
    return [given if _runs(given) else sample for given, sample in zip(strided, samples, strict=True)]


def _runs(sample):
    """Returns true if PyTorch accepts the sample. For example, some views of strided tensors fail."""
    try:
        _Call(sample)(*sample.tensors())
    except RuntimeError:
        return False
    return True


def _samples(entry, info, dtype):
    try:
        for sample in info.sample_inputs("cpu", dtype, requires_grad=False):
            yield Sample(entry, info.op, (sample.input, *sample.args), sample.kwargs, dtype)
    except (RuntimeError, ValueError, TypeError):  # drawing fails for some dtypes in op_db
        pass
    operands = _elementwise_operands(info)
    if entry.specials is False or not (operands or entry.specials):
        return
    operands = operands or 1
    columns = zip(*itertools.product(specials(dtype), repeat=operands), strict=True)
    grid = [torch.tensor(column, dtype=dtype) for column in columns]
    for tensors in (grid, [torch.ones(2, 0, 3, dtype=dtype)] * operands):
        kwargs = info.sample_kwargs("cpu", dtype, tensors[0])[0] if isinstance(info, core.UnaryUfuncInfo) else {}
        yield Sample(entry, info.op, tuple(tensors), kwargs, dtype)


def _elementwise_operands(info):
    return 1 if isinstance(info, core.UnaryUfuncInfo) else 2 if isinstance(info, core.BinaryUfuncInfo) else 0


def specials(dtype):
    """Returns values at which functions are often wrong."""
    if dtype == torch.bool:
        return [False, True]
    if dtype.is_floating_point:
        inf = float("inf")
        return [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -3.0, 1.5, -2.5, 100.0, -100.0, inf, -inf, float("nan")]
    limits = torch.iinfo(dtype)
    return [0, 1, -1, 2, -2, 3, -7, 10, limits.min, limits.max, limits.min + 1]


def _is_wanted(entry, sample):
    if sum(tensor.numel() for tensor in sample.tensors()) > _MOST_ELEMENTS:
        return False
    if any(tensor.dtype not in ELEMENT_TYPES or tensor.layout != torch.strided for tensor in sample.tensors()):
        return False
    return not any(about(sample) for about in entry.skip.values())


def _strided(sample):
    """Returns the sample with tensors that have gaps and another order of dims in memory."""

    def spread(value):
        if not isinstance(value, torch.Tensor) or value.dim() == 0:
            return value
        apart = torch.empty([*reversed(value.shape), 2], dtype=value.dtype)[..., 0]
        return apart.permute(*reversed(range(value.dim()))).copy_(value)

    args, kwargs = pytree.tree_map(spread, (sample.args, sample.kwargs))
    return dataclasses.replace(sample, args=args, kwargs=kwargs)


# -- Running ----------------------------------------------------------------------------------------------------------


class _Call(nn.Module):
    """A sample as a function of its tensors."""

    def __init__(self, sample):
        super().__init__()
        self._function = sample.function
        self._leaves, self._spec = pytree.tree_flatten((sample.args, sample.kwargs))

    def forward(self, *tensors):
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self._leaves]
        args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        result = self._function(*args, **kwargs)
        return [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


class _Batch(nn.Module):
    """Many samples. Each is a submodule, so that the locations of its ops name it."""

    def __init__(self, samples):
        super().__init__()
        self._calls = nn.ModuleList(_Call(sample) for sample in samples)
        self._counts = [len(sample.tensors()) for sample in samples]

    def forward(self, *tensors):
        results, start = [], 0
        for call, count in zip(self._calls, self._counts, strict=True):
            results.append(call(*tensors[start : start + count]))
            start += count
        return results


def check(samples):
    """Runs the samples of any entries on each target and compares the results with PyTorch.

    Fails with a list of all differences and of all ops on a wrong target. Returns the samples of which a target ran all
    ops, by target.
    """
    found = {target: [] for target in TARGETS}
    for start in range(0, len(samples), _BATCH):
        for target, ran in _check_batch(samples[start : start + _BATCH]).items():
            found[target] += ran
    return found


def _check_batch(samples):
    tensors = [tensor for sample in samples for tensor in sample.tensors()]
    calls = [_Call(sample) for sample in samples]
    with torch.no_grad():
        wanted = [call(*sample.tensors()) for call, sample in zip(calls, samples, strict=True)]
    imported = import_model(_Batch(samples), tuple(tensors))
    owners = _owners(imported.program.text)
    found, faults = {}, []
    for target, targets in TARGETS.items():
        compiled = compile_imported(imported.program, Options.make({"targets": targets}), imported.convention)
        results = compiled(*tensors)
        astray = _astray(samples, target, compiled.report, owners)
        for number, (sample, got, want) in enumerate(zip(samples, results, wanted, strict=True)):
            fault = _difference(sample.entry, got, want)
            faults += [f"{target}: {sample}: {text}" for text in [*astray["wrong"].get(number, []), fault] if text]
        found[target] = [sample for number, sample in enumerate(samples) if number not in astray["elsewhere"]]
    assert not faults, f"{len(faults)} faults:\n" + "\n".join(faults[:40])
    return found


def _owners(text):
    """Returns the number of the sample of each op by the label of the op, from the locations in the text."""
    return {label: int(number) for number, label in re.findall(r'\["_calls\.(\d+)", "[^"]*"\]\]\}>\["([^"]+)"', text)}


def _astray(samples, target, report, owners):
    """Returns the samples with an op on another target.

    "elsewhere" has all of their numbers. "wrong" has sentences by number for the samples that may not have such ops.
    """
    elsewhere, wrong = set(), {}
    for op in report["ops"]:
        number = owners.get(op["label"])
        if op.get("segment") is None or number is None or op["target"] == target:
            continue
        elsewhere.add(number)
        reason = (op.get("reason") or {}).get("text", "")
        entry = samples[number].entry
        allowed = entry.torch if op["target"] == "torch" else entry.host
        lacking = op["target"] == "host" and _LACKS.search(reason)
        if not lacking and not any(about(samples[number]) for about in allowed.values()):
            wrong.setdefault(number, []).append(f"{op['label']} ({op['name']}) is on {op['target']}: {reason}")
    return {"elsewhere": elsewhere, "wrong": wrong}


def _difference(entry, got, want):
    for number, (ours, theirs) in enumerate(zip(got, want, strict=True)):
        tolerance = TOLERANCES.get(theirs.dtype, 0) * entry.tolerance
        try:
            torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)
        except AssertionError as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            return f"result {number}: " + " ".join(lines) + _first_difference(ours, theirs, tolerance)
    return None


def _first_difference(ours, theirs, tolerance):
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype or ours.dim() == 0:
        return f" got {ours} wanted {theirs}" if ours.dim() == 0 else ""
    at = int((~torch.isclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)).flatten().int().argmax())
    return f" (element {at}: got {ours.flatten()[at].item()!r}, wanted {theirs.flatten()[at].item()!r})"
