// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the C functions in the way that a caller without C++ uses them.

#include "inlay-c/Rewrite.h"
#include "inlay/Pipeline/InitAll.h"

#include "mlir/CAPI/IR.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace {
const char *const kPattern = R"(pdl.pattern @a_to_b : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %op = pdl.operation "t.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.b"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
})";

MlirStringRef str(const char *text) { return {text, std::strlen(text)}; }

class CRewriteTest : public ::testing::Test {
protected:
  CRewriteTest() {
    mlir::DialectRegistry registry;
    inlay::registerAll(registry);
    context.appendDialectRegistry(registry);
    context.allowUnregisteredDialects();
    module = mlir::parseSourceString<mlir::ModuleOp>(R"(func.func @f(%x: f32) -> f32 {
      %0 = "t.a"(%x) : (f32) -> f32
      %1 = "t.twice"(%0, %x) : (f32, f32) -> f32
      return %1 : f32
    })",
                                                     &context);
    manager = inlayPatternManagerCreate();
  }
  ~CRewriteTest() override { inlayPatternManagerDestroy(manager); }

  static void append(MlirStringRef text, void *userData) {
    static_cast<std::string *>(userData)->append(text.data, text.length);
  }

  bool has(llvm::StringRef name) {
    bool found = false;
    module->walk([&](mlir::Operation *op) { found |= op->getName().getStringRef() == name; });
    return found;
  }

  MlirOperation root() { return wrap(module->getOperation()); }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  InlayPatternManager manager;
  InlayRewriteOptions options{{nullptr}, InlayRewriteDriverFixpoint, -1};
};

TEST_F(CRewriteTest, PDL) {
  std::string error;
  ASSERT_TRUE(mlirLogicalResultIsSuccess(
      inlayPatternManagerAddPDL(manager, wrap(&context), str(kPattern), str("p"), append, &error)));
  EXPECT_TRUE(mlirLogicalResultIsFailure(
      inlayPatternManagerAddPDL(manager, wrap(&context), str(kPattern), str("p"), append, &error)));
  EXPECT_NE(error.find("labeled 'a_to_b' already"), std::string::npos);
  EXPECT_TRUE(inlayPatternManagerHas(manager, str("a_to_b")));
  std::string text;
  EXPECT_TRUE(
      mlirLogicalResultIsSuccess(inlayPatternManagerExplain(manager, str("a_to_b"), root(), {nullptr}, append, &text)));
  EXPECT_NE(text.find("matches at 1 places"), std::string::npos);
  unsigned found = 0;
  auto count = [](MlirStringRef, MlirOperation, void *userData) { return ++*static_cast<unsigned *>(userData), true; };
  EXPECT_TRUE(mlirLogicalResultIsSuccess(inlayPatternManagerAnalyze(manager, root(), {nullptr}, count, &found)));
  EXPECT_EQ(found, 1u);
  EXPECT_EQ(inlayPatternManagerSetEnabled(manager, str("a_*"), false), 1);
  EXPECT_EQ(inlayPatternManagerSetEnabled(manager, str("["), false), -1);
  EXPECT_EQ(inlayPatternManagerRewrite(manager, root(), options), 0);
  EXPECT_EQ(inlayPatternManagerSetEnabled(manager, str("*"), true), 1);
  EXPECT_EQ(inlayPatternManagerRewrite(manager, root(), options), 1);
  EXPECT_EQ(inlayPatternManagerGetStatistics(manager, str("a_to_b")).rewritten, 1u);
  EXPECT_TRUE(has("t.b"));
  EXPECT_TRUE(inlayPatternManagerRemove(manager, str("a_to_b")));
  EXPECT_FALSE(inlayPatternManagerHas(manager, str("a_to_b")));
}

TEST_F(CRewriteTest, Callbacks) {
  unsigned destroyed = 0;
  MlirStringRef name = str("t.twice");
  InlayPatternCallbacks callbacks{
      [](MlirOperation op, MlirAttribute, void *) { return unwrap(op)->getNumOperands() == 2; },
      [](MlirOperation op, InlayRewriter rewriter, void *) {
        MlirValue value = wrap(unwrap(op)->getOperand(0));
        inlayRewriterReplace(rewriter, op, 1, &value);
        return true;
      },
      [](void *userData) { ++*static_cast<unsigned *>(userData); }};
  ASSERT_TRUE(mlirLogicalResultIsSuccess(
      inlayPatternManagerAdd(manager, str("first"), 1, &name, 1, callbacks, &destroyed, nullptr, nullptr)));
  EXPECT_EQ(inlayPatternManagerRewrite(manager, root(), options), 1);
  EXPECT_FALSE(has("t.twice"));
  EXPECT_TRUE(inlayPatternManagerRemove(manager, str("first")));
  EXPECT_EQ(destroyed, 1u);
}

TEST_F(CRewriteTest, WhatGoesWrongIsUndone) {
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  MlirStringRef name = str("t.a");
  InlayPatternCallbacks callbacks{nullptr,
                                  [](MlirOperation op, InlayRewriter rewriter, void *) {
                                    inlayRewriterSetOperand(rewriter, op, 0, wrap(unwrap(op)->getOperand(0)));
                                    inlayRewriterErase(rewriter, op); // still used
                                    return true;
                                  },
                                  nullptr};
  ASSERT_TRUE(mlirLogicalResultIsSuccess(
      inlayPatternManagerAdd(manager, str("bad"), 1, &name, 1, callbacks, nullptr, nullptr, nullptr)));
  EXPECT_EQ(inlayPatternManagerRewrite(manager, root(), options), -1);
  EXPECT_TRUE(has("t.a"));
}
} // namespace
