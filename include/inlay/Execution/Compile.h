// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compile a module in process and run it: what tools and the Python extension are built on.

#ifndef INLAY_EXECUTION_COMPILE_H
#define INLAY_EXECUTION_COMPILE_H

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
  std::string text;                    ///< a module in MLIR's textual form
  std::string name = "<input>";        ///< file name for diagnostics
  std::string directory = ".";         ///< where the file that `inlay.weights` names is looked for
  std::vector<InputShape> inputShapes; ///< of arguments whose dims the text leaves open
  std::vector<Weight> weights;         ///< bytes of constants that the text only names
  std::vector<std::string> targets;    ///< names in priority order; empty keeps the module's `inlay.targets`
  std::string device;                  ///< selector for `#inlay.vulkan`; empty for INLAY_DEVICE or the best device
  std::string tuning;                  ///< tuning file of that device; empty for costs by its kind
  std::vector<std::string> hostCpus;   ///< processors to make host code for, by LLVM's names; empty for this one
  /// Without a usable device drop `vulkan` and say so in `notice`, else fail. One that is asked for must be there.
  bool allowMissingDevice = true;
  Options options;
  rt::CallbackHandler callbacks;
  rt::Runners runners; ///< for the engines of targets that `extend` registers
  /// Registers dialects and targets of the caller's own beside Inlay's; may be empty.
  std::function<void(mlir::DialectRegistry &)> extend;
  /// Called with each phase's name as it starts and the number of phases; may be empty.
  std::function<void(llvm::StringRef phase, unsigned number, unsigned count)> progress;
};

/// A compiled function, ready to be called from several threads.
struct CompiledProgram {
  std::shared_ptr<const rt::Plan> plan;
  std::unique_ptr<rt::Program> program;
  std::shared_ptr<rt::Device> device; ///< null if no segment runs on one
  std::string report;                 ///< the partition report as JSON, with the `kernels` of segments
  std::string notice;                 ///< one line for the user, e.g. that no device was found; may be empty
};

/// Partitions alone; the report. Errors carry the compiler's diagnostics.
rt::StatusOr<std::string> partition(const CompileRequest &request, ReportFormat format = ReportFormat::Json);

/// Compiles and loads the module's only public function.
rt::StatusOr<CompiledProgram> compile(const CompileRequest &request);

/// Compiles it without loading it: `program` and `device` stay null.
rt::StatusOr<CompiledProgram> compileOnly(const CompileRequest &request);

/// Runs phases `options.from` to `options.to` alone; the module's text after them. `notice` as in CompiledProgram.
rt::StatusOr<std::string> runPhases(const CompileRequest &request, std::string *notice = nullptr);

} // namespace inlay

#endif // INLAY_EXECUTION_COMPILE_H
