// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module that Python owns, and handles to its ops and values. A handle points to a cell that the graph clears before
// the memory of the op is freed. Using the handle of an op that is gone therefore raises an error and never reads freed
// memory. Handles keep their graph alive. All functions require the interpreter lock. While one thread changes a graph,
// other threads get an error.

#ifndef INLAY_PYTHON_GRAPH_H
#define INLAY_PYTHON_GRAPH_H

#include "inlay/Rewrite/GraphRewriter.h"
#include "inlay/Rewrite/Signature.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <thread>

namespace inlay::python {

/// The context of all modules and pattern managers. It lives as long as any of them.
struct Context {
  Context();
  static std::shared_ptr<Context> get();

  mlir::MLIRContext context;
};

class Graph;

struct OpCell : std::enable_shared_from_this<OpCell> {
  OpCell(Graph &graph, mlir::Operation *op) : graph(graph), op(op) {}
  ~OpCell();

  Graph &graph;
  mlir::Operation *op; ///< Null once the op's memory is freed.
};

/// A handle to an op, valid as long as the op is in its graph.
struct OpHandle {
  std::shared_ptr<Graph> graph;
  std::shared_ptr<OpCell> cell;

  /// Returns the op. Raises ErasedError if it is gone.
  mlir::Operation *get() const;
  bool isLive() const;
  bool operator==(const OpHandle &other) const { return cell == other.cell; }
};

/// A handle to a result of an op or to an argument of a block in it.
struct ValueHandle {
  OpHandle owner;
  int region = -1; ///< Region of the block; -1 for a result.
  unsigned block = 0, number = 0;

  /// Returns the value. Raises ErasedError if it is gone.
  mlir::Value get() const;
  bool operator==(const ValueHandle &other) const {
    return owner == other.owner && region == other.region && block == other.block && number == other.number;
  }
};

class Graph : public std::enable_shared_from_this<Graph> {
public:
  explicit Graph(std::shared_ptr<Context> context);

  /// Parses and verifies a module. Raises a CompileError with the diagnostics on failure.
  static std::shared_ptr<Graph> parse(const std::string &text, const std::string &name);
  std::string print(bool locations);
  void verify();

  OpHandle handle(mlir::Operation *op);
  ValueHandle handle(mlir::Value value);
  nanobind::object handleOrNone(mlir::Value value);

  /// Returns the module. Raises an error if another thread is changing it.
  mlir::ModuleOp get();
  /// Returns the function with that name; the main function if `name` is empty.
  mlir::func::FuncOp getFunction(const std::string &name);
  mlir::MLIRContext *getContext() { return &context->context; }
  std::shared_ptr<Context> shareContext() const { return context; }

  /// Returns the name of an op. All ops get their names at the first request and keep them. The name is the name
  /// location if it is unique, else the kind of the op and a number.
  llvm::StringRef getName(mlir::Operation *op);
  mlir::Operation *find(llvm::StringRef name);
  void rename(mlir::Operation *op, const std::string &name);

  /// Names all ops, unless this was done before. Ops that are added later do not affect these names.
  void nameOnce();

  /// Returns the table of recorded calls of the current graph.
  const SignatureTable &getSignatures();
  /// Records that an op may have become part of a call.
  void noteCall(mlir::Operation *op);
  /// Drops the table, because an unknown set of ops may have become part of calls.
  void forgetSignatures() { signatures.reset(); }

  /// Called before the memory of an op is freed.
  void forget(mlir::Operation *op);
  /// Does the same for a single op without its nested ops. `gone` may already be freed.
  void forgetOne(mlir::Operation *gone);

  /// `with net_guard`: groups the changes until `end` into one transaction, unless a rewrite is running.
  void begin();
  void end(bool keep);

  void pushInsertionPoint(const OpHandle &op, bool after);
  void popInsertionPoint();

  /// Returns the rewriter to change the graph with, with its insertion point set. Raises an error if the graph must not
  /// be changed.
  GraphRewriter &getRewriter();
  void setInsertionPoint();

  OpHandle create(const std::string &name, const std::vector<ValueHandle> &operands, nanobind::dict attributes,
                  std::optional<std::vector<std::string>> results);
  ValueHandle addInput(const std::string &name, const std::string &type);
  void markOutput(const ValueHandle &value);
  void moveUses(const ValueHandle &from, const ValueHandle &to, const std::vector<OpHandle> &except, bool retype);
  void setAttribute(const OpHandle &op, const std::string &name, nanobind::handle value);

  /// Marks an op as removed. It is erased at the end of the transaction, so handles to it work until then.
  void markRemoved(const OpHandle &op, bool withRegions);
  bool isMarkedRemoved(mlir::Operation *op) const;

  /// Raises a RewriteError if the rewriter refused the last change.
  void checkRefusal();

  /// The scope in which a pattern reads or changes the graph.
  class Scope {
  public:
    /// A null `rewriter` forbids changes, for the reason `why`.
    Scope(Graph &graph, GraphRewriter *rewriter, mlir::Operation *root, const char *why = nullptr);
    ~Scope();
    /// Erases the ops marked as removed. Refuses the rewrite if one of them is still used.
    void finish();

  private:
    Graph &graph;
    GraphRewriter *outerRewriter;
    const char *outerWhy;
    size_t outerInsertions;
    llvm::SmallVector<mlir::Operation *> outerRemoved;
  };

  /// The scope in which a manager works on the graph.
  class Busy {
  public:
    explicit Busy(Graph &graph);
    ~Busy();

  private:
    Graph &graph;
  };

private:
  friend struct OpCell;

  struct Insertion {
    OpHandle op;
    bool after;
  };

  void nameAll();
  void give(mlir::Operation *op, std::string name);
  void removeMarked();

  std::shared_ptr<Context> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::DenseMap<mlir::Operation *, OpCell *> cells;
  llvm::DenseMap<mlir::Operation *, llvm::StringRef> names;
  llvm::StringMap<mlir::Operation *> opsByName;
  std::optional<SignatureTable> signatures; ///< Created on request.
  unsigned nextNumber = 0;
  bool named = false;

  std::thread::id user;                         ///< Thread that is changing the graph.
  std::unique_ptr<GraphRewriter> guardRewriter; ///< Of the outermost net_guard; null outside of one.
  GraphRewriter *rewriter = nullptr;
  const char *whyNot = nullptr; ///< Reason why the graph must not be changed; null if it may be.
  unsigned depth = 0;           ///< Nesting depth of net_guards.
  std::vector<Insertion> insertions;
  llvm::SmallVector<mlir::Operation *> removed;
};

/// Collects the errors of this thread.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext *context);
  const std::string &str() const { return text; }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

/// Raises an ErasedError. All handles use the same text.
[[noreturn]] void raiseErased(const char *what);

void bindGraph(nanobind::module_ &m);
void bindSignatures(nanobind::module_ &m);
void bindPatterns(nanobind::module_ &m);

} // namespace inlay::python

#endif // INLAY_PYTHON_GRAPH_H
