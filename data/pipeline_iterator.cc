#include "data/pipeline_iterator.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "base/user_code.h"

namespace tandem::data_internal {
namespace {

// The largest window (number of elements made ahead) that AdaptWindow chooses.
constexpr int64_t kMaxAutomaticWindow = 16;
// The largest number of elements that were drawn and not delivered in a saved state that is accepted.
constexpr int64_t kMaxPendingTokens = int64_t{1} << 24;
// If drawing is expensive, the state of the order is recorded every kTokensPerNote tokens. If that state has b bytes,
// at least b / kNoteBytesPerToken tokens lie between two records, so that large states are recorded rarely.
constexpr int64_t kTokensPerNote = 64;
constexpr int64_t kNoteBytesPerToken = 64;
// The consumer must wait for this many elements in a row before another thread is activated.
constexpr int kStarvedElements = 3;

}  // namespace

PipelineIterator::PipelineIterator(NodePtr root)
    : root_(std::move(root)),
      parallelism_(root_->parallelism()),
      tokens_(root_->MakeTokens()),
      followed_(parallelism_.threads > 0 && !root_->info().costly_order ? root_->MakeTokens() : nullptr),
      notes_order_(parallelism_.threads == 0 || root_->info().costly_order),
      active_(parallelism_.threads > 0 ? std::max(1, parallelism_.fixed_threads) : 0),
      window_(std::max<int64_t>(parallelism_.window, active_)),
      times_(&root_->info().stages.back()->pipeline) {}

PipelineIterator::~PipelineIterator() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  activation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void PipelineIterator::AddTimes() {
  const int64_t now = NowNanoseconds();
  if (counted_until_ != 0) {
    const int64_t elapsed = now - counted_until_;
    times_->elapsed += elapsed;
    times_->thread_time += elapsed * std::max(1, active_);
  }
  times_->elements += asked_ - counted_;
  times_->ready += ready_sum_;
  times_->threads = active_;
  times_->window = window_;
  counted_until_ = now;
  counted_ = asked_;
  ready_sum_ = 0;
}

void PipelineIterator::MakeOnly(int64_t period, int64_t first, int64_t count) {
  std::lock_guard<std::mutex> draw(draw_mutex_);
  share_ = {period, first, count};
}

bool PipelineIterator::Draw(Slot* slot) {
  slot->wanted = in_round_ >= share_.first && in_round_ < share_.first + share_.count;
  in_round_ = (in_round_ + 1) % share_.period;
  if (!restored_.empty()) {
    slot->token = std::move(restored_.front());
    slot->is_restored = true;
    // A saved state does not have the passes (epochs) of these elements; this is the best estimate.
    slot->passes = tokens_->passes();
    std::lock_guard<std::mutex> lock(mutex_);  // needed because SaveState reads restored_
    restored_.pop_front();
    return true;
  }
  if (notes_order_ && drawn_ >= next_note_) Note();
  slot->token.resize(root_->token_width());
  const bool takes_payload = root_->info().has_payloads && (slot->wanted || root_->info().needs_payload);
  if (!tokens_->Next(slot->token.data(), takes_payload ? &slot->payload : nullptr)) return false;
  slot->passes = tokens_->passes();
  ++drawn_;
  return true;
}

absl::StatusOr<bool> PipelineIterator::TryToDraw(absl::FunctionRef<bool()> draw) {
  if (draw_failed_) return false;
  absl::StatusOr<bool> drawn = CatchDrawErrors(draw, &stop_);
  draw_failed_ = !drawn.ok();
  return drawn;
}

void PipelineIterator::Note() {
  StateWriter writer;
  tokens_->Save(&writer);
  auto state = std::make_shared<const std::string>(writer.body());
  // The larger the state, the more tokens pass until the next record, so that recording stays cheap.
  next_note_ = drawn_ + std::max<int64_t>(kTokensPerNote, static_cast<int64_t>(state->size()) / kNoteBytesPerToken);
  std::lock_guard<std::mutex> lock(mutex_);
  while (notes_.size() > 1 && notes_[1].drawn <= delivered_) notes_.pop_front();
  notes_.push_back({drawn_, std::move(state)});
}

absl::Status PipelineIterator::GetNext(Element* out, bool* end) {
  if (out == nullptr || end == nullptr) return absl::InvalidArgumentError("Iterator::GetNext: an argument is null");
  *end = false;
  const int64_t weight = SampleWeight(asked_);
  if (weight > 0) AddTimes();
  ++asked_;
  absl::Status status = CatchResourceErrors("the input pipeline", [&] {
    return parallelism_.threads > 0 ? GetNextThreaded(out, end) : GetNextHere(weight, out, end);
  });
  if (*end) --asked_;
  if (*end || weight > 0) AddTimes();
  return status;
}

absl::Status PipelineIterator::GetNextHere(int64_t weight, Element* out, bool* end) {
  const ScopedSample sample(weight);
  const int64_t begin = weight > 0 ? NowNanoseconds() : 0;
  absl::Cleanup count = [&] {
    if (weight > 0) times_->consumer_wait += weight * (NowNanoseconds() - begin);
  };
  Slot slot;
  {
    std::lock_guard<std::mutex> draw(draw_mutex_);
    if (!slots_.empty()) {
      std::lock_guard<std::mutex> lock(mutex_);
      slot = std::move(*slots_.front());
      slots_.pop_front();
    } else {
      TD_RETURN_IF_ERROR(broken_);
      const absl::StatusOr<bool> drawn = TryToDraw([&] { return Draw(&slot); });
      std::lock_guard<std::mutex> lock(mutex_);
      if (!drawn.ok()) return broken_ = drawn.status();
      if (!*drawn) {
        ended_ = *end = true;
        return absl::OkStatus();
      }
    }
    std::lock_guard<std::mutex> lock(mutex_);
    if (slot.is_restored) {
      --restored_left_;
    } else {
      ++delivered_;
    }
  }
  passes_ = slot.passes;
  return Materialize(slot, out);
}

bool PipelineIterator::ends_pass() {
  if (!passes_.has_value()) return false;
  std::optional<PassRange> next;
  if (passes_->last > passes_->first) return true;
  return LookAtNext(&next) && (!next.has_value() || next->first > passes_->last);
}

bool PipelineIterator::LookAtNext(std::optional<PassRange>* next) {
  if (parallelism_.threads == 0) return LookAtNextHere(next);
  std::unique_lock<std::mutex> lock(mutex_);
  const auto is_drawn = [this] { return !broken_.ok() || ended_ || !slots_.empty(); };
  if (!is_drawn()) {
    const int64_t begin = NowNanoseconds();
    looks_at_next_ = true;
    first_ready_.wait(lock, is_drawn);
    looks_at_next_ = false;
    times_->consumer_wait += NowNanoseconds() - begin;
  }
  if (!slots_.empty()) *next = slots_.front()->passes;
  return !slots_.empty() || broken_.ok();
}

bool PipelineIterator::LookAtNextHere(std::optional<PassRange>* next) {
  std::lock_guard<std::mutex> draw(draw_mutex_);
  if (slots_.empty() && !ended_ && broken_.ok()) {
    auto slot = std::make_shared<Slot>();
    const absl::StatusOr<bool> drawn = TryToDraw([&] { return Draw(slot.get()); });
    std::lock_guard<std::mutex> lock(mutex_);
    if (!drawn.ok()) {
      broken_ = drawn.status();
    } else if (*drawn) {
      slots_.push_back(std::move(slot));
    } else {
      ended_ = true;
    }
  }
  if (!slots_.empty()) *next = slots_.front()->passes;
  return !slots_.empty() || broken_.ok();
}

absl::Status PipelineIterator::Materialize(const Slot& slot, Element* out) const {
  const int64_t* token = slot.token.data();
  // If this is not -1, the processes that do not make the element rely on this number of rows. With -1 they must make
  // the element themselves.
  const int64_t rows = share_.count < share_.period ? root_->Rows(token) : -1;
  if (!slot.wanted && rows >= 0) {
    *out = {{}, rows};
    return absl::OkStatus();
  }
  out->rows_elsewhere = -1;
  // Errors of user functions are handled where they are called. What CallUserCode catches here is mostly a lack of
  // memory.
  TD_RETURN_IF_ERROR(CallUserCode([&] { return root_->MaterializeNamed(token, slot.payload.get(), out); }));
  if (rows < 0 || out->rows() == rows) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      root_->Describe(token), ": a Map changes its ", rows, " examples, which the workers that share the input count ",
      "on, to ", out->rows(), "; set MapOptions.changes_rows, or choose examples with Filter in front of Batch"));
}

