// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles modules to containers with inlay-compile. It is a separate process, so inlay-run can run compiled programs
// without a compiler.

#ifndef INLAY_TOOLS_INLAYRUN_COMPILE_H
#define INLAY_TOOLS_INLAYRUN_COMPILE_H

#include "Temporary.h"

#include <string>
#include <vector>

namespace inlay::tools {

/// A module to compile, from a file or from standard input, which is read once.
class Compiler {
public:
  explicit Compiler(std::string file) : file_(std::move(file)) {}
  ~Compiler();
  Compiler(const Compiler &) = delete;
  Compiler &operator=(const Compiler &) = delete;

  /// Compiles with these options and returns the path of the container. It exists until it is removed or replaced. If
  /// the compiler has printed the error, the status has no message.
  rt::StatusOr<std::string> compile(const std::vector<std::string> &options);

  /// Removes the temporary files. May be called once a container is opened: its mappings stay valid.
  void removeFiles() { folder_.remove(); }

private:
  rt::Status prepare();

  std::string file_;
  TemporaryFolder folder_;
  int input_ = -1; ///< A file with the contents of standard input.
};

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_COMPILE_H
