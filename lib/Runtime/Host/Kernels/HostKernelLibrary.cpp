// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds and opens the plug-in of oneDNN, else takes the built-in library. HostKernelLoader.cpp makes the kernels.

#include "HostKernelLibrary.h"
#include "inlay/Runtime/Core/LazyStatic.h"

#include <fmt/format.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>
#include <unistd.h>

namespace inlay::rt::host {

static StatusOr<SequentialLibrary *> openLibrary(const std::string &path) {
  // Never closed: it has thread-local storage and the code of primitives.
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Status(StatusCode::NotFound, fmt::format("can't load '{}': {}", path, dlerror()));
  auto open = reinterpret_cast<OpenHostLibrary>(dlsym(handle, kHostLibraryEntry));
  if (!open)
    return Status(StatusCode::InvalidArgument,
                  fmt::format("expected '{}' to be a library of host kernels, but it has no function '{}'", path,
                              kHostLibraryEntry));
  SequentialLibrary *library = open(kHostLibraryVersion);
  if (!library)
    return Status(StatusCode::InvalidArgument,
                  fmt::format("expected '{}' to have version {} of the interface of host kernels, but it has another",
                              path, kHostLibraryVersion));
  return library;
}

/// Returns the folder of the library or executable that contains this code; empty if unknown.
static std::string findOwnFolder() {
  Dl_info info;
  bool isKnown = dladdr(reinterpret_cast<const void *>(&hostKernelLibrary), &info) != 0 && info.dli_fname;
  std::string path = isKnown ? info.dli_fname : "";
  if (path.empty() || path[0] != '/') { // for an executable it is the name that it was called by
    std::array<char, PATH_MAX> link;
    ssize_t length = readlink("/proc/self/exe", link.data(), link.size());
    path.assign(link.data(), length > 0 ? static_cast<size_t>(length) : 0);
  }
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

static StatusOr<SequentialLibrary *> findLibrary() {
  if (const char *path = std::getenv("INLAY_HOST_LIBRARY"); path && *path) {
    if (std::string_view(path) == "none")
      return &portableLibrary();
    StatusOr<SequentialLibrary *> library = openLibrary(path);
    if (!library.isOk())
      return Status(library.status().code(), "INLAY_HOST_LIBRARY: " + library.status().message());
    return library;
  }
  // Beside this library, as in a Python package; or in lib beside bin, as in an install tree or a build.
  std::string ownFolder = findOwnFolder();
  for (const char *folder : {"/", "/../lib/"}) {
    if (ownFolder.empty())
      break;
    StatusOr<SequentialLibrary *> library = openLibrary(ownFolder + folder + "libinlay_onednn.so");
    if (library.isOk())
      return library;
  }
  return &portableLibrary();
}

StatusOr<SequentialLibrary *> hostKernelLibrary() {
  static LazyStatic<StatusOr<SequentialLibrary *>> library;
  return library.get(findLibrary);
}

} // namespace inlay::rt::host
