// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Dialect/Inlay/IR/Inference.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

#include <limits>

using namespace mlir;
using namespace inlay;

namespace {

constexpr int64_t kDynamic = ShapedType::kDynamic;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(BroadcastDim, FollowsNumPy) {
  EXPECT_EQ(broadcastDim(3, 3), 3);
  EXPECT_EQ(broadcastDim(1, 3), 3);
  EXPECT_EQ(broadcastDim(3, 1), 3);
  EXPECT_EQ(broadcastDim(0, 1), 0);
  EXPECT_EQ(broadcastDim(2, 3), std::nullopt);
  EXPECT_EQ(broadcastDim(0, 3), std::nullopt);
}

TEST(BroadcastDim, AKnownSizeBesideAnUnknownOneWinsUnlessItIsOne) {
  EXPECT_EQ(broadcastDim(kDynamic, 3), 3);
  EXPECT_EQ(broadcastDim(3, kDynamic), 3);
  EXPECT_EQ(broadcastDim(kDynamic, 1), kDynamic);
  EXPECT_EQ(broadcastDim(1, kDynamic), kDynamic);
  EXPECT_EQ(broadcastDim(kDynamic, kDynamic), kDynamic);
}

TEST(NormalizeDim, CountsFromTheBackAndRefusesWhatIsOutside) {
  EXPECT_EQ(normalizeDim(0, 2), 0);
  EXPECT_EQ(normalizeDim(-1, 2), 1);
  EXPECT_EQ(normalizeDim(-2, 2), 0);
  EXPECT_EQ(normalizeDim(2, 2), std::nullopt);
  EXPECT_EQ(normalizeDim(-3, 2), std::nullopt);
  EXPECT_EQ(normalizeDim(0, 0), std::nullopt);
  EXPECT_EQ(normalizeDim(kMin, 2), std::nullopt);
  EXPECT_EQ(normalizeDim(kMax, 2), std::nullopt);
}

TEST(GetSliceBounds, ClampsAsPyTorchDoes) {
  using Bounds = std::pair<int64_t, int64_t>;
  EXPECT_EQ(getSliceBounds(0, kMax, 4), Bounds(0, 4));
  EXPECT_EQ(getSliceBounds(-2, 4, 4), Bounds(2, 4));
  EXPECT_EQ(getSliceBounds(1, -1, 4), Bounds(1, 3));
  EXPECT_EQ(getSliceBounds(-9, 2, 4), Bounds(0, 2));
  EXPECT_EQ(getSliceBounds(3, 1, 4), Bounds(3, 3));
  EXPECT_EQ(getSliceBounds(9, 12, 4), Bounds(4, 4));
  EXPECT_EQ(getSliceBounds(kMin, kMin, 4), Bounds(0, 0));
  EXPECT_EQ(getSliceBounds(0, 1, 0), Bounds(0, 0));
}

class Inference : public testing::Test {
protected:
  Inference() : builder(&context) { context.loadDialect<InlayDialect>(); }

  Type tensor(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getF32Type()); }

  /// Returns a value of the type, in a block of the fixture.
  Value value(Type type) { return block.addArgument(type, builder.getUnknownLoc()); }

  MLIRContext context;
  Builder builder;
  Block block;
  SmallVector<Type> types;
};

TEST_F(Inference, MakeTensorTypeRefusesWhatDoesNotFit) {
  Type f32 = builder.getF32Type();
  EXPECT_TRUE(succeeded(makeTensorType(std::nullopt, "test", {kMax}, f32)));
  EXPECT_TRUE(succeeded(makeTensorType(std::nullopt, "test", {kMax, kDynamic}, f32)));
  EXPECT_TRUE(succeeded(makeTensorType(std::nullopt, "test", {}, f32)));
  EXPECT_TRUE(failed(makeTensorType(std::nullopt, "test", {kMax, 2}, f32)));
  EXPECT_TRUE(failed(makeTensorType(std::nullopt, "test", {-1}, f32)));
}

TEST_F(Inference, RefinementsKnowMoreOrFewerDims) {
  EXPECT_TRUE(areRefinements(tensor({2, 3}), tensor({kDynamic, 3})));
  EXPECT_TRUE(areRefinements(tensor({kDynamic, 3}), tensor({2, kDynamic})));
  EXPECT_FALSE(areRefinements(tensor({2, 3}), tensor({2, 4})));
  EXPECT_FALSE(areRefinements(tensor({2, 3}), tensor({2, 3, 1})));
  EXPECT_FALSE(areRefinements(tensor({2}), RankedTensorType::get({2}, builder.getF64Type())));
  EXPECT_FALSE(areRefinements(TypeRange(), tensor({2})));
  EXPECT_TRUE(areRefinements(builder.getI64Type(), builder.getI64Type()));
  EXPECT_FALSE(areRefinements(builder.getI64Type(), builder.getI32Type()));
}

TEST_F(Inference, PointwiseAlignsAtTheBack) {
  Value operands[] = {value(tensor({5, 1, kDynamic})), value(tensor({4, 1})), value(tensor({}))};
  ASSERT_TRUE(succeeded(inferPointwise(std::nullopt, "test", operands, types)));
  EXPECT_EQ(types, SmallVector<Type>{tensor({5, 4, kDynamic})});
}

TEST_F(Inference, ReductionKeepsDimsIfAsked) {
  Value input = value(tensor({2, 3, kDynamic}));
  ASSERT_TRUE(succeeded(inferReduction(std::nullopt, "test", input, {-1, 0}, /*keepdim=*/true, types)));
  ASSERT_TRUE(succeeded(inferReduction(std::nullopt, "test", input, {-1, 0}, /*keepdim=*/false, types)));
  EXPECT_EQ(types, (SmallVector<Type>{tensor({1, 3, 1}), tensor({3})}));
}

TEST_F(Inference, NothingIsInferredWhereInferenceFails) {
  Value operands[] = {value(tensor({2})), value(tensor({3}))};
  EXPECT_TRUE(failed(inferPointwise(std::nullopt, "test", operands, types)));
  EXPECT_TRUE(failed(inferReduction(std::nullopt, "test", operands[0], {1}, /*keepdim=*/false, types)));
  EXPECT_TRUE(types.empty());
}

} // namespace
