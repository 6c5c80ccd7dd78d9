# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare matrix products and convolutions of random shapes on Vulkan, by all kinds of kernels, with PyTorch.

    random_products.py [--inlay-run COMMAND] [--count N] [--seed S] [--keep DIR] [--subgroup-size N] [--matrices SHAPE]

Some operands have NaN and infinities. With --matrices=8x8x8xf16xf32, for example, the operands are f16, and large
products use cooperative matrices of that shape.
"""

import one_op
import torch
from torch.nn import functional

SIZES = [1, 1, 2, 3, 4, 7, 8, 12, 16, 17, 31, 33, 64, 100, 129]
# The largest error relative to the largest element that PyTorch computes in double precision.
ALLOWED = 4e-6
# The same for f16: half a unit in the last place, and a margin.
ALLOWED_OF_HALVES = 5.5e-4


def list_ways(lanes):
    subgroup = f'subgroup_size = {lanes}, features = ["subgroup-broadcast"'
    return {
        "by this device": None,
        "by subgroups": f'#inlay.vulkan<{subgroup}], kind = "software">',
        "by subgroups from texels": f'#inlay.vulkan<{subgroup}, "subgroup-shuffle", "texel-reads"], kind = "software">',
        "by subgroups, small tiles": f'#inlay.vulkan<{subgroup}], kind = "discrete", max_workgroup_count = 100>',
        "by subgroups and dot products":
            f'#inlay.vulkan<{subgroup}, "subgroup-arithmetic"], max_workgroup_invocations = 64, kind = "discrete">',
        # The costs keep subgroups from computing products alone.
        "by workgroups":
            f'#inlay.vulkan<{subgroup}], max_workgroup_invocations = 256, max_workgroup_memory = 32768, '
            f'kind = "discrete", tuning = {{load = 1000.0, quad = 1000.0, subgroups = 1.0}}>',
        "by invocations": "#inlay.vulkan",
    }  # fmt: skip


def list_matrix_ways(lanes, shape):
    matrices = f'subgroup_size = {lanes}, matrices = ["{shape}"], features = ["float16", "subgroup-broadcast"]'
    more = "max_workgroup_invocations = 256, max_workgroup_memory = 32768"
    return {
        "by matrices": f'#inlay.vulkan<{matrices}, kind = "discrete", {more}>',
        "by matrices, in small blocks": f'#inlay.vulkan<{matrices}, max_workgroup_memory = 4096, '
                                        f'max_workgroup_count = 100>',
        "by dot products": f'#inlay.vulkan<subgroup_size = {lanes}, kind = "discrete", features = ["float16", '
                           f'"subgroup-broadcast", "subgroup-arithmetic"]>',
        "by invocations": '#inlay.vulkan<features = ["float16"]>',
    }  # fmt: skip


class Case(one_op.Case):
    allowed, element, dtype, sizes = ALLOWED, "f32", torch.float32, SIZES

    def spell(self, shape):
        return f"tensor<{'x'.join(map(str, [*shape, self.element]))}>"

    def __init__(self, seed):
        super().__init__(seed)
        self.operands, self.constants = [], ""
        self.expected = self.random.choice([self.matmul, self.matmul, self.linear, self.convolution])()

    def size(self):
        return self.random.choice(self.sizes)

    def tensor(self, shape, spoil=False):
        """Adds an argument. Returns its values in double precision."""
        value = torch.randn(shape, generator=self.torch).to(self.dtype)
        if spoil and self.random.random() < 0.2:
            value.view(-1)[self.random.randrange(value.numel())] = self.random.choice([float("nan"), float("inf")])
        self.operands.append((f"%a{len(self.inputs)}", self.spell(shape)))
        self.inputs.append(value)
        self.types.append(self.spell(shape))
        return value.double()

    def weight(self, shape):
        """Adds an argument or a constant, whose order the compiler may change.

        Returns its values in double precision.
        """
        if self.random.random() < 0.4:
            return self.tensor(shape)
        value = torch.randn(shape, generator=self.torch).to(self.dtype)
        name = f"%w{len(self.operands)}"
        data = value.numpy().tobytes().hex()
        self.constants += f'{name} = inlay.constant dense<"0x{data}"> : {self.spell(shape)}\n  '
        self.operands.append((name, self.spell(shape)))
        return value.double()

    def call(self, text, result):
        names, types = zip(*self.operands, strict=True)
        self.result = self.spell(result.shape)
        text = text.replace("OPERANDS", ", ".join(names))
        self.text = f"{self.constants}{text} : ({', '.join(types)}) -> {self.result}"
        return result

    def matmul(self):
        rows, columns, inner = self.size(), self.size(), self.random.choice([*self.sizes, 300])
        batch = self.random.choice([[], [], [3], [2, 3]])
        left, right = self.random.choice([(batch, batch), (batch, []), (batch, [1] * len(batch))])
        result = self.tensor([*left, rows, inner], spoil=True) @ self.tensor([*right, inner, columns], spoil=True)
        return self.call("%r = inlay.matmul OPERANDS", result)

    def linear(self):
        shape = [*self.random.choice([[], [3]]), self.size()]
        inner, features = self.random.choice([*self.sizes, 512]), self.size()
        value, weight = self.tensor([*shape, inner], spoil=True), self.weight([features, inner])
        bias = self.tensor([features]) if self.random.random() < 0.5 else None
        return self.call("%r = inlay.linear OPERANDS", functional.linear(value, weight, bias))

    def convolution(self):
        groups = self.random.choice([1, 1, 2, 4])
        channels, outputs = (groups * self.random.choice([1, 2, 3, 8, 16]) for _ in range(2))
        kernel = [self.random.choice([1, 2, 3, 5]) for _ in range(2)]
        stride, dilation = self.random.choice([1, 1, 2]), self.random.choice([1, 1, 2])
        padding = [self.random.randint(0, extent // 2) for extent in kernel]
        size = [self.random.choice([9, 12, 14, 28]) for _ in range(2)]
        value = self.tensor([self.random.choice([1, 2]), channels, *size], spoil=True)
        weight = self.weight([outputs, channels // groups, *kernel])
        bias = self.tensor([outputs]) if self.random.random() < 0.5 else None
        text = (f"%r = inlay.conv OPERANDS stride [{stride}, {stride}] padding {padding} "
                f"dilation [{dilation}, {dilation}] groups {groups}")  # fmt: skip
        return self.call(text, functional.conv2d(value, weight, bias, stride, padding, dilation, groups))


class HalfCase(Case):
    """A case in f16. Cooperative matrices compute most products of these sizes."""

    allowed, element, dtype = ALLOWED_OF_HALVES, "f16", torch.float16
    sizes = (3, 8, 16, 17, 31, 33, 64, 100, 129)


if __name__ == "__main__":
    parser = one_op.make_parser("random-products")
    parser.add_argument("--subgroup-size", type=int, default=8, help="subgroup size of the device")
    parser.add_argument("--matrices", help="shape of the cooperative matrices, for example 8x8x8xf16xf32")
    options = parser.parse_args()
    if options.matrices:
        one_op.run_all(options, HalfCase, list_matrix_ways(options.subgroup_size, options.matrices))
    one_op.run_all(options, Case, list_ways(options.subgroup_size))
