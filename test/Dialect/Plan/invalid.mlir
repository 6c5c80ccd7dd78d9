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
  // expected-error @+1 {{expected SPIR-V as a dense list of 32-bit words, but got 'tensor<5xi8>'}}
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

// -----

plan.engine @resource arguments 1 scratch affine_map<() -> ()> {
  // expected-error @+1 {{expected SPIR-V as a dense list of 32-bit words, but got 'tensor<5xi32>'}}
  plan.kernel @k spirv dense_resource<words> : tensor<5xi32> bindings [] block [1, 1, 1]
}

// -----

plan.engine @push_constant_count arguments 1 scratch affine_map<() -> ()> {
  // expected-error @+1 {{expected 0 to 65536 push constants, but got -1}}
  plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [] block [1, 1, 1] push_constants -1
}

// -----

// expected-error @+1 {{expected 0 to 65536 arguments, but got -1}}
plan.engine @arguments arguments -1 scratch affine_map<() -> ()> {
}

// -----

// expected-error @+1 {{expected 'scratch' to be at least 1, but got 0}}
plan.engine @scratch arguments 1 scratch affine_map<() -> (16, 0)> {
}

// -----

// expected-error @+1 {{expected 'scratch' to be a map without dims, but got affine_map<(d0) -> (d0)>}}
plan.engine @scratch_dims arguments 1 scratch affine_map<(d0) -> (d0)> {
}

// -----

// expected-error @+1 {{expected only kernels and dispatches, but got func.func}}
plan.engine @contents arguments 1 scratch affine_map<() -> ()> {
  func.func private @f()
}

// -----

plan.engine @empty_grid arguments 1 scratch affine_map<() -> ()> {
  plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [] block [1, 1, 1]
  // expected-error @+1 {{expected 'grid' to be at least 1, but got 0}}
  plan.dispatch @k buffers [] grid affine_map<() -> (1, 0, 1)> push_constants affine_map<() -> ()>
}

// -----

plan.engine @negative_push_constant arguments 1 scratch affine_map<() -> ()> {
  plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [] block [1, 1, 1] push_constants 1
  // expected-error @+1 {{expected 'push_constants' to be at least 0, but got -7}}
  plan.dispatch @k buffers [] grid affine_map<() -> (1, 1, 1)> push_constants affine_map<() -> (-7)>
}

// -----

// expected-error @+1 {{expected at most as many inputs as arguments (2), but got 3}}
plan.host_function @inputs arguments 2 inputs 3 scratch affine_map<() -> ()>

// -----

// expected-error @+1 {{expected 0 to 65536 arguments, but got 65537}}
plan.host_function @many arguments 65537 inputs 3 scratch affine_map<() -> ()>

// -----

// expected-error @+1 {{expected code as a dense list of bytes, but got 'tensor<2xi32>'}}
plan.object "x86_64" dense<1> : tensor<2xi32>

// -----

func.func @missing_callee(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected @g to be a segment's function, engine or host function}}
  %0 = plan.invoke @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

plan.host_function @g arguments 2 inputs 2 scratch affine_map<() -> ()>
func.func @host_signature(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 2 inputs and 0 results for the host function @g, but got 1 and 1}}
  %0 = plan.invoke @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

plan.foreign_engine @g runner "dsp" payload "" arguments 2 inputs 2
func.func @foreign_signature(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 2 inputs and 0 results for the foreign engine @g, but got 1 and 1}}
  %0 = plan.invoke @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

plan.engine @g arguments 3 scratch affine_map<() -> ()> {
}
func.func @engine_signature(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 3 inputs and results for the engine @g, but got 2}}
  %0 = plan.invoke @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @g(tensor<4xf32>) -> tensor<5xf32>
func.func @function_signature(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the types of @g, '(tensor<4xf32>) -> tensor<5xf32>'}}
  %0 = plan.invoke @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

plan.program @constant_type {
  // expected-error @+1 {{expected a buffer of the value's type, 'tensor<4xf32>', but got '!plan.buffer<tensor<5xf32>, host>'}}
  %0 = plan.constant dense<1.0> : tensor<4xf32> "c" : <tensor<5xf32>, host>
}

