// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inlay dialect: a graph of tensor ops, and the segments that partitioning forms of it.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYDIALECT_TD
#define INLAY_DIALECT_INLAY_IR_INLAYDIALECT_TD

include "mlir/IR/OpBase.td"

def Inlay_Dialect : Dialect {
  let name = "inlay";
  let cppNamespace = "::inlay";
  let summary = "A graph of tensor ops, partitioned into segments per target.";
  let description = [{
    Graph ops follow Core ATen, one op per idea, on builtin tensors. A framework call without an op of ours is an
    `inlay.opaque`. Partitioning puts ops of *any* dialect into `inlay.segment`s, one per target and run.

    Discardable attributes, all under the dialect's prefix:

    | attribute | on | meaning |
    |---|---|---|
    | `inlay.targets` | module | targets in priority order; without it `[#inlay.vulkan, #inlay.host]` |
    | `inlay.target` | any op | pins the op to the target of that name |
    | `inlay.refused` | any op | targets that are not to run the op, by name, and why: what failed to convert |
    | `inlay.do_not_merge` | any op | the op is a segment of its own |
    | `inlay.neutral` | any op | the op may join whichever segment needs it |
    | `inlay.constant` | op without operands or regions | the op is a constant, of which each segment has its own |
    | `inlay.writes` | any op | operand numbers: the op writes the memory of these, may read all operands, touches nothing else |
    | `inlay.aliases` | op with `inlay.writes` | operand numbers: results may share memory with these |
    | `inlay.symbols` | function | what its dims are said by: `#inlay.symbol`s, numbered as they stand |
    | `inlay.dims` | argument or result of a function | its dims as a map of the function's symbols, e.g. `affine_map<()[s0] -> (s0, 3)>` |
    | `inlay.dims` | any op | such a map for each result; of a segment, for each input first |
    | `inlay.length` | argument of a function, a list | how many it holds; it may enter an accelerator as these |
    | `inlay.verdict` | any op | where partitioning put the op, and why |
    | `inlay.clone` | op in a segment | a copy that partitioning made; the original is in another segment |
    | `inlay.unpacked` | op | takes apart an argument, a list or tuple, that enters an accelerator, or makes it again there |
    | `inlay.order` | op in a segment | its place in the program, where effects make that matter |
    | `inlay.size` | function | how many ops it had when it was partitioned |
    | `inlay.witness` | function | labels of a path of ops that proves the number of segments |
    | `inlay.partition` | function | figures of the partition: `lower_bound`, the fewest segments there could be |
    | `inlay.cost_model` | module | what each target's work costs, in the keys of a cost model file |
    | `inlay.signature` | any op | the recorded calls that the op is part of, the innermost first: `call`, the key in `inlay.signatures`; `operands` and `results`, which of the call's tensors they are, -1 for none |
    | `inlay.signatures` | module | recorded calls by key, in dictionaries that are listed: `function`, `arguments` and `outputs` (nested, tensors as `#inlay.tensor`), `parent` |
    | `inlay.weights` | module | file with the bytes of `dense_resource` constants, beside the module's own file |
  }];

  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;

  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kTargetsAttr = "inlay.targets";
    static constexpr ::llvm::StringLiteral kTargetAttr = "inlay.target";
    static constexpr ::llvm::StringLiteral kRefusedAttr = "inlay.refused";
    static constexpr ::llvm::StringLiteral kDoNotMergeAttr = "inlay.do_not_merge";
    static constexpr ::llvm::StringLiteral kNeutralAttr = "inlay.neutral";
    static constexpr ::llvm::StringLiteral kVerdictAttr = "inlay.verdict";
    static constexpr ::llvm::StringLiteral kCloneAttr = "inlay.clone";
    /// Where an op that shares memory with a write stood among its function's ops: the order that effects are in.
    static constexpr ::llvm::StringLiteral kOrderAttr = "inlay.order";
    /// On a function that is being partitioned: how many ops go into segments.
    static constexpr ::llvm::StringLiteral kSizeAttr = "inlay.size";
    static constexpr ::llvm::StringLiteral kWitnessAttr = "inlay.witness";
    static constexpr ::llvm::StringLiteral kPartitionAttr = "inlay.partition";
    static constexpr ::llvm::StringLiteral kCostModelAttr = "inlay.cost_model";
    static constexpr ::llvm::StringLiteral kWeightsAttr = "inlay.weights";
    static constexpr ::llvm::StringLiteral kSignatureAttr = "inlay.signature"; ///< a key of locations' metadata, too
    static constexpr ::llvm::StringLiteral kSignaturesAttr = "inlay.signatures";
    static constexpr ::llvm::StringLiteral kSymbolsAttr = "inlay.symbols";
    static constexpr ::llvm::StringLiteral kDimsAttr = "inlay.dims";
    /// On a module: how often the body of one `scf.while` may run each time it is reached.
    static constexpr ::llvm::StringLiteral kMaxLoopIterationsAttr = "inlay.max_loop_iterations";
    static constexpr int64_t kDefaultMaxLoopIterations = int64_t(1) << 24;
    /// Key in a fused location's metadata: the stack of [path, class] pairs of the modules an op came from.
    static constexpr ::llvm::StringLiteral kModuleKey = "inlay.module";

    void registerTypes();
    void registerAttributes();

    /// Makes `target` one of the targets of modules without `inlay.targets`. Targets with a lower `rank` are preferred.
    /// A target calls this when it is registered.
    void addDefaultTarget(unsigned rank, ::mlir::Attribute target) { defaultTargets.emplace(rank, target); }

    /// Returns the targets of modules without `inlay.targets`, the preferred one first.
    ::llvm::SmallVector<::mlir::Attribute> getDefaultTargets() const;

  private:
    std::map<unsigned, ::mlir::Attribute> defaultTargets;
  }];
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYDIALECT_TD
