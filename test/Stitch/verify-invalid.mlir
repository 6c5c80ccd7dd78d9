// RUN: inlay-opt %s --inlay-stitch-verify --split-input-file --verify-diagnostics

plan.program @reads_nothing {
  %r = plan.output 0 "r" : <tensor<4xf32>, host>
  %t = plan.temporary "t" : <tensor<4xf32>, host>
  // expected-error @+1 {{reads a buffer that no earlier step wrote}}
  plan.copy %t to %r : <tensor<4xf32>, host>, <tensor<4xf32>, host>
}

// -----

plan.program @writes_input {
  %x = plan.input 0 "x" : <tensor<4xf32>, host>
  %y = plan.input 1 "y" : <tensor<4xf32>, host>
  // expected-error @+1 {{writes a buffer that is read only}}
  plan.copy %x to %y : <tensor<4xf32>, host>, <tensor<4xf32>, host>
}

// -----

plan.program @other_type {
  %x = plan.input 0 "x" : <tensor<4xf32>, host>
  %r = plan.output 0 "r" : <tensor<5xf32>, host>
  // expected-error @+1 {{expected buffers of one tensor type}}
  plan.copy %x to %r : <tensor<4xf32>, host>, <tensor<5xf32>, host>
}

// -----

plan.program @one_buffer {
  %t = plan.temporary "t" : <tensor<4xf32>, host>
  // expected-error @+1 {{expected two buffers, but got one}}
  plan.copy %t to %t : <tensor<4xf32>, host>, <tensor<4xf32>, host>
}

// -----

plan.program @no_output {
  // expected-error @+1 {{expected a step to write output 0}}
  %r = plan.output 0 "r" : <tensor<4xf32>, host>
}

// -----

plan.program @output_number {
  // expected-error @+1 {{expected output 0 here, but got 1}}
  %r = plan.output 1 "r" : <tensor<4xf32>, host>
}

// -----

plan.program @device_input {
  // expected-error @+1 {{expected inputs in host memory}}
  %x = plan.input 0 "x" : <tensor<4xf32>, device>
}

// -----

plan.program @wrong_callee {
  %x = plan.input 0 "x" : <tensor<4xf32>, host>
  %r = plan.output 0 "r" : <tensor<4xf32>, host>
  // expected-error @+1 {{expected @e to be a host function}}
  plan.call @e(%x) outs(%r) : (!plan.buffer<tensor<4xf32>, host>) -> (!plan.buffer<tensor<4xf32>, host>)
}
plan.engine @e arguments 2 scratch affine_map<() -> ()> {}

// -----

plan.program @wrong_count {
  %x = plan.input 0 "x" : <tensor<4xf32>, host>
  %r = plan.output 0 "r" : <tensor<4xf32>, host>
  // expected-error @+1 {{expected 3 buffers for @f, but got 2}}
  plan.call @f(%x) outs(%r) : (!plan.buffer<tensor<4xf32>, host>) -> (!plan.buffer<tensor<4xf32>, host>)
}
plan.host_function @f arguments 2 inputs 1 scratch affine_map<() -> (64)>

// -----

plan.program @wrong_memory {
  %x = plan.input 0 "x" : <tensor<4xf32>, host>
  %r = plan.output 0 "r" : <tensor<4xf32>, host>
  // expected-error @+1 {{expected buffers in device memory, but got '!plan.buffer<tensor<4xf32>, host>'}}
  plan.launch @e(%x) outs(%r) : (!plan.buffer<tensor<4xf32>, host>) -> (!plan.buffer<tensor<4xf32>, host>)
}
plan.engine @e arguments 2 scratch affine_map<() -> ()> {}

// -----

plan.program @run_of_a_host_function {
  %x = plan.input 0 "x" : <tensor<4xf32>, host>
  %y = plan.output 0 "y" : <tensor<4xf32>, host>
  // expected-error @+1 {{expected @f to be a foreign engine}}
  plan.run @f(%x) outs(%y) : (!plan.buffer<tensor<4xf32>, host>) -> !plan.buffer<tensor<4xf32>, host>
}
plan.host_function @f arguments 2 inputs 1 scratch affine_map<() -> ()>

// -----

plan.program @call_of_a_foreign_engine {
  %x = plan.input 0 "x" : <tensor<4xf32>, host>
  %y = plan.output 0 "y" : <tensor<4xf32>, host>
  // expected-error @+1 {{expected @dsp to be a host function}}
  plan.call @dsp(%x) outs(%y) : (!plan.buffer<tensor<4xf32>, host>) -> !plan.buffer<tensor<4xf32>, host>
}
plan.foreign_engine @dsp runner "dsp" payload "" arguments 2 inputs 1

// -----

plan.program @too_few {
  %y = plan.output 0 "y" : <tensor<4xf32>, host>
  // expected-error @+1 {{expected 2 buffers for @dsp, but got 1}}
  plan.run @dsp() outs(%y) : () -> !plan.buffer<tensor<4xf32>, host>
}
plan.foreign_engine @dsp runner "dsp" payload "" arguments 2 inputs 1

// -----

plan.program @inputs_that_are_outputs {
  %y = plan.output 0 "y" : <tensor<4xf32>, host>
  %z = plan.output 1 "z" : <tensor<4xf32>, host>
  // expected-error @+1 {{expected 1 inputs for @dsp, but got 0}}
  plan.run @dsp() outs(%y, %z) : () -> (!plan.buffer<tensor<4xf32>, host>, !plan.buffer<tensor<4xf32>, host>)
}
plan.foreign_engine @dsp runner "dsp" payload "" arguments 2 inputs 1

// -----

