# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared parts of the tests: the verifier, an interpreter of imported graphs, and a comparison of results."""

import os
import pathlib
import subprocess

import inlay
import pytest
import torch
from inlay._dialect.calls import run_call
from inlay._dialect.meaning import compute
from inlay._import.torch import graph, walker
from inlay._import.torch.export import export_program
from inlay._import.torch.program import import_program
from inlay._program.outputs import CallValues

BUILD = pathlib.Path(inlay.__file__).parents[2]
INLAY_OPT = pathlib.Path(os.environ.get("INLAY_OPT", BUILD / "bin" / "inlay-opt"))


def verify(text):
    """Returns the module as inlay-opt prints it. Fails with the diagnostics if the module is invalid."""
    done = subprocess.run(
        [INLAY_OPT, "--mlir-print-debuginfo"], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    return done.stdout


class Interpreter(graph.GraphBuilder):
    """Builds the text and computes every value by the reference expression of its op."""

    last = None

    def __init__(self, symbols=None):
        super().__init__(symbols)
        self.values = {}
        self.made = []  # names of the ops
        Interpreter.last = self

    def op(self, name, operands, attributes, shape, dtype, location):
        value = super().op(name, operands, attributes, shape, dtype, location)
        self.made.append(name)
        self.values[value.name] = result = compute(name, self._tensors(operands), attributes)
        assert (tuple(result.shape), result.dtype) == (value.shape, dtype), f"inlay.{name} {operands} {attributes}"
        return value

    def opaque(self, name, operands, results, effects, call, location, sizes=(), reason=""):
        values = super().opaque(name, operands, results, effects, call, location, sizes, reason)
        self.made.append(name)
        outputs = [torch.empty(shape, dtype=dtype) for shape, dtype in results]
        run_call(call, self._tensors(operands), outputs)
        self.values.update({value.name: output for value, output in zip(values, outputs, strict=True)})
        return values

    def splat(self, number, shape, dtype):
        value = super().splat(number, shape, dtype)
        self.values[value.name] = torch.full(shape, number, dtype=dtype)
        return value

    def weight(self, key, tensor):
        value = super().weight(key, tensor)
        self.values[value.name] = tensor
        return value

    def literal(self, key, tensor):
        value = super().literal(key, tensor)
        self.values[value.name] = tensor
        return value

    def _tensors(self, operands):
        return [
            [self.values[part.name] for part in operand]
            if isinstance(operand, list)
            else self.values[operand.name]
            if operand is not None
            else None
            for operand in operands
        ]


@pytest.fixture
def imports(monkeypatch):
    """Imports a model, verifies the text, and compares the results with PyTorch.

    Returns the names of the ops, and the verified text.
    """

    def check(model, *inputs, tolerance=1e-5, **kwargs):
        monkeypatch.setattr(walker, "GraphBuilder", Interpreter)
        # The interpreter needs the values of the arguments when it makes them.
        pending = [x for x in torch.utils._pytree.tree_leaves((inputs, kwargs)) if isinstance(x, torch.Tensor)]
        original = Interpreter.argument

        def argument(self, shape, dtype, location):
            value = original(self, shape, dtype, location)
            self.values[value.name] = pending[len(self._arguments) - 1]
            return value

        monkeypatch.setattr(Interpreter, "argument", argument)
        with torch.no_grad():
            expected = torch.utils._pytree.tree_leaves(model(*inputs, **kwargs))
        exported = torch.export.export(model, inputs, kwargs, strict=False)
        program = import_program(exported)
        monkeypatch.setattr(Interpreter, "argument", original)
        interpreter = Interpreter.last
        text = verify(program.text)
        leaves = torch.utils._pytree.tree_leaves((inputs, kwargs))
        results = returned(program.text)
        made = [interpreter.values[name] for name in results]
        values = CallValues(leaves, leaves, made, {}, [], program.state.tensors)
        assert len(expected) == len(program.interface.outputs)
        for want, output in zip(expected, program.interface.outputs, strict=True):
            compare(output.find(values), want, tolerance)
        return interpreter.made, text

    return check


def returned(text):
    """Returns the names of the values that an imported graph returns."""
    line = next(line for line in text.splitlines() if line.strip().startswith("return"))
    names = line.strip().removeprefix("return").partition(":")[0]
    return [name.strip() for name in names.split(",") if name.strip()]


def compare(got, want, tolerance):
    """Asserts equality up to `tolerance` times the largest finite magnitude of the expected tensor. NaN equals NaN."""
    if not isinstance(want, torch.Tensor):
        assert got == want
        return
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if not want.dtype.is_floating_point:
        assert torch.equal(got, want)
        return
    finite = want[torch.isfinite(want)]
    scale = max(1.0, float(finite.abs().max())) if finite.numel() else 1.0
    torch.testing.assert_close(got, want, rtol=0, atol=tolerance * scale, equal_nan=True)


__all__ = ["compare", "export_program", "returned", "verify"]
