#include "base/resource_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/library_exit.h"
#include "base/logging.h"
#include "base/out_of_memory.h"
#include "base/owned_process.h"
#include "base/sanitizers.h"
#include "base/threads.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;

void Throw() { throw std::bad_alloc(); }
void ThrowOdd() { throw std::runtime_error("odd"); }

TEST(ResourceErrors, ExceptionsBecomeStatuses) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "the sanitizer ends a process that asks for too much";
  auto caught = [](auto f) {
    return CatchResourceErrors("training", [&]() -> absl::Status {
      f();
      return absl::OkStatus();
    });
  };
  absl::Status status = caught([] { throw AllocationError(123456, "the arena"); });
  EXPECT_EQ(status, OutOfMemoryError("training: cannot allocate 123456 bytes for the arena"));
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_TRUE(IsOutOfMemory(Annotate(status, "more: ")));
  EXPECT_FALSE(IsOutOfMemory(absl::ResourceExhaustedError("a limit that was set")));
  EXPECT_EQ(ExitCodeFor(status), 74);
  EXPECT_TRUE(absl::IsResourceExhausted(caught([] { throw std::bad_alloc(); })));
  EXPECT_TRUE(
      absl::IsResourceExhausted(caught([] { std::vector<char>().resize(std::numeric_limits<int64_t>::max()); })));
  EXPECT_TRUE(absl::IsResourceExhausted(
      caught([] { throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)); })));
  status = caught([] { throw std::out_of_range("no such key"); });
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("training: "), HasSubstr("no such key")));
  EXPECT_TRUE(absl::IsInternal(caught([] { throw 7; })));
  EXPECT_TRUE(caught([] {}).ok());
}

TEST(ResourceErrors, LongPurposesAreCut) {
  const AllocationError error(1, std::string(5000, 'x'));
  EXPECT_LT(std::string(error.what()).size(), 250);
  EXPECT_THAT(std::string(error.what()), HasSubstr("cannot allocate 1 bytes for xxx"));
}

// As a tool's main.
void RunAndExit(void (*f)()) {
  exit(RunMain("a_tool", [&] {
    f();
    return 3;
  }));
}

TEST(ResourceErrorsDeathTest, MainEndsWithACode) {
  EXPECT_EXIT(RunAndExit([] {}), ExitedWithCode(3), "");
  EXPECT_EXIT(RunAndExit([] { throw AllocationError(99, "a thing"); }), ExitedWithCode(74),
              "a_tool: cannot allocate 99 bytes for a thing");
  EXPECT_EXIT(RunAndExit([] { throw std::runtime_error("odd"); }), ExitedWithCode(1),
              "a_tool: unexpected exception: odd");
  // Where it cannot be caught: in a thread of somebody else, and in a function that must not throw.
  EXPECT_EXIT(RunAndExit([] { std::thread([] { throw std::bad_alloc(); }).join(); }), ExitedWithCode(74),
              "a_tool: out of memory");
  EXPECT_EXIT(RunAndExit([] { []() noexcept { Throw(); }(); }), ExitedWithCode(74), "a_tool: out of memory");
}

TEST(ResourceErrorsDeathTest, LibrariesThatDieOfAFailedAllocation) {
  if (kThreadSanitizer) GTEST_SKIP() << "the sanitizer gives a signal's handler an errno of its own";
  // A library that looks at what malloc gives and aborts; others abort as they did.
  EXPECT_EXIT(RunAndExit([] {
                errno = ENOMEM;
                abort();
              }),
              ExitedWithCode(74), "a_tool: out of memory");
  EXPECT_EXIT(RunAndExit([] {
                errno = ENOENT;
                abort();
              }),
              ::testing::KilledBySignal(SIGABRT), "");
  // Or that does not look, and uses it.
  EXPECT_EXIT(RunAndExit([] {
                errno = ENOMEM;
                volatile uintptr_t near_zero = 8;
                *reinterpret_cast<volatile int*>(near_zero) = 1;
              }),
              ExitedWithCode(74), "a_tool: out of memory");
  EXPECT_EXIT(RunAndExit([] {
                errno = ENOMEM;
                []() noexcept { ThrowOdd(); }();
              }),
              ::testing::KilledBySignal(SIGABRT), "odd");
}

