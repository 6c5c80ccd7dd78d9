// RUN: inlay-opt %s --inlay-partition="save-placement=-" -o /dev/null | FileCheck %s
// RUN: inlay-compile %s --to=partition --save-placement=%t.json -o /dev/null
// RUN: FileCheck %s --input-file=%t.json
// RUN: not inlay-opt %s --inlay-partition="save-placement=%t/no/such/folder" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FILE

// FILE: error: can't write the placement to '{{.*}}folder': No such file or directory

// CHECK: "inlay_placement": 1,
// CHECK: "function": "f",
// CHECK-NEXT: "fingerprint": "[[F:[0-9a-f]*]]",
// CHECK: "target": "host",
// CHECK-NEXT: "do_not_merge": false,
// CHECK-NEXT: "parent": null,
// CHECK-NEXT: "ops": [
// CHECK-NEXT: "b"
// CHECK: "bytes_in": 16,
// CHECK: "label": "b",
// CHECK-NEXT: "name": "aten::sort",
// CHECK-NEXT: "fingerprint": "{{[0-9a-f]+}}",
// CHECK-NEXT: "reason": {
// CHECK-NEXT: "code": "no-converter",

// The same graph in another order, or with other constants, has the same fingerprint. With other operands it has not.
// CHECK: "function": "reordered",
// CHECK-NEXT: "fingerprint": "[[F]]",
// CHECK: "function": "rewired",
// CHECK-NOT: "fingerprint": "[[F]]",

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::add"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @f(%x: !t) -> !t {
    %k = arith.constant dense<1.0> : !t
    %0 = inlay.opaque "aten::add"(%x, %k) : (!t, !t) -> !t loc("a")
    %1 = inlay.opaque "aten::sort"(%x) : (!t) -> !t loc("b")
    %2 = inlay.opaque "aten::add"(%0, %1) : (!t, !t) -> !t loc("c")
    return %2 : !t
  }
  func.func @reordered(%x: !t) -> !t {
    %1 = inlay.opaque "aten::sort"(%x) : (!t) -> !t loc("b")
    %k = arith.constant dense<2.0> : !t
    %0 = inlay.opaque "aten::add"(%x, %k) : (!t, !t) -> !t loc("a")
    %2 = inlay.opaque "aten::add"(%0, %1) : (!t, !t) -> !t loc("c")
    return %2 : !t
  }
  func.func @rewired(%x: !t) -> !t {
    %k = arith.constant dense<1.0> : !t
    %0 = inlay.opaque "aten::add"(%x, %k) : (!t, !t) -> !t loc("a")
    %1 = inlay.opaque "aten::sort"(%x) : (!t) -> !t loc("b")
    %2 = inlay.opaque "aten::add"(%1, %0) : (!t, !t) -> !t loc("c")
    return %2 : !t
  }
}