absl::Status PipelineIterator::GetNextThreaded(Element* out, bool* end) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (workers_.empty()) {
    TD_ASSIGN_OR_RETURN(workers_,
                        StartThreads("the input pipeline", parallelism_.threads, [this](int index) { Work(index); }));
  }
  auto first_is_ready = [this] { return !broken_.ok() || (slots_.empty() ? ended_ : slots_.front()->ready); };
  const bool waits = !first_is_ready();
  AdaptWindow(waits);
  AdaptThreads(waits);
  ready_sum_ += ready_slots_;
  if (waits) {
    const int64_t begin = NowNanoseconds();
    first_ready_.wait(lock, first_is_ready);
    times_->consumer_wait += NowNanoseconds() - begin;
  }
  TD_RETURN_IF_ERROR(broken_);
  if (slots_.empty()) {
    *end = true;
    return absl::OkStatus();
  }
  std::shared_ptr<Slot> slot = std::move(slots_.front());
  slots_.pop_front();
  --ready_slots_;
  if (slot->is_restored) {
    --restored_left_;
  } else {
    ++behind_;
    ++delivered_;
  }
  passes_ = slot->passes;
  lock.unlock();
  work_.notify_one();
  if (slot->status.ok()) *out = std::move(slot->element);
  return slot->status;
}

