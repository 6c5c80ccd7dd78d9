// The report lists the range of each symbol. A symbol without an upper bound has null.
// RUN: inlay-opt %s --inlay-partition="report=-" -o /dev/null | FileCheck %s

// CHECK: "function": "main",
// CHECK-NEXT: "symbols": {
// CHECK-NEXT: "batch": [
// CHECK-NEXT: 2,
// CHECK-NEXT: 64
// CHECK-NEXT: ],
// CHECK-NEXT: "length": [
// CHECK-NEXT: 0,
// CHECK-NEXT: null
// CHECK-NEXT: ]
// CHECK-NEXT: },
// CHECK-NEXT: "segments": [
#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32>
      attributes {inlay.symbols = [#inlay.symbol<"batch", 2 to 64>, #inlay.symbol<"length", 0 to 9223372036854775807>]} {
    %0 = inlay.relu %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
}
