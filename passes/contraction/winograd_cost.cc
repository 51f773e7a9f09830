#include "passes/contraction/winograd_cost.h"

#include <algorithm>

#include "passes/analysis/cost_model.h"

namespace tandem {
namespace {

// Constants measured with benchmarks/winograd_layers on Zen 4 (docs/developers/winograd.md).
constexpr double kProductRate = 0.92;  // rate of products relative to the library's, with operands in L2
// Operations at the vector rate per point and channel of a tile: loads, sums, stores
constexpr double kTransformFlops = 14;
// A filter gradient's sum that L2 cannot hold takes this many times as long as its traffic at full bandwidth.
constexpr double kSumTraffic = 2;
// Tiles that L2 cannot hold take this many times as long as their traffic at L3's bandwidth.
constexpr double kSpilledTiles = 4;
constexpr double kBlockGain = 1.02;  // a larger block must be faster by this factor

// Numbers of tiles that a block can have: multiples of the rows of a register tile.
constexpr int64_t kBlocks[] = {12, 24, 36, 48, 72, 96, 144, 192};

}  // namespace

double WinogradSeconds(const MachineModel& m, const WinogradShape& s, WinogradRole role, int64_t rows, int64_t count) {
  const double tiles = static_cast<double>(rows * s.tiles()), points = static_cast<double>(s.points());
  const double c = static_cast<double>(PadChannels(s.channels_in)),
               k = static_cast<double>(PadChannels(s.channels_out));
  const double blocks = std::max(1.0, tiles / static_cast<double>(s.block));
  const bool filter = role == WinogradRole::kFilterGrad;
  // Only the factors of products may be bfloat16: the kernel and the tiles of one image, or (filter gradient) the tiles
  // of both images. Sums are float32.
  const double factor_bytes = s.bfloat16_products ? 2 : 4, sum_bytes = 4;
  const double kernel_bytes = (filter ? sum_bytes : factor_bytes) * points * c * k;
  const double from = role == WinogradRole::kInputGrad ? k : c, to = role == WinogradRole::kInputGrad ? c : k;
  const double tile_bytes = points * (factor_bytes * from + (filter ? factor_bytes : sum_bytes) * to);
  // The tiles of a block are read and written several times, the kernel is read once per block.
  const double block_bytes = tile_bytes * static_cast<double>(s.block);
  const double compute =
      2 * tiles * points * c * k / (kProductRate * (s.bfloat16_products ? m.vector_bf16 : m.library_f32));
  double transforms = kTransformFlops * tiles * points * (c + k) / m.vector_f32;
  // Products read and write the tiles of a block in L2, or in L3 the part that does not fit L2.
  const double beyond = std::max(0.0, 1 - m.l2_bytes / block_bytes);
  const double tile_traffic =
      2 * tiles * tile_bytes * ((1 - beyond) / m.l2_bandwidth + kSpilledTiles * beyond / m.l3_bandwidth);
  const double kernel_traffic = blocks * kernel_bytes * (filter ? 2 : 1) / Bandwidth(m, kernel_bytes + block_bytes, 1);
  // The kernel is transformed once per step, by one thread while the others wait; for a filter gradient the sum is
  // transformed in every microbatch.
  const double passes = filter ? 1 : 1.0 / static_cast<double>(std::max<int64_t>(1, count));
  transforms += passes * (kTransformFlops * points * c * k / m.vector_f32 +
                          2 * kernel_bytes / Bandwidth(m, std::max(kernel_bytes, m.l2_bytes + 1), 1));
  // A kernel or sum in the second-level cache is read while the products run. A larger one is not: on an Intel Xeon
  // each pass over a kernel of 512 x 512 channels takes as long as it takes to read it, although it is fetched ahead,
  // and a filter gradient's sum even longer, since each block reads and writes it for few multiply-adds (measured on
  // Zen 4, 14x14x256 to 256 in blocks of 12, 36 and 64 tiles: 5.5, 1.7 and 1.9 times the forward pass).
  const bool waits = kernel_bytes > m.l2_bytes;
  const double products =
      waits ? compute + (filter ? kSumTraffic : 1) * kernel_traffic : std::max(compute, kernel_traffic);
  return products + transforms + tile_traffic + m.kernel_call_overhead;
}

WinogradChoice BestWinograd(const MachineModel& machine, const WinogradShape& shape, WinogradRole role, int64_t rows,
                            int64_t count) {
  WinogradChoice choice;
  WinogradShape s = shape;
  const int64_t first = shape.tile > 0 ? shape.tile : kMinWinogradTile,
                last = shape.tile > 0 ? shape.tile : kMaxWinogradTile;
  for (s.tile = first; s.tile <= last; ++s.tile) {
    const int64_t tiles = rows * s.tiles();
    for (int64_t block : kBlocks) {
      s.block = std::min(block, tiles);
      const double seconds = WinogradSeconds(machine, s, role, rows, count);
      const bool larger = s.tile == choice.tile;
      if (choice.tile == 0 || seconds * (larger ? kBlockGain : 1) < choice.seconds) choice = {seconds, s.tile, s.block};
      if (block >= tiles) break;
    }
  }
  return choice;
}

}  // namespace tandem
