// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Partition/Cost/ModuleCosts.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace inlay;

namespace {
/// A target of an embedder that computes the costs of ops itself.
struct OwnTarget : TargetAttrInterface::ExternalModel<OwnTarget, HostAttr> {
  StringRef getTargetName(Attribute) const { return "host"; }
  Verdict canRun(Attribute, Operation *) const { return Verdict::supported(); }
  LogicalResult convertSegment(Attribute, func::FuncOp) const { return failure(); }
  TargetCosts getCosts(Attribute) const {
    TargetCosts costs = getDefaultCosts(DeviceKind::HostCpu);
    costs.launchSeconds = 7;
    return costs;
  }
  std::optional<double> estimateSeconds(Attribute, Operation *op, const TargetCosts &costs) const {
    return isa<ReluOp>(op) ? std::optional(3 * costs.launchSeconds) : std::nullopt;
  }
};
} // namespace

TEST(CostModel, WritesWhatItReads) {
  CostModel model;
  model.about = "a \"device\"";
  model.targets = {{"host", getDefaultCosts(DeviceKind::HostCpu)},
                   {"vulkan/software", getDefaultCosts(DeviceKind::SoftwareVulkan)}};
  llvm::Expected<CostModel> read = parseCostModel(formatCostModel(model), "text");
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->about, model.about);
  ASSERT_EQ(read->targets.size(), 2u);
  for (auto [expected, actual] : llvm::zip(model.targets, read->targets)) {
    EXPECT_EQ(actual.first, expected.first);
    EXPECT_EQ(actual.second.throughput, expected.second.throughput);
    EXPECT_EQ(actual.second.opSeconds, expected.second.opSeconds);
    EXPECT_EQ(actual.second.launchSeconds, expected.second.launchSeconds);
    EXPECT_EQ(actual.second.in.bytesPerSecond, expected.second.in.bytesPerSecond);
    EXPECT_EQ(actual.second.out.seconds, expected.second.out.seconds);
  }
}

TEST(CostModel, TargetsMayAnswerForThemselves) {
  MLIRContext context;
  context.loadDialect<InlayDialect, func::FuncDialect>();
  HostAttr::attachInterface<OwnTarget>(context);
  auto module = parseSourceString<ModuleOp>(R"(
    module attributes {inlay.targets = [#inlay.host]} {
      func.func @f(%x: tensor<5000xf32>) -> tensor<5000xf32> {
        %0 = inlay.relu %x : (tensor<5000xf32>) -> tensor<5000xf32>
        %1 = inlay.exp %0 : (tensor<5000xf32>) -> tensor<5000xf32>
        return %1 : tensor<5000xf32>
      }
    })",
                                            ParserConfig(&context));
  ASSERT_TRUE(bool(module));
  FailureOr<TargetList> targets = TargetList::get(*module);
  ASSERT_TRUE(succeeded(targets));
  ModuleCosts costs = ModuleCosts::getDefault(*targets);
  EXPECT_EQ(costs.of(0).launchSeconds, 7);
  Block &body = (*module->getOps<func::FuncOp>().begin()).front();
  EXPECT_EQ(costs.estimate(&body.front(), 0), 21);
  double bytes = 40000 / costs.of(0).getThroughput(WorkKind::Elementwise);
  EXPECT_DOUBLE_EQ(costs.estimate(body.front().getNextNode(), 0), costs.of(0).opSeconds + bytes);
}

TEST(TargetCosts, WritesTimesWithThreeDigits) {
  std::pair<double, const char *> times[] = {{0, "0 ns"},           {9.994e-7, "999 ns"},  {9.996e-7, "1.00 us"},
                                             {1.234e-5, "12.3 us"}, {9.9951e-5, "100 us"}, {0.5, "500 ms"},
                                             {1234, "1234 s"}};
  for (auto [seconds, text] : times)
    EXPECT_EQ(formatSeconds(seconds), text);
}
