// The stages that a Dataset is made of.
//
// Order and contents are kept apart. A *token* names an element without holding it: the source's row, or the rows of
// a batch. A stage's TokenIterator decides the order, which costs nanoseconds and has little state; Materialize makes
// the element of a token, which is pure and may run in any thread. So a shuffle buffer, and whatever was prefetched,
// is saved as tokens, restoring never replays, and a batch is gathered from the source's rows directly.
//
// Some orders depend on contents: where a record of a file ends, whether a filter keeps an element, which data set
// stands for one. Such a stage looks at the contents while it draws, and its tokens still are places: a file and an
// offset, the child's token, the token of the outer element and one of the inner data set. What it has read or made on
// the way goes with the token as a *payload*, so that the work is not done twice. A payload is never saved: Materialize
// makes the same element without it, from the place. A place where something is broken is a token too, and Materialize
// gives the error: so errors come in order, are those of one element, and are the same after a restore.
#ifndef TANDEM_DATA_NODE_H_
#define TANDEM_DATA_NODE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/source_location.h"
#include "data/element.h"
#include "data/epoch.h"
#include "data/stage_times.h"
#include "data/state_codec.h"

namespace tandem::data_internal {

// What a stage hands over with a token, for its own Materialize. Stages behind it pass it on.
class Payload;
using PayloadPtr = std::shared_ptr<const Payload>;
class Payload {
 public:
  virtual ~Payload() = default;
  // What a buffer of tokens keeps of `self`, which is this payload, where it has `room` for so many bytes more of what
  // could be read again: itself, something smaller that serves as well, or null; then the element is made of its token.
  virtual PayloadPtr ForBuffer(const PayloadPtr& self, int64_t room) const { return self; }
  // Of what could be read again.
  virtual int64_t bytes_in_buffer() const { return 0; }
};

// The payload of a token that is made of others: theirs, in the same order. Some may be null.
class RowPayloads : public Payload {
 public:
  PayloadPtr ForBuffer(const PayloadPtr& self, int64_t room) const override;
  int64_t bytes_in_buffer() const override;

  std::vector<PayloadPtr> rows;
};

// The passes over what the last Repeat repeats that an element has examples of, from the first to the last. Numbers
// that grow; of one iterator they can be compared.
struct PassRange {
  int64_t first = 0, last = 0;
};

// The order of a stage's elements. A token is Node::token_width() numbers. Every call refers to the pass that began
// with construction or the last Restart.
class TokenIterator {
 public:
  virtual ~TokenIterator() = default;

  // Writes the next token, or returns false at the end, and then for every further call. A stage whose tokens have
  // payloads sets *payload (null before the call), unless `payload` is null: then nobody wants one.
  virtual bool Next(int64_t* token, PayloadPtr* payload) = 0;
  // Goes over the next `n` tokens; false at the end. `scratch` has room for a token.
  virtual bool Advance(int64_t n, int64_t* scratch) {
    for (int64_t i = 0; i < n; ++i) {
      if (!Next(scratch, nullptr)) return false;
    }
    return true;
  }
  // Begins the next pass (epoch).
  virtual void Restart() = 0;
  // Of the token that Next has written last. Without a Repeat there is one pass. A stage that reads ahead of what it
  // gives has those of what it has read.
  virtual PassRange passes() const { return {}; }

