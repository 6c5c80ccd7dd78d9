// RUN: inlay-opt %s --inlay-convert-segments -split-input-file -verify-diagnostics

// expected-error @+1 {{expected 'plan.target' to be a target, but got 5 : i64}}
func.func private @no_target(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = 5} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{target 'npu' can't convert segments: it only declares what it can run}}
func.func private @declared(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.declared<"npu", ["*"]>} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{unsupported-shape: expected tensors whose dims follow from the dims of inputs, but got tensor<?xf32>}}
func.func private @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> attributes {plan.target = #inlay.vulkan} {
  %0 = inlay.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error @+1 {{unsupported-shape: expected tensors whose dims follow from the dims of inputs, but got tensor<?xf32>}}
func.func private @dynamic_on_host(%x: tensor<?xf32>) -> tensor<?xf32> attributes {plan.target = #inlay.host} {
  %0 = inlay.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error @+1 {{unsupported-type: expected tensors, but got f32}}
func.func private @scalar(%x: f32) -> f32 attributes {plan.target = #inlay.host} {
  return %x : f32
}

// -----

// expected-error @+1 {{unsupported-type: expected tensors, but got tensor<*xf32>}}
func.func private @unranked(%x: tensor<*xf32>) -> tensor<*xf32> attributes {plan.target = #inlay.host} {
  return %x : tensor<*xf32>
}

// -----

// expected-error @+1 {{unsupported-type: expected tensors, but got !inlay.list<tensor<4xf32>>}}
func.func private @list() -> !inlay.list<tensor<4xf32>> attributes {plan.target = #inlay.host} {
  %c = inlay.constant dense<1.0> : tensor<4xf32>
  %0 = inlay.list %c : (tensor<4xf32>) -> !inlay.list<tensor<4xf32>>
  return %0 : !inlay.list<tensor<4xf32>>
}

// -----

func.func private @opaque(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.vulkan} {
  // expected-error @+1 {{can't be converted: no pattern converts aten::sort}}
  %0 = inlay.opaque "aten::sort"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @explained(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.vulkan} {
  // expected-error @+1 {{can't be converted: no op of the dialect for aten::sort on float32}}
  %0 = inlay.opaque "aten::sort"(%x) {inlay.reason = "no op of the dialect for aten::sort on float32"}
    : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
func.func private @call(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.host} {
  // expected-error @+1 {{can't be converted: no pattern converts func.call}}
  %0 = func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @library(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.vulkan} {
  // expected-error @+1 {{vulkan can't call the library function 'lgammaf'}}
  %0 = inlay.lgamma %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{unsupported-type: expected tensors of bool, i8-i64, f16, bf16, f32 or f64, but got tensor<4xui8>}}
func.func private @element_type(%x: tensor<4xui8>) -> tensor<4xui8> attributes {plan.target = #inlay.host} {
  %0 = inlay.relu %x : (tensor<4xui8>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// -----

func.func private @feature(%x: tensor<4xf64>) -> tensor<4xf64> attributes {plan.target = #inlay.vulkan} {
  // expected-error @+1 {{unsupported-type}}
  %0 = inlay.relu %x : (tensor<4xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func private @not_a_call(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.torch} {
  // expected-error @+1 {{is not a framework call}}
  %0 = math.absf %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @call_without_words(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.torch} {
  // expected-error @+1 {{is not a framework call}}
  %0 = inlay.opaque "aten::sort"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{a segment to convert, but it has no body}}
func.func private @declaration(tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.host}

// -----

// expected-error @+1 {{a segment of one block, but got 2}}
func.func private @blocks(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.torch} {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
