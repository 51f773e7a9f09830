#include "runtime/cpu/block_updates.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/target_clones.h"
#include "runtime/block_kernel.h"
#include "runtime/step_trace.h"

namespace tandem {
namespace {

// Below the largest float32 by more than rounding can add to a sum.
constexpr double kLargestSum = 1e38;
constexpr int64_t kScanElements = 32768;
// Elements of a gradient that are computed before they are applied: what the first-level cache holds beside the rest.
constexpr int64_t kStripElements = 8192;

bool Overlap(const fb::BufferT& a, const fb::BufferT& b) {
  return a.space == b.space && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

// The gradient of one Blocks launch, and who else touches it.
class Candidate {
 public:
  Candidate(const fb::ProgramT& program, size_t section, size_t step)
      : program_(program), section_(section), step_(step), steps_(program.sections[section]->steps) {}

  std::optional<BlockUpdate> Find(absl::Span<const Operand> outputs) {
    const uint32_t gradient = steps_[step_]->outputs[0];
    const fb::BufferT& b = Buffer(gradient);
    if (b.space != fb::Space::Step || b.dtype != fb::DType::Float32 || b.shape.size() != 2) return std::nullopt;
    for (const Operand& o : outputs) {
      if (o.space == fb::Space::Step && o.offset < b.offset + b.bytes && b.offset < o.offset + o.bytes()) {
        return std::nullopt;
      }
    }
    BlockUpdate u;
    u.gradient = step_;
    u.rows = b.shape[0];
    u.columns = b.shape[1];
    for (size_t i = step_ + 1; i < steps_.size(); ++i) {
      const fb::StepT& s = *steps_[i];
      // The operands are read later than they were.
      for (uint32_t out : s.outputs) {
        if (u.update == 0 && Buffer(out).space == fb::Space::Batch) return std::nullopt;
      }
      const int64_t uses = std::count(s.inputs.begin(), s.inputs.end(), gradient);
      if (uses == 0) {
        if (Reads(s, b)) return std::nullopt;  // under another name
      } else if (uses != 1) {
        return std::nullopt;
      } else if (s.body.type == fb::StepBody::CheckFinite && u.check == 0) {
        u.check = i;
        u.checked = static_cast<int>(std::find(s.inputs.begin(), s.inputs.end(), gradient) - s.inputs.begin());
      } else if (s.body.type == fb::StepBody::GroupedLaunch && u.check != 0 && u.update == 0) {
        if (!FindMember(*s.body.AsGroupedLaunch(), gradient, u)) return std::nullopt;
        u.update = i;
      } else {
        return std::nullopt;
      }
    }
    for (size_t later = section_ + 1; later < program_.sections.size(); ++later) {
      for (const auto& s : program_.sections[later]->steps) {
        if (Reads(*s, b)) return std::nullopt;
      }
    }
    return u.update == 0 ? std::nullopt : std::optional(u);
  }

 private:
  const fb::BufferT& Buffer(uint32_t i) const { return *program_.buffers[i]; }

  bool Reads(const fb::StepT& s, const fb::BufferT& b) const {
    return std::any_of(s.inputs.begin(), s.inputs.end(), [&](uint32_t in) { return Overlap(Buffer(in), b); });
  }

  static bool FindMember(const fb::GroupedLaunchT& group, uint32_t gradient, BlockUpdate& u) {
    auto at = std::find(group.args.begin(), group.args.end(), gradient);
    if (at == group.args.end() || std::find(at + 1, group.args.end(), gradient) != group.args.end()) return false;
    u.member = static_cast<int>((at - group.args.begin()) / group.num_args);
    u.argument = static_cast<int>((at - group.args.begin()) % group.num_args);
    return group.counts[u.member] == static_cast<uint64_t>(u.rows * u.columns);
  }

  const fb::ProgramT& program_;
  const size_t section_, step_;
  const std::vector<std::unique_ptr<fb::StepT>>& steps_;
};

std::vector<Operand> FetchedBy(const PlannedStep& update, const BlockUpdate& u) {
  std::vector<Operand> fetched;
  for (int i = 0; i < update.num_args; ++i) {
    const Operand& o = update.group_args[static_cast<size_t>(u.member) * update.num_args + i];
    const bool like_gradient = o.dtype == DType::kFloat32 && o.elements == u.rows * u.columns;
    if (i != u.argument && like_gradient && fetched.size() < kFetchedMatrices) fetched.push_back(o);
  }
  return fetched;
}

// The largest magnitude as bits: beyond 0x7f800000 for a NaN.
TD_CLONES uint32_t LargestBits(const uint32_t* bits, int64_t n) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, bits[i] & 0x7fffffffu);
  return largest;
}

ShardContext FirstDevice(const StepState& state) {
  ShardContext context;
  context.device = &state.devices[0];
  context.constants = state.constants;
  return context;
}

void* Before(void* p, int64_t bytes) { return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(p) - bytes); }