void PipelineIterator::AdaptWindow(bool consumer_waits) {
  if (!parallelism_.adapt_window) return;
  bool full = static_cast<int64_t>(slots_.size()) >= window_ && !slots_.empty() && slots_.back()->ready;
  was_full_ |= full;
  if (consumer_waits && was_full_ && window_ < kMaxAutomaticWindow) {
    window_ = std::min(2 * window_, kMaxAutomaticWindow);
    was_full_ = false;
    work_.notify_all();
  }
}

void PipelineIterator::AdaptThreads(bool consumer_waits) {
  starved_ = consumer_waits ? starved_ + 1 : 0;
  if (starved_ < kStarvedElements || active_ >= parallelism_.threads) return;
  starved_ = 0;
  ++active_;
  window_ = std::max<int64_t>(window_, active_);
  activation_.notify_all();
}

void PipelineIterator::Work(int index) {
  try {
    MakeElements(index);
  } catch (...) {
    // The exception does not belong to an element, so it ends the iterator.
    absl::Status status = StatusOfException("the input pipeline");
    std::lock_guard<std::mutex> lock(mutex_);
    broken_ = std::move(status);
    worker_lost_ = true;
    first_ready_.notify_all();
  }
}

void PipelineIterator::WaitForRoom(int index, std::unique_lock<std::mutex>* lock) {
  activation_.wait(*lock, [&] { return stop_ || index < active_; });
  const auto may_draw = [this] {
    return stop_ || (!ended_ && static_cast<int64_t>(slots_.size()) + drawing_ < window_);
  };
  if (may_draw()) return;
  const int64_t begin = ended_ ? 0 : NowNanoseconds();
  work_.wait(*lock, may_draw);
  if (begin != 0) times_->room_wait += NowNanoseconds() - begin;
}

