#include "base/fault_injecting_env.h"

#include <errno.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/posix_error.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

absl::Status Crashed(const std::string& path) { return PosixError(EIO, "go on after the injected crash", path); }

// Returns the new name of `path` after `from` was renamed to `to`.
std::string Moved(const std::string& path, const std::string& from, const std::string& to) {
  if (path == from) return to;
  return absl::StartsWith(path, from + "/") ? to + path.substr(from.size()) : path;
}

}  // namespace

class FaultInjectingFile : public WritableFile {
 public:
  FaultInjectingFile(FaultInjectingEnv* env, std::string path, std::unique_ptr<WritableFile> base)
      : env_(env), path_(std::move(path)), base_(std::move(base)) {}

  absl::Status Append(absl::string_view bytes) override {
    bool was_crashed = env_->crashed();
    absl::Status status = env_->Begin(FileOp::kWrite, path_);
    if (!status.ok()) {
      if (!was_crashed) base_->Append(bytes.substr(0, bytes.size() / 2)).IgnoreError();
      return status;
    }
    return base_->Append(bytes);
  }

  absl::Status Sync() override {
    TD_RETURN_IF_ERROR(env_->Begin(FileOp::kSync, path_));
    std::lock_guard<std::mutex> lock(env_->mutex_);
    env_->unsynced_files_.erase(path_);
    return absl::OkStatus();  // tests need no real fsync: DropUnsynced simulates its effect
  }

  absl::Status Close() override { return base_->Close(); }

 private:
  FaultInjectingEnv* const env_;
  const std::string path_;
  std::unique_ptr<WritableFile> base_;
};

void FaultInjectingEnv::FailNth(FileOp op, int n, int error_number, bool sticky) {
  std::lock_guard<std::mutex> lock(mutex_);
  faults_.push_back({op, n, error_number, sticky});
}

void FaultInjectingEnv::FailPath(const std::string& part, int error_number) {
  std::lock_guard<std::mutex> lock(mutex_);
  bad_paths_.push_back({part, error_number});
}

void FaultInjectingEnv::CrashAt(int n) {
  std::lock_guard<std::mutex> lock(mutex_);
  crash_at_ = operations_ + n;
  if (n == 0) crashed_ = true;
}

bool FaultInjectingEnv::crashed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return crashed_;
}

int FaultInjectingEnv::operations() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return operations_;
}

std::vector<std::string> FaultInjectingEnv::trace() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return trace_;
}

absl::Status FaultInjectingEnv::CheckPath(const std::string& path) {
  for (const auto& [part, error_number] : bad_paths_) {
    if (absl::StrContains(path, part)) return PosixError(error_number, "use (injected fault)", path);
  }
  return absl::OkStatus();
}

absl::Status FaultInjectingEnv::BeginRead(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (crashed_) return Crashed(path);
  return CheckPath(path);
}

absl::Status FaultInjectingEnv::Begin(FileOp op, const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (crashed_) return Crashed(path);
  constexpr const char* kNames[] = {"create", "write", "sync", "rename", "sync-dir", "create-dir", "delete"};
  trace_.push_back(absl::StrCat(kNames[static_cast<int>(op)], " ", BaseName(path)));
  if (++operations_ >= crash_at_) {
    crashed_ = true;
    return Crashed(path);
  }
  TD_RETURN_IF_ERROR(CheckPath(path));
  for (Fault& fault : faults_) {
    if (fault.op != op) continue;
    --fault.countdown;
    if (fault.countdown == 0 || (fault.countdown < 0 && fault.sticky)) {
      return PosixError(fault.error_number, "go on (injected fault)", path);
    }
  }
  return absl::OkStatus();
}

void FaultInjectingEnv::AddUndo(Undo undo) {
  std::lock_guard<std::mutex> lock(mutex_);
  undo_.push_back(std::move(undo));
}

absl::Status FaultInjectingEnv::Apply(const Undo& undo) {
  if (undo.from.empty()) return base_->DeleteRecursively(undo.path);
  TD_RETURN_IF_ERROR(base_->Rename(undo.path, undo.from));
  return undo.replaced.has_value() ? base_->WriteFile(undo.path, {*undo.replaced}) : absl::OkStatus();
}

