// ServedModel: the versions of one model, which follow the exports in its directory.
//
// A thread looks at the directory every ServerOptions.poll_interval, and loads what is new, the newest first, until
// ServerOptions.versions are available. Older ones are unloaded when as many newer ones are available. So a version
// that cannot be loaded leaves the ones before it serving; it is tried again after one interval, then two, four and so
// on, up to a minute. A version whose export has vanished is unloaded too, unless it is the last one.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_SERVED_MODEL_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_SERVED_MODEL_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "estimator/serving/server/metrics.h"
#include "estimator/serving/server/options.h"
#include "estimator/serving/server/servable.h"
#include "estimator/serving/server/served_version.h"

namespace tandem::serving {

enum class VersionState { kLoading, kAvailable, kFailed };
// Returns "LOADING", "AVAILABLE", and "END" for a version that could not be loaded, as TensorFlow Serving calls it.
absl::string_view Name(VersionState state);

struct VersionStatus {
  int64_t number = 0;
  VersionState state = VersionState::kLoading;
  absl::Status error;  // why it could not be loaded the last time
};

class ServedModel {
 public:
  // Begins to look at the directory; returns before anything is loaded. `metrics` must live longer.
  static absl::StatusOr<std::unique_ptr<ServedModel>> Start(const ModelOptions& model, const ServerOptions& options,
                                                            LoadServable load, ModelMetrics* metrics);
  ~ServedModel();  // stops
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  const std::string& name() const { return name_; }
  // Returns a version, or the newest that is available. NotFound if there is no such version; Unavailable, with the
  // reason, if it is not loaded.
  absl::StatusOr<std::shared_ptr<ServedVersion>> Find(std::optional<int64_t> number) const;
  // Finds a version and calls `use` with it; once more with another one if the first is unloaded meanwhile, which
  // `use` says by Aborted.
  absl::Status Use(std::optional<int64_t> number, absl::FunctionRef<absl::Status(ServedVersion&)> use) const;
  // All versions, the newest first.
  std::vector<VersionStatus> Versions() const;
  // Why there may be fewer than there should be; OK if the directory has a version.
  absl::Status DirectoryStatus() const;
  // Unloads all versions when their requests are answered, and loads none any more.
  void Stop();

 private:
  struct Entry {
    VersionState state = VersionState::kLoading;
    std::shared_ptr<ServedVersion> version;  // if it is available
    absl::Status error;
    int failures = 0;
    absl::Duration next_attempt;  // by SteadyNow
  };
  using Exports = std::map<int64_t, std::string>;  // paths by version

  ServedModel(const ModelOptions& model, const ServerOptions& options, LoadServable load, ModelMetrics* metrics);
  void Watch();
  void Poll();
  absl::StatusOr<Exports> ListVersions() const;
  // True if the version is available, or was loaded by this call.
  bool IsOrBecomesAvailable(int64_t number, const std::string& path);
  bool Load(int64_t number, const std::string& path);
  // Unloads what newer versions replace, and forgets failures of exports that have vanished.
  void Retire(const Exports& exports);
  // Takes a version out of entries_ and returns it; guarded by mutex_.
  std::vector<std::shared_ptr<ServedVersion>> TakeRetired(const Exports& exports);
  bool stopped() const;
  absl::Status NoVersion() const;

  const std::string name_, directory_;
  const BatchOptions batch_;
  const int wanted_versions_;
  const absl::Duration poll_interval_;
  const LoadServable load_;
  ModelMetrics* const metrics_;

  mutable std::mutex mutex_;
  std::condition_variable stop_changed_;
  std::map<int64_t, Entry> entries_;  // guarded by mutex_, as the next two
  absl::Status directory_status_;
  bool stopped_ = false;
  std::thread watcher_;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_SERVED_MODEL_H_