  virtual void Save(StateWriter* writer) const = 0;
  // False when the state does not make sense; the iterator must then be thrown away.
  virtual bool Restore(StateReader* reader) = 0;
};

// What the stages ask for in threads and elements made ahead; 0 threads: all work is done in GetNext.
struct Parallelism {
  int threads = 0;        // at most
  int fixed_threads = 0;  // of these in use from the start; the others when the consumer has to wait
  int64_t window = 0;
  bool adapt_window = false;
};

// What several stages ask for together.
Parallelism Larger(const Parallelism& a, const Parallelism& b);
// `p` and the threads of a stage with this num_parallel_calls; 1 asks for none.
Parallelism WithCalls(Parallelism p, int num_parallel_calls);
// InvalidArgument for a num_parallel_calls that is negative or too large.
absl::Status CheckParallelCalls(int num_parallel_calls);

// The most numbers of a token: stages of batches refuse larger ones.
constexpr int64_t kMaxTokenWidth = int64_t{1} << 28;

// The facts about a stage's elements.
struct NodeInfo {
  std::vector<ComponentSpec> spec;
  int64_t batch_size = 0;     // 0: not batched
  bool full_batches = false;  // every batch has batch_size rows
  SourceLocation batched_at;  // of the last Batch
  int64_t cardinality = 0;    // or kInfiniteCardinality, kUnknownCardinality
  EpochLength epoch;          // of the last Repeat, or kUnknownCardinality elements; 0 elements: there is none
  bool repeats = false;       // there is a Repeat
  int64_t token_width = 1;
  bool has_payloads = false;   // tokens may have payloads
  bool needs_payload = false;  // an element cannot be made again from its token alone, so no stage may keep tokens
  bool costly_order = false;   // drawing a token reads files or calls functions of users
  int64_t source_bytes = 0;    // of tensors that the sources hold
  int shuffles = 0;            // number of Shuffle stages up to here: tells their random streams apart
  std::string cache_settings;  // of the stages up to here: data/cache_settings.h
  StageList stages;            // from the sources on, with the times of each
  StageList sources;           // of these, the sources; not those that functions of FlatMap and Interleave make
};

// For a stage that drops some elements: where its child has no end, neither has it.
void ForgetCardinality(NodeInfo* info);
// For a stage of whose elements nobody knows how many make an epoch. A Repeat behind it knows its own.
void ForgetEpoch(NodeInfo* info);
// For a stage that makes one element of `n`.
void ShortenEpoch(NodeInfo* info, int64_t n);

// One stage, with the stages before it. Immutable. TokenIterators point into it and must not outlive it.
class Node {
 public:
  explicit Node(NodeInfo info);
  virtual ~Node() = default;

  const NodeInfo& info() const { return info_; }
  // Of the spec's components.
  const ComponentNames& names() const { return names_; }
  int64_t token_width() const { return info_.token_width; }

  virtual std::unique_ptr<TokenIterator> MakeTokens() const = 0;
  // False for a stage that takes its child's order as it is: its MakeTokens are its child's.
  virtual bool makes_order() const { return true; }
  // `payload` is what came with the token, or null.
  virtual absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const = 0;
  // Materialize, for a function of the user, which may ask for components by name.
  absl::Status MaterializeNamed(const int64_t* token, const Payload* payload, Element* out) const {
    absl::Status status = Materialize(token, payload, out);
    out->names = names_;
    return status;
  }
  // Stacks the elements of `count` >= 1 tokens, which lie one after another, along a new dimension 0. `payloads` has
  // one for each token, or is null. An error of the stacking itself names `location`, the Batch's.
  virtual absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr* payloads, int64_t count,
                                       SourceLocation location, Element* out) const;
  // The rows of the batch that a token is, where they are known without making it; else -1.
  virtual int64_t Rows(const int64_t* token) const { return -1; }
  // Whether rows of a batch can be made without the others, and then those from `first` on, `count` >= 1 of them: the
  // batch has as many, and Rows knows it.
  virtual bool makes_ranges() const { return false; }
  virtual absl::Status MaterializeRange(const int64_t* token, const Payload* payload, int64_t first, int64_t count,
                                        Element* out) const {
    return absl::InternalError("rows of a batch are asked for that are made with all others only");
  }
  // False for a token that Next could never give: one from a file may be anything.
  virtual bool ValidToken(const int64_t* token) const = 0;
  virtual Parallelism parallelism() const { return {}; }
  // Which element a token is, for messages: "element 17 of the source".
  virtual std::string Describe(const int64_t* token) const = 0;
  // The same for row `row` of a batch.
  virtual std::string DescribeRow(const int64_t* token, int64_t row) const {
    return absl::StrCat("row ", row, " of ", Describe(token));
  }
  // Everything that a state depends on, from the source on. A position is counted in what goes into a batch, so it
  // depends on the size of a batch only where a later stage counts or keeps whole ones: that stage asks its child for
  // the sizes, the others pass on what they were asked for.
  virtual std::string Signature(bool batch_sizes) const = 0;
  // Dataset::Fingerprint.
  virtual std::string Fingerprint() const = 0;

