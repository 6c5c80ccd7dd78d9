# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes and reads the structures of arguments and results: PyTorch's TreeSpecs with known containers."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping
from typing import Any

from torch.utils import _pytree as pytree

from ...errors import UnsupportedError
from .vocabulary import is_int, is_plain

_SEQUENCES = ("builtins.tuple", "builtins.list", "torch.Size", "torch.fx.immutable_collections.immutable_list")
_MAPPINGS = ("builtins.dict", "collections.OrderedDict", "torch.fx.immutable_collections.immutable_dict")
_DEQUE, _NAMED_TUPLE = "collections.deque", "collections.namedtuple"


def dump_structure(spec: pytree.TreeSpec | None, name: str) -> str | None:
    """Returns a TreeSpec as text. Raises UnsupportedError with `name` in its message if it can't be saved."""
    if spec is None:
        return None
    try:
        text = pytree.treespec_dumps(spec)
        _check_structure(json.loads(text)[1])
        return text
    except (NotImplementedError, TypeError, ValueError, AttributeError) as error:
        raise UnsupportedError(f"the structure of the model's {name} can't be saved: {error}") from error


def load_structure(text: str) -> pytree.TreeSpec:
    """Returns the TreeSpec for its text. Raises ValueError if the text has other than known containers.

    The text is checked first, because PyTorch imports the modules that it names.
    """
    _, tree = json.loads(text)
    _check_structure(tree)
    return pytree.treespec_loads(text)


def _check_structure(tree: Mapping[str, Any]) -> None:
    """Raises ValueError if a structure has other than known containers with plain contexts."""
    kind, context, children = tree["type"], tree["context"], tree["children_spec"]
    if kind is not None:
        _check_container(kind, context, len(children))
    elif context is not None or children:
        raise ValueError("expected a leaf without context and children")
    for child in children:
        _check_structure(child)


def _check_container(kind: str, context: str, count: int) -> None:
    """Raises ValueError for an unknown container. context: its context as PyTorch writes it. count: its children."""
    if kind in _SEQUENCES:
        if (parsed := json.loads(context)) is not None:
            raise ValueError(f"expected no context of a {kind}, but got {parsed!r}")
    elif kind in _MAPPINGS:
        _check_keys(kind, json.loads(context), count)
    elif kind == _DEQUE:
        length = json.loads(context)  # the maximum length
        if length is not None and not (is_int(length) and count <= length <= sys.maxsize):
            raise ValueError(f"expected the length of a {kind} to be from {count} to {sys.maxsize}, but got {length!r}")
    elif kind == _NAMED_TUPLE:
        if not _is_registered_tuple(context, count):
            raise ValueError(f"expected a registered named tuple of {count} fields, but got {context!r}")
    elif _is_registered_dataclass(kind):
        _check_names(kind, json.loads(context))
    else:
        raise ValueError(
            f"expected tuples, lists, dicts, deques, or registered named tuples and dataclasses, but got {kind!r}"
        )


def _check_keys(kind: str, keys: Any, count: int) -> None:
    if not isinstance(keys, list) or not all(map(is_plain, keys)) or len(set(keys)) != len(keys):
        raise ValueError(f"expected the keys of a {kind} to be different strings and numbers, but got {keys!r}")
    if len(keys) != count:
        raise ValueError(f"expected {count} keys of a {kind}, but got {len(keys)}")


def _check_names(kind: str, context: Any) -> None:
    if isinstance(context, list):
        for element in context:
            _check_names(kind, element)
    elif context is not None and not isinstance(context, str):
        raise ValueError(f"expected the context of a {kind} to be names, but got {context!r}")


def _is_registered_tuple(name: str, count: int) -> bool:
    found = _registered(name)
    return isinstance(found, type) and issubclass(found, tuple) and len(getattr(found, "_fields", ())) == count


def _is_registered_dataclass(kind: str) -> bool:
    """Returns true for a registered dataclass whose context is plain JSON, so that no code of the class reads it."""
    found = _registered(kind)
    if found is None or not dataclasses.is_dataclass(found):
        return False
    return pytree.SUPPORTED_SERIALIZED_TYPES[found].from_dumpable_context is None


def _registered(kind: object) -> type | None:
    """Returns the class that PyTorch knows under a name, or None."""
    return pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE.get(kind) if isinstance(kind, str) else None
