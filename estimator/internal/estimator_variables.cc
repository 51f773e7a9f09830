// Estimator::ReadVariables and AssignVariables.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/logging.h"
#include "base/moving_average_name.h"
#include "base/nearest_name.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/checkpoint/consistent_read.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/internal/training.h"

namespace tandem {

struct KnownVariable {
  DType dtype = DType::kInvalid;
  Shape shape;
  bool slot = false;
};
using KnownVariables = std::map<std::string, KnownVariable>;

namespace {

std::string TypeOf(DType dtype, const Shape& shape) { return absl::StrCat(Name(dtype), ShapeString(shape)); }

std::vector<std::string> NamesOf(const KnownVariables& known) {
  std::vector<std::string> names;
  for (const auto& entry : known) names.push_back(entry.first);
  return names;
}

// Returns the variables in memory that have a value.
KnownVariables InStore(const VariableStore& store) {
  KnownVariables known;
  for (const VariableInfo& v : store.List()) {
    if (v.initialized) known[v.name] = {v.dtype, v.shape, !v.slot_of.empty()};
  }
  return known;
}

void AddSpecs(const std::vector<VariableSpec>& variables, KnownVariables* known) {
  for (const VariableSpec& v : variables) known->insert({v.name, {v.dtype, v.shape, !v.slot_of.empty()}});
}

// Returns all that is wrong with `values`, in one InvalidArgument error. `complete`: no other variables than the known
// ones exist.
absl::Status CheckAssigned(const NamedTensors& values, const KnownVariables& known, bool complete) {
  std::vector<std::string> problems;
  for (const auto& [name, value] : values) {
    const std::string quoted = absl::StrCat("\"", name, "\" ");
    const auto found = known.find(name);
    if (!value.status().ok()) {
      problems.push_back(absl::StrCat(quoted, "has no value: ", value.status().message()));
    } else if (value.empty() || value.dtype() == DType::kString) {
      problems.push_back(absl::StrCat(quoted, "is given ", value.empty() ? "an empty tensor" : "strings"));
    } else if (found == known.end()) {
      if (complete)
        problems.push_back(absl::StrCat(quoted, "is no variable of the model", DidYouMean(name, NamesOf(known))));
    } else if (value.dtype() != found->second.dtype || value.shape() != found->second.shape) {
      problems.push_back(absl::StrCat(quoted, "is ", TypeOf(found->second.dtype, found->second.shape),
                                      ", and is given ", TypeOf(value.dtype(), value.shape())));
    }
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("AssignVariables: ", problems.size(), " of ", values.size(),
                                                 values.size() == 1 ? " value does not fit, and it is not assigned:\n  "
                                                                    : " values do not fit, and none is assigned:\n  ",
                                                 absl::StrJoin(problems, "\n  ")));
}

NamedTensors Clones(const NamedTensors& values) {
  NamedTensors clones;
  for (const auto& [name, value] : values) clones[name] = value.Clone();
  return clones;
}

}  // namespace

// The variables that are stored outside of a training, and where their values are.
struct Estimator::Impl::StoredVariables {
  KnownVariables known;
  std::unique_ptr<CheckpointReader> reader;  // null: the values are in memory
};

absl::Status Estimator::Impl::CheckHasVariables(absl::string_view method) const {
  TD_RETURN_IF_ERROR(status_);
  if (!cooperation_->asynchronous()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(method,
                   ": parameter servers have the variables and change them at any time; read them from a "
                   "checkpoint (GetVariableValue), and begin with others by RunConfig.warm_start_from"));
}

absl::StatusOr<Estimator::Impl::StoredVariables> Estimator::Impl::StoredOutsideTraining() {
  StoredVariables stored;
  const VariableStore& store = *resident_.model().store();
  // After a training that saved checkpoints, the values are those of its last checkpoint, as in LoadAlone. Without a
  // checkpoint of this process, they are those in memory.
  if (resident_.has_training() && !(config_.checkpoints_enabled() && is_chief())) {
    TD_RETURN_IF_ERROR(resident_.BringBack());
    stored.known = InStore(store);
    return stored;
  }
  TD_ASSIGN_OR_RETURN(const std::optional<std::string> latest, LatestCheckpoint(resident_.checkpoint()));
  const bool trained = resident_.state() == ResidentState::State::kTrained;
  if (!latest.has_value() || (trained && *latest == resident_.checkpoint())) {
    // On the chief, memory may hold a checkpoint that the user named for an evaluation. Train would not go on from its
    // values, so they do not count.
    if (trained || resident_.state() == ResidentState::State::kInitial || !is_chief()) stored.known = InStore(store);
    return stored;
  }
  Env* const env = config_.file_env();
  TD_ASSIGN_OR_RETURN(stored.reader, ReadConsistently(
                                         env, kManifestName,
                                         [&]() -> absl::StatusOr<std::string> {
                                           TD_ASSIGN_OR_RETURN(const std::optional<std::string> again,
                                                               LatestCheckpoint());
                                           return again.value_or(*latest);
                                         },
                                         [env](const std::string& path) { return CheckpointReader::Open(env, path); }));
  for (const SavedTensor& v : stored.reader->variables()) stored.known[v.name] = {v.dtype, v.shape, false};
  for (const SavedTensor& v : stored.reader->slots()) stored.known[v.name] = {v.dtype, v.shape, true};
  return stored;
}

absl::StatusOr<NamedTensors> Estimator::Impl::ReadVariables(const std::vector<std::string>& names,
                                                            const ReadVariablesOptions& options) {
  TD_RETURN_IF_ERROR(CheckHasVariables("ReadVariables"));
  const bool training = resident_.training();
  StoredVariables stored;
  if (training) {
    stored.known = InStore(*resident_.model().store());
  } else {
    TD_ASSIGN_OR_RETURN(stored, StoredOutsideTraining());
  }
  KnownVariables known = stored.known;
  NamedTensors assigned;
  if (!training) assigned = assigned_.tensors;
  for (const auto& [name, value] : assigned_.tensors) {
    if (training) break;
    known.insert({name, {value.dtype(), value.shape(), false}});
    // A value assigned to a variable is also that of its moving average, as in ModelState::Assign.
    if (const std::string average = MovingAverageName(name); known.contains(average)) assigned.insert({average, value});
  }
  std::vector<std::string> wanted = names, missing;
  if (names.empty()) {
    if (known.empty()) {
      return absl::NotFoundError(
          absl::StrCat("ReadVariables: there are no variables yet, in memory or in a checkpoint of ", config_.model_dir,
                       "; train first, or assign them"));
    }
    for (const auto& [name, variable] : known) {
      if (!variable.slot || options.slots) wanted.push_back(name);
    }
  }
  for (const std::string& name : wanted) {
    if (!known.contains(name)) missing.push_back(absl::StrCat("\"", name, "\"", DidYouMean(name, NamesOf(known))));
  }
  if (!missing.empty()) {
    return absl::NotFoundError(absl::StrCat("ReadVariables: of ", wanted.size(), " names these are not there:\n  ",
                                            absl::StrJoin(missing, "\n  ")));
  }
  NamedTensors values;
  std::vector<std::string> in_memory;
  for (const std::string& name : wanted) {
    if (const auto found = assigned.find(name); found != assigned.end()) {
      values[name] = found->second.Clone();
    } else if (stored.reader != nullptr) {
      TD_ASSIGN_OR_RETURN(values[name], stored.reader->Read(name));
    } else {
      in_memory.push_back(name);
    }
  }
  TD_ASSIGN_OR_RETURN(std::vector<HostTensor> read, resident_.model().store()->ReadAll(in_memory));
  for (size_t i = 0; i < in_memory.size(); ++i) values[in_memory[i]] = std::move(read[i]);
  return values;
}

absl::Status Estimator::Impl::AssignVariables(const NamedTensors& values) {
  TD_RETURN_IF_ERROR(CheckHasVariables("AssignVariables"));
  if (resident_.training()) {
    TD_RETURN_IF_ERROR(CheckAssigned(values, InStore(*resident_.model().store()), /*complete=*/true));
    TD_RETURN_IF_ERROR(resident_.Assign(values));
    if (training_ != nullptr) training_->NoteChange();
    return absl::OkStatus();
  }
  TD_ASSIGN_OR_RETURN(const StoredVariables stored, StoredOutsideTraining());
  KnownVariables known = stored.known;
  // The variables of a model that is not trained are known from the programs built so far. Its slots are known only if
  // mode train was built.
  bool complete = stored.reader != nullptr || resident_.has_training();
  for (const ModeProgram* program : programs_.All()) {
    AddSpecs(program->variables(), &known);
    complete |= program->mode() == Mode::kTrain;
  }
  TD_RETURN_IF_ERROR(CheckAssigned(values, known, complete));
  for (auto& [name, value] : Clones(values)) assigned_.tensors[name] = value;
  assigned_.changed = true;
  return absl::OkStatus();
}

absl::Status Estimator::Impl::ApplyAssigned(const ModeProgram& program) {
  KnownVariables known = InStore(*resident_.model().store());
  AddSpecs(program.variables(), &known);
  const bool trains = program.mode() == Mode::kTrain;
  if (absl::Status status = CheckAssigned(assigned_.tensors, known, /*complete=*/trains); !status.ok()) {
    assigned_.tensors.clear();  // if they were kept, every call would return the error
    return status;
  }
  TensorMap values;
  std::vector<std::string> others;
  for (const auto& [name, value] : assigned_.tensors) {
    if (known.contains(name)) {
      values[name] = value;
    } else {
      others.push_back(name);
    }
  }
  if (values.empty() && !others.empty()) {
    TD_LOG(WARNING) << "AssignVariables was given no variable of mode " << ModeName(program.mode()) << ", but "
                    << absl::StrJoin(others, ", ") << ". A training that has not got them either will refuse them.";
  }
  TD_RETURN_IF_ERROR(resident_.Assign(values));
  assigned_.changed = false;
  return absl::OkStatus();
}

absl::Status Estimator::Impl::InitializeAssigned(const ModeProgram& program) {
  const std::vector<VariableSpec>& variables = program.variables();
  const bool there = resident_.state() == ResidentState::State::kInitial &&
                     std::all_of(variables.begin(), variables.end(), [&](const VariableSpec& v) {
                       const absl::StatusOr<VariableInfo> info = resident_.model().store()->Info(v.name);
                       return info.ok() && info->initialized;
                     });
  if (there && !AssignedIsDue()) return absl::OkStatus();
  std::vector<std::string> others;
  for (const VariableSpec& v : variables) {
    if (!assigned_.tensors.contains(v.name)) others.push_back(v.name);
  }
  if (!others.empty()) {
    TD_LOG(WARNING) << "The model is not trained, and these variables, which AssignVariables was not given, have their "
                    << "initial values: " << absl::StrJoin(others, ", ") << ".";
  }
  TD_RETURN_IF_ERROR(InitializeVariables(program));
  return ApplyAssigned(program);
}

absl::StatusOr<NamedTensors> Estimator::ReadVariables(const std::vector<std::string>& names,
                                                      const ReadVariablesOptions& options) {
  return CatchResourceErrors("reading variables", [&] { return impl_->ReadVariables(names, options); });
}

std::optional<HostTensor> Estimator::Impl::ServedValue(const std::string& name) const {
  if (!cooperation_->asynchronous() || is_chief()) return std::nullopt;
  absl::StatusOr<HostTensor> value = resident_.model().store()->Read(name);
  return value.ok() ? std::make_optional(*std::move(value)) : std::nullopt;
}

absl::Status Estimator::Impl::CheckNextStep(int64_t step) const {
  if (step < 0) {
    return absl::InvalidArgumentError(absl::StrCat("AssignVariables: global_step is ", step, ", and counts steps"));
  }
  if (resident_.training()) {
    return absl::FailedPreconditionError("AssignVariables: the global_step of a training that runs cannot be changed");
  }
  return absl::OkStatus();
}

absl::Status Estimator::AssignVariables(const NamedTensors& values, const AssignVariablesOptions& options) {
  return CatchResourceErrors("assigning variables", [&]() -> absl::Status {
    if (options.global_step.has_value()) TD_RETURN_IF_ERROR(impl_->CheckNextStep(*options.global_step));
    TD_RETURN_IF_ERROR(impl_->AssignVariables(values));
    if (options.global_step.has_value()) impl_->set_next_step(*options.global_step);
    return absl::OkStatus();
  });
}

}  // namespace tandem
