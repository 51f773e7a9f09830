// ModePrograms: the programs of an Estimator, each built once for a mode and an input, and what they are compiled with.
#ifndef TANDEM_ESTIMATOR_MODEL_MODE_PROGRAMS_H_
#define TANDEM_ESTIMATOR_MODEL_MODE_PROGRAMS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/config/params.h"
#include "estimator/config/run_config.h"
#include "estimator/model/estimator_spec.h"
#include "estimator/model/mode_program.h"
#include "runtime/threads/thread_pool.h"

namespace tandem {

class ModePrograms {
 public:
  // The references must outlive this object. `temporary_model_dir` says that model_dir was created for this process.
  ModePrograms(ModelFn model_fn, std::vector<std::string> labels, const RunConfig& config, const Params& params,
               bool temporary_model_dir)
      : model_fn_(std::move(model_fn)),
        labels_(std::move(labels)),
        config_(config),
        params_(params),
        temporary_model_dir_(temporary_model_dir) {}

  bool has_model_fn() const { return model_fn_ != nullptr; }
  const std::vector<std::string>& labels() const { return labels_; }

  // What a program is built for.
  struct Request {
    Mode mode = Mode::kTrain;
    std::vector<ComponentSpec> components;  // components of the input
    Params::Placement placement;
    ReplicaCount replicas;
  };
  // Calls the model_fn. Errors: those of ModeProgram::Build.
  absl::StatusOr<std::unique_ptr<ModeProgram>> Build(const Request& request) const;
  // Returns the program that was built for `key`; if there is none, builds it. `*is_new` is set to whether it was built
  // now; may be null.
  absl::StatusOr<ModeProgram*> FindOrBuild(const std::string& key, const Request& request, bool* is_new = nullptr);
  // Returns the programs that FindOrBuild has built.
  std::vector<const ModeProgram*> All() const;
  int64_t built() const { return static_cast<int64_t>(programs_.size()); }

  // Where a program runs, and which part of a step it computes there.
  struct Place {
    const DistributionStrategy& strategy;
    std::vector<std::string> devices;
    int64_t batch = 0;  // rows of the batch of each device
    StepPart part;
    int processes_here = 1;  // number of processes that share this machine's processors
  };
  // Returns the options to compile a program with.
  absl::StatusOr<CompileOptions> OptionsFor(const Place& place);
  // The threads that run the programs; null before OptionsFor.
  const std::shared_ptr<ThreadPool>& pool() const { return pool_; }

 private:
  const ModelFn model_fn_;
  const std::vector<std::string> labels_;  // names of the labels, from InputSpec.labels
  const RunConfig& config_;
  const Params& params_;
  const bool temporary_model_dir_;
  std::map<std::string, std::unique_ptr<ModeProgram>> programs_;  // keys name mode and input signature
  std::shared_ptr<ThreadPool> pool_;
  std::optional<std::string> user_cache_;  // what UserProgramCache() returned; not set before the first call
};

// Returns the target that the programs of `strategy` are compiled for. InvalidArgument if the configuration names one
// that is not for its devices.
absl::StatusOr<std::string> TargetOf(const RunConfig& config, const DistributionStrategy& strategy);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_MODE_PROGRAMS_H_
