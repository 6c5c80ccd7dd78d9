// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of a partitioned function as reports print them, a line each: `%act : tensor<4xf32> = inlay.relu(%fc)`. A value
// goes by the label of the op that makes it and keeps its name across the borders of segments.

#ifndef INLAY_LIB_PARTITION_REPORT_REPORTNAMES_H
#define INLAY_LIB_PARTITION_REPORT_REPORTNAMES_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace inlay {

/// The value that `value` stands for, seen through the borders of segments; no argument or result of a segment.
mlir::Value lookThroughSegments(mlir::Value value);

/// `prefix#number` labels are made up for ops without a name. Empty for any other.
llvm::StringRef getNumberOfLabel(llvm::StringRef label, llvm::StringRef prefix);

class ReportNames {
public:
  explicit ReportNames(mlir::FunctionOpInterface function);

  /// `%fc`, `%split#1`; every value of the function that is not the same has another.
  void print(llvm::raw_ostream &os, mlir::Value value) const;
  /// `%a, %b`, with types `%a : tensor<4xf32>, %b : i1`.
  void print(llvm::raw_ostream &os, mlir::ValueRange values, bool types) const;
  /// The op's line, without its regions and its end.
  void print(llvm::raw_ostream &os, mlir::Operation *op) const;

private:
  void nameResults(mlir::Operation *op);
  void nameArguments(mlir::Block &block, llvm::StringRef prefix);
  std::string makeUnique(std::string name);

  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> repeated; ///< how often a name was asked for
  llvm::DenseMap<mlir::Operation *, std::string> ops;
  llvm::DenseMap<mlir::Value, std::string> arguments;
  /// Copies have the name of what they are copies of: an op by its label, a constant by its label and attributes.
  llvm::StringMap<std::string> originals;
  llvm::DenseMap<std::pair<const void *, const void *>, std::string> constants;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_REPORT_REPORTNAMES_H
