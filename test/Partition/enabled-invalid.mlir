// RUN: inlay-opt %s --inlay-partition="enabled=false" --split-input-file --verify-diagnostics -o /dev/null
// RUN: not inlay-opt %s --inlay-partition="enabled=false fallback-ops=aten::add" --split-input-file 2>&1 | FileCheck %s --check-prefix=FORCED
// RUN: not inlay-opt %s --inlay-partition="require-full-compilation=true fallback-modules=m fallback-locations=l" --split-input-file 2>&1 | FileCheck %s --check-prefix=FULL

// FORCED: error: 'enabled=false' contradicts 'fallback-ops': the whole graph can't be on one target while 'aten::add' is forced away
// FULL: error: 'require-full-compilation' contradicts 'fallback-modules': the whole graph can't be on one target while 'm' is forced away
// FULL: error: 'require-full-compilation' contradicts 'fallback-locations': the whole graph can't be on one target while 'l' is forced away

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::add"]>, #inlay.declared<"host", ["*"]>]} {
  // expected-error @below {{expected the whole graph to run on 'npu', but 4 ops can't}}
  func.func @lists_every_blocker(%x: !t, %c: i1) -> !t {
    // expected-note @below {{aten::sort#0 (aten::sort) can't run there: no-converter: aten::sort is not among the ops that 'npu' declares}}
    %0 = inlay.opaque "aten::sort"(%x) : (!t) -> !t
    // expected-note @below {{aten::add#1 (aten::add) is pinned to 'host'}}
    %1 = inlay.opaque "aten::add"(%0) {inlay.target = "host"} : (!t) -> !t
    // expected-note @below {{scf.if#2 (scf.if) can't run there: no-converter: scf.if is not among the ops that 'npu' declares}}
    %2 = scf.if %c -> !t {
      // expected-note @below {{aten::sort#3 (aten::sort) can't run there: no-converter}}
      %3 = inlay.opaque "aten::sort"(%1) : (!t) -> !t
      scf.yield %3 : !t
    } else {
      scf.yield %1 : !t
    }
    return %2 : !t
  }
}

// -----

!t = tensor<4xf32>
module attributes {inlay.targets = [#inlay.declared<"host", ["*"]>]} {
  // expected-error @below {{expected the whole graph to run on 'host', but 2 ops can't}}
  func.func @only_as_one_segment(%x: !t, %c: i1) -> !t {
    // expected-note @below {{aten::add#0 (aten::add) must be isolated because of 'inlay.do_not_merge'}}
    %0 = inlay.opaque "aten::add"(%x) {inlay.do_not_merge} : (!t) -> !t
    // expected-note @below {{scf.if#1 (scf.if) can't run there: control-flow: control flow runs on 'host' only where it is split into segments}}
    %1 = scf.if %c -> !t {
      scf.yield %0 : !t
    } else {
      scf.yield %x : !t
    }
    return %1 : !t
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  // expected-error @below {{expected the whole graph to run on 'npu', but 1 op can't}}
  func.func @border(%x: !inlay.object<"Dict">) -> tensor<4xf32> {
    // expected-note @below {{aten::get#0 (aten::get) can't run there: non-tensor: reads '!inlay.object<"Dict">', which can't enter 'npu'}}
    %0 = inlay.opaque "aten::get"(%x) : (!inlay.object<"Dict">) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
