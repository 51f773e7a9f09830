#include "estimator/serving/model.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/env.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "estimator/checkpoint/consistent_read.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/loop/round_seed.h"
#include "estimator/serving/export_dir.h"
#include "estimator/serving/signature.h"
#include "runtime/format/index.h"
#include "runtime/run/run.h"

namespace tandem {
namespace {

// Returns rows [begin, begin + count) of a batch.
HostTensor Rows(const HostTensor& batch, int64_t begin, int64_t count) {
  const int64_t rows = batch.shape()[0];
  if (count == rows) return batch;
  Shape shape = batch.shape();
  shape[0] = count;
  HostTensor part(batch.dtype(), std::move(shape));
  const int64_t row_bytes = batch.byte_size() / rows;
  if (part.byte_size() > 0) {
    std::memcpy(part.raw(), static_cast<const char*>(batch.raw()) + begin * row_bytes, part.byte_size());
  }
  return part;
}

HostTensor Allocate(const TensorSignature& signature, int64_t rows) {
  Shape shape = signature.shape;
  shape[0] = rows;
  return HostTensor(signature.dtype, std::move(shape));
}

std::string TypesOf(const std::vector<TensorSignature>& tensors) {
  return absl::StrJoin(tensors, ", ", [](std::string* out, const TensorSignature& t) {
    absl::StrAppend(out, PrintableLine(t.name), ":", t.TypeString());
  });
}

bool Fits(const TensorSignature& wanted, const HostTensor& value) {
  return value.dtype() == wanted.dtype && value.rank() == static_cast<int>(wanted.shape.size()) &&
         std::equal(value.shape().begin() + 1, value.shape().end(), wanted.shape.begin() + 1);
}

// True if a tensor of the executable has the type and shape that the signature says.
template <typename T>
bool SameTensor(const TensorSignature& signature, const T& in_program) {
  return signature.dtype == in_program.dtype && signature.shape == in_program.shape;
}

// Returns an error unless the program has the inputs and outputs of the signature. The checksums do not show whether
// the two belong together.
absl::Status CheckProgram(const format::Index& index, const ModelSignature& signature, const std::string& dir) {
  bool same = index.mode == "predict" && !index.inputs.empty() && index.inputs.size() == signature.inputs.size() &&
              index.replicas.size() == 1;
  for (size_t i = 0; same && i < index.inputs.size(); ++i) {
    const auto named = std::find_if(signature.inputs.begin(), signature.inputs.end(),
                                    [&](const TensorSignature& t) { return t.name == index.inputs[i].name; });
    same = named != signature.inputs.end() && SameTensor(*named, index.inputs[i]);
  }
  for (const TensorSignature& output : signature.outputs) {
    const auto named =
        std::find_if(index.outputs.begin(), index.outputs.end(), [&](const auto& o) { return o.name == output.name; });
    same = same && named != index.outputs.end() &&
           SameTensor(output, index.programs[index.replicas[0].program].buffers[(*named).buffer]);
  }
  if (same) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(JoinPath(dir, kSignatureName), " does not describe ",
                                          JoinPath(dir, kProgramName), ": they are of different exports"));
}

absl::Status AssignWeights(Env* env, const std::string& path, LoadedExecutable* program) {
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<SafetensorsReader> file, SafetensorsReader::Open(env, path));
  for (const auto& v : program->executable().index().variables) {
    absl::StatusOr<HostTensor> value = file->Read(v.name);
    if (absl::IsNotFound(value.status())) return absl::DataLossError(value.status().message());
    TD_RETURN_IF_ERROR(value.status());
    const absl::Status assigned = program->variables().Assign(v.name, *value);
    if (!assigned.ok()) return absl::DataLossError(absl::StrCat(path, ": ", assigned.message()));
  }
  return absl::OkStatus();
}

}  // namespace

class Model::Impl {
 public:
  static absl::StatusOr<std::unique_ptr<Impl>> Load(const std::string& path, const LoadModelOptions& options) {
    if (path.empty()) {
      return absl::InvalidArgumentError("LoadModel: the path is empty; give what ExportModel returned");
    }
    TD_RETURN_IF_ERROR(CheckThreadCount("LoadModelOptions.threads", options.threads));
    Env* env = Env::Default();
    return ReadConsistently(
        env, kSignatureName, [&] { return FindExport(env, path); },
        [&](const std::string& found) { return LoadOnce(env, found, options); });
  }

  absl::StatusOr<NamedTensors> Predict(const NamedTensors& inputs) {
    TD_ASSIGN_OR_RETURN(const int64_t rows, RowsOf(inputs));
    NamedTensors outputs;
    for (const TensorSignature& output : signature_.outputs) outputs[output.name] = Allocate(output, rows);
    for (int64_t begin = 0; begin < rows; begin += program_->max_rows()) {
      TD_RETURN_IF_ERROR(RunRows(inputs, begin, std::min(program_->max_rows(), rows - begin), &outputs));
    }
    return outputs;
  }

  const ModelSignature& signature() const { return signature_; }
  const std::string& path() const { return path_; }

