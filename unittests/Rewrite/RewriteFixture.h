// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fixture with a context that accepts Inlay's ops and unregistered ops, and that parses modules.

#ifndef INLAY_UNITTESTS_REWRITE_REWRITEFIXTURE_H
#define INLAY_UNITTESTS_REWRITE_REWRITEFIXTURE_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Rewrite/RewritePatternManager.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace inlay {

class RewriteFixture : public ::testing::Test {
protected:
  RewriteFixture() {
    context.loadDialect<InlayDialect, mlir::func::FuncDialect>();
    context.allowUnregisteredDialects();
    context.disableMultithreading();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return module;
  }

  /// Parses a function with the given body. In it, `!t` is tensor<4xf32>, and `%x` and `%y` are its arguments.
  mlir::OwningOpRef<mlir::ModuleOp> parseBody(const std::string &body, const std::string &result = "") {
    std::string end = result.empty() ? "return" : "return " + result + " : !t";
    return parse("!t = tensor<4xf32>\nfunc.func @f(%x: !t, %y: !t)" + std::string(result.empty() ? "" : " -> !t") +
                 " {\n" + body + "\n" + end + "\n}\n");
  }

  static std::string print(mlir::Operation *op) {
    std::string text;
    llvm::raw_string_ostream(text) << *op;
    return text;
  }

  static mlir::Operation *find(mlir::ModuleOp module, llvm::StringRef name) {
    mlir::Operation *found = nullptr;
    module.walk([&](mlir::Operation *op) {
      if (op->getName().getStringRef() == name)
        found = op;
    });
    return found;
  }

  static unsigned count(mlir::ModuleOp module, llvm::StringRef name) {
    unsigned number = 0;
    module.walk([&](mlir::Operation *op) { number += op->getName().getStringRef() == name; });
    return number;
  }

  /// Returns the PDL of a pattern that replaces `from`(x) by `to`(x).
  static std::string rename(const std::string &label, const std::string &from, const std::string &to,
                            unsigned benefit = 1) {
    return "pdl.pattern @" + label + " : benefit(" + std::to_string(benefit) +
           ") {\n  %x = pdl.operand\n  %t = pdl.type\n  %op = pdl.operation \"" + from +
           "\"(%x : !pdl.value) -> (%t : !pdl.type)\n  pdl.rewrite %op {\n    %new = pdl.operation \"" + to +
           "\"(%x : !pdl.value) -> (%t : !pdl.type)\n    pdl.replace %op with %new\n  }\n}\n";
  }

  void add(PatternManager &manager, const std::string &pdl) {
    llvm::Error error = manager.addPDL(pdl, "patterns.pdl", &context);
    EXPECT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
  }

  /// Returns the diagnostics of a run that fails.
  std::string rewriteError(RewritePatternManager &manager, mlir::ModuleOp module, const RewriteOptions &options = {}) {
    std::string text;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      text += diagnostic.str();
      return mlir::success();
    });
    EXPECT_TRUE(failed(manager.rewrite(module, options)));
    return text;
  }

  mlir::MLIRContext context;
};

} // namespace inlay

#endif // INLAY_UNITTESTS_REWRITE_REWRITEFIXTURE_H
