# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a function of a chain of branches, each of which swaps two values or doesn't."""

import sys

TYPES = "tensor<3xf32>, tensor<3xf32>"
print(f"func.func @forward(%c: i1, %a: tensor<3xf32>, %b: tensor<3xf32>) -> ({TYPES}) {{")
one, other = "%a", "%b"
for number in range(int(sys.argv[1])):
    print(f"  %r{number}:2 = scf.if %c -> ({TYPES}) {{")
    print(f"    scf.yield {one}, {other} : {TYPES}")
    print("  } else {")
    print(f"    scf.yield {other}, {one} : {TYPES}")
    print("  }")
    one, other = f"%r{number}#0", f"%r{number}#1"
print(f"  return {one}, {other} : {TYPES}")
print("}")
