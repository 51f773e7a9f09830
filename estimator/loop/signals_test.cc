#include "estimator/loop/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/exit_code.h"

namespace tandem {
namespace {

int g_handled = 0;
void Count(int) { ++g_handled; }

TEST(SignalGuard, RemembersTheFirstSignalAndHandsBackTheSecond) {
  std::signal(SIGTERM, Count);
  {
    SignalGuard outer(true);
    SignalGuard inner(true);
    EXPECT_EQ(SignalGuard::pending(), 0);
    EXPECT_FALSE(outer.ForgetsSignal());
    std::raise(SIGTERM);
    EXPECT_EQ(SignalGuard::pending(), SIGTERM);
    EXPECT_TRUE(outer.ForgetsSignal());
    EXPECT_FALSE(inner.ForgetsSignal());  // whoever has made the outer one sees it
    EXPECT_EQ(g_handled, 0);
    std::raise(SIGTERM);
    EXPECT_EQ(g_handled, 1);
  }
  SignalGuard next(true);
  EXPECT_EQ(SignalGuard::pending(), 0);
}

TEST(SignalGuard, DisabledChangesNothing) {
  g_handled = 0;
  std::signal(SIGINT, Count);
  SignalGuard guard(false);
  std::raise(SIGINT);
  EXPECT_EQ(g_handled, 1);
}

TEST(SignalGuard, ASecondInterruptEndsTheProcess) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_DFL);
        SignalGuard guard(true);
        std::raise(SIGINT);
        std::raise(SIGINT);
        std::exit(0);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST(SignalGuard, AHangupStopsUnlessItIsIgnored) {
  g_handled = 0;
  std::signal(SIGHUP, Count);
  {
    SignalGuard guard(true);
    std::raise(SIGHUP);
    EXPECT_EQ(SignalGuard::pending(), SIGHUP);
    EXPECT_EQ(g_handled, 0);
  }
  std::raise(SIGHUP);
  EXPECT_EQ(g_handled, 1);
  std::signal(SIGHUP, SIG_IGN);  // nohup
  SignalGuard guard(true);
  std::raise(SIGHUP);
  EXPECT_EQ(SignalGuard::pending(), 0);
}

TEST(SignalGuard, APipeThatNobodyReadsEndsNothing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  std::signal(SIGPIPE, SIG_DFL);
  {
    SignalGuard guard(true);
    EXPECT_EQ(write(ends[1], "log line", 8), -1);
  }
  EXPECT_EQ(std::signal(SIGPIPE, SIG_DFL), SIG_DFL) << "it is put back";
  std::signal(SIGPIPE, Count);
  g_handled = 0;
  {
    SignalGuard guard(true);
    EXPECT_EQ(write(ends[1], "log line", 8), -1);
    EXPECT_EQ(g_handled, 1) << "a program's own handler stays";
  }
  close(ends[1]);
}

TEST(SignalError, CarriesTheShellsExitCode) {
  EXPECT_EQ(ExitCodeFor(SignalError(SIGHUP, "")), kExitHangup);
  EXPECT_EQ(SignalError(SIGHUP, "").message(), "stopped by SIGHUP");
  EXPECT_EQ(ExitCodeFor(SignalError(SIGINT, "")), kExitInterrupted);
  EXPECT_EQ(ExitCodeFor(SignalError(SIGTERM, "")), kExitTerminated);
  EXPECT_EQ(SignalError(SIGTERM, " at step 3").message(), "stopped by SIGTERM at step 3");
}

}  // namespace
}  // namespace tandem
