// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inlay dialect: a graph of tensor ops, and the segments into which partitioning splits it.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYDIALECT_TD
#define INLAY_DIALECT_INLAY_IR_INLAYDIALECT_TD

include "mlir/IR/OpBase.td"

def Inlay_Dialect : Dialect {
  let name = "inlay";
  let cppNamespace = "::inlay";
  let summary = "A graph of tensor ops, partitioned into segments per target.";
  let description = [{
    Graph ops follow the Core ATen op set, with one op per idea, on builtin tensors. A framework call without a graph op
    is an `inlay.opaque`. Partitioning puts ops of *any* dialect into `inlay.segment`s. Each segment runs on one target.

    The dialect defines these discardable attributes:

    | attribute | on | meaning |
    |---|---|---|
    | `inlay.targets` | module | targets in priority order; the default is `[#inlay.vulkan, #inlay.host]` |
    | `inlay.target` | any op | pins the op to the target of that name |
    | `inlay.refused` | any op | names of targets that must not run the op, each with the reason why the conversion failed |
    | `inlay.do_not_merge` | any op | the op is isolated: it shares its segment with no other op |
    | `inlay.neutral` | any op | the op may join a segment of any target that can run it |
    | `inlay.constant` | op without operands or regions | the op is a constant; each segment that uses it has its own copy |
    | `inlay.writes` | any op | operand numbers: the op writes the memory of these operands, may read all operands, and accesses no other memory |
    | `inlay.aliases` | op with `inlay.writes` | operand numbers: the results may share memory with these operands |
    | `inlay.symbols` | function | the symbols of its dims: an array of `#inlay.symbol`s, numbered in order |
    | `inlay.conditions` | function | conditions on its symbols that each call must meet: an array with an array of alternatives for each condition, e.g. `[[affine_set<()[s0] : (s0 mod 2 == 0)>]]` |
    | `inlay.states` | function | number of states: so many last results are the next values of so many last arguments, which the program keeps between calls |
    | `inlay.dims` | argument or result of a function | its dims as a map of the function's symbols, e.g. `affine_map<()[s0] -> (s0, 3)>` |
    | `inlay.dims` | any op | such a map for each result; on a segment, the maps of the inputs come first |
    | `inlay.length` | list argument of a function | number of elements; the list may enter an accelerator as that many values |
    | `inlay.reason` | `inlay.opaque` | a sentence that says why the call has no graph op; verdicts repeat it |
    | `inlay.verdict` | any op | the target that partitioning chose for the op, and the reason |
    | `inlay.clone` | op in a segment | the op is a clone that partitioning made; the original is in another segment |
    | `inlay.unpacked` | op | the op unpacks a list or tuple argument that enters an accelerator, or rebuilds it there |
    | `inlay.order` | op in a segment | position of the op in the program, if the order of its effects matters |
    | `inlay.size` | function | number of ops at the time of partitioning |
    | `inlay.witness` | function | labels of a path of ops that proves the number of segments |
    | `inlay.partition` | function | properties of the partition: `lower_bound` is the fewest segments that any partition can have |
    | `inlay.cost_model` | module | costs of the targets, with the keys of a cost model file |
    | `inlay.signature` | any op | the recorded calls that the op is part of, innermost first: `call` is the key in `inlay.signatures`; `operands` and `results` are the numbers of the call's tensors, -1 for none |
    | `inlay.signatures` | module | list of dictionaries of recorded calls by key: `function`, `arguments` and `outputs` (nested, with tensors as `#inlay.tensor`), `parent` |
    | `inlay.max_loop_iterations` | module | maximum number of iterations of one `scf.while` each time it is reached; the default is 2^24 |
    | `inlay.weights` | module | file with the data of `dense_resource` constants, in the folder of the module's file |
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
    /// On an op that shares memory with a write: its position among the ops of the function, to keep effects in order.
    static constexpr ::llvm::StringLiteral kOrderAttr = "inlay.order";
    /// On a function that is being partitioned: the number of ops that go into segments.
    static constexpr ::llvm::StringLiteral kSizeAttr = "inlay.size";
    static constexpr ::llvm::StringLiteral kWitnessAttr = "inlay.witness";
    static constexpr ::llvm::StringLiteral kPartitionAttr = "inlay.partition";
    static constexpr ::llvm::StringLiteral kCostModelAttr = "inlay.cost_model";
    static constexpr ::llvm::StringLiteral kWeightsAttr = "inlay.weights";
    static constexpr ::llvm::StringLiteral kSignatureAttr = "inlay.signature"; ///< Also a key of locations' metadata.
    static constexpr ::llvm::StringLiteral kSignaturesAttr = "inlay.signatures";
    static constexpr ::llvm::StringLiteral kSymbolsAttr = "inlay.symbols";
    static constexpr ::llvm::StringLiteral kConditionsAttr = "inlay.conditions";
    static constexpr ::llvm::StringLiteral kStatesAttr = "inlay.states";
    static constexpr ::llvm::StringLiteral kDimsAttr = "inlay.dims";
    /// On a module: the maximum number of iterations of one `scf.while` each time it is reached.
    static constexpr ::llvm::StringLiteral kMaxLoopIterationsAttr = "inlay.max_loop_iterations";
    /// Repeated in Support/Options.td (`max_loop_iterations`) and python/inlay/_compile/options.py (`LOOP_ITERATIONS`).
    static constexpr int64_t kDefaultMaxLoopIterations = int64_t(1) << 24;
    /// Key in a fused location's metadata: the stack of [path, class] pairs of the modules that an op came from.
    static constexpr ::llvm::StringLiteral kModuleKey = "inlay.module";

    void registerTypes();
    void registerAttributes();

    /// Adds `target` to the targets of modules without `inlay.targets`. Targets with a lower `rank` are preferred. A
    /// target calls this when it is registered.
    void addDefaultTarget(unsigned rank, ::mlir::Attribute target) { defaultTargets.emplace(rank, target); }

    /// Returns the targets of modules without `inlay.targets`, in priority order.
    ::llvm::SmallVector<::mlir::Attribute> getDefaultTargets() const;

  private:
    std::map<unsigned, ::mlir::Attribute> defaultTargets;
  }];
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYDIALECT_TD
