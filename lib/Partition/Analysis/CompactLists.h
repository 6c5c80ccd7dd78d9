// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many short lists, stored one after the other in one array. This keeps graphs of a million ops small.

#ifndef INLAY_LIB_PARTITION_ANALYSIS_COMPACTLISTS_H
#define INLAY_LIB_PARTITION_ANALYSIS_COMPACTLISTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <vector>

namespace inlay {

/// Lists of `T` by number. They are filled one after the other, or made by `group`.
template <typename T>
class CompactLists {
public:
  unsigned size() const { return static_cast<unsigned>(start.size() - 1); }
  llvm::ArrayRef<T> operator[](unsigned number) const {
    return llvm::ArrayRef(items).slice(start[number], start[number + 1] - start[number]);
  }

  unsigned itemCount() const { return static_cast<unsigned>(items.size()); }
  void reserve(size_t lists, size_t itemCount) {
    start.reserve(lists + 1);
    items.reserve(itemCount);
  }
  /// Appends to the current list.
  void add(T item) { items.push_back(std::move(item)); }
  /// Ends the current list and starts the next one.
  void end() { start.push_back(static_cast<unsigned>(items.size())); }

  /// Returns `count` lists: list i holds the second elements of the pairs whose first element is i, sorted and without
  /// duplicates.
  static CompactLists group(unsigned count, llvm::ArrayRef<std::pair<unsigned, T>> pairs) {
    CompactLists result;
    result.reserve(count, pairs.size());
    std::vector<unsigned> next(count + 1);
    for (const auto &[number, item] : pairs)
      ++next[number + 1];
    for (unsigned number = 0; number < count; ++number)
      next[number + 1] += next[number];
    std::vector<unsigned> first = next;
    std::vector<T> items(pairs.size());
    for (const auto &[number, item] : pairs)
      items[next[number]++] = item;
    for (unsigned number = 0; number < count; ++number) {
      auto begin = items.begin() + first[number], end = items.begin() + next[number];
      if (!std::is_sorted(begin, end))
        std::sort(begin, end);
      result.items.insert(result.items.end(), begin, std::unique(begin, end));
      result.end();
    }
    return result;
  }

private:
  std::vector<unsigned> start = {0};
  std::vector<T> items;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_ANALYSIS_COMPACTLISTS_H