TEST(ResourceErrorsDeathTest, AFailedAllocationInAScopeEndsTheProcess) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "the sanitizer's operator new calls no new-handler";
  static std::unique_ptr<char[]> kept;
  static constexpr auto take_too_much = [] {
    const size_t bytes = std::numeric_limits<int64_t>::max() / 2;
    kept = std::make_unique<char[]>(bytes);
  };
  EXPECT_EXIT(RunAndExit([] {
                const ExitWhenOutOfMemory scope("compiling");
                {
                  const ExitWhenOutOfMemory inner("compiling a kernel");
                  EXPECT_STREQ(ExitWhenOutOfMemory::Current(), "compiling a kernel");
                }
                take_too_much();
              }),
              ExitedWithCode(74), "a_tool: compiling: out of memory");
  EXPECT_EXIT(RunAndExit([] {
                { const ExitWhenOutOfMemory scope("compiling"); }
                EXPECT_EQ(ExitWhenOutOfMemory::Current(), nullptr);
                EXPECT_THROW(take_too_much(), std::bad_alloc);
              }),
              ExitedWithCode(3), "");
}

TEST(ResourceErrorsDeathTest, ExitOfALibraryInAScope) {
  EXPECT_EXIT(RunAndExit([] {
                const ExitMeansOutOfMemory scope("running a step");
                exit(1);
              }),
              ExitedWithCode(74), "a_tool: running a step: out of memory");
  EXPECT_EXIT(RunAndExit([] { const ExitMeansOutOfMemory scope("running a step"); }), ExitedWithCode(3), "");
}

// Without RunMain: the scopes change nothing of the process.
TEST(ResourceErrorsDeathTest, AHostProcessKeepsItsHandlers) {
  ASSERT_FALSE(OwnsProcess());
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "the sanitizer ends a process that asks for too much";
  const std::terminate_handler terminate = std::get_terminate();
  const std::new_handler no_memory = std::get_new_handler();
  std::vector<struct sigaction> before(NSIG), after(NSIG);
  for (int i = 1; i < NSIG; ++i) sigaction(i, nullptr, &before[i]);
  {
    const ExitWhenOutOfMemory compiling("compiling");
    const ExitMeansOutOfMemory running("running a step");
    const absl::Status status = CatchResourceErrors("compiling", []() -> absl::Status {
      std::vector<char>().reserve(std::numeric_limits<int64_t>::max() / 2);
      return absl::OkStatus();
    });
    EXPECT_TRUE(IsOutOfMemory(status)) << status;
  }
  for (int i = 1; i < NSIG; ++i) {
    sigaction(i, nullptr, &after[i]);
    EXPECT_EQ(before[i].sa_sigaction, after[i].sa_sigaction) << i;
  }
  EXPECT_EQ(std::get_terminate(), terminate);
  EXPECT_EQ(std::get_new_handler(), no_memory);
  EXPECT_EXIT(
      {
        const ExitMeansOutOfMemory scope("running a step");
        exit(5);
      },
      ExitedWithCode(5), "");
}

TEST(Threads, ACountHasALimit) {
  EXPECT_TRUE(CheckThreadCount("threads", 0).ok());
  EXPECT_TRUE(CheckThreadCount("threads", kMaxThreads).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckThreadCount("threads", -1)));
  const absl::Status status = CheckThreadCount("RunConfig.threads", 100000);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("RunConfig.threads = 100000 is more than 1024"),
                                                   HasSubstr("stack"), HasSubstr("0 takes one per processor")));
}

TEST(Threads, AllRun) {
  std::atomic<int> sum{0};
  auto threads = StartThreads("a test", 5, [&](int i) { sum += 1 << i; });
  ASSERT_TRUE(threads.ok());
  EXPECT_EQ(threads->size(), 5);
  for (std::thread& t : *threads) t.join();
  EXPECT_EQ(sum, 31);
  EXPECT_EQ(StartThreads("a test", 0, [](int) {})->size(), 0);
}

// The stacks of threads do not fit into what is left of the address space.
void LeaveMemory(uint64_t bytes) {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{pages * 4096 + bytes, pages * 4096 + bytes};
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(99);
}

TEST(ThreadsDeathTest, AThreadThatTheSystemDoesNotGiveIsAStatus) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "the sanitizer maps terabytes of address space";
  auto start = [](uint64_t bytes, int count) {
    LeaveMemory(bytes);
    std::atomic<bool> stop{false};
    auto threads = StartThreads("reading", count, [&](int) {
      while (!stop) std::this_thread::yield();
    });
    if (!threads.ok()) {
      fprintf(stderr, "%s\n", std::string(threads.status().message()).c_str());
      _exit(ExitCodeFor(threads.status()));
    }
    stop = true;
    const int started = static_cast<int>(threads->size());
    for (std::thread& t : *threads) t.join();
    _exit(started);
  };
  EXPECT_EXIT(start(4 << 20, 3), ExitedWithCode(74), "cannot start a thread for reading: .*ulimit -u.*fewer threads");
  EXPECT_EXIT(start(12 << 20, 3), ExitedWithCode(1), "going on with 1 of 3 threads for reading");
  EXPECT_EXIT(start(1 << 30, 3), ExitedWithCode(3), "");
}

}  // namespace
}  // namespace tandem
