# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes key-value caches of transformers arguments and results.

The leaves of a cache are its tensors and the ints that its methods `update*` set, such as the number of tokens in a
sliding window. Everything else is fixed.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import torch
from torch.export.dynamic_shapes import _IntWrapper  # torch.export puts it in place of ints for a time
from torch.utils import _pytree as pytree

_LEAF, _OBJECT = "<leaf>", "<object>"

_Leaf: TypeAlias = torch.Tensor | int
_Leaves: TypeAlias = list[tuple[pytree.KeyEntry, _Leaf]]


def register_caches() -> None:
    """Registers the cache classes of transformers with pytree, if transformers is loaded and has not registered
    them."""
    library = sys.modules.get("transformers.cache_utils")
    for cls in _subclasses(library.Cache) if library else ():
        if cls not in pytree.SUPPORTED_NODES:
            pytree.register_pytree_node(
                cls,
                _flatten,
                _unflatten,
                serialized_type_name=f"{cls.__module__}.{cls.__qualname__}",
                flatten_with_keys_fn=_flatten_with_keys,
            )


def _subclasses(cls: type) -> Iterable[type]:
    """Returns `cls` and all its subclasses."""
    found = [cls]
    for known in found:
        found += known.__subclasses__()
    return dict.fromkeys(found)


def is_cache(value: object) -> bool:
    """Returns true for a cache that `register_caches` has registered."""
    node = pytree.SUPPORTED_NODES.get(type(value))
    return node is not None and node.flatten_fn is _flatten


def _flatten(cache: object) -> tuple[list[_Leaf], Any]:
    """Returns the leaves of a cache, and a comparable context for all else."""
    leaves, context = _flatten_with_keys(cache)
    return [leaf for _, leaf in leaves], context


def _flatten_with_keys(cache: object) -> tuple[_Leaves, Any]:
    """Returns the leaves of a cache with their paths, and a comparable context for all else."""
    leaves: _Leaves = []
    return leaves, _describe(cache, "", leaves)


def _describe(value: Any, path: str, leaves: _Leaves, is_counter: bool = False) -> Any:
    """Returns a comparable description of `value` without its leaves. Adds the leaves to `leaves` with their paths.

    is_counter: True if an int is a leaf.
    """
    if isinstance(value, (torch.Tensor, torch.SymInt)) or (is_counter and type(value) in (int, _IntWrapper)):
        leaves.append((pytree.MappingKey(path.removeprefix(".")), value))
        return _LEAF
    if type(value) in (list, tuple):
        return type(value), tuple(_describe(part, f"{path}[{at}]", leaves) for at, part in enumerate(value))
    if type(value) is dict:
        return dict, tuple((key, _describe(part, f"{path}[{key!r}]", leaves)) for key, part in value.items())
    if type(value).__module__ == "transformers.cache_utils" or type(value) in pytree.SUPPORTED_NODES:
        cls: type = type(value)
        counters = _find_counters(cls)
        parts = (
            (name, _describe(part, f"{path}.{name}", leaves, name in counters)) for name, part in vars(value).items()
        )
        return _OBJECT, type(value), tuple(parts)
    return "value", value


@functools.cache
def _find_counters(cls: type) -> frozenset[str]:
    """Returns the names of the attributes that the methods `update*` of a class set."""
    methods = (
        method
        for base in cls.__mro__
        for name, method in vars(base).items()
        if name.startswith("update") and inspect.isfunction(method)
    )
    code = (instruction for method in methods for instruction in dis.get_instructions(method))
    return frozenset(instruction.argval for instruction in code if instruction.opname == "STORE_ATTR")


def _unflatten(leaves: Iterable[_Leaf], context: Any) -> Any:
    """Returns the cache of a context with other leaves."""
    return _build(context, iter(leaves))


def _build(context: Any, leaves: Iterator[_Leaf]) -> Any:
    """Returns the value of a description, with leaves from `leaves`."""
    if context == _LEAF:
        return next(leaves)
    kind, *content = context
    if kind == "value":
        return content[0]
    if kind is dict:
        return {key: _build(part, leaves) for key, part in content[0]}
    if kind != _OBJECT:
        return kind(_build(part, leaves) for part in content[0])
    cls, parts = content
    made = cls.__new__(cls)
    vars(made).update((name, _build(part, leaves)) for name, part in parts)
    return made
