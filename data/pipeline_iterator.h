// The iterator of every dataset: draws tokens in order, makes their elements here or in threads, returns them in order.
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
// has exactly one state, which holds no batches and fits any batch size. With threads, SaveState gets it in one of two
// ways: if drawing costs little, a second token iterator follows the consumer; if drawing reads files or calls
// functions, the state of the order is noted now and then, and SaveState draws again from the last note before the
// consumer's position. Without threads the order is in the right place, except at the end and after a failed draw
// (which may have skipped elements, such as those of a batch that is not full) and when the next element was looked at:
// then SaveState draws again from a note too.
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

  // An element on its way. Its token is set before it is shared; the rest is written by one worker before `ready`.
  struct Slot {
    Token token;
    PayloadPtr payload;
    PassRange passes;
    bool is_restored = false;  // came from restored_
    bool wanted = true;        // this process makes the element (MakeOnly)
    Element element;
    absl::Status status;
    bool ready = false;    // the element was made; guarded by mutex_
    bool dropped = false;  // by RestoreState, which no longer wants it; guarded by mutex_
  };

  // The state of the order after `drawn` tokens.
  struct OrderNote {
    int64_t drawn = 0;
    std::shared_ptr<const std::string> state;  // null: the state of the beginning
  };

  // The next token, from restored_ or tokens_; false at the end. Needs draw_mutex_.
  bool Draw(Slot* slot);
  // Draws the element after the last delivered one and stores its passes; stores nothing at the end. False if drawing
  // fails.
  bool LookAtNext(std::optional<PassRange>* next);
  bool LookAtNextHere(std::optional<PassRange>* next);
  // Returns the result of draw(), or an error if it throws; false from then on: the element that it drew is lost, so no
  // other may follow. Needs draw_mutex_.
  absl::StatusOr<bool> TryToDraw(absl::FunctionRef<bool()> draw);
  // Saves a note of the state of tokens_, if it is time for one. Needs draw_mutex_.
  void Note();
  // Body of worker thread `index`: draws tokens while there is room in the window, and makes their elements.
  void Work(int index);
  absl::Status Materialize(const Slot& slot, Element* out) const;
  // The last note that is not after the consumer's position. Needs mutex_.
  OrderNote LastNote() const;
  // Writes the state after `delivered` tokens, starting from a note that is not after that place. Needs no mutex.
  absl::Status SaveFromNote(const OrderNote& note, int64_t delivered, StateWriter* writer) const;
  void MakeElements(int index);
  // Waits until worker `index` may draw or must stop; measures the waiting time.
  void WaitForRoom(int index, std::unique_lock<std::mutex>* lock);
  absl::Status GetNextHere(int64_t weight, Element* out, bool* end);
  absl::Status GetNextThreaded(Element* out, bool* end);
  // Widens the window when the consumer finds a queue empty that had once been full: then the producer is fast enough
  // on average, but uneven. Needs mutex_.
  void AdaptWindow(bool consumer_waits);
  // Activates one more worker when the consumer has waited several times in a row. Needs mutex_.
  void AdaptThreads(bool consumer_waits);
  // Adds to times_ what has happened since the last call. For the thread that calls GetNext.
  void AddTimes();
  // Advances followed_ to the consumer's position. Needs mutex_.
  void Follow();
  // Reads the drawn elements at the start of a state of version 1.
  absl::StatusOr<std::deque<Token>> ReadDrawn(StateReader* reader) const;

  // The elements of each round that this process makes (MakeOnly).
  struct Share {
    int64_t period = 1, first = 0, count = 1;
  };

  const NodePtr root_;
  const Parallelism parallelism_;

  std::mutex draw_mutex_;  // for drawing, which may take long; taken before mutex_
  mutable std::mutex mutex_;
  std::condition_variable work_;           // an active worker may draw, or must stop
  std::condition_variable activation_;     // active_ has grown, or workers must stop
  std::condition_variable first_ready_;    // the first slot is ready, or the end is known
  std::unique_ptr<TokenIterator> tokens_;  // guarded by draw_mutex_
  // at the consumer's position; only with threads and if drawing costs little
  std::unique_ptr<TokenIterator> followed_;
  int64_t behind_ = 0;                 // delivered elements that followed_ has not passed
  Token scratch_;                      // for followed_->Advance
  const bool notes_order_;             // without threads, or with a costly order
  std::deque<OrderNote> notes_;        // the first is not after the consumer's position
  bool draw_failed_ = false;           // guarded by draw_mutex_
  Share share_;                        // set before the first draw
  int64_t in_round_ = 0;               // place of the next draw in its round; guarded by draw_mutex_
  int64_t drawn_ = 0, next_note_ = 0;  // tokens, since the start or RestoreState; guarded by draw_mutex_
  int64_t delivered_ = 0;              // tokens among drawn_
  int64_t drawing_ = 0;                // workers that draw a token or wait to do so
  std::deque<Token> restored_;         // elements of a state of version 1, drawn before it was saved; delivered first
  int64_t restored_left_ = 0;          // elements of restored_ that are not delivered
  int64_t ready_slots_ = 0;            // in slots_
  // Elements drawn but not delivered; a worker may still hold one that RestoreState dropped. Without threads there is
  // at most one, drawn by LookAtNext and not made.
  std::deque<std::shared_ptr<Slot>> slots_;
  bool ended_ = false;              // tokens_ is at its end
  std::atomic<bool> stop_ = false;  // set with mutex_
  absl::Status broken_;  // error of a draw (until RestoreState) or of a worker outside any element: no more elements
  bool worker_lost_ = false;  // broken_ comes from a worker: RestoreState does not help
  bool was_full_ = false;
  int active_;  // workers that take part: those with lower numbers
  int64_t window_;
  std::vector<std::thread> workers_;  // started by the first GetNext
  int starved_ = 0;                   // elements in a row for which the consumer waited
  bool looks_at_next_ = false;        // the consumer waits for the next draw

  // Passes of the last element delivered since the start or RestoreState; for the thread that calls GetNext.
  std::optional<PassRange> passes_;

  // For the thread that calls GetNext; added to times_ now and then.
  PipelineTimes* const times_;  // belongs to root_
  int64_t asked_ = 0;           // calls of GetNext
  int64_t counted_ = 0;         // calls that are in times_
  int64_t counted_until_ = 0;   // time of the last addition; 0: none yet
  int64_t ready_sum_ = 0;       // sum of the elements that were ready at each call since the last addition
};

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_PIPELINE_ITERATOR_H_
