# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled model."""

import torch
from torch.utils import _pytree as pytree

from .arguments import Signature
from .calls import run_call
from .errors import Error, InternalError, UnsupportedError


class Fallback:
    """Makes the framework's calls for a program; remembers what went wrong in the last one that failed."""

    def __init__(self):
        self.failure = None

    def __call__(self, call, inputs, outputs):
        try:
            run_call(call, inputs, outputs)
        except BaseException as error:
            # Without the traceback: its frames hold tensors over memory that is the program's again.
            self.failure = error.with_traceback(None)
            raise


class Profile(list):
    """A list of (segment, kind of step, seconds), in order; `report` is the model's with the times of its segments.

    They are `measured_ns` in the segments and the summary, beside `modelled_ns` if a cost model is in effect.
    """

    def __init__(self, steps, report):
        super().__init__((name, kind, seconds) for name, kind, seconds, _ in steps)
        self.report = report.with_times(steps)


class CompiledModule:
    """A model compiled by `inlay.compile`: call it as the model itself.

    Arguments are tensors on the CPU of the dtypes and dims of the export (any strides), results new tensors in the
    structure that the model returns. Nothing is recorded for autograd. Several threads may call at a time; the
    interpreter lock is free meanwhile. The model's weights are shared, not copied: they must not change.
    """

    def __init__(self, imported, compilation, fallback, report, in_spec, out_spec, argument_names):
        self._imported, self._compilation, self._fallback = imported, compilation, fallback
        self._signature = Signature(imported.inputs, in_spec, argument_names)
        self._out_spec = out_spec
        self._report = report

    @property
    def report(self):
        """What runs where and why: an `inlay.Report`."""
        return self._report

    @property
    def device(self):
        """Name of the device that runs the accelerated segments; empty if none does."""
        return self._compilation.device

    @property
    def notice(self):
        """One line that the user should know, e.g. that no device was found; may be empty."""
        return self._compilation.notice

    def __call__(self, *args, **kwargs):
        """Runs the model.

        Raises ArgumentTypeError or ArgumentValueError, naming the argument, its place and what was expected;
        DeviceError for a lost device; Error if a call into PyTorch failed (its exception is the cause).
        """
        results = self.call_flat(*self.flatten(args, kwargs))
        return results[0] if self._out_spec.is_leaf() else pytree.tree_unflatten(results, self._out_spec)

    def call_flat(self, *given):
        """Runs the model on its flat arguments; a list of its flat results."""
        leaves = self.check(given)
        results = self._empty_results()
        self._run(self._compilation.call, leaves, results)
        return self._assemble(given, leaves, results)

    def flatten(self, args, kwargs):
        """The flat arguments of a call."""
        return self._signature.flatten(args, kwargs)

    def check(self, given):
        """The flat arguments as the program reads them; None for one that is no tensor."""
        return self._signature.check(given)

    def assemble(self, given, results):
        """The model's flat results from those of the program."""
        return self._assemble(given, self.check(given), results)

    def profile(self, *args, **kwargs):
        """Runs the model once, step by step: a `Profile`."""
        leaves = self.check(self.flatten(args, kwargs))
        return Profile(self._run(self._compilation.profile, leaves, self._empty_results()), self._report)

    def save(self, path):
        """Not there yet."""
        raise UnsupportedError(
            "saving a compiled model is not supported yet: the plan has no file format; "
            "inlay.export(model, inputs, path) writes the graph for the command-line tools"
        )

    def __repr__(self):
        counts = ", ".join(f"{count} ops on {target}" for target, count in self._report.ops_by_target().items())
        return f"<inlay.CompiledModule: {counts}>"

    def _empty_results(self):
        return [torch.empty(shape, dtype=dtype) for shape, dtype in self._imported.results]

    def _run(self, function, leaves, results):
        tensors = [leaf for leaf in leaves if leaf is not None]
        try:
            return function(tensors, results)
        except InternalError as error:
            failure, self._fallback.failure = self._fallback.failure, None
            if failure is None:
                raise
            raise Error(str(error)) from failure

    def _assemble(self, given, leaves, results):
        """The model's flat results."""
        values = []
        for output in self._imported.outputs:
            if output.kind == "result":
                value = results[output.index]
            elif output.kind == "value":
                value = output.value
            else:
                value = leaves[output.index] if output.copied else given[output.index]
            values.append(value.clone() if output.copied else value)
        return values
