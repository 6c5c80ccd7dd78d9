// RUN: inlay-opt %s --inlay-stitch-assemble-program --split-input-file --verify-diagnostics

// expected-error @+1 {{expected 'inlay.dims' for argument 0, 'tensor<?xf32>'}}
func.func @dynamic(%x: tensor<?xf32>) { return }

// -----

// expected-error @+1 {{expected result 0 to be a ranked tensor of numbers or a number, but got 'tensor<4xindex>'}}
func.func @indices() -> tensor<4xindex> {
  %0 = arith.constant dense<0> : tensor<4xindex>
  return %0 : tensor<4xindex>
}

// -----

func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected only calls of converted segments, control flow, constants and a return}}
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected @nowhere to be a segment's function, engine or host function}}
  %0 = plan.invoke @nowhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @dims_of_result(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>})
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} {
  // expected-error @+1 {{expected 'inlay.dims' for result 0, 'tensor<?xf32>'}}
  %0 = plan.invoke @f(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return
}
plan.host_function @f arguments 2 inputs 1 scratch affine_map<() -> ()>

// -----

func.func @symbols_of_result(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>})
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} {
  // expected-error @+1 {{expected result 0 to use the 1 symbols of 'symbols_of_result', but got affine_map<()[s0, s1] -> (s1)>}}
  %0 = plan.invoke @f(%x) {inlay.dims = [affine_map<()[s0, s1] -> (s1)>]} : (tensor<?xf32>) -> tensor<?xf32>
  return
}
plan.host_function @f arguments 2 inputs 1 scratch affine_map<() -> ()>

// -----

func.func @symbols_of_scratch(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected scratch to use the 0 symbols of 'symbols_of_scratch', but got affine_map<()[s0] -> (s0)>}}
  %0 = plan.invoke @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
plan.host_function @f arguments 2 inputs 1 scratch affine_map<()[s0] -> (s0)>

// -----

func.func @dims_of_call(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>})
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} {
  %0 = plan.invoke @calls(%x) {inlay.dims = [affine_map<()[s0] -> (s0)>]} : (tensor<?xf32>) -> tensor<?xf32>
  return
}
func.func private @calls(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{expected 'inlay.dims' for result 0, 'tensor<?xf32>'}}
  %0 = plan.framework_call "sort"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @narrow(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  // expected-error @+1 {{expected bounds of type index or i64, but got 'i32'}}
  %r = scf.for %k = %n to %n step %n iter_args(%a = %x) -> tensor<4xf32> : i32 {
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @unsigned(%x: tensor<4xf32>, %n: i64) -> tensor<4xf32> {
  // expected-error @+1 {{expected bounds that are compared as signed integers}}
  %r = scf.for unsigned %k = %n to %n step %n iter_args(%a = %x) -> tensor<4xf32> : i64 {
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected one block, but got 2}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}
