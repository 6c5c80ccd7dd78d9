// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments and results of a program as the command line's options describe them.

#ifndef INLAY_TOOLS_INLAYRUN_ARGUMENTS_H
#define INLAY_TOOLS_INLAYRUN_ARGUMENTS_H

#include "Arrays.h"
#include "Options.h"

namespace inlay::tools {

/// Returns an array for each input: the contents of its file, or random values in the sizes of the options.
rt::StatusOr<std::vector<Array>> makeInputs(const rt::Plan &plan, const RunOptions &options);

std::vector<rt::TensorView> views(std::vector<Array> &arrays);
rt::InputDims dimsOf(const std::vector<Array> &arrays);

/// Prints the first elements of each result.
void summarize(std::vector<Array> &outputs);

/// Writes the results to a .npy or .npz file.
rt::Status save(const std::string &path, const std::vector<Array> &outputs);

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_ARGUMENTS_H
