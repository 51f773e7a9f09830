// Tests whose children are processes in which one allocation fails, or all from one on. Each child must end with a
// status or exit code 74.
//
// A run tries some 100 places of each part. TANDEM_ALLOCATIONS=all tries every one, TANDEM_ALLOCATIONS=1000 so many,
// and TANDEM_ALLOCATION=17 the 17th alone. With TANDEM_TRACE_ALLOCATION=1 a process prints where what fails was asked
// for.
#ifndef TANDEM_TESTS_ALLOCATION_ALLOCATION_FAILURE_H_
#define TANDEM_TESTS_ALLOCATION_ALLOCATION_FAILURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace tandem::test {

// The part of a child's work in which allocations fail.
using Armed = std::function<absl::Status(const std::function<absl::Status()>&)>;
// What a child does, with what is to fail behind `armed`.
using ChildWork = std::function<absl::Status(const Armed& armed)>;

// How a process ended.
struct ProcessEnd {
  int exit_code = 0;        // 128 + the signal that ended it
  int64_t allocations = 0;  // of the part in which they fail
  std::string message;      // of the status; empty where it ended without one
};

class AllocationFailure : public ::testing::Test {
 protected:
  AllocationFailure();
  ~AllocationFailure() override;

  // A folder of this test.
  const std::filesystem::path& root() const { return root_; }

  // For processes that take long to start: some 20 places of each part.
  void TryFewer() { sample_ = {.first = 4, .last = 8, .between = 12}; }

  // Does `work` in a process of its own in which allocation n of what is armed fails, with `sticky` that one and all
  // behind it; n = 0: none.
  ProcessEnd InChild(int64_t n, bool sticky, const ChildWork& work);

  // Runs `work` without failures, then with one at each place, and with all allocations failing from some places on.
  // `check` looks at what a child left.
  void TryAll(
      const std::string& what, const ChildWork& work, const std::function<void()>& check = [] {});

  // The same of a program with its arguments, as a user starts it: from the start of main to its end. What it prints
  // must be what it prints with all memory, or its exit code 74.
  void TryProgram(
      const std::vector<std::string>& command, const std::function<void()>& check = [] {});

  // The same of processes that the caller starts: `run` gives the end of one in which allocation n fails.
  using Run = std::function<ProcessEnd(int64_t n, bool sticky)>;
  void TryProcesses(const std::string& what, const Run& run, const std::function<void()>& check);

  // The end of what the last process wrote to stderr.
  std::string Log() const;

 private:
  struct Report;  // in memory that parent and child share

  ProcessEnd InProgram(int64_t n, bool sticky, const std::vector<std::string>& command);
  // The places to try of `count`: all, or the first and the last ones, and so many that are spread evenly from a place
  // that `count` gives.
  std::set<int64_t> Places(int64_t count) const;
  // `program` begins the line of an end without a status.
  void TryPlaces(const std::string& what, const std::string& program, const Run& run,
                 const std::function<void(const ProcessEnd&)>& check);

  struct Sample {
    int64_t first = 32, last = 64, between = 40;
  };
  Sample sample_;  // of the places, without TANDEM_ALLOCATIONS
  Report* report_;
  std::filesystem::path root_;
};

}  // namespace tandem::test

#endif  // TANDEM_TESTS_ALLOCATION_ALLOCATION_FAILURE_H_
