// RUN: inlay-opt %s -split-input-file -verify-diagnostics

func.func @opaque_nameless(%x: tensor<2xf32>) {
  // expected-error @+1 {{'inlay.opaque' op expected the full name of a framework op, but got an empty string}}
  inlay.opaque ""(%x) : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @opaque_writes_no_operand(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected 'writes' to contain numbers of its 1 operands, but got 1}}
  inlay.opaque "aten::zero_"(%x) writes [1] : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @opaque_aliases_no_operand(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected 'aliases' to contain numbers of its 1 operands, but got -1}}
  %0 = inlay.opaque "aten::view"(%x) aliases [-1] : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @opaque_writes_twice(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected 'writes' to name each operand once, but got 0 twice}}
  inlay.opaque "aten::zero_"(%x) writes [0, 0] : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @opaque_misspelt_property(%x: tensor<2xf32>) {
  // expected-error @+1 {{unknown property 'write' of 'inlay.opaque'}}
  "inlay.opaque"(%x) <{name = "aten::zero_", write = array<i64: 0>}> : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @opaque_misspelt_attribute(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected attributes 'name', 'writes', 'aliases', 'call', 'in_order' or ones of a dialect, but got 'write'}}
  inlay.opaque "aten::zero_"(%x) {write = array<i64: 0>} : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @opaque_width_of_writes(%x: tensor<2xf32>) {
  // expected-error @+1 {{Invalid attribute `writes` in property conversion: array<i32: 0>}}
  "inlay.opaque"(%x) <{name = "aten::zero_", writes = array<i32: 0>}> : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @plugin_nameless(%x: tensor<2xf32>) {
  // expected-error @+1 {{'inlay.plugin' op expected the name of a kernel, but got an empty string}}
  inlay.plugin ""(%x) : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @constant_result() {
  // expected-error @+1 {{failed to verify that all of {value, result} have same type}}
  %0 = "inlay.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  return
}

// -----

func.func @constant_vector() {
  // expected-error @+1 {{result #0 must be statically shaped tensor of any type values, but got 'vector<2xf32>'}}
  %0 = inlay.constant dense<1.0> : vector<2xf32>
  return
}

// -----

func.func @segment_target(%x: tensor<2xf32>) {
  // expected-error @+1 {{'inlay.segment' op expected a target, but got "npu"}}
  inlay.segment "npu"(%x) : (tensor<2xf32>) -> () {
  ^bb0(%a: tensor<2xf32>):
  }
  return
}

// -----

#npu = #inlay.declared<"npu", ["*"]>
func.func @segment_arguments(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected block arguments of the types of its inputs ('tensor<2xf32>'), but got ('tensor<3xf32>')}}
  inlay.segment #npu(%x) : (tensor<2xf32>) -> () {
  ^bb0(%a: tensor<3xf32>):
  }
  return
}

// -----

#npu = #inlay.declared<"npu", ["*"]>
func.func @segment_without_arguments(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected block arguments of the types of its inputs ('tensor<2xf32>'), but got ()}}
  inlay.segment #npu(%x) : (tensor<2xf32>) -> () {
  }
  return
}

// -----

#npu = #inlay.declared<"npu", ["*"]>
func.func @segment_yield(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected to yield ('tensor<3xf32>'), but got ('tensor<2xf32>')}}
  %0 = inlay.segment #npu() : () -> tensor<3xf32> {
    // expected-note @+1 {{yielded here}}
    inlay.yield %x : tensor<2xf32>
  }
  return
}

// -----

#npu = #inlay.declared<"npu", ["*"]>
func.func @segment_without_block() {
  // expected-error @+1 {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
  "inlay.segment"() <{target = #npu}> ({}) : () -> ()
  return
}

// -----

#npu = #inlay.declared<"npu", ["*"]>
func.func @segment_terminator() {
  // expected-error @+2 {{expects regions to end with 'inlay.yield', found 'llvm.unreachable'}}
  // expected-note @+1 {{in custom textual format, the absence of terminator implies 'inlay.yield'}}
  "inlay.segment"() <{target = #npu}> ({
    llvm.unreachable
  }) : () -> ()
  return
}

// -----

func.func @yield_outside() {
  // expected-error @+1 {{'inlay.yield' op expects parent op 'inlay.segment'}}
  inlay.yield
}
