# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Example inputs for an export, and the dims whose sizes may differ from call to call.

Such dims are given by `dynamic_shapes`, as for torch.export, or by `Input`, a range of shapes in place of an example.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import torch
from torch.export import Dim, ShapesCollection
from torch.export import dynamic_shapes as torch_shapes
from torch.utils import _pytree as pytree
from torch.utils._sympy.numbers import int_oo

from ..errors import ArgumentTypeError, ArgumentValueError

_MIN_TRACED = 2  # torch.export treats smaller sizes of examples as fixed


# The user's request for a dim: a torch.export.Dim, or a hint (Dim.AUTO, Dim.DYNAMIC, Dim.STATIC), which has no public
# class.
RequestedDim: TypeAlias = Any


class SizeRange(NamedTuple):
    """The smallest and the largest size of a dim; largest: None if there is no limit."""

    smallest: int
    largest: int | None


@dataclass(frozen=True)
class Input:
    """The shapes that a tensor argument may have, in place of an example tensor.

    Give either `shape` or both `min_shape` and `max_shape`. `opt_shape` may be added to either.

    min_shape, max_shape: lists of sizes. If they differ in a dim, the dim may have any size from the first to the
        second, both included.
    opt_shape: the sizes that code is optimized for (default: min_shape if it is given).
    dtype: the dtype of the tensor (default: torch.float32).
    shape: a list of ints and torch.export.Dims. Dims with the same Dim have the same size, also in different inputs.

    Raises ArgumentTypeError or ArgumentValueError for an invalid range.
    """

    min_shape: Sequence[int] | None = None
    opt_shape: Sequence[int] | None = None
    max_shape: Sequence[int] | None = None
    dtype: torch.dtype = torch.float32
    shape: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        for name in ("min_shape", "opt_shape", "max_shape"):
            _check_dims(name, getattr(self, name))
        if not isinstance(self.dtype, torch.dtype):
            raise ArgumentTypeError(f"expected dtype to be a torch.dtype, but got {self.dtype!r}")
        if (self.shape is None) == (self.min_shape is None and self.max_shape is None):
            raise ArgumentTypeError("expected either shape, or min_shape and max_shape")
        if self.shape is None and (self.min_shape is None or self.max_shape is None):
            raise ArgumentTypeError("expected min_shape and max_shape together")
        shapes = [shape for shape in (self.min_shape, self.opt_shape, self.max_shape, self.shape) if shape is not None]
        if len({len(shape) for shape in shapes}) != 1:
            raise ArgumentValueError(f"expected as many dims in each shape, but got {', '.join(map(str, shapes))}")
        for dim in range(len(shapes[0])):
            self._check_range(dim)

    def _check_range(self, dim: int) -> None:
        """Raises ArgumentValueError if the sizes of a dim contradict each other."""
        low, high = self.range_of(dim)
        opt = low if self.opt_shape is None else self.opt_shape[dim]
        if high is not None and low > high:
            raise ArgumentValueError(
                f"expected min_shape to be at most max_shape, but got {low} and {high} in dim {dim}"
            )
        if opt < low or (high is not None and opt > high):
            upper = "more" if high is None else f"to {high}" if high != low else f"{high}"
            raise ArgumentValueError(f"dim {dim} of opt_shape is {opt}, but expected {low} {upper}")

    def range_of(self, dim: int) -> SizeRange:
        """Returns the smallest and the largest size of a dim."""
        if self.shape is None:
            assert self.min_shape is not None and self.max_shape is not None
            return SizeRange(self.min_shape[dim], self.max_shape[dim])
        size = self.shape[dim]
        if isinstance(size, int):
            return SizeRange(size, size)
        if isinstance(size, Dim) and not isinstance(size, torch_shapes._DerivedDim):
            return SizeRange(size.min, None if size.max == int_oo else int(size.max))
        return SizeRange(0, None)

    @property
    def rank(self) -> int:
        """The number of dims of the tensor."""
        shape = self.min_shape if self.shape is None else self.shape
        assert shape is not None
        return len(shape)


@dataclass(frozen=True)
class ShapeProfile:
    """The part of the user's request for a dim that torch.export does not keep.

    min: the smallest size, None if the user gave none. typical: None for the size of the example, 0 if unknown. tie: a
    name that dims of one size have in common.
    """

    min: int | None = None
    typical: int | None = None
    tie: str | None = None


