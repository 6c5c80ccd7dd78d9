// RUN: inlay-opt %s --inlay-stitch-assemble-program --inlay-stitch-verify --split-input-file | FileCheck %s

// A host step computes a result in the caller's memory.
// CHECK-LABEL: plan.program @host_alone
// CHECK: %[[X:.*]] = plan.input 0 "x"
// CHECK: %[[R:.*]] = plan.output 0 "result 0"
// CHECK-NOT: plan.copy
// CHECK: plan.call @f(%[[X]]) outs(%[[R]])
// CHECK-NOT: func.func
func.func @host_alone(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %r = plan.invoke @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
plan.host_function @f arguments 2 inputs 1 scratch affine_map<() -> ()>

// -----

// Values are copied to the device and back once each, no matter how many steps use them.
// CHECK-LABEL: plan.program @both
// CHECK: %[[X:.*]] = plan.input 0
// CHECK: %[[R:.*]] = plan.output 0
// CHECK: %[[XD:.*]] = plan.temporary
// CHECK: plan.copy %[[X]] to %[[XD]]
// CHECK: %[[A:.*]] = plan.temporary
// CHECK: plan.launch @e(%[[XD]]) outs(%[[A]])
// CHECK: %[[B:.*]] = plan.temporary
// CHECK: plan.launch @e(%[[A]]) outs(%[[B]])
// CHECK: %[[AH:.*]] = plan.temporary
// CHECK: plan.copy %[[A]] to %[[AH]]
// CHECK: %[[BH:.*]] = plan.temporary
// CHECK: plan.copy %[[B]] to %[[BH]]
// CHECK: %[[S:.*]] = plan.temporary "scratch of f" : <tensor<64xi8>, host>
// CHECK: plan.call @f(%[[AH]], %[[BH]]) outs(%[[R]], %[[S]])
// CHECK-NOT: plan.copy
func.func @both(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = plan.invoke @e(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.invoke @e(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %r = plan.invoke @f(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
plan.engine @e arguments 2 scratch affine_map<() -> ()> {}
plan.host_function @f arguments 3 inputs 2 scratch affine_map<() -> (64)>

// -----

// Equal constants share one buffer in each memory.
// CHECK-LABEL: plan.program @constants
// CHECK: plan.constant dense<[1.000000e+00, 2.000000e+00]> {{.*}} device>
// CHECK-NOT: plan.constant
// CHECK: plan.launch
// CHECK: plan.constant dense<[1.000000e+00, 2.000000e+00]> {{.*}} host>
// CHECK: plan.call
// CHECK-NOT: plan.constant
func.func @constants() -> tensor<2xf32> {
  %0 = inlay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = inlay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %a = plan.invoke @e(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %r = plan.invoke @f(%a, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
plan.engine @e arguments 3 scratch affine_map<() -> ()> {}
plan.host_function @f arguments 3 inputs 2 scratch affine_map<() -> ()>

// -----

// An argument that is returned, or a value that is returned twice, is copied.
// CHECK-LABEL: plan.program @returned
// CHECK: %[[X:.*]] = plan.input 0
// CHECK: %[[R0:.*]] = plan.output 0
// CHECK: %[[R1:.*]] = plan.output 1
// CHECK: %[[R2:.*]] = plan.output 2
// CHECK: plan.call @f(%[[X]]) outs(%[[R1]])
// CHECK: plan.copy %[[X]] to %[[R0]]
// CHECK: plan.copy %[[R1]] to %[[R2]]
func.func @returned(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r = plan.invoke @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %x, %r, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
plan.host_function @f arguments 2 inputs 1 scratch affine_map<() -> ()>

// -----

// Framework calls are inlined in place of the function that contains them.
// CHECK-LABEL: plan.program @framework
// CHECK: %[[X:.*]] = plan.input 0
// CHECK: %[[R:.*]] = plan.output 0
// CHECK: %[[A:.*]] = plan.temporary
// CHECK: plan.callback "sort"(%[[X]]) outs(%[[A]])
// CHECK: plan.callback "flip"(%[[A]]) outs(%[[R]])
func.func @framework(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = plan.invoke @calls(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = plan.framework_call "sort"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.framework_call "flip"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A foreign engine runs on host memory, between the device and the host.
// CHECK-LABEL: plan.program @foreign
// CHECK: plan.launch @e(
// CHECK: %[[A:.*]] = plan.temporary "value" : <tensor<4xf32>, host>
// CHECK: plan.copy
// CHECK: %[[B:.*]] = plan.temporary "value" : <tensor<4xf32>, host>
// CHECK: plan.run @dsp(%[[A]]) outs(%[[B]])
// CHECK: plan.call @f(%[[B]])
func.func @foreign(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = plan.invoke @e(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.invoke @dsp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %r = plan.invoke @f(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
plan.engine @e arguments 2 scratch affine_map<() -> ()> {}
plan.foreign_engine @dsp runner "dsp" payload "" arguments 2 inputs 1
plan.host_function @f arguments 2 inputs 1 scratch affine_map<() -> ()>

// -----

// Steps have the number of their segment. A copy to the device belongs to the reader, a copy back to the producer.
// CHECK-LABEL: plan.program @numbered
// CHECK: plan.copy {{.*}} {plan.segment = 5 : i64} : {{.*}}, <tensor<4xf32>, device>
// CHECK: plan.launch @e{{.*}} {plan.segment = 5 : i64}
// CHECK: plan.copy {{.*}} {plan.segment = 5 : i64} : {{.*}}, <tensor<4xf32>, host>
// CHECK: plan.call @f{{.*}} {plan.segment = 6 : i64}
func.func @numbered(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = plan.invoke @e(%x) {plan.segment = 5} : (tensor<4xf32>) -> tensor<4xf32>
  %r = plan.invoke @f(%a) {plan.segment = 6} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
plan.engine @e arguments 2 scratch affine_map<() -> ()> {}
plan.host_function @f arguments 2 inputs 1 scratch affine_map<() -> ()>

// -----

// Dims of buffers and scratch are maps of the program's symbols, which are those of the function.
// CHECK-DAG: #[[X:.*]] = affine_map<()[s0, s1] -> (s0, 3, s1)>
// CHECK-DAG: #[[R:.*]] = affine_map<()[s0, s1] -> (s0 * s1)>
// CHECK-DAG: #[[S:.*]] = affine_map<()[s0, s1] -> (s1 * 8)>
// CHECK-LABEL: plan.program @dynamic
// CHECK-SAME: inlay.symbols = [#inlay.symbol<"batch", 1 to 8>, #inlay.symbol<"n", 0 to 64, typically 16>]
// CHECK: plan.input 0 "argument 0" : <tensor<?x3x?xf32>, host, #[[X]]>
// CHECK: plan.output 0 "result 0" : <tensor<?xf32>, host, #[[R]]>
// CHECK: plan.temporary "value" : <tensor<?x3x?xf32>, device, #[[X]]>
// CHECK: plan.copy
// CHECK: plan.temporary "value" : <tensor<?xf32>, device, #[[R]]>
// CHECK: plan.launch @e
// CHECK: plan.temporary "value" : <tensor<?xf32>, host, #[[R]]>
// CHECK: plan.copy
// CHECK: plan.temporary "scratch of f" : <tensor<?xi8>, host, #[[S]]>
// CHECK: plan.temporary "scratch of f" : <tensor<64xi8>, host>
// CHECK: plan.call @f
func.func @dynamic(%x: tensor<?x3x?xf32> {inlay.dims = affine_map<()[s0, s1] -> (s0, 3, s1)>}) -> tensor<?xf32>
    attributes {inlay.symbols = [#inlay.symbol<"batch", 1 to 8>, #inlay.symbol<"n", 0 to 64, typically 16>]} {
  %a = plan.invoke @e(%x) {inlay.dims = [affine_map<()[s0, s1] -> (s0 * s1)>]} : (tensor<?x3x?xf32>) -> tensor<?xf32>
  %b = plan.invoke @f(%a) {inlay.dims = [affine_map<()[s0, s1] -> (s0 * s1)>]} : (tensor<?xf32>) -> tensor<?xf32>
  return %b : tensor<?xf32>
}
plan.engine @e arguments 2 scratch affine_map<()[s0, s1] -> (s0 * 4)> {}
plan.host_function @f arguments 2 inputs 1 scratch affine_map<()[s0, s1] -> (s1 * 8, 64)> sizes affine_map<()[s0] -> (s0)>

// -----

// The framework receives the numbers computed from sizes.
// CHECK-DAG: #[[D:.*]] = affine_map<()[s0] -> (s0 * 2)>
// CHECK-DAG: #[[N:.*]] = affine_map<()[s0] -> (s0 - 1)>
// CHECK-LABEL: plan.program @framework_sizes
// CHECK: plan.temporary "value" : <tensor<?xf32>, host, #[[D]]>
// CHECK: plan.callback "repeat"(%{{.*}}) outs(%{{.*}}) {sizes = #[[N]]}
// CHECK: plan.callback "flip"
func.func @framework_sizes(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>}) -> tensor<?xf32>
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} {
  %r = plan.invoke @calls(%x) {inlay.dims = [affine_map<()[s0] -> (s0 * 2)>]} : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func private @calls(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = plan.framework_call "repeat"(%x) sizes affine_map<()[s0] -> (s0 - 1)> {inlay.dims = [affine_map<()[s0] -> (s0 * 2)>]} : (tensor<?xf32>) -> tensor<?xf32>
  %1 = plan.framework_call "flip"(%0) {inlay.dims = [affine_map<()[s0] -> (s0 * 2)>]} : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