// Rows [begin, end) of one gradient, which fit the thread's scratch memory.
void RunStrip(const StepState& state, const PlannedSection& section, const BlockUpdate& u, int64_t begin, int64_t end,
              int thread) {
  const PlannedStep &gradient = section.steps[u.gradient], &update = section.steps[u.update];
  ShardContext context = FirstDevice(state);
  // The kernels count from the start of the whole gradient.
  void* whole = Before(state.threads[thread].library.data(), begin * u.columns * sizeof(float));
  absl::InlinedVector<void*, 8> args;
  for (const Operand& o : gradient.inputs) args.push_back(context.Address(o));
  args.push_back(whole);
  for (const Operand& o : u.fetched) args.push_back(context.Address(o));
  args.resize(gradient.inputs.size() + 1 + kFetchedMatrices, whole);
  gradient.function(args.data(), begin, end, context.device->rows);
  args.clear();
  const Operand* operands = &update.group_args[static_cast<size_t>(u.member) * update.num_args];
  for (int i = 0; i < update.num_args; ++i) args.push_back(i == u.argument ? whole : context.Address(operands[i]));
  update.function(args.data(), begin * u.columns, end * u.columns, 0);
}

void RunBlock(const StepState& state, const PlannedSection& section, const BlockUpdate& u, int64_t begin, int64_t end,
              int thread) {
  for (int64_t row = begin; row < end; row += u.strip_rows) {
    RunStrip(state, section, u, row, std::min(row + u.strip_rows, end), thread);
  }
}

// Everything of the step but the pieces of item `item`.
void Leave(PlannedStep& step, int item) {
  if (!step.others) step.others = step.work;
  std::vector<Piece>& pieces = step.others->pieces;
  pieces.erase(std::remove_if(pieces.begin(), pieces.end(), [&](const Piece& p) { return p.item == item; }),
               pieces.end());
}

}  // namespace

void PlanBlockUpdates(const fb::ProgramT& program, absl::Span<const Operand> outputs, size_t index,
                      PlannedSection& section, uint64_t* scratch_bytes) {
  for (size_t i = 0; i < section.steps.size(); ++i) {
    const PlannedStep& step = section.steps[i];
    if (step.kind != fb::StepBody::KernelLaunch || step.domain != fb::Domain::Blocks) continue;
    std::optional<BlockUpdate> update = Candidate(program, index, i).Find(outputs);
    if (!update) continue;
    update->block_rows = step.work.pieces[0].end - step.work.pieces[0].begin;
    update->strip_rows = std::max<int64_t>(8, kStripElements / update->columns / 8 * 8);  // whole register tiles
    update->fetched = FetchedBy(section.steps[update->update], *update);
    *scratch_bytes = std::max(*scratch_bytes, sizeof(float) * update->strip_rows * update->columns);
    Leave(section.steps[update->check], update->checked);
    Leave(section.steps[update->update], update->member);
    section.block_updates.push_back(*update);
  }
}

