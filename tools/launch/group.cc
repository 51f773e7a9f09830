#include "tools/launch/group.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "tools/launch/child.h"
#include "tools/launch/ports.h"

namespace tandem {
namespace {

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

void Note(absl::string_view text, Output* output) {
  absl::StrAppend(output->error(), "tandem-launch: ", PrintableLine(text), "\n");
}

absl::Status Group::Start(const std::string& program, const std::map<std::string, std::string>& inherited,
                          int64_t restarts) {
  TD_ASSIGN_OR_RETURN(const std::vector<int> ports, FreePorts(NumPorts(layout_)));
  const std::vector<Task> tasks = TasksOf(layout_);
  for (size_t i = 0; i < tasks.size(); ++i) {
    TD_ASSIGN_OR_RETURN(const Child child,
                        StartChild(program, options_.command, TaskEnvironment(inherited, layout_, ports, i, restarts),
                                   signals_.mask_before()));
    const std::string prefix = options_.prefix ? absl::StrCat("[", Label(tasks[i]), "] ") : "";
    processes_.push_back(std::make_unique<Process>(tasks[i], child, prefix, &output_));
  }
  return absl::OkStatus();
}

GroupEnd Group::Run() {
  while (!IsOver() || !output_.empty()) {
    Poll();
    for (int number : signals_.Take()) OnSignal(number);
    Decide();
    output_.Write();
    if (hurried_ && IsOver()) output_.Drop();
    if (output_.error_number() != 0 && end_.output_error == 0) {
      end_.output_error = output_.error_number();
      Stop(SIGTERM);
    }
  }
  end_.ends = Ends();
  end_.cause = FindCause(end_.ends);
  return std::move(end_);
}

// Waits until there is a signal, output of a task, or room in the launcher's own output, or until the next time at
// which Decide must act.
void Group::Poll() {
  double due = settle_at_ && !stopping_ ? *settle_at_ : std::numeric_limits<double>::infinity();
  std::vector<pollfd> polled = {{.fd = signals_.fd(), .events = POLLIN}};
  output_.AddTo(&polled);
  const size_t first = polled.size();
  std::vector<std::pair<Process*, int>> sources;
  for (const auto& process : processes_) {
    due = std::min(due, process->kill_at());
    for (int stream = 0; stream < Process::kStreams; ++stream) {
      if (process->fd(stream) < 0 || output_.full()) continue;
      polled.push_back({.fd = process->fd(stream), .events = POLLIN});
      sources.emplace_back(process.get(), stream);
    }
  }
  int milliseconds = -1;
  constexpr double kLongest = 3600;
  if (std::isfinite(due)) milliseconds = std::ceil(std::clamp(due - Now(), 0.0, kLongest) * 1000);
  if (poll(polled.data(), polled.size(), milliseconds) <= 0) return;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (polled[first + i].revents != 0) sources[i].first->Read(sources[i].second);
  }
}

void Group::OnSignal(int number) {
  switch (number) {
    case SIGCHLD:
      return Reap();
    case SIGUSR1:
      return Resize(/*more=*/false);
    case SIGUSR2:
      return Resize(/*more=*/true);
    default:
      return OnStopSignal(number);
  }
}

void Group::OnStopSignal(int number) {
  // After a second signal, or a signal when the job is over, the launcher does not wait until the tasks' output is
  // written.
  hurried_ = IsOver() || end_.stop_signal != 0;
  if (end_.stop_signal == 0) {
    end_.stop_signal = number;
    Note(absl::StrCat(SignalName(number), ": the tasks have ", options_.grace_seconds,
                      " s to save and end; SIGINT kills them at once"),
         &output_);
    Stop(number);
  } else if (number == SIGINT) {
    for (const auto& process : processes_) process->Kill();
  }
}

void Group::Resize(bool more) {
  const int64_t least = options_.min_workers.value_or(1), most = options_.layout.workers;
  const int64_t workers = more ? MoreWorkers(layout_.workers, most) : FewerWorkers(layout_.workers, most);
  if (stopping_ || settle_at_ || WorkersAreDone()) {
    Note("the number of workers stays: this start is ending", &output_);
  } else if (workers < least) {
    Note(absl::StrCat("the number of workers stays ", layout_.workers, ": it may be from ", least, " to ", most,
                      ", and divide that"),
         &output_);
  } else {
    Note(absl::StrCat("the tasks are to save and end, to go on with ", workers, " workers"), &output_);
    end_.workers = workers;
    Stop(SIGTERM);
  }
}

void Group::Reap() {
  int status = 0;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    const auto found = absl::c_find_if(processes_, [&](const auto& process) { return process->end().pid == pid; });
    // A process id that is not found belongs to an orphaned child of a task.
    if (found != processes_.end() && !(*found)->ended()) (*found)->OnExit(status, Now());
  }
  for (const auto& process : processes_) process->CheckGroup(Now(), options_.grace_seconds);
}

void Group::Decide() {
  const double now = Now();
  for (const auto& process : processes_) {
    if (now < process->kill_at()) continue;
    Note(absl::StrCat(Label(process->end().task), " (pid ", process->end().pid, ") has not ended within ",
                      options_.grace_seconds, " s: it is killed"),
         &output_);
    process->Kill();
  }
  if (stopping_) return;
  if (const std::vector<TaskEnd> ends = Ends(); const std::optional<size_t> cause = FindCause(ends)) {
    // If one task dies and another one fails because of that, the second may be seen to end first. So the tasks are not
    // stopped at once: within kSettleSeconds the failure of the first task becomes known.
    if (!settle_at_) settle_at_ = ends[*cause].seconds + kSettleSeconds;
    if (ends[*cause].code != kExitTemporary || now >= *settle_at_) Stop(SIGTERM);
  } else if (WorkersAreDone()) {
    for (const auto& process : processes_) {
      // Only parameter servers must be stopped. The evaluator ends by itself when it has evaluated the last checkpoint.
      if (process->end().task.type != TaskType::kParameterServer) continue;
      process->Stop(SIGTERM, now, options_.grace_seconds);
    }
  }
}

bool Group::WorkersAreDone() const {
  return std::all_of(processes_.begin(), processes_.begin() + layout_.workers,
                     [](const auto& process) { return process->ended() && ExitCodeOf(process->end()) == 0; });
}

bool Group::IsOver() const {
  return absl::c_all_of(processes_, [](const auto& process) { return process->over(); });
}

std::vector<TaskEnd> Group::Ends() const {
  std::vector<TaskEnd> ends;
  for (const auto& process : processes_) ends.push_back(process->end());
  return ends;
}

void Group::Stop(int signal) {
  if (stopping_) return;
  stopping_ = true;
  for (const auto& process : processes_) process->Stop(signal, Now(), options_.grace_seconds);
}

}  // namespace tandem
