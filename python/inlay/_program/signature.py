# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A call's arguments: brought into the order of the export, checked against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from .._dialect.text import tensor_text
from ..errors import ArgumentTypeError, ArgumentValueError, SizesError, did_you_mean
from .imported import CallConvention, Interface
from .sizes import Line, Size


class _Source(NamedTuple):
    """The dim of an input that determines a symbol: the first one that is a multiple of it plus a number."""

    input: int
    dim: int
    size: Size
    line: Line


class _Check(NamedTuple):
    """A dim of an input, or an input that is a number if `dim` is None, that the symbols determine."""

    input: int
    dim: int | None
    size: Size


class Signature:
    """Brings the arguments of calls into flat order and checks them."""

    def __init__(self, interface: Interface, convention: CallConvention | None = None) -> None:
        """convention: None if calls give flat arguments alone."""
        self.convention = convention
        self._inputs, self._symbols = interface.inputs, interface.symbols
        self._sources, self._checks = _find_sizes(self._inputs)
        self._known = [_find_known(one.shape) for one in self._inputs]
        self._conditions = [(one, self._symbols.function(one)) for one in interface.conditions]
        self._defaults = dict(convention.defaults) if convention else {}
        self._names = [leaf.name for leaf in self._inputs]
        self._positional, self._keywords, self._is_flat = [], [], False
        if convention is not None:
            positional, keyword = convention.in_spec.children()
            count = positional.num_children
            names = list(convention.argument_names or [])
            self._positional = names[:count] if len(names) >= count else [f"argument{i}" for i in range(count)]
            self._keywords = list(keyword.context) if keyword.num_children else []
            self._names = [self._path(path) for path in _paths(convention.in_spec)]
            self._is_flat = all(spec.is_leaf() for spec in (*positional.children(), *keyword.children()))

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The call's arguments in flat order, positional or by name; ArgumentTypeError if they don't fit the model."""
        if len(args) != len(self._positional) or list(kwargs) != self._keywords:
            args, kwargs = self._reorder(args, kwargs)
        if self._is_flat:
            return [*args, *kwargs.values()]
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if spec != self.convention.in_spec:
            raise ArgumentTypeError(self._explain_nesting(args, kwargs, spec))
        return leaves

    def refuse_gradients(self, leaves: Sequence[Any]) -> None:
        """Raises ArgumentValueError for a tensor that gradients are asked for."""
        for number, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
                raise ArgumentValueError(
                    f"{self._place(number)} requires grad, but a compiled model records nothing for autograd: pass it "
                    "detached (.detach()) or call the model under torch.no_grad() or torch.inference_mode(); to train, "
                    'use torch.compile(model, backend="inlay")'
                )

    def check_written(self, number: int, leaves: Sequence[Any]) -> None:
        """Raises ArgumentValueError if tensor `number`, which the model writes, shares memory with another one or with
        itself, or may not be written."""
        leaf = leaves[number]
        if any(size > 1 and stride == 0 for size, stride in zip(leaf.shape, leaf.stride(), strict=True)):
            raise ArgumentValueError(
                f"{self._place(number)} is written by the model, but several of its elements are in one place, as "
                "expand makes them: pass a copy (.clone())"
            )
        if leaf.is_inference() and not torch.is_inference_mode_enabled():
            raise ArgumentValueError(
                f"{self._place(number)} is written by the model, but was made in inference mode, which writes to it "
                "are only allowed in: pass a copy (.clone())"
            )
        for other, leaf in enumerate(leaves):
            if other != number and _share_memory(leaf, leaves[number]):
                raise ArgumentValueError(
                    f"{self._place(number)} is written by the model, but shares memory with {self._place(other)}"
                )

    def check(self, leaves: Sequence[Any]) -> list[torch.Tensor | None]:
        """The flat arguments ready to be read: on the CPU, contiguous, detached; None for one that is no tensor.

        Raises ArgumentTypeError (no tensor, dtype) or ArgumentValueError (rank, sizes, device, another value
        than at export); the message names the argument and its place.
        """
        return [self._prepare(number, leaf) for number, leaf in enumerate(leaves)]

    def measure(self, leaves: Sequence[Any]) -> list[int]:
        """The values of the symbols in a call with these flat arguments, which `check` has passed.

        Raises SizesError, naming the argument, its dim, the symbol and its range, for a size out of range, or what two
        arguments disagree about.
        """
        values = [0] * len(self._symbols)
        for symbol, source in self._sources.items():
            have = leaves[source.input].shape[source.dim]
            value, remainder = divmod(have - source.line.rest, source.line.factor)
            self._check_range(source, have, None if remainder else value)
            values[symbol] = value
        for check in self._checks:
            have = leaves[check.input] if check.dim is None else leaves[check.input].shape[check.dim]
            if have != check.size.evaluate(values):
                raise self._disagreement(check, have, values)
        for condition, holds in self._conditions:
            if not _is_true(holds, values):
                sizes = ", ".join(f"{one.name} = {value}" for one, value in zip(self._symbols, values, strict=True))
                raise SizesError(f"expected sizes for which {self._symbols.spell(condition)}, but got {sizes}")
        return values

    def _check_range(self, source, have, value):
        wanted = self._symbols.table[source.line.symbol]
        if value is not None and wanted.min <= value <= wanted.max:
            return
        expected = wanted.range_text
        if str(source.size) != wanted.name:
            expected = f"{source.size} with {wanted.name} {expected}"
        place = self._place(source.input)
        raise SizesError(f"{place}: dim {source.dim} ({str(source.size)!r}) is {have}, but expected {expected}")

    def _disagreement(self, check, have, values):
        where = self._place(check.input) + ("" if check.dim is None else f": dim {check.dim} ({str(check.size)!r})")
        others = [
            f"dim {source.dim} of argument {self._names[source.input]!r}"
            for symbol, source in sorted(self._sources.items())
            if check.size.depends_on(symbol)
        ]
        given = f", as {' and '.join(others)} say{'s' * (len(others) == 1)}" if others else ""
        return SizesError(f"{where} is {have}, but expected {check.size.evaluate(values)}{given}")

    def _reorder(self, args, kwargs):
        """Moves each argument to where the export has it."""
        names = self._positional + self._keywords
        if len(args) > len(names):
            raise ArgumentTypeError(f"expected {len(names)} arguments ({', '.join(names)}), but got {len(args)}")
        values = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                if name in self._defaults and _is_same(value, self._defaults[name]):
                    continue
                raise ArgumentTypeError(self._explain_unknown(name, names))
            if name in values:
                raise ArgumentTypeError(
                    f"argument {name!r} was given twice, in place {names.index(name) + 1} and by name"
                )
            values[name] = value
        for place, name in enumerate(names):
            if name not in values:
                raise ArgumentTypeError(f"missing argument {name!r} (place {place + 1}): expected {self._wanted(name)}")
        return tuple(values[name] for name in self._positional), {name: values[name] for name in self._keywords}

    def _explain_unknown(self, name, names):
        if name in self._defaults:
            return (
                f"argument {name!r} is fixed at its default, {self._defaults[name]!r}, since the example inputs left "
                "it out: compile with inputs that have it"
            )
        return f"unknown argument {name!r}{did_you_mean(name, names)}"

    def _explain_nesting(self, args, kwargs, spec):
        paths = [self._path(path) for path, _ in pytree.tree_flatten_with_path((args, kwargs))[0]]
        missing = [name for name in self._names if name not in paths]
        unexpected = [name for name in paths if name not in self._names]
        parts = ["missing " + ", ".join(missing)] * bool(missing)
        parts += ["unexpected " + ", ".join(unexpected)] * bool(unexpected)
        if parts:
            return f"expected arguments nested like the example inputs, but got others: {'; '.join(parts)}"
        return f"expected arguments nested like the example inputs, {self.convention.in_spec}, but got {spec}"

    def _path(self, path):
        """`cache['key'][0]` for the path of a leaf in (args, kwargs)."""
        where, name, rest = path[0].idx, path[1], path[2:]
        name = name.key if where else self._positional[name.idx] if name.idx < len(self._positional) else name.idx
        return f"{name}{pytree.keystr(rest)}"

    def _wanted(self, name):
        for leaf in self._inputs:
            if leaf.name == name:
                return tensor_text(leaf.dtype, leaf.shape) if leaf.is_tensor else repr(leaf.value)
        return "what the model was exported with"

    def _prepare(self, number, leaf):
        wanted = self._inputs[number]
        if isinstance(wanted.value, Size):
            if isinstance(leaf, bool) or not isinstance(leaf, int):
                raise ArgumentTypeError(f"{self._place(number)}: expected an int, but got {type(leaf).__name__}")
            return None
        if not wanted.is_tensor:
            if type(leaf) is not type(wanted.value) or not _is_equal(leaf, wanted.value):
                raise ArgumentValueError(
                    f"{self._place(number)} is fixed at {wanted.value!r} since export, but got {leaf!r}"
                )
            return None
        fits = isinstance(leaf, torch.Tensor) and leaf.dtype == wanted.dtype and self._fits(number, leaf.shape)
        if not fits or leaf.device.type != "cpu" or leaf.layout != wanted.layout:
            raise self._mismatch(number, leaf)
        return leaf.detach() if wanted.is_kept else leaf.detach().resolve_neg().contiguous()

    def _fits(self, number, shape):
        """Whether dims are those of an input, as far as these are known."""
        wanted, known = self._inputs[number].shape, self._known[number]
        if known is None:
            return shape == wanted
        return len(shape) == len(wanted) and all(shape[dim] == size for dim, size in known)

    def _place(self, number):
        name = self._names[number]
        return f"argument {name!r} (place {number + 1})"

    def _mismatch(self, number, leaf):
        wanted, place = self._inputs[number], self._place(number)
        text = tensor_text(wanted.dtype, wanted.shape)
        if not isinstance(leaf, torch.Tensor):
            return ArgumentTypeError(f"{place}: expected a tensor {text}, but got {type(leaf).__name__}")
        got = tensor_text(leaf.dtype, leaf.shape)
        if leaf.layout != wanted.layout:
            kind = "a dense tensor" if wanted.layout == torch.strided else f"a tensor of layout {wanted.layout}"
            return ArgumentTypeError(f"{place}: expected {kind} {text}, but got one of layout {leaf.layout}")
        if leaf.device.type != "cpu":
            return ArgumentValueError(f"{place}: expected a tensor {text} on the CPU, but got one on {leaf.device}")
        if leaf.dtype != wanted.dtype:
            return ArgumentTypeError(f"{place}: expected dtype {text}, but got {got}")
        if leaf.dim() != len(wanted.shape):
            return ArgumentValueError(
                f"{place}: expected rank {len(wanted.shape)}, {text}, but got rank {leaf.dim()}, {got}"
            )
        sizes = enumerate(zip(leaf.shape, wanted.shape, strict=True))
        dims = [i for i, (have, want) in sizes if isinstance(want, int) and have != want]
        return ArgumentValueError(f"{place}: expected {text}, but got {got}: dim {', '.join(map(str, dims))} differs")


def _paths(spec):
    """The path of each leaf of a TreeSpec."""
    tree = pytree.tree_unflatten([torch.empty(0)] * spec.num_leaves, spec)
    return [path for path, _ in pytree.tree_flatten_with_path(tree)[0]]


def _find_sizes(inputs):
    """Returns the _Source of each symbol, by its number, and the _Checks of all other sizes."""
    sources, checks = {}, []
    for number, one in enumerate(inputs):
        if isinstance(one.value, Size):
            checks.append(_Check(number, None, one.value))
        for dim, size in enumerate(one.shape):
            line = size.line() if isinstance(size, Size) else None
            if line is not None and line.symbol not in sources:
                sources[line.symbol] = _Source(number, dim, size, line)
            elif isinstance(size, Size):
                checks.append(_Check(number, dim, size))
    return sources, checks


def _is_true(condition, values):
    try:
        return bool(condition(*values))
    except ZeroDivisionError:
        return False


def _find_known(shape):
    """(dim, its size) of the dims that are known; None if all are."""
    if not any(isinstance(size, Size) for size in shape):
        return None
    return [(dim, size) for dim, size in enumerate(shape) if not isinstance(size, Size)]


def _is_same(value, default):
    if value is default:
        return True
    plain = (bool, int, float, str)
    return type(value) is type(default) and isinstance(value, plain) and _is_equal(value, default)


def _is_equal(value, other):
    """Equality in which NaN is itself."""
    return value == other or (value != value and other != other)


def _share_memory(a, b):
    tensors = all(isinstance(value, torch.Tensor) and value.layout == torch.strided for value in (a, b))
    if not tensors or not a.numel() or not b.numel():
        return False
    if a.untyped_storage().data_ptr() != b.untyped_storage().data_ptr():
        return False
    (first, last), (other_first, other_last) = _extent(a), _extent(b)
    return first <= other_last and other_first <= last


def _extent(tensor):
    """The addresses of a tensor's first and last byte."""
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    first = tensor.data_ptr()
    return first, first + (reach + 1) * tensor.element_size() - 1
