// Parameter servers that are lost and come back, and workers meanwhile.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "estimator/parameter_server/test_server.h"
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

// Whichever server it is. Then it waits anew for those that are to come back, and they hear that they are to stop.
TEST_F(ServedLossesTest, TheChiefWaitsOnForTheOthersWhenServersAreLost) {
  Use([](GraphBuilder& g) { Model(g, 4); }, /*servers=*/2);
  Serve();
  Worker chief = NewWorker(0, /*deadline_seconds=*/5), other = NewWorker(1);
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  ASSERT_EQ(Begin(other), absl::OkStatus());
  ASSERT_EQ(Step(other), absl::OkStatus());
  ASSERT_EQ(chief.variables->ReadAll(), absl::OkStatus());
  ASSERT_EQ(chief.variables->Stop(ServedVariables::Wish::kStop), absl::OkStatus());
  std::atomic<bool> done = false;
  absl::Status waited;
  std::thread waiting([&] {
    waited = chief.variables->WaitForOthers(1);
    done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5500));
  for (const int server : {1, 0}) {
    Restart(server);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    EXPECT_FALSE(done);
    EXPECT_EQ(Step(other), absl::OkStatus());  // is lost
  }
  for (int i = 0; i < 100 && other.variables->wish() != ServedVariables::Wish::kStop; ++i) {
    EXPECT_EQ(Step(other), absl::OkStatus());
  }
  EXPECT_EQ(other.variables->wish(), ServedVariables::Wish::kStop);
  EXPECT_EQ(other.variables->Leave(1), absl::OkStatus());
  waiting.join();
  EXPECT_EQ(waited, absl::OkStatus());
  EXPECT_EQ(chief.variables->ReadAll(), absl::OkStatus());
  EXPECT_EQ(chief.variables->step(), other.variables->step());
}

TEST_F(ServedLossesTest, ALostServerIsWaitedForWhateverItIsAsked) {
  Serve();
  Worker chief = NewWorker(0, /*deadline_seconds=*/1), other = NewWorker(1);
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  ASSERT_EQ(Begin(other), absl::OkStatus());
  Restart(0);
  EXPECT_EQ(chief.variables->AllAtEnd(/*keep=*/false).status(), absl::OkStatus());
  Restart(0);
  EXPECT_EQ(chief.variables->Stop(ServedVariables::Wish::kStop), absl::OkStatus());
  EXPECT_EQ(other.variables->Leave(1), absl::OkStatus());
  EXPECT_EQ(other.variables->wish(), ServedVariables::Wish::kStop);
}

// One that is in its next training has left those before, which a server that is new does not know otherwise.
TEST_F(ServedLossesTest, WhoIsInItsNextTrainingHasLeftTheLast) {
  Serve();
  Worker chief = NewWorker(0, /*deadline_seconds=*/1), other = NewWorker(1);
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  ASSERT_EQ(Begin(other, /*training=*/2), absl::OkStatus());
  EXPECT_EQ(chief.variables->WaitForOthers(1), absl::OkStatus());
}

// The chief may be in an evaluation, and notices later that the server was lost.
TEST_F(ServedLossesTest, ValuesOfAServerThatIsBackMayComeLate) {
  Serve();
  Worker chief = NewWorker(0), other = NewWorker(1, /*deadline_seconds=*/0.5);
  ASSERT_EQ(Begin(chief), absl::OkStatus());
  ASSERT_EQ(Begin(other), absl::OkStatus());
  Restart(0);
  absl::Status stepped;
  std::thread step([&] { stepped = Step(other); });
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_EQ(Step(chief), absl::OkStatus());
  step.join();
  EXPECT_EQ(stepped, absl::OkStatus());
}

TEST_F(ServedLossesTest, GivingValuesMayTakeLongerThanAnAnswer) {
  Worker chief = NewWorker(0, /*deadline_seconds=*/0.5);
  test::TestServer server(addresses_[0], [](const parameters::Request& request) {
    parameters::Reply reply;
    if (request.has_hello()) reply.mutable_welcome();
    if (request.has_assign()) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return reply;
  });
  EXPECT_EQ(Begin(chief), absl::OkStatus());
}

}  // namespace
}  // namespace tandem::compiled
