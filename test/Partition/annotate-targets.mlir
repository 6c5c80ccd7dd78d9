// The target of each op and the reason for it.
// RUN: inlay-opt %s --inlay-partition-annotate-targets --split-input-file | FileCheck %s
// RUN: inlay-opt %s --inlay-partition-annotate-targets --split-input-file --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

module attributes {inlay.targets = [#inlay.declared<"npu", ["aten::add"]>, #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func @first_target_that_can_run_it
  func.func @first_target_that_can_run_it(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: arith.constant dense<1.0{{.*}}> : tensor<4xf32>
    %c = arith.constant dense<1.0> : tensor<4xf32>
    // CHECK: "aten::add"{{.*}}#inlay.verdict<"npu", "supported", "">
    %0 = inlay.opaque "aten::add"(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK: "aten::lgamma"{{.*}}#inlay.verdict<"host", "no-converter", "aten::lgamma is not among the ops that 'npu' declares">
    %1 = inlay.opaque "aten::lgamma"(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func @pinned
  func.func @pinned(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: inlay.relu {{.*}}#inlay.verdict<"host", "fallback-location", "pinned to 'host'">
    %0 = inlay.relu %x {inlay.target = "host"} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: inlay.neg {{.*}}#inlay.verdict<"npu", "supported", "pinned to 'npu'">
    %1 = inlay.neg %0 {inlay.target = "npu"} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["inlay.relu"]>, #inlay.declared<"dsp", ["inlay.neg"]>,
                                    #inlay.declared<"host", ["*"]>]} {
  // CHECK-LABEL: func @says_why_not_each_earlier_target
  func.func @says_why_not_each_earlier_target(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: inlay.exp {{.*}}"no-converter", "inlay.exp is not among the ops that 'npu' declares; inlay.exp is not among the ops that 'dsp' declares"
    %0 = inlay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: inlay.neg {{.*}}<"dsp", "no-converter", "inlay.neg is not among the ops that 'npu' declares">
    %1 = inlay.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// A unique name of an op stays. Ops without a name or with a shared name get a label.
// LOC-LABEL: func @labels
// LOC-DAG: loc("mine")
// LOC-DAG: #[[TWICE:.*]] = loc("twice")
// LOC-DAG: loc("inlay.relu#1"(#[[TWICE]]))
// LOC-DAG: loc("inlay.neg#2"(#[[TWICE]]))
// LOC-DAG: #[[ABS:.*]] = loc("inlay.abs#3")
// LOC-DAG: loc(fused<{inlay.module = {{\[\[}}"enc", "Encoder"]]}>[#[[ABS]], #{{.*}}])
module attributes {inlay.targets = [#inlay.declared<"host", ["*"]>]} {
  func.func @labels(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32> loc("mine")
    %1 = inlay.relu %0 : (tensor<4xf32>) -> tensor<4xf32> loc("twice")
    %2 = inlay.neg %1 : (tensor<4xf32>) -> tensor<4xf32> loc("twice")
    %3 = inlay.abs %2 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{inlay.module = [["enc", "Encoder"]]}>["a.py":1:2])
    return %3 : tensor<4xf32>
  }
}
