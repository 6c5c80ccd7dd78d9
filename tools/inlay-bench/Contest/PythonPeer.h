// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scripts of peers/ in a Python process of their own.

#ifndef TOOLS_INLAY_BENCH_CONTEST_PYTHONPEER_H
#define TOOLS_INLAY_BENCH_CONTEST_PYTHONPEER_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace inlay::bench {

/// What --against names; empty without it.
std::vector<std::string> getPeers();

/// The interpreters that --python names, python3 without it.
std::vector<std::string> getPythons();

/// The full name of the interpreter that `python` names; unavailable if there is none.
rt::StatusOr<std::string> findPython(llvm::StringRef python);

/// The JSON object that `script` prints, run with `arguments`. Unavailable if it exits with 3, as scripts do that miss
/// what they compare with; `what` names it in messages.
rt::StatusOr<llvm::json::Object> runPython(llvm::StringRef program, llvm::StringRef script, llvm::StringRef what,
                                           llvm::ArrayRef<llvm::StringRef> arguments);

/// The same of the file of a script, the first of `arguments`. What it says of its progress is shown.
rt::StatusOr<llvm::json::Object> runPythonFile(llvm::StringRef program, llvm::StringRef what,
                                               llvm::ArrayRef<llvm::StringRef> arguments);

/// The models that `script`, one of whole models, lists.
rt::StatusOr<std::vector<std::string>> listModels(llvm::StringRef program, llvm::StringRef script);

/// The named ones of `known`, all if none are named; an error of `option` for one that isn't among them.
rt::StatusOr<std::vector<std::string>> choose(llvm::StringRef option, llvm::ArrayRef<std::string> named,
                                              std::vector<std::string> known);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_CONTEST_PYTHONPEER_H
