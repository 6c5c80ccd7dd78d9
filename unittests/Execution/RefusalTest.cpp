// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests an embedder's target that claims ops and then fails to convert them. The ops must run elsewhere, with the
// reason.

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Execution/Compile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

using namespace mlir;
using namespace inlay;

namespace {

std::atomic<int> asked, converted;

/// Strings as targets. "fickle" claims every op and converts like the host, except for `inlay.exp`, and for `inlay.sin`
/// in a segment with `inlay.abs`. "wreck" stops in the middle of the conversion of a segment.
struct Fickle : TargetAttrInterface::ExternalModel<Fickle, StringAttr> {
  StringRef getTargetName(Attribute attr) const { return cast<StringAttr>(attr).getValue(); }

  Verdict canRun(Attribute, Operation *) const {
    ++asked;
    return Verdict::supported();
  }

  LogicalResult convertSegment(Attribute attr, func::FuncOp segment) const {
    ++converted;
    bool sin = false, abs = false;
    for (Operation &op : segment.front()) {
      StringRef name = op.getName().getStringRef();
      sin |= name == "inlay.sin";
      abs |= name == "inlay.abs";
      if (name != "inlay.exp")
        continue;
      if (getTargetName(attr) == "wreck")
        segment.erase();
      else
        op.emitError("the exponent is too hard");
      return failure();
    }
    if (sin && abs)
      return segment.emitError("these two don't fit together");
    return host(attr).convertSegment(segment);
  }

  LogicalResult finishModule(Attribute attr, ModuleOp module) const { return host(attr).finishModule(module); }

private:
  static TargetAttrInterface host(Attribute attr) {
    return cast<TargetAttrInterface>(HostAttr::get(attr.getContext()));
  }
};

CompileRequest makeRequest(StringRef targets, StringRef ops) {
  CompileRequest request;
  request.text = ("module attributes {inlay.targets = [" + targets + "]} {\n" +
                  "func.func public @forward(%0: tensor<2xf32>) -> tensor<2xf32> {\n" + ops + "}\n}\n")
                     .str();
  request.name = "model.mlir";
  request.extend = [](DialectRegistry &registry) {
    registry.addExtension(+[](MLIRContext *context, InlayDialect *) { StringAttr::attachInterface<Fickle>(*context); });
  };
  return request;
}

std::string op(int number, StringRef name) {
  return ("%" + Twine(number) + " = inlay." + name + " %" + Twine(number - 1) +
          " : (tensor<2xf32>) -> tensor<2xf32> loc(\"" + name + "\")\n")
      .str();
}

constexpr const char *kReturn3 = "return %3 : tensor<2xf32>\n";

std::array<float, 2> call(rt::Program &program, float x) {
  std::array<float, 2> input{x, x}, output{};
  rt::Status status =
      program.call({{input.data(), rt::ElementType::F32, {2}}}, {{output.data(), rt::ElementType::F32, {2}}});
  EXPECT_TRUE(status.isOk()) << status.message();
  return output;
}

TEST(RefusalTest, WhatFailsToConvertRunsElsewhereAndSaysWhy) {
  auto compiled =
      compile(makeRequest("\"fickle\", #inlay.host", op(1, "neg") + op(2, "exp") + op(3, "abs") + kReturn3));
  ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
  EXPECT_EQ(call(*compiled->program, 0), (std::array<float, 2>{1, 1}));
  StringRef report = compiled->report;
  EXPECT_NE(report.find("\"text\": \"conversion failed: the exponent is too hard\""), StringRef::npos)
      << compiled->report;
  EXPECT_NE(report.find("\"host\": 1"), StringRef::npos) << compiled->report;
  EXPECT_NE(report.find("\"fickle\": 2"), StringRef::npos) << compiled->report;
}

TEST(RefusalTest, OfOpsThatFailOnlyTogetherTheLastGoes) {
  auto compiled =
      compile(makeRequest("\"fickle\", #inlay.host", op(1, "sin") + op(2, "neg") + op(3, "abs") + kReturn3));
  ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
  StringRef report = compiled->report;
  size_t at = report.find("\"label\": \"abs\"");
  ASSERT_NE(at, StringRef::npos);
  EXPECT_NE(report.substr(at).find("conversion failed: these two don't fit together"), StringRef::npos);
  EXPECT_EQ(report.count("conversion failed"), 1u) << compiled->report;
}

TEST(RefusalTest, ATargetMayLeaveItsSegmentInPieces) {
  auto compiled = compile(makeRequest("\"wreck\", #inlay.host", op(1, "neg") + op(2, "exp") + op(3, "abs") + kReturn3));
  ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
  EXPECT_NE(compiled->report.find("conversion failed: the target gave no reason"), std::string::npos);
}

TEST(RefusalTest, SaysWhyNobodyIsLeft) {
  auto compiled = compile(makeRequest("\"fickle\"", op(1, "neg") + op(2, "exp") + op(3, "abs") + kReturn3));
  ASSERT_FALSE(compiled.isOk());
  std::string message = compiled.status().message();
  EXPECT_NE(message.find("error: no target can run 'inlay.exp'"), std::string::npos) << message;
  EXPECT_NE(message.find("note: 'fickle': conversion failed: the exponent is too hard"), std::string::npos) << message;
}

TEST(RefusalTest, ConversionsAreFewAmongManyOps) {
  std::string ops;
  for (int i = 1; i <= 64; ++i)
    ops += op(i, i == 40 ? "exp" : "neg");
  converted = 0;
  auto compiled = compile(makeRequest("\"fickle\", #inlay.host", ops + "return %64 : tensor<2xf32>\n"));
  ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
  EXPECT_LE(converted, 1 + 1 + 2 * 6 + 2); // The segment, its bisection, and the two remaining segments.
}

TEST(RefusalTest, TargetsAreAskedOncePerDistinctOp) {
  auto count = [](int ops) {
    std::string text;
    for (int i = 1; i <= ops; ++i)
      text += op(i, i % 2 ? "neg" : "abs");
    asked = 0;
    CompileRequest request =
        makeRequest("\"fickle\", #inlay.host", text + "return %" + std::to_string(ops) + " : tensor<2xf32>\n");
    EXPECT_TRUE(partition(request).isOk());
    return asked.load();
  };
  EXPECT_EQ(count(10), count(1000));
  EXPECT_EQ(count(10), 2); // There are two kinds of ops. canRun is called once for each across all passes.
}

} // namespace
