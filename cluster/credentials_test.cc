#include "cluster/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string_view>

#include "cluster/testing_certificates.h"

namespace tandem {
namespace {

using ::testing::ExitedWithCode;
using ::testing::IsEmpty;

void SayCleanedUp() {
  constexpr std::string_view kText = "cleaned up";
  if (write(STDERR_FILENO, kText.data(), kText.size()) < 0) _exit(2);
}

[[noreturn]] void EndWith(const std::optional<TlsFiles>& files) {
  if (!Credentials::Make(files).ok()) _exit(1);
  OPENSSL_atexit(SayCleanedUp);
  std::exit(0);
}

// A thread of gRPC that is in a handshake then would use what is freed.
TEST(Credentials, OpensslStaysWhenTheProcessEnds) {
  TestingCa ca("CA");
  EXPECT_EXIT(EndWith(ca.Make({.name = "own"})), ExitedWithCode(0), IsEmpty());
  EXPECT_EXIT(EndWith(std::nullopt), ExitedWithCode(0), IsEmpty());
}

}  // namespace
}  // namespace tandem
