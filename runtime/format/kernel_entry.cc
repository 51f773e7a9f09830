#include "runtime/format/kernel_entry.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/crc32c.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

// The bytes of a kernel's description. Values follow each other, and texts have their lengths in front, so that
// different descriptions have different bytes.
class Description {
 public:
  void Add(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void Add(absl::string_view text) {
    Add(uint64_t{text.size()});
    bytes_.append(text.data(), text.size());
  }
  void Add(const std::vector<format::KernelArgument>& arguments) {
    Add(uint64_t{arguments.size()});
    for (const auto& a : arguments) {
      Add(static_cast<uint64_t>(a.dtype));
      Add(static_cast<uint64_t>(a.extent));
      Add(a.elements);
    }
  }
  uint32_t Checksum() const { return Crc32c(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace

uint32_t KernelEntryChecksum(const format::Index& index, const format::Kernel& kernel) {
  Description d;
  d.Add(kernel.symbol);
  d.Add(static_cast<uint64_t>(kernel.domain));
  d.Add(kernel.inputs);
  d.Add(kernel.outputs);
  d.Add(kernel.count);
  const auto add_segment = [&](uint64_t i) {
    if (i < index.segments.size()) d.Add(uint64_t{index.segments[i].crc32c});
  };
  add_segment(kernel.segment);
  if (kernel.gpu.has_value()) {
    const format::GpuLaunch& gpu = *kernel.gpu;
    for (uint64_t value : {uint64_t{gpu.block}, gpu.items_per_block, uint64_t{gpu.shared_bytes}, gpu.scratch_bytes,
                           uint64_t{gpu.split}}) {
      d.Add(value);
    }
  }
  return d.Checksum();
}

}  // namespace tandem
