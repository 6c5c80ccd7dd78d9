// The lower bound on the number of segments is reported for each strategy and any number of targets.
// RUN: inlay-opt %s --inlay-partition="report=-" -o /dev/null | FileCheck %s --check-prefixes=LEVELS
// RUN: inlay-opt %s --inlay-partition="strategy=torch-tensorrt report=-" -o /dev/null | FileCheck %s --check-prefix=ANCESTOR
// RUN: inlay-opt %s --inlay-partition="strategy=torch-tensorrt" --inlay-partition-report="format=table" -o /dev/null | FileCheck %s --check-prefix=TABLE
// RUN: inlay-opt %s --inlay-partition="strategy=in-order" --inlay-partition-inline-segments --inlay-partition-report="format=table" -o /dev/null | FileCheck %s --check-prefix=DISSOLVED

// LEVELS: "function": "branches"
// LEVELS: "segments": 3,
// LEVELS: "lower_bound": 3,
// LEVELS: "function": "three_targets"
// LEVELS: "segments": 4,
// LEVELS: "lower_bound": 4,
// LEVELS: "function": "control_flow"
// LEVELS: "segments": 4,
// LEVELS: "lower_bound": 4,

// ANCESTOR: "function": "branches"
// ANCESTOR: "segments": 7,
// ANCESTOR: "lower_bound": 3,
// ANCESTOR: "function": "three_targets"
// ANCESTOR: "lower_bound": 4,

// TABLE: @branches: 9 ops in 7 segments
// TABLE: lower bound: 3 segments{{$}}

// DISSOLVED: @branches: 0 ops in 0 segments
// DISSOLVED-NOT: lower bound

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"a", ["inlay.neg"]>, #inlay.declared<"b", ["inlay.exp"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @branches(%x: !t) -> (!t, !t, !t) {
    %0 = inlay.neg %x : (!t) -> !t
    %1 = inlay.sin %0 : (!t) -> !t
    %2 = inlay.neg %1 : (!t) -> !t
    %3 = inlay.neg %x : (!t) -> !t
    %4 = inlay.sin %3 : (!t) -> !t
    %5 = inlay.neg %4 : (!t) -> !t
    %6 = inlay.neg %x : (!t) -> !t
    %7 = inlay.sin %6 : (!t) -> !t
    %8 = inlay.neg %7 : (!t) -> !t
    return %2, %5, %8 : !t, !t, !t
  }

  // No path has more than three runs, but each target needs at least one, and `a` needs two.
  func.func @three_targets(%x: !t) -> (!t, !t) {
    %0 = inlay.neg %x : (!t) -> !t
    %1 = inlay.exp %0 : (!t) -> !t
    %2 = inlay.neg %1 : (!t) -> !t
    %3 = inlay.neg %x : (!t) -> !t
    %4 = inlay.sin %3 : (!t) -> !t
    return %2, %4 : !t, !t
  }

  // One target with isolated ops.
  func.func @control_flow(%x: !t, %c: i1) -> !t {
    %0 = inlay.sin %x : (!t) -> !t
    %1 = scf.if %c -> !t {
      scf.yield %0 : !t
    } else {
      scf.yield %x : !t
    }
    %2 = scf.if %c -> !t {
      scf.yield %1 : !t
    } else {
      scf.yield %x : !t
    }
    %3 = inlay.sin %2 : (!t) -> !t
    return %3 : !t
  }
}
