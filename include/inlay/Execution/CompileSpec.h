// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compile a model and call it, in a few lines of C++: the settings that `inlay.compile` has in Python, by the same
// names.
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
  /// Zeros. An error for a negative dim or where there is no memory.
  static rt::StatusOr<Tensor> zeros(std::vector<int64_t> shape, rt::ElementType element = rt::ElementType::F32);
  /// The caller's elements, which outlive the tensor.
  static Tensor view(void *data, std::vector<int64_t> shape, rt::ElementType element = rt::ElementType::F32);

  const std::vector<int64_t> &shape() const { return dims; }
  rt::ElementType element() const { return type; }
  int64_t count() const; ///< of elements
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

/// The shape of an input: one, or the least, the usual and the largest. The module must take all of them: a dim that
/// isn't the same in every call is one of its symbols.
struct InputRange {
  InputRange(std::initializer_list<int64_t> shape) : InputRange(std::vector<int64_t>(shape)) {}
  InputRange(std::vector<int64_t> shape) : min(shape), opt(shape), max(std::move(shape)) {}
  InputRange(std::vector<int64_t> min, std::vector<int64_t> opt, std::vector<int64_t> max)
      : min(std::move(min)), opt(std::move(opt)), max(std::move(max)) {}

  std::vector<int64_t> min, opt, max;
};

/// What and how to compile. The names are those of the keywords in Python.
struct CompileSpec {
  /// One range per input of the module, or none to take its own shapes.
  CompileSpec(std::vector<InputRange> inputs = {}) : inputs(std::move(inputs)) {}

  std::vector<InputRange> inputs;
  std::vector<std::string> targets = {"vulkan", "host"}; ///< best first
  bool enabled = true;
  int64_t min_block_size = 1;
  std::vector<std::string> torch_executed_ops;     ///< forced away from the accelerator, by name
  std::vector<std::string> torch_executed_modules; ///< likewise, by path or class (globs)
  bool require_full_compilation = false;
  bool recovery = true; ///< compile what runs on a device for the host too, to run there when the device fails
  std::string device;   ///< a number or a part of a name; empty for INLAY_DEVICE or the best one
};

/// A model to compile: MLIR text and the folder of the file that holds its weights.
struct Module {
  /// A .mlir file, as `inlay.export` in Python writes it.
  static rt::StatusOr<Module> load(const std::string &path);
  explicit Module(std::string text, std::string directory = ".")
      : text(std::move(text)), directory(std::move(directory)) {}
  explicit Module(mlir::ModuleOp module);

  std::string text, directory;
};

/// A compiled model, or the reason why there is none.
class CompiledModule {
public:
  CompiledModule(rt::Status status) : failure(std::move(status)) {}
  CompiledModule(CompiledProgram compiled) : compiled(std::move(compiled)) {}

  bool isOk() const { return failure.isOk(); }
  const rt::Status &status() const { return failure; }

  /// Runs the model; inputs are checked, with errors that name them. From several threads at a time if need be.
  rt::StatusOr<std::vector<Tensor>> forward(const std::vector<Tensor> &inputs) const;

  const std::string &report() const { return compiled.report; } ///< the partition report as JSON
  const std::string &notice() const { return compiled.notice; } ///< one line for the user; may be empty

private:
  rt::Status failure;
  CompiledProgram compiled;
};

/// Compiles the module's only public function.
CompiledModule compile(const Module &module, const CompileSpec &spec = {});

} // namespace inlay

#endif // INLAY_EXECUTION_COMPILESPEC_H
