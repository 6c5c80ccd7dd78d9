// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns written in MLIR's pattern language, PDL. They are compiled to steps of our own (decision 0010), which keeps
// labels, explains what didn't match, and closes the gaps of upstream's interpreter: inner results are used by the
// match alone, commutative ops match in either order, lists may stand anywhere among operands, regions and attributes
// aren't lost, and a pattern with several results is found from one root. docs/guide/rewrite.md says how to write them.

#ifndef INLAY_REWRITE_PDLPATTERN_H
#define INLAY_REWRITE_PDLPATTERN_H

#include "inlay/Rewrite/GraphPattern.h"
#include "inlay/Rewrite/NativeFunctions.h"

#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace inlay {

struct CompiledPattern;

class PDLPattern : public GraphPattern {
public:
  PDLPattern(std::string name, unsigned benefit, RootSet roots, std::shared_ptr<const CompiledPattern> compiled);
  ~PDLPattern() override;

  /// The pattern's symbol name; "pattern" and its number if it has none.
  llvm::StringRef getName() const { return name; }

  /// The pattern alone, as MLIR prints it.
  std::string getText() const;

  /// Where the pattern is written.
  mlir::Location getLoc() const;

  /// Names of the run's arguments that it asks for.
  llvm::ArrayRef<std::string> getArgNames() const;

  /// True if it says that it holds for finite numbers alone (`finite`), as rules of algebra often do.
  bool isForFiniteNumbers() const;

  const CompiledPattern &getCompiled() const { return *compiled; }
  const PDLPattern *asPDL() const override { return this; }

  mlir::LogicalResult match(mlir::Operation *op, Match &match, const MatchContext &context) const override;
  mlir::LogicalResult matchAndRewrite(mlir::Operation *op, GraphRewriter &rewriter,
                                      const MatchContext &context) const override;

private:
  std::string name;
  std::shared_ptr<const CompiledPattern> compiled;
};

/// Reads all patterns of a PDL text; emits diagnostics with places in it. `functions` must outlive the patterns.
mlir::FailureOr<std::vector<std::unique_ptr<PDLPattern>>>
readPDL(llvm::StringRef text, llvm::StringRef textName, mlir::MLIRContext *context, const NativeFunctions &functions);

} // namespace inlay

#endif // INLAY_REWRITE_PDLPATTERN_H
