// Parts: splits each batch into parts, one for each replica (copy of the model) in a step. A token, from which a part
// can be made, is the number of the part and the batch's token.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/out_of_memory.h"
#include "base/status_macros.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// A batch that can only be made as a whole, as the payload of all its parts. The first part that is made makes the
// batch, and the others reuse it.
class WholeBatch : public Payload {
 public:
  explicit WholeBatch(PayloadPtr payload) : payload_(std::move(payload)) {}

  // A buffer (such as Shuffle's) may hold parts for long, so it gets a payload that holds no batch.
  PayloadPtr ForBuffer(const PayloadPtr&, int64_t room) const override {
    PayloadPtr kept = payload_ == nullptr ? nullptr : payload_->ForBuffer(payload_, room);
    return kept == nullptr ? nullptr : std::make_shared<WholeBatch>(std::move(kept));
  }
  int64_t bytes_in_buffer() const override { return payload_ == nullptr ? 0 : payload_->bytes_in_buffer(); }

  // Stores the batch of `token` in *out; makes the batch with `node` in the first call.
  absl::Status Get(const Node& node, const int64_t* token, Element* out) const {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!made_) {
      Element batch;
      absl::Status status = node.Materialize(token, payload_.get(), &batch);
      if (IsOutOfMemory(status)) return status;  // a lack of memory is not stored, so that another part may try again
      batch_ = std::move(batch);
      status_ = std::move(status);
      made_ = true;
    }
    if (status_.ok()) *out = batch_;
    return status_;
  }

 private:
  const PayloadPtr payload_;
  mutable std::mutex mutex_;
  mutable bool made_ = false;
  mutable Element batch_;
  mutable absl::Status status_;
};

struct RowRange {
  int64_t first = 0, count = 0;
};

// Returns which of a batch's `rows` rows are in part number `part` of `parts`.
RowRange RangeOf(int64_t part, int64_t parts, int64_t rows) {
  const int64_t size = rows / parts + (rows % parts != 0);
  const int64_t first = size == 0 || part > rows / size ? rows : part * size;
  return {first, std::min(size, rows - first)};
}

// Copies rows of a tensor, along dimension 0, into a new tensor.
HostTensor CopyRows(const HostTensor& batch, RowRange range) {
  Shape shape = batch.shape();
  const int64_t elements = batch.shape()[0] == 0 ? 0 : batch.num_elements() / batch.shape()[0];
  shape[0] = range.count;
  if (batch.dtype() == DType::kString) {
    std::vector<absl::string_view> strings;
    for (int64_t i = range.first * elements; i < (range.first + range.count) * elements; ++i) {
      strings.push_back(batch.string(i));
    }
    return HostTensor::FromStrings(std::move(shape), absl::MakeConstSpan(strings));
  }
  HostTensor rows(batch.dtype(), std::move(shape));
  if (rows.byte_size() == 0) return rows;
  const int64_t row_bytes = elements * SizeOf(batch.dtype());
  std::memcpy(rows.raw(), static_cast<const uint8_t*>(batch.raw()) + range.first * row_bytes, rows.byte_size());
  return rows;
}

bool HasRows(const ComponentSpec& component) { return !component.shape.empty() && component.shape[0] == kBatch; }

class PartsNode : public Node {
 public:
  PartsNode(NodePtr child, NodeInfo info, int64_t parts, SourceLocation location)
      : Node(std::move(info)), child_(std::move(child)), parts_(parts), location_(location) {}

  const Node& child() const { return *child_; }
  int64_t parts() const { return parts_; }
  // True if each batch must be made as a whole, and the parts are copied out of it.
  bool cuts() const { return parts_ > 1 && !child_->makes_ranges(); }

