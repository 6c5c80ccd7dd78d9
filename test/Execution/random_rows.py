# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare softmax, norms and attention of random shapes on Vulkan and on the host with PyTorch.

On Vulkan they run as one kernel and as one kernel per op. Some rows have NaN and infinities.

    random_rows.py [--inlay-run PATH] [--count N] [--seed S] [--keep DIR]
"""

import one_op
import torch
from torch.nn import functional

SIZES = [1, 2, 7, 33, 64, 129, 197]
ROWS = [1, 7, 64, 65, 129, 200, 1000, 1024]
# The largest error relative to the largest element that PyTorch computes in double precision. It covers sums in another
# order and one rounding.
ALLOWED = {"f32": 4e-6, "f16": 2e-3}
FACTS = 'features = ["float16", "int8"]'
WAYS = {
    "by this device": None,
    "by rows": f"#inlay.vulkan<{FACTS}>",
    "by rows in all memory": f'#inlay.vulkan<{FACTS}, kind = "software", max_workgroup_memory = 32768>',
    "one kernel per op": f"#inlay.vulkan<{FACTS}, row_kernels = false>",
    "host": "",
}


class Case(one_op.Case):
    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = self.random.choice(["f32", "f32", "f32", "f16"])
        draw = [self.softmax, self.log_softmax, self.layer_norm, self.rms_norm, self.group_norm, self.attention,
                self.attention]  # fmt: skip
        self.expected = self.random.choice(draw)()
        # f16 and sequences of ops round more often.
        self.allowed = ALLOWED[self.dtype] * (8 if self.dtype == "f16" or "inlay.exp" in self.text else 1)

    def tensor(self, shape, dtype=None):
        """Adds an argument. Returns its values in double precision, or as they are for i1."""
        dtype = dtype or self.dtype
        if dtype == "i1":
            value = torch.rand(shape, generator=self.torch) > 0.3
        else:
            value = torch.randn(shape, generator=self.torch).to(torch.float16 if dtype == "f16" else torch.float32)
        self.inputs.append(value)
        self.types.append(f"tensor<{'x'.join(map(str, [*shape, dtype]))}>")
        return value if dtype == "i1" else value.double()

    def spoil(self):
        """Writes NaN or infinities into some rows of the last argument. Returns its values in double precision."""
        value = self.inputs[-1].view(-1, self.inputs[-1].shape[-1])
        for special in (float("nan"), float("inf"), float("-inf")):
            if self.random.random() < 0.2:
                value[self.random.randrange(value.shape[0]), self.random.randrange(value.shape[1])] = special
        if self.random.random() < 0.2:
            value[self.random.randrange(value.shape[0])] = float("-inf")
        return self.inputs[-1].double()

    def shape(self, rank):
        while True:
            shape = [self.random.choice(SIZES) for _ in range(rank - 1)] + [self.random.choice(ROWS)]
            if torch.Size(shape).numel() <= 100000:
                return shape

    def call(self, text):
        operands = ", ".join(f"%a{i}" for i in range(len(self.types)))
        self.text = text.replace("OPERANDS", operands).replace("TYPES", f"({', '.join(self.types)})")

    def softmax(self):
        self.tensor(self.shape(self.random.choice([1, 2, 2, 3])))
        value, type = self.spoil(), self.types[0]
        dim = self.random.choice([-1, -1, -1, 0])
        self.call(f"%r = inlay.softmax OPERANDS dim {dim} : TYPES -> {type}")
        self.result = type
        return torch.softmax(value, dim)

    def log_softmax(self):
        self.tensor(self.shape(2))
        value, type = self.spoil(), self.types[0]
        kept = f"tensor<{value.shape[0]}x1x{self.dtype}>"
        self.text = f"""%m = inlay.amax %a0 dims [1] keepdim : ({type}) -> {kept}
  %c = inlay.sub %a0, %m : ({type}, {kept}) -> {type}
  %e = inlay.exp %c : ({type}) -> {type}
  %s = inlay.sum %e dims [1] keepdim : ({type}) -> {kept}
  %l = inlay.log %s : ({kept}) -> {kept}
  %r = inlay.sub %c, %l : ({type}, {kept}) -> {type}"""
        self.result = type
        return torch.log_softmax(value, 1)

    def layer_norm(self):
        shape = self.shape(self.random.choice([2, 3]))
        normal = shape[self.random.choice([-1, -1, 1]) :]
        value, weight, bias = self.tensor(shape), self.tensor(normal), self.tensor(normal)
        self.result = self.types[0]
        self.call(f"%r = inlay.layer_norm OPERANDS eps 1.0e-3 : TYPES -> {self.result}")
        return functional.layer_norm(value, normal, weight, bias, 1e-3)

    def rms_norm(self):
        shape = self.shape(self.random.choice([2, 3]))
        value, weight = self.tensor(shape), self.tensor(shape[-1:])
        self.result = self.types[0]
        self.call(f"%r = inlay.rms_norm OPERANDS eps 1.0e-3 : TYPES -> {self.result}")
        return functional.rms_norm(value, shape[-1:], weight, 1e-3)

    def group_norm(self):
        groups, channels = self.random.choice([1, 2, 3]), self.random.choice([1, 2, 5])
        shape = [self.random.choice([1, 3]), groups * channels, self.random.choice([3, 8, 13]), 16]
        value, weight, bias = self.tensor(shape), self.tensor(shape[1:2]), self.tensor(shape[1:2])
        self.result = self.types[0]
        self.call(f"%r = inlay.group_norm OPERANDS groups {groups} eps 1.0e-3 : TYPES -> {self.result}")
        return functional.group_norm(value, groups, weight, bias, 1e-3)

    def attention(self):
        batch, groups = self.random.choice([1, 2]), self.random.choice([1, 2])
        heads = 3 if groups > 1 else self.random.choice([1, 3])
        queries, keys = self.random.choice([1, 7, 33, 129]), self.random.choice([64, 65, 129, 197, 1000])
        inner, outer = self.random.choice([4, 16, 24]), self.random.choice([7, 16])
        query = self.tensor([batch, heads * groups, queries, inner])
        key, value = self.tensor([batch, heads, keys, inner]), self.tensor([batch, heads, keys, outer])
        options, mask, is_causal = "scale 0.3", None, False
        kind = self.random.choice(["none", "f32", "i1", "causal"])
        if kind == "causal":
            is_causal, options = True, options + " is_causal"
        elif kind != "none":
            mask = self.tensor([queries, keys], "i1" if kind == "i1" else self.dtype)
            if kind == "i1":
                self.inputs[-1][:, 0] = True
        enable = groups > 1
        self.result = f"tensor<{batch}x{heads * groups}x{queries}x{outer}x{self.dtype}>"
        self.call(f"%r = inlay.scaled_dot_product_attention OPERANDS {options}{' enable_gqa' if enable else ''} : "
                  f"TYPES -> {self.result}")  # fmt: skip
        return functional.scaled_dot_product_attention(
            query, key, value, mask, is_causal=is_causal, scale=0.3, enable_gqa=enable
        )


if __name__ == "__main__":
    one_op.run_all(one_op.make_parser("random-rows").parse_args(), Case, WAYS)
