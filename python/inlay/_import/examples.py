# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What may differ in size from call to call: `dynamic_shapes` as torch.export has them, and `Input`, a range of sizes
in place of an example."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import Dim, ShapesCollection
from torch.export import dynamic_shapes as torch_shapes
from torch.utils import _pytree as pytree
from torch.utils._sympy.numbers import int_oo

from ..errors import ArgumentTypeError, ArgumentValueError

_TRACED = 2  # the least size that torch.export takes for one that may differ


@dataclass(frozen=True)
class Input:
    """A tensor argument by the sizes that it may have, in place of an example.

    min_shape, opt_shape, max_shape: dims; where they differ, the size may be anything between min and max, and code is
    made for opt (min if there is none). shape: dims, each an int or a torch.export.Dim; inputs with the same Dim have
    the same size there. Give either `shape`, with or without `opt_shape`, or `min_shape` and `max_shape`.
    Raises ArgumentTypeError or ArgumentValueError for a range that is none.
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
        shapes = [one for one in (self.min_shape, self.opt_shape, self.max_shape, self.shape) if one is not None]
        if len({len(one) for one in shapes}) != 1:
            raise ArgumentValueError(f"expected as many dims in each shape, but got {', '.join(map(str, shapes))}")
        for dim in range(len(shapes[0])):
            self._check_range(dim)

    def _check_range(self, dim: int) -> None:
        low, high = self.range_of(dim)
        opt = low if self.opt_shape is None else self.opt_shape[dim]
        if high is not None and low > high:
            raise ArgumentValueError(f"dim {dim} is {low} to {high}: expected min_shape to be at most max_shape")
        if opt < low or (high is not None and opt > high):
            upper = "more" if high is None else f"to {high}" if high != low else f"{high}"
            raise ArgumentValueError(f"dim {dim} of opt_shape is {opt}, but expected {low} {upper}")

    def range_of(self, dim: int) -> tuple[int, int | None]:
        """(least, largest) size of a dim; None for one without an end."""
        if self.shape is None:
            assert self.min_shape is not None and self.max_shape is not None
            return self.min_shape[dim], self.max_shape[dim]
        size = self.shape[dim]
        if isinstance(size, int):
            return size, size
        if isinstance(size, Dim) and not isinstance(size, torch_shapes._DerivedDim):
            return size.min, None if size.max == int_oo else int(size.max)
        return 0, None

    @property
    def rank(self) -> int:
        """How many dims the tensor has."""
        shape = self.min_shape if self.shape is None else self.shape
        assert shape is not None
        return len(shape)


@dataclass(frozen=True)
class ShapeProfile:
    """What the user said of a dim beside what torch.export keeps. min: None if nothing; typical: None for the example's
    size, 0 if unknown; tie: a name that dims of one size have in common."""

    min: int | None = None
    typical: int | None = None
    tie: str | None = None


@dataclass
class ExampleInputs:
    """What a module is exported with. shape_profiles: (number of a leaf, dim) -> ShapeProfile."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    dynamic_shapes: Any = None
    shape_profiles: dict[tuple[int, int], ShapeProfile] = field(default_factory=dict)


