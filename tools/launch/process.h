// Process: a running task, with everything in its process group.
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

// Times are in seconds of the same clock.
class Process {
 public:
  // Lines get `prefix` and are written to `output`, which must outlive this object.
  Process(const Task& task, const Child& child, absl::string_view prefix, Output* output);
  // Kills what is still running.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // How the process ended; valid when ended().
  const TaskEnd& end() const { return end_; }
  bool ended() const { return ended_; }
  // True if its process group is empty, and everything that it printed is in the output.
  bool over() const { return over_; }

  // Asks the group to end, but only once: a second signal would abort programs that are still saving after the first.
  void Stop(int signal, double now, double grace_seconds);
  void Kill();
  // The time at which it must be killed.
  double kill_at() const { return kill_at_; }

  // To be called after waitpid returned `status` for it.
  void OnExit(int status, double now);
  // To be called whenever any process has ended. Ends what the program left running.
  void CheckGroup(double now, double grace_seconds);

  // Its standard output (0) and error (1); -1 if it is closed. Read reads what is there, without blocking.
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
