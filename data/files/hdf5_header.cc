#include "data/files/hdf5_header.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem::hdf5 {
namespace {

constexpr absl::string_view kHeaderOf2 = "OHDR", kContinuationOf2 = "OCHK";
constexpr uint64_t kChecksum = 4;
constexpr uint8_t kSharedFlag = 2;  // flag of a message that is stored elsewhere; its body is only the address

// A contiguous sequence of messages in the file. An object header is one such run and its continuations.
struct Run {
  uint64_t offset, size;
  // Continuations in headers of version 2 begin with a signature and end with a checksum.
  bool continuation_of_2;
};

// The layout of the messages in an object header.
struct Form {
  bool is_2;
  uint64_t prefix;  // bytes before a message's body
};

absl::Status ReadRun(Input& input, const Run& run, const Form& form, Header* header, std::vector<Run>* runs) {
  TD_ASSIGN_OR_RETURN(std::string text, input.Take(run.offset, run.size, "an object header"));
  header->blocks.push_back(std::move(text));
  Bytes bytes(header->blocks.back(), run.offset);
  if (run.continuation_of_2) {
    const uint64_t around = kContinuationOf2.size() + kChecksum;
    if (!absl::StartsWith(header->blocks.back(), kContinuationOf2) || run.size < around) {
      return input.Damaged(run.offset, "this should be the continuation of an object header");
    }
    bytes = bytes.Part(kContinuationOf2.size(), run.size - around);
  }
  // Remaining bytes at the end that are fewer than a message's prefix are padding.
  for (uint64_t at = 0; bytes.size() - at >= form.prefix;) {
    const uint16_t kind = form.is_2 ? bytes.U8(at) : bytes.U16(at);
    const uint64_t size = bytes.U16(at + (form.is_2 ? 1 : 2));
    const uint8_t flags = bytes.U8(at + (form.is_2 ? 3 : 4));
    Bytes body = bytes.Part(at + form.prefix, size);
    if (!body.ok()) {
      if (form.is_2 && kind == kNil) break;
      return input.Damaged(bytes.offset(at), "a message reaches beyond its object header");
    }
    if (flags & kSharedFlag) {
      return input.Refused(bytes.offset(at),
                           "a message that is kept elsewhere (a shared message, or a named data type)",
                           "copy the values themselves into a file with h5py");
    }
    if (kind == kContinuation) {
      runs->push_back({body.U64(0), body.U64(8), form.is_2});
      if (!body.ok()) return input.Damaged(body.offset(), "a continuation ends too early");
    } else if (kind != kNil) {
      header->messages.push_back({kind, body});
    }
    at += form.prefix + size;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Header> ReadHeader(Input& input, uint64_t address) {
  constexpr uint64_t kPrefixOf1 = 16, kFixedOf2 = 6;
  TD_ASSIGN_OR_RETURN(const std::string begin, input.Take(address, kFixedOf2, "an object header"));
  Bytes fixed(begin, address);
  Form form = {absl::StartsWith(begin, kHeaderOf2), 8};
  std::vector<Run> runs;
  if (form.is_2) {
    constexpr uint8_t kSizeFlags = 3, kOrderFlag = 4, kLimitsFlag = 16, kTimesFlag = 32;
    const uint8_t version = fixed.U8(4), flags = fixed.U8(5);
    if (version != 2) return input.Damaged(address, absl::StrCat("an object header of version ", version));
    form.prefix = flags & kOrderFlag ? 6 : 4;
    const uint64_t width = uint64_t{1} << (flags & kSizeFlags);
    const uint64_t at = address + kFixedOf2 + (flags & kTimesFlag ? 16 : 0) + (flags & kLimitsFlag ? 4 : 0);
    TD_ASSIGN_OR_RETURN(const std::string size, input.Take(at, width, "an object header"));
    runs.push_back({at + width, Bytes(size, at).Number(0, width), false});
  } else {
    if (fixed.U8(0) != 1) return input.Damaged(address, "there should be a group or a data set here");
    TD_ASSIGN_OR_RETURN(const std::string prefix, input.Take(address, kPrefixOf1, "an object header"));
    runs.push_back({address + kPrefixOf1, Bytes(prefix, address).U32(8), false});
  }
  Header header;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Run run = runs[i];  // a copy, because `runs` grows
    TD_RETURN_IF_ERROR(ReadRun(input, run, form, &header, &runs));
  }
  return header;
}

absl::StatusOr<const Message*> FindMessage(const Input& input, const Header& header, uint16_t kind) {
  const Message* found = nullptr;
  for (const Message& message : header.messages) {
    if (message.kind != kind) continue;
    if (found != nullptr) return input.Damaged(message.body.offset(), "an object header has two messages of a kind");
    found = &message;
  }
  return found;
}

}  // namespace tandem::hdf5
