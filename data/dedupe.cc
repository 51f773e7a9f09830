// Dedupe: keeps the first element of each key. A saved position includes the fingerprints of all keys of the pass so
// far. A token (the name from which an element can be made) is a flag and the child's token; the flag is 1 for the
// element whose key is the first beyond max_keys, otherwise 0.
#include <array>
#include <unordered_set>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "data/cache_settings.h"
#include "data/made_element.h"
#include "data/serial_function.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// A fingerprint has 128 bits. That two of a billion keys have the same one is as improbable as a memory error.
using KeyPrint = std::array<uint64_t, 2>;

KeyPrint PrintOf(absl::string_view key) { return {Fingerprint64(key, 1), Fingerprint64(key, 2)}; }

class DedupeNode : public Node {
 public:
  DedupeNode(NodePtr child, NodeInfo info, Dataset::KeyFn key, DedupeOptions options, SourceLocation location)
      : Node(std::move(info)), child_(std::move(child)), key_(std::move(key)), options_(options), location_(location) {}

  const Node& child() const { return *child_; }
  int64_t max_keys() const { return options_.max_keys; }

  absl::StatusOr<KeyPrint> Key(const int64_t* token, const Element& element) const {
    absl::StatusOr<std::string> key = key_(element);
    if (!key.ok()) return Annotate(key.status(), absl::StrCat("Dedupe, ", Describe(token)), location_);
    return PrintOf(*key);
  }
  absl::Status TooMany(const int64_t* token) const {
    return Annotate(
        absl::ResourceExhaustedError(absl::StrCat(
            "there are more than ", options_.max_keys,
            " keys, which are kept in memory and in every checkpoint; raise max_keys if ", "there is room")),
        absl::StrCat("Dedupe, ", Describe(token)), location_);
  }

  std::unique_ptr<TokenIterator> MakeTokens() const override;
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    if (payload != nullptr) return MadeElement::Get(*payload, out);
    // Only elements that were kept have tokens, so this token's element is the first with its key, or an error, which
    // occurs again here.
    TD_RETURN_IF_ERROR(child_->MaterializeNamed(token + 1, nullptr, out));
    TD_RETURN_IF_ERROR(Key(token, *out).status());
    return token[0] == 0 ? absl::OkStatus() : TooMany(token);
  }
  bool ValidToken(const int64_t* token) const override {
    return (token[0] == 0 || token[0] == 1) && child_->ValidToken(token + 1);
  }
  std::string Describe(const int64_t* token) const override { return child_->Describe(token + 1); }
  std::string DescribeRow(const int64_t* token, int64_t row) const override {
    return child_->DescribeRow(token + 1, row);
  }
  Parallelism parallelism() const override { return child_->parallelism(); }
  std::string Fingerprint() const override { return child_->Fingerprint(); }
  std::string Signature(bool) const override {
    return absl::StrCat(child_->Signature(/*batch_sizes=*/true), " | dedupe");
  }

 private:
  const NodePtr child_;
  const SerialFunction<Dataset::KeyFn> key_;
  const DedupeOptions options_;
  const SourceLocation location_;
};

class DedupeIterator : public TokenIterator {
 public:
  explicit DedupeIterator(const DedupeNode& node) : node_(node), child_(node.child().MakeTokens()) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    for (;;) {
      ThrowIfStopped();
      token[0] = 0;
      PayloadPtr read;
      if (!child_->Next(token + 1, node_.child().info().has_payloads ? &read : nullptr)) return false;
      Element element;
      absl::Status status = node_.child().MaterializeNamed(token + 1, read.get(), &element);
      ThrowIfOutOfMemory(status);
      if (status.ok()) {
        const absl::StatusOr<KeyPrint> key = node_.Key(token, element);
        ThrowIfOutOfMemory(key.status());
        if (key.ok() && seen_.contains(*key)) continue;
        status = key.status();
        if (key.ok() && static_cast<int64_t>(order_.size()) >= node_.max_keys()) {
          token[0] = 1;
          status = node_.TooMany(token);
        } else if (key.ok()) {
          seen_.insert(*key);
          order_.push_back(*key);
        }
      }
      if (payload != nullptr) *payload = std::make_shared<MadeElement>(std::move(element), std::move(status));
      return true;
    }
  }
  void Restart() override {
    child_->Restart();
    seen_.clear();
    order_.clear();
  }
  PassRange passes() const override { return child_->passes(); }
  void Save(StateWriter* writer) const override {
    child_->Save(writer);
    writer->Write(order_.size());
    for (const KeyPrint& key : order_) {
      for (const uint64_t word : key) writer->Write(word);
    }
  }
  bool Restore(StateReader* reader) override {
    int64_t count = 0;
    if (!child_->Restore(reader) || !reader->Read(&count, 0, node_.max_keys()) || count > reader->remaining() / 2) {
      return false;
    }
    seen_.clear();
    order_.assign(count, {});
    for (KeyPrint& key : order_) {
      if (!reader->Read(&key[0]) || !reader->Read(&key[1])) return false;
      seen_.insert(key);
    }
    return true;
  }

 private:
  const DedupeNode& node_;
  const std::unique_ptr<TokenIterator> child_;
  // This is no Abseil hash set, because the destructor of such a set frees memory that it does not own after it failed
  // to grow for lack of memory.
  std::unordered_set<KeyPrint, absl::Hash<KeyPrint>> seen_;
  // The same keys in the order of their elements, so that equal positions are saved as equal bytes.
  std::vector<KeyPrint> order_;
};

std::unique_ptr<TokenIterator> DedupeNode::MakeTokens() const { return std::make_unique<DedupeIterator>(*this); }

}  // namespace

absl::StatusOr<NodePtr> MakeDedupe(NodePtr child, Dataset::KeyFn key, DedupeOptions options, SourceLocation location) {
  if (!key) return absl::InvalidArgumentError("the function is null");
  if (options.max_keys < 1) {
    return absl::InvalidArgumentError(absl::StrCat("max_keys must be at least 1, got ", options.max_keys));
  }
  NodeInfo info = child->info();
  ForgetCardinality(&info);
  ForgetEpoch(&info);
  info.has_payloads = info.costly_order = true;
  ++info.token_width;
  AddCacheSettings(absl::StrCat("dedupe(", options.max_keys, ")"), &info);
  return NodePtr(std::make_shared<DedupeNode>(std::move(child), std::move(info), std::move(key), options, location));
}

}  // namespace tandem::data_internal
