// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the scripts of peers/ in Python processes.

#ifndef TOOLS_INLAY_BENCH_CONTEST_PYTHONPEER_H
#define TOOLS_INLAY_BENCH_CONTEST_PYTHONPEER_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace inlay::bench {

/// Returns the peers in --against, or nothing without the option.
std::vector<std::string> getPeers();

/// Returns the interpreters in --python, python3 without the option.
std::vector<std::string> getPythons();

/// Returns the path of the interpreter `python`. The status is Unavailable if it does not exist.
rt::StatusOr<std::string> findPython(llvm::StringRef python);

/// Runs the text `script` with `arguments` and returns the JSON object that it prints. `what` names the peer in
/// messages. The status is Unavailable if the script exits with 3, which says that the interpreter lacks the peer.
rt::StatusOr<llvm::json::Object> runPython(llvm::StringRef program, llvm::StringRef script, llvm::StringRef what,
                                           llvm::ArrayRef<llvm::StringRef> arguments);

/// Runs the script whose file is the first of `arguments`, like runPython. Its standard error is shown.
rt::StatusOr<llvm::json::Object> runPythonFile(llvm::StringRef program, llvm::StringRef what,
                                               llvm::ArrayRef<llvm::StringRef> arguments);

/// Returns the models that `script` lists.
rt::StatusOr<std::vector<std::string>> listModels(llvm::StringRef program, llvm::StringRef script);

/// Returns `named`, or all of `known` if that is empty. Returns an error about `option` if a name is unknown.
rt::StatusOr<std::vector<std::string>> choose(llvm::StringRef option, llvm::ArrayRef<std::string> named,
                                              std::vector<std::string> known);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_CONTEST_PYTHONPEER_H
