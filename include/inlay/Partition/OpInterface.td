// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface by which ops describe themselves to partitioning.

#ifndef INLAY_PARTITION_OPINTERFACE_TD
#define INLAY_PARTITION_OPINTERFACE_TD

include "mlir/IR/OpBase.td"

def PartitionOpInterface : OpInterface<"PartitionOpInterface"> {
  let cppNamespace = "::inlay";
  let description = [{
    Properties of an op that partitioning needs, apart from the targets that can run it. Every method has a neutral
    default, so an op only overrides those that apply to it. External models implement it for ops of other dialects.
    For ops without the interface, upstream's `ConstantLike` and `MemoryEffectOpInterface` count.
  }];
  let methods = [
    InterfaceMethod<[{
        Returns true for an op that is in no segment and costs nothing: each segment that uses it has a copy. Such an
        op has no operands, regions or effects.
      }], "bool", "isConstant", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        Returns true for an op that moves or names data and computes nothing. It may join the segment of any target
        that can run it.
      }], "bool", "isNeutral", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        Returns true for an op that makes or reads a list, tuple or object and does nothing else. A segment that needs
        its result may have a clone.
      }], "bool", "isCheapToClone", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        Returns true if `getWrittenOperands` and `getAliasedOperands` describe all effects of the op. It may read all
        operands, and it accesses no other memory.
      }], "bool", "statesEffects", (ins), "", [{ return false; }]>,
    InterfaceMethod<"Returns the numbers of the operands whose memory the op writes.",
      "::llvm::ArrayRef<int64_t>", "getWrittenOperands", (ins), "", [{ return {}; }]>,
    InterfaceMethod<"Returns the numbers of the operands that a result may share memory with.",
      "::llvm::ArrayRef<int64_t>", "getAliasedOperands", (ins), "", [{ return {}; }]>,
  ];
}

#endif // INLAY_PARTITION_OPINTERFACE_TD
