// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules become containers: by inlay-compile, a process of its own, so that inlay-run needs no compiler to run one.

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

  /// Compiles with these options; the path of the container, which is there until it is removed or replaced. After a
  /// failure that the compiler has told of, the status has no message.
  rt::StatusOr<std::string> compile(const std::vector<std::string> &options);

  /// Removes what is temporary, as soon as a container is opened: what is mapped of it stays.
  void removeFiles() { folder_.remove(); }

private:
  rt::Status prepare();

  std::string file_;
  TemporaryFolder folder_;
  int input_ = -1; ///< what standard input held
};

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_COMPILE_H
