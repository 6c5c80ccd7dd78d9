// An op with `inlay.do_not_merge` is isolated, on accelerators and on the host, with every strategy.
// RUN: inlay-opt %s --inlay-partition --inlay-partition-merge-segments | FileCheck %s
// RUN: inlay-opt %s --inlay-partition=strategy=in-order --inlay-partition-merge-segments | FileCheck %s
// RUN: inlay-opt %s --inlay-partition=strategy=torch-tensorrt --inlay-partition-merge-segments | FileCheck %s
// RUN: inlay-opt %s --inlay-partition="min-block-size=2" | FileCheck %s --check-prefix=SMALL
// RUN: inlay-opt %s --inlay-partition="min-block-size=2 strategy=torch-tensorrt" | FileCheck %s --check-prefix=SMALL
// RUN: inlay-opt %s --inlay-partition="min-block-size=2 exempt-ops=aten::mul" | FileCheck %s --check-prefix=EXEMPT

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::add", "aten::mul", "aten::cat", "prim::ListConstruct", "scf.if"]>, #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func @accelerator
  // CHECK: inlay.segment #inlay.declared<"npu", {{.*}}>(%arg0) :
  // CHECK: inlay.segment #inlay.declared<"npu", {{.*}}>({{.*}}) do_not_merge :
  // CHECK: "aten::mul"
  // CHECK: inlay.segment #inlay.declared<"npu", {{.*}}>({{.*}}) :
  // SMALL-LABEL: func @accelerator
  // SMALL: inlay.segment #inlay.declared<"npu"
  // SMALL-COUNT-2: "aten::add"
  // SMALL: inlay.segment #inlay.declared<"host"{{.*}} do_not_merge
  // SMALL-NEXT: ^bb0
  // SMALL-NEXT: "aten::mul"{{.*}}"min-block-size"
  // SMALL: inlay.segment #inlay.declared<"host"
  // SMALL: "aten::add"{{.*}}"min-block-size"
  // EXEMPT-LABEL: func @accelerator
  // EXEMPT: inlay.segment #inlay.declared<"npu"{{.*}} do_not_merge
  // EXEMPT-NEXT: ^bb0
  // EXEMPT-NEXT: "aten::mul"{{.*}}"supported"
  func.func @accelerator(%x: !t) -> !t {
    %0 = inlay.opaque "aten::add"(%x) : (!t) -> !t
    %1 = inlay.opaque "aten::add"(%0) : (!t) -> !t
    %2 = inlay.opaque "aten::mul"(%1) {inlay.do_not_merge} : (!t) -> !t
    %3 = inlay.opaque "aten::add"(%2) : (!t) -> !t
    return %3 : !t
  }

  // CHECK-LABEL: func @host
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>(%arg0) :
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>({{.*}}) do_not_merge :
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>({{.*}}) do_not_merge :
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>({{.*}}) :
  func.func @host(%x: !t) -> !t {
    %0 = inlay.opaque "f"(%x) : (!t) -> !t
    %1 = inlay.opaque "g"(%0) {inlay.do_not_merge} : (!t) -> !t
    %2 = inlay.opaque "g"(%1) {inlay.do_not_merge} : (!t) -> !t
    %3 = inlay.opaque "f"(%2) : (!t) -> !t
    return %3 : !t
  }

  // Control flow that contains such an op is split, although the accelerator could run it as a whole.
  // CHECK-LABEL: func @inside
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>({{.*}}) do_not_merge
  // CHECK: scf.if
  // CHECK: inlay.segment #inlay.declared<"npu", {{.*}}>({{.*}}) do_not_merge
  // CHECK: "aten::add"
  func.func @inside(%x: !t, %c: i1) -> !t {
    %0 = scf.if %c -> !t {
      %1 = inlay.opaque "aten::add"(%x) {inlay.do_not_merge} : (!t) -> !t
      %2 = inlay.opaque "aten::mul"(%1) : (!t) -> !t
      scf.yield %2 : !t
    } else {
      scf.yield %x : !t
    }
    return %0 : !t
  }

  // The op and the reader of its list can't share an accelerator segment, so both are on the host.
  // CHECK-LABEL: func @list
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>({{.*}}) do_not_merge
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "prim::ListConstruct"{{.*}}"non-tensor", "can't share a segment with the op that it exchanges a non-tensor value with"
  // CHECK-NEXT: inlay.yield
  // CHECK: inlay.segment #inlay.declared<"host", ["*"]>({{.*}}) :
  // CHECK: "aten::cat"
  func.func @list(%x: !t) -> !t {
    %0 = inlay.opaque "prim::ListConstruct"(%x, %x) {inlay.do_not_merge} : (!t, !t) -> !inlay.list<!t>
    %1 = inlay.opaque "aten::cat"(%0) : (!inlay.list<!t>) -> !t
    return %1 : !t
  }

  // A clone doesn't count as an op.
  // CHECK-LABEL: func @reader_of_list
  // CHECK-DAG: inlay.segment #inlay.declared<"host", ["*"]>({{.*}}) :
  // CHECK-DAG: "prim::ListConstruct"{{.*}}<"host", "non-tensor", "every op that reads it has a clone">
  // CHECK-DAG: inlay.segment #inlay.declared<"npu", {{.*}}(%arg0) do_not_merge
  // CHECK-DAG: "prim::ListConstruct"({{.*}}) {inlay.clone}
  // CHECK-DAG: "aten::cat"{{.*}}<"npu", "supported"
  func.func @reader_of_list(%x: !t) -> !t {
    %0 = inlay.opaque "prim::ListConstruct"(%x, %x) : (!t, !t) -> !inlay.list<!t>
    %1 = inlay.opaque "aten::cat"(%0) {inlay.do_not_merge} : (!inlay.list<!t>) -> !t
    return %1 : !t
  }
}
