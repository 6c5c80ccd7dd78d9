// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what inlay-compile makes: a module as text, or a container. Common/CompileOptions.cpp has the flags.

#include "Output.h"
#include "ToolOptions.h"
#include "inlay/Execution/SavedProgram.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

static Status writeText(const CompileRequest &request, const std::string &path) {
  std::string notice;
  StatusOr<std::string> text = runPhases(request, &notice);
  tools::printNotice(notice);
  if (!text.isOk())
    return text.status();
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return {StatusCode::NotFound, "can't write '" + path + "': " + error.message()};
  stream << *text;
  stream.close();
  error = stream.error();
  stream.clear_error();
  return error ? Status(StatusCode::Internal, "can't write '" + path + "': " + error.message()) : Status::ok();
}

static Status writeContainer(const CompileRequest &request, const tools::OutputOptions &output) {
  if (request.options.to != Phase::Stitch)
    return {StatusCode::InvalidArgument, "option --to: expected stitch, since '" + output.path +
                                             "' holds a whole program, but got " +
                                             stringifyPhase(request.options.to).str()};
  StatusOr<CompiledProgram> compiled = compileOnly(request);
  if (!compiled.isOk())
    return compiled.status();
  tools::printNotice(compiled->notice);
  INLAY_RETURN_IF_ERROR(saveProgram(output.path, *compiled, "", {output.weightsFile, false, output.replaceWeights}));
  return output.key.empty() ? Status::ok() : rt::signContainer(output.path, output.key);
}

Status tools::compileTo(const CompileRequest &request, const OutputOptions &output) {
  if (llvm::StringRef(output.path).ends_with(".inlay"))
    return writeContainer(request, output);
  for (auto [name, value] : {std::pair("weights-file", output.weightsFile), std::pair("sign", output.key)})
    if (!value.empty())
      return {StatusCode::InvalidArgument,
              std::string("option --") + name + ": expected -o to name a file that ends in .inlay"};
  return writeText(request, output.path);
}