def make_examples(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> ExampleInputs:
    """Examples for inputs, some of which may be `Input`s.

    Raises ArgumentTypeError or ArgumentValueError for ranges that contradict one another or can't be exported.
    """
    leaves, spec = pytree.tree_flatten((args, kwargs))
    if any(isinstance(leaf, Input) for leaf in leaves):
        if dynamic_shapes is not None:
            raise ArgumentTypeError("an inlay.Input says itself which dims may differ: give no dynamic_shapes besides")
        return _from_inputs(leaves, spec)
    examples = ExampleInputs(args, kwargs, dynamic_shapes)
    told: dict[str, tuple[int, int]] = {}
    for number, asked in _asked_dims(model, examples).items():
        for dim, wish in asked.items():
            size = leaves[number].shape[dim]
            _check_example(wish, size, number, dim)
            if isinstance(wish, Dim) and told.setdefault(wish.__name__, (size, number))[0] != size:
                other, place = told[wish.__name__]
                raise ArgumentValueError(
                    f"the size {wish.__name__!r} is {other} in example input {place + 1}, but {size} in example input "
                    f"{number + 1}"
                )
            if isinstance(wish, torch_shapes._DimHint) and wish.min is not None:
                examples.shape_profiles[number, dim] = ShapeProfile(min=wish.min)
    return examples


def _from_inputs(leaves: list[Any], spec: Any) -> ExampleInputs:
    shapes, made, shape_profiles = ShapesCollection(), [], {}
    opts = _find_opts(leaves)
    for number, leaf in enumerate(leaves):
        if not isinstance(leaf, Input):
            made.append(leaf)
            continue
        chosen = [_choose(leaf, dim, opts) for dim in range(leaf.rank)]
        made.append(torch.zeros([size for size, _, _ in chosen], dtype=leaf.dtype))
        dims = {dim: wish for dim, (_, wish, _) in enumerate(chosen) if wish is not None}
        shape_profiles.update({(number, dim): chosen[dim][2] for dim in dims})
        if dims:
            shapes[made[-1]] = dims
    args, kwargs = pytree.tree_unflatten(made, spec)
    return ExampleInputs(args, kwargs, shapes if shape_profiles else None, shape_profiles)


def _find_opts(leaves: list[Any]) -> dict[str, int]:
    """Name of a Dim -> what opt_shape has for it."""
    opts: dict[str, int] = {}
    for leaf in leaves:
        if not isinstance(leaf, Input) or leaf.shape is None or leaf.opt_shape is None:
            continue
        for wish, opt in zip(leaf.shape, leaf.opt_shape, strict=True):
            is_root = isinstance(wish, Dim) and not isinstance(wish, torch_shapes._DerivedDim)
            if is_root and opts.setdefault(wish.__name__, opt) != opt:
                raise ArgumentValueError(
                    f"the size {wish.__name__!r} is {opts[wish.__name__]} in one opt_shape and {opt} in another"
                )
    return opts


def _choose(leaf: Input, dim: int, opts: dict[str, int]) -> tuple[int, Any, ShapeProfile]:
    """(size of the example, the Dim or hint, or None for a fixed size, what the export doesn't keep) of a dim."""
    low, high = leaf.range_of(dim)
    if low == high:
        return low, None, ShapeProfile()
    if high is not None and high < _TRACED:
        raise ArgumentValueError(f"dim {dim} is {low} to {high}, but torch.export can't tell sizes of 0 and 1 apart")
    if leaf.shape is not None:
        wish = leaf.shape[dim]
        return _size_of(wish, opts), wish, ShapeProfile(typical=opts.get(wish.__name__, 0))
    opt = low if leaf.opt_shape is None else leaf.opt_shape[dim]
    return max(_TRACED, opt), Dim.DYNAMIC(min=low, max=high), ShapeProfile(low, opt)


def _size_of(wish: Any, opts: dict[str, int]) -> int:
    """The example's size for a Dim, alike for all inputs that have it."""
    if isinstance(wish, torch_shapes._DerivedDim):
        return wish.fn(_size_of(wish.root, opts))
    return max(_TRACED, wish.min, opts.get(wish.__name__, 0))


def split_shared_dims(model: torch.nn.Module, examples: ExampleInputs) -> ExampleInputs | None:
    """The same with each dim a size of its own for torch.export, which `shape_profiles` tie together again.

    torch.export refuses a Dim if it can't prove what tracing assumed for all of its sizes; of a hint it only notes what
    that was. None where there is no Dim, or one that is computed from another.
    """
    asked = _asked_dims(model, examples)
    wishes = [wish for dims in asked.values() for wish in dims.values()]
    if not any(isinstance(wish, Dim) for wish in wishes):
        return None
    if any(isinstance(wish, torch_shapes._DerivedDim) for wish in wishes):
        return None
    leaves = pytree.tree_leaves((examples.args, examples.kwargs))
    shapes, shape_profiles = ShapesCollection(), dict(examples.shape_profiles)
    for number, dims in asked.items():
        hints = {}
        for dim, wish in dims.items():
            hints[dim] = wish
            if isinstance(wish, Dim):
                high = None if wish.max == int_oo else int(wish.max)
                hints[dim] = Dim.DYNAMIC(min=wish.min, max=high)
                known = shape_profiles.get((number, dim), ShapeProfile())
                shape_profiles[number, dim] = ShapeProfile(wish.min, known.typical, wish.__name__)
        shapes[leaves[number]] = hints
    return ExampleInputs(examples.args, examples.kwargs, shapes, shape_profiles)


def _asked_dims(model: torch.nn.Module, examples: ExampleInputs) -> dict[int, Mapping[int, Any]]:
    """number of a leaf -> dim -> what the user asked for; empty where that has another form than the inputs, which
    torch.export says better."""
    shapes, found = examples.dynamic_shapes, {}
    if not shapes:
        return {}
    args, kwargs = examples.args, examples.kwargs
    numbers = {id(leaf): number for number, leaf in enumerate(pytree.tree_leaves((args, kwargs)))}

    def collect(path: Any, leaf: Any, wish: Any) -> None:
        if isinstance(leaf, torch.Tensor) and isinstance(wish, (dict, list, tuple)):
            pairs = wish.items() if isinstance(wish, dict) else enumerate(wish)
            found[numbers[id(leaf)]] = {
                dim: one for dim, one in pairs if isinstance(one, (Dim, torch_shapes._DimHint)) and dim < leaf.dim()
            }

    with contextlib.suppress(Exception):
        if isinstance(shapes, ShapesCollection):
            shapes = shapes.dynamic_shapes(model, args, kwargs)
        combined = torch_shapes._combine_args(model, args, kwargs)
        if isinstance(shapes, (tuple, list)):
            combined = type(shapes)(combined.values())
        torch_shapes._tree_map_with_path(collect, combined, shapes)
    return found


def _check_example(wish: Any, size: int, number: int, dim: int) -> None:
    """Raises for an example of a size that torch.export takes for a fixed one."""
    is_hint = isinstance(wish, torch_shapes._DimHint)
    if is_hint and wish.type != torch_shapes._DimHintType.DYNAMIC:
        return
    if size < _TRACED:
        name = "" if is_hint else f" ({wish.__name__!r})"
        raise ArgumentValueError(
            f"example input {number + 1}: dim {dim}{name} is {size}, which torch.export takes for a fixed size: "
            f"expected an example of {_TRACED} or more, whatever the range"
        )


def _check_dims(name: str, dims: Any) -> None:
    if dims is None:
        return
    is_list = isinstance(dims, Sequence) and not isinstance(dims, str)
    if not is_list or not all(isinstance(size, int) and not isinstance(size, bool) for size in dims):
        raise ArgumentTypeError(f"expected {name} to be a list of ints, but got {dims!r}")
    for dim, size in enumerate(dims):
        if size < 0:
            raise ArgumentValueError(f"dim {dim} of {name} is {size}, but expected none below 0")
