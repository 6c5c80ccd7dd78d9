// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-opt: every upstream dialect and pass plus Inlay's.

#include "inlay/Execution/HostRunner.h"
#include "inlay/Pipeline/InitAll.h"
#include "inlay/Rewrite/RewriteLimit.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

static llvm::cl::opt<int64_t>
    rewriteLimit("inlay-rewrite-limit", llvm::cl::desc("At most so many rewrites by all passes; -1 for no limit"),
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