bool GradientsAreBounded(const StepState& state, const PlannedSection& section, ThreadPool& pool) {
  const int64_t rows = state.devices[0].rows;
  struct Scan {
    Operand operand;
    std::atomic<uint32_t> largest{0};
  };
  std::vector<std::unique_ptr<Scan>> scans;
  std::vector<std::pair<size_t, int64_t>> tasks;  // scan, first element
  auto scan_of = [&](const Operand& o) {
    for (size_t i = 0; i < scans.size(); ++i) {
      if (scans[i]->operand.space == o.space && scans[i]->operand.offset == o.offset) return i;
    }
    scans.push_back(std::make_unique<Scan>());
    scans.back()->operand = o;
    for (int64_t at = 0; at < rows * o.elements; at += kScanElements) tasks.push_back({scans.size() - 1, at});
    return scans.size() - 1;
  };
  std::vector<std::pair<size_t, size_t>> products;
  for (const BlockUpdate& u : section.block_updates) {
    const PlannedStep& gradient = section.steps[u.gradient];
    products.push_back({scan_of(gradient.inputs[0]), scan_of(gradient.inputs[1])});
  }
  pool.ParallelFor(static_cast<int64_t>(tasks.size()), [&](int64_t i, int) {
    Scan& scan = *scans[tasks[i].first];
    const auto* bits = reinterpret_cast<const uint32_t*>(FirstDevice(state).Address(scan.operand));
    const int64_t begin = tasks[i].second, end = std::min(begin + kScanElements, rows * scan.operand.elements);
    const uint32_t mine = LargestBits(bits + begin, end - begin);
    uint32_t largest = scan.largest.load(std::memory_order_relaxed);
    while (mine > largest && !scan.largest.compare_exchange_weak(largest, mine, std::memory_order_relaxed)) {
    }
  });
  for (size_t i = 0; i < products.size(); ++i) {
    const BlockUpdate& u = section.block_updates[i];
    double bound = static_cast<double>(rows * scans[products[i].first]->operand.elements) / static_cast<double>(u.rows);
    for (size_t scan : {products[i].first, products[i].second}) {
      const uint32_t bits = scans[scan]->largest;
      float value;
      std::memcpy(&value, &bits, sizeof value);
      bound *= value;
    }
    if (!(bound < kLargestSum)) return false;  // a NaN is in no order
  }
  return true;
}

void RunBlockUpdates(const StepState& state, const PlannedSection& section, size_t update, ThreadPool& pool) {
  auto run = [&](absl::Span<const BlockUpdate* const> updates) {
    std::vector<std::pair<const BlockUpdate*, int64_t>> tasks;
    const int64_t start = state.threads[0].records != nullptr ? TraceNow() : 0;
    for (const BlockUpdate* u : updates) {
      for (int64_t row = 0; row < u->rows; row += u->block_rows) tasks.push_back({u, row});
    }
    pool.ParallelFor(static_cast<int64_t>(tasks.size()), [&](int64_t i, int thread) {
      auto [u, row] = tasks[i];
      std::vector<StepRecord>* records = state.threads[thread].records;
      const int64_t begin = records != nullptr ? TraceNow() : 0;
      RunBlock(state, section, *u, row, std::min(row + u->block_rows, u->rows), thread);
      if (records == nullptr) return;
      // Neighbouring blocks of one gradient are one record.
      const int id = section.steps[u->gradient].id;
      if (!records->empty() && records->back().id == id && records->back().begin >= start) {
        records->back().end = TraceNow();
      } else {
        records->push_back({id, 0, -1, 0, begin, TraceNow()});
      }
    });
  };
  std::vector<const BlockUpdate*> mine;
  for (const BlockUpdate& u : section.block_updates) {
    if (u.update == update) mine.push_back(&u);
  }
  std::vector<TimeCount>& times = state.threads[0].times;
  if (times.empty() || state.threads[0].records != nullptr) return run(mine);
  for (const BlockUpdate* u : mine) {  // a clock around each
    const auto begin = std::chrono::steady_clock::now();
    run({u});
    TimeCount& count = times[section.steps[u->gradient].id];
    count.nanoseconds += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    ++count.calls;
  }
}

}  // namespace tandem
