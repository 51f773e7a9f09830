#include "runtime/cpu/commands/kernel_launch.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "runtime/commands/block_kernel.h"
#include "runtime/cpu/step/call_list.h"

namespace tandem {
namespace {

// Elements of one block of a kernel's output: some hundred microseconds of multiply-adds.
constexpr int64_t kBlockElements = 65536;

}  // namespace

CpuKernelLaunch::CpuKernelLaunch(const PlanContext& context, const format::Command& table)
    : CpuCommand(context, table) {
  const format::KernelLaunch& launch = *table.body.As<format::KernelLaunch>();
  function_ = context.kernels.function(static_cast<int>(launch.kernel));
  domain_ = context.index().kernels[launch.kernel].domain;
  const bool counts = domain_ == format::Domain::kElements || domain_ == format::Domain::kBlocks;
  count_ = counts ? static_cast<int64_t>(launch.count) : 1;
  pieces_apart_ = domain_ == format::Domain::kBlocks;
  work.Add(0, count_, pieces_apart_ ? BlockRows(context) : kTaskElements);
}

// Returns how many rows of the output one block has: a multiple of 8, so that it consists of whole register tiles, with
// about kBlockElements elements. For the weights of a convolution (HWIO) a block has all taps of some input channels:
// half of a thread's share of them, at least 8 and at most ImageBlockChannels.
int64_t CpuKernelLaunch::BlockRows(const PlanContext& context) const {
  const int64_t columns = std::max<int64_t>(1, outputs()[0].elements / count_);
  const std::vector<int64_t>& shape = context.program.buffers[table().outputs[0]].shape;
  if (shape.size() == 4) {  // weights in HWIO, whose rows are numbered channel by channel
    const int64_t taps = shape[0] * shape[1], share = shape[2] / (2 * context.num_threads) / 8 * 8;
    return taps * std::clamp<int64_t>(share, 8, ImageBlockChannels(taps));
  }
  return std::max<int64_t>(8, kBlockElements / columns / 8 * 8);
}

void CpuKernelLaunch::RunPiece(GlobalRun& run, int device, const Piece& piece, int) const {
  const MicrobatchContext context = run.At(device);
  absl::InlinedVector<void*, 32> args;
  for (const Operand& o : inputs()) args.push_back(context.Address(o));
  for (const Operand& o : outputs()) args.push_back(context.Address(o));
  const bool blocks = domain_ == format::Domain::kBlocks;
  if (blocks) args.insert(args.end(), kFetchedMatrices, args.back());
  function_(args.data(), piece.begin, piece.end, blocks ? context.device->rows : 0);
}

absl::Status CpuKernelLaunch::RunRows(const MapRun& run, const MicrobatchContext& context, int64_t rows,
                                      int64_t global_row) const {
  void** next = run.args();
  for (const Operand& o : inputs()) *next++ = context.Address(o);
  for (const Operand& o : outputs()) *next++ = context.Address(o);
  function_(run.args(), 0, domain_ == format::Domain::kRows ? rows : count_, global_row);
  return absl::OkStatus();
}

bool CpuKernelLaunch::AddRowCalls(CallList& list, const MicrobatchContext& context, int device,
                                  int64_t first_row) const {
  list.AddKernel(function_, 0, domain_ == format::Domain::kRows ? list.rows_per_lane() : count_, first_row);
  for (const Operand& o : inputs()) list.AddAddress(context, device, o);
  for (const Operand& o : outputs()) list.AddAddress(context, device, o);
  return true;
}

void CpuKernelLaunch::AddCalls(CallList& list, const MicrobatchContext& context, int device, const Piece& piece) const {
  list.AddKernel(function_, piece.begin, piece.end, 0);
  for (const Operand& o : inputs()) list.AddAddress(context, device, o);
  for (const Operand& o : outputs()) list.AddAddress(context, device, o);
}

}  // namespace tandem
