// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What inlay-compile writes: the text of a module, or a container with a program.

#ifndef INLAY_TOOLS_INLAY_COMPILE_OUTPUT_H
#define INLAY_TOOLS_INLAY_COMPILE_OUTPUT_H

#include "inlay/Execution/Compile.h"

namespace inlay::tools {

struct OutputOptions {
  std::string path;        ///< "-" for standard output; one that ends in .inlay gets a container
  std::string weightsFile; ///< for the constants of a container, beside it; empty: inside
  bool replaceWeights = false;
  std::string key; ///< private key to sign a container with; may be empty
};

/// Compiles as `request` says and writes the result.
rt::Status compileTo(const CompileRequest &request, const OutputOptions &output);

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAY_COMPILE_OUTPUT_H
