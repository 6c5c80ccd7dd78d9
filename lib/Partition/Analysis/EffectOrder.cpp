// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EffectOrder.h"
#include "OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace inlay;

/// Adds `op` to a list that every later op of another kind has to run after. A long list is made a chain, which orders
/// more than it must but keeps the number of edges linear.
template <typename Ops>
static void addToList(unsigned op, Ops &list, llvm::function_ref<void(unsigned)> before) {
  constexpr size_t kLongest = 32;
  if (list.size() >= kLongest) {
    llvm::for_each(list, before);
    list.clear();
  }
  list.push_back(op);
}

void EffectOrder::touch(unsigned op, History &history, bool writes, Before before) {
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

void EffectOrder::accessValue(unsigned op, const MemoryAccess &touch, Before before) {
  this->touch(op, values[touch.root], touch.writes, before);
  if (!touch.resource)
    return;
  if (everything)
    before(*everything);
  ResourceHistory &resource = resources[touch.resource];
  if (resource.whole.writer)
    before(*resource.whole.writer);
  if (touch.writes)
    llvm::for_each(resource.whole.readers, before);
  addToList(op, touch.writes ? resource.valueWriters : resource.valueReaders, before);
}

void EffectOrder::accessResource(unsigned op, const MemoryAccess &touch, Before before) {
  if (everything)
    before(*everything);
  ResourceHistory &resource = resources[touch.resource];
  llvm::for_each(resource.valueWriters, before);
  if (!touch.writes) {
    if (resource.whole.writer)
      before(*resource.whole.writer);
    addToList(op, resource.whole.readers, before);
    return;
  }
  llvm::for_each(resource.valueReaders, before);
  this->touch(op, resource.whole, /*writes=*/true, before);
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

void EffectOrder::add(unsigned op, ArrayRef<MemoryAccess> touches, Before before) {
  // An op that touches a thing twice is not ordered against itself.
  auto beforeOther = [&](unsigned other) {
    if (other != op)
      before(other);
  };
  for (const MemoryAccess &touch : touches)
    if (touch.root)
      accessValue(op, touch, beforeOther);
    else if (touch.resource)
      accessResource(op, touch, beforeOther);
    else
      accessEverything(op, beforeOther);
}

void inlay::recordProgram(Operation *function, const Aliases &aliases) {
  Builder builder(function->getContext());
  int64_t number = 0, size = 0;
  SmallVector<MemoryAccess> touches;
  for (Region &region : function->getRegions())
    region.walk<WalkOrder::PreOrder>([&](Operation *op) {
      ++number;
      if (op->hasTrait<OpTrait::IsTerminator>() || isConstantLike(op))
        return;
      ++size;
      if (!aliases.hasEffects() || isControlFlow(op))
        return;
      touches.clear();
      aliases.collectDirectAccesses(op, touches);
      if (!touches.empty())
        op->setAttr(InlayDialect::kOrderAttr, builder.getI64IntegerAttr(number));
    });
  function->setAttr(InlayDialect::kSizeAttr, builder.getI64IntegerAttr(size));
}
