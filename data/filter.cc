// Filter, TakeWhile and IgnoreErrors: the stages that make each element in order to decide whether to keep it. Their
// tokens, from which elements can be made, are their child's. The made element is passed on as the token's payload, so
// that it is not made twice.
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/out_of_memory.h"
#include "base/status_macros.h"
#include "data/cache_settings.h"
#include "data/made_element.h"
#include "data/serial_function.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

enum class Verdict { kKeep, kDrop, kEnd };

class DecidingNode : public OrderNode {
 public:
  DecidingNode(NodePtr child, NodeInfo info) : OrderNode(std::move(child), std::move(info)) {}

  // Decides whether to keep or drop the element, or to end, given the element and the status of making it. `dropped` is
  // the number of elements that the iterator has dropped in this pass. May replace *status.
  virtual Verdict Decide(const int64_t* token, const Element& element, int64_t dropped, absl::Status* status) const = 0;

  std::unique_ptr<TokenIterator> MakeTokens() const override;
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    if (payload != nullptr) return MadeElement::Get(*payload, out);
    // Only elements that were kept have tokens, so Decide comes to the same verdict or finds the same error again,
    // unless memory ran out the first time.
    absl::Status status = child_->MaterializeNamed(token, nullptr, out);
    if (Decide(token, *out, /*dropped=*/INT64_MAX, &status) == Verdict::kKeep) return status;
    return OutOfMemoryError(
        absl::StrCat(Describe(token),
                     ": memory was short when it was to be decided on, and it does not belong to the dataset; read "
                     "the dataset from its beginning"));
  }
  absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr* payloads, int64_t count,
                               SourceLocation location, Element* out) const override {
    return Node::MaterializeRows(tokens, payloads, count, location, out);
  }
  bool makes_ranges() const override { return false; }
  Parallelism parallelism() const override { return child_->parallelism(); }
  const Node& child() const { return *child_; }
};

class DecidingIterator : public TokenIterator {
 public:
  explicit DecidingIterator(const DecidingNode& node) : node_(node), child_(node.child().MakeTokens()) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    while (!ended_) {
      ThrowIfStopped();
      PayloadPtr read;
      if (!child_->Next(token, node_.child().info().has_payloads ? &read : nullptr)) return false;
      Element element;
      absl::Status status = node_.child().MaterializeNamed(token, read.get(), &element);
      switch (node_.Decide(token, element, dropped_, &status)) {
        case Verdict::kKeep:
          if (payload != nullptr) *payload = std::make_shared<MadeElement>(std::move(element), std::move(status));
          return true;
        case Verdict::kDrop:
          ++dropped_;
          break;
        case Verdict::kEnd:
          ended_ = true;
          break;
      }
    }
    return false;
  }
  void Restart() override {
    child_->Restart();
    dropped_ = 0;
    ended_ = false;
  }
  PassRange passes() const override { return child_->passes(); }
  void Save(StateWriter* writer) const override {
    child_->Save(writer);
    writer->Write(dropped_);
    writer->Write(ended_);
  }
  bool Restore(StateReader* reader) override {
    return child_->Restore(reader) && reader->Read(&dropped_, 0, INT64_MAX) && reader->Read(&ended_);
  }

 private:
  const DecidingNode& node_;
  const std::unique_ptr<TokenIterator> child_;
  int64_t dropped_ = 0;  // elements dropped in this pass
  bool ended_ = false;
};

std::unique_ptr<TokenIterator> DecidingNode::MakeTokens() const { return std::make_unique<DecidingIterator>(*this); }

// The stage that both Filter and TakeWhile make.
class PredicateNode : public DecidingNode {
 public:
  PredicateNode(NodePtr child, NodeInfo info, Dataset::PredicateFn predicate, Verdict otherwise, const char* op,
                const char* name, SourceLocation location)
      : DecidingNode(std::move(child), std::move(info)),
        predicate_(std::move(predicate)),
        otherwise_(otherwise),
        op_(op),
        name_(name),
        location_(location) {}

