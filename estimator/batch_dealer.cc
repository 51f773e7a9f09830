#include "estimator/batch_dealer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_string.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace tandem {

absl::StatusOr<std::unique_ptr<BatchDealer>> BatchDealer::Create(const Dataset& dataset, int replicas) {
  TD_RETURN_IF_ERROR(dataset.status());
  if (dataset.batch_size() <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("the dataset yields single examples (", SpecString(dataset.spec()),
                                                   "); end it with .Batch(examples per replica)"));
  }
  for (const ComponentSpec& component : dataset.spec()) {
    if (component.dtype != DType::kString) continue;
    return absl::InvalidArgumentError(absl::StrCat("the dataset's component '", component.name,
                                                   "' is of strings, and a program computes with numbers ",
                                                   "only; turn them into numbers, or leave them out, with .Map"));
  }
  TD_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
  return std::unique_ptr<BatchDealer>(new BatchDealer(dataset, std::move(iterator), replicas));
}

absl::Status BatchDealer::RestoreState(absl::string_view state) {
  TD_RETURN_IF_ERROR(iterator_->RestoreState(state));
  restored_ = true;
  return absl::OkStatus();
}

std::vector<HostTensor> BatchDealer::EmptyBatch() const {
  std::vector<HostTensor> batch;
  for (const ComponentSpec& component : dataset_.spec()) {
    Shape shape = component.shape;
    if (!shape.empty()) shape[0] = 0;
    batch.push_back(HostTensor::Zeros(component.dtype, shape));
  }
  return batch;
}

absl::Status BatchDealer::CheckRanges(const Element& batch) const {
  for (const LabelRange& range : label_ranges_) {
    for (size_t i = 0; i < dataset_.spec().size(); ++i) {
      if (dataset_.spec()[i].name == range.component) TD_RETURN_IF_ERROR(CheckLabels(batch.components[i], range));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> BatchDealer::Next(Round* round) {
  round->replicas.clear();
  round->examples = 0;
  for (int replica = 0; replica < replicas_; ++replica) {
    Element batch;
    bool end = false;
    TD_RETURN_IF_ERROR(iterator_->GetNext(&batch, &end));
    if (end && replica == 0 && restored_) {
      TD_LOG(INFO) << "The input had ended where the checkpoint was saved; starting it again.";
      TD_ASSIGN_OR_RETURN(iterator_, dataset_.MakeIterator());
      TD_RETURN_IF_ERROR(iterator_->GetNext(&batch, &end));
    }
    restored_ = false;
    if (end && replica == 0) return false;
    if (end) {
      round->replicas.push_back(EmptyBatch());
      continue;
    }
    TD_RETURN_IF_ERROR(CheckRanges(batch));
    const int64_t rows = batch.components.empty() ? 0 : batch.components[0].shape()[0];
    round->examples += rows;
    ++batches_;
    round->replicas.push_back(std::move(batch.components));
  }
  return true;
}

std::string BatchDealer::TraceArgs() const {
  const Throughput t = throughput();
  nlohmann::ordered_json busy = nlohmann::ordered_json::object();
  for (size_t i = 0; i < t.stages.size(); ++i) busy[absl::StrCat(i, " ", t.stages[i].stage)] = t.stages[i].busy_seconds;
  const nlohmann::ordered_json json = {{"elements", t.elements},
                                       {"ready_elements", t.ready_elements},
                                       {"slowest", t.BottleneckText()},
                                       {"busy_seconds", std::move(busy)}};
  const std::string text = JsonString(json);
  return text.substr(1, text.size() - 2);
}

bool BatchDealer::Peek(Round* round) {
  round->replicas.clear();
  round->examples = 0;
  for (int replica = 0; replica < replicas_; ++replica) {
    Element batch;
    if (!iterator_->Peek(replica, &batch)) return false;
    round->examples += batch.components.empty() ? 0 : batch.components[0].shape()[0];
    round->replicas.push_back(std::move(batch.components));
  }
  return true;
}

}  // namespace tandem
