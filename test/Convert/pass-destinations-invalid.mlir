// RUN: inlay-opt %s --inlay-convert-pass-destinations --split-input-file --verify-diagnostics

// expected-error @+1 {{unsupported-type: expected results to be tensors, but got 'index'}}
func.func @scalar() -> index {
  %0 = arith.constant 0 : index
  return %0 : index
}

// -----

// expected-error @+1 {{expected a function with one block that ends in func.return}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