  Verdict Decide(const int64_t* token, const Element& element, int64_t, absl::Status* status) const override {
    if (!status->ok()) return Verdict::kKeep;
    absl::StatusOr<bool> result = predicate_(element);
    if (!result.ok()) {
      *status = Annotate(result.status(), absl::StrCat(op_, ", ", Describe(token)), location_);
      return Verdict::kKeep;
    }
    return *result ? Verdict::kKeep : otherwise_;
  }
  std::string Signature(bool) const override {
    return absl::StrCat(child().Signature(/*batch_sizes=*/true), " | ", name_);
  }

 private:
  const SerialFunction<Dataset::PredicateFn> predicate_;
  const Verdict otherwise_;
  const char *const op_, *const name_;
  const SourceLocation location_;
};

class IgnoreErrorsNode : public DecidingNode {
 public:
  IgnoreErrorsNode(NodePtr child, NodeInfo info, int64_t max, SourceLocation location)
      : DecidingNode(std::move(child), std::move(info)), max_(max), location_(location) {}

  Verdict Decide(const int64_t* token, const Element&, int64_t dropped, absl::Status* status) const override {
    // A lack of memory does not mean that the element is broken, so its error is not ignored.
    if (status->ok() || IsOutOfMemory(*status)) return Verdict::kKeep;
    if (dropped >= max_) {
      *status = Annotate(
          absl::Status(status->code(),
                       absl::StrCat("more than ", max_, " elements are broken; the next: ", status->message())),
          "IgnoreErrors", location_);
      return Verdict::kKeep;
    }
    // The n-th ignored element of a pass is logged only once for all iterators and epochs.
    int64_t logged = logged_.load();
    while (logged <= dropped && !logged_.compare_exchange_weak(logged, dropped + 1)) {
    }
    if (logged <= dropped) {
      TD_LOG(WARNING) << location_.file << ":" << location_.line << ": IgnoreErrors: ignored element " << dropped + 1
                      << " of at most " << max_ << ", " << Describe(token) << ": " << status->message();
    }
    return Verdict::kDrop;
  }
  std::string Signature(bool) const override {
    return absl::StrCat(child().Signature(/*batch_sizes=*/true), " | ignore_errors");
  }

 private:
  const int64_t max_;
  const SourceLocation location_;
  mutable std::atomic<int64_t> logged_{0};
};

NodeInfo InfoOfRest(const NodePtr& child) {
  NodeInfo info = child->info();
  ForgetCardinality(&info);
  ForgetEpoch(&info);
  info.has_payloads = info.costly_order = true;
  return info;
}

}  // namespace

absl::StatusOr<NodePtr> MakeFilter(NodePtr child, Dataset::PredicateFn predicate, SourceLocation location) {
  if (!predicate) return absl::InvalidArgumentError("the predicate is null");
  NodeInfo info = InfoOfRest(child);
  return NodePtr(std::make_shared<PredicateNode>(std::move(child), std::move(info), std::move(predicate),
                                                 Verdict::kDrop, "Filter", "filter", location));
}

absl::StatusOr<NodePtr> MakeTakeWhile(NodePtr child, Dataset::PredicateFn predicate, SourceLocation location) {
  if (!predicate) return absl::InvalidArgumentError("the predicate is null");
  NodeInfo info = InfoOfRest(child);
  if (info.cardinality == kInfiniteCardinality) info.cardinality = kUnknownCardinality;
  return NodePtr(std::make_shared<PredicateNode>(std::move(child), std::move(info), std::move(predicate), Verdict::kEnd,
                                                 "TakeWhile", "take_while", location));
}

absl::StatusOr<NodePtr> MakeIgnoreErrors(NodePtr child, IgnoreErrorsOptions options, SourceLocation location) {
  if (options.max < 0) {
    return absl::InvalidArgumentError(absl::StrCat("the number of errors must be >= 0, got ", options.max));
  }
  NodeInfo info = InfoOfRest(child);
  AddCacheSettings(absl::StrCat("ignore_errors(", options.max, ")"), &info);
  return NodePtr(std::make_shared<IgnoreErrorsNode>(std::move(child), std::move(info), options.max, location));
}

}  // namespace tandem::data_internal
