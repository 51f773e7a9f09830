#include "estimator/serving/server/served_model.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "base/logging.h"
#include "base/printable.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/steady_time.h"
#include "base/threads.h"
#include "estimator/serving/export_dir.h"
#include "estimator/serving/signature.h"

namespace tandem::serving {
namespace {

constexpr absl::Duration kMaxRetryInterval = absl::Minutes(1);
constexpr int kMaxDoublings = 16;

// The number of an export whose path is given by itself and does not end with one.
constexpr int64_t kOnlyVersion = 1;

int64_t NumberOf(const std::string& path) {
  int64_t number = 0;
  return absl::SimpleAtoi(BaseName(path), &number) && number >= 0 ? number : kOnlyVersion;
}

}  // namespace

absl::string_view Name(VersionState state) {
  switch (state) {
    case VersionState::kLoading:
      return "LOADING";
    case VersionState::kAvailable:
      return "AVAILABLE";
    case VersionState::kFailed:
      return "END";
  }
  return "UNKNOWN";
}

absl::StatusOr<std::unique_ptr<ServedModel>> ServedModel::Start(const ModelOptions& model, const ServerOptions& options,
                                                                LoadServable load, ModelMetrics* metrics) {
  std::unique_ptr<ServedModel> served(new ServedModel(model, options, std::move(load), metrics));
  TD_ASSIGN_OR_RETURN(served->watcher_, StartThread("loading versions of a model", [s = served.get()] { s->Watch(); }));
  return served;
}

ServedModel::ServedModel(const ModelOptions& model, const ServerOptions& options, LoadServable load,
                         ModelMetrics* metrics)
    : name_(model.name),
      directory_(model.directory),
      batch_(options.batch),
      wanted_versions_(options.versions),
      poll_interval_(options.poll_interval),
      load_(std::move(load)),
      metrics_(metrics),
      directory_status_(absl::UnavailableError("the server has not looked for exports yet")) {}

ServedModel::~ServedModel() { Stop(); }

void ServedModel::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  stop_changed_.notify_all();
  if (watcher_.joinable()) watcher_.join();
  std::map<int64_t, Entry> entries;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries.swap(entries_);
  }
  for (auto& [number, entry] : entries) {
    if (entry.version != nullptr) entry.version->Drain();
  }
}

bool ServedModel::stopped() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stopped_;
}

absl::StatusOr<std::shared_ptr<ServedVersion>> ServedModel::Find(std::optional<int64_t> number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!number.has_value()) {
    for (auto it = entries_.rbegin(); it != entries_.rend(); ++it) {
      if (it->second.version != nullptr) return it->second.version;
    }
    return NoVersion();
  }
  const auto it = entries_.find(*number);
  if (it == entries_.end()) {
    const std::string known =
        absl::StrJoin(entries_, ", ", [](std::string* out, const auto& entry) { absl::StrAppend(out, entry.first); });
    return absl::NotFoundError(absl::StrCat("model \"", name_, "\" has no version ", *number,
                                            known.empty() ? "" : absl::StrCat("; it has ", known)));
  }
  const Entry& entry = it->second;
  if (entry.version != nullptr) return entry.version;
  return absl::UnavailableError(
      absl::StrCat("version ", *number, " of model \"", name_, "\" ",
                   entry.error.ok() ? "is being loaded" : "cannot be loaded: ", entry.error.message()));
}

absl::Status ServedModel::NoVersion() const {
  std::string reason(directory_status_.message());
  for (const auto& [number, entry] : entries_) {
    reason = entry.error.ok() ? absl::StrCat("version ", number, " is being loaded")
                              : absl::StrCat("version ", number, ": ", entry.error.message());
  }
  return absl::UnavailableError(absl::StrCat("model \"", name_, "\" has no version that can serve: ", reason));
}

absl::Status ServedModel::Use(std::optional<int64_t> number,
                              absl::FunctionRef<absl::Status(ServedVersion&)> use) const {
  for (;;) {
    TD_ASSIGN_OR_RETURN(const std::shared_ptr<ServedVersion> version, Find(number));
    const absl::Status status = use(*version);
    // A version is out of entries_ before it takes no more requests, so that Find returns another one.
    if (!absl::IsAborted(status)) return status;
  }
}

std::vector<VersionStatus> ServedModel::Versions() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<VersionStatus> versions;
  for (auto it = entries_.rbegin(); it != entries_.rend(); ++it) {
    versions.push_back({it->first, it->second.state, it->second.error});
  }
  return versions;
}

absl::Status ServedModel::DirectoryStatus() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return directory_status_;
}

