// RUN: inlay-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected the range of 'n' to start before its end, but got 9 to 8}}
func.func @f() attributes {inlay.symbols = [#inlay.symbol<"n", 9 to 8>]} { return }

// -----

// expected-error @below {{expected 'n' to be at least 0, but its range starts at -1}}
func.func @f() attributes {inlay.symbols = [#inlay.symbol<"n", -1 to 8>]} { return }

// -----

// expected-error @below {{expected the typical size of 'n' to be from 1 to 8, but got 9}}
func.func @f() attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8, typically 9>]} { return }

// -----

// expected-error @below {{expected the name of a size, but got an empty string}}
func.func @f() attributes {inlay.symbols = [#inlay.symbol<"", 1 to 8>]} { return }

// -----

// expected-error @below {{expected symbols of different names, but got 'n' twice}}
func.func @f() attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>, #inlay.symbol<"n", 1 to 8>]} { return }

// -----

// expected-error @below {{expected 'inlay.symbols' to be an array of #inlay.symbol, but got 1}}
func.func @f() attributes {inlay.symbols = 1} { return }

// -----

// expected-error @below {{expected 'inlay.dims' of argument 0 to be a map without dims, but got affine_map<(d0) -> (d0)>}}
func.func @f(%x: tensor<?xf32> {inlay.dims = affine_map<(d0) -> (d0)>}) { return }

// -----

// expected-error @below {{expected 'inlay.dims' of argument 0 to have a result for each of its dims, but got}}
func.func @f(%x: tensor<?x2xf32> {inlay.dims = affine_map<()[s0] -> (s0)>})
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} { return }

// -----

// expected-error @below {{expected 'inlay.dims' of argument 0 to fit 'tensor<?x2xf32>', but got}}
func.func @f(%x: tensor<?x2xf32> {inlay.dims = affine_map<()[s0] -> (s0, 3)>})
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} { return }

// -----

// expected-error @below {{expected 'inlay.dims' of argument 0 to use the function's symbols, but got}}
func.func @f(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0, s1] -> (s1)>})
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} { return }

// -----

// expected-error @below {{expected 'inlay.dims' of result 0 to have a result for each of its dims, but got}}
func.func private @f() -> (tensor<?xf32> {inlay.dims = affine_map<() -> ()>})

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error @below {{expected 'inlay.dims' to have 1 maps, but got 0}}
  %0 = inlay.relu %x {inlay.dims = []} : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error @below {{expected 'inlay.dims' to be an array of maps without dims, but got}}
  %0 = inlay.relu %x {inlay.dims = [affine_map<(d0) -> (d0)>]} : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @below {{expected 'sizes' to have a result for each of 1 dynamic numbers, but got 0}}
  %0 = inlay.reshape %x shape [?, 2] : (tensor<?xf32>) -> tensor<?x2xf32>
  return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @below {{expected 'sizes' to be a map without dims, but got affine_map<(d0) -> (d0)>}}
  %0 = inlay.reshape %x shape [?, 2] sizes affine_map<(d0) -> (d0)> : (tensor<?xf32>) -> tensor<?x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @below {{expected 'sizes' to have a result for each of 0 dynamic numbers, but got 1}}
  %0 = inlay.slice %x dim 0 start 0 end 1 step 1 sizes affine_map<() -> (1)> : (tensor<2xf32>) -> tensor<?xf32>
  return
}

// -----

// expected-error @+2 {{failed to infer returned types}}
// expected-error @below {{expected 'sizes' to be a map without dims and with one result, but got affine_map<() -> (1, 2)>}}
%0 = inlay.size sizes affine_map<() -> (1, 2)> : () -> tensor<i64>

// -----

// expected-error @+2 {{failed to infer returned types}}
// expected-error @below {{expected at least 0 numbers, but got -1}}
%0 = inlay.iota sizes affine_map<() -> (-1)> : () -> tensor<?xi64>

// -----

// expected-error @below {{expected 'inlay.conditions' to be an array of arrays of sets of the 1 symbols in 'inlay.symbols', but got 1}}
func.func @f() attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>], inlay.conditions = 1} { return }

// -----

// expected-error @below {{expected 'inlay.conditions' to be an array of arrays of sets of the 1 symbols in 'inlay.symbols', but got}}
func.func @f() attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>],
                           inlay.conditions = [affine_set<()[s0] : (s0 - 4 >= 0)>]} { return }

// -----

// A condition without alternatives never holds.
// expected-error @below {{expected 'inlay.conditions' to be an array of arrays of sets of the 1 symbols in 'inlay.symbols', but got}}
func.func @f() attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>], inlay.conditions = [[]]} { return }

// -----

// expected-error @below {{expected 'inlay.conditions' to be an array of arrays of sets of the 1 symbols in 'inlay.symbols', but got}}
func.func @f() attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>],
                           inlay.conditions = [[affine_set<()[s0, s1] : (s0 - s1 >= 0)>]]} { return }

// -----

// expected-error @below {{expected 'inlay.conditions' to be an array of arrays of sets of the 1 symbols in 'inlay.symbols', but got}}
func.func @f() attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>],
                           inlay.conditions = [[affine_set<(d0) : (d0 - 4 >= 0)>]]} { return }

// -----

// expected-error @below {{expected 'inlay.conditions' to be an array of arrays of sets of the 0 symbols in 'inlay.symbols', but got}}
func.func @f() attributes {inlay.conditions = [[affine_set<()[s0] : (s0 - 4 >= 0)>]]} { return }
