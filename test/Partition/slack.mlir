// For the same number of segments, ops are placed where the fewest bytes are carried, unless this is disabled.
// RUN: inlay-opt %s --inlay-partition | FileCheck %s
// RUN: inlay-opt %s --inlay-partition="report=-" -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: inlay-opt %s --inlay-partition --inlay-partition-report="format=table" -o /dev/null | FileCheck %s --check-prefix=TABLE
// RUN: inlay-opt %s --inlay-partition="fewest-bytes=false report=-" -o /dev/null | FileCheck %s --check-prefix=EARLY
// RUN: inlay-opt %s --inlay-partition="strategy=in-order report=-" -o /dev/null | FileCheck %s --check-prefix=ORDER

// JSON: "segments": 3,
// JSON: "lower_bound": 3,
// JSON-NEXT: "bytes_carried": 48,
// JSON-NEXT: "bytes_carried_before": 8224,
// TABLE: carried from segment to segment: 48 B (before ops were moved for that: 8224 B)
// EARLY: "bytes_carried": 8224,
// EARLY-NEXT: "bytes_carried_before": 8224,
// ORDER: "bytes_carried": [[BYTES:[0-9]+]],
// ORDER-NEXT: "bytes_carried_before": [[BYTES]],

!t = tensor<4xf32>
!b = tensor<1024xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f"]>, #inlay.declared<"host", ["*"]>]} {
  // The op with the large result is delayed, since its input is small.
  // CHECK-LABEL: func @large_value_is_made_where_it_is_read
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK-NOT: tensor<1024xf32>
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK-NOT: tensor<1024xf32>
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: -> tensor<1024xf32>
  func.func @large_value_is_made_where_it_is_read(%x: !t) -> !t {
    %0 = inlay.opaque "f"(%x) : (!t) -> !t
    %1 = inlay.opaque "f"(%0) : (!t) -> !b
    %2 = inlay.opaque "g"(%0) : (!t) -> !t
    %3 = inlay.opaque "f"(%1, %2) : (!b, !t) -> !t
    return %3 : !t
  }
}
