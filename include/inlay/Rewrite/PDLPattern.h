// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns in MLIR's pattern language, PDL. They are compiled to match programs of Inlay (decision 0009). Unlike MLIR's
// PDL interpreter, match programs keep the labels and explain failed matches. They also differ from it in what they
// match: an inner result must have no users outside the match, commutative ops match in either order, ranges may occur
// at any position among the operands, regions and attributes are kept, and a pattern with several results is found from
// one root. docs/guide/rewrite.md describes how to write patterns.

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

  /// Returns the pattern's symbol name, or "pattern" and its number if it has none.
  llvm::StringRef getName() const { return name; }

  /// Returns the text of this pattern alone, as MLIR prints it.
  std::string getText() const;

  /// Returns the location of the pattern in its text.
  mlir::Location getLoc() const;

  /// Returns the names of the arguments of a run that the pattern reads.
  llvm::ArrayRef<std::string> getArgNames() const;

  /// Returns true if the pattern is marked `finite`: it holds for finite numbers only, like many algebraic rules.
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

/// Reads all patterns of a PDL text. Emits diagnostics with locations in the text. `functions` must outlive the
/// patterns.
mlir::FailureOr<std::vector<std::unique_ptr<PDLPattern>>>
readPDL(llvm::StringRef text, llvm::StringRef textName, mlir::MLIRContext *context, const NativeFunctions &functions);

} // namespace inlay

#endif // INLAY_REWRITE_PDLPATTERN_H