 private:
  NodeInfo info_;
  ComponentNames names_;
};

// "file.cc:12: Batch: message", with the code and payloads of `status`.
absl::Status Annotate(const absl::Status& status, absl::string_view op, SourceLocation location);

// Throws where memory has run out: of an element that decides on what comes behind it, so that nothing comes behind it.
void ThrowIfOutOfMemory(const absl::Status& status);

// draw(), or the error that it threw for want of memory, or because of *stop.
absl::StatusOr<bool> CatchDrawErrors(absl::FunctionRef<bool()> draw, const std::atomic<bool>* stop = nullptr);
// Throws where *stop of the draw that this thread is in has been set. For loops that may pass elements for ever.
void ThrowIfStopped();

// The token of the first element, and its payload; false where there is none.
absl::StatusOr<bool> FirstToken(const Node& node, std::vector<int64_t>* token, PayloadPtr* payload);

using NodePtr = std::shared_ptr<const Node>;

// A stage that only reorders or selects: its tokens are its child's.
class OrderNode : public Node {
 public:
  OrderNode(NodePtr child, NodeInfo info) : Node(std::move(info)), child_(std::move(child)) {}

  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    return child_->Materialize(token, payload, out);
  }
  absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr* payloads, int64_t count,
                               SourceLocation location, Element* out) const override {
    return child_->MaterializeRows(tokens, payloads, count, location, out);
  }
  int64_t Rows(const int64_t* token) const override { return child_->Rows(token); }
  bool makes_ranges() const override { return child_->makes_ranges(); }
  absl::Status MaterializeRange(const int64_t* token, const Payload* payload, int64_t first, int64_t count,
                                Element* out) const override {
    return child_->MaterializeRange(token, payload, first, count, out);
  }
  bool ValidToken(const int64_t* token) const override { return child_->ValidToken(token); }
  std::string Describe(const int64_t* token) const override { return child_->Describe(token); }
  std::string DescribeRow(const int64_t* token, int64_t row) const override { return child_->DescribeRow(token, row); }
  Parallelism parallelism() const override { return child_->parallelism(); }
  std::string Fingerprint() const override { return child_->Fingerprint(); }

 protected:
  const NodePtr child_;
};

// A stage that makes another element of each, in so many calls at a time: its order and its tokens are its child's.
class ElementNode : public Node {
 public:
  ElementNode(NodePtr child, NodeInfo info, int num_parallel_calls)
      : Node(std::move(info)), child_(std::move(child)), num_parallel_calls_(num_parallel_calls) {}

  std::unique_ptr<TokenIterator> MakeTokens() const override { return child_->MakeTokens(); }
  bool makes_order() const override { return false; }
  int64_t Rows(const int64_t* token) const override { return child_->Rows(token); }
  bool ValidToken(const int64_t* token) const override { return child_->ValidToken(token); }
  std::string Describe(const int64_t* token) const override { return child_->Describe(token); }
  std::string DescribeRow(const int64_t* token, int64_t row) const override { return child_->DescribeRow(token, row); }
  Parallelism parallelism() const override { return WithCalls(child_->parallelism(), num_parallel_calls_); }
  std::string Fingerprint() const override { return child_->Fingerprint(); }

 protected:
  const NodePtr child_;

 private:
  const int num_parallel_calls_;
};

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_NODE_H_