void PipelineIterator::MakeElements(int index) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    WaitForRoom(index, &lock);
    if (stop_) return;
    Follow();  // a worker advances the iterator followed_ here, so that the consumer need not do it
    ++drawing_;
    lock.unlock();
    auto slot = std::make_shared<Slot>();
    int64_t weight = 0;
    {
      std::unique_lock<std::mutex> draw(draw_mutex_, std::try_to_lock);
      if (!draw.owns_lock()) {
        const int64_t begin = NowNanoseconds();
        draw.lock();
        times_->turn_wait += NowNanoseconds() - begin;
      }
      weight = SampleWeight(drawn_);
      const ScopedSample sample(weight);
      const absl::StatusOr<bool> drawn = TryToDraw([&] {
        if (!Draw(slot.get())) return false;
        lock.lock();
        slots_.push_back(slot);  // while draw_mutex_ is held, so that slots are in the order of the draws
        if (looks_at_next_) first_ready_.notify_all();
        return true;
      });
      if (!lock.owns_lock()) lock.lock();
      --drawing_;
      if (!drawn.ok()) broken_ = drawn.status();
      if (!drawn.value_or(false)) {
        ended_ = true;
        first_ready_.notify_all();
        continue;
      }
    }
    lock.unlock();
    {
      const ScopedSample sample(weight);
      slot->status = Materialize(*slot, &slot->element);
    }
    slot->payload = nullptr;
    lock.lock();
    slot->ready = true;
    if (!slot->dropped) ++ready_slots_;
    first_ready_.notify_all();
  }
}

bool PipelineIterator::Peek(int64_t ahead, Element* out) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (out == nullptr || ahead < 0 || ahead >= static_cast<int64_t>(slots_.size())) return false;
  const Slot& slot = *slots_[ahead];
  if (!slot.ready || !slot.status.ok()) return false;
  *out = slot.element;
  return true;
}

void PipelineIterator::Follow() {
  scratch_.resize(root_->token_width());
  if (followed_ == nullptr) return;
  for (; behind_ > 0; --behind_) followed_->Next(scratch_.data(), nullptr);
}

PipelineIterator::OrderNote PipelineIterator::LastNote() const {
  OrderNote last;
  for (const OrderNote& note : notes_) {
    if (note.drawn <= delivered_) last = note;
  }
  return last;
}

absl::Status PipelineIterator::SaveFromNote(const OrderNote& note, int64_t delivered, StateWriter* writer) const {
  std::unique_ptr<TokenIterator> tokens = root_->MakeTokens();
  if (note.state != nullptr) {
    StateReader reader = StateReader::OfBody(*note.state);
    if (!tokens->Restore(&reader)) return reader.Damaged();
  }
  Token scratch(root_->token_width());
  const auto redraw = [&] {
    for (int64_t i = note.drawn; i < delivered; ++i) tokens->Next(scratch.data(), nullptr);
    return true;
  };
  TD_RETURN_IF_ERROR(CatchDrawErrors(redraw).status());
  tokens->Save(writer);
  return absl::OkStatus();
}

absl::StatusOr<std::string> PipelineIterator::SaveState() {
  StateWriter writer;
  std::unique_lock<std::mutex> draw(draw_mutex_, std::defer_lock);
  std::unique_lock<std::mutex> lock(mutex_);
  // draw_mutex_ must be held if tokens_ is saved below, and if a thread may be moving a token from restored_ to slots_.
  if (parallelism_.threads == 0 || restored_left_ > 0) {
    lock.unlock();
    draw.lock();
    lock.lock();
  }
  const bool drawn_batches = restored_left_ > 0;
  if (drawn_batches) {
    std::vector<const Token*> left;
    for (const std::shared_ptr<Slot>& slot : slots_) {
      if (slot->is_restored) left.push_back(&slot->token);
    }
    for (const Token& token : restored_) left.push_back(&token);
    writer.Write(left.size());
    for (const Token* token : left) {
      for (int64_t v : *token) writer.Write(v);
    }
  }
  // Without threads, tokens_ is exactly behind the last delivered element, unless a draw has found the end, has failed,
  // or has drawn the next element early (LookAtNext).
  if (notes_order_ && (parallelism_.threads > 0 || ended_ || !broken_.ok() || !slots_.empty())) {
    const OrderNote note = LastNote();
    const int64_t delivered = delivered_;
    lock.unlock();
    if (draw.owns_lock()) draw.unlock();
    TD_RETURN_IF_ERROR(SaveFromNote(note, delivered, &writer));
  } else {
    Follow();
    (followed_ ? followed_ : tokens_)->Save(&writer);
  }
  return writer.Finish(drawn_batches ? StateVersion::kDrawnBatches : StateVersion::kDelivered,
                       root_->Signature(/*batch_sizes=*/drawn_batches));
}

