// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-opt: every upstream dialect and pass plus Inlay's.

#include "inlay/Execution/HostRunner.h"
#include "inlay/Pipeline/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  inlay::registerAll(registry);
  inlay::registerAllPasses();
  inlay::registerHostRunner(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Inlay optimizer driver\n", registry));
}
