// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs small graphs to find out what they compute. The rewriter does not depend on a backend: the implementation
// (Execution/HostRunner.h) is attached to the dialect.

#ifndef INLAY_REWRITE_GRAPHRUNNER_H
#define INLAY_REWRITE_GRAPHRUNNER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectInterface.h"

#include "llvm/Support/Error.h"

#include <memory>

namespace inlay {

/// A dense row-major tensor in host memory. A boolean takes one byte.
struct HostTensor {
  mlir::RankedTensorType type;
  std::vector<char> data;
};

/// A compiled graph.
class RunnableGraph {
public:
  virtual ~RunnableGraph() = default;

  /// Runs the graph. The caller sets the types of `outputs`; the call writes their data.
  virtual llvm::Error run(llvm::ArrayRef<HostTensor> inputs, llvm::MutableArrayRef<HostTensor> outputs) = 0;
};

/// Compiles graphs so that they can be run.
class GraphRunner : public mlir::DialectInterface::Base<GraphRunner> {
public:
  explicit GraphRunner(mlir::Dialect *dialect) : Base(dialect) {}

  /// Compiles the only function of `module`. All its types must be static.
  virtual llvm::Expected<std::unique_ptr<RunnableGraph>> prepare(mlir::ModuleOp module) const = 0;

  /// Returns the runner that is attached to the context's dialect, or null if there is none.
  static const GraphRunner *get(mlir::MLIRContext *context);
};

} // namespace inlay

#endif // INLAY_REWRITE_GRAPHRUNNER_H
