// RUN: inlay-opt %s --inlay-convert-outline-segments -split-input-file | FileCheck %s

// Split control flow stays around calls of the segments in it. Scalars become tensors where they enter or leave the
// function of a segment. Numbers match reports: segments in a block come before segments in its regions.

// CHECK-LABEL: func.func @branch(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<f32>)
// CHECK:         %[[C:.*]] = plan.invoke @branch_0(%[[Y]]) {plan.segment = 0 : i64} : (tensor<f32>) -> i1
// CHECK:         %[[R:.*]] = scf.if %[[C]] -> (tensor<4xf32>) {
// CHECK:           %[[A:.*]] = plan.invoke @branch_3(%[[X]]) {plan.segment = 3 : i64}
// CHECK:           scf.yield %[[A]]
// CHECK:         } else {
// CHECK:           scf.yield %[[X]]
// CHECK:         } {plan.segment = 1 : i64}
// CHECK:         plan.invoke @branch_2(%[[R]]) {plan.segment = 2 : i64}
// CHECK-DAG:   func.func private @branch_3(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
// CHECK:       func.func private @branch_0(%{{.*}}: tensor<f32>) -> tensor<i1>
// CHECK:         %[[E:.*]] = tensor.extract %{{.*}}[] : tensor<i1>
// CHECK:         %[[F:.*]] = tensor.from_elements %[[E]] : tensor<i1>
// CHECK:         return %[[F]]
func.func @branch(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {
  %c = inlay.segment #inlay.host(%y) : (tensor<f32>) -> i1 {
  ^bb0(%a: tensor<f32>):
    %0 = inlay.gt %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = tensor.extract %0[] : tensor<i1>
    inlay.yield %1 : i1
  }
  %r = inlay.segment #inlay.host(%x, %c) do_not_merge : (tensor<4xf32>, i1) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %p: i1):
    %0 = scf.if %p -> tensor<4xf32> {
      %1 = inlay.segment #inlay.host(%a) : (tensor<4xf32>) -> tensor<4xf32> {
      ^bb1(%b: tensor<4xf32>):
        %2 = inlay.relu %b : (tensor<4xf32>) -> tensor<4xf32>
        inlay.yield %2 : tensor<4xf32>
      }
      scf.yield %1 : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    inlay.yield %0 : tensor<4xf32>
  }
  %s = inlay.segment #inlay.host(%r) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = inlay.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %0 : tensor<4xf32>
  }
  return %s : tensor<4xf32>
}

// -----

// An index becomes a 64-bit integer there.

// CHECK-LABEL: func.func @count(
// CHECK:         scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (tensor<i64>) {
// CHECK:           %[[N:.*]] = plan.invoke @count_1(%[[A]], %[[K]]) {plan.segment = 1 : i64} : (tensor<i64>, index) -> tensor<i64>
// CHECK:           scf.yield %[[N]]
// CHECK:       func.func private @count_1(%{{.*}}: tensor<i64>, %[[T:.*]]: tensor<i64>) -> tensor<i64>
// CHECK:         %[[I:.*]] = tensor.extract %[[T]][] : tensor<i64>
// CHECK:         arith.index_cast %[[I]] : i64 to index
func.func @count(%x: tensor<i64>) -> tensor<i64> {
  %r = inlay.segment #inlay.host(%x) do_not_merge : (tensor<i64>) -> tensor<i64> {
  ^bb0(%a: tensor<i64>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %0 = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %a) -> tensor<i64> {
      %1 = inlay.segment #inlay.host(%s, %k) : (tensor<i64>, index) -> tensor<i64> {
      ^bb1(%b: tensor<i64>, %i: index):
        %2 = arith.index_cast %i : index to i64
        %3 = tensor.from_elements %2 : tensor<i64>
        %4 = inlay.add %b, %3 : (tensor<i64>, tensor<i64>) -> tensor<i64>
        inlay.yield %4 : tensor<i64>
      }
      scf.yield %1 : tensor<i64>
    }
    inlay.yield %0 : tensor<i64>
  }
  return %r : tensor<i64>
}

// -----

// Control flow that one target runs as a whole is in its segment.

// CHECK-LABEL: func.func @whole(
// CHECK-NEXT:    plan.invoke @whole_0
// CHECK:       func.func private @whole_0(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<i1>)
// CHECK:         scf.if
func.func @whole(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = inlay.segment #inlay.declared<"npu", ["*"]>(%x, %c) : (tensor<4xf32>, i1) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %p: i1):
    %0 = scf.if %p -> tensor<4xf32> {
      %1 = inlay.relu %a : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %1 : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    inlay.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
