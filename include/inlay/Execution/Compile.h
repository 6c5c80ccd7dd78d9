// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a module and runs it in this process. The tools and the Python extension are built on this.

#ifndef INLAY_EXECUTION_COMPILE_H
#define INLAY_EXECUTION_COMPILE_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Execution/InputShapes.h"
#include "inlay/Import/Weights.h"
#include "inlay/Partition/ReportFormat.h"
#include "inlay/Pipeline/Options.h"
#include "inlay/Runtime/Core/Program.h"

#include "mlir/IR/DialectRegistry.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace inlay {

struct CompileRequest {
  std::string text;                    ///< Module in MLIR's textual form.
  std::string name = "<input>";        ///< File name for diagnostics.
  std::string directory = ".";         ///< Folder of the file that `inlay.weights` names.
  std::vector<InputShape> inputShapes; ///< Shapes of arguments whose dims the text leaves open.
  std::vector<Weight> weights;         ///< Data of constants that the text only names.
  std::vector<std::string> targets;    ///< Names in priority order; empty keeps the module's `inlay.targets`.
  std::string device;                  ///< Selector for `#inlay.vulkan`; empty for INLAY_DEVICE or the best device.
  std::string tuning;                  ///< Tuning file of that device; empty for default costs of its kind.
  std::vector<std::string> hostCpus;   ///< Processors to compile host code for (LLVM's names); empty for this one.
  /// Number of iterations after which a loop fails. The default keeps the module's `inlay.max_loop_iterations`.
  int64_t maxLoopIterations = InlayDialect::kDefaultMaxLoopIterations;
  /// True to drop the target `vulkan` and set `notice` if no usable device is found; false to fail. A device that
  /// `device` names must exist in both cases.
  bool allowMissingDevice = true;
  Options options;
  rt::CallbackHandler callbacks;
  rt::Runners runners; ///< Runners for the engines of targets that `extend` registers.
  /// Registers dialects and targets of the caller in addition to Inlay's; may be empty.
  std::function<void(mlir::DialectRegistry &)> extend;
  /// Called when a phase starts, with its name, its number and the number of phases; may be empty.
  std::function<void(llvm::StringRef phase, unsigned number, unsigned count)> progress;
};

/// A compiled function. Several threads may call it.
struct CompiledProgram {
  std::shared_ptr<const rt::Plan> plan;
  std::unique_ptr<rt::Program> program;
  std::shared_ptr<rt::Device> device; ///< Null if no segment runs on a device.
  std::string report;                 ///< Partition report as JSON, with the `kernels` of segments.
  std::string notice;                 ///< One line for the user, for example that no device was found; may be empty.
};

/// Runs the partitioning only and returns the report. Errors contain the compiler's diagnostics.
rt::StatusOr<std::string> partition(const CompileRequest &request, ReportFormat format = ReportFormat::Json);

/// Compiles and loads the only public function of the module.
rt::StatusOr<CompiledProgram> compile(const CompileRequest &request);

/// Compiles the function without loading it: `program` and `device` stay null.
rt::StatusOr<CompiledProgram> compileOnly(const CompileRequest &request);

/// Runs only the phases `options.from` to `options.to` and returns the text of the module after them. Sets `notice`, if
/// given, like CompiledProgram::notice.
rt::StatusOr<std::string> runPhases(const CompileRequest &request, std::string *notice = nullptr);

} // namespace inlay

#endif // INLAY_EXECUTION_COMPILE_H
