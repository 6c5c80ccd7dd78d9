# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes an imported graph for any sizes by the reference expressions of its ops. Nothing is compiled."""

import contextlib

import torch
from conftest import compare, returned
from inlay._dialect.calls import run_call
from inlay._dialect.meaning import compute
from inlay._dialect.ops import table
from inlay._import.torch import walker
from inlay._import.torch.graph import GraphBuilder, split_sizes
from inlay._import.torch.program import import_program
from inlay._program.outputs import CallValues
from inlay._program.signature import Signature
from inlay._program.sizes import Size

pytree = torch.utils._pytree


class Recorder(GraphBuilder):
    """Builds the text and keeps a step for each op: a function of the tensors by name and the values of the symbols."""

    last = None

    def __init__(self, symbols=None):
        super().__init__(symbols)
        self.steps, self.made, self.parameters, self.constants = [], [], [], {}
        Recorder.last = self

    def argument(self, shape, dtype, location):
        value = super().argument(shape, dtype, location)
        self.parameters.append(value.name)
        return value

    def op(self, name, operands, attributes, shape, dtype, location):
        value = super().op(name, operands, attributes, shape, dtype, location)
        self.made.append(name)
        numbers, open_ones = split_sizes(table()[name], attributes)

        def step(values, sizes):
            result = compute(name, _look_up(values, operands), numbers, evaluate(open_ones, sizes))
            wanted = (evaluate(shape, sizes), dtype)
            assert (list(result.shape), result.dtype) == wanted, f"inlay.{name} {attributes} {location}"
            values[value.name] = result

        self.steps.append(step)
        return value

    def opaque(self, name, operands, results, effects, call, location, sizes=(), reason=""):
        made = super().opaque(name, operands, results, effects, call, location, sizes, reason)
        self.made.append(name)

        def step(values, symbols):
            outputs = [torch.empty(evaluate(shape, symbols), dtype=dtype) for shape, dtype in results]
            run_call(call, _look_up(values, operands), outputs, sizes=evaluate(sizes, symbols))
            values.update({value.name: output for value, output in zip(made, outputs, strict=True)})

        self.steps.append(step)
        return made

    def splat(self, number, shape, dtype):
        value = super().splat(number, shape, dtype)
        self._keep(value, torch.full(shape, number, dtype=dtype))
        return value

    def weight(self, key, tensor):
        value = super().weight(key, tensor)
        self._keep(value, tensor)
        return value

    def literal(self, key, tensor):
        value = super().literal(key, tensor)
        self._keep(value, tensor)
        return value

    def _keep(self, value, tensor):
        self.constants[value.name] = tensor

    @contextlib.contextmanager
    def region(self, arguments=(), place=None):
        outside, self.steps = self.steps, []
        try:
            with super().region(arguments, place) as region:
                region.steps = self.steps
                yield region
        finally:
            self.steps = outside

    def choose(self, condition, then, otherwise, results, place):
        made = super().choose(condition, then, otherwise, results, place)

        def step(values, sizes):
            assert values[condition.name].shape == ()
            _bind(values, made, _run(then if values[condition.name] else otherwise, [], values, sizes), sizes)

        self._note("if", step)
        return made

    def repeat(self, before, after, starts, place):
        made = super().repeat(before, after, starts, place)

        def step(values, sizes):
            carried = _look_up(values, starts)
            while True:
                carried = _run(before, carried, values, sizes)
                if not values[before.condition.name]:
                    break
                carried = _run(after, carried, values, sizes)
            _bind(values, made, carried, sizes)

        self._note("while", step)
        return made

    def count(self, number, body, starts, place):
        made = super().count(number, body, starts, place)

        def step(values, sizes):
            carried = _look_up(values, starts)
            for position in range(number if isinstance(number, int) else int(values[number.name])):
                values[body.position.name] = torch.tensor([position])
                carried = _run(body, carried, values, sizes)
            _bind(values, made, carried, sizes)

        self._note("for", step)
        return made

    def _note(self, name, step):
        self.made.append(name)
        self.steps.append(step)


def _run(region, given, values, sizes):
    """Returns the results of a region."""
    _bind(values, region.arguments, given, sizes)
    for step in region.steps:
        step(values, sizes)
    return _look_up(values, region.results)


def _bind(values, names, tensors, sizes):
    for one, tensor in zip(names, tensors, strict=True):
        assert (list(tensor.shape), tensor.dtype) == (evaluate(one.shape, sizes), one.dtype)
        values[one.name] = tensor


def evaluate(dims, sizes):
    """Returns ints for ints and Sizes."""
    return [dim.evaluate(sizes) if isinstance(dim, Size) else dim for dim in dims]


def _look_up(values, operands):
    return [
        [values[part.name] for part in operand]
        if isinstance(operand, list)
        else None
        if operand is None
        else values[operand.name]
        for operand in operands
    ]


class Replay:
    """A model that was exported with dynamic shapes. A call returns the flat results."""

    def __init__(self, monkeypatch, exported, shape_profiles=None):
        monkeypatch.setattr(walker, "GraphBuilder", Recorder)
        is_onnx = not isinstance(exported, torch.export.ExportedProgram)
        self.program = exported.import_() if is_onnx else import_program(exported, shape_profiles=shape_profiles)
        self._recorder = Recorder.last
        self.text = self.program.text
        self.made = self._recorder.made
        self._signature = Signature(self.program.interface)

    @property
    def opaque(self):
        """The names of the calls that PyTorch runs."""
        return sorted({name for name in self.made if "::" in name})

    def measure(self, *args, **kwargs):
        """Returns the values of the symbols. Raises SizesError for sizes out of range."""
        return self._signature.measure(pytree.tree_leaves((args, kwargs)))

    def __call__(self, *args, **kwargs):
        leaves = pytree.tree_leaves((args, kwargs))
        self._signature.check(leaves)
        sizes = self._signature.measure(leaves)
        given = [leaf for leaf, one in zip(leaves, self.program.interface.inputs, strict=True) if one.is_tensor]
        values = {**self._recorder.constants, **dict(zip(self._recorder.parameters, given, strict=True))}
        for step in self._recorder.steps:
            step(values, sizes)
        results = [values[name] for name in returned(self.program.text)]
        values = CallValues(leaves, leaves, results, {}, sizes, self.program.state.tensors)
        return [output.find(values) for output in self.program.interface.outputs]

    def check(self, model, *args, tolerance=1e-5, **kwargs):
        """Compares the results with those of the model."""
        with torch.no_grad():
            expected = pytree.tree_leaves(model(*args, **kwargs))
            got = self(*args, **kwargs)
        assert len(got) == len(expected)
        for mine, want in zip(got, expected, strict=True):
            compare(mine, want, tolerance)
