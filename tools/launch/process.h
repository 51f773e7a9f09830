// Process: a task that runs, with everything that it starts in its process group.
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

// Times are seconds of one clock.
class Process {
 public:
  // Lines get `prefix` and go to `output`, which must outlive this.
  Process(const Task& task, const Child& child, absl::string_view prefix, Output* output);
  // Kills what still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // How it ended; complete when ended().
  const TaskEnd& end() const { return end_; }
  bool ended() const { return ended_; }
  // Whether nothing of its process group is left, and all that was printed is in the output.
  bool over() const { return over_; }

  // Has the group end: once. A second signal would have programs end at once that are saving after the first.
  void Stop(int signal, double now, double grace_seconds);
  void Kill();
  // When it is to be killed.
  double kill_at() const { return kill_at_; }

  // waitpid returned `status` for it.
  void OnExit(int status, double now);
  // To be called whenever a process has ended. What the program left running has to end, too.
  void CheckGroup(double now, double grace_seconds);

  // Its standard output (0) and error (1); -1 when it is closed. Read takes what is there, without waiting.
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
