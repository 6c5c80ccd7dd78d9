// The time table, its JSON and diagnostics name the user's calls.

// RUN: inlay-run %s --targets=vulkan,host --fallback-ops=inlay.relu --profile=1 --report=%t.json | FileCheck %s
// CHECK: segment {{.*}} of
// CHECK: 0 vulkan 2 {{.*}} linear_0{{$}}
// CHECK: 1 host 1 {{.*}} activation_0{{$}}
// CHECK: 2 vulkan 2 {{.*}} head.matmul, head.tanh{{$}}

// RUN: FileCheck %s --check-prefix=JSON < %t.json
// JSON: "calls": [
// JSON-NEXT: "linear_0"
// JSON: "calls": [
// JSON-NEXT: "activation_0"

// RUN: not inlay-run %s --targets=vulkan --allow-ops=inlay.add,inlay.matmul,inlay.tanh 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: 'act' of activation_0: {{error|note}}:

module attributes {inlay.signatures = [{linear_0 = {function = "linear", arguments = {input = #inlay.tensor<0>}},
                                        activation_0 = {function = "activation", arguments = {inplace = false}}}]} {
  func.func @forward(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
    %0 = inlay.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc(fused<{inlay.signature = "linear_0"}>["product"])
    %1 = inlay.add %b, %0 : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(fused<{inlay.signature = "linear_0"}>["bias"])
    %2 = inlay.relu %1 : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(fused<{inlay.signature = "activation_0"}>["act"])
    %3 = inlay.matmul %2, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("head.matmul")
    %4 = inlay.tanh %3 : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("head.tanh")
    return %4 : tensor<4x8xf32>
  }
}
