// The iterator of every dataset. It draws tokens (the names of elements) in order, makes their elements in the calling
// thread or in threads of its own, and returns them in order.
#ifndef TANDEM_DATA_PIPELINE_ITERATOR_H_
#define TANDEM_DATA_PIPELINE_ITERATOR_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "data/dataset.h"
#include "data/node.h"

namespace tandem::data_internal {

// A saved state describes the order after the last delivered element, however far ahead the threads are. So a position
// has exactly one state, which contains no batches and is valid for any batch size. With threads, SaveState obtains the
// state in one of two ways. If drawing is cheap, a second token iterator follows the consumer. If drawing reads files
// or calls functions, the state of the order is recorded now and then (a note), and SaveState draws again from the last
// note before the consumer's position. Without threads, the token iterator itself is at the consumer's position, with
// three exceptions: at the end, after a failed draw (which may have skipped elements, such as those of a batch that is
// not full), and when the next element was drawn early. Then SaveState draws again from a note too.
class PipelineIterator : public Iterator {
 public:
  explicit PipelineIterator(NodePtr root);
  ~PipelineIterator() override;

  absl::Status GetNext(Element* out, bool* end) override;
  bool Peek(int64_t ahead, Element* out) override;
  bool ends_pass() override;
  void MakeOnly(int64_t period, int64_t first, int64_t count) override;
  absl::StatusOr<std::string> SaveState() override;
  absl::Status RestoreState(absl::string_view state) override;
  double ThreadCpuSeconds() const override;

 private:
  using Token = std::vector<int64_t>;

  // An element that was drawn and not delivered yet. Its token is set before other threads see the slot; one worker
  // writes the rest before it sets `ready`.
  struct Slot {
    Token token;
    PayloadPtr payload;
    PassRange passes;
    bool is_restored = false;  // true if the token comes from restored_
    bool wanted = true;        // true if this process makes the element (MakeOnly)
    Element element;
    absl::Status status;
    bool ready = false;  // true once the element was made; guarded by mutex_
    // True if RestoreState has discarded the slot while a worker made its element; guarded by mutex_.
    bool dropped = false;
  };

  // A record of the state of the order after `drawn` tokens.
  struct OrderNote {
    int64_t drawn = 0;
    std::shared_ptr<const std::string> state;  // null for the state of the beginning
  };

  // Takes the next token from restored_ or tokens_; returns false at the end. The caller holds draw_mutex_.
  bool Draw(Slot* slot);
  // Draws the element after the last delivered one and stores its passes; stores nothing at the end. Returns false if
  // drawing fails.
  bool LookAtNext(std::optional<PassRange>* next);
  bool LookAtNextHere(std::optional<PassRange>* next);
  // Returns the result of draw(), or an error if it throws. After an error all calls return false, because the element
  // that was being drawn is lost and so no other may follow. The caller holds draw_mutex_.
  absl::StatusOr<bool> TryToDraw(absl::FunctionRef<bool()> draw);
  // Records the state of tokens_ as a note, and computes when the next note is due. The caller holds draw_mutex_.
  void Note();
  // Body of worker thread `index`: draws tokens while there is room in the window, and makes their elements.
  void Work(int index);
  absl::Status Materialize(const Slot& slot, Element* out) const;
  // Returns the last note that is not after the consumer's position. The caller holds mutex_.
  OrderNote LastNote() const;
  // Writes the state after `delivered` tokens, starting from a note that is not after that position. Needs no mutex.
  absl::Status SaveFromNote(const OrderNote& note, int64_t delivered, StateWriter* writer) const;
  void MakeElements(int index);
  // Waits until worker `index` may draw or must stop; measures the waiting time.
  void WaitForRoom(int index, std::unique_lock<std::mutex>* lock);
  absl::Status GetNextHere(int64_t weight, Element* out, bool* end);
  absl::Status GetNextThreaded(Element* out, bool* end);
  // Widens the window (the number of elements made ahead) when the consumer finds no element ready although the window
  // had once been full: then the producer is fast enough on average, but uneven. The caller holds mutex_.
  void AdaptWindow(bool consumer_waits);
  // Activates one more worker when the consumer has waited several times in a row. The caller holds mutex_.
  void AdaptThreads(bool consumer_waits);
  // Adds to times_ the elements and nanoseconds since the last call, and sets its numbers of threads and of elements
  // made ahead. Only the thread that calls GetNext may call it.
  void AddTimes();
  // Advances followed_ to the consumer's position. The caller holds mutex_.
  void Follow();
  // Reads the elements that were drawn but not delivered, with which a state of version 1 begins.
  absl::StatusOr<std::deque<Token>> ReadDrawn(StateReader* reader) const;

