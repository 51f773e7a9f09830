#include "runtime/collectives/shared_mapping.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/posix_error.h"
#include "base/standard_descriptors.h"
#include "base/status_macros.h"
#include "runtime/collectives/connect_wait.h"

namespace tandem {
namespace {

// Returns a text that is equal for processes that can open each other's descriptors through /proc: the id of the
// running kernel, and its numbering of processes. Empty when the system does not say.
std::string Host() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  struct stat processes = {};
  if (!std::getline(file, boot) || stat("/proc/self/ns/pid", &processes) != 0) return "";
  return absl::StrCat(boot, ",", processes.st_dev, ",", processes.st_ino);
}

absl::Status SystemError(absl::string_view doing) {
  return absl::FailedPreconditionError(absl::StrCat(doing, ": ", std::strerror(errno)));
}

// Creates an unnamed file whose memory is allocated now: a page that is not available later would end the process that
// touches it.
absl::StatusOr<int> CreateFile(size_t bytes) {
  // The descriptor must be none of the standard ones, so that printed text cannot go into the file.
  const int fd = AboveStandardDescriptors(memfd_create("tandem", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd < 0) return SystemError("memfd_create");
  const int error = posix_fallocate(fd, 0, bytes);
  if (error == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) return fd;
  if (error != 0) errno = error;
  absl::Status status = SystemError(absl::StrCat(bytes, " bytes of shared memory"));
  close(fd);
  return status;
}

absl::StatusOr<int> OpenFile(int process, int fd, size_t bytes) {
  const std::string path = absl::StrCat("/proc/", process, "/fd/", fd);
  const int mine = AboveStandardDescriptors(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (mine < 0) return SystemError(path);
  struct stat info = {};
  if (fstat(mine, &info) == 0 && static_cast<uint64_t>(info.st_size) == bytes) return mine;
  close(mine);
  return absl::FailedPreconditionError(absl::StrCat(path, " is not what rank 0 made"));
}

struct Member {
  std::string host;
  int process = 0;
};

absl::StatusOr<Member> ParseMember(const std::string& text) {
  const std::vector<std::string> fields = absl::StrSplit(text, ' ');
  Member m;
  if (fields.size() != 2 || !absl::SimpleAtoi(fields[1], &m.process)) {
    return absl::InternalError(absl::StrCat("the store has \"", text, "\" for a rank's host"));
  }
  m.host = fields[0];
  return m;
}

}  // namespace

SharedMapping::~SharedMapping() {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
  for (int fd : process_descriptors_) {
    if (fd >= 0) close(fd);
  }
}

absl::StatusOr<std::unique_ptr<SharedMapping>> SharedMapping::Create(const ConnectOptions& options, size_t bytes) {
  const int rank = options.rank, size = options.size;
  std::unique_ptr<SharedMapping> m(new SharedMapping);
  m->bytes_ = bytes;
  ConnectWait wait(options);
  auto key = [](absl::string_view name, int of) { return absl::StrCat("shared/", name, "/", of); };
  auto of_each = [&](absl::string_view name, absl::string_view what,
                     std::string mine) -> absl::StatusOr<std::vector<std::string>> {
    TD_RETURN_IF_ERROR(wait.Set(key(name, rank), mine));
    std::vector<std::string> all(size);
    for (int r = 0; r < size; ++r) {
      TD_ASSIGN_OR_RETURN(all[r], wait.Get(key(name, r), r, what));
    }
    return all;
  };

  const std::string host = Host();
  TD_ASSIGN_OR_RETURN(std::vector<std::string> members,
                      of_each("host", "which host it is on", absl::StrCat(host, " ", getpid())));
  for (int r = 0; r < size; ++r) {
    TD_ASSIGN_OR_RETURN(Member member, ParseMember(members[r]));
    if (member.host != host || host.empty()) {
      return absl::FailedPreconditionError(absl::StrCat("ranks ", rank, " and ", r, " are not on one host"));
    }
    m->processes_.push_back(member.process);
    // The process is still waiting for this rank's next message, so its process id cannot belong to a later process
    // yet.
    m->process_descriptors_.push_back(syscall(SYS_pidfd_open, member.process, 0));
  }

  // Rank 0 publishes in the store the number of its file descriptor and a random word with which the mapping begins, or
  // why it has no mapping. Each of the other ranks then reports whether it has found that word.
  auto map = [&]() -> absl::Status {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, m->descriptor_, 0);
    if (at == MAP_FAILED) return SystemError("mmap of shared memory");
    m->data_ = static_cast<std::byte*>(at);
    return absl::OkStatus();
  };
  absl::Status mapped;
  if (rank == 0) {
    const uint64_t word = (uint64_t{std::random_device()()} << 32) | std::random_device()();
    auto fd = CreateFile(bytes);
    mapped = fd.status();
    if (fd.ok()) {
      m->descriptor_ = *fd;
      mapped = map();
    }
    if (mapped.ok()) std::memcpy(m->data_, &word, sizeof(word));
    TD_RETURN_IF_ERROR(wait.Set(key("file", 0),
                                mapped.ok() ? absl::StrCat(m->descriptor_, " ", word) : std::string(mapped.message())));
  } else {
    TD_ASSIGN_OR_RETURN(std::string text, wait.Get(key("file", 0), 0, "which memory is shared"));
    const std::vector<std::string> fields = absl::StrSplit(text, ' ');
    int fd = -1;
    uint64_t word = 0;
    if (fields.size() != 2 || !absl::SimpleAtoi(fields[0], &fd) || !absl::SimpleAtoi(fields[1], &word)) {
      mapped = absl::FailedPreconditionError(absl::StrCat("rank 0: ", text));
    } else {
      auto mine = OpenFile(m->processes_[0], fd, bytes);
      mapped = mine.status();
      if (mine.ok()) {
        m->descriptor_ = *mine;
        mapped = map();
      }
      if (mapped.ok() && std::memcmp(m->data_, &word, sizeof(word)) != 0) {
        mapped = absl::FailedPreconditionError("the memory that was found is not rank 0's");
      }
    }
  }
  TD_ASSIGN_OR_RETURN(std::vector<std::string> results, of_each("mapped", "whether it shares memory",
                                                                mapped.ok() ? "ok" : std::string(mapped.message())));
  for (int r = 0; r < size; ++r) {
    if (results[r] == "ok") continue;
    return absl::FailedPreconditionError(absl::StrCat("rank ", r, " cannot share memory: ", results[r]));
  }
  close(std::exchange(m->descriptor_, -1));
  return m;
}

bool SharedMapping::Lives(int rank) const {
  const int fd = process_descriptors_[rank];
  if (fd < 0) return kill(processes_[rank], 0) == 0 || errno == EPERM;
  pollfd ended = {fd, POLLIN, 0};
  // poll may return EINTR even though it does not wait.
  return RetryInterrupted([&] { return poll(&ended, 1, 0); }) == 0;
}

}  // namespace tandem
