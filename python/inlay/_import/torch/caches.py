# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes key-value caches of transformers arguments and results: their tensors are leaves, everything else is fixed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

_TENSOR, _OBJECT = "<tensor>", "<object>"


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


def _flatten(cache: object) -> tuple[list[torch.Tensor], Any]:
    """Returns the tensors of a cache, and a comparable context for all else."""
    leaves, context = _flatten_with_keys(cache)
    return [tensor for _, tensor in leaves], context


def _flatten_with_keys(cache: object) -> tuple[list[tuple[pytree.KeyEntry, torch.Tensor]], Any]:
    """Returns the tensors of a cache with their paths, and a comparable context for all else."""
    leaves: list[tuple[pytree.KeyEntry, torch.Tensor]] = []
    return leaves, _describe(cache, "", leaves)


def _describe(value: Any, path: str, leaves: list[tuple[pytree.KeyEntry, torch.Tensor]]) -> Any:
    """Returns a comparable description of `value` without its tensors. Adds the tensors to `leaves` with their
    paths."""
    if isinstance(value, torch.Tensor):
        leaves.append((pytree.MappingKey(path.removeprefix(".")), value))
        return _TENSOR
    if type(value) in (list, tuple):
        return type(value), tuple(_describe(part, f"{path}[{at}]", leaves) for at, part in enumerate(value))
    if type(value) is dict:
        return dict, tuple((key, _describe(part, f"{path}[{key!r}]", leaves)) for key, part in value.items())
    if type(value).__module__ == "transformers.cache_utils" or type(value) in pytree.SUPPORTED_NODES:
        parts = ((name, _describe(part, f"{path}.{name}", leaves)) for name, part in vars(value).items())
        return _OBJECT, type(value), tuple(parts)
    return "value", value


def _unflatten(leaves: Iterable[torch.Tensor], context: Any) -> Any:
    """Returns the cache of a context with other tensors."""
    return _build(context, iter(leaves))


def _build(context: Any, leaves: Iterator[torch.Tensor]) -> Any:
    """Returns the value of a description, with tensors from `leaves`."""
    if context == _TENSOR:
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
