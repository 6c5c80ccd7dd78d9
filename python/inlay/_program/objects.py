# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes objects of the caller, such as caches, as the model's forward does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch.utils import _pytree as pytree

from .imported import CallConvention


def change_objects(
    convention: CallConvention, arguments: tuple[Sequence[Any], Mapping[str, Any]], results: list[Any]
) -> Any:
    """Gives the changed objects among the arguments their new contents. Returns the result of the model.

    arguments: (args, kwargs) as in the export. results: the flat results of a call.
    """
    objects = _find_objects(convention, arguments)
    for place, number in convention.changed.returned.items():
        results[place] = objects[number]
    result, contents = pytree.tree_unflatten(results, convention.out_spec)
    for value, new in zip(objects, contents, strict=True):
        _assign(value, new)
    return result


def flatten_results(
    convention: CallConvention, arguments: tuple[Sequence[Any], Mapping[str, Any]], result: Any
) -> list[Any]:
    """Returns the flat results for a result of the original model, which has changed its arguments."""
    objects = _find_objects(convention, arguments)
    numbers = {id(value) for value in objects}
    leaves = pytree.tree_leaves(result, lambda value: id(value) in numbers)
    return [*(0 if id(leaf) in numbers else leaf for leaf in leaves), *pytree.tree_leaves(objects)]


def _find_objects(convention: CallConvention, arguments: tuple[Sequence[Any], Mapping[str, Any]]) -> list[Any]:
    """Returns the objects among the arguments that a call changes."""
    objects = []
    for path in convention.changed.paths:
        value: Any = arguments
        for key in path:
            value = key.get(value)
        objects.append(value)
    return objects


def _assign(value: Any, new: Any) -> None:
    """Gives an object the attributes of `new`. Objects, lists and dicts inside of both keep their identities."""
    attributes = vars(value)
    for name in [name for name in attributes if name not in vars(new)]:
        del attributes[name]
    attributes.update((name, _merge(attributes.get(name), part)) for name, part in vars(new).items())


def _merge(value: Any, new: Any) -> Any:
    """Returns `value` with the contents of `new` if both are containers of one type, and `new` otherwise."""
    if type(value) is not type(new) or value is new:
        return new
    if isinstance(value, list):
        value[:] = [_merge(*pair) for pair in zip(value, new, strict=False)] + new[len(value) :]
    elif isinstance(value, dict):
        merged = {key: _merge(value.get(key), part) for key, part in new.items()}
        value.clear()
        value.update(merged)
    elif _is_object(value):
        _assign(value, new)
    else:
        return new
    return value


def _is_object(value: object) -> bool:
    """Returns true for an object that is taken apart into its attributes when arguments are flattened."""
    return type(value) in pytree.SUPPORTED_NODES or type(value).__module__ == "transformers.cache_utils"
