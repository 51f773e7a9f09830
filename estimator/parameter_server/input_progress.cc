#include "estimator/parameter_server/input_progress.h"

namespace tandem {

using google::protobuf::RepeatedPtrField;
using parameters::Progress;

InputProgress::Worker& InputProgress::Of(int64_t rank) {
  Worker& worker = known_[rank];
  worker.progress.set_rank(rank);
  return worker;
}

void InputProgress::Assign(const RepeatedPtrField<Progress>& workers) {
  for (const Progress& given : workers) {
    if (given.rank() < 0 || given.rank() >= workers_) continue;
    Worker& worker = Of(given.rank());
    worker.progress.set_position(given.position());
    worker.progress.set_behind(given.behind());
    worker.next_too = false;
  }
}

void InputProgress::Greet(const parameters::Hello& hello) {
  Worker& worker = Of(hello.rank());
  if (worker.progress.process() != hello.process() || worker.training != hello.training()) {
    worker.training = hello.training();
    worker.stepped = worker.at_end = worker.all_at_end = false;
  }
  worker.progress.set_process(hello.process());
  worker.progress.set_updates(hello.updates());
  worker.next_too = false;
}

void InputProgress::Update(int64_t rank, const parameters::Exchange& exchange) {
  Worker& worker = Of(rank);
  worker.progress.set_updates(exchange.update());
  if (exchange.position().empty()) {
    worker.progress.set_behind(worker.progress.behind() + 1);
  } else {
    worker.progress.set_position(exchange.position());
    worker.progress.set_behind(0);
  }
  worker.next_too = exchange.next_too();
  worker.stepped = true;
  worker.at_end = worker.all_at_end = false;
}

void InputProgress::Leave(int64_t rank, const parameters::Leave& leave) {
  Worker& worker = Of(rank);
  worker.at_end = true;
  if (leave.position().empty()) return;
  worker.progress.set_position(leave.position());
  worker.progress.set_behind(0);
}

bool InputProgress::Exact(int64_t rank) const {
  const auto known = known_.find(rank);
  return known == known_.end() || (known->second.progress.behind() == 0 && known->second.next_too);
}

bool InputProgress::Asked(const RepeatedPtrField<Progress>& until, int64_t rank, int64_t update) {
  for (const Progress& asked : until) {
    if (asked.rank() == rank) return update <= asked.updates();
  }
  return false;
}

bool InputProgress::Reached(const Progress& until) const {
  const auto known = known_.find(until.rank());
  return known == known_.end() || known->second.progress.process() != until.process() ||
         known->second.progress.updates() >= until.updates();
}

RepeatedPtrField<Progress> InputProgress::All(bool positions) const {
  RepeatedPtrField<Progress> all;
  for (const auto& [rank, worker] : known_) {
    Progress& progress = *all.Add();
    progress = worker.progress;
    if (!positions) progress.clear_position();
  }
  return all;
}

std::optional<bool> InputProgress::AtEnd(int64_t rank, const std::function<bool(int64_t rank)>& may_come) {
  Worker& mine = Of(rank);
  mine.at_end = true;
  if (mine.all_at_end) return !keep_ends_;
  bool known = true;
  for (int64_t other = 0; other < workers_; ++other) {
    if (other == rank) continue;
    const auto worker = known_.find(other);
    const bool here = worker != known_.end() && worker->second.training >= mine.training;
    if (here && worker->second.stepped) return false;
    if (!(here && worker->second.at_end) && may_come(other)) known = false;
  }
  if (!known) return std::nullopt;
  // Records that this answer was given, until a worker makes a step: a worker that has not received it may ask again.
  for (auto& [other, worker] : known_) worker.all_at_end = worker.at_end;
  return !keep_ends_;
}

}  // namespace tandem
