// RUN: inlay-opt %s --inlay-shape-infer --split-input-file --verify-diagnostics

func.func @operands_that_turn_out_not_to_fit(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<?xf32> {
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<?xf32>
  // expected-error @below {{expected operands that broadcast, but got 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %1 = inlay.add %0, %y : (tensor<?xf32>, tensor<5xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

func.func @result_that_turns_out_not_to_fit(%x: tensor<4xf32>) -> tensor<5xf32> {
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<?xf32>
  // expected-error @below {{expected a result of type 'tensor<4xf32>', but got 'tensor<5xf32>'}}
  %1 = inlay.neg %0 : (tensor<?xf32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}
