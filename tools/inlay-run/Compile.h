// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules become containers: by inlay-compile, a process of its own, so that inlay-run needs no compiler to run one.

#ifndef INLAY_TOOLS_INLAYRUN_COMPILE_H
#define INLAY_TOOLS_INLAYRUN_COMPILE_H

#include "inlay/Runtime/Core/Status.h"

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

  /// Compiles with these options; the path of the container, which is removed with this object. After a failure that
  /// the compiler has told of, the status has no message.
  rt::StatusOr<std::string> compile(const std::vector<std::string> &options);

private:
  rt::Status prepare();

  std::string file_;
  std::string folder_; ///< of what is temporary
  int input_ = -1;     ///< what standard input held
  std::vector<std::string> made_;
};

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_COMPILE_H
