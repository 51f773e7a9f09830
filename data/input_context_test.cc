#include "data/input_context.h"

#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(InputContextTest, SplitsTheGlobalBatch) {
  InputContext one;
  EXPECT_EQ(*one.GetPerReplicaBatchSize(512), 512);
  InputContext four{.num_input_pipelines = 2, .input_pipeline_id = 1, .num_replicas_in_sync = 4};
  EXPECT_EQ(*four.GetPerReplicaBatchSize(512), 128);
}

TEST(InputContextTest, RefusesWhatCannotBeSplit) {
  InputContext three{.num_replicas_in_sync = 3};
  absl::Status status = three.GetPerReplicaBatchSize(64).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("64 is not divisible by 3 replicas"), absl::string_view::npos) << status;
  EXPECT_EQ(three.GetPerReplicaBatchSize(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(three.GetPerReplicaBatchSize(-3).status().code(), absl::StatusCode::kInvalidArgument);
  InputContext none{.num_replicas_in_sync = 0};
  EXPECT_EQ(none.GetPerReplicaBatchSize(64).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tandem
