// Directories for tests.
#ifndef TANDEM_BASE_TEST_DIR_H_
#define TANDEM_BASE_TEST_DIR_H_

#include <string>

#include "base/env.h"
#include "gtest/gtest.h"

namespace tandem {

// Returns a new empty directory.
inline std::string TestDir(const std::string& name) {
  const std::string dir = JoinPath(testing::TempDir(), name);
  Env::Default()->DeleteRecursively(dir).IgnoreError();
  EXPECT_TRUE(Env::Default()->CreateDirs(dir).ok());
  return dir;
}

}  // namespace tandem

#endif  // TANDEM_BASE_TEST_DIR_H_
