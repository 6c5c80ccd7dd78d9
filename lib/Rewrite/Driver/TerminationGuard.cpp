// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detects cycles of rewrites by hashes of the ops that rewrites made. RewriteLimit.cpp has the limit for bisection.

#include "TerminationGuard.h"

#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace inlay;

/// Hashes `op`. Operands made by rewriting are hashed by their structure, all others by identity.
uint64_t TerminationGuard::hash(Operation *op, unsigned depth) const {
  llvm::hash_code code =
      llvm::hash_combine(op->getName().getAsOpaquePointer(), op->getRawDictionaryAttrs().getAsOpaquePointer(),
                         op->hashProperties(), op->getNumOperands());
  for (Type type : op->getResultTypes())
    code = llvm::hash_combine(code, type.getAsOpaquePointer());
  for (Value operand : op->getOperands()) {
    auto result = dyn_cast<OpResult>(operand);
    if (result && depth > 0 && maker.contains(result.getOwner()))
      code = llvm::hash_combine(code, result.getResultNumber(), hash(result.getOwner(), depth - 1));
    else
      code = llvm::hash_combine(code, operand.getAsOpaquePointer());
  }
  return code;
}

bool TerminationGuard::note(unsigned pattern, Operation *root, const Journal::Changes &changes,
                            SmallVectorImpl<unsigned> &cyclingPatterns) {
  ++count;
  double ops = static_cast<double>(seen);
  watching |= count > std::min(ops + kLongDescent, budget * ops + kFree - kLast);
  if (!watching)
    return false;
  auto it = maker.find(root);
  int parent = it == maker.end() ? -1 : it->second, number = rewrites.size();
  unsigned depth = parent < 0 ? 0 : rewrites[parent].depth + 1;
  Operation *made = nullptr;
  for (const Journal::Entry &entry : changes)
    if (entry.isMade() && entry.getOp()->getBlock()) {
      made = entry.getOp();
      maker[made] = number;
    }
  rewrites.push_back({pattern, parent, depth, 0});
  if (depth < kLongDescent || !made)
    return false;
  uint64_t state = hash(made, kHashDepth);
  rewrites.back().state = state;
  unsigned compared = 0;
  for (int before = parent; before >= 0 && compared < kMaxCompared; before = rewrites[before].parent, ++compared) {
    if (rewrites[before].state != state || rewrites[before].pattern != pattern)
      continue;
    for (int in = number; in != before; in = rewrites[in].parent)
      if (!llvm::is_contained(cyclingPatterns, rewrites[in].pattern))
        cyclingPatterns.push_back(rewrites[in].pattern);
    std::reverse(cyclingPatterns.begin(), cyclingPatterns.end());
    return true;
  }
  return false;
}

SmallVector<unsigned> TerminationGuard::getLastPatterns() const {
  std::map<unsigned, unsigned> counts;
  for (const RewriteRecord &rewrite : ArrayRef(rewrites).take_back(kLast))
    ++counts[rewrite.pattern];
  SmallVector<unsigned> patterns = llvm::to_vector(llvm::make_first_range(counts));
  llvm::stable_sort(patterns, [&](unsigned a, unsigned b) { return counts[a] > counts[b]; });
  return patterns;
}
