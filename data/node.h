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

// Data that a stage hands over with a token for its own Materialize. Later stages pass it on.
class Payload;
using PayloadPtr = std::shared_ptr<const Payload>;
class Payload {
 public:
  virtual ~Payload() = default;
  // Returns what a buffer of tokens should keep of `self`, which is this payload, if the buffer has `room` more bytes
  // for data that could be read again: itself, a smaller replacement, or null; with null the element is made from its
  // token.
  virtual PayloadPtr ForBuffer(const PayloadPtr& self, int64_t room) const { return self; }
  // Bytes that this payload takes in a buffer of data that could be read again.
  virtual int64_t bytes_in_buffer() const { return 0; }
};

// The payload of a token that is made of others: theirs, in the same order. Some may be null.
class RowPayloads : public Payload {
 public:
  PayloadPtr ForBuffer(const PayloadPtr& self, int64_t room) const override;
  int64_t bytes_in_buffer() const override;

  std::vector<PayloadPtr> rows;
};

// The first and the last pass (over the dataset that the last Repeat repeats) that an element has examples of. The
// numbers grow with the passes and can be compared within one iterator.
struct PassRange {
  int64_t first = 0, last = 0;
};

// The order of a stage's elements. A token is Node::token_width() numbers. Every call refers to the pass that
// construction or the last Restart began.
class TokenIterator {
 public:
  virtual ~TokenIterator() = default;

  // Writes the next token, or returns false at the end, and again in every later call. A stage whose tokens have
  // payloads sets *payload, which is null before the call; `payload` is null if the caller wants none.
  virtual bool Next(int64_t* token, PayloadPtr* payload) = 0;
  // Skips the next `n` tokens; false at the end. `scratch` has room for a token.
  virtual bool Advance(int64_t n, int64_t* scratch) {
    for (int64_t i = 0; i < n; ++i) {
      if (!Next(scratch, nullptr)) return false;
    }
    return true;
  }
  // Begins the next pass (epoch).
  virtual void Restart() = 0;
  // The passes of the last token that Next has written. There is one pass without a Repeat. A stage that reads ahead
  // returns the passes of what it has read.
  virtual PassRange passes() const { return {}; }

  virtual void Save(StateWriter* writer) const = 0;
  // False when the state does not make sense; the iterator must then be thrown away.
  virtual bool Restore(StateReader* reader) = 0;
};

// Threads and elements made ahead that the stages ask for. With 0 threads, GetNext does all work.
struct Parallelism {
  int threads = 0;        // the most threads
  int fixed_threads = 0;  // threads in use from the start; the others start when the consumer has to wait
  int64_t window = 0;
  bool adapt_window = false;
};

// Combines what two stages ask for.
Parallelism Larger(const Parallelism& a, const Parallelism& b);
// Adds to `p` the threads of a stage with this num_parallel_calls; 1 asks for none.
Parallelism WithCalls(Parallelism p, int num_parallel_calls);
// InvalidArgument for a num_parallel_calls that is negative or too large.
absl::Status CheckParallelCalls(int num_parallel_calls);

// The most numbers in a token: stages that make batches refuse larger ones.
constexpr int64_t kMaxTokenWidth = int64_t{1} << 28;

// The facts about a stage's elements.
struct NodeInfo {
  std::vector<ComponentSpec> spec;
  int64_t batch_size = 0;     // 0: not batched
  bool full_batches = false;  // every batch has batch_size rows
  SourceLocation batched_at;  // the call of the last Batch
  int64_t cardinality = 0;    // or kInfiniteCardinality, kUnknownCardinality
  EpochLength epoch;          // with the last Repeat, or kUnknownCardinality elements; 0 elements: there is none
  bool repeats = false;       // there is a Repeat
  int64_t token_width = 1;
  bool has_payloads = false;   // tokens may have payloads
  bool needs_payload = false;  // an element cannot be made again from its token alone, so no stage may keep tokens
  bool costly_order = false;   // drawing a token reads files or calls functions of users
  int64_t source_bytes = 0;    // bytes of the tensors that the sources hold
  int shuffles = 0;            // number of Shuffle stages up to here: tells their random streams apart
  std::string cache_settings;  // settings of the stages up to here: data/cache_settings.h
  StageList stages;            // from the sources to this stage, with the times of each
  StageList sources;           // the sources among them; not those that functions of FlatMap and Interleave make
};

