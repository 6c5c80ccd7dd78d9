# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a function with a chain of branches, each of which swaps two values or does nothing."""

import sys

TYPES = "tensor<3xf32>, tensor<3xf32>"
print(f"func.func @forward(%c: i1, %a: tensor<3xf32>, %b: tensor<3xf32>) -> ({TYPES}) {{")
first, second = "%a", "%b"
for number in range(int(sys.argv[1])):
    print(f"  %r{number}:2 = scf.if %c -> ({TYPES}) {{")
    print(f"    scf.yield {first}, {second} : {TYPES}")
    print("  } else {")
    print(f"    scf.yield {second}, {first} : {TYPES}")
    print("  }")
    first, second = f"%r{number}#0", f"%r{number}#1"
print(f"  return {first}, {second} : {TYPES}")
print("}")
