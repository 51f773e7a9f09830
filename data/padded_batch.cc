// PaddedBatch and BucketBySequenceLength: batches of elements of different sizes, padded to the largest. The token of a
// batch, from which it can be made, is the number of rows, then the rows' tokens, then zeros up to the full size.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "data/cache_settings.h"
#include "data/serial_function.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// Copies a tensor of shape `from` into the corner at index 0 of a larger tensor of shape `to`. Elements have `size`
// bytes.
void CopyCorner(const uint8_t* source, const Shape& from, uint8_t* target, absl::Span<const int64_t> to, int64_t size) {
  const size_t rank = from.size();
  if (rank == 0) {
    std::memcpy(target, source, size);
    return;
  }
  if (NumElements(from) == 0) return;
  std::vector<int64_t> at(rank, 0);
  const int64_t run = from[rank - 1] * size;
  for (;;) {
    int64_t offset = 0;
    for (size_t d = 0; d < rank; ++d) offset = offset * to[d] + at[d];
    std::memcpy(target + offset * size, source, run);
    source += run;
    size_t d = rank - 1;
    while (d > 0 && ++at[d - 1] == from[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

class PaddedNode : public Node {
 public:
  PaddedNode(NodePtr child, NodeInfo info, std::vector<HostTensor> values, SourceLocation location)
      : Node(std::move(info)), child_(std::move(child)), values_(std::move(values)), location_(location) {}

  const Node& child() const { return *child_; }

  int64_t Rows(const int64_t* token) const override { return token[0]; }
  bool ValidToken(const int64_t* token) const override {
    if (token[0] < 1 || token[0] > (token_width() - 1) / child_->token_width()) return false;
    for (int64_t i = 0; i < token[0]; ++i) {
      if (!child_->ValidToken(token + 1 + i * child_->token_width())) return false;
    }
    return true;
  }
  std::string Describe(const int64_t* token) const override {
    return absl::StrCat("the batch of ", token[0], " that begins with ", child_->Describe(token + 1));
  }
  std::string DescribeRow(const int64_t* token, int64_t row) const override {
    return child_->Describe(token + 1 + row * child_->token_width());
  }
  Parallelism parallelism() const override {
    Parallelism p = child_->parallelism();
    p.window = (p.window + info().batch_size - 1) / info().batch_size;
    return p;
  }
  std::string Fingerprint() const override { return child_->Fingerprint(); }

  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    const auto* payloads = static_cast<const RowPayloads*>(payload);
    std::vector<Element> rows(token[0]);
    for (int64_t i = 0; i < token[0]; ++i) {
      TD_RETURN_IF_ERROR(child_->MaterializeNamed(token + 1 + i * child_->token_width(),
                                                  payloads == nullptr ? nullptr : payloads->rows[i].get(), &rows[i]));
      TD_RETURN_IF_ERROR(CheckRow(token + 1 + i * child_->token_width(), rows[i]));
    }
    out->components.clear();
    for (size_t c = 0; c < info().spec.size(); ++c) {
      TD_ASSIGN_OR_RETURN(HostTensor batch, Stack(rows, c));
      out->components.push_back(std::move(batch));
    }
    return absl::OkStatus();
  }

 protected:
  // Returns an error for a row that could be made but must not be in a batch.
  virtual absl::Status CheckRow(const int64_t* token, const Element& element) const { return absl::OkStatus(); }
  // Stacks component `c` of the rows, padded to the largest sizes, or to those of the spec.
  absl::StatusOr<HostTensor> Stack(const std::vector<Element>& rows, size_t c) const {
    const ComponentSpec& spec = info().spec[c];
    Shape shape = {static_cast<int64_t>(rows.size())};
    for (size_t d = 1; d < spec.shape.size(); ++d) shape.push_back(std::max<int64_t>(spec.shape[d], 0));
    for (size_t i = 0; i < rows.size(); ++i) {
      const HostTensor& t = rows[i].components[c];
      bool fits = t.dtype() == spec.dtype && t.shape().size() + 1 == shape.size();
      for (size_t d = 0; fits && d < t.shape().size(); ++d) {
        if (spec.shape[d + 1] >= 0) {
          fits = t.shape()[d] <= spec.shape[d + 1];
        } else {
          shape[d + 1] = std::max(shape[d + 1], t.shape()[d]);
        }
      }
      if (!fits) {
        return Annotate(absl::InvalidArgumentError(absl::StrCat(
                            "component '", spec.name, "' is ", Name(t.dtype()), ShapeString(t.shape()), " in row ", i,
                            ", and ", Name(spec.dtype), ShapeString(spec.shape), " is the batch's shape")),
                        "PaddedBatch", location_);
      }
    }
    const absl::Span<const int64_t> row_shape = absl::MakeConstSpan(shape).subspan(1);
    const int64_t row_elements = NumElements(row_shape);
    if (spec.dtype == DType::kString) return StackStrings(rows, c, shape, row_elements);
    HostTensor out(spec.dtype, shape);
    TD_RETURN_IF_ERROR(out.status());
    const int64_t size = SizeOf(spec.dtype);
    uint8_t* to = static_cast<uint8_t*>(out.raw());
    const uint8_t* value = static_cast<const uint8_t*>(values_[c].raw());
    for (size_t i = 0; i < rows.size(); ++i, to += row_elements * size) {
      const HostTensor& t = rows[i].components[c];
      if (t.num_elements() < row_elements) {
        for (int64_t k = 0; k < row_elements; ++k) std::memcpy(to + k * size, value, size);
      }
      if (t.num_elements() > 0) CopyCorner(static_cast<const uint8_t*>(t.raw()), t.shape(), to, row_shape, size);
    }
    return out;
  }

  HostTensor StackStrings(const std::vector<Element>& rows, size_t c, const Shape& shape, int64_t row_elements) const {
    // Strings are padded as numbers are, but instead of the strings their indices are copied.
    std::vector<absl::string_view> strings(rows.size() * row_elements, values_[c].string());
    std::vector<int64_t> index, placed;
    for (size_t i = 0; i < rows.size(); ++i) {
      const HostTensor& t = rows[i].components[c];
      if (t.num_elements() == 0) continue;
      index.resize(t.num_elements());
      for (int64_t k = 0; k < t.num_elements(); ++k) index[k] = k;
      placed.assign(row_elements, -1);
      CopyCorner(reinterpret_cast<const uint8_t*>(index.data()), t.shape(), reinterpret_cast<uint8_t*>(placed.data()),
                 absl::MakeConstSpan(shape).subspan(1), sizeof(int64_t));
      for (int64_t k = 0; k < row_elements; ++k) {
        if (placed[k] >= 0) strings[i * row_elements + k] = t.string(placed[k]);
      }
    }
    return HostTensor::FromStrings(shape, absl::MakeConstSpan(strings));
  }

  const NodePtr child_;
  const std::vector<HostTensor> values_;  // one padding value for each component
  const SourceLocation location_;
};

class PaddedBatchNode;

// Collects the tokens of elements (the numbers from which a stage makes an element later) in buckets until one bucket
// has a full batch. There is one bucket for all elements (PaddedBatch), or one for each range of lengths.
class BucketIterator : public TokenIterator {
 public:
  explicit BucketIterator(const PaddedBatchNode& node);

  bool Next(int64_t* token, PayloadPtr* payload) override;
  void Restart() override {
    child_->Restart();
    for (Bucket& bucket : buckets_) bucket = {};
    flushed_ = 0;
    child_ended_ = restored_ = false;
  }
  PassRange passes() const override { return passes_; }
  void Save(StateWriter* writer) const override;
  bool Restore(StateReader* reader) override;

 private:
  struct Bucket {
    std::vector<int64_t> tokens;
    std::vector<PayloadPtr> payloads;
  };
  // Writes the token of a batch of the bucket's rows, and empties the bucket.
  void Emit(Bucket* bucket, int64_t* token, PayloadPtr* payload);

  const PaddedBatchNode& node_;
  const std::unique_ptr<TokenIterator> child_;
  const int64_t width_;
  std::vector<Bucket> buckets_;
  size_t flushed_ = 0;  // how many buckets were emptied after the child's end
  // Passes (epochs) of the bucket's rows if there is one bucket, otherwise of the last row that was read.
  PassRange passes_;
  bool child_ended_ = false;
  // The state was just restored: the child may now have more epochs, so its end is checked again.
  bool restored_ = false;
};

class PaddedBatchNode : public PaddedNode {
 public:
  PaddedBatchNode(NodePtr child, NodeInfo info, std::vector<HostTensor> values, Dataset::LengthFn length,
                  std::vector<int64_t> boundaries, std::vector<int64_t> sizes, bool drop_remainder, std::string name,
                  SourceLocation location)
      : PaddedNode(std::move(child), std::move(info), std::move(values), location),
        length_(std::move(length)),
        boundaries_(std::move(boundaries)),
        sizes_(std::move(sizes)),
        drop_remainder_(drop_remainder),
        name_(std::move(name)) {}

  const std::vector<int64_t>& sizes() const { return sizes_; }
  bool drop_remainder() const { return drop_remainder_; }

  std::unique_ptr<TokenIterator> MakeTokens() const override { return std::make_unique<BucketIterator>(*this); }

  // Returns the number of the element's bucket. An element that is an error goes to the first bucket, and the batch
  // that contains it returns the error.
  size_t BucketOf(const int64_t* token, const Payload* payload) const {
    if (!length_) return 0;
    Element element;
    const absl::Status made = child_->MaterializeNamed(token, payload, &element);
    ThrowIfOutOfMemory(made);
    if (!made.ok()) return 0;
    const absl::StatusOr<int64_t> length = length_(element);
    ThrowIfOutOfMemory(length.status());
    if (!length.ok()) return 0;
    return std::upper_bound(boundaries_.begin(), boundaries_.end(), *length) - boundaries_.begin();
  }
  std::string Signature(bool) const override {
    return absl::StrCat(child_->Signature(/*batch_sizes=*/true), " | ", name_);
  }

 private:
  // An element for which the length function failed was put into the first bucket. Its error is found again and
  // returned here.
  absl::Status CheckRow(const int64_t* token, const Element& element) const override {
    if (!length_) return absl::OkStatus();
    const absl::Status status = length_(element).status();
    return Annotate(status, status.ok() ? "" : absl::StrCat("BucketBySequenceLength, ", child_->Describe(token)),
                    location_);
  }

  const SerialFunction<Dataset::LengthFn> length_;  // null if there is one bucket
  const std::vector<int64_t> boundaries_;
  const std::vector<int64_t> sizes_;  // batch size of each bucket
  const bool drop_remainder_;
  const std::string name_;
};

BucketIterator::BucketIterator(const PaddedBatchNode& node)
    : node_(node),
      child_(node.child().MakeTokens()),
      width_(node.child().token_width()),
      buckets_(node.sizes().size()) {}

void BucketIterator::Emit(Bucket* bucket, int64_t* token, PayloadPtr* payload) {
  token[0] = static_cast<int64_t>(bucket->tokens.size()) / width_;
  std::copy(bucket->tokens.begin(), bucket->tokens.end(), token + 1);
  std::fill(token + 1 + bucket->tokens.size(), token + node_.token_width(), 0);
  if (payload != nullptr && node_.info().has_payloads) {
    auto rows = std::make_shared<RowPayloads>();
    rows->rows = std::move(bucket->payloads);
    *payload = std::move(rows);
  }
  *bucket = {};
}

bool BucketIterator::Next(int64_t* token, PayloadPtr* payload) {
  std::vector<int64_t> row(width_);
  if (std::exchange(restored_, false)) child_ended_ = false;
  while (!child_ended_) {
    PayloadPtr read;
    if (!child_->Next(row.data(), node_.child().info().has_payloads ? &read : nullptr)) {
      child_ended_ = true;
      break;
    }
    flushed_ = 0;
    const PassRange read_passes = child_->passes();
    if (buckets_.size() > 1 || buckets_[0].tokens.empty()) passes_.first = read_passes.first;
    passes_.last = read_passes.last;
    const size_t b = node_.BucketOf(row.data(), read.get());
    Bucket& bucket = buckets_[b];
    bucket.tokens.insert(bucket.tokens.end(), row.begin(), row.end());
    if (node_.info().has_payloads) bucket.payloads.push_back(std::move(read));
    if (static_cast<int64_t>(bucket.tokens.size()) < node_.sizes()[b] * width_) continue;
    Emit(&bucket, token, payload);
    return true;
  }
  for (; flushed_ < buckets_.size() && !node_.drop_remainder(); ++flushed_) {
    if (buckets_[flushed_].tokens.empty()) continue;
    Emit(&buckets_[flushed_++], token, payload);
    return true;
  }
  return false;
}

void BucketIterator::Save(StateWriter* writer) const {
  child_->Save(writer);
  writer->Write(child_ended_);
  writer->Write(flushed_);
  for (const Bucket& bucket : buckets_) {
    writer->Write(bucket.tokens.size() / width_);
    for (int64_t v : bucket.tokens) writer->Write(v);
  }
}

bool BucketIterator::Restore(StateReader* reader) {
  int64_t flushed = 0;
  if (!child_->Restore(reader) || !reader->Read(&child_ended_) ||
      !reader->Read(&flushed, 0, static_cast<int64_t>(buckets_.size()))) {
    return false;
  }
  flushed_ = flushed;
  for (size_t b = 0; b < buckets_.size(); ++b) {
    int64_t rows = 0;
    if (!reader->Read(&rows, 0, node_.sizes()[b] - 1) || rows > reader->remaining() / width_) return false;
    buckets_[b].tokens.resize(rows * width_);
    for (int64_t& v : buckets_[b].tokens) {
      if (!reader->Read(&v, 0, INT64_MAX)) return false;
    }
    for (int64_t i = 0; i < rows; ++i) {
      if (!node_.child().ValidToken(&buckets_[b].tokens[i * width_])) return false;
    }
    buckets_[b].payloads.clear();
    if (node_.info().has_payloads) buckets_[b].payloads.resize(rows);
  }
  restored_ = true;
  return true;
}

// Returns the padding value of each component: the one of the options, otherwise 0 or "".
absl::StatusOr<std::vector<HostTensor>> PaddingValues(const NodeInfo& info, const PaddedBatchOptions& options) {
  std::vector<HostTensor> values;
  for (const ComponentSpec& component : info.spec) {
    values.push_back(HostTensor::Zeros(component.dtype, {}));
  }
  for (const auto& [name, value] : options.padding_values) {
    const auto found = std::find_if(info.spec.begin(), info.spec.end(),
                                    [&name = name](const ComponentSpec& c) { return c.name == name; });
    if (found == info.spec.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no component '", name, "' to pad; the elements are { ", SpecString(info.spec), " }"));
    }
    TD_RETURN_IF_ERROR(value.status());
    if (value.dtype() != found->dtype || value.num_elements() != 1) {
      return absl::InvalidArgumentError(absl::StrCat("the padding of '", name, "' is ", Name(value.dtype()),
                                                     ShapeString(value.shape()), "; it must be one ",
                                                     Name(found->dtype)));
    }
    values[found - info.spec.begin()] = value;
  }
  return values;
}

}  // namespace

absl::StatusOr<NodePtr> MakePaddedBatch(NodePtr child, Dataset::LengthFn length, std::vector<int64_t> boundaries,
                                        std::vector<int64_t> sizes, PaddedBatchOptions options,
                                        SourceLocation location) {
  NodeInfo info = child->info();
  const bool buckets = length != nullptr;
  if (info.batch_size > 0) return absl::InvalidArgumentError("the elements are batches already; remove one of the two");
  if (buckets) TD_RETURN_IF_ERROR(CheckKeepsTokens(*child));
  if (sizes.size() != boundaries.size() + 1) {
    return absl::InvalidArgumentError(absl::StrCat(boundaries.size(), " boundaries make ", boundaries.size() + 1,
                                                   " buckets, and ", sizes.size(), " batch sizes are given"));
  }
  if (std::adjacent_find(boundaries.begin(), boundaries.end(), std::greater_equal<>()) != boundaries.end()) {
    return absl::InvalidArgumentError("the boundaries must increase");
  }
  for (int64_t size : sizes) {
    if (size < 1 || size > kMaxTokenWidth / info.token_width) {
      return absl::InvalidArgumentError(
          absl::StrCat("a batch size must be between 1 and ", kMaxTokenWidth / info.token_width, ", got ", size));
    }
  }
  for (const auto& [name, shape] : options.padded_shapes) {
    const auto found = std::find_if(info.spec.begin(), info.spec.end(),
                                    [&name = name](const ComponentSpec& c) { return c.name == name; });
    if (found == info.spec.end() || found->shape.size() != shape.size()) {
      return absl::InvalidArgumentError(absl::StrCat("the padded shape of '", name, "' is ", ShapeString(shape),
                                                     ", and the elements are { ", SpecString(info.spec), " }"));
    }
    found->shape = shape;
  }
  TD_ASSIGN_OR_RETURN(std::vector<HostTensor> values, PaddingValues(info, options));
  for (ComponentSpec& component : info.spec) component.shape.insert(component.shape.begin(), kBatch);
  const std::string padding = absl::StrJoin(
      values, ", ", [](std::string* out, const HostTensor& value) { absl::StrAppend(out, ValueSetting(value)); });
  AddCacheSettings(absl::StrCat("padded(", SpecString(info.spec), "; ", padding, ")"), &info);
  const int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  info.token_width = 1 + largest * info.token_width;
  info.batch_size = largest;
  info.batched_at = location;
  info.full_batches = !buckets && options.drop_remainder;
  info.costly_order |= buckets;
  if (buckets) {
    ForgetEpoch(&info);
  } else {
    ShortenEpoch(&info, largest);
  }
  if (info.cardinality > 0) {
    info.cardinality =
        buckets ? kUnknownCardinality
                : info.cardinality / largest + (!options.drop_remainder && info.cardinality % largest != 0 ? 1 : 0);
  }
  const std::string name =
      absl::StrCat(buckets ? "bucket(" : "padded_batch(", absl::StrJoin(boundaries, ","), buckets ? "; " : "",
                   absl::StrJoin(sizes, ","), options.drop_remainder ? ", drop remainder" : "", ")");
  return NodePtr(std::make_shared<PaddedBatchNode>(std::move(child), std::move(info), std::move(values),
                                                   std::move(length), std::move(boundaries), std::move(sizes),
                                                   options.drop_remainder, name, location));
}

}  // namespace tandem::data_internal
