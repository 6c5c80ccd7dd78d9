// linalg on tensors, in destination-passing style, and arith, math and tensor ops beside it.
// RUN: inlay-opt %s --inlay-partition | FileCheck %s

module attributes {inlay.targets = [#inlay.declared<"npu", ["linalg.matmul", "linalg.fill", "linalg.transpose"]>,
                                    #inlay.declared<"cpu", ["*"]>]} {
  // An empty tensor has no contents, so each segment has a copy, and no segment exists only for it.
  // CHECK-LABEL: func @destinations
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK-DAG: tensor.empty
  // CHECK-DAG: arith.constant
  // CHECK: linalg.fill
  // CHECK: linalg.matmul
  // CHECK: inlay.segment #inlay.declared<"cpu"
  // CHECK: tensor.empty
  // CHECK: linalg.exp
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: linalg.matmul
  // CHECK-NOT: inlay.segment
  func.func @destinations(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<4x4xf32>
    %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
    %0 = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%filled : tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = linalg.exp ins(%0 : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = linalg.matmul ins(%a, %1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%filled : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %2 : tensor<4x4xf32>
  }

  // A transpose before the host's op runs on the host: two segments, not three.
  // CHECK-LABEL: func @layout_joins
  // CHECK: inlay.segment #inlay.declared<"cpu"
  // CHECK: linalg.transpose
  // CHECK: linalg.exp
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: linalg.matmul
  // CHECK-NOT: inlay.segment
  func.func @layout_joins(%a: tensor<4x4xf32>, %out: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %t = linalg.transpose ins(%a : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) permutation = [1, 0]
    %e = linalg.exp ins(%t : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    %m = linalg.matmul ins(%e, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %m : tensor<4x4xf32>
  }

  // Sizes cross borders as scalars. The ops in the body of an op belong to it.
  // CHECK-LABEL: func @sizes
  // CHECK: %[[SIZE:.*]]:{{.*}} = inlay.segment #inlay.declared<"cpu"{{.*}} -> (index,
  // CHECK: tensor.dim
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: linalg.fill
  // CHECK: inlay.segment #inlay.declared<"cpu"
  // CHECK: linalg.generic
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: arith.addf
  // CHECK: math.exp
  // CHECK: tensor.extract_slice
  // CHECK-NOT: inlay.segment
  func.func @sizes(%x: tensor<?xf32>, %v: f32) -> (tensor<2xf32>, index) {
    %zero = arith.constant 0 : index
    %size = tensor.dim %x, %zero : tensor<?xf32>
    %empty = tensor.empty(%size) : tensor<?xf32>
    %0 = linalg.fill ins(%v : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf32>) outs(%0 : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    %2 = math.exp %1 : tensor<?xf32>
    %3 = tensor.extract_slice %2[0] [2] [1] : tensor<?xf32> to tensor<2xf32>
    return %3, %size : tensor<2xf32>, index
  }
}
