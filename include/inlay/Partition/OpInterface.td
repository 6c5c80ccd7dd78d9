// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What partitioning asks of ops.

#ifndef INLAY_PARTITION_OPINTERFACE_TD
#define INLAY_PARTITION_OPINTERFACE_TD

include "mlir/IR/OpBase.td"

def PartitionOpInterface : OpInterface<"PartitionOpInterface"> {
  let cppNamespace = "::inlay";
  let description = [{
    What partitioning asks of an op besides who can run it. Every method has a default that says nothing special, so an
    op states just what is special about it; for ops of other dialects an external model does. Ops without the interface
    are judged by upstream's `ConstantLike` and `MemoryEffectOpInterface`.
  }];
  let methods = [
    InterfaceMethod<[{
        True for what is in no segment and costs nothing: each segment that uses it has a copy. Such an op has no
        operands, regions or effects.
      }], "bool", "isConstant", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        True for an op that moves or names data and computes nothing: it may join the segment of any target that can
        run it.
      }], "bool", "isNeutral", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        True for an op that makes or reads a list, tuple or object and does nothing else: a segment that needs its
        result may have a copy of it.
      }], "bool", "isCheapToClone", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        True if what it writes and what its results alias are all there is to know of the op's effects: it may read all
        operands and touches nothing else.
      }], "bool", "statesEffects", (ins), "", [{ return false; }]>,
    InterfaceMethod<"Numbers of the operands whose memory the op writes.",
      "::llvm::ArrayRef<int64_t>", "getWrittenOperands", (ins), "", [{ return {}; }]>,
    InterfaceMethod<"Numbers of the operands that a result may share memory with.",
      "::llvm::ArrayRef<int64_t>", "getAliasedOperands", (ins), "", [{ return {}; }]>,
  ];
}

#endif // INLAY_PARTITION_OPINTERFACE_TD
