// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many short lists in one piece of memory, one after the other: what a graph of a million ops is read from.

#ifndef INLAY_LIB_PARTITION_ANALYSIS_COMPACTLISTS_H
#define INLAY_LIB_PARTITION_ANALYSIS_COMPACTLISTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <vector>

namespace inlay {

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
  /// Adds to the list after those that were ended.
  void add(T item) { items.push_back(std::move(item)); }
  void end() { start.push_back(static_cast<unsigned>(items.size())); }

  /// `count` lists of the second numbers of `pairs` by the first; each is sorted and names a number once.
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
