#include "cluster/listening_address.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "cluster/testing_address.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

int lookups = 0;

// Stands for a cluster's DNS, whose answers change.
template <int (*first)(const char*, const addrinfo*, addrinfo**)>
int ThenThisMachine(const char*, const char* port, const addrinfo* hints, addrinfo** found) {
  return ++lookups <= 2 ? first(port, hints, found) : getaddrinfo("127.0.0.1", port, hints, found);
}

int Unknown(const char*, const addrinfo*, addrinfo**) { return EAI_NONAME; }
int Predecessor(const char* port, const addrinfo* hints, addrinfo** found) {
  return getaddrinfo("192.0.2.1", port, hints, found);
}

int NeverKnown(const char*, const char*, const addrinfo*, addrinfo**) {
  ++lookups;
  return EAI_AGAIN;
}

class ListeningAddressTest : public ::testing::Test {
 protected:
  void SetUp() override { lookups = 0; }
  // A free address, at a name that only the fake knows.
  static std::string Named() {
    const std::string address = FreeAddress();
    return absl::StrCat("worker-0.job", address.substr(address.rfind(':')));
  }
};

TEST_F(ListeningAddressTest, ANameIsLookedUpUntilItIsKnown) {
  EXPECT_EQ(WhyCannotListen("rank 0", Named(), 30, ThenThisMachine<Unknown>), "");
  EXPECT_EQ(lookups, 3);
}

TEST_F(ListeningAddressTest, ANameIsLookedUpUntilItStandsForThisMachine) {
  EXPECT_EQ(WhyCannotListen("rank 0", Named(), 30, ThenThisMachine<Predecessor>), "");
  EXPECT_EQ(lookups, 3);
}

TEST_F(ListeningAddressTest, ANameThatNobodyKnows) {
  EXPECT_THAT(WhyCannotListen("rank 0", Named(), 0.6, NeverKnown), HasSubstr("the host has no address ("));
  EXPECT_GE(lookups, 2);
}

TEST_F(ListeningAddressTest, AnAddressOfAnotherMachineIsNotTriedAgain) {
  EXPECT_EQ(WhyCannotListen("rank 0", "192.0.2.1:2222", 3600), "not an address of this machine");
  EXPECT_EQ(WhyCannotListen("rank 0", "[2001:db8::1]:2222", 3600), "not an address of this machine");
}

TEST_F(ListeningAddressTest, AnAddressInUse) {
  const std::string address = FreeAddress();
  EXPECT_EQ(WhyCannotListen("rank 0", address), "");
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in here = {};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  here.sin_port = htons(std::stoi(address.substr(address.rfind(':') + 1)));
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&here), sizeof here), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  EXPECT_EQ(WhyCannotListen("rank 0", address), "address in use");
  EXPECT_EQ(WhyCannotListen("rank 0", absl::StrCat("localhost", address.substr(address.rfind(':'))), 3600),
            "address in use");
  close(fd);
}

}  // namespace
}  // namespace tandem
