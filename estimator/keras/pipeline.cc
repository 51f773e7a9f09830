#include "estimator/keras/pipeline.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "frontends/keras/utils.h"

namespace tandem::keras {
namespace {

constexpr char kLabel[] = "label";
constexpr char kWeight[] = "sample_weight";

int64_t Rows(const HostTensor& tensor) { return tensor.rank() > 0 ? tensor.shape()[0] : 0; }

// Returns an error unless all arrays have one row for each example.
absl::Status CheckRows(const Data& data) {
  std::vector<const HostTensor*> all;
  for (const HostTensor& x : data.xs()) all.push_back(&x);
  for (const HostTensor& y : data.ys()) all.push_back(&y);
  if (!data.sample_weight().empty()) all.push_back(&data.sample_weight());
  for (const HostTensor* tensor : all) {
    TD_RETURN_IF_ERROR(tensor->status());
    if (tensor->rank() > 0 && Rows(*tensor) == Rows(*all[0])) continue;
    return absl::InvalidArgumentError(absl::StrCat("the arrays must have a row for each example, equally many: shapes ",
                                                   ShapeString(all[0]->shape()), " and ",
                                                   ShapeString(tensor->shape())));
  }
  return absl::OkStatus();
}

absl::Status CheckArrays(const Data& data, size_t inputs, size_t outputs) {
  if (data.xs().size() != inputs) {
    return absl::InvalidArgumentError(
        absl::StrCat("the data have ", data.xs().size(), " inputs, and the model has ", inputs));
  }
  if (!data.ys().empty() && data.ys().size() != outputs) {
    return absl::InvalidArgumentError(
        absl::StrCat("the data have targets for ", data.ys().size(), " outputs, and the model has ", outputs));
  }
  return CheckRows(data);
}

// Returns the class of each row of labels, which are numbers, [b] or [b, 1], or one-hot.
absl::StatusOr<std::vector<int64_t>> ClassesOf(const HostTensor& labels) {
  std::vector<int64_t> classes;
  const int64_t rows = Rows(labels);
  const int64_t width = rows > 0 ? labels.num_elements() / rows : 1;
  const auto read = [&](auto values) {
    for (int64_t i = 0; i < rows; ++i) {
      const auto* row = values.data() + i * width;
      classes.push_back(width == 1 ? static_cast<int64_t>(row[0]) : std::max_element(row, row + width) - row);
    }
  };
  switch (labels.dtype()) {
    case DType::kInt32:
      read(labels.values<int32_t>());
      return classes;
    case DType::kInt64:
      read(labels.values<int64_t>());
      return classes;
    case DType::kUInt8:
      read(labels.values<uint8_t>());
      return classes;
    case DType::kFloat32:
      read(labels.values<float>());
      return classes;
    case DType::kFloat64:
      read(labels.values<double>());
      return classes;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("class_weight needs labels that are numbers, got ", Name(labels.dtype())));
  }
}

// Returns the examples' weights times the weights of their classes. An empty `weights` means that all are 1.
absl::StatusOr<HostTensor> ClassWeighted(const HostTensor& labels, const HostTensor& weights,
                                         const std::map<int64_t, double>& class_weight) {
  TD_ASSIGN_OR_RETURN(const std::vector<int64_t> classes, ClassesOf(labels));
  if (!weights.empty() && weights.dtype() != DType::kFloat32) {
    return absl::InvalidArgumentError(
        absl::StrCat("with class_weight, sample_weight must be float32, got ", Name(weights.dtype())));
  }
  HostTensor result(DType::kFloat32, {static_cast<int64_t>(classes.size())});
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto found = class_weight.find(classes[i]);
    if (found == class_weight.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("class_weight has no weight for class ", classes[i], ", which is in the data"));
    }
    result.data<float>()[i] = static_cast<float>(found->second) * (weights.empty() ? 1.0f : weights.data<float>()[i]);
  }
  return result;
}

absl::StatusOr<Dataset> OfArrays(const Data& data, const PipelineOptions& options, const Network& network,
                                 const std::vector<std::string>& outputs) {
  TD_RETURN_IF_ERROR(CheckArrays(data, network.inputs().size(), outputs.size()));
  Dataset::Slices slices;
  for (size_t i = 0; i < data.xs().size(); ++i) {
    slices.emplace_back(network.inputs()[i].call()->layer->name(), data.xs()[i]);
  }
  for (size_t i = 0; i < data.ys().size(); ++i) {
    slices.emplace_back(outputs.size() == 1 ? kLabel : outputs[i], data.ys()[i]);
  }
  HostTensor weights = data.sample_weight();
  if (!options.class_weight.empty()) {
    if (data.ys().size() != 1) return absl::InvalidArgumentError("class_weight needs a model with one output");
    TD_ASSIGN_OR_RETURN(weights, ClassWeighted(data.ys()[0], weights, options.class_weight));
  }
  if (!weights.empty()) slices.emplace_back(kWeight, weights);
  const int64_t rows = Rows(data.xs()[0]);
  if (rows == 0) return absl::InvalidArgumentError("the data have no examples");
  Dataset dataset = Dataset::FromTensorSlices(std::move(slices));
  if (options.shuffle) dataset = dataset.Shuffle(rows, {.seed = options.seed});
  return dataset.Batch(options.batch_size);
}

