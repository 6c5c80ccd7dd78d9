// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that nothing of a file is decoded unless it is signed by the requested key.

#include "../PlanBuilder.h"

#include "ContainerFixture.h"
#include <sodium.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

// In the form that `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write.
const char *const kPrivate = "-----BEGIN PRIVATE KEY-----\n"
                             "MC4CAQAwBQYDK2VwBCIEIM7b2ap4qbYfO+NO1U8HzWQqA4gTeyLMiP/s1Bi0MPUp\n"
                             "-----END PRIVATE KEY-----\n";
const char *const kPublic = "-----BEGIN PUBLIC KEY-----\n"
                            "MCowBQYDK2VwAyEAuRy/iQ1OJQyBT7Hyrc2aFp35br9YZWm/EiTPke8tA5o=\n"
                            "-----END PUBLIC KEY-----\n";
const char *const kOther = "-----BEGIN PUBLIC KEY-----\n"
                           "MCowBQYDK2VwAyEAer/DokECeJdSC5TMfpHPaVbXihM+I3fpjX7tnzhjcO8=\n"
                           "-----END PUBLIC KEY-----\n";

struct SignTest : ContainerTest {
  void SetUp() override {
    ContainerTest::SetUp();
    store(at("key.pem"), kPrivate);
    store(at("key.pub.pem"), kPublic);
    store(at("other.pub.pem"), kOther);
    uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
    builder.copy(x, y);
    builder.constant("w", MemorySpace::Host, std::vector<float>(3000, 1));
    builder.plan->constants.back().key = "w";
    save("");
  }
  void save(const std::string &weights) {
    ASSERT_TRUE(writeContainer(at("m.inlay"), *builder.plan, {}, {weights, false}).isOk());
    Status status = signContainer(at("m.inlay"), at("key.pem"));
    ASSERT_TRUE(status.isOk()) << status.message();
  }
  std::string error(const std::string &key = "key.pub.pem") {
    auto saved = readContainer(at("m.inlay"), {at(key), 0});
    std::string message = saved.isOk() ? "" : saved.status().message();
    std::string prefix = "'" + at("m.inlay") + "': ";
    return message.compare(0, prefix.size(), prefix) == 0 ? message.substr(prefix.size()) : message;
  }
  std::string isNotThat(const std::string &key) {
    return "signature '" + at("m.inlay") + ".sig' isn't a signature of this file by the key '" + at(key) + "'";
  }

  PlanBuilder builder;
};

} // namespace

TEST_F(SignTest, ASignedFileIsReadWithItsKeyAlone) {
  EXPECT_EQ(load(at("m.inlay.sig")).size(), 64u);
  EXPECT_EQ(error(), "");
  EXPECT_EQ(error("other.pub.pem"), isNotThat("other.pub.pem"));
  setenv("INLAY_PUBLIC_KEY", at("other.pub.pem").c_str(), 1);
  EXPECT_FALSE(readContainer(at("m.inlay")).isOk());
  EXPECT_EQ(error(), "") << "the option takes precedence over the environment";
  setenv("INLAY_PUBLIC_KEY", at("key.pub.pem").c_str(), 1);
  EXPECT_TRUE(readContainer(at("m.inlay")).isOk());
  setenv("INLAY_PUBLIC_KEY", "", 1);
  EXPECT_EQ(readContainer(at("m.inlay")).status().message(),
            "'" + at("m.inlay") + "': expected INLAY_PUBLIC_KEY to name a file, but it is empty");
  EXPECT_EQ(error(), "");
  unsetenv("INLAY_PUBLIC_KEY");
}

TEST_F(SignTest, AChangeThatTheHashFitsIsFound) {
  std::string image = load(at("m.inlay"));
  image.back() = static_cast<char>(image.back() ^ 1); // a weight
  seal(image);
  store(at("m.inlay"), image);
  EXPECT_TRUE(readContainer(at("m.inlay")).isOk()) << "no signature is required";
  EXPECT_EQ(error(), isNotThat("key.pub.pem"));
}

TEST_F(SignTest, TheWeightsFileIsSignedToo) {
  save("w.safetensors");
  EXPECT_EQ(error(), "");
  std::string weights = load(at("w.safetensors")), image = load(at("m.inlay"));
  Digest before = hash(weights);
  weights.back() = static_cast<char>(weights.back() ^ 1);
  Digest after = hash(weights);
  store(at("w.safetensors"), weights);
  size_t place = image.find(std::string(before.data(), before.size()));
  ASSERT_NE(place, std::string::npos);
  image.replace(place, after.size(), after.data(), after.size());
  seal(image);
  store(at("m.inlay"), image);
  EXPECT_TRUE(readContainer(at("m.inlay")).isOk());
  EXPECT_EQ(error(), isNotThat("key.pub.pem"));
}

