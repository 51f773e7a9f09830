// Group: the processes of one start, from their start to the end of the last.
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
  std::optional<size_t> cause;  // of a failure, in `ends`
  int stop_signal = 0;          // by which a user ended it
  // The number of workers that an operator asked for.
  std::optional<int64_t> workers;
  int output_error = 0;  // errno of standard output that takes nothing any more
};

// A line of the launcher's own, on standard error.
void Note(absl::string_view text, Output* output);

// One at a time in a process with one thread; all arguments must outlive it.
class Group {
 public:
  Group(const LaunchOptions& options, const Layout& layout, Signals* signals, Output* output)
      : options_(options), layout_(layout), signals_(*signals), output_(*output) {}

  // Starts all tasks. After an error those that were started are killed when the group is destroyed.
  absl::Status Start(const std::string& program, const std::map<std::string, std::string>& inherited, int64_t restarts);

  // Passes on what tasks print and signals of users until all tasks have ended, and all is written. One that fails ends
  // all; parameter servers end after the workers.
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
  bool stopping_ = false;            // all were asked to end
  bool hurried_ = false;             // a user waits: what cannot be written at once is dropped
  std::optional<double> settle_at_;  // when the cause of a failure is certain
  GroupEnd end_;
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_GROUP_H_
