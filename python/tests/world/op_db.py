# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles samples of PyTorch's own operator database and compares the results with PyTorch.

for outcome in check(name, Sizes()): ...
"""

import collections
import contextlib
import io
import re
import warnings

import op_db_dynamo
import torch
from inlay._compile.driver import compile_imported
from inlay._compile.model import import_model
from inlay._compile.options import Options
from op_db_samples import (
    SEED,
    TARGETS,
    Batch,
    difference,
    draw,
    draws_random_numbers,
    is_exact,
    kind_of,
)

_TOGETHER = 12  # samples in a module


def check(name, sizes):
    """Yields the Outcomes of the samples of an operator."""
    warnings.simplefilter("ignore")
    drawn = list(draw(name, sizes))
    # Calls that draw random numbers run alone, because their numbers depend on the calls before them.
    together = 1 if draws_random_numbers([sample for sample, _ in drawn]) else _TOGETHER
    exported = [target for target in sizes.targets if not op_db_dynamo.runs(target)]
    for start in range(0, len(drawn), together):
        batch = drawn[start : start + together]
        yield from _check_batch(batch, exported)
        for target in filter(op_db_dynamo.runs, sizes.targets):
            yield from op_db_dynamo.check([sample for sample, _ in batch], target)


def _check_batch(drawn, targets):
    samples = [sample for sample, _ in drawn]
    found = []
    try:
        for target, results, fallbacks in _run(samples, targets):
            for number, ((sample, wanted), got) in enumerate(zip(drawn, results, strict=True)):
                fault = difference(sample, got, wanted)
                kind = "right" if fault is None else "closer" if is_exact(sample, got) else "wrong"
                found.append(sample.outcome(target, kind, fault or "", fallbacks[number]))
        return found
    except Exception as error:
        if len(drawn) > 1:
            return [outcome for one in drawn for outcome in _check_batch([one], targets)]
        text = f"{type(error).__name__}: {error}"[:2000]
        done = {outcome.target for outcome in found}
        left = [target for target in targets if target not in done]
        return found + [samples[0].outcome(target, kind_of(error), text) for target in left]


def _run(samples, targets):
    """Yields (target, results of each sample, calls of each sample that PyTorch ran)."""
    if not targets:
        return
    tensors = [tensor for sample in samples for tensor in sample.tensors()]
    with contextlib.redirect_stderr(io.StringIO()):
        imported = import_model(Batch(samples), tuple(tensors))
    owners = _owners(imported.program.text)
    for target in targets:
        compiled = compile_imported(imported.program, Options.make({"targets": TARGETS[target]}), imported.convention)
        torch.manual_seed(SEED)
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
