// Group: starts the processes of a job once, and watches them until the last of them has ended.
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
  std::vector<TaskEnd> ends;    // ends of the tasks, in the order of TasksOf(layout)
  std::optional<size_t> cause;  // index in `ends` of the task whose failure ended the group
  int stop_signal = 0;          // the signal with which a user stopped the group; 0 if none did
  // The number of workers with which the group should start again, if an operator requested another number with a
  // signal.
  std::optional<int64_t> workers;
  int output_error = 0;  // errno of the failed write if standard output cannot be written any more
};

// Prints a line of the launcher itself to standard error.
void Note(absl::string_view text, Output* output);

// The processes of one start of the job. The launcher may have only one Group at a time, and only one thread. All
// constructor arguments must outlive the group.
class Group {
 public:
  Group(const LaunchOptions& options, const Layout& layout, Signals* signals, Output* output)
      : options_(options), layout_(layout), signals_(*signals), output_(*output) {}

  // Starts all tasks. After an error, the tasks that were started are killed when the group is destroyed.
  absl::Status Start(const std::string& program, const std::map<std::string, std::string>& inherited, int64_t restarts);

  // Forwards the tasks' output and the users' signals until all tasks have ended and everything is written. When a task
  // fails, all others are stopped. Parameter servers are stopped after the workers have ended.
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
  bool stopping_ = false;  // true once all tasks were asked to end
  bool hurried_ = false;   // true if a user waits for the end: output that cannot be written at once is dropped
  std::optional<double> settle_at_;  // the time, in seconds, at which the cause of a failure counts as certain
  GroupEnd end_;
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_GROUP_H_
