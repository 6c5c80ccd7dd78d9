// RUN: inlay-opt %s --inlay-stitch-assemble-program --inlay-stitch-verify --split-input-file --verify-diagnostics | FileCheck %s

// A constant has one buffer for each order of dims on a device, and one for the host.
// CHECK-LABEL: plan.program @orders
// CHECK: %[[PLAIN:.*]] = plan.constant dense<{{.*}}> : tensor<2x2xf32> "constant" : <tensor<2x2xf32>, device>
// CHECK: plan.launch @plain(%{{.*}}, %[[PLAIN]])
// CHECK: %[[ORDERED:.*]] = plan.constant dense<{{.*}}> : tensor<2x2xf32> "constant" {plan.order = array<i64: 1, 0>} : <tensor<2x2xf32>, device>
// CHECK: plan.launch @ordered(%{{.*}}, %[[ORDERED]])
// CHECK: plan.launch @ordered(%{{.*}}, %[[ORDERED]])
func.func @orders(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = inlay.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = plan.invoke @plain(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = plan.invoke @ordered(%0, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = plan.invoke @ordered(%1, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
plan.engine @plain arguments 3 scratch affine_map<() -> ()> {
}
plan.engine @ordered arguments 3 scratch affine_map<() -> ()> attributes {plan.orders = [array<i64>, array<i64: 1, 0>, array<i64>]} {
}

// -----

func.func @values(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{expected input 0 to be a constant, because the engine reads its dims in another order}}
  %0 = plan.invoke @ordered(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
plan.engine @ordered arguments 2 scratch affine_map<() -> ()> attributes {plan.orders = [array<i64: 1, 0>, array<i64>]} {
}
