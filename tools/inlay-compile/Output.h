// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The output of inlay-compile: the text of a module, or a container with a program.

#ifndef INLAY_TOOLS_INLAY_COMPILE_OUTPUT_H
#define INLAY_TOOLS_INLAY_COMPILE_OUTPUT_H

#include "inlay/Execution/Compile.h"

namespace inlay::tools {

struct OutputOptions {
  std::string path;            ///< File name, or "-" for standard output. A name that ends in .inlay gets a container.
  std::string weightsFile;     ///< Name of the file beside the container for its constants. If empty, they are inside.
  bool replaceWeights = false; ///< True if an existing weights file with other contents may be replaced.
  std::string key;             ///< Private key that signs the container, or empty.
};

/// Compiles the module of `request` and writes the result.
rt::Status compileTo(const CompileRequest &request, const OutputOptions &output);

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAY_COMPILE_OUTPUT_H
