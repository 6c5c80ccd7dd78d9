# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a chain of ops. The argument is their number. Only the host can run the op in the middle."""

import sys

count = int(sys.argv[1])
print('module attributes {inlay.targets = [#inlay.declared<"npu", ["inlay.neg"]>, #inlay.declared<"host", ["*"]>]} {')
print("func.func @chain(%0: tensor<4xf32>) -> tensor<4xf32> {")
for number in range(1, count + 1):
    name = "exp" if number == count // 2 else "neg"
    print(f"%{number} = inlay.{name} %{number - 1} : (tensor<4xf32>) -> tensor<4xf32>")
print(f"return %{count} : tensor<4xf32>\n}}\n}}")
