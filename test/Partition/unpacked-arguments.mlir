// An argument that is a tuple or a list of known length enters an accelerator as its elements and is repacked there.
// RUN: inlay-opt %s --inlay-partition | FileCheck %s
// RUN: inlay-opt %s > %t.before
// RUN: inlay-opt %s --inlay-partition --inlay-partition-inline-segments | diff %t.before -
// RUN: inlay-opt %s --inlay-partition='save-placement=%t.json report=%t.txt' | grep inlay.segment > %t.once
// RUN: inlay-opt %s --inlay-partition=placement=%t.json | grep inlay.segment | diff %t.once -
// RUN: FileCheck %s --check-prefix=TEXT --input-file %t.txt

!t = tensor<4xf32>
!l = !inlay.list<!t>
!p = tuple<!t, i64>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f", "prim::ListConstruct", "prim::TupleConstruct"]>,
                                    #inlay.declared<"other", ["e"]>, #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func @list
  // CHECK: %[[X:.*]]:2 = inlay.opaque "prim::ListUnpack"(%arg0) {inlay.unpacked}
  // CHECK: inlay.segment #inlay.declared<"npu"{{.*}}(%[[X]]#0, %[[X]]#1) : (tensor<4xf32>, tensor<4xf32>)
  // CHECK: %[[L:.*]] = inlay.list %arg1, %arg2 {inlay.clone, inlay.unpacked}
  // CHECK: inlay.opaque "f"(%[[L]])
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>(%{{.*}}, %arg0) : (tensor<4xf32>, !inlay.list<tensor<4xf32>>)
  // CHECK: inlay.segment #inlay.declared<"npu"{{.*}}(%{{.*}}, %[[X]]#0, %[[X]]#1)
  // TEXT: @list: 3 ops in 3 segments
  // TEXT: graph(%arg_0.items : tensor<4xf32>, %arg_0.items#1 : tensor<4xf32>)
  // TEXT-NEXT: %arg_0 : !inlay.list<tensor<4xf32>> = inlay.list(%arg_0.items, %arg_0.items#1)  # clone
  func.func @list(%x: !l {inlay.length = 2 : i64}) -> !t {
    %0 = inlay.opaque "f"(%x) : (!l) -> !t
    %1 = inlay.opaque "g"(%0, %x) : (!t, !l) -> !t
    %2 = inlay.opaque "f"(%1, %x) : (!t, !l) -> !t
    return %2 : !t
  }

  // Also in a branch, which unpacks the argument inside.
  // CHECK-LABEL: func @tuple
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: inlay.segment #inlay.declared<"host"{{.*}} do_not_merge : ({{.*}}tuple<tensor<4xf32>, i64>
  // CHECK: scf.if
  // CHECK-NEXT: %[[X:.*]]:2 = inlay.opaque "prim::TupleUnpack"
  // CHECK-NEXT: inlay.segment #inlay.declared<"npu"{{.*}}(%[[X]]#0, %[[X]]#1, %{{.*}}) : (tensor<4xf32>, i64, tensor<4xf32>)
  // CHECK: "prim::TupleConstruct"({{.*}}) {inlay.clone, inlay.unpacked}
  func.func @tuple(%x: !p, %c: i1) -> !t {
    %0 = inlay.opaque "f"(%x) : (!p) -> !t
    %1 = scf.if %c -> !t {
      %2 = inlay.opaque "f"(%x, %0) : (!p, !t) -> !t
      %3 = inlay.opaque "g"(%2) : (!t) -> !t
      scf.yield %3 : !t
    } else {
      scf.yield %0 : !t
    }
    return %1 : !t
  }

  // A target that can't make a list gets no argument. Changed lists and lists of lists do not enter any accelerator.
  // CHECK-LABEL: func @stays_out
  // CHECK-NOT: inlay.unpacked
  // CHECK: "e"{{.*}}<"host", "non-tensor", "reads '!inlay.list<tensor<4xf32>>', which can't enter 'other'">
  // CHECK: "f"(%{{.*}}){{.*}}<"host", "non-tensor", "reads 'tuple<
  // CHECK: "f"(%{{.*}}){{.*}}<"host", "non-tensor", "reads '!inlay.list<tensor<4xf32>>', which can't enter 'npu'">
  func.func @stays_out(%x: !l {inlay.length = 2 : i64}, %y: !l {inlay.length = 2 : i64}, %z: tuple<!l>) -> (!t, !t, !t) {
    %0 = inlay.opaque "e"(%x) : (!l) -> !t
    %1 = inlay.opaque "f"(%z) : (tuple<!l>) -> !t
    %2 = inlay.opaque "f"(%y) : (!l) -> !t
    inlay.opaque "aten::append"(%y, %0) writes [0] : (!l, !t) -> ()
    return %0, %1, %2 : !t, !t, !t
  }
}
