# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Key-value caches of transformers as arguments and results: their tensors are leaves, the rest must stay as it is."""

import sys

import torch
from torch.utils import _pytree as pytree

_TENSOR, _OBJECT = "<tensor>", "<object>"


def register_caches():
    """Makes the cache classes of transformers known to pytree, if it is loaded and nobody else has done so."""
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


def _subclasses(cls):
    found = [cls]
    for one in found:
        found += one.__subclasses__()
    return dict.fromkeys(found)


def _flatten(cache):
    leaves, context = _flatten_with_keys(cache)
    return [tensor for _, tensor in leaves], context


def _flatten_with_keys(cache):
    leaves = []
    return leaves, _describe(cache, "", leaves)


def _describe(value, path, leaves):
    """What `value` is without its tensors, comparable; these are added to `leaves` with their paths."""
    if isinstance(value, torch.Tensor):
        leaves.append((pytree.MappingKey(path.removeprefix(".")), value))
        return _TENSOR
    if type(value) in (list, tuple):
        return type(value), tuple(_describe(one, f"{path}[{at}]", leaves) for at, one in enumerate(value))
    if type(value) is dict:
        return dict, tuple((key, _describe(one, f"{path}[{key!r}]", leaves)) for key, one in value.items())
    if type(value).__module__ == "transformers.cache_utils" or type(value) in pytree.SUPPORTED_NODES:
        parts = ((name, _describe(one, f"{path}.{name}", leaves)) for name, one in vars(value).items())
        return _OBJECT, type(value), tuple(parts)
    return "value", value


def _unflatten(leaves, context):
    return _build(context, iter(leaves))


def _build(context, leaves):
    if context == _TENSOR:
        return next(leaves)
    kind, *content = context
    if kind == "value":
        return content[0]
    if kind is dict:
        return {key: _build(one, leaves) for key, one in content[0]}
    if kind != _OBJECT:
        return kind(_build(one, leaves) for one in content[0])
    cls, parts = content
    made = cls.__new__(cls)
    vars(made).update((name, _build(one, leaves)) for name, one in parts)
    return made
