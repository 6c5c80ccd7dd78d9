// Lists, tuples and objects never cross the border of an accelerator; scalars may.
// RUN: inlay-opt %s --inlay-partition --split-input-file | FileCheck %s

!t = tensor<4xf32>
!l = !inlay.list<!t>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f", "aten::cat", "aten::split", "aten::size", "prim::ListConstruct"]>,
                                    #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func @scalar_crosses
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>(%arg0) : (tensor<4xf32>) -> i64
  // CHECK: inlay.segment #inlay.declared<"npu", {{.*}}>(%arg0, %0) : (tensor<4xf32>, i64)
  func.func @scalar_crosses(%x: !t) -> !t {
    %0 = inlay.opaque "aten::item"(%x) : (!t) -> i64
    %1 = inlay.opaque "f"(%x, %0) : (!t, i64) -> !t
    return %1 : !t
  }

  // CHECK-LABEL: func @consumer_falls_back
  // CHECK: "aten::unbind"
  // CHECK: "aten::cat"{{.*}}<"host", "non-tensor", "reads '!inlay.list<tensor<4xf32>>', which can't enter 'npu'", "made">
  func.func @consumer_falls_back(%x: !t) -> !t {
    %0 = inlay.opaque "aten::unbind"(%x) : (!t) -> !l loc("made")
    %1 = inlay.opaque "aten::cat"(%0) : (!l) -> !t
    return %1 : !t
  }

  // CHECK-LABEL: func @producer_falls_back
  // CHECK: "aten::split"{{.*}}<"host", "non-tensor", "its result is needed outside of accelerators", "reader">
  func.func @producer_falls_back(%x: !t) -> !t {
    %0 = inlay.opaque "aten::split"(%x) : (!t) -> !l
    %1 = inlay.opaque "aten::sum"(%0) : (!l) -> !t loc("reader")
    return %1 : !t
  }

  // The length of the list is unknown.
  // CHECK-LABEL: func @argument_cant_enter
  // CHECK: "aten::cat"{{.*}}<"host", "non-tensor", "reads '!inlay.list<tensor<4xf32>>', which can't enter 'npu'">
  func.func @argument_cant_enter(%x: !l) -> !t {
    %0 = inlay.opaque "aten::cat"(%x) : (!l) -> !t
    return %0 : !t
  }

  // CHECK-LABEL: func @result_cant_leave
  // CHECK: "aten::split"{{.*}}<"host", "non-tensor", "its result leaves the function">
  func.func @result_cant_leave(%x: !t) -> !l {
    %0 = inlay.opaque "aten::split"(%x) : (!t) -> !l
    return %0 : !l
  }

  // The original stays on the host, and the accelerator has a clone.
  // CHECK-LABEL: func @cheap_producer_is_copied
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "prim::ListConstruct"(%{{.*}}) {inlay.clone}
  // CHECK-NEXT: "aten::cat"
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: "prim::ListConstruct"{{.*}}"non-tensor", "its result is needed outside of accelerators", "sum"
  // CHECK-NEXT: "aten::sum"
  func.func @cheap_producer_is_copied(%x: !t) -> !t {
    %0 = inlay.opaque "prim::ListConstruct"(%x, %x) : (!t, !t) -> !l
    %1 = inlay.opaque "aten::cat"(%0) : (!l) -> !t
    %2 = inlay.opaque "aten::sum"(%0, %1) : (!l, !t) -> !t loc("sum")
    return %2 : !t
  }

  // A list is cloned with the changes before each read. The host has a separate list.
  // CHECK-LABEL: func @changed_list
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: %[[B:.*]] = inlay.opaque "prim::ListConstruct"
  // CHECK-NEXT: "aten::append"(%[[B]]
  // CHECK-NEXT: "aten::sum"(%[[B]])
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: %[[A:.*]] = inlay.opaque "prim::ListConstruct"({{.*}}) {inlay.clone
  // CHECK-NEXT: "aten::cat"(%[[A]])
  // CHECK-NEXT: inlay.yield
  func.func @changed_list(%x: !t) -> (!t, !t) {
    %0 = inlay.opaque "prim::ListConstruct"(%x, %x) : (!t, !t) -> !l
    %1 = inlay.opaque "aten::cat"(%0) : (!l) -> !t
    inlay.opaque "aten::append"(%0, %x) writes [0] : (!l, !t) -> ()
    %2 = inlay.opaque "aten::sum"(%0) : (!l) -> !t
    return %1, %2 : !t, !t
  }

  // A list that is returned can't be cloned.
  // CHECK-LABEL: func @returned_list_is_not_copied
  // CHECK-NOT: inlay.clone
  // CHECK: "aten::cat"{{.*}}<"host", "non-tensor"
  func.func @returned_list_is_not_copied(%x: !t) -> (!t, !l) {
    %0 = inlay.opaque "prim::ListConstruct"(%x, %x) : (!t, !t) -> !l
    inlay.opaque "aten::append"(%0, %x) writes [0] : (!l, !t) -> ()
    %1 = inlay.opaque "aten::cat"(%0) : (!l) -> !t
    return %1, %0 : !t, !l
  }

  // An op that views a tensor as a list is cheap enough to be cloned.
  // CHECK-LABEL: func @split_twice
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "aten::split"
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: inlay.segment #inlay.declared<"npu", {{.*}}(%1, %arg0)
  // CHECK: "aten::split"(%{{.*}}) {inlay.clone}
  // CHECK-NEXT: "aten::cat"
  func.func @split_twice(%x: !t) -> !t {
    %0 = inlay.opaque "aten::split"(%x) : (!t) -> !l
    %1 = inlay.opaque "aten::cat"(%0) : (!l) -> !t
    %2 = inlay.opaque "g"(%1) : (!t) -> !t
    %3 = inlay.opaque "aten::cat"(%0, %2) : (!l, !t) -> !t
    return %3 : !t
  }

  // Both could run on the accelerator, but not in one segment: an op between them is on the host.
  // CHECK-LABEL: func @torn_apart
  // CHECK: "aten::split"{{.*}}<"host", "non-tensor", "can't share a segment with the op that it exchanges a non-tensor value with", "cat">
  // CHECK: "aten::cat"{{.*}}<"host", "non-tensor", {{.*}}, "split">
  func.func @torn_apart(%x: !t) -> !t {
    %0:2 = inlay.opaque "aten::split"(%x) : (!t) -> (!l, !t) loc("split")
    %1 = inlay.opaque "g"(%0#1) : (!t) -> !t
    %2 = inlay.opaque "aten::cat"(%0#0, %1) : (!l, !t) -> !t loc("cat")
    return %2 : !t
  }

  // CHECK-LABEL: func @kept_together
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: "g"
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "aten::split"
  // CHECK: "aten::cat"
  // CHECK-NOT: inlay.segment
  func.func @kept_together(%x: !t) -> !t {
    %0 = inlay.opaque "aten::split"(%x) : (!t) -> !l
    %1 = inlay.opaque "g"(%x) : (!t) -> !t
    %2 = inlay.opaque "aten::cat"(%0, %1) : (!l, !t) -> !t
    return %2 : !t
  }

  // Objects pass from host to host.
  // CHECK-LABEL: func @object_between_hosts
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>({{.*}}) : (tensor<4xf32>) -> (!inlay.object<"Dict">, tensor<4xf32>)
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>({{.*}}) : (!inlay.object<"Dict">, tensor<4xf32>)
  func.func @object_between_hosts(%x: !t) -> !t {
    %0:2 = inlay.opaque "aten::dict"(%x) : (!t) -> (!inlay.object<"Dict">, !t)
    %1 = inlay.opaque "f"(%0#1) : (!t) -> !t
    %2 = inlay.opaque "aten::get"(%0#0, %1) : (!inlay.object<"Dict">, !t) -> !t
    return %2 : !t
  }
}

// -----

!t = tensor<4xf32>
!l = !inlay.list<!t>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f", "aten::append", "prim::ListConstruct"]>, #inlay.declared<"host", ["*"]>]} {
  // No op reads the list after its last change. The change stays behind the earlier readers.
  // CHECK-LABEL: func @idle_change
  // CHECK: inlay.segment #inlay.declared<"host"
  // CHECK: "aten::sum"
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: "aten::append"
  func.func @idle_change(%x: !t) -> (!t, !t) {
    %0 = inlay.opaque "prim::ListConstruct"(%x, %x) : (!t, !t) -> !l
    %1 = inlay.opaque "f"(%x) : (!t) -> !t
    %2 = inlay.opaque "aten::sum"(%0, %1) : (!l, !t) -> !t
    inlay.opaque "aten::append"(%0, %x) writes [0] : (!l, !t) -> ()
    %3 = inlay.opaque "f"(%2) : (!t) -> !t
    return %1, %3 : !t, !t
  }
}
