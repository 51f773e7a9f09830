#include "runtime/cpu/onednn/onednn_packing.h"

#include <cstdint>
#include <string>

#include "runtime/cpu/onednn/onednn_convolution.h"
#include "runtime/cpu/onednn/onednn_matmul.h"
#include "runtime/library_calls/pack_weights.h"

namespace tandem {
namespace onednn {
namespace {

using dnnl::memory;

// Returns the layout of the plain weights. They may be float32 and the packed ones bfloat16: one pass packs and
// converts.
memory::desc PlainWeights(const format::PackWeights& packing) {
  if (const format::Conv2D* conv = packing.reader.As<format::Conv2D>()) {
    format::Conv2D from = *conv;
    from.kernel_dtype = packing.plain_dtype;
    return PlainKernel(from);
  }
  format::MatMul from = *packing.reader.As<format::MatMul>();
  from.b_dtype = packing.plain_dtype;
  return PlainKernel(from);
}

memory::desc PackedWeights(const format::PackWeights& packing) {
  return packing.reader.Visited([](const auto& reader) { return PackedKernel(reader); });
}

// True if the taps of a kernel (all of its dimensions after the first two) lie one after another in memory.
bool TapsFollow(const memory::dims& dims, const memory::dims& strides) {
  return dims.size() == 2 || dims[2] == 1 || strides[2] == dims[3] * strides[3];
}

class PanelPacking final : public OneDnnPrimitive {
 public:
  explicit PanelPacking(const WeightPanels& panels) : implementation_(kPackPanels), panels_(panels) {}

  const std::string& implementation() const override { return implementation_; }
  uint64_t scratch_bytes() const override { return 0; }
  int64_t parts() const override { return PackWeightsParts(panels_); }
  absl::Status RunParts(int, absl::Span<void* const> in, void* out, void*, int64_t begin, int64_t end) const override {
    PackWeights(panels_, begin, end, static_cast<const float*>(in[0]), out);
    return absl::OkStatus();
  }

 private:
  const std::string implementation_;
  const WeightPanels panels_;
};

}  // namespace

uint64_t PackedBytes(const format::PackWeights& packing) { return PackedWeights(packing).get_size(); }

Plan PlanOf(const format::PackWeights& packing) {
  Plan plan;
  plan.AddReorder(PlainWeights(packing), Source::kInput0, PackedWeights(packing), Source::kOutput);
  return plan;
}

std::optional<WeightPanels> PanelsOf(const memory::desc& plain, const memory::desc& packed) {
  const memory::dims dims = plain.get_dims(), padded = packed.get_padded_dims();
  const memory::dims from = plain.get_strides(), to = packed.get_strides();
  const memory::dims blocked = packed.get_inner_idxs(), blocks = packed.get_inner_blks();
  const bool bf16 = packed.get_data_type() == memory::data_type::bf16;
  if (plain.get_data_type() != kF32 || (!bf16 && packed.get_data_type() != kF32)) return std::nullopt;
  if (dims.size() != 2 && dims.size() != 4) return std::nullopt;
  // oneDNN's innermost blocks must be the columns of a panel, for bfloat16 followed by pairs of rows. Before them there
  // may be blocks of the panel's rows.
  const size_t inner = blocked.size() - (bf16 ? 1 : 0);
  if (bf16 ? blocked.size() != 3 || blocked[2] != blocked[0] || blocks[2] != 2 : inner != 1 && inner != 2) {
    return std::nullopt;
  }
  const int64_t column = blocked[inner - 1], row = 1 - column;
  if (column > 1 || (inner == 2 && blocked[0] != row)) return std::nullopt;
  const int64_t row_block = (inner == 2 ? blocks[0] : 1) * (bf16 ? 2 : 1);
  WeightPanels w;
  w.taps = dims.size() == 4 ? dims[2] * dims[3] : 1;
  w.rows = dims[row];
  w.columns = dims[column];
  w.tap_stride = dims.size() == 4 ? from[3] : 0;
  w.row_stride = from[row];
  w.column_stride = from[column];
  w.bfloat16 = bf16;
  w.padded_rows = padded[row];
  w.panel_columns = blocks[inner - 1];
  w.panel_stride = to[column];
  w.panel_tap_stride = dims.size() == 4 ? to[3] : 0;
  const int64_t bytes = w.taps * padded[0] * padded[1] * (bf16 ? 2 : 4);
  if (!TapsFollow(dims, from) || !TapsFollow(dims, to) || (w.row_stride != 1 && w.column_stride != 1) ||
      to[row] != row_block * w.panel_columns || padded[column] != w.panels() * w.panel_columns ||
      w.panel_columns % 16 != 0 || w.panel_columns > kMaxPanelColumns || packed.get_size() != bytes) {
    return std::nullopt;
  }
  return w;
}

std::optional<WeightPanels> PackedPanels(const format::PackWeights& packing) {
  std::optional<WeightPanels> panels = PanelsOf(PlainWeights(packing), PackedWeights(packing));
  return panels && PacksWeightPanels(panels->bfloat16) ? panels : std::nullopt;
}

std::unique_ptr<OneDnnPrimitive> MakePanelPacking(const WeightPanels& panels) {
  return std::make_unique<PanelPacking>(panels);
}

}  // namespace onednn
}  // namespace tandem
