#include "cluster/testing_certificates.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace tandem {

void Shell(const std::string& command) {
  // NOLINTNEXTLINE: a shell is what users have.
  EXPECT_EQ(std::system(absl::StrCat("{ ", command, "; } >/dev/null 2>&1").c_str()), 0) << command;
}

TestingCa::TestingCa(const std::string& name)
    : folder_(absl::StrCat(::testing::TempDir(), "/", absl::StrReplaceAll(name, {{" ", "_"}}), "-", getpid())) {
  Shell(absl::StrCat("mkdir -p ", folder_, " && cd ", folder_,
                     " && openssl req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -days 30 -subj '/CN=",
                     name, "' -keyout ca.key -out ca.crt"));
}

TlsFiles TestingCa::Make(const Issue& issue) const {
  const std::string& name = issue.name;
  std::ofstream(file(name + ".ext")) << (issue.names.empty() ? "" : "subjectAltName = " + issue.names + "\n")
                                     << issue.extensions;
  Shell(absl::StrCat("cd ", folder_, " && openssl req -new -nodes ", issue.key, " -subj '/CN=", name, "' -keyout ",
                     name, ".key -out ", name, ".csr && openssl x509 -req -in ", name,
                     ".csr -CA ca.crt -CAkey ca.key -days ", issue.days, " -extfile ", name, ".ext -out ", name,
                     ".crt"));
  return {.certificate = file(name + ".crt"), .key = file(name + ".key"), .ca = file("ca.crt")};
}

}  // namespace tandem
