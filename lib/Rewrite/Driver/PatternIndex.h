// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which patterns may match at an op. Names of ops at fixed places below the root are compared once for all patterns,
// in a tree with a branch per name, so that a thousand patterns which differ in a name cost about as much as one.
// What it gives is checked in full by the patterns; it never leaves one out that would match.

#ifndef INLAY_LIB_REWRITE_DRIVER_PATTERNINDEX_H
#define INLAY_LIB_REWRITE_DRIVER_PATTERNINDEX_H

#include "inlay/Rewrite/GraphPattern.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace inlay {

/// For roots of one name.
class RootIndex {
public:
  static constexpr unsigned kMaxPlaces = 64;

  /// A pattern by its number, with the names that it wants at places: paths of operand numbers from the root.
  struct Skeleton {
    unsigned pattern;
    std::vector<std::pair<std::vector<unsigned>, const void *>> names;
  };

  explicit RootIndex(std::vector<Skeleton> skeletons);

  /// Adds the numbers of the patterns that may match at `root`, in rising order, each once.
  void find(mlir::Operation *root, llvm::SmallVectorImpl<unsigned> &patterns) const;

  bool empty() const { return nodes.empty(); }

private:
  struct Place {
    unsigned parent, operand;
  };
  struct Node {
    unsigned place = 0;
    std::vector<std::pair<const void *, unsigned>> byName; ///< sorted: mostly one or two, sometimes hundreds
    int other = -1;                                        ///< for patterns that want nothing there
    llvm::SmallVector<unsigned, 2> patterns;
  };
  using Test = std::pair<unsigned, const void *>;       ///< of a place
  using Entry = std::pair<unsigned, std::vector<Test>>; ///< pattern, tests by rising place

  unsigned build(std::vector<Entry> entries);

  std::vector<Place> places; ///< number 0 is the root
  std::vector<Node> nodes;
};

class PatternIndex {
public:
  /// `patterns` in the order in which they are to be tried.
  explicit PatternIndex(std::vector<const GraphPattern *> patterns) : patterns(std::move(patterns)) {}

  /// The index for ops of that name; null if no pattern is for them.
  const RootIndex *lookup(mlir::OperationName name);

  llvm::ArrayRef<const GraphPattern *> getPatterns() const { return patterns; }

private:
  std::vector<const GraphPattern *> patterns;
  llvm::DenseMap<mlir::OperationName, std::unique_ptr<RootIndex>> roots;
};

} // namespace inlay

#endif // INLAY_LIB_REWRITE_DRIVER_PATTERNINDEX_H
