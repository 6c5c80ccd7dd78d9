// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cheapest set of items that holds whatever its items need: a minimum cut (Picard 1976), found by Dinic's maximum
// flow without recursion.

#ifndef INLAY_LIB_SCHEDULING_CLOSURE_H
#define INLAY_LIB_SCHEDULING_CLOSURE_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace inlay {

class ClosureProblem {
public:
  using Item = uint32_t;

  /// Costs, added up without their signs, stay below 2^62.
  Item add(int64_t cost) {
    costs.push_back(cost);
    return static_cast<Item>(costs.size() - 1);
  }
  void addCost(Item item, int64_t cost) { costs[item] += cost; }
  void require(Item item, Item needed) { needs.emplace_back(item, needed); }
  size_t size() const { return costs.size(); }

  /// Which items are in the smallest of the cheapest sets. Takes its steps off the budget; nothing, and no budget left,
  /// if that is not enough.
  std::vector<bool> solve(uint64_t &budget) const;

private:
  std::vector<int64_t> costs;
  std::vector<std::pair<Item, Item>> needs;
};

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_CLOSURE_H
