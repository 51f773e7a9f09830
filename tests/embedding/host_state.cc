#include "tests/embedding/host_state.h"

#include <dirent.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <clocale>
#include <cstdlib>
#include <exception>
#include <locale>
#include <new>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

extern "C" int omp_get_max_threads();

namespace tandem::test {
namespace {

std::string Text(const sigset_t& signals) {
  std::vector<int> members;
  for (int s = 1; s < NSIG; ++s) {
    if (sigismember(&signals, s) == 1) members.push_back(s);
  }
  return absl::StrCat("{", absl::StrJoin(members, " "), "}");
}

template <typename Function>
std::string Address(Function* function) {
  return absl::StrFormat("%p", reinterpret_cast<const void*>(function));
}

// Returns the entries of a folder, each with where it leads if it is a link.
std::set<std::string> Entries(const std::string& folder) {
  std::set<std::string> entries;
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return {"cannot be read"};
  while (const dirent* entry = readdir(dir)) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || name == std::to_string(dirfd(dir))) continue;
    char target[256] = "";
    if (readlink(absl::StrCat(folder, "/", name).c_str(), target, sizeof(target) - 1) < 0) target[0] = '\0';
    entries.insert(absl::StrCat(name, " ", target));
  }
  closedir(dir);
  return entries;
}

std::string Environment() {
  std::string all;
  for (char** variable = environ; *variable != nullptr; ++variable) absl::StrAppend(&all, *variable, "\n");
  return all;
}

std::string Limits() {
  std::string all;
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    rlimit limit = {};
    getrlimit(static_cast<__rlimit_resource>(resource), &limit);
    absl::StrAppend(&all, limit.rlim_cur, "/", limit.rlim_max, " ");
  }
  return all;
}

std::string Timers() {
  std::string all;
  for (const auto which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval timer = {};
    getitimer(which, &timer);
    absl::StrAppend(&all, timer.it_interval.tv_sec, " ", timer.it_value.tv_sec, " ");
  }
  return all;
}

}  // namespace

HostState Handlers() {
  HostState state;
  for (int s = 1; s < NSIG; ++s) {
    struct sigaction action = {};
    if (sigaction(s, nullptr, &action) != 0) continue;
    state[absl::StrCat("handler of signal ", s)] =
        absl::StrCat(Address(action.sa_sigaction), ", flags ", action.sa_flags, ", mask ", Text(action.sa_mask));
  }
  state["terminate handler"] = Address(std::get_terminate());
  state["new-handler"] = Address(std::get_new_handler());
  return state;
}

HostState WholeState() {
  HostState state = Handlers();
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  state["signal mask"] = Text(mask);
  state["OpenMP threads"] = absl::StrCat(omp_get_max_threads());
  state["rounding"] = absl::StrCat(fegetround(), " ", _mm_getcsr() & ~0x3fu);  // without the flags of past operations
  state["C locale"] = std::setlocale(LC_ALL, nullptr);
  state["C++ locale"] =
      absl::StrCat(std::locale().name(), " ", std::string(1, std::use_facet<std::numpunct<char>>({}).decimal_point()));
  const mode_t mode = umask(0);
  umask(mode);
  state["umask"] = absl::StrFormat("%o", mode);
  state["environment"] = Environment();
  char folder[4096] = "";
  state["folder"] = getcwd(folder, sizeof(folder)) != nullptr ? folder : "unknown";
  state["limits"] = Limits();
  state["timers"] = Timers();
  state["descriptors"] = absl::StrJoin(Entries("/proc/self/fd"), ", ");
  state["threads"] = absl::StrCat(Entries("/proc/self/task").size());
  return state;
}

std::string Differences(const HostState& before, const HostState& after) {
  std::string lines;
  for (const auto& [name, value] : before) {
    if (after.at(name) != value) absl::StrAppend(&lines, name, " was ", value, " and is ", after.at(name), "\n");
  }
  return lines;
}

}  // namespace tandem::test