  std::unique_ptr<TokenIterator> MakeTokens() const override;
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    const int64_t* batch = token + 1;
    if (parts_ == 1) return child_->Materialize(batch, payload, out);
    if (child_->makes_ranges()) {
      const RowRange range = RangeOf(token[0], parts_, child_->Rows(batch));
      return MakeRows(batch, payload, range, out);
    }
    Element whole;
    TD_RETURN_IF_ERROR(payload == nullptr ? child_->Materialize(batch, nullptr, &whole)
                                          : static_cast<const WholeBatch*>(payload)->Get(*child_, batch, &whole));
    const absl::Status cut = Cut(whole, token[0], out);
    return cut.ok() ? cut : Annotate(cut, absl::StrCat("Parts, ", child_->Describe(batch)), location_);
  }
  bool makes_ranges() const override { return child_->makes_ranges(); }
  absl::Status MaterializeRange(const int64_t* token, const Payload* payload, int64_t first, int64_t count,
                                Element* out) const override {
    const RowRange range = RangeOf(token[0], parts_, child_->Rows(token + 1));
    return MakeRows(token + 1, payload, {range.first + first, count}, out);
  }
  int64_t Rows(const int64_t* token) const override {
    const int64_t rows = child_->Rows(token + 1);
    return rows < 0 ? rows : RangeOf(token[0], parts_, rows).count;
  }
  bool ValidToken(const int64_t* token) const override {
    return token[0] >= 0 && token[0] < parts_ && child_->ValidToken(token + 1);
  }
  std::string Describe(const int64_t* token) const override {
    return absl::StrCat("part ", token[0] + 1, " of ", parts_, " of ", child_->Describe(token + 1));
  }
  std::string DescribeRow(const int64_t* token, int64_t row) const override {
    const int64_t rows = child_->Rows(token + 1);
    if (rows < 0) return Node::DescribeRow(token, row);
    return child_->DescribeRow(token + 1, RangeOf(token[0], parts_, rows).first + row);
  }
  Parallelism parallelism() const override {
    Parallelism p = child_->parallelism();
    p.window = p.window > kMaxTokenWidth / parts_ ? kMaxTokenWidth : p.window * parts_;
    return p;
  }
  std::string Fingerprint() const override { return child_->Fingerprint(); }
  // The number of parts is not in the signature, because a position between two batches is valid for any number, and
  // the state of a position within a batch contains it.
  std::string Signature(bool batch_sizes) const override {
    return absl::StrCat(child_->Signature(batch_sizes), " | parts", batch_sizes ? absl::StrCat("(", parts_, ")") : "");
  }

 private:
  absl::Status MakeRows(const int64_t* batch, const Payload* payload, RowRange range, Element* out) const {
    if (range.count > 0) return child_->MaterializeRange(batch, payload, range.first, range.count, out);
    out->components.clear();
    for (const ComponentSpec& component : info().spec) {
      Shape shape = component.shape;
      for (int64_t& size : shape) size = std::max<int64_t>(size, 0);
      out->components.push_back(HostTensor::Zeros(component.dtype, std::move(shape)));
    }
    return absl::OkStatus();
  }

  absl::Status Cut(const Element& whole, int64_t part, Element* out) const {
    int64_t rows = -1;
    size_t of = 0;
    for (size_t c = 0; c < whole.components.size(); ++c) {
      if (!HasRows(info().spec[c])) continue;
      const int64_t own = whole.components[c].shape()[0];
      if (rows < 0) {
        rows = own;
        of = c;
      }
      if (own == rows) continue;
      return absl::InvalidArgumentError(absl::StrCat("component '", info().spec[c].name, "' has ", own, " rows and '",
                                                     info().spec[of].name, "' has ", rows,
                                                     "; all that have rows must have those of the batch's examples"));
    }
    out->components.clear();
    for (size_t c = 0; c < whole.components.size(); ++c) {
      const HostTensor& batch = whole.components[c];
      const bool cut = HasRows(info().spec[c]);
      out->components.push_back(cut ? CopyRows(batch, RangeOf(part, parts_, rows)) : batch);
      TD_RETURN_IF_ERROR(out->components.back().status());
    }
    return absl::OkStatus();
  }

  const NodePtr child_;
  const int64_t parts_;
  const SourceLocation location_;
};

