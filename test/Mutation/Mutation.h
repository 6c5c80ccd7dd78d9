// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The switches of mutants. mutate.py adds this header to the copies of sources that it mutates. INLAY_MUTANT is the
// number of the mutant that is on. INLAY_MUTANTS_REACHED names a file with one byte per mutant, in which bits say
// whether the mutant was reached and whether it changes nothing for the types of its operands.

#ifndef INLAY_TEST_MUTATION_MUTATION_H
#define INLAY_TEST_MUTATION_MUTATION_H

#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>

#pragma GCC optimize("O1") // compiles faster, and mutants hinder optimizations anyway
#pragma GCC diagnostic ignored "-Wnarrowing"

namespace inlay::mutation {

struct Switches {
  int active = 0;                   ///< 0 if no mutant is on.
  unsigned char *reached = nullptr; ///< Shared with child processes; null unless a file is named.
};

inline Switches readSwitches() {
  Switches switches;
  if (const char *text = std::getenv("INLAY_MUTANT"))
    switches.active = std::atoi(text);
  const char *path = std::getenv("INLAY_MUTANTS_REACHED");
  int file = path ? open(path, O_RDWR) : -1;
  struct stat info;
  if (file >= 0 && fstat(file, &info) == 0) {
    void *bytes = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes != MAP_FAILED)
      switches.reached = static_cast<unsigned char *>(bytes);
    close(file);
  }
  return switches;
}

inline const Switches switches = readSwitches();

/// Returns true if this mutant is on.
inline bool on(int number) {
  if (switches.reached)
    switches.reached[number] |= 1;
  return switches.active == number;
}

/// Notes that this mutant changes nothing for these types.
inline void skip(int number) {
  if (switches.reached)
    switches.reached[number] |= 2;
}

template <typename A, typename B>
constexpr bool areNumbers = std::is_arithmetic_v<A> && std::is_arithmetic_v<B>;

// Comparisons. The first mutant changes the boundary, the second one negates the result.
#define INLAY_COMPARISON(name, op, boundary)                                                                           \
  template <typename A, typename B>                                                                                    \
  bool name(int number, const A &a, const B &b) {                                                                      \
    bool result = a op b;                                                                                              \
    if constexpr (areNumbers<A, B> || std::is_same_v<A, B>) {                                                          \
      if (on(number))                                                                                                  \
        return boundary;                                                                                               \
    } else {                                                                                                           \
      skip(number);                                                                                                    \
    }                                                                                                                  \
    return on(number + 1) ? !result : result;                                                                          \
  }
INLAY_COMPARISON(less, <, !(b < a))
INLAY_COMPARISON(lessEqual, <=, !(b <= a))
INLAY_COMPARISON(greater, >, !(b > a))
INLAY_COMPARISON(greaterEqual, >=, !(b >= a))
#undef INLAY_COMPARISON

// Arithmetic. Other types than numbers keep the operator: strings can't be subtracted.
#define INLAY_ARITHMETIC(name, op, other)                                                                              \
  template <typename A, typename B>                                                                                    \
  auto name(int number, const A &a, const B &b) -> decltype(a op b) {                                                  \
    if constexpr (areNumbers<A, B>) {                                                                                  \
      if (on(number))                                                                                                  \
        return static_cast<decltype(a op b)>(a other b);                                                               \
    } else {                                                                                                           \
      skip(number);                                                                                                    \
    }                                                                                                                  \
    return a op b;                                                                                                     \
  }
INLAY_ARITHMETIC(plus, +, -)
INLAY_ARITHMETIC(minus, -, +)
INLAY_ARITHMETIC(times, *, +)
INLAY_ARITHMETIC(divide, /, *)
INLAY_ARITHMETIC(modulo, %, +)
#undef INLAY_ARITHMETIC

#define INLAY_ASSIGNMENT(name, op, other)                                                                              \
  template <typename A, typename B>                                                                                    \
  A &name(int number, A &a, const B &b) {                                                                              \
    if constexpr (areNumbers<A, B>) {                                                                                  \
      if (on(number))                                                                                                  \
        return a other b;                                                                                              \
    } else {                                                                                                           \
      skip(number);                                                                                                    \
    }                                                                                                                  \
    return a op b;                                                                                                     \
  }
INLAY_ASSIGNMENT(addTo, +=, -=)
INLAY_ASSIGNMENT(subtractFrom, -=, +=)
INLAY_ASSIGNMENT(multiplyBy, *=, +=)
INLAY_ASSIGNMENT(divideBy, /=, *=)
#undef INLAY_ASSIGNMENT

} // namespace inlay::mutation

#endif // INLAY_TEST_MUTATION_MUTATION_H
