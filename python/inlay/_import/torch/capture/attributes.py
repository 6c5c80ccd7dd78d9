# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Restores the attributes of a model that its forward changes during an export.

Forward runs on fake tensors, which must not stay in the model. If forward assigns another tensor to a buffer, the new
tensor is copied into the old one instead, because torch.export records such a copy. Of assignments it records only
those to buffers of the outermost module.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from ...._dialect.text import tensor_text
from .reads import ABSENT, OWN, Reads

_PLAIN = (bool, int, float, complex, str, type(None))
_CONTAINERS = (list, dict, set)


class Changes:
    """The assignments of a forward that a compiled model can't repeat.

    attributes: paths of plain attributes. state: those of them whose old values forward has read. buffers: sentences
    about buffers.
    """

    def __init__(self) -> None:
        self.attributes: list[str] = []
        self.state: list[str] = []
        self.buffers: list[str] = []


@contextlib.contextmanager
def restoring_attributes(model: torch.nn.Module, reads: Reads) -> Iterator[Changes]:
    """Restores the attributes of the model's modules at the end of the context. reads: what forward reads.

    Yields a Changes object, which is filled at the end of the model's forward.
    """
    if isinstance(model, torch.jit.ScriptModule):  # torch.export refuses it
        yield Changes()
        return
    modules = [
        (path, module) for path, module in model.named_modules() if not isinstance(module, torch.jit.ScriptModule)
    ]
    snapshots = [(path, _Snapshot(module)) for path, module in modules]
    changes = Changes()
    buffers: dict[str, dict[str, torch.Tensor | None]] = {}

    def begin(*_: Any) -> None:
        buffers.update({path: dict(snapshot.module._buffers) for path, snapshot in snapshots})

    # Runs before torch.export restores some of the attributes itself.
    def end(_: torch.nn.Module, args: Any, output: Any) -> Any:
        for path, snapshot in snapshots:
            for name, old in snapshot.changed_attributes():
                changes.attributes.append(_join(path, name))
                if reads.began_with(snapshot.module, name, old):
                    changes.state.append(f"attribute {_join(path, name)!r} of the model")
        changes.state += reads.changed()
        writes = [
            write
            for path, snapshot in snapshots
            for write in _find_writes(path, snapshot.module, buffers[path], changes)
        ]
        return _write(writes, output) if writes else None

    _put_empty_last(model)
    hooks = [model.register_forward_pre_hook(begin), model.register_forward_hook(end)]
    try:
        yield changes
    finally:
        for hook in hooks:
            hook.remove()
        for _, snapshot in snapshots:
            snapshot.restore()


@contextlib.contextmanager
def keeping_state(model: torch.nn.Module) -> Iterator[None]:
    """Restores the attributes and buffers of a model, and the state of the random generator, at the end of the
    context."""
    snapshots = [_Snapshot(module) for module in model.modules()]
    buffers = [(buffer, buffer._version, buffer.detach().clone()) for buffer in model.buffers()]
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        for snapshot in snapshots:
            snapshot.restore()
        with torch.no_grad():
            for buffer, version, value in buffers:
                if buffer._version != version:
                    buffer.copy_(value)


def _put_empty_last(model: torch.nn.Module) -> None:
    """Moves the outermost module's buffers that are None behind the others.

    torch.export numbers the buffers and does not take into account that those are no inputs.
    """
    buffers = model._buffers
    for name in [name for name, value in buffers.items() if value is None]:
        buffers[name] = buffers.pop(name)


def _find_writes(
    path: str, module: torch.nn.Module, before: dict[str, torch.Tensor | None], changes: Changes
) -> Iterator[_BufferWrite]:
    """Yields the buffers of a module to which forward assigned a tensor of the same dims and dtype.

    before: the buffers before forward. Other assignments to buffers are added to `changes`.
    """
    for name in {**before, **module._buffers}:
        old, new = before.get(name), module._buffers.get(name)
        if new is old:
            continue
        if old is None or new is None:
            kind = "from None to a tensor" if new is not None else "to None"
            changes.buffers.append(f"the model's forward sets buffer {_join(path, name)!r} {kind}")
        elif not _has_dims(new, old.shape) or old.dtype != new.dtype:
            texts = [tensor_text(tensor.dtype, tensor.shape) for tensor in (old, new)]
            changes.buffers.append(f"the model's forward sets buffer {_join(path, name)!r}, {texts[0]}, to {texts[1]}")
        else:
            yield _BufferWrite(module, name, old, new)


def _has_dims(tensor: torch.Tensor, dims: torch.Size) -> bool:
    """Returns true if the tensor has these dims for all values of the symbolic sizes. Adds no guard."""
    is_fixed = all(isinstance(size, int) for size in tensor.shape)
    return is_fixed and tensor.shape == dims


def _write(writes: list[_BufferWrite], output: Any) -> Any:
    """Copies the new tensors into the old ones. Returns copies of forward's results, which may be the old tensors."""
    values = [new.detach().clone() for _, _, _, new in writes]
    output = pytree.tree_map_only(torch.Tensor, torch.clone, output)
    for (module, name, old, _), value in zip(writes, values, strict=True):
        old.copy_(value)
        setattr(module, name, old)
    return output


class _BufferWrite(NamedTuple):
    """A buffer to which forward assigned another tensor."""

    module: torch.nn.Module
    name: str
    old: torch.Tensor
    new: torch.Tensor


class _Snapshot:
    """The attributes of a module, and the contents of those that are lists, dicts and sets."""

    def __init__(self, module: torch.nn.Module) -> None:
        self.module, self._held = module, dict(vars(module))
        self._inner = [(value, type(value)(value)) for value in self._held.values() if type(value) in _CONTAINERS]

    def changed_attributes(self) -> list[tuple[str, Any]]:
        """Returns the names and old values of new attributes, of plain attributes with other values, and of containers
        with other elements."""
        now = vars(self.module)
        changed = [(name, ABSENT) for name in now if name not in self._held]
        changed += [(name, value) for name, value in self._held.items() if _is_plain_change(value, now.get(name, self))]
        others = {id(container) for container, content in self._inner if not _has_same_items(container, content)}
        return changed + [
            (name, value) for name, value in self._held.items() if name not in OWN and id(value) in others
        ]

    def restore(self) -> None:
        """Restores the attributes and the contents of containers."""
        now = vars(self.module)
        for name in [name for name in now if name not in self._held]:
            del now[name]
        now.update(self._held)
        for container, content in self._inner:
            if not _has_same_items(container, content):
                container.clear()
                (container.extend if isinstance(container, list) else container.update)(content)


def _is_plain_change(value: object, now: object) -> bool:
    """Returns true if `value` is plain and `now` differs from it. Two NaNs do not differ."""
    if not isinstance(value, _PLAIN):
        return False
    return type(now) is not type(value) or (now != value and (now == now or value == value))


def _has_same_items(container: Any, content: Any) -> bool:
    """Returns true if two containers have the same objects as elements."""
    return len(container) == len(content) and all(map(_is_same, _items(container), _items(content)))


def _items(container: Any) -> Iterable[Any]:
    """Returns the entries of a dict, or the elements of another container."""
    return container.items() if isinstance(container, dict) else container


def _is_same(item: object, other: object) -> bool:
    """Returns true if two elements of lists or entries of dicts are the same objects."""
    if isinstance(item, tuple) and isinstance(other, tuple):
        return len(item) == len(other) and all(a is b for a, b in zip(item, other, strict=True))
    return item is other


def _join(path: str, name: str) -> str:
    """Returns the path of an attribute."""
    return f"{path}.{name}" if path else name
