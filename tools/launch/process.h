// Process: watches a running task and all processes in its process group, forwards their output and stops them.
#ifndef TANDEM_TOOLS_LAUNCH_PROCESS_H_
#define TANDEM_TOOLS_LAUNCH_PROCESS_H_

#include <array>
#include <limits>

#include "absl/strings/string_view.h"
#include "tools/launch/child.h"
#include "tools/launch/line_prefixer.h"
#include "tools/launch/outcome.h"
#include "tools/launch/output.h"

namespace tandem {

// All times that are passed are in seconds of one clock.
class Process {
 public:
  // Each line that the task prints is written to `output`, after `prefix`. `output` must outlive this object.
  Process(const Task& task, const Child& child, absl::string_view prefix, Output* output);
  // Kills the processes of the group that are still running.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Describes how the process ended; valid when ended().
  const TaskEnd& end() const { return end_; }
  bool ended() const { return ended_; }
  // True if the process group is empty, and everything that it has printed was passed to the output.
  bool over() const { return over_; }

  // Sends the signal to the process group, but only the first time: a second signal would abort programs that are still
  // saving after the first. The group is killed after grace_seconds.
  void Stop(int signal, double now, double grace_seconds);
  void Kill();
  // The time at which the group must be killed if it still runs.
  double kill_at() const { return kill_at_; }

  // Must be called when waitpid has returned `status` for this process.
  void OnExit(int status, double now);
  // Must be called whenever any process has ended. If the task itself has ended, stops the processes that it left
  // running.
  void CheckGroup(double now, double grace_seconds);

  // fd returns the pipe of the standard output (0) or standard error (1), or -1 if it is closed. Read reads what is
  // available there, without blocking.
  static constexpr int kStreams = 2;
  int fd(int stream) const { return streams_[stream].fd; }
  void Read(int stream);

 private:
  struct Stream {
    int fd;
    LinePrefixer lines;
    std::string* out;
  };

  void Close(Stream* stream);

  TaskEnd end_;
  bool ended_ = false, over_ = false, stopped_ = false;
  double kill_at_ = std::numeric_limits<double>::infinity();
  std::array<Stream, kStreams> streams_;
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_PROCESS_H_
