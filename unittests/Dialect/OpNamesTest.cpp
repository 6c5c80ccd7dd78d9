// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace inlay;

namespace {

class OpNames : public testing::Test {
protected:
  OpNames() { context.loadDialect<InlayDialect, func::FuncDialect>(); }

  /// Parses `text`, with the operands %x and %y, and returns its only op that is not a terminator.
  Operation *parse(StringRef text) {
    std::string source = ("func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) {\n" + text + "\nreturn }").str();
    module = parseSourceString<ModuleOp>(source, &context);
    return module ? &(*module->getOps<func::FuncOp>().begin()).front().front() : nullptr;
  }

  Operation *parseOpaque(StringRef name) {
    return parse(("inlay.opaque \"" + name + "\"(%x) : (tensor<2xf32>) -> ()").str());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr StringLiteral kAdd = "%0 = inlay.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>";
constexpr StringLiteral kRelu = "%0 = inlay.relu %x : (tensor<2xf32>) -> tensor<2xf32>";

TEST_F(OpNames, ReportsSayTheFrameworksName) {
  EXPECT_EQ(getReportedName(parse(kAdd)), "inlay.add");
  EXPECT_EQ(getReportedName(parseOpaque("aten::lgamma")), "aten::lgamma");
  EXPECT_EQ(getReportedName(parse("inlay.plugin \"my_kernel\"(%x) : (tensor<2xf32>) -> ()")), "my_kernel");
}

TEST_F(OpNames, GraphOpsMatchTheirOwnNameAndAnyAtenSpelling) {
  Operation *add = parse(kAdd);
  for (StringRef name : {"inlay.add", "aten::add", "aten.add", "aten::add.Tensor", "aten.add.Tensor", "aten.add.Scalar",
                         "aten.add.default", "aten::add.default"})
    EXPECT_TRUE(matchesName(add, name)) << name.str();
  for (StringRef name : {"", "add", "inlay.sub", "aten::sub", "aten::add_", "aten::add.out", "prims::add",
                         "aten::", "aten.add.Tensor.x", "inlay::add.Tensor"})
    EXPECT_FALSE(matchesName(add, name)) << name.str();
}

TEST_F(OpNames, AnOverloadLeftOutIsTheDefaultOne) {
  Operation *relu = parse(kRelu);
  EXPECT_TRUE(matchesName(relu, "aten::relu"));
  EXPECT_TRUE(matchesName(relu, "aten.relu.default"));
  EXPECT_FALSE(matchesName(relu, "aten.relu.out"));
}

TEST_F(OpNames, OpaqueOpsMatchWithOrWithoutOverload) {
  Operation *add = parseOpaque("aten::add.Tensor");
  for (StringRef name : {"aten::add.Tensor", "aten.add.Tensor", "aten::add", "aten.add", "inlay.opaque"})
    EXPECT_TRUE(matchesName(add, name)) << name.str();
  for (StringRef name : {"aten::add.Scalar", "aten.add.default", "torchvision::add", "add", "aten::ad"})
    EXPECT_FALSE(matchesName(add, name)) << name.str();

  Operation *sort = parseOpaque("aten::sort");
  EXPECT_TRUE(matchesName(sort, "aten.sort.default"));
  EXPECT_FALSE(matchesName(sort, "aten.sort.stable"));
  EXPECT_TRUE(matchesName(parseOpaque("aten.sort.default"), "aten::sort"));
}

TEST_F(OpNames, PluginsMatchTheirName) {
  Operation *plugin = parse("inlay.plugin \"my_kernel\"(%x) : (tensor<2xf32>) -> ()");
  EXPECT_TRUE(matchesName(plugin, "my_kernel"));
  EXPECT_TRUE(matchesName(plugin, "inlay.plugin"));
  EXPECT_FALSE(matchesName(plugin, "my_other_kernel"));
}

TEST_F(OpNames, OtherDialectsMatchTheirOpName) {
  Operation *call = parse("func.call @f(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> ()");
  EXPECT_TRUE(matchesName(call, "func.call"));
  EXPECT_FALSE(matchesName(call, "aten::call"));
}

TEST_F(OpNames, LabelsComeFromNameLocations) {
  Builder builder(&context);
  Location file = FileLineColLoc::get(&context, "a.py", 1, 2);
  Location name = NameLoc::get(builder.getStringAttr("layer1.conv"), file);
  EXPECT_EQ(getLocationName(name), "layer1.conv");
  EXPECT_EQ(getLocationName(file), "");
  EXPECT_EQ(getLocationName(FusedLoc::get(&context, {file, name})), "layer1.conv");
  EXPECT_EQ(getLocationName(FusedLoc::get({name}, builder.getStringAttr("metadata"), &context)), "layer1.conv");
  EXPECT_EQ(getLocationName(CallSiteLoc::get(name, file)), "layer1.conv");
  EXPECT_EQ(getLocationName(UnknownLoc::get(&context)), "");
}

} // namespace
