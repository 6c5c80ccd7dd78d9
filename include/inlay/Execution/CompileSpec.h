// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a model and calls it in a few lines of C++. The settings have the same names as those of `inlay.compile` in
// Python.
//
//   CompileSpec spec(std::vector<InputRange>{{1, 3, 224, 224}});
//   spec.min_block_size = 2;
//   spec.torch_executed_ops.push_back("aten::relu");
//   CompiledModule compiled = inlay::compile(module, spec);
//   rt::StatusOr<std::vector<Tensor>> results = compiled.forward({input});

#ifndef INLAY_EXECUTION_COMPILESPEC_H
#define INLAY_EXECUTION_COMPILESPEC_H

#include "inlay/Execution/Compile.h"

#include "mlir/IR/BuiltinOps.h"

#include <initializer_list>

namespace inlay {

/// A dense row-major tensor in host memory. Copies share the elements.
class Tensor {
public:
  /// Returns a tensor of zeros. Fails for a negative dim or if there is not enough memory.
  static rt::StatusOr<Tensor> zeros(std::vector<int64_t> shape, rt::ElementType element = rt::ElementType::F32);
  /// Returns a view of the caller's elements, which must outlive the tensor.
  static Tensor view(void *data, std::vector<int64_t> shape, rt::ElementType element = rt::ElementType::F32);

  const std::vector<int64_t> &shape() const { return dims; }
  rt::ElementType element() const { return type; }
  /// Returns the number of elements.
  int64_t count() const;
  void *data() const { return bytes.get(); }
  template <typename T>
  T *data() const {
    return static_cast<T *>(bytes.get());
  }

private:
  std::vector<int64_t> dims;
  rt::ElementType type = rt::ElementType::F32;
  std::shared_ptr<void> bytes;
};

/// The shape of an input: a single shape, or the minimum, the typical and the maximum shape. The module must accept all
/// of them: each dim whose size may vary must be one of its symbols.
struct InputRange {
  InputRange(std::initializer_list<int64_t> shape) : InputRange(std::vector<int64_t>(shape)) {}
  InputRange(std::vector<int64_t> shape) : min(shape), opt(shape), max(std::move(shape)) {}
  InputRange(std::vector<int64_t> min, std::vector<int64_t> opt, std::vector<int64_t> max)
      : min(std::move(min)), opt(std::move(opt)), max(std::move(max)) {}

  std::vector<int64_t> min, opt, max;
};

/// The settings of a compilation. The names and meanings are those of the keywords in Python, see
/// docs/reference/options.md.
struct CompileSpec {
  /// Takes one range per input of the module, or none to keep the module's own shapes.
  CompileSpec(std::vector<InputRange> inputs = {}) : inputs(std::move(inputs)) {}

  std::vector<InputRange> inputs;
  std::vector<std::string> targets = {"vulkan", "host"}; ///< In priority order.
  bool enabled = true;        ///< False to run the whole graph as one segment on the first target, or to fail.
  int64_t min_block_size = 1; ///< Minimum number of ops of an accelerator segment; at least 1.
  std::vector<std::string> torch_executed_ops; ///< Names of ops that accelerators must not run.
  /// Modules that accelerators must not run, by path or class (globs).
  std::vector<std::string> torch_executed_modules;
  /// Ops that accelerators must not run, by label (globs) or `file:line`.
  std::vector<std::string> torch_executed_locations;
  std::vector<std::string> allow_ops;    ///< The only ops that accelerators may run: `aten::add` or `aten::add@vulkan`.
  std::vector<std::string> exempt_ops;   ///< Names of ops whose segments may be smaller than `min_block_size`.
  bool require_full_compilation = false; ///< True to fail unless the first target runs every op.
  Strategy strategy = Strategy::Levels;
  std::string cost_model;            ///< File of the cost model, or "default".
  std::string placement;             ///< File whose segments are formed instead of new ones.
  std::string save_placement;        ///< File for the placement.
  std::string tuning;                ///< Tuning file of the device.
  std::vector<std::string> host_cpu; ///< Processors to compile host code for; empty for this one.
  int64_t max_loop_iterations = InlayDialect::kDefaultMaxLoopIterations; ///< At least 1.
  bool recovery = true; ///< True to compile each engine for the host too, to run there if the device fails.
  std::string device;   ///< Number or part of a name; empty for INLAY_DEVICE or the best device.
};

/// A model to compile: its MLIR text and the folder of the file with its weights.
struct Module {
  /// Loads a .mlir file, as `inlay.export` in Python writes it.
  static rt::StatusOr<Module> load(const std::string &path);
  explicit Module(std::string text, std::string directory = ".")
      : text(std::move(text)), directory(std::move(directory)) {}
  explicit Module(mlir::ModuleOp module);

  std::string text, directory;
};

/// A compiled model, or the reason why the compilation failed.
class CompiledModule {
public:
  CompiledModule(rt::Status status) : failure(std::move(status)) {}
  CompiledModule(CompiledProgram compiled) : compiled(std::move(compiled)) {}

  bool isOk() const { return failure.isOk(); }
  const rt::Status &status() const { return failure; }

  /// Runs the model. Invalid inputs are errors that name the input. Several threads may call this at the same time.
  rt::StatusOr<std::vector<Tensor>> forward(const std::vector<Tensor> &inputs) const;

  /// Returns the partition report as JSON.
  const std::string &report() const { return compiled.report; }
  /// Returns one line for the user; may be empty.
  const std::string &notice() const { return compiled.notice; }

private:
  rt::Status failure;
  CompiledProgram compiled;
};

/// Returns a request with the settings of `spec` and without a module.
CompileRequest makeRequest(const CompileSpec &spec);

/// Compiles the only public function of the module.
CompiledModule compile(const Module &module, const CompileSpec &spec = {});

} // namespace inlay

#endif // INLAY_EXECUTION_COMPILESPEC_H