void ServedModel::Watch() {
  while (!stopped()) {
    const absl::Status polled = CatchResourceErrors("looking for exports", [&] {
      Poll();
      return absl::OkStatus();
    });
    if (!polled.ok()) TD_LOG(WARNING) << "model " << name_ << ": " << polled.message();
    std::unique_lock<std::mutex> lock(mutex_);
    stop_changed_.wait_for(lock, absl::ToChronoNanoseconds(poll_interval_), [&] { return stopped_; });
  }
}

absl::StatusOr<ServedModel::Exports> ServedModel::ListVersions() const {
  Env* env = Env::Default();
  if (env->Exists(JoinPath(directory_, kSignatureName))) return Exports{{NumberOf(directory_), directory_}};
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> paths, ListExports(env, directory_));
  Exports exports;
  for (const std::string& path : paths) exports[NumberOf(path)] = path;
  if (exports.empty()) {
    return absl::NotFoundError(
        absl::StrCat(PrintableLine(directory_), " has no exported model; ExportModel and exporters write them there"));
  }
  return exports;
}

void ServedModel::Poll() {
  const absl::StatusOr<Exports> exports = ListVersions();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (exports.status() != directory_status_ && !exports.ok()) {
      TD_LOG(WARNING) << "model " << name_ << ": " << exports.status().message();
    }
    directory_status_ = exports.status();
  }
  if (!exports.ok()) {
    if (absl::IsNotFound(exports.status())) Retire({});
    return;
  }
  int available = 0;
  for (auto it = exports->rbegin(); it != exports->rend() && available < wanted_versions_ && !stopped(); ++it) {
    if (IsOrBecomesAvailable(it->first, it->second)) ++available;
  }
  Retire(*exports);
}

bool ServedModel::IsOrBecomesAvailable(int64_t number, const std::string& path) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry& entry = entries_[number];
    if (entry.version != nullptr) return true;
    if (entry.next_attempt > SteadyNow()) return false;
    entry.state = VersionState::kLoading;
  }
  return Load(number, path);
}

bool ServedModel::Load(int64_t number, const std::string& path) {
  const auto load = [&]() -> absl::StatusOr<std::shared_ptr<ServedVersion>> {
    TD_ASSIGN_OR_RETURN(std::unique_ptr<Servable> servable, load_(path));
    return ServedVersion::Start(number, std::move(servable), batch_, metrics_);
  };
  const absl::Duration start = SteadyNow();
  absl::StatusOr<std::shared_ptr<ServedVersion>> version = CatchResourceErrors("loading a model", load);
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& entry = entries_[number];
  if (!version.ok()) {
    entry.state = VersionState::kFailed;
    if (entry.error != version.status()) {
      TD_LOG(WARNING) << "model " << name_ << ", version " << number
                      << " cannot be loaded and is tried again later: " << version.status().message();
    }
    entry.error = version.status();
    const absl::Duration pause = poll_interval_ * (int64_t{1} << std::min(entry.failures, kMaxDoublings));
    entry.next_attempt = SteadyNow() + std::min(pause, std::max(poll_interval_, kMaxRetryInterval));
    ++entry.failures;
    return false;
  }
  entry = {.state = VersionState::kAvailable, .version = *std::move(version)};
  TD_LOG(INFO) << "model " << name_ << ", version " << number << " is loaded after "
               << absl::FormatDuration(SteadyNow() - start) << " and serves";
  return true;
}

void ServedModel::Retire(const Exports& exports) {
  std::vector<std::shared_ptr<ServedVersion>> retired;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    retired = TakeRetired(exports);
  }
  for (const std::shared_ptr<ServedVersion>& version : retired) {
    version->Drain();
    TD_LOG(INFO) << "model " << name_ << ", version " << version->number() << " is unloaded";
  }
}

std::vector<std::shared_ptr<ServedVersion>> ServedModel::TakeRetired(const Exports& exports) {
  std::vector<int64_t> listed, vanished;  // of those that are available, the newest first
  for (auto it = entries_.rbegin(); it != entries_.rend(); ++it) {
    if (it->second.version != nullptr) (exports.count(it->first) > 0 ? listed : vanished).push_back(it->first);
  }
  std::vector<int64_t> gone;
  for (size_t i = wanted_versions_; i < listed.size(); ++i) gone.push_back(listed[i]);
  for (size_t i = listed.empty() ? 1 : 0; i < vanished.size(); ++i) gone.push_back(vanished[i]);
  std::vector<std::shared_ptr<ServedVersion>> retired;
  for (const int64_t number : gone) {
    retired.push_back(std::move(entries_[number].version));
    entries_.erase(number);
  }
  for (auto it = entries_.begin(); it != entries_.end();) {
    const bool stale = it->second.version == nullptr && exports.count(it->first) == 0;
    it = stale ? entries_.erase(it) : std::next(it);
  }
  return retired;
}

}  // namespace tandem::serving