// The saved state between two batches is the child's state. Within a batch, the state also has the batch's token.
class PartsIterator : public TokenIterator {
 public:
  explicit PartsIterator(const PartsNode& node)
      : node_(node), child_(node.child().MakeTokens()), batch_(node.child().token_width()) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    // All parts of a batch share one payload, so once a caller has asked for the payload of some part, it is drawn for
    // every batch.
    wants_payloads_ |= payload != nullptr && node_.info().has_payloads;
    if (next_ == 0) {
      PayloadPtr read;
      if (!child_->Next(batch_.data(), wants_payloads_ && node_.child().info().has_payloads ? &read : nullptr)) {
        return false;
      }
      passes_ = child_->passes();
      payload_ = wants_payloads_ && node_.cuts() ? std::make_shared<WholeBatch>(std::move(read)) : std::move(read);
    }
    token[0] = next_;
    std::copy(batch_.begin(), batch_.end(), token + 1);
    if (payload != nullptr) *payload = payload_;
    next_ = (next_ + 1) % node_.parts();
    if (next_ == 0) payload_ = nullptr;
    return true;
  }
  // All parts of a batch belong to all passes (epochs) of the batch; its last part ends them.
  PassRange passes() const override { return {passes_.first, next_ == 0 ? passes_.last : passes_.first}; }
  void Restart() override {
    child_->Restart();
    next_ = 0;
    payload_ = nullptr;
  }
  void Save(StateWriter* writer) const override {
    child_->Save(writer);
    writer->Write(next_);
    if (next_ == 0) return;
    writer->Write(node_.parts());
    writer->Write(passes_.first);
    writer->Write(passes_.last);
    writer->Write(batch_.size());
    for (const int64_t v : batch_) writer->Write(v);
  }
  bool Restore(StateReader* reader) override {
    int64_t parts = 0, width = 0;
    payload_ = nullptr;
    if (!child_->Restore(reader) || !reader->Read(&next_, 0, INT64_MAX)) return false;
    if (next_ == 0) return true;
    if (!reader->Read(&parts, next_ + 1, INT64_MAX) || !reader->Read(&passes_.first, 0, INT64_MAX) ||
        !reader->Read(&passes_.last, passes_.first, INT64_MAX) || !reader->Read(&width, 1, INT64_MAX)) {
      return false;
    }
    if (width != static_cast<int64_t>(batch_.size())) {
      return reader->Fail(absl::FailedPreconditionError(absl::StrCat(
          "the position is behind part ", next_, " of ", parts, " of a batch, and the dataset has batches ",
          "of another size now; only positions between two batches fit those")));
    }
    for (int64_t& v : batch_) {
      if (!reader->Read(&v, 0, INT64_MAX)) return false;
    }
    if (!node_.child().ValidToken(batch_.data()) || !GoTo(parts, reader)) return false;
    if (next_ != 0 && node_.cuts()) payload_ = std::make_shared<WholeBatch>(nullptr);
    return true;
  }

 private:
  // Converts next_, which is a part's number among `parts` parts, to the part that begins at the same row with the
  // present number of parts. Fails if no part begins there.
  bool GoTo(int64_t parts, StateReader* reader) {
    if (parts == node_.parts()) return true;
    const int64_t rows = node_.child().Rows(batch_.data());
    const int64_t done = rows < 0 ? -1 : RangeOf(next_, parts, rows).first;
    for (int64_t part = 0; done >= 0 && part <= node_.parts(); ++part) {
      if (RangeOf(part, node_.parts(), rows).first != done) continue;
      next_ = part % node_.parts();
      return true;
    }
    return reader->Fail(absl::FailedPreconditionError(
        absl::StrCat("the position is behind part ", next_, " of ", parts, " of ",
                     node_.child().Describe(batch_.data()), ", and no part begins there where there are ",
                     node_.parts(), "; positions between two batches fit any number")));
  }

  const PartsNode& node_;
  const std::unique_ptr<TokenIterator> child_;
  std::vector<int64_t> batch_;  // token of the next part's batch, unless next_ is 0
  int64_t next_ = 0;            // number of the next part
  PassRange passes_;            // passes of the batch that batch_ names
  PayloadPtr payload_;          // payload that all parts of this batch share
  bool wants_payloads_ = false;
};

std::unique_ptr<TokenIterator> PartsNode::MakeTokens() const { return std::make_unique<PartsIterator>(*this); }

}  // namespace

absl::StatusOr<NodePtr> MakeParts(NodePtr child, int64_t parts, SourceLocation location) {
  NodeInfo info = child->info();
  if (info.batch_size <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("the elements are single examples (", SpecString(info.spec),
                                                   "); put Batch before, with the examples of all parts"));
  }
  if (parts < 1 || parts > kMaxTokenWidth) {
    return absl::InvalidArgumentError(
        absl::StrCat("the number of parts must be between 1 and ", kMaxTokenWidth, ", got ", parts));
  }
  if (std::none_of(info.spec.begin(), info.spec.end(), HasRows)) {
    return absl::InvalidArgumentError(
        absl::StrCat("no component has rows that could be parted; the elements are { ", SpecString(info.spec), " }"));
  }
  if (parts > 1) TD_RETURN_IF_ERROR(CheckKeepsTokens(*child));
  ++info.token_width;
  info.full_batches = info.full_batches && info.batch_size % parts == 0;
  info.batch_size = RangeOf(0, parts, info.batch_size).count;
  info.has_payloads |= parts > 1 && !child->makes_ranges();
  if (info.cardinality > 0) {
    info.cardinality = info.cardinality > INT64_MAX / parts ? kInfiniteCardinality : info.cardinality * parts;
  }
  if (info.epoch.elements > INT64_MAX / parts) {
    ForgetEpoch(&info);
  } else if (info.epoch.elements > 0) {
    info.epoch.elements *= parts;
  }
  return NodePtr(std::make_shared<PartsNode>(std::move(child), std::move(info), parts, location));
}

}  // namespace tandem::data_internal
