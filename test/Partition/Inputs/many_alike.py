# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a function of equal branches or equal hand-written segments. The second argument is their number."""

import sys

kind, count = sys.argv[1], int(sys.argv[2])
numbers = range(count)
print('#npu = #inlay.declared<"npu", ["scf.if", "arith.negf"]>')
print("module attributes {inlay.targets = [#npu, #inlay.host]} {")
if kind == "branches":
    print("func.func @branches(%c: i1) {")
    print("scf.if %c {}\n" * count + "return")
else:
    types = ", ".join(["f32"] * count)
    print(f"func.func @segments(%x: f32) -> ({types}) {{")
    for number in numbers:
        print(f"%{number} = inlay.segment #npu(%x) : (f32) -> f32 {{")
        print("^bb0(%a: f32):\n%y = arith.negf %a : f32\ninlay.yield %y : f32\n}")
    print("return", ", ".join(f"%{number}" for number in numbers), ":", types)
print("}\n}")
