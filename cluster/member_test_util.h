// Processes for tests of members: each runs the test's program again and is told by lines what to do.
#ifndef TANDEM_CLUSTER_MEMBER_TEST_UTIL_H_
#define TANDEM_CLUSTER_MEMBER_TEST_UTIL_H_

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cluster/testing_address.h"
#include "cluster/tls_files.h"

namespace tandem {

// The arguments that a process is started with.
struct Start {
  int64_t rank = 0, world_size = 4;
  std::string coordinator;
  std::string job;
  double deadline = 20, start_deadline = 60;
  std::string build = "1";  // a fact
  TlsFiles tls = {};        // plain text if it names no files
};

// A process that joins. Its first answer is what Join returns: "OK ", or "E2 message" with the exit code.
class Process {
 public:
  explicit Process(const Start& start);
  Process(Process&& other) noexcept;
  // Kills the process.
  ~Process();

  // Sends one of the lines that RunMember knows.
  void Say(const std::string& line);
  // Returns the next answer; "" if the process has ended.
  std::string Answer();
  std::string Do(const std::string& line);
  void Signal(int signal);
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
  int in_;
  FILE* out_;
};

// Starts all ranks. Without address and job they meet at a free address.
std::vector<Process> StartAll(Start start);
// Starts all ranks and waits until they have met. Prints how long that took.
std::vector<Process> Met(const Start& start = {});
void SayToAll(std::vector<Process>& processes, const std::string& line);

// Replaces GoogleTest's main: runs the tests, or one of their processes.
int MemberTestMain(int argc, char** argv);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_MEMBER_TEST_UTIL_H_
