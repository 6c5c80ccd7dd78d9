// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signatures: the high-level calls that ops came from, with the function, named arguments and outputs. The tensors of a
// call are recorded on its ops: each op states which of its operands and results are which tensors of the call. The
// graph itself thus determines the current inputs of a call, and a rewrite cannot make them stale. Locations name the
// call too, down to the code of a target.

#ifndef INLAY_REWRITE_SIGNATURE_H
#define INLAY_REWRITE_SIGNATURE_H

#include "inlay/Dialect/Inlay/IR/Origin.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace inlay {

/// The arguments of a call, to be changed and passed to another call. The tensors in the attributes of `get` are
/// indices into `tensors`. An entry of `tensors` is null if no op of the call uses that tensor any more.
struct CallInputs {
  mlir::NamedAttrList arguments;
  llvm::SmallVector<mlir::Value> tensors;

  mlir::Attribute get(llvm::StringRef name) const { return arguments.get(name); }
  void set(llvm::StringRef name, mlir::Attribute structure) { arguments.set(name, structure); }

  /// Returns the argument as a tensor, or null if it is not a single tensor.
  mlir::Value getTensor(llvm::StringRef name) const;
  void setTensor(llvm::StringRef name, mlir::Value value);
};

/// Records the ops that are built during its lifetime as one call. Recorders nest: an op belongs to all calls that it
/// is built in.
///
///   SignatureRecorder call(builder, module, "gpt_attention");
///   call.argument("qkv", call.tensor(qkv));
///   call.argument("bias", builder.getUnitAttr());        // no bias
///   Value out = ...;                                     // builds ops
///   call.outputs(builder.getArrayAttr({call.tensor(out)}));
///
/// Ops that are erased during the lifetime must be erased through a rewriter.
class SignatureRecorder : private mlir::RewriterBase::ForwardingListener {
public:
  SignatureRecorder(mlir::OpBuilder &builder, mlir::ModuleOp module, llvm::StringRef function);
  ~SignatureRecorder();
  SignatureRecorder(const SignatureRecorder &) = delete;
  SignatureRecorder &operator=(const SignatureRecorder &) = delete;

  /// Returns the attribute that stands for `value` in arguments and outputs. Equal values give equal attributes.
  mlir::Attribute tensor(mlir::Value value);

  /// Records an argument: a number, a string, a unit attribute or null for none, a result of `tensor`, or arrays and
  /// dictionaries of these.
  void argument(llvm::StringRef name, mlir::Attribute structure) { arguments.push_back({name.str(), structure}); }
  /// Records all arguments of another call, either unchanged or as they were changed in `inputs`.
  void copyArguments(const CallInputs &inputs);
  void outputs(mlir::Attribute structure) { outputStructure = structure; }

  /// Returns the key under which the module stores the call once the recorder is destroyed.
  llvm::StringRef getKey() const { return key; }
  /// Returns the ops that were built so far.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }

private:
  bool isTaken(llvm::StringRef wanted) const;
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;
  void notifyOperationErased(mlir::Operation *op) override;

  mlir::OpBuilder &builder;
  mlir::ModuleOp module;
  std::string function, key;
  mlir::OpBuilder::Listener *outer;
  SignatureRecorder *parent;
  llvm::SmallVector<std::pair<std::string, mlir::Attribute>> arguments;
  mlir::Attribute outputStructure;
  llvm::MapVector<mlir::Value, int64_t> tensors;
  llvm::SmallVector<mlir::Operation *> ops;

  static thread_local SignatureRecorder *current;
};

/// One recorded call in its current state in the graph.
class Signature {
public:
  llvm::StringRef getKey() const { return key; }
  llvm::StringRef getFunction() const;
  /// Returns the key of the enclosing call, or an empty string if there is none.
  llvm::StringRef getParent() const;
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }

  mlir::DictionaryAttr getArguments() const;
  mlir::Attribute getOutputs() const;

  /// Returns the argument as a tensor. Returns null if it is not a single tensor or if no op of the call uses it any
  /// more.
  mlir::Value getInput(llvm::StringRef name) const;

  /// Returns all current arguments, to be changed and passed to another call.
  CallInputs cloneInputs() const;

  /// Returns the tensor of that number among the inputs (outputs) of the call's ops, or null if none is left.
  mlir::Value getInputTensor(int64_t number) const;
  mlir::Value getOutputTensor(int64_t number) const;

  /// Returns the tensors that the call returns, in the order of `getOutputs`.
  llvm::SmallVector<mlir::Value> getOutputTensors() const;

  /// Replaces the uses of `input` by the call's ops with `by`.
  void replaceInputWith(mlir::RewriterBase &rewriter, mlir::Value input, mlir::Value by) const;

  /// Moves all uses of the call's outputs to `values`, except for uses by the call itself. `values` must agree with
  /// `getOutputTensors` in number and types. The results of a function keep their positions.
  mlir::LogicalResult replaceOutputsUsesWith(mlir::RewriterBase &rewriter, mlir::ValueRange values) const;

private:
  friend class SignatureTable;

  std::string key;
  mlir::DictionaryAttr record;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Returns the key of the innermost call that `op` belongs to, or null if it belongs to none.
mlir::StringAttr getInnermostCall(mlir::Operation *op);

/// Returns the `inlay.signature` records for an op that replaces the `matched` ops. The op becomes part of their calls.
/// Its inputs are the inputs of these calls that are among `operands`. Its outputs are those of `replaced`, one of the
/// matched ops, if the op has as many `results`; `replaced` may be null. Returns null if the matched ops belong to no
/// call.
mlir::ArrayAttr mergeSignatures(llvm::ArrayRef<mlir::Operation *> matched, mlir::ValueRange operands,
                                mlir::Operation *replaced, size_t results);

/// Finds the calls of a module. The table stores only which ops may belong to which call, and reads the rest from the
/// module on request. It therefore stays valid if it is told of ops that become part of a call and of ops that are
/// freed; otherwise rebuild it after a rewrite.
class SignatureTable {
public:
  explicit SignatureTable(mlir::ModuleOp module);

  void add(mlir::Operation *op);
  /// Removes `op` from the table. The op may already be freed.
  void forget(mlir::Operation *op);

  std::optional<Signature> get(llvm::StringRef key) const;
  /// Returns the innermost call that `op` belongs to, if any.
  std::optional<Signature> get(mlir::Operation *op) const;
  /// Returns the keys of all calls, including those that have no ops left.
  llvm::SmallVector<llvm::StringRef> getKeys() const;

private:
  mlir::ModuleOp module;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<mlir::Operation *, 2>> ops;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::StringAttr, 1>> keys;
};

} // namespace inlay

#endif // INLAY_REWRITE_SIGNATURE_H
