# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control flow, and writes to values, views and arguments."""

import torch

from ..draft import Refused
from ..graph import Precision

_BODIES = ["torch.tanh({x})", "{x} * 0.5 + 1", "torch.relu({x}) - 0.25", "{x}.abs()", "torch.sigmoid({x}) * {x}"]


def _body(draft, name):
    return draft.choose.choice(_BODIES).format(x=name)


def conditional(draft):
    x = draft.float()
    flag = draft.pick(lambda y: y.dtype == torch.bool) if draft.choose.random() < 0.6 else None
    test = f"{draft.choose.choice(['{1}.any()', '{1}.all()', '~{1}.all()'])}" if flag else "{0}.isnan().any()"
    branches = [f"lambda a: ({_body(draft, 'a')},)" for _ in range(2)]
    text = f"cond({test}, {', '.join(branches)}, ({{0}},))[0]"
    draft.add("cond", text, *([x, flag] if flag else [x]), precision=Precision.COMPUTED)


def loop(draft):
    x, count = draft.float(), draft.choose.randint(0, 4)
    body = _body(draft, "a")
    text = f"while_loop(lambda i, a: i < {count}, lambda i, a: (i + 1, {body}), (torch.zeros((), dtype=i64), {{0}}))[1]"
    draft.add("while_loop", text, x, precision=Precision.COMPUTED)


def mapped(draft):
    x = draft.float(1, 3)
    if draft.values[x].shape[0] == 0:
        raise Refused
    draft.add("map", f"map_over(lambda a: {_body(draft, 'a')}, {{0}})", x, precision=Precision.COMPUTED)


def scanned(draft):
    x = draft.float(1, 3)
    tensor = draft.values[x]
    if tensor.shape[0] == 0:
        raise Refused
    start = draft.input(list(tensor.shape[1:]), tensor.dtype)
    body = f"lambda c, a: (torch.tanh(c + a), {_body(draft, 'c')})"
    number = draft.choose.randint(0, 1)
    draft.add("scan", f"scan({body}, {{1}}, {{0}})[{number}]", x, start, precision=Precision.COMPUTED)


def write(draft):
    """Writes a copy of a value, one of its views, or an argument, and goes on with the written value."""
    if draft.choose.random() < 0.4:
        names = {each.name for each in draft.inputs if not each.is_weight}
        target = draft.pick(lambda y: y.is_floating_point() and any(draft.values[n] is y for n in names))
    else:
        target = draft.add("clone", "{0}.clone()", draft.float())
    view = target
    if draft.values[target].dim() and draft.choose.random() < 0.6:
        texts = ["{0}[1:]", "{0}[::2]", "{0}.transpose(0, -1)", "{0}[0]", "{0}.unsqueeze(0)", "{0}[..., :1]"]
        view = draft.add("view", draft.choose.choice(texts), target)
    choice = draft.choose.randrange(6)
    if choice == 0:
        draft.write("add_", "{0}.add_({1})", view, draft.like(view), precision=Precision.ROUNDED)
    elif choice == 1:
        draft.write("mul_", "{0}.mul_(0.5)", view, precision=Precision.ROUNDED)
    elif choice == 2:
        draft.write("copy_", "{0}.copy_({1})", view, draft.like(view))
    elif choice == 3:
        draft.write("fill_", draft.choose.choice(["{0}.zero_()", "{0}.fill_(3)"]), view)
    elif choice == 4:
        draft.write("masked_fill_", "{0}.masked_fill_({1}, 2)", view, draft.boolean(draft.values[view].shape))
    else:
        draft.write("relu_", "{0}.relu_()", view)
    draft.add("read", draft.choose.choice(["{0} + 1", "{0} * {0}", "{0}.neg()"]), target, precision=Precision.ROUNDED)


KINDS = [(conditional, 1), (loop, 1), (mapped, 1), (scanned, 1), (write, 4)]
