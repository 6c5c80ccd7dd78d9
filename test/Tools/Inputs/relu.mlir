module attributes {inlay.targets = [#inlay.host]} {
  func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