// -----

plan.program @buffer_of_objects {
  // expected-error @+1 {{expected a plain tensor of numbers, but got 'tensor<4xindex>'}}
  %0 = plan.temporary "t" : <tensor<4xindex>, host>
}

// -----

// expected-error @+1 {{expected at most as many inputs as arguments (1), but got 2}}
plan.foreign_engine @inputs runner "dsp" payload "" arguments 1 inputs 2

// -----

// expected-error @+1 {{expected 0 to 65536 arguments, but got -1}}
plan.foreign_engine @many runner "dsp" payload "" arguments -1 inputs 0

// -----

// expected-error @+1 {{expected the name of a runner, but got an empty string}}
plan.foreign_engine @nobody runner "" payload "" arguments 1 inputs 0

// -----

plan.program @dims_missing {
  // expected-error @+1 {{expected the dims of 'tensor<?x10xf32>' as a map of symbols}}
  %0 = plan.temporary "t" : <tensor<?x10xf32>, host>
}

// -----

plan.program @dims_count {
  // expected-error @+1 {{expected a map without dims and with a result for each dim of 'tensor<?x10xf32>', but got affine_map<()[s0] -> (s0)>}}
  %0 = plan.temporary "t" : <tensor<?x10xf32>, host, affine_map<()[s0] -> (s0)>>
}

// -----

plan.program @dims_that_differ {
  // expected-error @+1 {{expected dims that fit 'tensor<?x10xf32>', but got affine_map<()[s0] -> (s0, 11)>}}
  %0 = plan.temporary "t" : <tensor<?x10xf32>, host, affine_map<()[s0] -> (s0, 11)>>
}

// -----

plan.program @too_many_symbols attributes {inlay.symbols = [#inlay.symbol<"batch", 1 to 8>]} {
  // expected-error @+1 {{expected at most the program's 1 symbols, but got affine_map<()[s0, s1] -> (s1)>}}
  %0 = plan.temporary "t" : <tensor<?xf32>, host, affine_map<()[s0, s1] -> (s1)>>
}

// -----

plan.program @callback_symbols {
  // expected-error @+1 {{expected at most the program's 0 symbols, but got affine_map<()[s0] -> (s0)>}}
  plan.callback "f"() outs() {sizes = affine_map<()[s0] -> (s0)>} : () -> ()
}

// -----

plan.program @callback_dims {
  // expected-error @+1 {{expected 'sizes' to be a map without dims, but got affine_map<(d0) -> (d0)>}}
  plan.callback "f"() outs() {sizes = affine_map<(d0) -> (d0)>} : () -> ()
}

// -----

func.func @call_dims(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'sizes' to be a map without dims, but got affine_map<(d0) -> (d0)>}}
  plan.framework_call "f"(%x) sizes affine_map<(d0) -> (d0)> : (tensor<4xf32>) -> ()
  return
}

// -----

// expected-error @+1 {{expected 'sizes' to be a map without dims, but got affine_map<(d0) -> (d0)>}}
plan.host_function @host_dims arguments 2 inputs 1 scratch affine_map<() -> ()> sizes affine_map<(d0) -> (d0)>

// -----

plan.program @condition {
  %x = plan.input 0 "x" : <tensor<2xi1>, host>
  // expected-error @+1 {{expected the condition to be a tensor<i1> in host memory, but got '!plan.buffer<tensor<2xi1>, host>'}}
  plan.branch %x {
  } else {
  } : <tensor<2xi1>, host>
}

// -----

plan.program @condition_on_the_device {
  %x = plan.temporary "x" : <tensor<i1>, device>
  // expected-error @+1 {{expected the condition to be a tensor<i1> in host memory, but got '!plan.buffer<tensor<i1>, device>'}}
  plan.while %x limit 1 {
  } do {
  } : <tensor<i1>, device>
}

// -----

plan.program @limit {
  %x = plan.input 0 "x" : <tensor<i1>, host>
  // expected-error @+1 {{expected a limit of at least 0, but got -1}}
  plan.while %x limit -1 {
  } do {
  } : <tensor<i1>, host>
}

