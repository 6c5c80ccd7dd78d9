// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts the ops of a block by `inlay.order`, the order before partitioning, as far as uses and effects allow.

#include "MergeClones.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include <queue>

using namespace mlir;
using namespace inlay;

/// Returns the `inlay.order` of the op, or of the first op nested in it that has one.
static std::optional<int64_t> getOrder(Operation *op) {
  std::optional<int64_t> order;
  op->walk<WalkOrder::PreOrder>([&](Operation *nested) {
    auto number = nested->getAttrOfType<IntegerAttr>(InlayDialect::kOrderAttr);
    if (!number)
      return WalkResult::advance();
    order = number.getInt();
    return WalkResult::interrupt();
  });
  return order;
}

namespace {
class BlockSorter {
public:
  explicit BlockSorter(Block &block) : block(block) {
    for (Operation &op : block.without_terminator()) {
      numbers[&op] = static_cast<unsigned>(ops.size());
      ops.push_back(&op);
    }
    after.resize(ops.size());
    missing.resize(ops.size());
  }

  void run() {
    addUses();
    addEffects();
    if (isSorted)
      return;
    std::priority_queue<unsigned, std::vector<unsigned>, std::greater<unsigned>> ready;
    for (unsigned op = 0; op < ops.size(); ++op)
      if (!missing[op])
        ready.push(op);
    std::vector<unsigned> order;
    while (!ready.empty()) {
      unsigned op = ready.top();
      ready.pop();
      order.push_back(op);
      for (unsigned next : after[op])
        if (--missing[next] == 0)
          ready.push(next);
    }
    if (order.size() < ops.size())
      return; // The numbers contradict the uses, so they are from another program.
    for (unsigned op : order)
      ops[op]->moveBefore(&block, std::prev(block.end()));
  }

private:
  void addEdge(unsigned before, unsigned op) {
    isSorted &= before < op;
    after[before].push_back(op);
    ++missing[op];
  }

  void addUses() {
    for (auto [number, op] : llvm::enumerate(ops))
      op->walk([&, number = static_cast<unsigned>(number)](Operation *nested) {
        for (Value operand : nested->getOperands())
          if (auto it = numbers.find(operand.getDefiningOp()); it != numbers.end() && it->second != number)
            addEdge(it->second, number);
      });
  }

  void addEffects() {
    std::vector<std::pair<int64_t, unsigned>> ordered;
    for (auto [number, op] : llvm::enumerate(ops))
      if (std::optional<int64_t> order = getOrder(op))
        ordered.emplace_back(*order, static_cast<unsigned>(number));
    llvm::sort(ordered);
    for (size_t at = 1; at < ordered.size(); ++at)
      addEdge(ordered[at - 1].second, ordered[at].second);
  }

  Block &block;
  std::vector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> numbers;
  std::vector<SmallVector<unsigned, 3>> after;
  std::vector<unsigned> missing;
  bool isSorted = true;
};
} // namespace

void inlay::restoreOrder(Block &block) {
  if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
    BlockSorter(block).run();
}