absl::Status FaultInjectingEnv::DropUnsynced() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const std::string& path : unsynced_files_) {
    if (base_->Exists(path)) TD_RETURN_IF_ERROR(base_->WriteFile(path, {}));
  }
  unsynced_files_.clear();
  for (; !undo_.empty(); undo_.pop_back()) {
    absl::Status status = Apply(undo_.back());
    if (!absl::IsNotFound(status)) TD_RETURN_IF_ERROR(status);  // the file has been deleted since the change
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> FaultInjectingEnv::OpenForRead(const std::string& path) {
  TD_RETURN_IF_ERROR(BeginRead(path));
  return base_->OpenForRead(path);
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultInjectingEnv::CreateFile(const std::string& path) {
  return Create(path, &Env::CreateFile);
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultInjectingEnv::CreateNewFile(const std::string& path) {
  return Create(path, &Env::CreateNewFile);
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultInjectingEnv::CreateLockedFile(const std::string& path) {
  return Create(path, &Env::CreateLockedFile);
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultInjectingEnv::Create(
    const std::string& path, absl::StatusOr<std::unique_ptr<WritableFile>> (Env::*create)(const std::string&)) {
  TD_RETURN_IF_ERROR(Begin(FileOp::kCreate, path));
  bool is_new = !base_->Exists(path);
  TD_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, (base_->*create)(path));
  if (is_new) AddUndo({.dir = DirName(path), .path = path});
  std::lock_guard<std::mutex> lock(mutex_);
  unsynced_files_.insert(path);
  return std::make_unique<FaultInjectingFile>(this, path, std::move(file));
}

absl::Status FaultInjectingEnv::Rename(const std::string& from, const std::string& to) {
  TD_RETURN_IF_ERROR(Begin(FileOp::kRename, from));
  absl::StatusOr<std::string> replaced = base_->ReadFile(to);
  TD_RETURN_IF_ERROR(base_->Rename(from, to));
  Undo undo{.dir = DirName(to), .path = to, .from = from};
  if (replaced.ok()) undo.replaced = *replaced;
  AddUndo(std::move(undo));
  std::lock_guard<std::mutex> lock(mutex_);
  std::set<std::string> unsynced;
  for (const std::string& path : unsynced_files_) unsynced.insert(Moved(path, from, to));
  unsynced_files_ = std::move(unsynced);
  return absl::OkStatus();
}

absl::Status FaultInjectingEnv::SyncDir(const std::string& dir) {
  TD_RETURN_IF_ERROR(Begin(FileOp::kSyncDir, dir));
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < undo_.size(); ++i) {
    if (undo_[i].dir != dir || undo_[i].from.empty()) continue;
    for (size_t j = 0; j < i; ++j) {  // earlier changes inside a moved directory now have its new name
      undo_[j].dir = Moved(undo_[j].dir, undo_[i].from, undo_[i].path);
      undo_[j].path = Moved(undo_[j].path, undo_[i].from, undo_[i].path);
      undo_[j].from = Moved(undo_[j].from, undo_[i].from, undo_[i].path);
    }
  }
  std::erase_if(undo_, [&](const Undo& undo) { return undo.dir == dir; });
  return absl::OkStatus();
}

absl::Status FaultInjectingEnv::CreateDir(const std::string& dir) {
  TD_RETURN_IF_ERROR(Begin(FileOp::kCreateDir, dir));
  TD_RETURN_IF_ERROR(base_->CreateDir(dir));
  AddUndo({.dir = DirName(dir), .path = dir});
  return absl::OkStatus();
}

absl::Status FaultInjectingEnv::DeleteFile(const std::string& path) {
  TD_RETURN_IF_ERROR(Begin(FileOp::kDelete, path));
  return base_->DeleteFile(path);
}

absl::Status FaultInjectingEnv::DeleteDir(const std::string& dir) {
  TD_RETURN_IF_ERROR(Begin(FileOp::kDelete, dir));
  return base_->DeleteDir(dir);
}

absl::StatusOr<std::vector<std::string>> FaultInjectingEnv::ListDir(const std::string& dir) {
  TD_RETURN_IF_ERROR(BeginRead(dir));
  return base_->ListDir(dir);
}

absl::StatusOr<FileInfo> FaultInjectingEnv::Stat(const std::string& path) {
  TD_RETURN_IF_ERROR(BeginRead(path));
  return base_->Stat(path);
}

absl::StatusOr<std::unique_ptr<FileLock>> FaultInjectingEnv::TryLock(const std::string& path) {
  TD_RETURN_IF_ERROR(BeginRead(path));
  return base_->TryLock(path);
}

}  // namespace tandem
