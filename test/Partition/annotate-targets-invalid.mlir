// RUN: inlay-opt %s --inlay-partition-annotate-targets --split-input-file --verify-diagnostics

module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::add"]>, #inlay.declared<"host", ["aten::mul"]>]} {
  func.func @nobody_can(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{no target can run 'aten::sort'}}
    // expected-note @below {{'npu': aten::sort is not among the ops that 'npu' declares}}
    // expected-note @below {{'host': aten::sort is not among the ops that 'host' declares}}
    %0 = inlay.opaque "aten::sort"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"host", ["*"]>]} {
  func.func @unknown_pin(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected 'inlay.target' to name a target of the module, but got 'hist'; did you mean 'host'?}}
    %0 = inlay.relu %x {inlay.target = "hist"} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["inlay.neg"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @pin_that_cant(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{op is pinned to 'npu', which can't run it: inlay.relu is not among the ops that 'npu' declares}}
    %0 = inlay.relu %x {inlay.target = "npu"} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @pin_that_breaks_the_border(%x: !inlay.object<"Dict">) -> tensor<4xf32> {
    // expected-error @below {{op is pinned to 'npu', but reads '!inlay.object<"Dict">', which can't enter 'npu'}}
    %0 = inlay.opaque "aten::get"(%x) {inlay.target = "npu"} : (!inlay.object<"Dict">) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>]} {
  func.func @nowhere_else_to_go(%x: !inlay.object<"Dict">) -> tensor<4xf32> {
    // expected-error @below {{no target can run the op: it reads '!inlay.object<"Dict">', which can't enter 'npu', and no other target can run it}}
    %0 = inlay.opaque "aten::get"(%x) : (!inlay.object<"Dict">) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"host", ["*"]>]} {
  // expected-error @below {{expected a function of one block, but got 2}}
  func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
    cf.br ^next
  ^next:
    return %x : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"host", ["*"]>]} {
  // expected-error @below {{expected a function that is not partitioned, but got a segment}}
  func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-note @below {{segment here}}
    %0 = inlay.segment #inlay.declared<"host", ["*"]>(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = inlay.relu %a : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @pinned_apart(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-note @below {{the other op, 'aten::make#0', is pinned to 'host'}}
    %0 = inlay.opaque "aten::make"(%x) {inlay.target = "host"} : (tensor<4xf32>) -> !inlay.object<"Dict">
    // expected-error @below {{op is pinned to 'npu', but reads '!inlay.object<"Dict">', which can't enter 'npu'}}
    %1 = inlay.opaque "aten::get"(%0) {inlay.target = "npu"} : (!inlay.object<"Dict">) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @pinned_constant() -> tensor<4xf32> {
    // expected-error @below {{expected 'inlay.target' on an op that partitioning places, but got it on a constant, of which each segment has its own}}
    %0 = inlay.constant {inlay.target = "npu"} dense<1.0> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @refused(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{no target can run 'inlay.relu'}}
    // expected-note @below {{'npu': conversion failed: too hard}}
    // expected-note @below {{'host': no room}}
    %0 = inlay.relu %x {inlay.refused = {npu = "conversion failed: too hard", host = "no room"}} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @refused_by_nobody(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected 'inlay.refused' to name targets of the module, but got 'npv'; did you mean 'npu'?}}
    %0 = inlay.relu %x {inlay.refused = {npv = "too slow"}} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"host", ["*"]>]} {
  // expected-error @below {{expected a function whose ops run in order, but got a graph region}}
  ml_program.subgraph private @cyclic(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.add %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = inlay.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
    ml_program.output %1 : tensor<4xf32>
  }
}
