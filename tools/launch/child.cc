#include "tools/launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/posix_error.h"
#include "base/printable.h"

namespace tandem {
namespace {

// Exit codes, the same as a shell's, for a program that cannot be started and for one that does not exist.
constexpr int kExitNotExecutable = 126, kExitNotFound = 127;

std::optional<rlimit> g_file_limit;  // the process's original limit of open files, if RaiseFileLimit has changed it

absl::Status NotExecutable(absl::string_view file, absl::string_view why) {
  return WithExitCode(absl::InvalidArgumentError(absl::StrCat("cannot start ", PrintableLine(file), ": ", why)),
                      kExitNotExecutable);
}

struct Pipe {
  ~Pipe() {
    for (int fd : fds) {
      if (fd >= 0) close(fd);
    }
  }
  absl::Status Open() { return pipe2(fds, O_CLOEXEC) == 0 ? absl::OkStatus() : PosixError(errno, "open", "a pipe"); }
  int Release(int end) {
    const int fd = fds[end];
    fds[end] = -1;
    return fd;
  }
  int fds[2] = {-1, -1};
};

// Data that the new process needs. The launcher prepares it before the fork.
struct Start {
  const char* program;
  std::vector<char*> arguments, environment;
  const sigset_t* signal_mask;
  pid_t launcher;
  int output, error, report;
};

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Runs in the new process. If the program cannot be started, writes the errno to the pipe `report`; otherwise the pipe
// is closed when the program starts.
[[noreturn]] void BecomeProgram(const Start& start) {
  setpgid(0, 0);
  // If the launcher dies, no process is left that could stop this one. So this process then gets SIGTERM, which lets it
  // save and end.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != start.launcher) _exit(kExitTerminated);  // the launcher died before prctl was called
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  bool ok = nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(start.output, STDOUT_FILENO) >= 0 &&
            dup2(start.error, STDERR_FILENO) >= 0;
  for (int number : {SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2, SIGCHLD}) signal(number, SIG_DFL);
  if (g_file_limit) setrlimit(RLIMIT_NOFILE, &*g_file_limit);
  sigprocmask(SIG_SETMASK, start.signal_mask, nullptr);
  // execvpe runs a script without "#!" with the shell, as shells do.
  if (ok) execvpe(start.program, start.arguments.data(), start.environment.data());
  const int error_number = errno;
  if (write(start.report, &error_number, sizeof(error_number)) < 0) _exit(kExitNotExecutable);
  _exit(kExitNotExecutable);
}

}  // namespace

absl::StatusOr<std::string> FindProgram(absl::string_view program, absl::string_view path) {
  const bool is_path = program.find('/') != absl::string_view::npos;
  std::vector<std::string> folders = {""};
  if (!is_path) folders = absl::StrSplit(path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path, ':');
  absl::Status found_other;
  for (const std::string& folder : folders) {
    // An empty entry of PATH means the current folder.
    const std::string file = is_path ? std::string(program) : JoinPath(folder.empty() ? "." : folder, program);
    struct stat info;
    if (stat(file.c_str(), &info) != 0) {
      if (is_path && errno == EACCES) return NotExecutable(file, "a folder on the way to it may not be entered");
      continue;
    }
    if (!S_ISREG(info.st_mode)) {
      if (is_path) return NotExecutable(file, "it is no file");
    } else if (access(file.c_str(), X_OK) == 0) {
      return file;
    } else if (found_other.ok()) {
      found_other =
          NotExecutable(file, absl::StrCat("it is not executable: chmod +x ", PrintableLine(file),
                                           ", or name its interpreter (-- python3 ", PrintableLine(file), ")"));
    }
  }
  if (!found_other.ok()) return found_other;
  const std::string shown = PrintableLine(program);
  return WithExitCode(absl::NotFoundError(is_path ? absl::StrCat("there is no program ", shown)
                                                  : absl::StrCat("there is no program ", shown,
                                                                 " in the folders of PATH; for a file of this folder "
                                                                 "say ./",
                                                                 shown)),
                      kExitNotFound);
}

void RaiseFileLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  g_file_limit = limit;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

absl::StatusOr<Child> StartChild(const std::string& program, const std::vector<std::string>& command,
                                 const std::map<std::string, std::string>& environment, const sigset_t& signal_mask) {
  Pipe output, error, report;
  for (Pipe* pipe : {&output, &error, &report}) {
    if (absl::Status status = pipe->Open(); !status.ok()) return status;
  }
  for (Pipe* pipe : {&output, &error}) fcntl(pipe->fds[0], F_SETFL, O_NONBLOCK);
  std::vector<std::string> entries;
  for (const auto& [name, value] : environment) entries.push_back(absl::StrCat(name, "=", value));
  const Start start = {.program = program.c_str(),
                       .arguments = Pointers(command),
                       .environment = Pointers(entries),
                       .signal_mask = &signal_mask,
                       .launcher = getpid(),
                       .output = output.fds[1],
                       .error = error.fds[1],
                       .report = report.fds[1]};
  const pid_t pid = fork();
  if (pid < 0) return PosixError(errno, "start", "a process");
  if (pid == 0) BecomeProgram(start);
  close(report.Release(1));
  int error_number = 0;
  if (RetryInterrupted([&] { return read(report.fds[0], &error_number, sizeof(error_number)); }) > 0) {
    RetryInterrupted([&] { return waitpid(pid, nullptr, 0); });
    if (error_number == EAGAIN || error_number == ENOMEM || error_number == EMFILE || error_number == ENFILE) {
      return PosixError(error_number, "start", program);
    }
    return NotExecutable(
        program, absl::StrCat(strerror(error_number),
                              error_number == ENOENT ? ": the interpreter that it names (#!) is not there" : ""));
  }
  return Child{.pid = pid, .output = output.Release(0), .error = error.Release(0)};
}

}  // namespace tandem
