#include "cluster/meeting_place.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/fingerprint.h"
#include "base/posix_error.h"
#include "base/printable.h"
#include "base/standard_descriptors.h"
#include "base/status_macros.h"
#include "cluster/listening_address.h"

namespace tandem {
namespace {

constexpr absl::string_view kRemedy = "set TANDEM_COORDINATOR=HOST:PORT, an address of rank 0, on all processes";

absl::Status UsageError(absl::string_view message) {
  return WithExitCode(absl::FailedPreconditionError(message), kExitUsage);
}

// Returns a file name that is the same for all processes of a job, and differs between jobs. Launchers that give a job
// no name start all processes of a host themselves, so their parent's process id stands in for it.
std::string FileName(const Cluster& cluster) {
  const std::string job = cluster.job.empty() ? absl::StrCat("parent-", getppid()) : cluster.job;
  std::string name;
  for (char c : job) name += absl::ascii_isalnum(c) || c == '-' ? c : '_';
  // The most bytes of a name, because the path of a socket may have at most 107.
  constexpr size_t kMost = 40;
  return name == job && name.size() <= kMost ? name : absl::StrCat("job-", absl::Hex(Fingerprint64(job)));
}

std::string Folder() {
  const char* temporary = getenv("TMPDIR");
  constexpr size_t kMost = 40;
  const bool usable = temporary != nullptr && temporary[0] == '/' && strlen(temporary) <= kMost;
  return absl::StrCat(usable ? temporary : "/tmp", "/tandem-", geteuid());
}

absl::Status MakePrivateFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return PosixError(errno, "create the folder", folder);
  struct stat info;
  if (lstat(folder.c_str(), &info) != 0) return PosixError(errno, "look at the folder", folder);
  if (S_ISDIR(info.st_mode) && info.st_uid == geteuid() && (info.st_mode & 077) == 0) return absl::OkStatus();
  return UsageError(absl::StrCat(PrintableLine(folder),
                                 " is no folder that only this user can enter; delete it, set TMPDIR to another "
                                 "folder on all processes, or ",
                                 kRemedy));
}

// Returns the lock's descriptor. Between opening and locking, the last holder may delete the file: then tries again.
absl::StatusOr<int> Lock(const MeetingPlace& place, const std::string& file) {
  while (true) {
    const int lock = AboveStandardDescriptors(
        RetryInterrupted([&] { return open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600); }));
    if (lock < 0) return PosixError(errno, "create", file);
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
      close(lock);
      return CannotListen(place, "in use by another rank 0 of the same job");
    }
    struct stat opened, named;
    if (fstat(lock, &opened) == 0 && stat(file.c_str(), &named) == 0 && opened.st_ino == named.st_ino) return lock;
    close(lock);
  }
}

}  // namespace

absl::Status CannotListen(const MeetingPlace& place, absl::string_view why) {
  return UsageError(
      absl::StrCat("rank 0 cannot listen at ", PrintableLine(place.text()), ": ", why,
                   "; end what is there, start rank 0 on that machine, or name another address of rank 0 on "
                   "all processes"));
}

absl::StatusOr<MeetingPlace> MeetingPlace::Of(const Cluster& cluster) {
  MeetingPlace place;
  if (!cluster.coordinator.empty()) {
    place.text_ = cluster.coordinator;
    place.target_ = absl::StrCat("dns:///", cluster.coordinator);
    return place;
  }
  if (cluster.local_world_size != cluster.world_size) {
    const std::string here =
        cluster.local_world_size > 0
            ? absl::StrCat(cluster.local_world_size, " of ", cluster.world_size, " processes are on this host")
            : "it is not known whether all processes are on one host";
    return UsageError(
        absl::StrCat("no address to meet at (", cluster.source, " names none, and ", here, "): ", kRemedy));
  }
  const std::string folder = Folder();
  TD_RETURN_IF_ERROR(MakePrivateFolder(folder));
  place.path_ = absl::StrCat(folder, "/", FileName(cluster), ".sock");
  place.text_ = place.path_;
  place.target_ = absl::StrCat("unix:", place.path_);
  return place;
}

absl::StatusOr<ClaimedPlace> ClaimedPlace::Claim(const MeetingPlace& place) {
  if (place.path().empty()) {
    if (const std::string why = WhyCannotListen("rank 0", place.text()); !why.empty()) return CannotListen(place, why);
    return ClaimedPlace("", -1);
  }
  TD_ASSIGN_OR_RETURN(const int lock, Lock(place, absl::StrCat(place.path(), ".lock")));
  unlink(place.path().c_str());  // deletes the socket of a rank 0 that was killed
  return ClaimedPlace(place.path(), lock);
}

ClaimedPlace::ClaimedPlace(ClaimedPlace&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

ClaimedPlace::~ClaimedPlace() {
  if (lock_ < 0) return;
  unlink(path_.c_str());
  unlink(absl::StrCat(path_, ".lock").c_str());
  close(lock_);
}

}  // namespace tandem
