# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles samples of PyTorch's operator database with torch.compile, and compares results and gradients with PyTorch.

The gradients are those of random linear functions of the results, by all floating-point inputs.
"""

import contextlib
import dataclasses
import io
import itertools
import re
import unittest.mock
import warnings
from typing import Any

import torch
from inlay._compile import dynamo
from op_db_samples import (
    CHOICES,
    SEED,
    TARGETS,
    Batch,
    difference,
    kind_of,
    kind_of_reason,
    leaves_difference,
    widened,
)
from torch.utils import _pytree as pytree

_ROUTE = "compile-"
_WARNING = "inlay: this graph runs in PyTorch: "


@dataclasses.dataclass
class _Run:
    """The outcome of a batch in a backend.

    results: (results, gradients) of each sample. reasons: why graphs run in PyTorch. fallbacks: the calls that PyTorch
    runs in compiled graphs.
    """

    results: list[Any]
    reasons: list[str]
    fallbacks: tuple[str, ...]


def runs(target):
    """Returns true if this module runs a target."""
    return target.startswith(_ROUTE)


def check(samples, target):
    """Returns the Outcomes of samples that are compiled together. They are compiled one by one if one has a fault.

    The fallbacks of an Outcome are those of all samples that were compiled together.
    """
    alone = len(samples) == 1
    try:
        run = _compile(samples, "inlay", {"targets": TARGETS[target]})
    except Exception as error:
        if alone:
            kind = "foreign" if _is_foreign(samples[0]) else kind_of(error)
            return [samples[0].outcome(target, kind, f"{type(error).__name__}: {error}"[:2000])]
    else:
        found = [_judge(sample, got) for sample, got in zip(samples, run.results, strict=True)]
        has_fault = run.reasons or any(kind == "wrong" for kind, _ in found)
        if alone and run.reasons and found[0][0] != "wrong":
            found = [(_kind_of_warning(run.reasons[0]), run.reasons[0][:2000])]
        if alone or not has_fault:
            pairs = zip(samples, found, strict=True)
            return [sample.outcome(target, kind, text, run.fallbacks) for sample, (kind, text) in pairs]
    return [outcome for sample in samples for outcome in check([sample], target)]


def _kind_of_warning(reason):
    """Returns the kind of an Outcome of a graph that PyTorch runs. Exceptions that aren't Inlay's begin with their
    class."""
    return "raised" if re.match(r"\w+: ", reason) else kind_of_reason(reason)


def _judge(sample, got):
    """Returns (kind, text) of the results and gradients of a sample."""
    wanted = evaluate(sample, [sample])[0]
    fault = _difference(sample, got, wanted)
    if fault is None:
        return "right", ""
    if sample.dtype in (torch.float16, torch.bfloat16) and _is_as_exact(sample, got, wanted):
        return "closer", fault
    return ("foreign" if _is_foreign(sample) else "wrong"), fault


def _is_as_exact(sample, got, wanted):
    """Returns true if each 16-bit result and gradient is that of PyTorch or of float64, or at most twice as far from
    float64 as PyTorch's. torch._dynamo.utils.same has the same rule: gradients have rounded intermediate results."""
    exact = evaluate(sample, [sample], widened)[0]
    for ours, theirs, best in zip(*map(pytree.tree_leaves, (got, wanted, exact)), strict=True):
        if leaves_difference(sample.op, [ours], [theirs]) is None:
            continue
        if not isinstance(best, torch.Tensor) or (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
            return False
        is_rounded = leaves_difference(sample.op, [ours], [best.to(ours.dtype)]) is None
        if not is_rounded and not _distance(ours, best) <= 2 * _distance(theirs, best) < torch.inf:
            return False
    return True


def _distance(tensor, exact):
    """Returns the largest difference of two tensors, NaN if one of them has a NaN."""
    return (tensor.double() - exact).abs().max()


def _difference(sample, got, wanted):
    """Returns a sentence about the first difference of two pairs of results and gradients; None if they agree."""
    if fault := difference(sample, got[0], wanted[0]):
        return fault
    # Another one of several equal elements has the gradient.
    ours, theirs = pytree.tree_leaves(got[0]), pytree.tree_leaves(wanted[0])
    if sample.op in CHOICES and len(ours) == 2 and not torch.equal(ours[1], theirs[1]):
        return None
    fault = leaves_difference(sample.op, got[1], wanted[1])
    return f"gradients, {fault}" if fault else None


def _is_foreign(sample):
    """Returns true if PyTorch's own backend without a compiler fails or differs from PyTorch too."""
    try:
        got = _compile([sample], "aot_eager", None).results[0]
        return _difference(sample, got, evaluate(sample, [sample])[0]) is not None
    except Exception:
        return True


def _compile(samples, backend, options):
    """Returns the _Run of a backend."""
    torch._dynamo.reset()
    call = torch.compile(Batch(samples), backend=backend, options=options)
    made = []
    with (
        # PyTorch runs later versions of a function without the backend if there are too many.
        torch._dynamo.config.patch(recompile_limit=1000),
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stderr(io.StringIO()),
        unittest.mock.patch.object(dynamo, "compile_imported", _recorder(dynamo.compile_imported, made)),
    ):
        warnings.simplefilter("always")
        results = evaluate(call, samples)
    texts = [str(warning.message) for warning in caught]
    reasons = [text.removeprefix(_WARNING) for text in texts if text.startswith(_WARNING)]
    ops = [op for compiled in made for op in compiled.report["ops"] if op["target"] == "torch"]
    fallbacks = [f"{op['name']}: {op['reason']['text']}" for op in ops] if made else ["no graph was compiled"]
    return _Run(results, reasons, tuple(fallbacks))


def _recorder(compile_imported, made):
    """Returns `compile_imported` so that it also adds the compiled module to `made`."""

    def record(imported, options):
        made.append(compile_imported(imported, options))
        return made[-1]

    return record


def evaluate(call, samples, copy=torch.Tensor.clone):
    """Returns [results, gradients] of each sample. call: a Batch of the samples, or the only sample itself.

    copy: returns the tensor that is given for a tensor of a sample.
    """
    given = [[copy(tensor) for tensor in sample.tensors()] for sample in samples]
    pairs = list(zip(samples, given, strict=True))
    wanted = [_floats(tensors) if _is_differentiable(sample) else [] for sample, tensors in pairs]
    for tensor in itertools.chain(*wanted):
        tensor.requires_grad_()
    torch.manual_seed(SEED)
    results = call(*itertools.chain(*given))
    results = [results] if call is samples[0] else results
    left = iter(_gradients(samples, results, wanted))
    return [[result, list(itertools.islice(left, len(inputs)))] for result, inputs in zip(results, wanted, strict=True)]


def _gradients(samples, results, wanted):
    """Returns the gradients of the results by all tensors in `wanted`, a list for each sample."""
    functions, cotangents = [], []
    for sample, result in zip(samples, results, strict=True):
        for leaf in filter(_has_gradient, _floats(result)):
            functions.append(leaf)
            cotangents.append(_cotangent(sample, leaf))
    if not functions:
        return []
    inputs = list(itertools.chain(*wanted))
    return torch.autograd.grad(functions, inputs, cotangents, allow_unused=True, materialize_grads=True)


def _has_gradient(tensor):
    return tensor.requires_grad and tensor.layout == torch.strided


def _floats(tree):
    leaves = pytree.tree_leaves(tree)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]


def _cotangent(sample, result):
    """Returns random numbers of the dtype of the sample, as a tensor like a result."""
    generator = torch.Generator().manual_seed(SEED)
    numbers = torch.randn(result.shape, generator=generator)
    return (numbers.to(sample.dtype) if sample.dtype.is_floating_point else numbers).to(result.dtype)


def _is_differentiable(sample):
    """Returns true if PyTorch has gradients of a sample."""
    given = [tensor.clone() for tensor in sample.tensors()]
    inputs = _floats(given)
    try:
        for tensor in inputs:
            tensor.requires_grad_()
        results = [leaf for leaf in _floats(sample(*given)) if _has_gradient(leaf)]
        torch.autograd.grad(results, inputs, [_cotangent(sample, leaf) for leaf in results], allow_unused=True)
    except Exception:
        return False
    return bool(results)
