"""Print a module whose ops change target every `RUN` ops: `make_chain.py OPS RUN`. Each run also reads the first op."""

import sys

ops, run = map(int, sys.argv[1:])
print('module attributes {inlay.targets = [#inlay.declared<"npu", ["a"]>, #inlay.declared<"host", ["*"]>]} {')
print("func.func @chain(%v0: tensor<8xf32>) -> tensor<8xf32> {")
for i in range(ops):
    name = "b" if i // run % 2 else "a"
    print(f'%v{i + 1} = inlay.opaque "{name}"(%v{i}, %v{min(i, 1)}) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>')
print(f"return %v{ops} : tensor<8xf32>\n}}\n}}")
