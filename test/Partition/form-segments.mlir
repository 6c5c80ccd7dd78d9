// RUN: inlay-opt %s --inlay-partition-annotate-targets --inlay-partition-form-segments="fewest-bytes=false" --split-input-file | FileCheck %s

!t = tensor<4x4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::add", "aten::mul", "aten::div", "aten::cat", "prim::ListConstruct"]>,
                                    #inlay.declared<"host", ["*"]>]} {
  // There are three segments; a walk in order makes seven. Constants are copied into the segments that use them.
  // CHECK-LABEL: func @documented_example
  // CHECK-SAME: inlay.witness = ["d", "ld", "out"]
  func.func @documented_example(%x: !t, %y: !t) -> tensor<16x4xf32> {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    // CHECK-NEXT: %[[A:.*]]:3 = inlay.segment #inlay.declared<"npu", {{.*}}>(%arg0, %arg1)
    // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x4xf32>, %[[Y:.*]]: tensor<4x4xf32>):
    // CHECK-NEXT: %[[C1:.*]] = arith.constant 1 : i64
    // CHECK-NEXT: %[[ADD:.*]] = inlay.opaque "aten::add"(%[[X]], %[[Y]], %[[C1]])
    // CHECK-NEXT: %[[MUL:.*]] = inlay.opaque "aten::mul"(%[[X]], %[[Y]])
    // CHECK-NEXT: %[[DIV:.*]] = inlay.opaque "aten::div"(%[[X]], %[[Y]])
    // CHECK-NEXT: inlay.yield %[[ADD]], %[[MUL]], %[[DIV]]
    // CHECK: %[[B:.*]]:3 = inlay.segment #inlay.declared<"host", ["*"]>(%arg0, %arg1, %[[A]]#2)
    // CHECK-COUNT-3: "aten::lgamma"
    // CHECK: %[[C:.*]] = inlay.segment #inlay.declared<"npu", {{.*}}>(%[[B]]#0, %[[B]]#1, %[[B]]#2, %[[A]]#0, %[[A]]#1)
    // CHECK: arith.constant 0 : i64
    // CHECK-NEXT: "prim::ListConstruct"
    // CHECK-NEXT: "aten::cat"
    // CHECK: return %[[C]]
    %a = inlay.opaque "aten::add"(%x, %y, %c1) : (!t, !t, i64) -> !t loc("a")
    %lx = inlay.opaque "aten::lgamma"(%x) : (!t) -> !t loc("lx")
    %m = inlay.opaque "aten::mul"(%x, %y) : (!t, !t) -> !t loc("m")
    %ly = inlay.opaque "aten::lgamma"(%y) : (!t) -> !t loc("ly")
    %d = inlay.opaque "aten::div"(%x, %y) : (!t, !t) -> !t loc("d")
    %ld = inlay.opaque "aten::lgamma"(%d) : (!t) -> !t loc("ld")
    %l = inlay.opaque "prim::ListConstruct"(%lx, %ly, %ld, %a, %m) : (!t, !t, !t, !t, !t) -> !inlay.list<!t> loc("l")
    %out = inlay.opaque "aten::cat"(%l, %c0) : (!inlay.list<!t>, i64) -> tensor<16x4xf32> loc("out")
    return %out : tensor<16x4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func @empty()
  // CHECK-NEXT: return
  func.func @empty() {
    return
  }

  // CHECK-LABEL: func @arguments_returned
  // CHECK-NEXT: return %arg1, %arg0, %arg1
  func.func @arguments_returned(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    return %y, %x, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }

  // CHECK-LABEL: func @constant_returned
  // CHECK-NEXT: %[[C:.*]] = arith.constant
  // CHECK-NEXT: return %[[C]]
  func.func @constant_returned() -> tensor<4xf32> {
    %c = arith.constant dense<1.0> : tensor<4xf32>
    return %c : tensor<4xf32>
  }

  // Ops without results and unused results stay.
  // CHECK-LABEL: func @no_results
  // CHECK-NEXT: inlay.segment #inlay.declared<"npu", ["*"]>(%arg0) : (tensor<4xf32>) -> () {
  // CHECK: "aten::print"
  // CHECK-NEXT: "aten::relu"
  func.func @no_results(%x: tensor<4xf32>) {
    inlay.opaque "aten::print"(%x) : (tensor<4xf32>) -> ()
    %0 = inlay.opaque "aten::relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return
  }

  // CHECK: func private @declared
  func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["inlay.neg", "inlay.permute"]>, #inlay.declared<"host", ["*"]>]} {
  // A layout op continues a host segment instead of forming another segment.
  // CHECK-LABEL: func @neutral_joins_the_host
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: inlay.exp
  // CHECK-NEXT: inlay.permute {{.*}}#inlay.verdict<"host", "cost", "joins its neighbors, since a separate segment on 'npu' would cost more">
  // CHECK-NOT: inlay.segment
  func.func @neutral_joins_the_host(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {
    %0 = inlay.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = inlay.permute %0 dims [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    return %1 : tensor<4x2xf32>
  }

  // CHECK-LABEL: func @neutral_joins_the_accelerator_it_feeds
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: inlay.permute
  // CHECK: inlay.neg
  func.func @neutral_joins_the_accelerator_it_feeds(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {
    %0 = inlay.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = inlay.permute %0 dims [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %2 = inlay.neg %1 : (tensor<4x2xf32>) -> tensor<4x2xf32>
    return %2 : tensor<4x2xf32>
  }

  // CHECK-LABEL: func @marked_as_neutral
  // CHECK: inlay.segment
  // CHECK: inlay.exp
  // CHECK-NEXT: inlay.neg {{.*}}"cost"
  // CHECK-NOT: inlay.segment
  func.func @marked_as_neutral(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = inlay.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = inlay.neg %0 {inlay.neutral} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
}

// -----

// Three targets: the number of segments is that of the shortest sequence of targets.
module attributes {inlay.targets = [#inlay.declared<"a", ["inlay.neg"]>, #inlay.declared<"b", ["inlay.exp"]>, #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func @three_targets
  // CHECK: inlay.segment #inlay.declared<"a"
  // CHECK-COUNT-2: = inlay.neg
  // CHECK: inlay.segment #inlay.declared<"b"
  // CHECK-COUNT-2: = inlay.exp
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK-COUNT-2: = inlay.sin
  // CHECK-NOT: inlay.segment
  func.func @three_targets(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = inlay.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = inlay.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = inlay.sin %1 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = inlay.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    %4 = inlay.exp %3 : (tensor<4xf32>) -> tensor<4xf32>
    %5 = inlay.sin %4 : (tensor<4xf32>) -> tensor<4xf32>
    return %2, %5 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["inlay.matmul", "inlay.permute"]>, #inlay.declared<"host", ["*"]>]} {
  // The transpose of a weight sinks to its user instead of being carried across segments.
  // CHECK-LABEL: func @weights_are_late
  // CHECK: inlay.segment
  // CHECK-NOT: = inlay.permute
  // CHECK: inlay.segment
  // CHECK-NOT: = inlay.permute
  // CHECK: inlay.segment
  // CHECK: = inlay.permute
  // CHECK-NEXT: inlay.matmul
  func.func @weights_are_late(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %w = arith.constant dense<1.0> : tensor<4x4xf32>
    %t = inlay.permute %w dims [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %0 = inlay.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = inlay.exp %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = inlay.matmul %1, %t : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %2 : tensor<4x4xf32>
  }
}
