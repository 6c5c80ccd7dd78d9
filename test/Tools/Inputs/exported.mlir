// Two branches that each have a gelu between matrix products.
module {
  func.func @forward(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = inlay.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = inlay.gelu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = inlay.matmul %a, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = inlay.gelu %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = inlay.matmul %1, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %5 = inlay.add %4, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %5 : tensor<4x4xf32>
  }
}
