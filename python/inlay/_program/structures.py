# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The structures of arguments and results as text: PyTorch's TreeSpecs, of known containers alone."""

from __future__ import annotations

import dataclasses
import json

from torch.utils import _pytree as pytree

from ..errors import UnsupportedError
from .metadata import is_int, is_plain

_SEQUENCES = ("builtins.tuple", "builtins.list", "torch.Size", "torch.fx.immutable_collections.immutable_list")
_MAPPINGS = ("builtins.dict", "collections.OrderedDict", "torch.fx.immutable_collections.immutable_dict")
_DEQUE, _NAMED_TUPLE = "collections.deque", "collections.namedtuple"


def dump_structure(spec: pytree.TreeSpec | None, what: str) -> str | None:
    """Returns the text of a TreeSpec. Raises UnsupportedError, naming `what`, for one that can't be saved."""
    if spec is None:
        return None
    try:
        text = pytree.treespec_dumps(spec)
        _check_structure(json.loads(text)[1])
        return text
    except (NotImplementedError, TypeError, ValueError, AttributeError) as error:
        raise UnsupportedError(f"the structure of the model's {what} can't be saved: {error}") from error


def load_structure(text: str) -> pytree.TreeSpec:
    """The TreeSpec for PyTorch's text, which is checked before PyTorch reads it: that imports whatever it names."""
    _, tree = json.loads(text)
    _check_structure(tree)
    return pytree.treespec_loads(text)


def _check_structure(tree):
    """Raises ValueError for a structure that isn't made of known containers with plain contexts alone."""
    kind, context, children = tree["type"], tree["context"], tree["children_spec"]
    if kind is not None:
        _check_container(kind, context, len(children))
    elif context is not None or children:
        raise ValueError("expected a leaf without parts")
    for one in children:
        _check_structure(one)


def _check_container(kind, context, count):
    if kind in _SEQUENCES:
        if (context := json.loads(context)) is not None:
            raise ValueError(f"expected no context of a {kind}, but got {context!r}")
    elif kind in _MAPPINGS:
        _check_keys(kind, json.loads(context), count)
    elif kind == _DEQUE:
        most = json.loads(context)
        if most is not None and not (is_int(most) and most >= count):
            raise ValueError(f"expected a {kind} of no more than its elements, but got {most!r}")
    elif kind == _NAMED_TUPLE:
        if not _is_registered_tuple(context, count):
            raise ValueError(f"expected a named tuple of {count} fields that is registered, but got {context!r}")
    elif _is_registered_dataclass(kind):
        _check_names(kind, json.loads(context))
    else:
        raise ValueError(
            "expected tuples, lists, dicts, deques, or named tuples and dataclasses that are registered, but got "
            f"{kind!r}"
        )


def _check_keys(kind, keys, count):
    if not isinstance(keys, list) or not all(map(is_plain, keys)) or len(set(keys)) != len(keys):
        raise ValueError(f"expected strings and numbers as the keys of a {kind}, but got {keys!r}")
    if len(keys) != count:
        raise ValueError(f"expected {count} keys of a {kind}, but got {len(keys)}")


def _check_names(kind, context):
    if isinstance(context, list):
        for one in context:
            _check_names(kind, one)
    elif context is not None and not isinstance(context, str):
        raise ValueError(f"expected names as the context of a {kind}, but got {context!r}")


def _is_registered_tuple(name, count):
    found = _registered(name)
    return isinstance(found, type) and issubclass(found, tuple) and len(getattr(found, "_fields", ())) == count


def _is_registered_dataclass(kind):
    """Whether it is a dataclass whose context is JSON as it is: nothing of its own reads it."""
    found = _registered(kind)
    return dataclasses.is_dataclass(found) and pytree.SUPPORTED_SERIALIZED_TYPES[found].from_dumpable_context is None


def _registered(kind):
    return pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE.get(kind) if isinstance(kind, str) else None
