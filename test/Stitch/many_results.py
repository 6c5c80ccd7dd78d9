# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a module whose function returns COUNT results of one segment of framework calls."""

import sys

count = int(sys.argv[1])
tensor = "tensor<4xf32>"
types = ", ".join([tensor] * count)
values = ", ".join(f"%r#{number}" for number in range(count))
made = ", ".join(f"%{number}" for number in range(count))
calls = "\n".join(
    f'  %{number} = plan.framework_call "call {number}"(%x) : ({tensor}) -> {tensor}' for number in range(count)
)
print(f"""\
func.func @many(%x: {tensor}) -> ({types}) {{
  %r:{count} = plan.invoke @calls(%x) : ({tensor}) -> ({types})
  return {values} : {types}
}}
func.func private @calls(%x: {tensor}) -> ({types}) {{
{calls}
  return {made} : {types}
}}""")
