# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings the arguments of a call into the order of the export and checks their types, dtypes and sizes.

`sizes.py` has the expressions of sizes. The runtime checks again, in lib/Runtime/Core/Execute/Arguments.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from .._dialect.text import has_no_shape, tensor_text
from ..errors import ArgumentTypeError, ArgumentValueError, SizesError, did_you_mean
from .imported import CARRIER_DTYPE, CallConvention, Dims, Interface, ProgramInput, in_order
from .sizes import Line, Size


class _Source(NamedTuple):
    """The dim of an input that determines a symbol: the first dim that is a multiple of the symbol plus a number.

    dim: None if the input itself is an int that determines the symbol.
    """

    input: int
    dim: int | None
    size: Size
    line: Line


class _Check(NamedTuple):
    """A dim of an input that the symbols determine, or an input that is a number if `dim` is None."""

    input: int
    dim: int | None
    size: Size


class Signature:
    """Brings the arguments of calls into flat order and checks them."""

    def __init__(self, interface: Interface, convention: CallConvention | None = None) -> None:
        """convention: None if all calls pass flat arguments."""
        self.convention = convention
        self._inputs, self._symbols = interface.inputs, interface.symbols
        self._sources, self._checks = _find_sizes(self._inputs)
        self._known = [_find_known(argument.shape) for argument in self._inputs]
        self._conditions = [(condition, self._symbols.function(condition)) for condition in interface.conditions]
        self._defaults = dict(convention.defaults) if convention else {}
        self._names = [leaf.name for leaf in self._inputs]
        self._positional: list[str] = []
        self._keywords: list[str] = []
        self._is_flat = False
        if convention is not None:
            positional, keyword = convention.in_spec.children()
            self._positional, self._keywords = convention.names
            self._names = [self._path(path) for path in _paths(convention.in_spec)]
            self._is_flat = all(spec.is_leaf() for spec in (*positional.children(), *keyword.children()))

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """Returns the arguments of a call in flat order. Raises ArgumentTypeError if they don't fit the model."""
        args, kwargs = self.arrange(args, kwargs)
        if self._is_flat:
            return [*args, *kwargs.values()]
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if self.convention is not None and spec != self.convention.in_spec:
            raise ArgumentTypeError(self._explain_nesting(args, kwargs, spec, self.convention.in_spec))
        return leaves

    def arrange(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """Returns the positional and keyword arguments of a call in the order of the export."""
        if len(args) != len(self._positional) or list(kwargs) != self._keywords:
            return self._reorder(args, kwargs)
        return args, kwargs

    def refuse_gradients(self, leaves: Sequence[Any]) -> None:
        """Raises ArgumentValueError for a tensor that requires gradients."""
        for number, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
                raise ArgumentValueError(
                    f"{self._place(number)} requires grad, but a compiled model records nothing for autograd: pass it "
                    "detached (.detach()) or call the model under torch.no_grad() or torch.inference_mode(); to train, "
                    'use torch.compile(model, backend="inlay")'
                )

    def check_written(self, number: int, leaves: Sequence[Any]) -> None:
        """Checks tensor `number`, which the model writes.

        Raises ArgumentValueError if the tensor or its elements share memory, or if it must not be written.
        """
        leaf = leaves[number]
        if any(size > 1 and stride == 0 for size, stride in zip(leaf.shape, leaf.stride(), strict=True)):
            raise ArgumentValueError(
                f"{self._place(number)} is written by the model, but several of its elements share memory, as after "
                "expand: pass a copy (.clone())"
            )
        if leaf.is_inference() and not torch.is_inference_mode_enabled():
            raise ArgumentValueError(
                f"{self._place(number)} is written by the model, but it was made in inference mode and can only be "
                "written there: pass a copy (.clone())"
            )
        for other, leaf in enumerate(leaves):
            if other != number and _share_memory(leaf, leaves[number]):
                raise ArgumentValueError(
                    f"{self._place(number)} is written by the model, but shares memory with {self._place(other)}"
                )

    def check(self, leaves: Sequence[Any]) -> list[torch.Tensor | None]:
        """Returns the flat arguments as contiguous, detached tensors on the CPU, with None for other values.

        Raises ArgumentTypeError for a wrong type or dtype, and ArgumentValueError for a wrong rank, size, device or
        value. The message names the argument and its place.
        """
        return [self._prepare(number, leaf) for number, leaf in enumerate(leaves)]

    def measure(self, leaves: Sequence[Any]) -> list[int]:
        """Returns the values of the symbols in a call with these flat arguments, which passed `check`.

        Raises SizesError for a size out of range or two sizes in conflict. The message names the arguments, their dims,
        and the symbol with its range.
        """
        values = [0] * len(self._symbols)
        for symbol, source in self._sources.items():
            have = leaves[source.input] if source.dim is None else leaves[source.input].shape[source.dim]
            value, remainder = divmod(have - source.line.rest, source.line.factor)
            self._check_range(source, have, None if remainder else value)
            values[symbol] = value
        for check in self._checks:
            have = leaves[check.input] if check.dim is None else leaves[check.input].shape[check.dim]
            if have != check.size.evaluate(values):
                raise self._disagreement(check, have, values)
        for condition, holds in self._conditions:
            if not _is_true(holds, values):
                pairs = zip(self._symbols, values, strict=True)
                sizes = ", ".join(f"{symbol.name} = {value}" for symbol, value in pairs)
                raise SizesError(f"expected sizes for which {self._symbols.spell(condition)}, but got {sizes}")
        return values

    def _check_range(self, source: _Source, have: int, value: int | None) -> None:
        """Raises SizesError if `value` of the symbol is None or out of range. have: the size of the dim."""
        wanted = self._symbols.table[source.line.symbol]
        if value is not None and wanted.min <= value <= wanted.max:
            return
        expected = wanted.range_text
        if str(source.size) != wanted.name:
            expected = f"{source.size} with {wanted.name} {expected}"
        hint = '; compile for such a value too, or with out_of_range="torch"' * (source.dim is None)
        raise SizesError(f"{self._where(source)} is {have}, but expected {expected}{hint}")

    def _disagreement(self, check: _Check, have: Any, values: Sequence[int]) -> SizesError:
        others = [
            f"{'' if source.dim is None else f'dim {source.dim} of '}argument {self._names[source.input]!r}"
            for symbol, source in sorted(self._sources.items())
            if check.size.depends_on(symbol)
        ]
        given = f", as {' and '.join(others)} say{'s' * (len(others) == 1)}" if others else ""
        return SizesError(f"{self._where(check)} is {have}, but expected {check.size.evaluate(values)}{given}")

    def _where(self, part: _Source | _Check) -> str:
        """Returns the argument and the dim of a size for messages."""
        place = self._place(part.input)
        return place if part.dim is None else f"{place}: dim {part.dim} ({str(part.size)!r})"

    def _reorder(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the positional and keyword arguments as the export has them."""
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
                    f"argument {name!r} was given twice: in place {names.index(name) + 1} and by name"
                )
            values[name] = value
        for place, name in enumerate(names):
            if name not in values:
                raise ArgumentTypeError(f"missing argument {name!r} (place {place + 1}): expected {self._wanted(name)}")
        return tuple(values[name] for name in self._positional), {name: values[name] for name in self._keywords}

    def _explain_unknown(self, name: str, names: Sequence[str]) -> str:
        if name in self._defaults:
            return (
                f"argument {name!r} is fixed at its default, {self._defaults[name]!r}, because the example inputs left "
                "it out: compile with example inputs that have it"
            )
        return f"unknown argument {name!r}{did_you_mean(name, names)}"

    def _explain_nesting(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], spec: pytree.TreeSpec, wanted: pytree.TreeSpec
    ) -> str:
        paths = [self._path(path) for path, _ in pytree.tree_flatten_with_path((args, kwargs))[0]]
        missing = [name for name in self._names if name not in paths]
        unexpected = [name for name in paths if name not in self._names]
        parts = ["missing " + ", ".join(missing)] * bool(missing)
        parts += ["unexpected " + ", ".join(unexpected)] * bool(unexpected)
        if parts:
            return f"expected arguments nested like the example inputs, but got others: {'; '.join(parts)}"
        place, old, new = _find_difference(wanted, spec)
        if place:
            return f"expected {place} of an argument to be {old!r} as in the example inputs, but got {new!r}"
        return f"expected arguments nested like the example inputs, {wanted}, but got {spec}"

    def _path(self, path: Any) -> str:
        """Returns the path of a leaf in (args, kwargs) as text, such as `cache['key'][0]`."""
        where, name, rest = path[0].idx, path[1], path[2:]
        name = name.key if where else self._positional[name.idx] if name.idx < len(self._positional) else name.idx
        return f"{name}{pytree.keystr(rest)}"

    def _wanted(self, name: str) -> str:
        """Returns the expected type or value of an argument for messages."""
        for leaf in self._inputs:
            if leaf.name == name:
                return tensor_text(leaf.dtype, leaf.shape) if leaf.dtype is not None else repr(leaf.value)
        return "an argument like that of the export"

    def _prepare(self, number: int, leaf: Any) -> torch.Tensor | None:
        """Returns a flat argument as a contiguous tensor on the CPU, or None for another value."""
        wanted = self._inputs[number]
        if isinstance(wanted.value, Size):
            if isinstance(leaf, bool) or not isinstance(leaf, int):
                raise ArgumentTypeError(f"{self._place(number)}: expected an int, but got {type(leaf).__name__}")
            if wanted.is_carrier:
                return torch.empty((max(leaf, 0), 0), dtype=CARRIER_DTYPE)  # `measure` refuses a negative int
            return None
        if not wanted.is_tensor:
            if type(leaf) is not type(wanted.value) or not _is_equal(leaf, wanted.value):
                raise ArgumentValueError(
                    f"{self._place(number)} is fixed at {wanted.value!r} since export, but got {leaf!r}"
                )
            return None
        if (
            not isinstance(leaf, torch.Tensor)
            or leaf.dtype != wanted.dtype
            or has_no_shape(leaf)
            or not self._fits(number, leaf.shape)
            or leaf.device.type != "cpu"
            or leaf.layout != wanted.layout
        ):
            raise self._mismatch(number, leaf)
        return leaf.detach() if wanted.is_kept else in_order(leaf)

    def _fits(self, number: int, shape: torch.Size) -> bool:
        """Returns true if the known dims of an input equal those of `shape`."""
        wanted, known = self._inputs[number].shape, self._known[number]
        if known is None:
            return shape == wanted
        return len(shape) == len(wanted) and all(shape[dim] == size for dim, size in known)

    def _place(self, number: int) -> str:
        """Returns the name and the place of a flat argument for messages."""
        name = self._names[number]
        return f"argument {name!r} (place {number + 1})"

    def _mismatch(self, number: int, leaf: Any) -> ArgumentTypeError | ArgumentValueError:
        """Returns the error for a flat argument that is not the expected tensor."""
        wanted, place = self._inputs[number], self._place(number)
        assert wanted.dtype is not None
        text = tensor_text(wanted.dtype, wanted.shape)
        if not isinstance(leaf, torch.Tensor):
            return ArgumentTypeError(f"{place}: expected a tensor {text}, but got {type(leaf).__name__}")
        if has_no_shape(leaf):
            return ArgumentTypeError(f"{place}: expected a tensor {text}, but got a nested tensor")
        got = tensor_text(leaf.dtype, leaf.shape)
        if leaf.layout != wanted.layout:
            kind = "a dense tensor" if wanted.layout == torch.strided else f"a tensor of layout {wanted.layout}"
            return ArgumentTypeError(f"{place}: expected {kind} {text}, but got layout {leaf.layout}")
        if leaf.device.type != "cpu":
            return ArgumentValueError(f"{place}: expected a tensor {text} on the CPU, but got device {leaf.device}")
        if leaf.dtype != wanted.dtype:
            return ArgumentTypeError(f"{place}: expected dtype {text}, but got {got}")
        if leaf.dim() != len(wanted.shape):
            return ArgumentValueError(
                f"{place}: expected rank {len(wanted.shape)}, {text}, but got rank {leaf.dim()}, {got}"
            )
        sizes = enumerate(zip(leaf.shape, wanted.shape, strict=True))
        dims = [i for i, (have, want) in sizes if isinstance(want, int) and have != want]
        return ArgumentValueError(f"{place}: expected {text}, but got {got}: dim {', '.join(map(str, dims))} differs")


def _paths(spec: pytree.TreeSpec) -> list[Any]:
    """Returns the path of each leaf of a TreeSpec."""
    tree = pytree.tree_unflatten([torch.empty(0)] * spec.num_leaves, spec)
    return [path for path, _ in pytree.tree_flatten_with_path(tree)[0]]


def _find_difference(wanted: pytree.TreeSpec, spec: pytree.TreeSpec) -> tuple[str, Any, Any]:
    """Returns the attribute in which the contexts of an object in two structures differ, and its two values.

    The attribute is empty if the structures differ in another way.
    """
    if (wanted.type, wanted.num_children) != (spec.type, spec.num_children):
        return "", None, None
    if wanted.context != spec.context:
        return _find_attribute(wanted.context, spec.context, "")
    pairs = zip(wanted.children(), spec.children(), strict=True)
    return next((_find_difference(old, new) for old, new in pairs if old != new), ("", None, None))


def _find_attribute(old: Any, new: Any, path: str) -> tuple[str, Any, Any]:
    """Returns the path of the first different value in two descriptions of an object, as caches have them."""
    if not isinstance(old, tuple) or not isinstance(new, tuple) or len(old) != len(new):
        return path, old, new
    differing = [number for number, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    is_pair = len(old) == 2 and differing == [1]
    if is_pair and old[0] in (list, tuple) and len(old[1]) == len(new[1]):
        number = next(number for number, pair in enumerate(zip(old[1], new[1], strict=True)) if pair[0] != pair[1])
        return _find_attribute(old[1][number], new[1][number], f"{path}[{number}]")
    if is_pair and isinstance(old[0], str) and old[0] != "value":
        path = f"{path}.{old[0]}" if path else old[0]
    return _find_attribute(old[differing[0]], new[differing[0]], path)


def _find_sizes(inputs: Sequence[ProgramInput]) -> tuple[dict[int, _Source], list[_Check]]:
    """Returns the _Source of each symbol by the number of the symbol, and the _Checks of all other sizes."""
    sources: dict[int, _Source] = {}
    checks: list[_Check] = []
    for number, argument in enumerate(inputs):
        if isinstance(argument.value, Size):
            line = argument.value.line()
            if argument.is_carrier and line is not None:
                sources[line.symbol] = _Source(number, None, argument.value, line)
            else:
                checks.append(_Check(number, None, argument.value))
        for dim, size in enumerate(argument.shape):
            if not isinstance(size, Size):
                continue
            line = size.line()
            if line is not None and line.symbol not in sources:
                sources[line.symbol] = _Source(number, dim, size, line)
            else:
                checks.append(_Check(number, dim, size))
    return sources, checks


def _is_true(condition: Callable[..., object], values: Sequence[int]) -> bool:
    try:
        return bool(condition(*values))
    except ZeroDivisionError:
        return False


def _find_known(shape: Dims) -> list[tuple[int, int]] | None:
    """Returns (dim, size) of the known dims, or None if all dims are known."""
    if not any(isinstance(size, Size) for size in shape):
        return None
    return [(dim, size) for dim, size in enumerate(shape) if not isinstance(size, Size)]


def _is_same(value: Any, default: Any) -> bool:
    """Returns true if an argument equals the default at export."""
    if value is default:
        return True
    plain = (bool, int, float, str)
    return type(value) is type(default) and isinstance(value, plain) and _is_equal(value, default)


def _is_equal(value: Any, other: Any) -> bool:
    """Returns true if two values are equal. NaN equals itself."""
    return bool(value == other or (value != value and other != other))


def _share_memory(a: Any, b: Any) -> bool:
    """Returns true if both values are tensors whose ranges of memory overlap."""
    tensors = all(isinstance(value, torch.Tensor) and value.layout == torch.strided for value in (a, b))
    if not tensors or not a.numel() or not b.numel():
        return False
    if a.untyped_storage().data_ptr() != b.untyped_storage().data_ptr():
        return False
    (first, last), (other_first, other_last) = _extent(a), _extent(b)
    return first <= other_last and other_first <= last


def _extent(tensor: torch.Tensor) -> tuple[int, int]:
    """Returns the addresses of the first and the last byte of a tensor."""
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    first = tensor.data_ptr()
    return first, first + (reach + 1) * tensor.element_size() - 1
