// Parses the header of a safetensors file event by event: a DOM would silently merge duplicate keys.
#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/safetensors.h"
#include "nlohmann/json.hpp"

namespace tandem {
namespace {

struct FileType {
  const char* name;
  int bits;
  DType dtype;
};

constexpr FileType kFileTypes[] = {
    {"BOOL", 8, DType::kBool},           {"U8", 8, DType::kUInt8},        {"I32", 32, DType::kInt32},
    {"F32", 32, DType::kFloat32},        {"F64", 64, DType::kFloat64},    {"I64", 64, DType::kInt64},
    {"I8", 8, DType::kInvalid},          {"I16", 16, DType::kInvalid},    {"U16", 16, DType::kInvalid},
    {"F16", 16, DType::kInvalid},        {"BF16", 16, DType::kInvalid},   {"U32", 32, DType::kInvalid},
    {"U64", 64, DType::kInvalid},        {"C64", 64, DType::kInvalid},    {"F8_E4M3", 8, DType::kInvalid},
    {"F8_E5M2", 8, DType::kInvalid},     {"F8_E8M0", 8, DType::kInvalid}, {"F8_E4M3FNUZ", 8, DType::kInvalid},
    {"F8_E5M2FNUZ", 8, DType::kInvalid}, {"F6_E2M3", 6, DType::kInvalid}, {"F6_E3M2", 6, DType::kInvalid},
    {"F4", 4, DType::kInvalid},
};

// Returns a name from the file in a form for messages.
std::string Quoted(absl::string_view name) {
  constexpr size_t kMax = 200;
  const std::string text = PrintableLine(name.substr(0, kMax));
  return absl::StrCat("\"", text, name.size() > kMax ? "..." : "", "\"");
}

// Handles the events of the JSON parser. A handler returns false, with `error` set, at the first breach of the format.
class HeaderHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeader header;
  std::string error;

  bool null() override { return Unexpected("null"); }
  bool boolean(bool) override { return Unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { return Unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    return Unexpected("a number that is no integer or does not fit in 64 bits");
  }
  bool binary(binary_t&) override { return Unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ != State::kShape && state_ != State::kOffsets) return Unexpected("a number");
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Fail(absl::StrCat("the number ", value, " is too large"));
    }
    numbers_.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(string_t& value) override {
    if (state_ == State::kMetadata) {
      header.metadata[key_] = value;
      return true;
    }
    if (state_ != State::kTensor || key_ != "dtype") return Unexpected("a string");
    entry_.file_dtype = value;
    return true;
  }

  bool start_object(std::size_t) override {
    if (state_ == State::kStart) {
      state_ = State::kTop;
      return true;
    }
    if (state_ != State::kTop) return Unexpected("an object");
    if (tensor_ == "__metadata__") {
      state_ = State::kMetadata;
    } else {
      state_ = State::kTensor;
      entry_ = SafetensorsEntry{.name = tensor_};
    }
    seen_.clear();
    return true;
  }

  bool key(string_t& key) override {
    if (state_ == State::kTop) {
      tensor_ = key;
      if (!names_.insert(key).second) return Fail("it is there twice");
      return true;
    }
    key_ = key;
    if (!seen_.insert(key).second) return Fail(absl::StrCat("key ", Quoted(key), " is there twice"));
    if (state_ == State::kTensor && key != "dtype" && key != "shape" && key != "data_offsets") {
      return Fail(absl::StrCat("unknown key ", Quoted(key)));
    }
    return true;
  }

  bool end_object() override {
    if (state_ == State::kTop) {
      state_ = State::kEnd;
      return true;
    }
    bool is_tensor = state_ == State::kTensor;
    state_ = State::kTop;
    if (!is_tensor) return true;
    for (const char* key : {"dtype", "shape", "data_offsets"}) {
      if (seen_.count(key) == 0) return Fail(absl::StrCat("no \"", key, "\""));
    }
    return FinishTensor();
  }

  bool start_array(std::size_t) override {
    if (state_ != State::kTensor || (key_ != "shape" && key_ != "data_offsets")) return Unexpected("an array");
    state_ = key_ == "shape" ? State::kShape : State::kOffsets;
    numbers_.clear();
    return true;
  }

