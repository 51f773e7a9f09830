// Window: stacks consecutive elements; windows may overlap. The token of a window, from which it can be made, is the
// number of its rows, the rows' tokens, and zeros up to the full size.
#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

class WindowNode;

class WindowIterator : public TokenIterator {
 public:
  explicit WindowIterator(const WindowNode& node);

  bool Next(int64_t* token, PayloadPtr* payload) override;
  void Restart() override {
    child_->Restart();
    rows_.clear();
    skip_ = 0;
    child_ended_ = restored_ = false;
  }
  PassRange passes() const override { return child_->passes(); }
  void Save(StateWriter* writer) const override;
  bool Restore(StateReader* reader) override;

 private:
  struct Row {
    std::vector<int64_t> token;
    PayloadPtr payload;
  };
  const WindowNode& node_;
  const std::unique_ptr<TokenIterator> child_;
  std::deque<Row> rows_;  // drawn elements that the next windows need
  int64_t skip_ = 0;      // elements in the gap before the next window that are still to be skipped
  bool child_ended_ = false;
  // The state was just restored: the child may now have more epochs, so its end is checked again.
  bool restored_ = false;
};

class WindowNode : public Node {
 public:
  WindowNode(NodePtr child, NodeInfo info, DatasetWindowOptions options, SourceLocation location)
      : Node(std::move(info)), child_(std::move(child)), options_(options), location_(location) {}

  const Node& child() const { return *child_; }
  const DatasetWindowOptions& options() const { return options_; }

  std::unique_ptr<TokenIterator> MakeTokens() const override { return std::make_unique<WindowIterator>(*this); }
  bool ValidToken(const int64_t* token) const override {
    if (token[0] < 1 || token[0] > options_.size) return false;
    for (int64_t i = 0; i < token[0]; ++i) {
      if (!child_->ValidToken(token + 1 + i * child_->token_width())) return false;
    }
    return true;
  }
  std::string Describe(const int64_t* token) const override {
    return absl::StrCat("the window of ", token[0], " that begins with ", child_->Describe(token + 1));
  }
  std::string DescribeRow(const int64_t* token, int64_t row) const override {
    return child_->Describe(token + 1 + row * child_->token_width());
  }
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    const PayloadPtr* rows = payload == nullptr ? nullptr : static_cast<const RowPayloads*>(payload)->rows.data();
    return child_->MaterializeRows(token + 1, rows, token[0], location_, out);
  }
  Parallelism parallelism() const override { return child_->parallelism(); }
  std::string Fingerprint() const override { return child_->Fingerprint(); }
  std::string Signature(bool) const override {
    return absl::StrCat(child_->Signature(/*batch_sizes=*/true), " | window(", options_.size,
                        ", shift=", options_.shift, ", stride=", options_.stride,
                        options_.drop_remainder ? ", drop remainder)" : ")");
  }

 private:
  const NodePtr child_;
  const DatasetWindowOptions options_;
  const SourceLocation location_;
};

WindowIterator::WindowIterator(const WindowNode& node) : node_(node), child_(node.child().MakeTokens()) {}

bool WindowIterator::Next(int64_t* token, PayloadPtr* payload) {
  const DatasetWindowOptions& o = node_.options();
  const int64_t width = node_.child().token_width(), span = (o.size - 1) * o.stride + 1;
  if (std::exchange(restored_, false)) child_ended_ = false;
  while (!child_ended_ && static_cast<int64_t>(rows_.size()) < span) {
    Row row;
    row.token.resize(width);
    if (!child_->Next(row.token.data(), node_.info().has_payloads ? &row.payload : nullptr)) {
      child_ended_ = true;
    } else if (skip_ > 0) {
      --skip_;
    } else {
      rows_.push_back(std::move(row));
    }
  }
  const int64_t there = static_cast<int64_t>(rows_.size());
  if (there == 0 || (o.drop_remainder && there < span)) return false;
  auto payloads = payload != nullptr && node_.info().has_payloads ? std::make_shared<RowPayloads>() : nullptr;
  int64_t count = 0;
  for (int64_t i = 0; i < there && count < o.size; i += o.stride, ++count) {
    std::copy(rows_[i].token.begin(), rows_[i].token.end(), token + 1 + count * width);
    if (payloads != nullptr) payloads->rows.push_back(rows_[i].payload);
  }
  token[0] = count;
  std::fill(token + 1 + count * width, token + node_.token_width(), 0);
  if (payloads != nullptr) *payload = std::move(payloads);
  const int64_t passed = std::min(o.shift, there);
  rows_.erase(rows_.begin(), rows_.begin() + passed);
  skip_ = o.shift - passed;
  return true;
}

void WindowIterator::Save(StateWriter* writer) const {
  child_->Save(writer);
  writer->Write(child_ended_);
  writer->Write(skip_);
  writer->Write(rows_.size());
  for (const Row& row : rows_) {
    for (int64_t v : row.token) writer->Write(v);
  }
}

bool WindowIterator::Restore(StateReader* reader) {
  const DatasetWindowOptions& o = node_.options();
  const int64_t width = node_.child().token_width();
  int64_t rows = 0;
  rows_.clear();
  if (!child_->Restore(reader) || !reader->Read(&child_ended_) || !reader->Read(&skip_, 0, o.shift) ||
      !reader->Read(&rows, 0, (o.size - 1) * o.stride + 1) || rows > reader->remaining() / width) {
    return false;
  }
  for (; rows > 0; --rows) {
    Row& row = rows_.emplace_back();
    row.token.resize(width);
    for (int64_t& v : row.token) {
      if (!reader->Read(&v, 0, INT64_MAX)) return false;
    }
    if (!node_.child().ValidToken(row.token.data())) return false;
  }
  restored_ = true;
  return true;
}

}  // namespace

absl::StatusOr<NodePtr> MakeWindow(NodePtr child, DatasetWindowOptions options, SourceLocation location) {
  TD_RETURN_IF_ERROR(CheckKeepsTokens(*child));
  if (options.shift == 0) options.shift = options.size;
  NodeInfo info = child->info();
  const int64_t most = kMaxTokenWidth / info.token_width;
  for (auto [what, value] : {std::pair("size", options.size), {"shift", options.shift}, {"stride", options.stride}}) {
    if (value < 1 || value > most) {
      return absl::InvalidArgumentError(absl::StrCat("the ", what, " must be between 1 and ", most, ", got ", value));
    }
  }
  if ((options.size - 1) > most / options.stride) {
    return absl::InvalidArgumentError(absl::StrCat("a window of ", options.size, " elements with a stride of ",
                                                   options.stride, " is too long; ", most, " is the limit"));
  }
  if (info.batch_size > 0) return absl::InvalidArgumentError("the elements are batches; make windows before Batch");
  const int64_t rows = options.drop_remainder ? options.size : -1;
  for (ComponentSpec& component : info.spec) component.shape.insert(component.shape.begin(), rows);
  info.token_width = 1 + options.size * info.token_width;
  ForgetEpoch(&info);
  if (info.cardinality > 0) {
    const int64_t span = (options.size - 1) * options.stride + 1, n = info.cardinality;
    if (options.drop_remainder) {
      info.cardinality = n < span ? 0 : (n - span) / options.shift + 1;
    } else {
      info.cardinality = (n - 1) / options.shift + 1;
    }
  }
  return NodePtr(std::make_shared<WindowNode>(std::move(child), std::move(info), options, location));
}

}  // namespace tandem::data_internal
