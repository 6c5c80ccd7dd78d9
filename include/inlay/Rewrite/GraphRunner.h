// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs small graphs, for whoever wants to know what they compute. Rewriting doesn't know how graphs are run: what does
// (Execution/HostRunner.h) is attached to the dialect.

#ifndef INLAY_REWRITE_GRAPHRUNNER_H
#define INLAY_REWRITE_GRAPHRUNNER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectInterface.h"

#include "llvm/Support/Error.h"

#include <memory>

namespace inlay {

/// A dense row-major tensor; booleans take one byte each.
struct HostTensor {
  mlir::RankedTensorType type;
  std::vector<char> data;
};

class RunnableGraph {
public:
  virtual ~RunnableGraph() = default;

  /// `outputs` have their types; their bytes are written.
  virtual llvm::Error run(llvm::ArrayRef<HostTensor> inputs, llvm::MutableArrayRef<HostTensor> outputs) = 0;
};

class GraphRunner : public mlir::DialectInterface::Base<GraphRunner> {
public:
  explicit GraphRunner(mlir::Dialect *dialect) : Base(dialect) {}

  /// The module's only function, all of whose types are static, made ready to run.
  virtual llvm::Expected<std::unique_ptr<RunnableGraph>> prepare(mlir::ModuleOp module) const = 0;

  /// The runner attached to the context's dialect; null if there is none.
  static const GraphRunner *get(mlir::MLIRContext *context);
};

} // namespace inlay

#endif // INLAY_REWRITE_GRAPHRUNNER_H
