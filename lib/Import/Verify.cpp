// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The final check of the Import phase.

#include "inlay/Import/Passes.h"
#include "inlay/Import/Weights.h"

namespace inlay {
#define GEN_PASS_DEF_IMPORTVERIFYPASS
#include "inlay/Import/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

namespace {
struct ImportVerifyPass : inlay::impl::ImportVerifyPassBase<ImportVerifyPass> {
  void runOnOperation() override {
    if (failed(verifyWeights(getOperation())))
      signalPassFailure();
  }
};
} // namespace
