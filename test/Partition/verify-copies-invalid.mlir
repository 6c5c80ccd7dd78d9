// The locations are names only, as in notes.
// RUN: not inlay-opt %s --inlay-partition-verify --split-input-file 2>&1 | FileCheck %s

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @other_operands(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = inlay.opaque "f"(%a) {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      inlay.yield %1 : tensor<4xf32>
    }
    %3 = inlay.segment #host(%0) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // CHECK: loc("one"): 'inlay.opaque' op expected a clone with the operands of its original
      // CHECK: loc("one"): original here
      %1 = inlay.opaque "f"(%a) {inlay.clone} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      %2 = inlay.opaque "g"(%1) {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32> loc("two")
      inlay.yield %2 : tensor<4xf32>
    }
    return %3 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @other_name(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = inlay.opaque "f"(%a) {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      // CHECK: loc("one"): 'inlay.opaque' op expected a clone with the attributes of its original
      // CHECK: loc("one"): original here
      %2 = inlay.opaque "g"(%a) {inlay.clone} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#npu = #inlay.declared<"npu", ["f", "prim::ListConstruct"]>
#host = #inlay.declared<"host", ["*"]>
!l = !inlay.list<tensor<4xf32>>
module attributes {inlay.targets = [#npu, #host]} {
  func.func @argument_in_another_order(%x: !l {inlay.length = 2 : i64}) -> tensor<4xf32> {
    %p:2 = inlay.opaque "prim::ListUnpack"(%x) {inlay.unpacked} : (!l) -> (tensor<4xf32>, tensor<4xf32>)
    %0 = inlay.segment #npu(%p#0, %p#1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      // CHECK: loc("again"): 'inlay.list' op expected all elements of the argument in their order
      %l = inlay.list %b, %a {inlay.clone, inlay.unpacked} : (tensor<4xf32>, tensor<4xf32>) -> !l loc("again")
      %1 = inlay.opaque "f"(%l) {inlay.verdict = #inlay.verdict<"npu", "supported", "">} : (!l) -> tensor<4xf32> loc("one")
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
!l = !inlay.list<tensor<4xf32>>
module attributes {inlay.targets = [#host]} {
  func.func @no_argument(%x: tensor<4xf32>) -> !l {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> !l {
    ^bb0(%a: tensor<4xf32>):
      %1 = inlay.opaque "aten::split"(%a) {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> !l loc("one")
      inlay.yield %1 : !l
    }
    // CHECK: loc("apart"): expected every op to be in a segment, but got 'inlay.opaque' outside of one
    %p:2 = inlay.opaque "prim::ListUnpack"(%0) {inlay.unpacked} : (!l) -> (tensor<4xf32>, tensor<4xf32>) loc("apart")
    return %0 : !l
  }
}
