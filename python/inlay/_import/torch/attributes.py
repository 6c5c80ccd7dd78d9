# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model's attributes while it is exported: its forward runs on stand-ins for tensors, which must not stay in it.

Where forward sets a buffer to another tensor, that is written into the buffer, which torch.export records; of setting
itself it records what is done to the outermost module's own buffers alone.
"""

import contextlib

import torch
from torch.utils import _pytree as pytree

from ..._dialect.text import tensor_text

_PLAIN = (bool, int, float, complex, str, type(None))
_CONTAINERS = (list, dict, set)


class Changes:
    """What a model's forward set and a compiled model can't: names of plain attributes, sentences about buffers."""

    def __init__(self):
        self.attributes, self.buffers = [], []


@contextlib.contextmanager
def restoring_attributes(model):
    """Gives the model's modules back what they held; yields Changes, filled at the end."""
    if isinstance(model, torch.jit.ScriptModule):  # which torch.export refuses
        yield Changes()
        return
    modules = [(path, one) for path, one in model.named_modules() if not isinstance(one, torch.jit.ScriptModule)]
    snapshots = [(path, _Snapshot(module)) for path, module in modules]
    changes, buffers = Changes(), {}

    def begin(*_):
        buffers.update({path: dict(one.module._buffers) for path, one in snapshots})

    def end(_, args, output):  # before torch.export itself puts some of the attributes back
        changes.attributes = [_join(path, name) for path, one in snapshots for name in one.changed_attributes()]
        writes = [write for path, one in snapshots for write in _find_writes(path, one.module, buffers[path], changes)]
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


def _put_empty_last(model):
    """torch.export numbers the outermost module's buffers, and forgets that those that are None are no inputs."""
    buffers = model._buffers
    for name in [name for name, value in buffers.items() if value is None]:
        buffers[name] = buffers.pop(name)


def _find_writes(path, module, before, changes):
    """(module, name, tensor before forward, tensor now) of the buffers that forward set to other tensors."""
    for name in {**before, **module._buffers}:
        old, new = before.get(name), module._buffers.get(name)
        if new is old:
            continue
        if old is None or new is None:
            kind = "from None to a tensor" if new is not None else "to None"
            changes.buffers.append(f"the model's forward sets buffer {_join(path, name)!r} {kind}")
        elif not _has_dims(new, old.shape) or old.dtype != new.dtype:
            texts = [tensor_text(one.dtype, one.shape) for one in (old, new)]
            changes.buffers.append(f"the model's forward sets buffer {_join(path, name)!r}, {texts[0]}, to {texts[1]}")
        else:
            yield module, name, old, new


def _has_dims(tensor, dims):
    """Whether a tensor has these dims whatever the sizes are that may differ from call to call: nothing is assumed."""
    is_fixed = all(isinstance(size, int) for size in tensor.shape)
    return is_fixed and tensor.shape == dims


def _write(writes, output):
    """Writes into the tensors of before; what forward gives, which may be one of them, as it was without that."""
    values = [new.detach().clone() for _, _, _, new in writes]
    output = pytree.tree_map_only(torch.Tensor, torch.clone, output)
    for (module, name, old, _), value in zip(writes, values, strict=True):
        old.copy_(value)
        setattr(module, name, old)
    return output


class _Snapshot:
    """What a module holds, and what its tables, lists and dicts hold."""

    def __init__(self, module):
        self.module, self._held = module, dict(vars(module))
        self._inner = [(value, type(value)(value)) for value in self._held.values() if type(value) in _CONTAINERS]

    def changed_attributes(self):
        """Names of plain attributes that have other values, of containers of other sizes, and of new attributes."""
        now = vars(self.module)
        changed = [name for name in now if name not in self._held]
        changed += [name for name, value in self._held.items() if _is_plain_change(value, now.get(name, self))]
        grown = [id(container) for container, content in self._inner if len(container) != len(content)]
        names = {id(value): name for name, value in self._held.items() if not name.startswith("_")}
        return changed + [names[one] for one in grown if one in names]

    def restore(self):
        now = vars(self.module)
        for name in [name for name in now if name not in self._held]:
            del now[name]
        now.update(self._held)
        for container, content in self._inner:
            if len(container) != len(content) or not all(map(_is_one, _items(container), _items(content))):
                container.clear()
                (container.extend if isinstance(container, list) else container.update)(content)


def _is_plain_change(value, now):
    if not isinstance(value, _PLAIN):
        return False
    return type(now) is not type(value) or (now != value and (now == now or value == value))


def _items(container):
    return container.items() if isinstance(container, dict) else container


def _is_one(item, other):
    """Whether two elements of lists or entries of dicts are the same objects."""
    if isinstance(item, tuple) and isinstance(other, tuple):
        return len(item) == len(other) and all(a is b for a, b in zip(item, other, strict=True))
    return item is other


def _join(path, name):
    return f"{path}.{name}" if path else name