@dataclass
class ExampleInputs:
    """The examples that a module is exported with.

    shape_profiles: (number of a leaf, dim) -> ShapeProfile.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    dynamic_shapes: Any = None
    shape_profiles: dict[tuple[int, int], ShapeProfile] = field(default_factory=dict)


def make_examples(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> ExampleInputs:
    """Returns the examples for inputs, some of which may be `Input`s.

    Raises ArgumentTypeError or ArgumentValueError for ranges that contradict each other or can't be exported.
    """
    leaves, spec = pytree.tree_flatten((args, kwargs))
    if any(isinstance(leaf, Input) for leaf in leaves):
        if dynamic_shapes is not None:
            raise ArgumentTypeError(
                "expected no dynamic_shapes with an inlay.Input, which gives the ranges of its dims itself"
            )
        return _from_inputs(leaves, spec)
    examples = ExampleInputs(args, kwargs, dynamic_shapes)
    first_sizes: dict[str, tuple[int, int]] = {}  # name of a Dim -> (size, number of the example)
    for number, dims in _requested_dims(model, examples).items():
        for dim, requested in dims.items():
            size = leaves[number].shape[dim]
            _check_example(requested, size, number, dim)
            if isinstance(requested, Dim) and first_sizes.setdefault(requested.__name__, (size, number))[0] != size:
                other, place = first_sizes[requested.__name__]
                raise ArgumentValueError(
                    f"the size {requested.__name__!r} is {other} in example input {place + 1}, but {size} in example "
                    f"input {number + 1}"
                )
            if isinstance(requested, torch_shapes._DimHint) and requested.min is not None:
                examples.shape_profiles[number, dim] = ShapeProfile(min=requested.min)
    return examples


def _from_inputs(leaves: list[Any], spec: pytree.TreeSpec) -> ExampleInputs:
    """Returns examples that have tensors in place of `Input`s. leaves, spec: the flat inputs and their structure."""
    shapes = ShapesCollection()
    made: list[Any] = []
    shape_profiles: dict[tuple[int, int], ShapeProfile] = {}
    opts = _find_opts(leaves)
    for number, leaf in enumerate(leaves):
        if not isinstance(leaf, Input):
            made.append(leaf)
            continue
        chosen = [_choose(leaf, dim, opts) for dim in range(leaf.rank)]
        made.append(torch.zeros([choice.size for choice in chosen], dtype=leaf.dtype))
        dims = {dim: choice.requested for dim, choice in enumerate(chosen) if choice.requested is not None}
        shape_profiles.update({(number, dim): chosen[dim].profile for dim in dims})
        if dims:
            shapes[made[-1]] = dims
    args, kwargs = pytree.tree_unflatten(made, spec)
    return ExampleInputs(args, kwargs, shapes if shape_profiles else None, shape_profiles)


def _find_opts(leaves: list[Any]) -> dict[str, int]:
    """Returns, by the name of a Dim, its size in opt_shape. Raises ArgumentValueError if two inputs disagree."""
    opts: dict[str, int] = {}
    for leaf in leaves:
        if not isinstance(leaf, Input) or leaf.shape is None or leaf.opt_shape is None:
            continue
        for requested, opt in zip(leaf.shape, leaf.opt_shape, strict=True):
            is_root = isinstance(requested, Dim) and not isinstance(requested, torch_shapes._DerivedDim)
            if is_root and opts.setdefault(requested.__name__, opt) != opt:
                other = opts[requested.__name__]
                raise ArgumentValueError(
                    f"the size {requested.__name__!r} is {other} in one opt_shape and {opt} in another"
                )
    return opts


class _ChosenDim(NamedTuple):
    """A dim of an `Input`: the example's size, what torch.export is asked for (None for a fixed size), the rest."""

    size: int
    requested: RequestedDim
    profile: ShapeProfile


def _choose(leaf: Input, dim: int, opts: dict[str, int]) -> _ChosenDim:
    """Returns how to export a dim of an `Input`. opts: name of a Dim -> its size in opt_shape."""
    low, high = leaf.range_of(dim)
    if low == high:
        return _ChosenDim(low, None, ShapeProfile())
    if high is not None and high < _MIN_TRACED:
        raise ArgumentValueError(f"dim {dim} is {low} to {high}, but torch.export treats sizes of 0 and 1 as fixed")
    if leaf.shape is not None:
        requested = leaf.shape[dim]
        profile = ShapeProfile(typical=opts.get(requested.__name__, 0))
        return _ChosenDim(_size_of(requested, opts), requested, profile)
    opt = low if leaf.opt_shape is None else leaf.opt_shape[dim]
    return _ChosenDim(max(_MIN_TRACED, opt), Dim.DYNAMIC(min=low, max=high), ShapeProfile(low, opt))


