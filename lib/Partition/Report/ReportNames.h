// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of ops in reports, one line each: `%act : tensor<4xf32> = inlay.relu(%fc)`. A value is named after the label
// of the op that makes it, and keeps its name across the borders of segments.

#ifndef INLAY_LIB_PARTITION_REPORT_REPORTNAMES_H
#define INLAY_LIB_PARTITION_REPORT_REPORTNAMES_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace inlay {

/// Returns the value that `value` stands for, seen through the borders of segments. It is not an argument or result of
/// a segment.
mlir::Value lookThroughSegments(mlir::Value value);

/// Returns the number of a generated label `prefix#number`, which ops without a name have. Returns an empty string for
/// other labels.
llvm::StringRef getNumberOfLabel(llvm::StringRef label, llvm::StringRef prefix);

class ReportNames {
public:
  explicit ReportNames(mlir::FunctionOpInterface function);

  /// Prints the name of a value, such as `%fc` or `%split#1`. Different values of the function have different names.
  void print(llvm::raw_ostream &os, mlir::Value value) const;
  /// Prints names as `%a, %b`, or with types as `%a : tensor<4xf32>, %b : i1`.
  void print(llvm::raw_ostream &os, mlir::ValueRange values, bool types) const;
  /// Prints the line of an op without its regions and without a newline.
  void print(llvm::raw_ostream &os, mlir::Operation *op) const;

private:
  void nameResults(mlir::Operation *op);
  void nameArguments(mlir::Block &block, llvm::StringRef prefix);
  std::string makeUnique(std::string name);

  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> repeated; ///< Number of repetitions of each name.
  llvm::DenseMap<mlir::Operation *, std::string> ops;
  llvm::DenseMap<mlir::Value, std::string> arguments;
  /// Clones have the name of their original: an op is found by its label, a constant by its label and attributes.
  llvm::StringMap<std::string> originals;
  llvm::DenseMap<std::pair<const void *, const void *>, std::string> constants;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_REPORT_REPORTNAMES_H