  // Which elements of each round this process makes (MakeOnly).
  struct Share {
    int64_t period = 1, first = 0, count = 1;
  };

  const NodePtr root_;
  const Parallelism parallelism_;

  std::mutex draw_mutex_;  // held while drawing, which may take long; locked before mutex_
  mutable std::mutex mutex_;
  std::condition_variable work_;           // signals that an active worker may draw, or must stop
  std::condition_variable activation_;     // signals that active_ has grown, or workers must stop
  std::condition_variable first_ready_;    // signals that the first slot is ready, or the end is known
  std::unique_ptr<TokenIterator> tokens_;  // guarded by draw_mutex_
  // A second iterator at the consumer's position. It exists only with threads and if drawing is cheap.
  std::unique_ptr<TokenIterator> followed_;
  int64_t behind_ = 0;           // number of delivered elements that followed_ has yet to pass
  Token scratch_;                // scratch memory for followed_->Advance
  const bool notes_order_;       // true without threads, or if drawing is expensive
  std::deque<OrderNote> notes_;  // records of the order's state; the first is not after the consumer's position
  bool draw_failed_ = false;     // a draw has thrown; guarded by draw_mutex_
  Share share_;                  // set before the first draw
  int64_t in_round_ = 0;         // number of the next draw among share_.period draws; guarded by draw_mutex_
  // Numbers of tokens since the start or RestoreState: those drawn, and those after which the next note is due. Guarded
  // by draw_mutex_.
  int64_t drawn_ = 0, next_note_ = 0;
  int64_t delivered_ = 0;  // how many of the drawn_ tokens were delivered
  int64_t drawing_ = 0;    // number of workers that draw a token or wait to do so
  // Tokens that a restored state of version 1 contains: drawn before it was saved, and delivered first.
  std::deque<Token> restored_;
  int64_t restored_left_ = 0;  // number of elements of restored_ that were not delivered yet
  int64_t ready_slots_ = 0;    // number of ready elements in slots_
  // Elements that were drawn but not delivered. A worker may hold a reference to a slot that RestoreState has dropped.
  // Without threads there is at most one slot, which LookAtNext has drawn and whose element is not made yet.
  std::deque<std::shared_ptr<Slot>> slots_;
  bool ended_ = false;              // tokens_ is at its end
  std::atomic<bool> stop_ = false;  // set while mutex_ is held
  // The error of a draw (until RestoreState), or of a worker outside of any element. No elements follow.
  absl::Status broken_;
  bool worker_lost_ = false;  // true if a worker failed with broken_, which RestoreState does not repair
  bool was_full_ = false;
  int active_;  // workers with numbers below this one are active
  int64_t window_;
  std::vector<std::thread> workers_;  // started by the first GetNext
  int starved_ = 0;                   // number of consecutive elements for which the consumer waited
  bool looks_at_next_ = false;        // the consumer waits in LookAtNext for the next draw

  // Passes (epochs) of the last element delivered since the start or RestoreState. Only the thread that calls GetNext
  // uses it.
  std::optional<PassRange> passes_;

  // Counters that only the thread that calls GetNext uses; they are added to times_ now and then.
  PipelineTimes* const times_;  // owned by a stage of the pipeline root_
  int64_t asked_ = 0;           // number of calls of GetNext
  int64_t counted_ = 0;         // number of these calls that were added to times_
  int64_t counted_until_ = 0;   // time of the last addition to times_; 0 before the first
  // For each call of GetNext since the last addition, the number of elements that were ready; the sum of these numbers.
  int64_t ready_sum_ = 0;
};

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_PIPELINE_ITERATOR_H_