TEST_F(SignTest, TheSignatureIsThatOfBothFilesOneAfterTheOther) {
  save("w.safetensors");
  std::string key(44, '\0'), pem = load(at("key.pub.pem"));
  size_t length = 0, start = pem.find('\n') + 1;
  ASSERT_EQ(sodium_base642bin(reinterpret_cast<unsigned char *>(key.data()), key.size(), pem.data() + start,
                              pem.find('\n', start) - start, nullptr, &length, nullptr, sodium_base64_VARIANT_ORIGINAL),
            0);
  auto isSigned = [&](const std::string &bytes) {
    auto data = [](const std::string &text) { return reinterpret_cast<const unsigned char *>(text.data()); };
    std::string signature = load(at("m.inlay.sig"));
    crypto_sign_state state;
    crypto_sign_init(&state);
    crypto_sign_update(&state, data(bytes), bytes.size());
    return crypto_sign_final_verify(&state, data(signature), data(key) + 12) == 0;
  };
  EXPECT_TRUE(isSigned(load(at("m.inlay")) + load(at("w.safetensors"))));
  EXPECT_FALSE(isSigned(load(at("m.inlay"))));
}

TEST_F(SignTest, ASignatureWithoutTheWeightsIsRefused) {
  save("w.safetensors");
  unsigned char seed[crypto_sign_SEEDBYTES], publicKey[crypto_sign_PUBLICKEYBYTES], key[crypto_sign_SECRETKEYBYTES];
  std::string pem = kPrivate;
  size_t start = pem.find('\n') + 1, length = 0;
  std::array<unsigned char, 64> der = {};
  ASSERT_EQ(sodium_base642bin(der.data(), der.size(), pem.data() + start, pem.find('\n', start) - start, nullptr,
                              &length, nullptr, sodium_base64_VARIANT_ORIGINAL),
            0);
  std::copy_n(der.begin() + 16, sizeof(seed), seed);
  crypto_sign_seed_keypair(publicKey, key, seed);
  auto signedAs = [&](const std::string &bytes) {
    crypto_sign_state state;
    crypto_sign_init(&state);
    crypto_sign_update(&state, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
    std::string signature(crypto_sign_BYTES, '\0');
    crypto_sign_final_create(&state, reinterpret_cast<unsigned char *>(signature.data()), nullptr, key);
    store(at("m.inlay.sig"), signature);
    return error();
  };
  std::string container = load(at("m.inlay")), weights = load(at("w.safetensors"));
  EXPECT_EQ(signedAs(container + weights), "");
  EXPECT_EQ(signedAs(container), isNotThat("key.pub.pem"));
  EXPECT_EQ(signedAs(container + std::string(weights.size(), '\0')), isNotThat("key.pub.pem"));
}

TEST_F(SignTest, NothingIsDecodedBeforeTheSignatureIsVerified) {
  std::string image = load(at("m.inlay"));
  size_t plan = image.find("plan"); // in the table
  auto offset = static_cast<size_t>(static_cast<unsigned char>(image[plan + 16]));
  image.replace(offset, 4, std::string("\xff\xff\0\0", 4)); // the length of the plan's name
  seal(image);
  store(at("m.inlay"), image);
  EXPECT_EQ(readContainer(at("m.inlay")).status().message().find("'" + at("m.inlay") + "': section 'plan', byte 4"), 0u)
      << "the file is malformed";
  EXPECT_EQ(error(), isNotThat("key.pub.pem"));
  std::filesystem::remove(at("m.inlay.sig"));
  EXPECT_EQ(error().find("signature '"), 0u);
}

TEST_F(SignTest, MissingAndMalformedSignaturesAndKeysAreNamed) {
  store(at("m.inlay.sig"), "short");
  EXPECT_EQ(error(), "signature '" + at("m.inlay") + ".sig': expected 64 bytes, but got 5");
  std::filesystem::remove(at("m.inlay.sig"));
  EXPECT_EQ(error(), "signature '" + at("m.inlay") + ".sig': can't be opened: No such file or directory");
  EXPECT_EQ(error("none.pem"), "key file '" + at("none.pem") + "': can't be opened: No such file or directory");
  EXPECT_EQ(error("key.pem"),
            "key file '" + at("key.pem") + "': expected an Ed25519 key in PEM ('-----BEGIN PUBLIC KEY-----')");
  store(at("bad.pem"), "-----BEGIN PUBLIC KEY-----\n!!!\n-----END PUBLIC KEY-----\n");
  EXPECT_EQ(error("bad.pem"),
            "key file '" + at("bad.pem") + "': expected an Ed25519 key in PEM ('-----BEGIN PUBLIC KEY-----')");
  EXPECT_EQ(signContainer(at("m.inlay"), at("key.pub.pem")).message(),
            "'" + at("m.inlay") + "': key file '" + at("key.pub.pem") +
                "': expected an Ed25519 key in PEM ('-----BEGIN PRIVATE KEY-----')");
  store(at("m.inlay"), "text");
  EXPECT_EQ(signContainer(at("m.inlay"), at("key.pem")).message(),
            "'" + at("m.inlay") + "': is not an inlay container: it starts with other bytes");
}
