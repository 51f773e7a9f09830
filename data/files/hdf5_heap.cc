#include "data/files/hdf5_heap.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "base/status_macros.h"

namespace tandem::hdf5 {
namespace {

constexpr absl::string_view kHeapSignature = "GCOL";
constexpr uint64_t kHeapPrefix = 16, kObjectPrefix = 16;

}  // namespace

absl::StatusOr<const GlobalHeaps::Heap*> GlobalHeaps::Find(Input& input, uint64_t address) {
  if (const auto known = heaps_.find(address); known != heaps_.end()) return &known->second;
  TD_ASSIGN_OR_RETURN(const std::string prefix, input.Take(address, kHeapPrefix, "a heap of strings"));
  const uint64_t size = Bytes(prefix, address).U64(8);
  if (!absl::StartsWith(prefix, kHeapSignature) || size < kHeapPrefix) {
    return input.Damaged(address, "there should be a heap of strings here");
  }
  Heap heap;
  TD_ASSIGN_OR_RETURN(heap.bytes, input.Take(address, size, "a heap of strings"));
  Bytes bytes(heap.bytes, address);
  for (uint64_t at = kHeapPrefix; size - at >= kObjectPrefix;) {
    const uint16_t number = bytes.U16(at);
    const uint64_t object = bytes.U64(at + 8);
    if (number == 0) break;  // object 0 is the free space at the heap's end
    if (object > size - at - kObjectPrefix) return input.Damaged(bytes.offset(at), "a string is longer than its heap");
    heap.objects.emplace(number, std::pair(at + kObjectPrefix, object));
    at += std::min(size - at, kObjectPrefix + RoundUpTo8(object));
  }
  return &heaps_.emplace(address, std::move(heap)).first->second;
}

absl::StatusOr<std::string> GlobalHeaps::ReadString(Input& input, Bytes data, uint64_t at) {
  const uint64_t length = data.U32(at), address = data.U64(at + 4), number = data.U32(at + 12);
  if (!data.ok()) return input.Damaged(data.offset(at), "a list of strings ends too early");
  if (length == 0) return std::string();
  TD_ASSIGN_OR_RETURN(const Heap* heap, Find(input, address));
  const auto object = number <= UINT16_MAX ? heap->objects.find(static_cast<uint16_t>(number)) : heap->objects.end();
  if (object == heap->objects.end() || length > object->second.second) {
    return input.Damaged(data.offset(at), "a string is not in its heap");
  }
  TD_RETURN_IF_ERROR(input.Spend(data.offset(at), length));
  absl::string_view text = absl::string_view(heap->bytes).substr(object->second.first, length);
  text = text.substr(0, text.find('\0'));
  if (!IsUtf8(text)) return input.Damaged(address + object->second.first, "a string is not UTF-8");
  return std::string(text);
}

}  // namespace tandem::hdf5
