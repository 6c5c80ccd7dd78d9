// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu --split-input-file --verify-diagnostics
// RUN: inlay-opt %s --inlay-convert-form-workgroup-kernels --split-input-file --verify-diagnostics
// RUN: inlay-opt %s --inlay-convert-linalg-to-loops --split-input-file --verify-diagnostics
// RUN: inlay-opt %s --inlay-convert-form-host-kernels --split-input-file --verify-diagnostics

#map = affine_map<(d0) -> (d0)>
func.func @tensors(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a structured op on buffers, but got one on tensors; bufferize the function first}}
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @fill_of_tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expected a structured op on buffers}}
  %0 = linalg.fill ins(%zero : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @too_many_elements(%x: memref<4294967296x4294967296xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expected buffers of less than 2^63 elements, but got 'memref<4294967296x4294967296xf32>'}}
  linalg.fill ins(%zero : f32) outs(%x : memref<4294967296x4294967296xf32>)
  return
}