// For a stage that drops some elements: makes a finite cardinality unknown; an infinite one stays infinite.
void ForgetCardinality(NodeInfo* info);
// For a stage whose number of elements per epoch is unknown. A Repeat after it takes it from the cardinality.
void ForgetEpoch(NodeInfo* info);
// For a stage that makes one element of every `n`.
void ShortenEpoch(NodeInfo* info, int64_t n);

// One stage, with the stages before it. Immutable. TokenIterators point into it and must not outlive it.
class Node {
 public:
  explicit Node(NodeInfo info);
  virtual ~Node() = default;

  const NodeInfo& info() const { return info_; }
  // Names of the components in the spec.
  const ComponentNames& names() const { return names_; }
  int64_t token_width() const { return info_.token_width; }

  virtual std::unique_ptr<TokenIterator> MakeTokens() const = 0;
  // False for a stage that keeps its child's order: its MakeTokens are its child's.
  virtual bool makes_order() const { return true; }
  // Makes the element of a token. `payload` came with the token, or is null.
  virtual absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const = 0;
  // As Materialize, and names the components, because a user's function may ask for them by name.
  absl::Status MaterializeNamed(const int64_t* token, const Payload* payload, Element* out) const {
    absl::Status status = Materialize(token, payload, out);
    out->names = names_;
    return status;
  }
  // Stacks the elements of `count` >= 1 adjacent tokens along a new dimension 0. `payloads` has one for each token, or
  // is null. An error of the stacking itself names `location`, the place of the Batch.
  virtual absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr* payloads, int64_t count,
                                       SourceLocation location, Element* out) const;
  // The number of rows of a token's batch if it is known without making the batch; -1 otherwise.
  virtual int64_t Rows(const int64_t* token) const { return -1; }
  // True if rows of a batch can be made without the others: MaterializeRange then makes `count` >= 1 rows from `first`
  // on. They must be within the batch, whose number of rows Rows must know.
  virtual bool makes_ranges() const { return false; }
  virtual absl::Status MaterializeRange(const int64_t* token, const Payload* payload, int64_t first, int64_t count,
                                        Element* out) const {
    return absl::InternalError("rows of a batch are asked for that are made with all others only");
  }
  // False for a token that Next could never write: a token from a file may be anything.
  virtual bool ValidToken(const int64_t* token) const = 0;
  virtual Parallelism parallelism() const { return {}; }
  // Describes the element of a token for messages: "element 17 of the source".
  virtual std::string Describe(const int64_t* token) const = 0;
  // The same for row `row` of a batch.
  virtual std::string DescribeRow(const int64_t* token, int64_t row) const {
    return absl::StrCat("row ", row, " of ", Describe(token));
  }
  // Everything that a state depends on, from the source to this stage. Positions count the elements that go into
  // batches, so they depend on the batch size only where a later stage counts or keeps whole batches: that stage calls
  // its child with `batch_sizes` true, the others pass on their own argument.
  virtual std::string Signature(bool batch_sizes) const = 0;
  // See Dataset::Fingerprint.
  virtual std::string Fingerprint() const = 0;

 private:
  NodeInfo info_;
  ComponentNames names_;
};

// "file.cc:12: Batch: message", with the code and payloads of `status`.
absl::Status Annotate(const absl::Status& status, absl::string_view op, SourceLocation location);

// Throws if `status` says that memory ran out. For elements that decide which elements follow: nothing can follow then.
void ThrowIfOutOfMemory(const absl::Status& status);

// Returns draw(), or the error if it threw because memory ran out or *stop was set.
absl::StatusOr<bool> CatchDrawErrors(absl::FunctionRef<bool()> draw, const std::atomic<bool>* stop = nullptr);
// Throws if *stop of this thread's current CatchDrawErrors is set. For loops that may skip elements for ever.
void ThrowIfStopped();

// Draws the first token and its payload; false if there is none.
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

// A stage that makes one new element of each, in up to `num_parallel_calls` calls at a time; keeps its child's order
// and tokens.
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
