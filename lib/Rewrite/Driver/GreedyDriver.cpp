// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the same patterns under MLIR's greedy driver, for comparison and for pipelines that rely on that driver.

#include "Drivers.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace inlay;

namespace {
/// All patterns of a run as one MLIR pattern.
struct AllPatterns : RewritePattern {
  AllPatterns(PatternRun &run, MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context), run(run) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    run.getRewriter().setObserver(dyn_cast_or_null<RewriterBase::Listener>(rewriter.getListener()));
    if (run.tryPatterns(op) != PatternRun::Outcome::Rewritten)
      return rewriter.notifyMatchFailure(op, "no pattern matches");
    return success();
  }

  PatternRun &run;
};

/// Reports the ops that the greedy driver erases itself.
struct FreeingListener : RewriterBase::Listener {
  void notifyOperationErased(Operation *op) override { freeing(op); }

  std::function<void(Operation *)> freeing;
};
} // namespace

FailureOr<uint64_t> inlay::driveGreedy(PatternRun &run, Operation *root) {
  if (!root->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
    run.fail(root->getLoc(), "expected an op that is isolated from above for the greedy driver, but got '" +
                                 root->getName().getStringRef() + "'");
    return failure();
  }
  // The greedy driver also changes the graph on its own, so only a copy can restore it.
  OwningOpRef<Operation *> before(root->clone());
  root->walk([&](Operation *) { run.sawOp(); }); // Ops made by rewriting do not count, or the budget would grow with
                                                 // them.
  RewritePatternSet patterns(root->getContext());
  patterns.add<AllPatterns>(run, root->getContext());
  GreedyRewriteConfig config;
  FreeingListener listener;
  listener.freeing = run.getOptions().freeing;
  config.setListener(listener.freeing ? &listener : nullptr);
  config.setUseTopDownTraversal()
      .enableFolding(false)
      .enableConstantCSE(false)
      .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
      .setMaxIterations(GreedyRewriteConfig::kNoLimit);
  bool converged = succeeded(applyPatternsGreedily(root, std::move(patterns), config));
  run.getRewriter().setObserver(nullptr);
  run.getJournal().commit();
  if (!converged && !run.hasFailed())
    run.fail(root->getLoc(), "the greedy driver doesn't converge");
  if (!run.hasFailed())
    return run.getRewrites();
  if (listener.freeing)
    for (Region &region : root->getRegions())
      region.walk([&](Operation *op) { listener.freeing(op); });
  for (auto [now, then] : llvm::zip(root->getRegions(), (*before)->getRegions()))
    now.takeBody(then);
  return failure();
}
