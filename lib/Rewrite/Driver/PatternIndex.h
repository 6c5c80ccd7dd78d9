// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An index of the patterns that may match at an op. It compares the names of ops at fixed positions below the root once
// for all patterns, in a decision tree with a branch per name. A thousand patterns that differ in one name thus cost
// about as much as one pattern. The index may return patterns that do not match, but it never misses one that does.

#ifndef INLAY_LIB_REWRITE_DRIVER_PATTERNINDEX_H
#define INLAY_LIB_REWRITE_DRIVER_PATTERNINDEX_H

#include "inlay/Rewrite/GraphPattern.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace inlay {

/// The index for roots of one name.
class RootIndex {
public:
  static constexpr unsigned kMaxPlaces = 64;

  /// The number of a pattern and the op names that it expects at fixed positions. A position is a path of operand
  /// numbers from the root.
  struct Skeleton {
    unsigned pattern;
    std::vector<std::pair<std::vector<unsigned>, const void *>> names;
  };

  explicit RootIndex(std::vector<Skeleton> skeletons);

  /// Adds the numbers of the patterns that may match at `root`, in increasing order and without duplicates.
  void find(mlir::Operation *root, llvm::SmallVectorImpl<unsigned> &patterns) const;

  bool empty() const { return nodes.empty(); }

private:
  struct Place {
    unsigned parent, operand;
  };
  struct Node {
    unsigned place = 0;
    /// Sorted by name. Most nodes have one or two children, some have hundreds.
    std::vector<std::pair<const void *, unsigned>> byName;
    /// Child for the patterns that expect no name at this place; -1 for none.
    int other = -1;
    llvm::SmallVector<unsigned, 2> patterns;
  };
  using Test = std::pair<unsigned, const void *>;       ///< A place and the name expected there.
  using Entry = std::pair<unsigned, std::vector<Test>>; ///< A pattern number and its tests, sorted by place.

  unsigned build(std::vector<Entry> entries);

  std::vector<Place> places; ///< Place 0 is the root.
  std::vector<Node> nodes;
};

class PatternIndex {
public:
  /// `patterns` must be in the order in which they are tried.
  explicit PatternIndex(std::vector<const GraphPattern *> patterns) : patterns(std::move(patterns)) {}

  /// Returns the index for ops of that name, or null if no pattern is for them.
  const RootIndex *lookup(mlir::OperationName name);

  llvm::ArrayRef<const GraphPattern *> getPatterns() const { return patterns; }

private:
  std::vector<const GraphPattern *> patterns;
  llvm::DenseMap<mlir::OperationName, std::unique_ptr<RootIndex>> roots;
};

} // namespace inlay

#endif // INLAY_LIB_REWRITE_DRIVER_PATTERNINDEX_H
