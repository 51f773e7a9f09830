// Models for tests of the server, whose exports are folders with an empty signature, and whose predictions tests can
// hold up and let fail.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_TESTING_MODELS_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_TESTING_MODELS_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/named_tensors.h"
#include "estimator/serving/server/options.h"
#include "estimator/serving/server/servable.h"

namespace tandem::serving {

// Version n takes "x", float32[b,2], and returns "y", float32[b,2] = n * x. Thread-safe.
class TestModels {
 public:
  // Exports go to folders of `base`, which is emptied first.
  explicit TestModels(std::string base);

  // Makes an export of a model, with a number that the library of exports takes for one.
  void Export(const std::string& model, int64_t number);
  void Delete(const std::string& model, int64_t number);
  // Names what loading a version fails with; OK lets it be loaded.
  void SetLoadError(int64_t number, absl::Status error);
  // Loading a version waits until it is let go.
  void Hold(int64_t number);
  void LetGo(int64_t number);
  // Called with the inputs of each batch, before it is computed.
  void OnPredict(std::function<absl::Status(const NamedTensors&)> on_predict);
  // How often loading was tried.
  int64_t load_attempts() const { return load_attempts_; }
  // The rows of the batches that were computed.
  std::vector<int64_t> batches() const;

  LoadServable Loader();
  std::string Directory(const std::string& model) const;
  // Options for these models, any free port, and short intervals.
  ServerOptions Options(const std::vector<std::string>& models) const;

 private:
  friend class TestServable;
  absl::Status Predict(const NamedTensors& inputs);
  absl::Status Load(int64_t number);

  const std::string base_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, absl::Status> load_errors_;
  std::set<int64_t> held_;
  std::function<absl::Status(const NamedTensors&)> on_predict_;
  std::vector<int64_t> batches_;
  std::atomic<int64_t> load_attempts_{0};
};

// A gate that tests hold predictions up with.
class Gate {
 public:
  void Open();
  void Wait();
  // Waits until so many threads have come to Wait.
  void AwaitArrivals(int count);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int arrived_ = 0;
};

// Versions of exports have names of ten digits.
inline constexpr int64_t kFirst = 1000000001, kSecond = 1000000002, kThird = 1000000003;

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_TESTING_MODELS_H_
