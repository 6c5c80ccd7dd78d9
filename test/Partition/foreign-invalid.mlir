// RUN: inlay-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'inlay.constant' to be a unit attribute, but got 1 : i64}}
  %0 = "hlo.constant"() {inlay.constant = 1 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'inlay.constant' on an op with results and without operands or regions}}
  %0 = "hlo.add"(%x) {inlay.constant} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'inlay.writes' to be an array<i64>, but got [0]}}
  "hlo.set"(%x) {inlay.writes = [0]} : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'inlay.writes' to contain numbers of the op's 1 operands, but got 1}}
  "hlo.set"(%x) {inlay.writes = array<i64: 0, 1>} : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'inlay.aliases' only together with 'inlay.writes'}}
  %0 = "hlo.view"(%x) {inlay.aliases = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>]} {
  func.func @f(%x: tensor<4xf32>) {
    // expected-error @+1 {{unknown attribute 'inlay.write' of the inlay dialect}}
    "hlo.set"(%x) {inlay.write = array<i64: 0>} : (tensor<4xf32>) -> ()
    return
  }
}
