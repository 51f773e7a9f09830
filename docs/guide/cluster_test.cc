// Compiles what cluster.md and parameter_servers.md show.
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "tandem/cluster/tls_files.h"
#include "tandem/estimator/estimator.h"

namespace tandem {
namespace {

#include "docs/guide/cluster_test_blocks.inc"

TEST(ClusterPages, ConfigsAreMade) {
  for (const auto block : kBlocks) EXPECT_TRUE(block(testing::TempDir()).ok());
}

}  // namespace
}  // namespace tandem