// -----

plan.program @position {
  %x = plan.temporary "x" : <tensor<i32>, host>
  // expected-error @+1 {{expected the position to be a tensor<i64> in host memory, but got '!plan.buffer<tensor<i32>, host>'}}
  plan.for %x = %x to %x step %x {
  } : <tensor<i32>, host>
}

// -----

func.func @elsewhere(%x: !plan.buffer<tensor<4xf32>, host>) {
  // expected-error @+1 {{expects parent op to be one of 'plan.program, plan.branch, plan.while, plan.for'}}
  plan.copy %x to %x : <tensor<4xf32>, host>, <tensor<4xf32>, host>
  return
}

// -----

// expected-error @+1 {{expected two bounds for clip and none for other post-ops, but got none for clip}}
func.func private @clip() attributes {x = #plan.post_op<clip>}

// -----

// expected-error @+1 {{expected two bounds for clip and none for other post-ops, but got some for relu}}
func.func private @bounds() attributes {x = #plan.post_op<relu, 0.0, 1.0>}

// -----

// expected-error @+1 {{expected only a name and a number of buffers for loops}}
func.func private @loops() attributes {x = #plan.host_kernel<"k", loops, buffers = 2, loops = 3>}

// -----

// expected-error @+1 {{expected 5 buffers, but got 4}}
func.func private @buffers() attributes {x = #plan.host_kernel<"k", contraction, buffers = 4, loops = 3, post_ops = [<relu>, <add>], config = {bias}>}

// -----

// expected-error @+1 {{expected 5 buffers, but got 4}}
func.func private @mask() attributes {x = #plan.host_kernel<"k", attention, buffers = 4, config = {mask = "added"}>}

// -----

// expected-error @+1 {{expected 1 to 32 loops for a contraction and none for others, but got 0}}
func.func private @no_loops() attributes {x = #plan.host_kernel<"k", contraction, buffers = 3>}

// -----

// expected-error @+1 {{expected 1 to 32 loops for a contraction and none for others, but got 2}}
func.func private @more_loops() attributes {x = #plan.host_kernel<"k", convolution, buffers = 3, loops = 2>}

// -----

// expected-error @+1 {{expected no post-ops for attention}}
func.func private @post_ops() attributes {x = #plan.host_kernel<"k", attention, buffers = 4, post_ops = [<relu>]>}

// -----

// expected-error @+1 {{expected constants to be numbers of the 2 inputs, but got 2}}
func.func private @constants() attributes {x = #plan.host_kernel<"k", convolution, buffers = 3, constants = [2]>}

// -----

// expected-error @+1 {{unexpected 'channels_last' = unit of a kernel of kind contraction}}
func.func private @config() attributes {x = #plan.host_kernel<"k", contraction, buffers = 3, loops = 3, config = {channels_last}>}

// -----

// expected-error @+1 {{unexpected 'mask' = "other" of a kernel of kind attention}}
func.func private @mask_kind() attributes {x = #plan.host_kernel<"k", attention, buffers = 5, config = {mask = "other"}>}

// -----

func.func @kind(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a kernel of the library, but got loops}}
  %r = plan.library_call loops(%a) into %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @inputs(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{expected 3 inputs, but got 2}}
  %r = plan.library_call convolution(%a, %a) into %a {config = {bias}}
    : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @elements(%a: tensor<4x4xf64>) {
  // expected-error @+1 {{expected ranked operands of f32, but got 'tensor<4x4xf64>'}}
  %r = plan.library_call contraction(%a, %a) into %a : (tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  return
}

// -----

func.func @result(%a: memref<4x4xf32>) {
  // expected-error @+1 {{expected a result of the type of 'init' on tensors and none on buffers}}
  %r = plan.library_call contraction(%a, %a) into %a : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @result_type(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a result of the type of 'init' on tensors and none on buffers}}
  %r = plan.library_call contraction(%a, %a) into %a : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @maps(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a map for each of 3 operands, but got 0}}
  %r = plan.library_call contraction(%a, %a) into %a : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @map(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a projected permutation of 3 loops for 'tensor<4x4xf32>', but got affine_map<(d0, d1, d2) -> (d2 + 1, d1)>}}
  %r = plan.library_call contraction(%a, %a) into %a {
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k + 1, n)>, affine_map<(m, n, k) -> (m, n)>]
  } : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @window(%a: tensor<1x4x4x4xf32>) {
  // expected-error @+1 {{expected a window of 9 numbers, but got 5}}
  %r = plan.library_call convolution(%a, %a) into %a {window = array<i64: 1, 3, 1, 1, 1>}
    : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @window_numbers(%a: tensor<1x4x4xf32>) {
  // expected-error @+1 {{expected number 2 of the window to be at least 1, but got 0}}
  %r = plan.library_call convolution(%a, %a) into %a {window = array<i64: 1, 3, 0, 1, 0>}
    : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @padding(%a: tensor<1x4x4xf32>) {
  // expected-error @+1 {{expected number 4 of the window to be at least 0, but got -1}}
  %r = plan.library_call convolution(%a, %a) into %a {window = array<i64: 1, 3, 1, 1, -1>}
    : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @constant_numbers(%a: tensor<1x4x4xf32>) {
  // expected-error @+1 {{expected constants to be numbers of the 2 inputs, but got 2}}
  %r = plan.library_call convolution(%a, %a) into %a {window = array<i64: 1, 3, 1, 1, 0>, constants = array<i64: 2>}
    : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @call_config(%a: tensor<1x4x4xf32>) {
  // expected-error @+1 {{unexpected 'causal' = unit of a kernel of kind convolution}}
  %r = plan.library_call convolution(%a, %a) into %a {window = array<i64: 1, 3, 1, 1, 0>, config = {causal}}
    : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @weight_rank(%a: tensor<1x4x4xf32>, %w: tensor<4x4xf32>) {
  // expected-error @+1 {{expected an input and a static weight of 3 dims, but got 'tensor<1x4x4xf32>' and 'tensor<4x4xf32>'}}
  %r = plan.library_call convolution(%a, %w) into %a {window = array<i64: 1, 1, 1, 1, 0>}
    : (tensor<1x4x4xf32>, tensor<4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @channels(%a: tensor<1x4x4xf32>, %w: tensor<4x3x1xf32>) {
  // expected-error @+1 {{expected 3 channels of the input and 4 of the result, but got 'tensor<1x4x4xf32>' and 'tensor<1x4x4xf32>'}}
  %r = plan.library_call convolution(%a, %w) into %a {window = array<i64: 1, 1, 1, 1, 0>}
    : (tensor<1x4x4xf32>, tensor<4x3x1xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @window_of_weight(%a: tensor<1x4x4xf32>, %w: tensor<4x4x1xf32>) {
  // expected-error @+1 {{expected a window of the sizes of 'tensor<4x4x1xf32>', but got 3}}
  %r = plan.library_call convolution(%a, %w) into %a {window = array<i64: 1, 3, 1, 1, 1>}
    : (tensor<1x4x4xf32>, tensor<4x4x1xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @per_channel(%a: tensor<1x4x4xf32>, %w: tensor<4x4x1xf32>) {
  // expected-error @+1 {{expected an element per channel, but got 'tensor<1x4x4xf32>'}}
  %r = plan.library_call convolution(%a, %w, %a) into %a {
    window = array<i64: 1, 1, 1, 1, 0>, post_ops = [#plan.post_op<mul_channels>]
  } : (tensor<1x4x4xf32>, tensor<4x4x1xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @full_shape(%a: tensor<1x4x4xf32>, %w: tensor<4x4x1xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{expected the shape of 'init', but got 'tensor<4xf32>'}}
  %r = plan.library_call convolution(%a, %w, %b) into %a {
    window = array<i64: 1, 1, 1, 1, 0>, post_ops = [#plan.post_op<add>]
  } : (tensor<1x4x4xf32>, tensor<4x4x1xf32>, tensor<4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

// expected-error @+1 {{expected post-ops per channel only for a convolution}}
plan.host_function @f arguments 2 inputs 1 scratch affine_map<() -> ()> kernels [#plan.host_kernel<"k", contraction, buffers = 4, loops = 2, post_ops = [#plan.post_op<add_channels>]>]

// -----

func.func @quantized_codes(%x: tensor<2x64xf32>, %c: tensor<16x31xi8>, %s: tensor<16x2xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected codes of 16 rows of 64, but got 'tensor<16x31xi8>'}}
  %0 = plan.library_call quantized_product(%x, %c, %s) into %init {config = {block = array<i64: 1, 32>, code = "u4"}}
    : (tensor<2x64xf32>, tensor<16x31xi8>, tensor<16x2xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @quantized_blocks(%x: tensor<2x64xf32>, %c: tensor<16x32xi8>, %s: tensor<16x1xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected scales and offsets of dims [16, 2], but got 'tensor<16x1xf32>'}}
  %0 = plan.library_call quantized_product(%x, %c, %s) into %init {config = {block = array<i64: 1, 32>, code = "u4"}}
    : (tensor<2x64xf32>, tensor<16x32xi8>, tensor<16x1xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @quantized_block(%x: tensor<2x64xf32>, %c: tensor<16x32xi8>, %s: tensor<16x2xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected a code type and the two positive sizes of a block}}
  %0 = plan.library_call quantized_product(%x, %c, %s) into %init {config = {block = array<i64: 1, 0>, code = "u4"}}
    : (tensor<2x64xf32>, tensor<16x32xi8>, tensor<16x2xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @quantized_scale_block(%x: tensor<2x64xf32>, %c: tensor<16x32xi8>, %s: tensor<16x2xi8>, %d: tensor<16x1xf16>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected 'scale_code' to be a code type and 'scale_block' to be the two positive sizes of a block}}
  %0 = plan.library_call quantized_product(%x, %c, %s, %d) into %init {config = {block = array<i64: 1, 32>, code = "u4", scale_block = array<i64: 1, 0>, scale_code = "u8"}}
    : (tensor<2x64xf32>, tensor<16x32xi8>, tensor<16x2xi8>, tensor<16x1xf16>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @quantized_scale_codes(%x: tensor<2x64xf32>, %c: tensor<16x32xi8>, %s: tensor<16x2xi8>, %d: tensor<16x1xf16>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected codes of 16 rows of 2, but got 'tensor<16x2xi8>'}}
  %0 = plan.library_call quantized_product(%x, %c, %s, %d) into %init {config = {block = array<i64: 1, 32>, code = "u4", scale_block = array<i64: 1, 8>, scale_code = "u4"}}
    : (tensor<2x64xf32>, tensor<16x32xi8>, tensor<16x2xi8>, tensor<16x1xf16>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @quantized_scales_of_offsets(%x: tensor<2x64xf32>, %c: tensor<16x32xi8>, %s: tensor<16x2xf32>, %z: tensor<16x2xi8>, %d: tensor<16x2xf16>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected scales and offsets of dims [16, 1], but got 'tensor<16x2xf16>'}}
  %0 = plan.library_call quantized_product(%x, %c, %s, %z, %d) into %init {config = {block = array<i64: 1, 32>, code = "u4", offset_block = array<i64: 1, 8>, offset_code = "u8", offsets}}
    : (tensor<2x64xf32>, tensor<16x32xi8>, tensor<16x2xf32>, tensor<16x2xi8>, tensor<16x2xf16>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @quantized_type(%x: tensor<2x64xf32>, %c: tensor<16x32xi8>, %s: tensor<16x2xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected 'type' to be f16, bf16 or f32, but got 'f64'}}
  %0 = plan.library_call quantized_product(%x, %c, %s) into %init {config = {block = array<i64: 1, 32>, code = "u4", type = f64}}
    : (tensor<2x64xf32>, tensor<16x32xi8>, tensor<16x2xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @quantized_offset_code(%x: tensor<2x64xf32>, %c: tensor<16x32xi8>, %s: tensor<16x2xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected 'offset_code' and 'offset_block' only beside 'offsets'}}
  %0 = plan.library_call quantized_product(%x, %c, %s) into %init {config = {block = array<i64: 1, 32>, code = "u4", offset_code = "u4"}}
    : (tensor<2x64xf32>, tensor<16x32xi8>, tensor<16x2xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @quantized_minima(%x: tensor<2x64xf32>, %c: tensor<16x32xi8>, %s: tensor<16x2xf32>, %z: tensor<16x2xi8>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected minima to be floats}}
  %0 = plan.library_call quantized_product(%x, %c, %s, %z) into %init {config = {block = array<i64: 1, 32>, code = "u4", minima, offsets}}
    : (tensor<2x64xf32>, tensor<16x32xi8>, tensor<16x2xf32>, tensor<16x2xi8>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @integer_codes(%x: tensor<2x64xi8>, %s: tensor<1x1xf32>, %w: tensor<16x64xi8>, %t: tensor<16x1xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected the code types of the input and of the weight, and limits for codes of the result}}
  %0 = plan.library_call integer_product(%x, %s, %w, %t) into %init {config = {input_code = "u8", weight_scales}}
    : (tensor<2x64xi8>, tensor<1x1xf32>, tensor<16x64xi8>, tensor<16x1xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @integer_scales(%x: tensor<2x64xi8>, %s: tensor<1x1xf32>, %w: tensor<16x64xi8>, %t: tensor<16x1xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected 1 scales of f32 and offsets of f32 or i8, but got 'tensor<16x1xf32>'}}
  %0 = plan.library_call integer_product(%x, %s, %w, %t) into %init {config = {input_code = "u8", weight_code = "i8"}}
    : (tensor<2x64xi8>, tensor<1x1xf32>, tensor<16x64xi8>, tensor<16x1xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @integer_transposed(%x: tensor<2x64xi8>, %s: tensor<1x1xf32>, %w: tensor<16x64xi8>, %t: tensor<16x1xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected a product with a static matrix of codes, but got 'tensor<2x64xi8>', 'tensor<16x64xi8>' and 'tensor<2x16xf32>'}}
  %0 = plan.library_call integer_product(%x, %s, %w, %t) into %init {config = {input_code = "u8", transposed, weight_code = "i8", weight_scales}}
    : (tensor<2x64xi8>, tensor<1x1xf32>, tensor<16x64xi8>, tensor<16x1xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @integer_result(%x: tensor<2x64xi8>, %s: tensor<1x1xf32>, %w: tensor<16x64xi8>, %t: tensor<16x1xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected a result of i8 for codes and of f32 or f64 for others, but got 'tensor<2x16xf32>'}}
  %0 = plan.library_call integer_product(%x, %s, %w, %t, %s) into %init {config = {input_code = "u8", limits = array<i64: 0, 255>, result_code = "u8", weight_code = "i8", weight_scales}}
    : (tensor<2x64xi8>, tensor<1x1xf32>, tensor<16x64xi8>, tensor<16x1xf32>, tensor<1x1xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @integer_name(%x: tensor<2x64xi8>, %s: tensor<1x1xf32>, %w: tensor<16x64xi8>, %t: tensor<16x1xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{unexpected 'code' = "u8" of a kernel of kind integer_product}}
  %0 = plan.library_call integer_product(%x, %s, %w, %t) into %init {config = {code = "u8", input_code = "u8", weight_code = "i8", weight_scales}}
    : (tensor<2x64xi8>, tensor<1x1xf32>, tensor<16x64xi8>, tensor<16x1xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @integer_bias(%x: tensor<2x64xi8>, %s: tensor<1x1xf32>, %w: tensor<16x64xi8>, %t: tensor<16x1xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected f32 of the shape of the outputs, but got 'tensor<16x1xf32>'}}
  %0 = plan.library_call integer_product(%x, %s, %w, %t, %t) into %init {config = {bias, input_code = "u8", weight_code = "i8", weight_scales}}
    : (tensor<2x64xi8>, tensor<1x1xf32>, tensor<16x64xi8>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @integer_channels(%x: tensor<1x4x8x8xi8>, %s: tensor<1x1x1x1xf32>, %w: tensor<8x3x3x3xi8>, %init: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  // expected-error@+1 {{expected 3 channels of the input and 8 of the result, but got 'tensor<1x4x8x8xi8>' and 'tensor<1x8x6x6xf32>'}}
  %0 = plan.library_call integer_product(%x, %s, %w, %s) into %init {config = {input_code = "u8", weight_code = "i8"}, window = array<i64: 1, 3, 1, 1, 0, 3, 1, 1, 0>}
    : (tensor<1x4x8x8xi8>, tensor<1x1x1x1xf32>, tensor<8x3x3x3xi8>, tensor<1x1x1x1xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %0 : tensor<1x8x6x6xf32>
}

// -----

func.func @integer_rows(%x: tensor<2x64xi8>, %s: tensor<3x1xf32>, %w: tensor<16x64xi8>, %t: tensor<1x1xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error@+1 {{expected 2 scales of f32 and offsets of f32 or i8, but got 'tensor<3x1xf32>'}}
  %0 = plan.library_call integer_product(%x, %s, %w, %t) into %init {config = {input_code = "u8", input_scales, weight_code = "i8"}}
    : (tensor<2x64xi8>, tensor<3x1xf32>, tensor<16x64xi8>, tensor<1x1xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @integer_window(%x: tensor<1x3x8x8xi8>, %s: tensor<1x1x1x1xf32>, %w: tensor<8x3x3x3xi8>, %init: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  // expected-error@+1 {{expected a window of the sizes of 'tensor<8x3x3x3xi8>', but got 2}}
  %0 = plan.library_call integer_product(%x, %s, %w, %s) into %init {config = {input_code = "u8", weight_code = "i8"}, window = array<i64: 1, 3, 1, 1, 0, 2, 1, 1, 0>}
    : (tensor<1x3x8x8xi8>, tensor<1x1x1x1xf32>, tensor<8x3x3x3xi8>, tensor<1x1x1x1xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %0 : tensor<1x8x6x6xf32>
}

// -----

func.func @integer_row_scales_of_window(%x: tensor<1x3x8x8xi8>, %s: tensor<36xf32>, %w: tensor<8x3x3x3xi8>, %t: tensor<1xf32>, %init: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  // expected-error@+1 {{expected neither 'input_scales' nor 'transposed' for a convolution}}
  %0 = plan.library_call integer_product(%x, %s, %w, %t) into %init {config = {input_code = "u8", input_scales, weight_code = "i8"}, window = array<i64: 1, 3, 1, 1, 0, 3, 1, 1, 0>}
    : (tensor<1x3x8x8xi8>, tensor<36xf32>, tensor<8x3x3x3xi8>, tensor<1xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %0 : tensor<1x8x6x6xf32>
}

// -----

// expected-error @+1 {{expected 'updates' to be ascending numbers below 2, but got 2}}
plan.host_function @update_beyond arguments 3 inputs 2 scratch affine_map<() -> ()> updates [2]

// -----

// expected-error @+1 {{expected 'updates' to be ascending numbers below 3, but got 1}}
plan.engine @update_twice arguments 3 scratch affine_map<() -> ()> updates [1, 1] {
}

// -----

func.func @missing_update(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected 'updates' to name the inputs that @f updates, [0], but got []}}
  %0 = plan.invoke @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
plan.host_function @f arguments 1 inputs 1 scratch affine_map<() -> ()> updates [0]

// -----

func.func @update_of_other_type(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{expected result 0 to have the type of the input that it replaces, 'tensor<4xf32>', but got 'tensor<5xf32>'}}
  %0 = plan.invoke @f(%x) updates [0] : (tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
plan.host_function @f arguments 1 inputs 1 scratch affine_map<() -> ()> updates [0]

// -----

func.func @update_counts(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected 'updates' to have a number for each of 1 results, but got 2}}
  %0 = plan.invoke @f(%x) updates [0, -1] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
plan.host_function @f arguments 1 inputs 1 scratch affine_map<() -> ()> updates [0]
