// Options and values with unknown names.
// RUN: not inlay-opt %s --inlay-partition=reprot=x.json 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: inlay-partition has no option 'reprot'; did you mean 'report'?
// RUN: not inlay-opt %s --inlay-partition=strategy=level 2>&1 | FileCheck %s --check-prefix=STRATEGY
// STRATEGY: expected strategy to be levels, cost, in-order or torch-tensorrt, but got 'level'; did you mean 'levels'?
// RUN: not inlay-opt %s --inlay-partition=min-block-size=many 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: for the --min-block-size option: 'many' value invalid
// NUMBER: error: malformed options of inlay-partition: 'min-block-size=many'
// RUN: inlay-opt --help | FileCheck %s --check-prefix=HELP
// HELP: --inlay-partition {{.*}}Split each function into segments per target
// HELP: --strategy=<string> {{.*}}how segments are formed: levels

func.func @f() {
  return
}

// A name without its dialect is found case-insensitively. An empty name is an error.
// RUN: not inlay-opt %s --inlay-partition=fallback-ops=relU 2>&1 | FileCheck %s --check-prefix=CASE
// CASE: 'relU' in fallback-ops matches no op; did you mean 'aten::relu'?
// RUN: not inlay-opt %s --inlay-partition=fallback-ops=, 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: expected the names of ops in fallback-ops, but got an empty one
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Functions in a nested module are not partitioned, with a warning.
// RUN: inlay-opt %s --inlay-partition -o /dev/null 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: warning: functions of a module inside a module aren't partitioned: run the pass on that module
module @inner {
  func.func @h() {
    return
  }
}
