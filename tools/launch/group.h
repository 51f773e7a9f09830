// Group: the processes of one start of a job, until the last of them has ended.
#ifndef TANDEM_TOOLS_LAUNCH_GROUP_H_
#define TANDEM_TOOLS_LAUNCH_GROUP_H_

#include <poll.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/launch/layout.h"
#include "tools/launch/options.h"
#include "tools/launch/outcome.h"
#include "tools/launch/output.h"
#include "tools/launch/process.h"
#include "tools/launch/signals.h"

namespace tandem {

struct GroupEnd {
  std::vector<TaskEnd> ends;    // by TasksOf(layout)
  std::optional<size_t> cause;  // index in `ends` of the task whose failure ended the group
  int stop_signal = 0;          // the signal with which a user ended the group
  // The number of workers that an operator asked for with a signal.
  std::optional<int64_t> workers;
  int output_error = 0;  // errno of standard output if it cannot be written any more
};

// Prints a line of the launcher itself on standard error.
void Note(absl::string_view text, Output* output);

// Only one at a time, in a process with one thread; all arguments must outlive it.
class Group {
 public:
  Group(const LaunchOptions& options, const Layout& layout, Signals* signals, Output* output)
      : options_(options), layout_(layout), signals_(*signals), output_(*output) {}

  // Starts all tasks. After an error those that were started are killed when the group is destroyed.
  absl::Status Start(const std::string& program, const std::map<std::string, std::string>& inherited, int64_t restarts);

  // Forwards the tasks' output and the users' signals until all tasks have ended and everything is written. A task that
  // fails ends all others; parameter servers end after the workers.
  GroupEnd Run();

 private:
  void Poll();
  void OnSignal(int number);
  void OnStopSignal(int number);
  void Resize(bool more);
  void Reap();
  void Decide();
  bool WorkersAreDone() const;
  bool IsOver() const;
  std::vector<TaskEnd> Ends() const;
  void Stop(int signal);

  const LaunchOptions& options_;
  const Layout layout_;
  Signals& signals_;
  Output& output_;
  std::vector<std::unique_ptr<Process>> processes_;
  bool stopping_ = false;            // all tasks were asked to end
  bool hurried_ = false;             // a user is waiting: output that cannot be written at once is dropped
  std::optional<double> settle_at_;  // the time when the cause of a failure is certain
  GroupEnd end_;
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_GROUP_H_
