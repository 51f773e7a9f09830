// Parameter servers that are lost and come back, and workers meanwhile.
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "gtest/gtest.h"
#include "tests/compiled/served_job.h"

namespace tandem::compiled {
namespace {

using ServedLossesTest = ServedJob;

TEST_F(ServedLossesTest, AServerThatComesBackGetsWhatTheChiefReadLast) {
  Serve();
  Worker chief = NewWorker(0);
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  ASSERT_EQ(Step(chief), absl::OkStatus());
  ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
  Restart(0);
  ASSERT_EQ(Step(chief), absl::OkStatus());  // is lost
  EXPECT_EQ(chief.variables->step(), 1);
  ASSERT_EQ(Step(chief), absl::OkStatus());
  EXPECT_EQ(chief.variables->step(), 2);
}

TEST_F(ServedLossesTest, AServerThatStaysAwayIsNamed) {
  Serve();
  Worker chief = NewWorker(0, /*deadline_seconds=*/0.3);
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  servers_.clear();
  const absl::Status status = Step(chief);
  EXPECT_EQ(ExitCodeFor(status), kExitTemporary);
  EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("parameter server ps 0 at ", addresses_[0]))) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "it was waited for 0.3 s")) << status;
}

}  // namespace
}  // namespace tandem::compiled
