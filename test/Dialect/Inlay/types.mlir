// RUN: inlay-opt %s | inlay-opt | FileCheck %s

// CHECK-LABEL: func @types
// CHECK-SAME: !inlay.list<tensor<4x4xf32>>, %{{.*}}: !inlay.list<!inlay.object<"None">>, %{{.*}}: !inlay.object<"Dict(str, Tensor)">
func.func @types(%list: !inlay.list<tensor<4x4xf32>>, %nested: !inlay.list<!inlay.object<"None">>,
                 %object: !inlay.object<"Dict(str, Tensor)">) {
  return
}
