// A real process is killed while it saves, again and again.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/logging.h"
#include "base/philox.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/checkpoint/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

// Goes on from the newest checkpoint for ever, as a training loop would. Writes one byte per finished save.
[[noreturn]] void SaveForEver(const std::string& dir, int pipe_fd) {
  SetMinLogSeverity(LogSeverity::kError);
  CheckpointManager manager(Env::Default(), dir, 2);
  if (!manager.Recover().ok()) _exit(1);
  auto data = manager.RestoreLatest();
  if (!data.ok()) _exit(2);
  for (int64_t step = data->has_value() ? (*data)->global_step + 1 : 0;; ++step) {
    if (!manager.Save(TestData(step)).ok()) _exit(3);
    if (write(pipe_fd, "x", 1) != 1) _exit(4);
  }
}

TEST(CheckpointKillTest, KilledWhileSaving) {
  std::string dir = FreshPath("kill");
  LogCapture log;
  int64_t finished = -1;  // the newest step whose Save surely returned
  for (uint32_t i = 0; i < 20; ++i) {
    int fds[2];
    ASSERT_EQ(pipe(fds), 0);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(fds[0]);
      SaveForEver(dir, fds[1]);
    }
    close(fds[1]);
    char byte;
    int64_t saves = 0;
    for (; saves < 1 + i % 3; ++saves) ASSERT_EQ(read(fds[0], &byte, 1), 1) << "the child failed";
    usleep(Philox4x32({i, 0, 0, 0}, {3, 4})[0] % 20000);  // somewhere in a later Save
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child failed: " << WEXITSTATUS(status);
    while (read(fds[0], &byte, 1) == 1) ++saves;
    close(fds[0]);
    finished += saves;

    CheckpointManager manager(Env::Default(), dir, 2);
    auto recovered = manager.Recover();
    ASSERT_TRUE(recovered.ok()) << recovered.status();
    auto data = manager.RestoreLatest();
    ASSERT_TRUE(data.ok() && data->has_value()) << data.status();
    int64_t step = (*data)->global_step;
    EXPECT_GE(step, finished);
    EXPECT_LE(step, finished + 1);  // complete, killed before it could say so
    ExpectEqual(**data, TestData(step));
    finished = step;
  }
}

}  // namespace
}  // namespace tandem