// Multiplies the examples' weights in each batch by the weights of their classes.
Dataset WithClassWeights(const Dataset& dataset, const std::map<int64_t, double>& class_weight) {
  std::vector<std::string> names;
  int label = -1, weight = -1;
  for (const ComponentSpec& component : dataset.spec()) {
    if (component.name == kLabel || component.name == "labels") label = static_cast<int>(names.size());
    if (component.name == kWeight) weight = static_cast<int>(names.size());
    names.push_back(component.name);
  }
  if (weight < 0) names.push_back(kWeight);
  return dataset.Map(
      [class_weight, label, weight](const Element& element) -> absl::StatusOr<Element> {
        if (label < 0) return absl::InvalidArgumentError("class_weight needs a component \"label\" or \"labels\"");
        Element result = element;
        const HostTensor none;
        TD_ASSIGN_OR_RETURN(
            HostTensor weights,
            ClassWeighted(element.components[label], weight < 0 ? none : element.components[weight], class_weight));
        if (weight < 0) {
          result.components.push_back(std::move(weights));
        } else {
          result.components[weight] = std::move(weights);
        }
        return result;
      },
      {.names = names});
}

}  // namespace

absl::StatusOr<Dataset> MakePipeline(const Data& data, const PipelineOptions& options, const Network& network,
                                     const std::vector<std::string>& outputs, int replicas) {
  if (data.empty()) return absl::InvalidArgumentError("there are no data");
  if (options.batch_size < 1) {
    return absl::InvalidArgumentError(absl::StrCat("batch_size must be at least 1, got ", options.batch_size));
  }
  Dataset dataset = Dataset::Range(0);
  if (data.dataset().has_value()) {
    dataset = *data.dataset();
    TD_RETURN_IF_ERROR(dataset.status());
    if (dataset.batch_size() == 0) {
      return absl::InvalidArgumentError("the Dataset has no batches; end it with Batch(n), n for all devices together");
    }
    if (!options.class_weight.empty()) dataset = WithClassWeights(dataset, options.class_weight);
  } else {
    TD_ASSIGN_OR_RETURN(dataset, OfArrays(data, options, network, outputs));
  }
  if (dataset.batch_size() > 0 && dataset.batch_size() < replicas) {
    return absl::InvalidArgumentError(absl::StrCat("a batch of ", dataset.batch_size(),
                                                   " is smaller than the number of ", "devices, ", replicas,
                                                   "; batches of Fit are those of all devices"));
  }
  if (options.repeat) dataset = dataset.Repeat();
  dataset = dataset.Parts(replicas);
  TD_RETURN_IF_ERROR(dataset.status());
  return dataset.Prefetch(2 * replicas);
}

absl::StatusOr<std::pair<Data, Data>> SplitForValidation(const Data& data, double split) {
  if (!(split > 0 && split < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("validation_split must be in (0, 1), got ", split));
  }
  if (data.dataset().has_value() || data.xs().empty()) {
    return absl::InvalidArgumentError("validation_split is of arrays; give a Dataset's as validation_data");
  }
  TD_RETURN_IF_ERROR(CheckRows(data));
  const int64_t rows = Rows(data.xs()[0]);
  const auto train = static_cast<int64_t>(std::floor(static_cast<double>(rows) * (1 - split)));
  if (train <= 0 || train >= rows) {
    return absl::InvalidArgumentError(
        absl::StrCat("validation_split ", split, " leaves nothing of ", rows, " examples on one side"));
  }
  const auto part = [&](int64_t begin, int64_t end) {
    std::vector<HostTensor> xs, ys;
    for (const HostTensor& x : data.xs()) xs.push_back(utils::Rows(x, begin, end));
    for (const HostTensor& y : data.ys()) ys.push_back(utils::Rows(y, begin, end));
    return Data(xs, ys, utils::Rows(data.sample_weight(), begin, end));
  };
  return std::make_pair(part(0, train), part(train, rows));
}

}  // namespace tandem::keras
