// Isolated ops beside neutral and cloned ops: decisions reach a fixed point.
// RUN: inlay-opt %s --inlay-partition=min-block-size=12 | FileCheck %s
// RUN: inlay-opt %s --inlay-partition | FileCheck %s --check-prefix=LIST

!t = tensor<4xf32>
!l = !inlay.list<!t>
module attributes {inlay.targets = [#inlay.declared<"npu", ["f", "k", "aten::append", "prim::ListConstruct"]>,
                                    #inlay.declared<"other", ["f", "k", "prim::ListConstruct"]>, #inlay.declared<"host", ["*"]>]} {
  // A neutral op is demoted for good if its segment is too small.
  // CHECK-LABEL: func @pinned_beside_neutral
  // CHECK-DAG: "k"{{.*}}<"npu"
  // CHECK-DAG: "f"{{.*}}<"host", "min-block-size"
  func.func @pinned_beside_neutral(%x: !t, %c: i1) -> (!t, !t) {
    %l = inlay.opaque "prim::ListConstruct"(%x) : (!t) -> !l
    %0 = inlay.opaque "g"(%x) : (!t) -> !t
    %1 = inlay.opaque "f"(%x) {inlay.do_not_merge, inlay.refused = {npu = "why"}} : (!t) -> !t
    %2 = scf.if %c -> !t {
      scf.yield %0 : !t
    } else {
      scf.yield %1 : !t
    }
    %3 = inlay.opaque "k"() {inlay.target = "npu"} : () -> !t
    return %2, %1 : !t, !t
  }

  // The segment of the only reader of the final list can hold clones, but not the list itself.
  // LIST-LABEL: func @list_read_alone
  // LIST: inlay.segment #inlay.declared<"npu"
  // LIST: inlay.segment #inlay.declared<"npu"{{.*}} do_not_merge
  // LIST: %[[C:.*]] = inlay.opaque "prim::ListConstruct"(%{{.*}}) {inlay.clone
  // LIST: "aten::append"(%[[C]], %{{.*}}) writes [0] {inlay.clone
  // LIST: "k"(%[[C]]) {inlay.do_not_merge
  func.func @list_read_alone(%x: !t) -> !t {
    %l = inlay.opaque "prim::ListConstruct"(%x) : (!t) -> !l
    %0 = inlay.opaque "k"(%x, %l) : (!t, !l) -> !t
    inlay.opaque "aten::append"(%l, %0) writes [0] : (!l, !t) -> ()
    inlay.opaque "k"(%l) {inlay.do_not_merge} : (!l) -> ()
    return %0 : !t
  }
}
