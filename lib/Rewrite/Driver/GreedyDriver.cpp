// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same patterns under upstream's greedy driver: to compare with, and for pipelines that rely on what it does.

#include "Drivers.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace inlay;

namespace {
/// All patterns as one of upstream's.
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

/// Tells of the ops that upstream's driver erases itself.
struct FreeingListener : RewriterBase::Listener {
  void notifyOperationErased(Operation *op) override { freeing(op); }

  std::function<void(Operation *)> freeing;
};
} // namespace

FailureOr<uint64_t> inlay::driveGreedy(PatternRun &run, Operation *root) {
  if (!root->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
    run.fail(root->getLoc(), "expected an op that uses nothing from around it for the greedy driver, but got '" +
                                 root->getName().getStringRef() + "'");
    return failure();
  }
  // Upstream's driver also changes the graph on its own, so that only a copy can bring it back.
  OwningOpRef<Operation *> before(root->clone());
  root->walk([&](Operation *) { run.sawOp(); }); // not those that rewriting makes, else the budget grows with them
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
    run.fail(root->getLoc(), "the greedy driver doesn't come to an end");
  if (!run.hasFailed())
    return run.getRewrites();
  if (listener.freeing)
    for (Region &region : root->getRegions())
      region.walk([&](Operation *op) { listener.freeing(op); });
  for (auto [now, then] : llvm::zip(root->getRegions(), (*before)->getRegions()))
    now.takeBody(then);
  return failure();
}