 private:
  static absl::StatusOr<std::unique_ptr<Impl>> LoadOnce(Env* env, const std::string& path,
                                                        const LoadModelOptions& options) {
    auto impl = std::make_unique<Impl>();
    impl->path_ = path;
    TD_ASSIGN_OR_RETURN(impl->signature_, VerifyExport(env, impl->path_));
    TD_ASSIGN_OR_RETURN(impl->program_, LoadExecutable(JoinPath(impl->path_, kProgramName),
                                                       {.threads = options.threads, .initialize_variables = false}));
    TD_RETURN_IF_ERROR(CheckProgram(impl->program_->executable().index(), impl->signature_, impl->path_));
    TD_RETURN_IF_ERROR(AssignWeights(env, JoinPath(impl->path_, kWeightsName), impl->program_.get()));
    for (const auto& [name, value] : impl->signature_.scalars) impl->scalars_[name] = value;
    impl->scalars_["global_step"] = impl->signature_.global_step;
    return impl;
  }

  absl::StatusOr<int64_t> RowsOf(const NamedTensors& inputs) const {
    const std::string takes = absl::StrCat("; the model takes ", TypesOf(signature_.inputs));
    for (const auto& [name, value] : inputs) {
      std::vector<std::string> names;
      for (const TensorSignature& t : signature_.inputs) names.push_back(t.name);
      if (std::count(names.begin(), names.end(), name) > 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("the model has no input \"", PrintableLine(name), "\"", takes, DidYouMean(name, names)));
    }
    int64_t rows = -1;
    for (const TensorSignature& wanted : signature_.inputs) {
      auto it = inputs.find(wanted.name);
      if (it == inputs.end()) {
        return absl::InvalidArgumentError(absl::StrCat("no input \"", wanted.name, "\" was given", takes));
      }
      const HostTensor& value = it->second;
      TD_RETURN_IF_ERROR(Annotate(value.status(), absl::StrCat("input \"", wanted.name, "\": ")));
      if (!Fits(wanted, value)) {
        return absl::InvalidArgumentError(absl::StrCat("input \"", wanted.name, "\" is ", Name(value.dtype()),
                                                       ShapeString(value.shape()), ", the model takes ",
                                                       wanted.TypeString(), ", b being any number of rows"));
      }
      if (rows < 0) rows = value.shape()[0];
      if (value.shape()[0] == rows) continue;
      return absl::InvalidArgumentError(absl::StrCat("input \"", wanted.name, "\" has ", value.shape()[0],
                                                     " rows, and \"", signature_.inputs[0].name, "\" has ", rows,
                                                     "; every input has a row for each example"));
    }
    return rows;
  }

  // Computes the outputs of `count` rows of `inputs`, from row `begin` on, and writes them to the same rows of
  // `outputs`.
  absl::Status RunRows(const NamedTensors& inputs, int64_t begin, int64_t count, NamedTensors* outputs) {
    NamedTensors part;
    for (const auto& [name, value] : inputs) part[name] = Rows(value, begin, count);
    StepScalars scalars = scalars_;
    scalars["seed"] = SeedOfRound(signature_.seed, rounds_++);
    TD_ASSIGN_OR_RETURN(RunResult result, Run(*program_, part, scalars));
    if (!result.finite) {
      return absl::InternalError(
          absl::StrCat(path_, ": the model computed a NaN or infinity for rows ", begin, " to ", begin + count - 1));
    }
    for (auto& [name, whole] : *outputs) {
      const HostTensor& value = result.outputs[name];
      if (value.byte_size() == 0) continue;
      const int64_t row_bytes = value.byte_size() / count;
      std::memcpy(static_cast<char*>(whole.raw()) + begin * row_bytes, value.raw(), value.byte_size());
    }
    return absl::OkStatus();
  }

  std::string path_;
  ModelSignature signature_;
  std::unique_ptr<LoadedExecutable> program_;
  StepScalars scalars_;
  std::atomic<int64_t> rounds_{0};  // number of runs of the program so far
};

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;

absl::StatusOr<NamedTensors> Model::Predict(const NamedTensors& inputs) {
  return CatchResourceErrors("prediction", [&] { return impl_->Predict(inputs); });
}

const std::vector<TensorSignature>& Model::inputs() const { return impl_->signature().inputs; }
const std::vector<TensorSignature>& Model::outputs() const { return impl_->signature().outputs; }
int64_t Model::global_step() const { return impl_->signature().global_step; }
const std::map<std::string, double>& Model::metrics() const { return impl_->signature().metrics; }
const std::string& Model::path() const { return impl_->path(); }

bool HasExport(const std::string& path) {
  const absl::StatusOr<std::string> found = FindExport(Env::Default(), path);
  return found.ok() && Env::Default()->Exists(JoinPath(*found, kSignatureName));
}

absl::StatusOr<std::unique_ptr<Model>> LoadModel(const std::string& path, const LoadModelOptions& options) {
  return CatchResourceErrors("loading a model", [&]() -> absl::StatusOr<std::unique_ptr<Model>> {
    TD_ASSIGN_OR_RETURN(std::unique_ptr<Model::Impl> impl, Model::Impl::Load(path, options));
    return std::unique_ptr<Model>(new Model(std::move(impl)));
  });
}

}  // namespace tandem
