// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the decision tree of the patterns and looks up the candidates of an op. Graph/UserIndex.cpp looks up users
// of a value.

#include "PatternIndex.h"
#include "Rewrite/PDL/CompiledPattern.h"

#include "inlay/Rewrite/PDLPattern.h"

#include <map>

using namespace mlir;
using namespace inlay;

using Skeleton = RootIndex::Skeleton;

namespace {
/// Reads the positions of the ops that a match program fixes. Operands that may be swapped give one skeleton per order,
/// as long as the orders are few. Ops below an operand without a fixed position are left out.
class SkeletonReader {
public:
  static constexpr size_t kMaxVariants = 16;

  SkeletonReader(unsigned pattern, const MatchProgram &program) : pattern(pattern), program(program) {}

  std::vector<Skeleton> read() {
    unsigned variants = 1;
    for (const Step &step : program.steps)
      if (step.kind == Step::Order && variants < kMaxVariants) {
        variants *= 2;
        orders.push_back(&step - program.steps.data());
      }
    std::vector<Skeleton> skeletons;
    for (unsigned variant = 0; variant < variants; ++variant)
      skeletons.push_back(readVariant(variant));
    return skeletons;
  }

private:
  Skeleton readVariant(unsigned variant) {
    Skeleton skeleton{pattern, {}};
    llvm::SmallDenseMap<unsigned, std::vector<unsigned>, 8> opPlace, valuePlace;
    opPlace[program.ops.front()] = {};
    for (const Step &step : program.steps) {
      if (step.kind == Step::Name && opPlace.count(step.a))
        skeleton.names.push_back({opPlace[step.a], step.name});
      if (step.kind == Step::Definition && step.bind && valuePlace.count(step.a))
        opPlace[step.b] = valuePlace[step.a];
      if (step.kind != Step::Operand || !step.bind || step.open || !opPlace.count(step.a))
        continue;
      std::optional<unsigned> number = getOperand(step, variant);
      if (!number)
        continue;
      std::vector<unsigned> place = opPlace[step.a];
      place.push_back(*number);
      valuePlace[step.b] = std::move(place);
    }
    dropOrphans(skeleton);
    return skeleton;
  }

  std::optional<unsigned> getOperand(const Step &step, unsigned variant) const {
    if (step.order < 0 || program.steps[step.order].kind == Step::AsWritten)
      return step.c;
    auto it = llvm::find(orders, static_cast<unsigned>(step.order));
    if (it == orders.end())
      return std::nullopt;
    return variant >> (it - orders.begin()) & 1 ? 1 - step.c : step.c;
  }

  /// Keeps a position only if the skeleton also names its parent op.
  static void dropOrphans(Skeleton &skeleton) {
    std::vector<std::pair<std::vector<unsigned>, const void *>> kept;
    for (auto &[place, name] : skeleton.names) {
      std::vector<unsigned> parent = place;
      if (!place.empty())
        parent.pop_back();
      if (place.empty() || llvm::any_of(kept, [&](auto &other) { return other.first == parent; }))
        kept.push_back({place, name});
    }
    skeleton.names = std::move(kept);
  }

  unsigned pattern;
  const MatchProgram &program;
  std::vector<unsigned> orders;
};
} // namespace

RootIndex::RootIndex(std::vector<Skeleton> skeletons) {
  // Shorter paths come first, so that parents have smaller numbers.
  auto shorter = [](const std::vector<unsigned> &a, const std::vector<unsigned> &b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  };
  std::map<std::vector<unsigned>, unsigned, decltype(shorter)> numbers(shorter);
  for (const Skeleton &skeleton : skeletons)
    for (const auto &[path, name] : skeleton.names)
      numbers.try_emplace(path, 0);
  for (auto &[path, number] : numbers) {
    number = places.size();
    std::vector<unsigned> parent = path;
    if (!path.empty())
      parent.pop_back();
    places.push_back(path.empty() ? Place{0, 0} : Place{numbers.at(parent), path.back()});
  }
  std::vector<Entry> entries;
  for (const Skeleton &skeleton : skeletons) {
    Entry entry{skeleton.pattern, {}};
    for (const auto &[path, name] : skeleton.names)
      if (unsigned place = numbers.at(path); place < kMaxPlaces && !path.empty())
        entry.second.push_back({place, name});
    llvm::sort(entry.second, llvm::less_first());
    entries.push_back(std::move(entry));
  }
  if (!entries.empty())
    build(std::move(entries));
}

unsigned RootIndex::build(std::vector<Entry> entries) {
  unsigned number = nodes.size();
  nodes.emplace_back();
  unsigned place = kMaxPlaces;
  for (const Entry &entry : entries)
    if (!entry.second.empty())
      place = std::min(place, entry.second.front().first);
  nodes[number].place = place;
  std::map<const void *, std::vector<Entry>> byName;
  std::vector<Entry> other;
  for (Entry &entry : entries) {
    if (entry.second.empty()) {
      nodes[number].patterns.push_back(entry.first);
    } else if (entry.second.front().first != place) {
      other.push_back(std::move(entry));
    } else {
      const void *name = entry.second.front().second;
      entry.second.erase(entry.second.begin());
      byName[name].push_back(std::move(entry));
    }
  }
  for (auto &[name, part] : byName) {
    unsigned child = build(std::move(part));
    nodes[number].byName.push_back({name, child});
  }
  if (!other.empty()) {
    unsigned child = build(std::move(other));
    nodes[number].other = child;
  }
  return number;
}

void RootIndex::find(Operation *root, SmallVectorImpl<unsigned> &patterns) const {
  Operation *ops[kMaxPlaces];
  ops[0] = root;
  SmallVector<unsigned, 8> todo;
  for (int next = 0;; next = todo.pop_back_val()) {
    while (next >= 0) {
      const Node &node = nodes[next];
      patterns.append(node.patterns.begin(), node.patterns.end());
      if (node.other >= 0)
        todo.push_back(node.other);
      next = -1;
      if (node.byName.empty())
        break;
      const Place &place = places[node.place];
      Operation *parent = ops[place.parent];
      Value operand = place.operand < parent->getNumOperands() ? parent->getOperand(place.operand) : Value();
      Operation *op = operand ? operand.getDefiningOp() : nullptr;
      if (!op)
        break;
      const void *name = op->getName().getAsOpaquePointer();
      auto it = std::partition_point(node.byName.begin(), node.byName.end(),
                                     [&](const auto &entry) { return std::less<>()(entry.first, name); });
      if (it == node.byName.end() || it->first != name)
        break;
      ops[node.place] = op;
      next = it->second;
    }
    if (todo.empty())
      break;
  }
  if (patterns.size() < 2)
    return;
  llvm::sort(patterns);
  patterns.erase(llvm::unique(patterns), patterns.end());
}

const RootIndex *PatternIndex::lookup(OperationName name) {
  auto [it, isNew] = roots.try_emplace(name);
  if (isNew) {
    std::vector<Skeleton> skeletons;
    for (auto [number, pattern] : llvm::enumerate(patterns)) {
      if (!pattern->getRoots().contains(name))
        continue;
      if (const PDLPattern *pdl = pattern->asPDL())
        llvm::move(SkeletonReader(number, pdl->getCompiled().program).read(), std::back_inserter(skeletons));
      else
        skeletons.push_back({static_cast<unsigned>(number), {}});
    }
    it->second = std::make_unique<RootIndex>(std::move(skeletons));
  }
  return it->second->empty() ? nullptr : it->second.get();
}