absl::StatusOr<std::deque<PipelineIterator::Token>> PipelineIterator::ReadDrawn(StateReader* reader) const {
  const int64_t width = root_->token_width();
  int64_t count = 0;
  if (!reader->Read(&count, 0, kMaxPendingTokens) || count > reader->remaining() / width) return reader->Damaged();
  std::deque<Token> drawn(count);
  for (Token& token : drawn) {
    token.resize(width);
    for (int64_t& v : token) {
      if (!reader->Read(&v, 0, INT64_MAX)) return reader->Damaged();
    }
    if (!root_->ValidToken(token.data())) return reader->Damaged();
  }
  return drawn;
}

absl::Status PipelineIterator::RestoreState(absl::string_view state) {
  TD_ASSIGN_OR_RETURN(StateReader reader, StateReader::Open(state));
  const bool drawn_batches = reader.version() == StateVersion::kDrawnBatches;
  TD_RETURN_IF_ERROR(reader.CheckSignature(root_->Signature(/*batch_sizes=*/drawn_batches)));
  std::deque<Token> drawn;
  if (drawn_batches) {
    TD_ASSIGN_OR_RETURN(drawn, ReadDrawn(&reader));
  }
  StateReader again = reader;
  std::unique_ptr<TokenIterator> tokens = root_->MakeTokens();
  if (!tokens->Restore(&reader) || reader.remaining() != 0) return reader.Damaged();
  std::unique_ptr<TokenIterator> followed = followed_ ? root_->MakeTokens() : nullptr;
  if (followed && !followed->Restore(&again)) return again.Damaged();
  std::unique_lock<std::mutex> draw(draw_mutex_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    notes_.clear();
    drawn_ = next_note_ = delivered_ = 0;
    for (const std::shared_ptr<Slot>& slot : slots_) slot->dropped = true;
    slots_.clear();
    passes_.reset();
    ready_slots_ = 0;
    restored_left_ = static_cast<int64_t>(drawn.size());
    restored_ = std::move(drawn);
    tokens_ = std::move(tokens);
    followed_ = std::move(followed);
    behind_ = 0;
    ended_ = false;
    if (std::exchange(draw_failed_, false) && !worker_lost_) broken_ = absl::OkStatus();
    in_round_ = 0;
  }
  if (notes_order_) Note();
  draw.unlock();
  work_.notify_all();
  return absl::OkStatus();
}

// Reads the CPU clocks of the threads, so that the threads themselves need not measure anything.
double PipelineIterator::ThreadCpuSeconds() const {
  std::lock_guard<std::mutex> lock(mutex_);
  double seconds = 0;
  for (const std::thread& worker : workers_) {
    clockid_t clock;
    timespec used;
    // Worker threads live as long as the iterator, so the handle is valid.
    if (pthread_getcpuclockid(const_cast<std::thread&>(worker).native_handle(), &clock) != 0) continue;
    if (clock_gettime(clock, &used) == 0) seconds += static_cast<double>(used.tv_sec) + 1e-9 * used.tv_nsec;
  }
  return seconds;
}

}  // namespace tandem::data_internal