  bool end_array() override {
    if (state_ == State::kShape) {
      entry_.shape = numbers_;
    } else {
      if (numbers_.size() != 2) return Fail("\"data_offsets\" needs two numbers");
      entry_.begin = numbers_[0];
      entry_.end = numbers_[1];
    }
    state_ = State::kTensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    // The exception's text begins with "[json.exception...] parse error at ...: ", which repeats the position.
    std::string what = e.what();
    size_t colon = what.find(": ");
    error =
        absl::StrCat("offset ", 8 + (position == 0 ? 0 : position - 1),
                     ": the header is not valid JSON: ", colon == std::string::npos ? what : what.substr(colon + 2));
    return false;
  }

 private:
  enum class State { kStart, kTop, kMetadata, kTensor, kShape, kOffsets, kEnd };

  bool Fail(const std::string& what) {
    if (state_ == State::kStart || state_ == State::kEnd) {
      error = what;
    } else {
      error = absl::StrCat(tensor_ == "__metadata__" ? "" : "tensor ", Quoted(tensor_), ": ", what);
    }
    return false;
  }

  bool Unexpected(const char* what) {
    return Fail(state_ == State::kTop || state_ == State::kStart
                    ? absl::StrCat(what, " where an object is needed")
                    : absl::StrCat(what, " does not belong at ", Quoted(key_)));
  }

  // Checks the finished entry by itself; holes and overlaps are found when all entries are known.
  bool FinishTensor() {
    const FileType* type = nullptr;
    for (const FileType& t : kFileTypes) {
      if (entry_.file_dtype == t.name) type = &t;
    }
    if (type == nullptr) return Fail(absl::StrCat("unknown dtype ", Quoted(entry_.file_dtype)));
    entry_.dtype = type->dtype;
    int64_t bits = type->bits;
    int64_t elements = 1;
    bool overflow = false;
    for (int64_t size : entry_.shape) overflow |= __builtin_mul_overflow(elements, size, &elements);
    overflow |= __builtin_mul_overflow(elements, bits, &bits);
    std::string shape = ShapeString(entry_.shape);
    if (overflow) return Fail(absl::StrCat("shape ", shape, " is too large"));
    if (bits % 8 != 0) return Fail(absl::StrCat("shape ", shape, " does not fill whole bytes"));
    if (entry_.end < entry_.begin) {
      return Fail(absl::StrCat("data_offsets [", entry_.begin, ",", entry_.end, "] end before they begin"));
    }
    if (entry_.end - entry_.begin != bits / 8) {
      return Fail(absl::StrCat("data_offsets [", entry_.begin, ",", entry_.end, "] hold ", entry_.end - entry_.begin,
                               " bytes, but ", entry_.file_dtype, shape, " needs ", bits / 8));
    }
    header.entries.push_back(std::move(entry_));
    return true;
  }

  State state_ = State::kStart;
  std::string tensor_;  // current key of the outermost object
  std::string key_;     // current key inside of the object of `tensor_`
  std::set<std::string> names_, seen_;
  std::vector<int64_t> numbers_;
  SafetensorsEntry entry_;
};

}  // namespace

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(absl::string_view json, int64_t buffer_size,
                                                         const std::string& path) {
  auto error = [&](const auto&... parts) { return absl::DataLossError(absl::StrCat(path, ": ", parts...)); };
  if (!absl::StartsWith(json, "{")) return error("offset 8: the header does not begin with '{'");
  // The parser takes a zero byte for the end of its input and would ignore what follows.
  if (size_t zero = json.find('\0'); zero != absl::string_view::npos) {
    return error("offset ", 8 + zero, ": a zero byte in the header");
  }
  HeaderHandler handler;
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &handler) || !handler.error.empty()) {
    return error(handler.error.empty() ? "the header is not valid JSON" : handler.error);
  }
  auto& entries = handler.header.entries;
  // Empty tensors share their offset with a neighbour: the name makes the order definite.
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  int64_t end = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin != end) {
      return error("tensor ", Quoted(entry.name), ": begins at byte ", entry.begin, " of the data, ",
                   entry.begin < end ? "inside" : "after a hole behind", " the tensor before it, which ends at ", end);
    }
    end = entry.end;
  }
  if (end != buffer_size) {
    return error("the tensors need ", end, " bytes after the header, the file has ", buffer_size,
                 end > buffer_size ? ": it is truncated" : ": something was appended or the header was changed");
  }
  return std::move(handler.header);
}

}  // namespace tandem
