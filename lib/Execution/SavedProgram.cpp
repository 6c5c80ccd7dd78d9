// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Execution/SavedProgram.h"

using namespace inlay;
using rt::Status;
using rt::StatusOr;

Status inlay::saveProgram(const std::string &path, const CompiledProgram &compiled, const std::string &metadata,
                          const rt::ContainerWriteOptions &options) {
  return rt::writeContainer(path, *compiled.plan, {compiled.report, metadata}, options);
}

StatusOr<CompiledProgram> inlay::loadSaved(const std::string &path, const LoadSavedOptions &options,
                                           std::string *metadata) {
  StatusOr<rt::ContainerContents> saved = rt::readContainer(path, options.read);
  if (!saved.isOk())
    return saved.status();
  if (options.admit)
    INLAY_RETURN_IF_ERROR(options.admit(*saved->plan));
  StatusOr<LoadedProgram> loaded = rt::loadPlan(saved->plan, options.load);
  if (!loaded.isOk())
    return Status(loaded.status().code(), "'" + path + "': " + loaded.status().message());
  if (metadata)
    *metadata = std::move(saved->info.metadata);
  CompiledProgram compiled;
  compiled.plan = std::move(loaded->plan);
  compiled.program = std::move(loaded->program);
  compiled.device = std::move(loaded->device);
  compiled.report = std::move(saved->info.report);
  return compiled;
}
