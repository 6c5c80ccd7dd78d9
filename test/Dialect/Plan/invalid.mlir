// RUN: inlay-opt %s -split-input-file -verify-diagnostics

plan.engine @bindings arguments 1 scratch affine_map<() -> ()> {
  // expected-error @+1 {{expected bindings to be accesses, but got [1]}}
  plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [1] block [1, 1, 1]
}

// -----

plan.engine @block_rank arguments 1 scratch affine_map<() -> ()> {
  // expected-error @+1 {{expected three positive block sizes, but got [64]}}
  plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [] block [64]
}

// -----

plan.engine @block_size arguments 1 scratch affine_map<() -> ()> {
  // expected-error @+1 {{expected three positive block sizes, but got [64, 0, 1]}}
  plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [] block [64, 0, 1]
}

// -----

plan.engine @words arguments 1 scratch affine_map<() -> ()> {
  // expected-error @+1 {{expected SPIR-V as 32-bit words, but got 'i8'}}
  plan.kernel @k spirv dense<0> : tensor<5xi8> bindings [] block [1, 1, 1]
}

// -----

plan.engine @kernel arguments 1 scratch affine_map<() -> ()> {
  // expected-error @+1 {{expected a kernel of this engine, but got @k}}
  plan.dispatch @k buffers [] grid affine_map<() -> (1, 1, 1)> push_constants affine_map<() -> ()>
}

// -----

plan.engine @buffer_count arguments 1 scratch affine_map<() -> ()> {
  plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [#plan.access<read>] block [1, 1, 1]
  // expected-error @+1 {{expected 1 buffers, but got 0}}
  plan.dispatch @k buffers [] grid affine_map<() -> (1, 1, 1)> push_constants affine_map<() -> ()>
}

// -----

plan.engine @buffer_number arguments 1 scratch affine_map<() -> (16)> {
  plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [#plan.access<read>] block [1, 1, 1]
  // expected-error @+1 {{expected numbers of the engine's 2 buffers, but got 2}}
  plan.dispatch @k buffers [2] grid affine_map<() -> (1, 1, 1)> push_constants affine_map<() -> ()>
}

// -----

plan.engine @grid arguments 1 scratch affine_map<() -> ()> {
  plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [] block [1, 1, 1]
  // expected-error @+1 {{expected a grid of three sizes, but got 1}}
  plan.dispatch @k buffers [] grid affine_map<() -> (1)> push_constants affine_map<() -> ()>
}

// -----

plan.engine @push_constants arguments 1 scratch affine_map<() -> ()> {
  plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [] block [1, 1, 1] push_constants 2
  // expected-error @+1 {{expected 2 push constants, but got 1}}
  plan.dispatch @k buffers [] grid affine_map<() -> (1, 1, 1)> push_constants affine_map<() -> (7)>
}

// -----

// expected-error @+1 {{'plan.kernel' op expects parent op 'plan.engine'}}
plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [] block [1, 1, 1]

// -----

// expected-error @+1 {{'plan.temporary' op expects parent op 'plan.program'}}
%0 = plan.temporary "t" : <tensor<4xf32>, device>