plan.program @on_the_device {
  %y = plan.output 0 "y" : <tensor<4xf32>, host>
  %t = plan.temporary "t" : <tensor<4xf32>, device>
  // expected-error @+1 {{expected buffers in host memory, but got '!plan.buffer<tensor<4xf32>, device>'}}
  plan.run @dsp() outs(%t) : () -> !plan.buffer<tensor<4xf32>, device>
}
plan.foreign_engine @dsp runner "dsp" payload "" arguments 1 inputs 0

// -----

plan.host_function @f arguments 1 inputs 0 scratch affine_map<() -> ()> sizes affine_map<()[s0] -> (s0)>
plan.program @symbols_of_host_function {
  %r = plan.output 0 "r" : <tensor<4xf32>, host>
  // expected-error @+1 {{expected sizes of @f to use the program's 0 symbols, but got 1}}
  plan.call @f() outs(%r) : () -> !plan.buffer<tensor<4xf32>, host>
}

// -----

plan.engine @e arguments 1 scratch affine_map<() -> ()> {
  plan.kernel @k spirv dense<0> : tensor<5xi32> bindings [#plan.access<write>] block [1, 1, 1]
  plan.dispatch @k buffers [0] grid affine_map<()[s0, s1] -> (s0, s1, 1)> push_constants affine_map<() -> ()>
}
plan.program @symbols_of_engine attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} {
  %t = plan.temporary "t" : <tensor<4xf32>, device>
  // expected-error @+1 {{expected sizes of @e to use the program's 1 symbols, but got 2}}
  plan.launch @e() outs(%t) : () -> (!plan.buffer<tensor<4xf32>, device>)
}

// -----

// One side of a branch is not sufficient.
plan.program @one_side {
  %c = plan.input 0 "c" : <tensor<i1>, host>
  %x = plan.input 1 "x" : <tensor<4xf32>, host>
  // expected-error @+1 {{expected a step to write output 0}}
  %r = plan.output 0 "r" : <tensor<4xf32>, host>
  plan.branch %c {
    plan.copy %x to %r : <tensor<4xf32>, host>, <tensor<4xf32>, host>
  } else {
  } : <tensor<i1>, host>
}

// -----

// The body of a loop may never run.
plan.program @never {
  %c = plan.input 0 "c" : <tensor<i1>, host>
  %x = plan.input 1 "x" : <tensor<4xf32>, host>
  %r = plan.output 0 "r" : <tensor<4xf32>, host>
  %t = plan.temporary "t" : <tensor<4xf32>, host>
  plan.while %c limit 9 {
  } do {
    plan.copy %x to %t : <tensor<4xf32>, host>, <tensor<4xf32>, host>
  } : <tensor<i1>, host>
  // expected-error @+1 {{reads a buffer that no earlier step wrote}}
  plan.copy %t to %r : <tensor<4xf32>, host>, <tensor<4xf32>, host>
}

// -----

plan.program @undecided {
  %c = plan.temporary "c" : <tensor<i1>, host>
  // expected-error @+1 {{reads a buffer that no earlier step wrote}}
  plan.while %c limit 9 {
  } do {
  } : <tensor<i1>, host>
}

// -----

plan.program @position_of_the_caller {
  %n = plan.input 0 "n" : <tensor<i64>, host>
  // expected-error @+1 {{writes a buffer that is read only}}
  plan.for %n = %n to %n step %n {
  } : <tensor<i64>, host>
}

// -----

// expected-error @+1 {{expected host version @nowhere to be a host function}}
plan.engine @lost arguments 2 scratch affine_map<() -> ()> host_version @nowhere {
}

// -----

// expected-error @+1 {{expected host version @h to take the engine's 2 buffers, but it takes 3}}
plan.engine @other_buffers arguments 2 scratch affine_map<() -> ()> host_version @h {
}
plan.host_function @h arguments 3 inputs 1 scratch affine_map<() -> ()>

// -----

plan.engine @e arguments 1 scratch affine_map<() -> ()> host_version @h {
}
plan.host_function @h arguments 1 inputs 0 scratch affine_map<()[s0] -> (s0)>
plan.program @other_symbols {
  %t = plan.temporary "t" : <tensor<4xf32>, device>
  // expected-error @+1 {{expected sizes of @e to use the program's 0 symbols, but got 1}}
  plan.launch @e() outs(%t) : () -> (!plan.buffer<tensor<4xf32>, device>)
}

// -----

plan.program @state_number {
  // expected-error @+1 {{expected state 0 here, but got 1}}
  %s = plan.state 1 "s" : <tensor<4xf32>, device>
}

// -----

plan.host_function @f arguments 1 inputs 1 scratch affine_map<() -> ()> updates [0]
plan.program @updates_input {
  %x = plan.input 0 "x" : <tensor<4xf32>, host>
  // expected-error @+1 {{writes a buffer that is read only}}
  plan.call @f(%x) outs() : (!plan.buffer<tensor<4xf32>, host>) -> ()
}

// -----

plan.engine @e arguments 2 scratch affine_map<() -> ()> updates [1] {
}
plan.program @updates_output {
  %s = plan.state 0 "s" : <tensor<4xf32>, device>
  %t = plan.temporary "t" : <tensor<4xf32>, device>
  // expected-error @+1 {{expected @e to update one of 1 inputs, but it updates argument 1}}
  plan.launch @e(%s) outs(%t) : (!plan.buffer<tensor<4xf32>, device>) -> !plan.buffer<tensor<4xf32>, device>
}

// -----

// expected-error @+1 {{expected host version @h to update the inputs [0], but it updates []}}
plan.engine @other_updates arguments 1 scratch affine_map<() -> ()> host_version @h updates [0] {
}
plan.host_function @h arguments 1 inputs 1 scratch affine_map<() -> ()>