def _size_of(requested: RequestedDim, opts: dict[str, int]) -> int:
    """Returns the example's size for a Dim. It is the same for all inputs with that Dim."""
    if isinstance(requested, torch_shapes._DerivedDim):
        return int(requested.fn(_size_of(requested.root, opts)))
    smallest: int = requested.min
    return max(_MIN_TRACED, smallest, opts.get(requested.__name__, 0))


def split_shared_dims(model: torch.nn.Module, examples: ExampleInputs) -> ExampleInputs | None:
    """Returns the same examples with separate dims for torch.export. `shape_profiles` tie them together again.

    torch.export refuses a Dim if it can't prove the assumptions of the trace for all its sizes. For a hint it only
    records the assumptions. Returns None if there is no Dim, or if one is computed from another.
    """
    requested_dims = _requested_dims(model, examples)
    requests = [requested for dims in requested_dims.values() for requested in dims.values()]
    if not any(isinstance(requested, Dim) for requested in requests):
        return None
    if any(isinstance(requested, torch_shapes._DerivedDim) for requested in requests):
        return None
    leaves = pytree.tree_leaves((examples.args, examples.kwargs))
    shapes, shape_profiles = ShapesCollection(), dict(examples.shape_profiles)
    for number, dims in requested_dims.items():
        hints = {}
        for dim, requested in dims.items():
            hints[dim] = requested
            if isinstance(requested, Dim):
                high = None if requested.max == int_oo else int(requested.max)
                hints[dim] = Dim.DYNAMIC(min=requested.min, max=high)
                known = shape_profiles.get((number, dim), ShapeProfile())
                shape_profiles[number, dim] = ShapeProfile(requested.min, known.typical, requested.__name__)
        shapes[leaves[number]] = hints
    return ExampleInputs(examples.args, examples.kwargs, shapes, shape_profiles)


def _requested_dims(model: torch.nn.Module, examples: ExampleInputs) -> dict[int, Mapping[int, RequestedDim]]:
    """Returns what the user asked for about dims: number of a leaf -> dim -> request.

    The result is incomplete if `dynamic_shapes` has another structure than the inputs. torch.export reports that error.
    """
    shapes: Any = examples.dynamic_shapes
    found: dict[int, Mapping[int, RequestedDim]] = {}
    if not shapes:
        return {}
    args, kwargs = examples.args, examples.kwargs
    numbers = {id(leaf): number for number, leaf in enumerate(pytree.tree_leaves((args, kwargs)))}

    def collect(path: Any, leaf: Any, requests: Any) -> None:
        if isinstance(leaf, torch.Tensor) and isinstance(requests, (dict, list, tuple)):
            pairs = requests.items() if isinstance(requests, dict) else enumerate(requests)
            found[numbers[id(leaf)]] = {
                dim: request
                for dim, request in pairs
                if isinstance(request, (Dim, torch_shapes._DimHint)) and dim < leaf.dim()
            }

    with contextlib.suppress(Exception):
        if isinstance(shapes, ShapesCollection):
            shapes = shapes.dynamic_shapes(model, args, kwargs)
        combined: Any = torch_shapes._combine_args(model, args, kwargs)
        if isinstance(shapes, (tuple, list)):
            combined = type(shapes)(combined.values())
        torch_shapes._tree_map_with_path(collect, combined, shapes)
    return found


def _check_example(requested: RequestedDim, size: int, number: int, dim: int) -> None:
    """Raises ArgumentValueError if torch.export would treat the example's size as fixed."""
    is_hint = isinstance(requested, torch_shapes._DimHint)
    if is_hint and requested.type != torch_shapes._DimHintType.DYNAMIC:
        return
    if size < _MIN_TRACED:
        name = "" if is_hint else f" ({requested.__name__!r})"
        raise ArgumentValueError(
            f"example input {number + 1}: dim {dim}{name} is {size}, but expected {_MIN_TRACED} or more, whatever "
            "the range of the dim: torch.export treats smaller sizes as fixed"
        )


def _check_dims(name: str, dims: Any) -> None:
    """Raises ArgumentTypeError or ArgumentValueError unless `dims` is None or a list of sizes."""
    if dims is None:
        return
    is_list = isinstance(dims, Sequence) and not isinstance(dims, str)
    if not is_list or not all(isinstance(size, int) and not isinstance(size, bool) for size in dims):
        raise ArgumentTypeError(f"expected {name} to be a list of ints, but got {dims!r}")
    for dim, size in enumerate(dims):
        if size < 0:
            raise ArgumentValueError(f"dim {dim} of {name} is {size}, but expected none below 0")
