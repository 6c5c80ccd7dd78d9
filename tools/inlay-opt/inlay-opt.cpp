// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-opt: the optimizer driver with all dialects and passes of MLIR and Inlay.

#include "inlay/Execution/HostRunner.h"
#include "inlay/Pipeline/InitAll.h"
#include "inlay/Rewrite/RewriteLimit.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

static llvm::cl::opt<int64_t>
    rewriteLimit("inlay-rewrite-limit",
                 llvm::cl::desc("Maximum number of rewrites of all passes together; -1 for no limit"),
                 llvm::cl::init(-1), llvm::cl::callback([](const int64_t &count) { inlay::limitRewrites(count); }));

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
