// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The high-level calls that ops came from: function, arguments by name, outputs. What is recorded about tensors is on
// the ops: which of its operands and results are which tensors of the call. So the graph itself says what a call's
// inputs are now, and no rewrite can make that stale. Locations name the call too, down to what a target runs.

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

/// A call's arguments to change and build another call from. What `get` gives names tensors by their place in
/// `tensors`, where those are null that no op of the call uses any more.
struct CallInputs {
  mlir::NamedAttrList arguments;
  llvm::SmallVector<mlir::Value> tensors;

  mlir::Attribute get(llvm::StringRef name) const { return arguments.get(name); }
  void set(llvm::StringRef name, mlir::Attribute structure) { arguments.set(name, structure); }

  /// The argument that is one tensor; null if it isn't.
  mlir::Value getTensor(llvm::StringRef name) const;
  void setTensor(llvm::StringRef name, mlir::Value value);
};

/// Records what is built while it lives as one call. Recorders nest: an op belongs to all calls that it is built in.
///
///   SignatureRecorder call(builder, module, "gpt_attention");
///   call.argument("qkv", call.tensor(qkv));
///   call.argument("bias", builder.getUnitAttr());        // none
///   Value out = ...;                                     // builds ops
///   call.outputs(builder.getArrayAttr({call.tensor(out)}));
///
/// What is erased meanwhile must be erased through a rewriter.
class SignatureRecorder : private mlir::RewriterBase::ForwardingListener {
public:
  SignatureRecorder(mlir::OpBuilder &builder, mlir::ModuleOp module, llvm::StringRef function);
  ~SignatureRecorder();
  SignatureRecorder(const SignatureRecorder &) = delete;
  SignatureRecorder &operator=(const SignatureRecorder &) = delete;

  /// What stands for a tensor in arguments and outputs; the same for the same value.
  mlir::Attribute tensor(mlir::Value value);

  /// Records an argument: a number, a string, a unit (or null) for none, `tensor`, or arrays and dictionaries of these.
  void argument(llvm::StringRef name, mlir::Attribute structure) { arguments.push_back({name.str(), structure}); }
  /// Records all arguments of another call, as it has them now or as they were changed.
  void copyArguments(const CallInputs &inputs);
  void outputs(mlir::Attribute structure) { outputStructure = structure; }

  /// The call's key, under which it is in the module when the recorder is gone.
  llvm::StringRef getKey() const { return key; }
  /// What was built up to now.
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

/// One recorded call as it stands in the graph now.
class Signature {
public:
  llvm::StringRef getKey() const { return key; }
  llvm::StringRef getFunction() const;
  llvm::StringRef getParent() const; ///< key of the call around it; empty if there is none
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }

  mlir::DictionaryAttr getArguments() const;
  mlir::Attribute getOutputs() const;

  /// The argument that is one tensor; null if it isn't, or no op of the call uses that tensor any more.
  mlir::Value getInput(llvm::StringRef name) const;

  /// All arguments as they are now, to change and build another call from.
  CallInputs cloneInputs() const;

  /// The tensor of that number, as an input or an output of the call's ops; null if there is none left.
  mlir::Value getInputTensor(int64_t number) const;
  mlir::Value getOutputTensor(int64_t number) const;

  /// The tensors that the call gives, in the order in which `getOutputs` names them.
  llvm::SmallVector<mlir::Value> getOutputTensors() const;

  /// Lets the call's ops use `by` where they use `input`.
  void replaceInputWith(mlir::RewriterBase &rewriter, mlir::Value input, mlir::Value by) const;

  /// Moves all uses of the call's outputs to `values`, but for uses by the call itself. `values` are as many and of the
  /// same types as `getOutputTensors`; what a function returns stays in its place there.
  mlir::LogicalResult replaceOutputsUsesWith(mlir::RewriterBase &rewriter, mlir::ValueRange values) const;

private:
  friend class SignatureTable;

  std::string key;
  mlir::DictionaryAttr record;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// The key of the innermost call that `op` is part of; null if it is part of none.
mlir::StringAttr getInnermostCall(mlir::Operation *op);

/// The records, for `inlay.signature`, of an op that is made where `matched` ops were: it is part of their calls, with
/// the inputs of these that are among its `operands`, and with the outputs that `replaced` gives, one of them, if its
/// `results`, as many, take their place; `replaced` may be null. Null if the ops are part of no call.
mlir::ArrayAttr mergeSignatures(llvm::ArrayRef<mlir::Operation *> matched, mlir::ValueRange operands,
                                mlir::Operation *replaced, size_t results);

/// Finds the calls of a module. All that is said of a call is read from the module when it is asked for; kept is only
/// which ops may be part of which. So a table stays right for as long as it hears of ops that come to be part of a
/// call, and of those that are freed; one that doesn't is made anew after a rewrite.
class SignatureTable {
public:
  explicit SignatureTable(mlir::ModuleOp module);

  void add(mlir::Operation *op);
  void forget(mlir::Operation *op); ///< which may be freed by now

  std::optional<Signature> get(llvm::StringRef key) const;
  /// The innermost call that `op` is part of, if there is one.
  std::optional<Signature> get(mlir::Operation *op) const;
  /// Of all calls, those too that no op is left of.
  llvm::SmallVector<llvm::StringRef> getKeys() const;

private:
  mlir::ModuleOp module;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<mlir::Operation *, 2>> ops;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::StringAttr, 1>> keys;
};

} // namespace inlay

#endif // INLAY_REWRITE_SIGNATURE_H
