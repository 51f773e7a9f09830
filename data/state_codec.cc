#include "data/state_codec.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"

namespace tandem::data_internal {
namespace {

constexpr absl::string_view kMagic("TDIT", 4);
constexpr size_t kChecksumBytes = 8;

void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

bool ConsumeVarint(absl::string_view* in, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < in->size() && i < 10; ++i) {
    uint64_t byte = static_cast<unsigned char>((*in)[i]);
    if (i == 9 && byte > 1) return false;
    *value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      in->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

absl::Status DamagedAt(int64_t offset, absl::string_view what) {
  return absl::DataLossError(absl::StrCat("the iterator state is damaged at byte ", offset, ": ", what));
}

}  // namespace

void StateWriter::Write(uint64_t value) { AppendVarint(value, &body_); }

std::string StateWriter::Finish(StateVersion version, absl::string_view signature) const {
  std::string out(kMagic);
  AppendVarint(static_cast<uint64_t>(version), &out);
  AppendVarint(signature.size(), &out);
  absl::StrAppend(&out, signature, body_);
  uint64_t checksum = Fingerprint64(out);
  for (size_t i = 0; i < kChecksumBytes; ++i) out.push_back(static_cast<char>(checksum >> (8 * i)));
  return out;
}

absl::StatusOr<StateReader> StateReader::Open(absl::string_view state) {
  if (!absl::StartsWith(state, kMagic)) return DamagedAt(0, "it does not begin with TDIT");
  absl::string_view rest = state.substr(kMagic.size());
  uint64_t version = 0;
  if (!ConsumeVarint(&rest, &version)) return DamagedAt(kMagic.size(), "the version is malformed");
  if (rest.size() < kChecksumBytes) return DamagedAt(state.size(), "it is cut off");
  // The checksum is compared before the version, because a flipped bit in the version is damage and not another
  // version.
  absl::string_view covered = state.substr(0, state.size() - kChecksumBytes);
  uint64_t checksum = 0;
  for (size_t i = 0; i < kChecksumBytes; ++i) {
    checksum |= uint64_t{static_cast<unsigned char>(state[covered.size() + i])} << (8 * i);
  }
  if (checksum != Fingerprint64(covered)) return DamagedAt(covered.size(), "the checksum does not match");
  if (version != static_cast<uint64_t>(StateVersion::kDrawnBatches) &&
      version != static_cast<uint64_t>(StateVersion::kDelivered)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the iterator state has version ", version, "; this build reads versions 1 and 2"));
  }
  rest.remove_suffix(kChecksumBytes);
  uint64_t size = 0;
  if (!ConsumeVarint(&rest, &size) || size > rest.size()) {
    return DamagedAt(covered.size() - rest.size(), "the signature is malformed");
  }
  StateReader reader;
  reader.version_ = static_cast<StateVersion>(version);
  reader.signature_ = rest.substr(0, size);
  reader.body_ = rest.substr(size);
  reader.state_size_ = static_cast<int64_t>(state.size());
  return reader;
}

absl::Status StateReader::CheckSignature(absl::string_view signature) const {
  if (signature_ == signature) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the iterator state belongs to another dataset: saved by { ",
                                                    signature_, " }, restored into { ", signature,
                                                    " }; use the same input pipeline or start without this state"));
}

bool StateReader::Read(uint64_t* value, uint64_t min, uint64_t max) {
  return ConsumeVarint(&body_, value) && *value >= min && *value <= max;
}

bool StateReader::Read(int64_t* value, int64_t min, int64_t max) {
  uint64_t raw = 0;
  if (!Read(&raw, static_cast<uint64_t>(min), static_cast<uint64_t>(max))) return false;
  *value = static_cast<int64_t>(raw);
  return true;
}

bool StateReader::Read(bool* value) {
  uint64_t raw = 0;
  if (!Read(&raw, 0, 1)) return false;
  *value = raw != 0;
  return true;
}

absl::Status StateReader::Damaged() const {
  if (!failure_.ok()) return failure_;
  return DamagedAt(state_size_ - static_cast<int64_t>(kChecksumBytes) - remaining(), "a number is missing or wrong");
}

}  // namespace tandem::data_internal
