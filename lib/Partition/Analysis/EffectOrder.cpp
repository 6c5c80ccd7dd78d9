// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derives from the accesses of each op which ops must stay in order. Aliases.cpp finds the accesses, and
// Verify/VerifyEffects.cpp checks the order independently.

#include "EffectOrder.h"
#include "OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace inlay;

/// Adds `op` to a list of ops that every later op of another kind must run after. A long list becomes a chain. This
/// orders more than necessary, but keeps the number of edges linear.
template <typename Ops>
static void addToList(unsigned op, Ops &list, llvm::function_ref<void(unsigned)> before) {
  constexpr size_t kMaxLength = 32;
  if (list.size() >= kMaxLength) {
    llvm::for_each(list, before);
    list.clear();
  }
  list.push_back(op);
}

void EffectOrder::record(unsigned op, History &history, bool writes, Before before) {
  if (history.writer)
    before(*history.writer);
  if (!writes) {
    history.readers.push_back(op);
    return;
  }
  llvm::for_each(history.readers, before);
  history.readers.clear();
  history.writer = op;
}

void EffectOrder::accessValue(unsigned op, const MemoryAccess &access, Before before) {
  record(op, values[access.root], access.writes, before);
  if (!access.resource)
    return;
  if (everything)
    before(*everything);
  ResourceHistory &resource = resources[access.resource];
  if (resource.whole.writer)
    before(*resource.whole.writer);
  if (access.writes)
    llvm::for_each(resource.whole.readers, before);
  addToList(op, access.writes ? resource.valueWriters : resource.valueReaders, before);
}

void EffectOrder::accessResource(unsigned op, const MemoryAccess &access, Before before) {
  if (everything)
    before(*everything);
  ResourceHistory &resource = resources[access.resource];
  llvm::for_each(resource.valueWriters, before);
  if (!access.writes) {
    if (resource.whole.writer)
      before(*resource.whole.writer);
    addToList(op, resource.whole.readers, before);
    return;
  }
  llvm::for_each(resource.valueReaders, before);
  record(op, resource.whole, /*writes=*/true, before);
  resource.valueReaders.clear();
  resource.valueWriters.clear();
}

void EffectOrder::accessEverything(unsigned op, Before before) {
  if (everything)
    before(*everything);
  for (auto &[resource, history] : resources) {
    if (history.whole.writer)
      before(*history.whole.writer);
    for (const Ops *ops : {&history.whole.readers, &history.valueReaders, &history.valueWriters})
      llvm::for_each(*ops, before);
  }
  resources.clear();
  everything = op;
}

void EffectOrder::add(unsigned op, ArrayRef<MemoryAccess> accesses, Before before) {
  // An op that accesses the same memory twice is not ordered against itself.
  auto beforeOther = [&](unsigned other) {
    if (other != op)
      before(other);
  };
  for (const MemoryAccess &access : accesses)
    if (access.root)
      accessValue(op, access, beforeOther);
    else if (access.resource)
      accessResource(op, access, beforeOther);
    else
      accessEverything(op, beforeOther);
}

void inlay::recordProgram(Operation *function, const Aliases &aliases) {
  Builder builder(function->getContext());
  int64_t number = 0, size = 0;
  SmallVector<MemoryAccess> accesses;
  for (Region &region : function->getRegions())
    region.walk<WalkOrder::PreOrder>([&](Operation *op) {
      ++number;
      if (op->hasTrait<OpTrait::IsTerminator>() || isConstantLike(op))
        return;
      ++size;
      if (!aliases.hasEffects() || isControlFlow(op))
        return;
      accesses.clear();
      aliases.collectDirectAccesses(op, accesses);
      if (!accesses.empty())
        op->setAttr(InlayDialect::kOrderAttr, builder.getI64IntegerAttr(number));
    });
  function->setAttr(InlayDialect::kSizeAttr, builder.getI64IntegerAttr(size));
}
