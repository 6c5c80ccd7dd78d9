// What the phase is asked by a name that it doesn't know.
// RUN: not inlay-opt %s --inlay-partition=reprot=x.json 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: inlay-partition has no option 'reprot'; did you mean 'report'?
// RUN: not inlay-opt %s --inlay-partition=strategy=level 2>&1 | FileCheck %s --check-prefix=STRATEGY
// STRATEGY: expected strategy to be levels, cost, in-order or torch-tensorrt, but got 'level'; did you mean 'levels'?
// RUN: not inlay-opt %s --inlay-partition=min-block-size=many 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: for the --min-block-size option: 'many' value invalid
// RUN: inlay-opt --help | FileCheck %s --check-prefix=HELP
// HELP: --inlay-partition {{.*}}Split each function into segments per target
// HELP: --strategy=<string> {{.*}}how segments are formed: levels

func.func @f() {
  return
}
