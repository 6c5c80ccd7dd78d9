# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the arguments that a model's forward changes: caches whose attributes it sets, and other containers.

torch.export records writes to tensors only. The new contents of a cache become further results of the exported
program, with which a call updates the cache of the caller. The ints of a cache are symbolic.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Mapping
from keyword import iskeyword
from typing import Any

import torch
from torch.export import Dim, ShapesCollection
from torch.export import dynamic_shapes as torch_shapes
from torch.utils import _pytree as pytree

from ...._program.imported import ChangedObjects
from ...examples import ExampleInputs, ShapeProfile
from .caches import is_cache
from .reads import StateError


def with_counters(model: torch.nn.Module, examples: ExampleInputs) -> ExampleInputs:
    """Returns the examples with a request that the ints of caches are symbolic.

    Ints with the same attribute name and the same value must be equal in all calls.
    """
    profiles, ties, number = dict(examples.shape_profiles), dict[tuple[str, int], str](), 0
    for value in pytree.tree_leaves((examples.args, examples.kwargs), is_cache):
        path: Any
        for path, leaf in pytree.tree_leaves_with_path(value):
            if type(leaf) is int and is_cache(value):
                name = path[0].key.rpartition(".")[2]
                suffix = sum(other == name for other, known in ties if known != leaf)
                tie = ties.setdefault((name, leaf), f"{name}{suffix or ''}")
                profiles[number, 0] = ShapeProfile(tie=tie)
            number += 1
    if not ties:
        return examples
    combined = torch_shapes._combine_args(model, examples.args, examples.kwargs)
    shapes = examples.dynamic_shapes
    if isinstance(shapes, (tuple, list)):
        shapes = dict(zip(combined, shapes, strict=False))
    return ExampleInputs(examples.args, examples.kwargs, _request(combined, shapes), profiles)


def _request(value: Any, shapes: Any) -> Any:
    """Returns the dynamic_shapes for `value` with requests for the ints of caches.

    shapes: what the user asked for. The user leaves out the ints of caches.
    """
    if isinstance(value, torch.Tensor):
        return shapes._shapes.get(id(value)) if isinstance(shapes, ShapesCollection) else shapes
    if is_cache(value):
        leaves = pytree.tree_leaves(value)
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        given = list(shapes) if isinstance(shapes, (tuple, list)) else [shapes] * len(tensors)
        requests = iter([_request(*pair) for pair in zip(tensors, given, strict=False)])
        return [Dim.AUTO if type(leaf) is int else next(requests, None) for leaf in leaves]
    node = pytree.SUPPORTED_NODES.get(pytree._get_node_type(value))
    if node is None:
        return None if isinstance(shapes, ShapesCollection) else shapes
    if isinstance(value, dict):
        inner = {key: shapes.get(key) if isinstance(shapes, dict) else shapes for key in value}
        return {key: _request(part, inner[key]) for key, part in value.items()}
    children = node.flatten_fn(value)[0]
    parts = shapes if isinstance(shapes, (tuple, list)) else [shapes] * len(children)
    return [_request(*pair) for pair in zip(children, parts, strict=False)]


@contextlib.contextmanager
def naming_keywords(model: torch.nn.Module, kwargs: Mapping[str, Any]) -> Iterator[None]:
    """Names the arguments that the `**kwargs` of forward takes in its signature, as long as the context is open.

    torch.export finds the dynamic shapes of arguments by the signature. It fails at arguments that `**kwargs` takes.
    Keys that can't be names of parameters stay unnamed.
    """
    forward: Any = getattr(model.forward, "__func__", None)
    signature = inspect.signature(forward) if inspect.isfunction(forward) else inspect.Signature()
    parameters = dict(signature.parameters)
    taken = [name for name, known in parameters.items() if known.kind is inspect.Parameter.VAR_KEYWORD]
    unnamed = [name for name in kwargs if name not in parameters and name.isidentifier() and not iskeyword(name)]
    if not taken or not unnamed or "__signature__" in vars(forward):
        yield
        return
    rest = parameters.pop(taken[0])
    named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in unnamed]
    forward.__signature__ = signature.replace(parameters=[*parameters.values(), *named, rest])
    try:
        yield
    finally:
        del forward.__signature__


@contextlib.contextmanager
def returning_changes(model: torch.nn.Module) -> Iterator[ChangedObjects]:
    """Adds the new contents of the caches that forward changes to its results, as long as the context is open.

    If forward changes a cache, it returns (result, caches) instead of its result. Yields the ChangedObjects, which are
    complete after the model's forward. Forward raises StateError if it changes another argument.
    """
    changed = ChangedObjects()
    if isinstance(model, torch.jit.ScriptModule):  # torch.export refuses it
        yield changed
        return
    before: list[_Contents] = []

    def begin(_: torch.nn.Module, args: Any, kwargs: Any) -> None:
        before[:] = [_Contents((args, kwargs))]

    def end(_: torch.nn.Module, args: Any, kwargs: Any, output: Any) -> Any:
        after = _Contents((args, kwargs))
        _check_outside(before[0], after)
        paths = [path for path in after.caches if after.caches[path] != before[0].caches[path]]
        if not paths:
            return None
        caches = [after.objects[path] for path in paths]
        numbers = {id(cache): number for number, cache in enumerate(caches)}
        leaves, spec = pytree.tree_flatten(output, lambda value: id(value) in numbers)
        changed.paths = paths
        changed.returned = _find_returned(leaves, numbers)
        output = pytree.tree_unflatten([0 if id(leaf) in numbers else leaf for leaf in leaves], spec)
        return output, caches

    hooks = [
        model.register_forward_pre_hook(begin, with_kwargs=True),
        model.register_forward_hook(end, with_kwargs=True),
    ]
    try:
        yield changed
    finally:
        for hook in hooks:
            hook.remove()


def _find_returned(leaves: list[Any], numbers: dict[int, int]) -> dict[int, int]:
    """Returns the numbers of caches among the results by the number of the flat result that stands for the cache."""
    return {place: numbers[id(leaf)] for place, leaf in enumerate(leaves) if id(leaf) in numbers}


class _Contents:
    """The contents of arguments at one time. Leaves are compared by identity."""

    def __init__(self, arguments: Any) -> None:
        self.caches: dict[pytree.KeyPath, tuple[list[int], Any]] = {}
        self.objects: dict[pytree.KeyPath, Any] = {}
        self.others: dict[pytree.KeyPath, Any] = {}
        self._kept: list[Any] = []
        leaves, self.spec = pytree.tree_flatten_with_path(arguments, is_cache)
        for path, leaf in leaves:
            if is_cache(leaf):
                inner, spec = pytree.tree_flatten(leaf)
                self.objects[path] = leaf
                self.caches[path] = ([id(part) for part in inner], spec)
                self._kept.append(inner)  # keeps the ids valid
            else:
                self.others[path] = leaf


def _check_outside(before: _Contents, after: _Contents) -> None:
    """Raises StateError if the arguments differ outside of caches."""
    known, now = ({path: id(value) for path, value in contents.others.items()} for contents in (before, after))
    paths = [path for path in {**known, **now} if known.get(path) != now.get(path)]
    if paths or before.spec != after.spec or before.caches.keys() != after.caches.keys():
        where = f" {pytree.keystr(paths[0][1:])}" if paths else "s"
        raise StateError(
            f"the model's forward changes its argument{where}, which a compiled model can't repeat: return the new "
            "value instead"
        )
