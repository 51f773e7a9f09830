// The iterator of every dataset: draws tokens in order, materialises them here or in threads, delivers in order.
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

// A state is that of the order behind the last element that was delivered, however far the threads are. So one position
// has one state, and the state holds no batches and fits whatever their size. With threads, there are two ways to it:
// where drawing costs little, a second token iterator follows the consumer; where it reads files or calls functions,
// the state of the order is noted now and then, and SaveState draws again from the last note before the consumer.
// Without threads it does so at the end alone, after a draw that failed (these may have passed elements, such as those
// of a batch that is not full), and where the next element was looked at.
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
    bool is_restored = false;  // of restored_
    bool wanted = true;        // by this process
    Element element;
    absl::Status status;
    bool ready = false;    // guarded by mutex_
    bool dropped = false;  // by RestoreState; guarded by mutex_
  };

  // The state of the order behind `drawn` tokens.
  struct OrderNote {
    int64_t drawn = 0;
    std::shared_ptr<const std::string> state;  // null: that of the beginning
  };

  // The next token, from restored_ or tokens_; false at the end. Needs draw_mutex_.
  bool Draw(Slot* slot);
  // The passes of the element behind the last one that was delivered, which is drawn for it; nothing at the end. False
  // where drawing fails.
  bool LookAtNext(std::optional<PassRange>* next);
  bool LookAtNextHere(std::optional<PassRange>* next);
  // draw(); false once that has thrown: what it had drawn is lost, so nothing may follow it. Needs draw_mutex_.
  absl::StatusOr<bool> TryToDraw(absl::FunctionRef<bool()> draw);
  // Notes the state of tokens_, if it is time. Needs draw_mutex_.
  void Note();
  // Worker number `index`: draws tokens while there is room in the window, and makes their elements.
  void Work(int index);
  absl::Status Materialize(const Slot& slot, Element* out) const;
  // The last note that is not behind the consumer. Needs mutex_.
  OrderNote LastNote() const;
  // Writes the state behind `delivered` tokens, from a note that is not behind them. Needs no mutex.
  absl::Status SaveFromNote(const OrderNote& note, int64_t delivered, StateWriter* writer) const;
  void MakeElements(int index);
  // Waits until worker `index` may draw, or must stop; counts the time.
  void WaitForRoom(int index, std::unique_lock<std::mutex>* lock);
  absl::Status GetNextHere(int64_t weight, Element* out, bool* end);
  absl::Status GetNextThreaded(Element* out, bool* end);
  // Widens the window when the consumer finds an empty queue that had once been full: the producer is fast enough on
  // average, but uneven. Needs mutex_.
  void AdaptWindow(bool consumer_waits);
  // Lets one more worker take part when the consumer waits, time after time. Needs mutex_.
  void AdaptThreads(bool consumer_waits);
  // Adds to times_ what has happened since the last call. Of the thread that calls GetNext.
  void AddTimes();
  // Takes followed_ to the consumer's position. Needs mutex_.
  void Follow();
  // Reads the elements that a state of version 1 begins with.
  absl::StatusOr<std::deque<Token>> ReadDrawn(StateReader* reader) const;

  // Which elements of a round are made (MakeOnly).
  struct Share {
    int64_t period = 1, first = 0, count = 1;
  };

  const NodePtr root_;
  const Parallelism parallelism_;

  std::mutex draw_mutex_;  // of the order, which may take long; taken before mutex_
  mutable std::mutex mutex_;
  std::condition_variable work_;             // an active worker may draw, or must stop
  std::condition_variable activation_;       // active_ has grown, or workers must stop
  std::condition_variable first_ready_;      // the first slot is ready, or the end is known
  std::unique_ptr<TokenIterator> tokens_;    // guarded by draw_mutex_
  std::unique_ptr<TokenIterator> followed_;  // behind tokens_, with threads and an order that costs little only
  int64_t behind_ = 0;                       // elements that were delivered and followed_ has not passed
  Token scratch_;                            // what followed_ passes
  const bool notes_order_;                   // without threads, or with a costly order
  std::deque<OrderNote> notes_;              // the first is not behind the consumer
  bool draw_failed_ = false;                 // guarded by draw_mutex_
  Share share_;                              // set before the first draw
  int64_t in_round_ = 0;                     // of the next draw; guarded by draw_mutex_
  int64_t drawn_ = 0, next_note_ = 0;        // tokens, since the start or RestoreState; guarded by draw_mutex_
  int64_t delivered_ = 0;                    // of these
  int64_t drawing_ = 0;                      // workers that draw a token or wait to do so
  std::deque<Token> restored_;               // drawn before a state of version 1 was saved, to be delivered first
  int64_t restored_left_ = 0;                // of these, not delivered
  int64_t ready_slots_ = 0;                  // of slots_
  // Drawn, not delivered; a worker may hold one that RestoreState dropped. Without threads at most one, which is not
  // made: that LookAtNext has drawn.
  std::deque<std::shared_ptr<Slot>> slots_;
  bool ended_ = false;              // tokens_ has no more
  std::atomic<bool> stop_ = false;  // set with mutex_
  absl::Status broken_;       // of a draw, until RestoreState, or of a worker outside of any element: no more is given
  bool worker_lost_ = false;  // the latter, for which RestoreState does not help
  bool was_full_ = false;
  int active_;  // workers that take part: the first so many
  int64_t window_;
  std::vector<std::thread> workers_;  // started by the first GetNext
  int starved_ = 0;                   // elements in a row for which the consumer waited
  bool looks_at_next_ = false;        // the consumer waits for the next draw

  // Of the last element that was delivered since the start or RestoreState; of the thread that calls GetNext.
  std::optional<PassRange> passes_;

  // Of the thread that calls GetNext; added to times_ now and then.
  PipelineTimes* const times_;  // of root_
  int64_t asked_ = 0;           // calls of GetNext
  int64_t counted_ = 0;         // of these, in times_
  int64_t counted_until_ = 0;   // when; 0: not yet
  int64_t ready_sum_ = 0;       // elements that were ready at the calls since
};

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_PIPELINE_ITERATOR_H_
