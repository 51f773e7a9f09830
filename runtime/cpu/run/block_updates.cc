#include "runtime/cpu/run/block_updates.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/target_clones.h"
#include "runtime/commands/block_kernel.h"
#include "runtime/session/command_trace.h"

namespace tandem {
namespace {

// The largest bound on sums that is accepted: below the largest float32 by more than rounding can add to a sum.
constexpr double kLargestSum = 1e38;
constexpr int64_t kScanElements = 32768;
// Elements of a gradient that are computed before the update is applied to them. The first-level cache has room for
// them beside the other operands.
constexpr int64_t kStripElements = 8192;

// Returns the largest magnitude of the numbers as the bits of a float32; it is above 0x7f800000 if one of them is a
// NaN.
TD_CLONES uint32_t LargestBits(const uint32_t* bits, int64_t n) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, bits[i] & 0x7fffffffu);
  return largest;
}

// Does the same as LargestBits for bfloat16 numbers, which are the upper halves of a float32's bits.
TD_CLONES uint32_t LargestBitsOfBFloat16(const uint16_t* bits, int64_t n) {
  uint16_t largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max<uint16_t>(largest, bits[i] & 0x7fffu);
  return uint32_t{largest} << 16;
}

MicrobatchContext FirstDevice(const StepState& state) {
  MicrobatchContext context;
  context.device = &state.devices[0];
  context.constants = state.constants;
  return context;
}

void* Before(void* p, int64_t bytes) { return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(p) - bytes); }

// Computes and applies rows [begin, end) of one gradient, which fit the thread's scratch memory.
void RunStrip(const StepState& state, const BlockUpdate& u, int64_t begin, int64_t end, int thread) {
  MicrobatchContext context = FirstDevice(state);
  // The kernels address rows from the start of the whole gradient, of which only these rows are in memory. So they get
  // the address at which the gradient would start.
  void* whole = Before(state.threads[thread].library.data(), begin * u.columns * sizeof(float));
  absl::InlinedVector<void*, 8> args;
  for (const Operand& o : u.gradient->inputs()) args.push_back(context.Address(o));
  args.push_back(whole);
  for (const Operand& o : u.fetched) args.push_back(context.Address(o));
  args.resize(u.gradient->inputs().size() + 1 + kFetchedMatrices, whole);
  u.gradient->function()(args.data(), begin, end, context.device->rows);
  args.clear();
  const absl::Span<const Operand> operands = u.update->arguments(static_cast<int>(u.commands->member));
  for (size_t i = 0; i < operands.size(); ++i) {
    args.push_back(i == u.commands->argument ? whole : context.Address(operands[i]));
  }
  u.update->function()(args.data(), begin * u.columns, end * u.columns, 0);
}

void RunBlock(const StepState& state, const BlockUpdate& u, int64_t begin, int64_t end, int thread) {
  for (int64_t row = begin; row < end; row += u.strip_rows) {
    RunStrip(state, u, row, std::min(row + u.strip_rows, end), thread);
  }
}

// Sets the command's `others` to all of its pieces except those of item `item`.
void LeaveOut(CpuCommand& command, int item) {
  if (!command.others) command.others = command.work;
  std::vector<Piece>& pieces = command.others->pieces;
  pieces.erase(std::remove_if(pieces.begin(), pieces.end(), [&](const Piece& p) { return p.item == item; }),
               pieces.end());
  command.others->MakeTasks(/*apart=*/false);
}

}  // namespace

void PlanBlockUpdates(const format::Section& section, PlannedSection& planned, uint64_t* scratch_bytes) {
  for (const auto& commands : section.block_updates) {
    // The loader has checked that the commands are of these kinds.
    const auto& gradient = static_cast<const CpuKernelLaunch&>(*planned.commands[commands.gradient]);
    const auto& update = static_cast<const CpuGroupedLaunch&>(*planned.commands[commands.update]);
    BlockUpdate u;
    u.commands = &commands;
    u.gradient = &gradient;
    u.update = &update;
    u.rows = gradient.count();
    u.columns = gradient.outputs()[0].elements / gradient.count();
    u.block_rows = gradient.work.pieces[0].end - gradient.work.pieces[0].begin;
    // a multiple of 8, so that register tiles are whole
    u.strip_rows = std::max<int64_t>(8, kStripElements / u.columns / 8 * 8);
    for (uint32_t i : commands.fetched) u.fetched.push_back(update.arguments(static_cast<int>(commands.member))[i]);
    *scratch_bytes = std::max(*scratch_bytes, sizeof(float) * u.strip_rows * u.columns);
    LeaveOut(*planned.commands[commands.check], static_cast<int>(commands.checked));
    LeaveOut(*planned.commands[commands.update], static_cast<int>(commands.member));
    planned.block_updates.push_back(std::move(u));
  }
}

bool GradientsAreBounded(const StepState& state, const PlannedSection& section, ThreadPool& pool) {
  const int64_t rows = state.devices[0].rows;
  struct Scan {
    Operand operand;
    std::atomic<uint32_t> largest{0};
  };
  std::vector<std::unique_ptr<Scan>> scans;
  std::vector<std::pair<size_t, int64_t>> tasks;  // of each task: index in `scans`, and first element
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
    products.push_back({scan_of(u.gradient->inputs()[0]), scan_of(u.gradient->inputs()[1])});
  }
  pool.ParallelFor(static_cast<int64_t>(tasks.size()), [&](int64_t i, int) {
    Scan& scan = *scans[tasks[i].first];
    const void* values = FirstDevice(state).Address(scan.operand);
    const int64_t begin = tasks[i].second, end = std::min(begin + kScanElements, rows * scan.operand.elements);
    // The loader has checked that the type is bfloat16 or float32.
    const uint32_t mine = scan.operand.dtype == DType::kBFloat16
                              ? LargestBitsOfBFloat16(static_cast<const uint16_t*>(values) + begin, end - begin)
                              : LargestBits(static_cast<const uint32_t*>(values) + begin, end - begin);
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
    if (!(bound < kLargestSum)) return false;  // a NaN fails the comparison too
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
      std::vector<CommandRecord>* records = state.threads[thread].records;
      const int64_t begin = records != nullptr ? TraceNow() : 0;
      RunBlock(state, *u, row, std::min(row + u->block_rows, u->rows), thread);
      if (records == nullptr) return;
      // Consecutive blocks of one gradient are one record of the trace.
      const int id = u->gradient->id;
      if (!records->empty() && records->back().id == id && records->back().begin >= start) {
        records->back().end = TraceNow();
      } else {
        records->push_back({id, 0, -1, 0, begin, TraceNow()});
      }
    });
  };
  std::vector<const BlockUpdate*> mine;
  for (const BlockUpdate& u : section.block_updates) {
    if (u.commands->update == update) mine.push_back(&u);
  }
  if (mine.empty()) return;
  std::vector<TimeCount>& times = state.threads[0].times;
  if (times.empty() || state.threads[0].records != nullptr) return run(mine);
  for (const BlockUpdate* u : mine) {  // gradients run one by one, so that each is timed by itself
    const auto begin = std::chrono::steady_clock::now();
    run({u});
    TimeCount& count = times[u->gradient->id];
    count.nanoseconds += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    ++count.calls;
  }
}

}  // namespace tandem
