#include "estimator/signals.h"

#include <gtest/gtest.h>

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
    std::raise(SIGTERM);
    EXPECT_EQ(SignalGuard::pending(), SIGTERM);
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

TEST(SignalError, CarriesTheShellsExitCode) {
  EXPECT_EQ(ExitCodeFor(SignalError(SIGINT, "")), kExitInterrupted);
  EXPECT_EQ(ExitCodeFor(SignalError(SIGTERM, "")), kExitTerminated);
  EXPECT_EQ(SignalError(SIGTERM, " at step 3").message(), "stopped by SIGTERM at step 3");
}

}  // namespace
}  // namespace tandem
