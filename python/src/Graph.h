// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module that Python holds, and handles to its ops and values. A handle is a cell that the graph empties before the
// op's memory is freed, whoever frees it; so a handle to what is gone raises, and never reads. Handles keep their
// graph. Everything here needs the interpreter lock; while one thread changes a graph, others get an error.

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

/// The context of all modules and pattern managers; it goes when the last of them does.
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
  mlir::Operation *op; ///< null once its memory is freed
};

/// An op, for as long as it is in its graph.
struct OpHandle {
  std::shared_ptr<Graph> graph;
  std::shared_ptr<OpCell> cell;

  mlir::Operation *get() const; ///< raises ErasedError if it is gone
  bool isLive() const;
  bool operator==(const OpHandle &other) const { return cell == other.cell; }
};

/// A result of an op, or an argument of a block in it.
struct ValueHandle {
  OpHandle owner;
  int region = -1; ///< of the block; -1 for a result
  unsigned block = 0, number = 0;

  mlir::Value get() const; ///< raises ErasedError if it is gone
  bool operator==(const ValueHandle &other) const {
    return owner == other.owner && region == other.region && block == other.block && number == other.number;
  }
};

class Graph : public std::enable_shared_from_this<Graph> {
public:
  explicit Graph(std::shared_ptr<Context> context);

  /// Raises CompileError with the diagnostics if the text doesn't parse or verify.
  static std::shared_ptr<Graph> parse(const std::string &text, const std::string &name);
  std::string print(bool locations);
  void verify();

  OpHandle handle(mlir::Operation *op);
  ValueHandle handle(mlir::Value value);
  nanobind::object handleOrNone(mlir::Value value);

  /// The module; raises if another thread is changing it.
  mlir::ModuleOp get();
  mlir::func::FuncOp getFunction(const std::string &name); ///< the main one if empty
  mlir::MLIRContext *getContext() { return &context->context; }
  std::shared_ptr<Context> shareContext() const { return context; }

  /// Names are given to ops when one is first asked for and stay theirs: the name location where it is unique, else
  /// the kind and a number.
  llvm::StringRef getName(mlir::Operation *op);
  mlir::Operation *find(llvm::StringRef name);
  void rename(mlir::Operation *op, const std::string &name);

  /// Gives names to all ops, so that those they have now are theirs whatever is made beside them.
  void nameOnce();

  /// Finds recorded calls, in the graph as it is now.
  const SignatureTable &getSignatures();
  /// Says that an op may have come to be part of a call.
  void noteCall(mlir::Operation *op);
  /// Says that this was done to more ops than anybody noted.
  void forgetSignatures() { signatures.reset(); }

  /// Called before an op's memory is freed.
  void forget(mlir::Operation *op);
  /// The same for one op without what is in it, which may be freed by now.
  void forgetOne(mlir::Operation *gone);

  /// `with net_guard`: changes up to the end are one transaction, unless a rewrite is at work already.
  void begin();
  void end(bool keep);

  void pushInsertionPoint(const OpHandle &op, bool after);
  void popInsertionPoint();

  /// The rewriter to change the graph by, with the insertion point set; raises where nothing may be changed.
  GraphRewriter &getRewriter();
  void setInsertionPoint();

  OpHandle create(const std::string &name, const std::vector<ValueHandle> &operands, nanobind::dict attributes,
                  std::optional<std::vector<std::string>> results);
  ValueHandle addInput(const std::string &name, const std::string &type);
  void markOutput(const ValueHandle &value);
  void moveUses(const ValueHandle &from, const ValueHandle &to, const std::vector<OpHandle> &except, bool retype);
  void setAttribute(const OpHandle &op, const std::string &name, nanobind::handle value);

  /// Removed when the transaction ends, so that handles to it work until then.
  void markRemoved(const OpHandle &op, bool withRegions);
  bool isMarkedRemoved(mlir::Operation *op) const;

  /// Raises RewriteError if the rewriter refused what was just done.
  void checkRefusal();

  /// While a pattern looks at the graph, or changes it.
  class Scope {
  public:
    /// `rewriter` may be null: nothing may be changed, because of `why`.
    Scope(Graph &graph, GraphRewriter *rewriter, mlir::Operation *root, const char *why = nullptr);
    ~Scope();
    /// Removes what was marked; refuses by the rewriter if something still uses it.
    void finish();

  private:
    Graph &graph;
    GraphRewriter *outerRewriter;
    const char *outerWhy;
    size_t outerInsertions;
    llvm::SmallVector<mlir::Operation *> outerRemoved;
  };

  /// While a manager works on the graph.
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
  std::optional<SignatureTable> signatures; ///< made when it is first asked for
  unsigned nextNumber = 0;
  bool named = false;

  std::thread::id user; ///< who changes the graph just now
  std::unique_ptr<GraphRewriter> own;
  GraphRewriter *rewriter = nullptr;
  const char *whyNot = nullptr; ///< why nothing may be changed just now
  unsigned depth = 0;           ///< of net_guards
  std::vector<Insertion> insertions;
  llvm::SmallVector<mlir::Operation *> removed;
};

/// Gathers the errors of this thread.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext *context);
  const std::string &str() const { return text; }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

/// Raises ErasedError with what every handle says that outlived what it stands for.
[[noreturn]] void raiseErased(const char *what);

void bindGraph(nanobind::module_ &m);
void bindSignatures(nanobind::module_ &m);
void bindPatterns(nanobind::module_ &m);

} // namespace inlay::python

#endif // INLAY_PYTHON_GRAPH_H
