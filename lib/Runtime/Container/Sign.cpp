// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detached signatures with libsodium: Ed25519ph (RFC 8032) over the container and the weights file that it names.

#include "Open.h"
#include "inlay/Runtime/Core/Guard.h"

#include <fmt/format.h>
#include <sodium.h>

#include <cstring>

namespace inlay::rt {

static StatusOr<std::string> readSmallFile(const std::string &path, const char *what) {
  constexpr uint64_t maxBytes = 1 << 16;
  auto bad = [&](const Status &status) {
    return Status(status.code(), fmt::format("{} '{}': {}", what, path, status.message()));
  };
  StatusOr<InputFile> file = InputFile::open(path);
  if (!file.isOk())
    return bad(file.status());
  if (file->size() > maxBytes)
    return bad(invalid(fmt::format("expected at most {} bytes, but got {}", maxBytes, file->size())));
  std::string text(file->size(), '\0');
  if (Status status = file->read(0, text.data(), text.size()); !status.isOk())
    return bad(status);
  return text;
}

/// Reads the key from a PEM file. `prefix` is the DER that precedes each Ed25519 key of this kind (RFC 8410).
template <size_t size>
static Status readKey(const std::string &path, const std::string &label, std::string_view prefix,
                      std::array<unsigned char, size> &key) {
  StatusOr<std::string> text = readSmallFile(path, "key file");
  if (!text.isOk())
    return text.status();
  std::string first = fmt::format("-----BEGIN {}-----", label), last = fmt::format("-----END {}-----", label);
  size_t from = text->find(first), to = text->find(last);
  std::array<unsigned char, 128> der = {};
  size_t length = 0;
  bool isRead = from != std::string::npos && to != std::string::npos && from + first.size() <= to &&
                sodium_base642bin(der.data(), der.size(), text->data() + from + first.size(), to - from - first.size(),
                                  "\r\n ", &length, nullptr, sodium_base64_VARIANT_ORIGINAL) == 0;
  bool isKey = isRead && length == prefix.size() + size && std::memcmp(der.data(), prefix.data(), prefix.size()) == 0;
  if (isKey)
    std::memcpy(key.data(), der.data() + prefix.size(), size);
  sodium_memzero(der.data(), der.size());
  sodium_memzero(text->data(), text->size());
  if (!isKey)
    return invalid(fmt::format("key file '{}': expected an Ed25519 key in PEM ('{}')", path, first));
  return Status::ok();
}

static crypto_sign_state digest(const MappedContainer &opened) {
  crypto_sign_state state;
  crypto_sign_init(&state);
  for (std::string_view part : {std::string_view(opened.preamble), opened.constants.bytes, opened.weights.bytes})
    if (!part.empty())
      crypto_sign_update(&state, reinterpret_cast<const unsigned char *>(part.data()), part.size());
  return state;
}

static Status start() {
  return sodium_init() < 0 ? Status(StatusCode::Internal, "libsodium can't be initialized") : Status::ok();
}

Status verifySignature(const std::string &path, const MappedContainer &opened, const std::string &publicKeyFile) {
  INLAY_RETURN_IF_ERROR(start());
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> key = {};
  constexpr std::string_view prefix("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12);
  INLAY_RETURN_IF_ERROR(readKey(publicKeyFile, "PUBLIC KEY", prefix, key));
  StatusOr<std::string> signature = readSmallFile(path + ".sig", "signature");
  if (!signature.isOk())
    return signature.status();
  if (signature->size() != crypto_sign_BYTES)
    return invalid(
        fmt::format("signature '{}.sig': expected {} bytes, but got {}", path, crypto_sign_BYTES, signature->size()));
  crypto_sign_state state = digest(opened);
  if (crypto_sign_final_verify(&state, reinterpret_cast<const unsigned char *>(signature->data()), key.data()) != 0)
    return invalid(
        fmt::format("signature '{}.sig' isn't a signature of this file by the key '{}'", path, publicKeyFile));
  return Status::ok();
}

static Status sign(const std::string &path, const std::string &privateKeyFile) {
  INLAY_RETURN_IF_ERROR(start());
  std::array<unsigned char, crypto_sign_SEEDBYTES> seed = {};
  constexpr std::string_view prefix("\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20", 16);
  INLAY_RETURN_IF_ERROR(readKey(privateKeyFile, "PRIVATE KEY", prefix, seed));
  Budget budget(UINT64_MAX);
  StatusOr<MappedContainer> opened = openContainer(path, budget);
  if (!opened.isOk())
    return opened.status();
  unsigned char publicKey[crypto_sign_PUBLICKEYBYTES], privateKey[crypto_sign_SECRETKEYBYTES];
  crypto_sign_seed_keypair(publicKey, privateKey, seed.data());
  crypto_sign_state state = digest(*opened);
  std::string signature(crypto_sign_BYTES, '\0');
  crypto_sign_final_create(&state, reinterpret_cast<unsigned char *>(signature.data()), nullptr, privateKey);
  sodium_memzero(seed.data(), seed.size());
  sodium_memzero(privateKey, sizeof(privateKey));
  StatusOr<OutputFile> file = OutputFile::create(path + ".sig");
  if (!file.isOk())
    return file.status();
  INLAY_RETURN_IF_ERROR(file->write(signature));
  return file->commit();
}

Status signContainer(const std::string &path, const std::string &privateKeyFile) {
  return guard([&] {
    Status status = sign(path, privateKeyFile);
    return status.isOk() ? status : Status(status.code(), fmt::format("'{}': {}", path, status.message()));
  });
}

} // namespace inlay::rt
