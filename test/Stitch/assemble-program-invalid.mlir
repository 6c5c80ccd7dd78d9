// RUN: inlay-opt %s --inlay-stitch-assemble-program --split-input-file --verify-diagnostics

// expected-error @+1 {{expected arguments to be tensors of static shape, but argument 0 is 'tensor<?xf32>'}}
func.func @dynamic(%x: tensor<?xf32>) { return }

// -----

// expected-error @+1 {{expected results to be tensors of static shape, but result 0 is 'index'}}
func.func @scalar() -> index {
  %0 = arith.constant 0 : index
  return %0 : index
}

// -----

func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected calls of converted segments, constants and a return alone}}
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected @nowhere to be a segment's function, engine or host function}}
  %0 = plan.invoke @nowhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
