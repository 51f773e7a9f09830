#include "estimator/loop/batch_dealer.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_string.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// Returns component `c` of the batches, joined along the rows.
HostTensor Concatenate(const std::vector<Element>& batches, size_t c) {
  Shape shape = batches[0].components[c].shape();
  shape[0] = 0;
  for (const Element& batch : batches) shape[0] += batch.components[c].shape()[0];
  HostTensor result(batches[0].components[c].dtype(), shape);
  char* out = static_cast<char*>(result.raw());
  for (const Element& batch : batches) {
    const HostTensor& part = batch.components[c];
    std::memcpy(out, part.raw(), part.byte_size());
    out += part.byte_size();
  }
  return result;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BatchDealer>> BatchDealer::Create(const Dataset& dataset, const ReplicaShare& share) {
  TD_RETURN_IF_ERROR(dataset.status());
  if (dataset.batch_size() <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("the dataset yields single examples (", SpecString(dataset.spec()),
                                                   "); end it with .Batch(examples per replica)"));
  }
  for (const ComponentSpec& component : dataset.spec()) {
    if (share.batches > 1 && component.shape.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the dataset's component '", component.name,
                       "' has no rows of examples, of which RunConfig.accumulate_batches = ", share.batches,
                       " makes one batch; leave it out, or give it a value for each example"));
    }
    if (component.dtype != DType::kString) continue;
    return absl::InvalidArgumentError(absl::StrCat("the dataset's component '", component.name,
                                                   "' is of strings, and a program computes with numbers ",
                                                   "only; turn them into numbers, or leave them out, with .Map"));
  }
  std::unique_ptr<BatchDealer> dealer(new BatchDealer(dataset, share));
  TD_RETURN_IF_ERROR(dealer->StartAgain());
  return dealer;
}

absl::Status BatchDealer::StartAgain() {
  TD_ASSIGN_OR_RETURN(iterator_, dataset_.MakeIterator());
  iterator_->MakeOnly(int64_t{share_.replicas} * share_.batches, int64_t{share_.first} * share_.batches,
                      int64_t{share_.count} * share_.batches);
  return absl::OkStatus();
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

absl::Status BatchDealer::NextOf(int replica, Element* batch, bool* end) {
  std::vector<Element> parts;
  while (static_cast<int>(parts.size()) < share_.batches) {
    Element part;
    // Before each batch of a step but the first, asks whether the batch before ended a pass over the data. Asking may
    // draw the next batch early, which is needed here anyway.
    if (replica > 0 || !parts.empty()) round_ends_pass_ |= iterator_->ends_pass();
    TD_RETURN_IF_ERROR(iterator_->GetNext(&part, end));
    if (*end) break;
    ++batches_;
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return absl::OkStatus();
  *end = false;  // the next call reports the end
  if (parts.size() == 1) {
    *batch = std::move(parts[0]);
  } else if (IsMine(replica)) {
    for (size_t c = 0; c < parts[0].components.size(); ++c) batch->components.push_back(Concatenate(parts, c));
  } else {
    batch->rows_elsewhere = 0;
    for (const Element& part : parts) batch->rows_elsewhere += part.rows();
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> BatchDealer::Next(BatchRound* round) {
  TD_ASSIGN_OR_RETURN(const bool more, NextInPass(round));
  if (!std::exchange(restored_, false) || more) return more;
  TD_LOG(INFO) << "The input had ended where the checkpoint was saved; starting it again.";
  TD_RETURN_IF_ERROR(StartAgain());
  return NextInPass(round);
}

absl::StatusOr<bool> BatchDealer::NextInPass(BatchRound* round) {
  bool more = true;
  round_ends_pass_ = false;
  round->replicas.clear();
  round->rows.clear();
  round->examples = 0;
  for (int replica = 0; replica < share_.replicas; ++replica) {
    Element batch;
    bool end = false;
    TD_RETURN_IF_ERROR(NextOf(replica, &batch, &end));
    if (end) {
      more = more && replica > 0;
      round->rows.push_back(0);
      if (IsMine(replica)) round->replicas.push_back(EmptyBatch());
      continue;
    }
    const int64_t rows = batch.rows();
    if (rows > batch_size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the dataset gives a batch of ", rows, " examples, and its Batch says at most ", batch_size(),
                       ": a Map behind it adds some; put .Unbatch().Batch(", dataset_.batch_size(), ") at the end"));
    }
    if (IsMine(replica)) TD_RETURN_IF_ERROR(CheckRanges(batch));
    round->rows.push_back(rows);
    round->examples += rows;
    if (IsMine(replica)) round->replicas.push_back(std::move(batch.components));
  }
  return more;
}

bool BatchDealer::ends_pass() {
  round_ends_pass_ |= iterator_->ends_pass();
  return round_ends_pass_;
}

std::string BatchDealer::TraceArgs() const {
  const Throughput t = throughput();
  nlohmann::ordered_json busy = nlohmann::ordered_json::object();
  for (size_t i = 0; i < t.stages.size(); ++i) busy[absl::StrCat(i, " ", t.stages[i].stage)] = t.stages[i].busy_secs;
  const nlohmann::ordered_json json = {{"elements", t.elements},
                                       {"ready_elements", t.ready_elements},
                                       {"slowest", t.BottleneckText()},
                                       {"busy_seconds", std::move(busy)}};
  const std::string text = JsonString(json);
  return text.substr(1, text.size() - 2);
}

bool BatchDealer::Peek(BatchRound* round) {
  if (share_.batches > 1) return false;
  round->replicas.clear();
  round->rows.clear();
  round->examples = 0;
  for (int replica = 0; replica < share_.replicas; ++replica) {
    Element batch;
    if (!iterator_->Peek(replica, &batch)) return false;
    round->rows.push_back(batch.rows());
    round->examples += round->rows.back();
    if (IsMine(replica)) round->replicas.push_back(std::move(batch.components));
  }
  return true;
}

}  // namespace tandem
