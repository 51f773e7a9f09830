#include "data/files/hdf5_types.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/element_count.h"
#include "base/status_macros.h"
#include "data/files/hdf5_output.h"

namespace tandem::hdf5 {
namespace {

constexpr uint32_t kVariableSize = 16;  // bytes of a reference to a string in a global heap
constexpr absl::string_view kWriteNumbers =
    "write numbers as float16, float32, float64 or integers, and texts as strings";

absl::Status OtherType(const Input& input, Bytes message, absl::string_view what) {
  return input.Refused(message.offset(), what, kWriteNumbers);
}

// Describes, for messages, values of a datatype class that is not supported.
std::string NameOfOther(uint8_t kind) {
  constexpr absl::string_view kNames[] = {"times", "bit fields", "records of several fields", "references", "arrays"};
  constexpr uint8_t kClasses[] = {2, 4, 6, 7, 10};
  for (size_t i = 0; i < std::size(kClasses); ++i) {
    if (kClasses[i] == kind) return std::string(kNames[i]);
  }
  return absl::StrCat("values of the unknown class ", kind);
}

// `bits` describe the byte order of a number. Bit 0 chooses little or big endian; bit 6 marks the order of VAX, which
// is not supported.
bool KnownOrder(uint8_t bits) { return (bits & 0x40) == 0; }

absl::StatusOr<Datatype> ParseInteger(const Input& input, Bytes message, uint8_t bits, uint32_t size) {
  const uint16_t first_bit = message.U16(8), precision = message.U16(10);
  if (!message.ok()) return input.Damaged(message.offset(), "a data type ends too early");
  if ((size != 1 && size != 2 && size != 4 && size != 8) || first_bit != 0 || precision != 8 * size) {
    return OtherType(input, message, absl::StrCat("integers of ", precision, " bits in ", size, " bytes"));
  }
  Datatype type;
  type.size = size;
  type.number = {bits & 8 ? NumberType::Kind::kSigned : NumberType::Kind::kUnsigned, size, (bits & 1) != 0};
  return type;
}

absl::StatusOr<Datatype> ParseFloat(const Input& input, Bytes message, uint8_t bits, uint8_t sign, uint32_t size) {
  const uint16_t first_bit = message.U16(8), precision = message.U16(10);
  const uint8_t exponent_at = message.U8(12), exponent_bits = message.U8(13);
  const uint8_t mantissa_at = message.U8(14), mantissa_bits = message.U8(15);
  const uint32_t bias = message.U32(16);
  if (!message.ok()) return input.Damaged(message.offset(), "a data type ends too early");
  constexpr uint8_t kImpliedBit = 2;  // normalisation mode: the mantissa's leading 1 is implied, not stored
  const bool plain =
      KnownOrder(bits) && (bits >> 4 & 3) == kImpliedBit && first_bit == 0 && precision == 8 * size && mantissa_at == 0;
  for (const FloatLayout& known : kFloatLayouts) {
    if (!plain || known.size != size || known.sign != sign || known.exponent_at != exponent_at ||
        known.exponent_bits != exponent_bits || known.mantissa_bits != mantissa_bits || known.bias != bias) {
      continue;
    }
    Datatype type;
    type.size = size;
    const bool is_bfloat16 = &known == &kFloatLayouts[3];
    type.number = {is_bfloat16 ? NumberType::Kind::kBFloat16 : NumberType::Kind::kFloat, size, (bits & 1) != 0};
    return type;
  }
  return OtherType(input, message, absl::StrCat("floating point numbers of ", size, " bytes of an unknown form"));
}

}  // namespace

absl::StatusOr<Datatype> ParseDatatype(const Input& input, Bytes message) {
  const uint8_t kind = message.U8(0) & 15, bits = message.U8(1), more_bits = message.U8(2);
  const uint32_t size = message.U32(4);
  if (!message.ok()) return input.Damaged(message.offset(), "a data type ends too early");
  Datatype type;
  type.size = size;
  switch (kind) {
    case kInteger:
      return ParseInteger(input, message, bits, size);
    case kFloat:
      return ParseFloat(input, message, bits, more_bits, size);
    case kString: {
      if (size == 0 || size > kMaxFixedString) {
        return input.Damaged(message.offset(), absl::StrCat("strings of ", size, " bytes"));
      }
      type.form = Datatype::Form::kFixedString;
      type.ends_with_nul = (bits & 15) == 0;
      type.padded_with_spaces = (bits & 15) == 2;
      return type;
    }
    case kVariable: {
      if ((bits & 15) != 1 || size != kVariableSize) {
        return OtherType(input, message, "lists of variable length other than strings");
      }
      type.form = Datatype::Form::kVariableString;
      return type;
    }
    case kOpaque: {
      if (size == 0) return input.Damaged(message.offset(), "an opaque type of no bytes");
      type.form = Datatype::Form::kOpaque;
      return type;
    }
    case kEnumeration: {
      Bytes base = message.Part(8);
      const uint8_t base_kind = base.U8(0) & 15, base_bits = base.U8(1);
      const uint32_t base_size = base.U32(4);
      if (!base.ok()) return input.Damaged(message.offset(), "a data type ends too early");
      if (base_kind != kInteger || base_size != size) {
        return OtherType(input, message, "an enumeration of other things than integers");
      }
      return ParseInteger(input, base, base_bits, base_size);
    }
    default:
      return OtherType(input, message, NameOfOther(kind));
  }
}

std::string EncodeDatatype(const Datatype& type, bool utf8) {
  constexpr uint8_t kVersion1 = 1 << 4;
  Output out;
  const auto begin = [&](uint8_t kind, uint8_t bits, uint8_t more_bits) {
    out.U8(kVersion1 | kind).U8(bits).U8(more_bits).U8(0).U32(type.size);
  };
  const NumberType& number = type.number;
  const uint8_t order = number.big_endian ? 1 : 0;
  switch (type.form) {
    case Datatype::Form::kFixedString:
      begin(kString, utf8 ? 0x11 : 0x01, 0);
      break;
    case Datatype::Form::kVariableString:
      // A NUL-terminated UTF-8 string of variable length. The format describes it as a sequence of bytes.
      begin(kVariable, 0x01, 0x01);
      out.U8(kVersion1 | kInteger).U8(0).U8(0).U8(0).U32(1).U16(0).U16(8);
      break;
    case Datatype::Form::kOpaque:
      begin(kOpaque, 0, 0);
      break;
    case Datatype::Form::kNumber: {
      if (number.kind != NumberType::Kind::kFloat && number.kind != NumberType::Kind::kBFloat16) {
        begin(kInteger, (number.kind == NumberType::Kind::kSigned ? 8 : 0) | order, 0);
        out.U16(0).U16(static_cast<uint16_t>(8 * type.size));
        break;
      }
      FloatLayout layout = kBFloat16Layout;
      for (const FloatLayout& known : kFloatLayouts) {
        if (number.kind == NumberType::Kind::kBFloat16 || known.size != type.size) continue;
        layout = known;
        break;
      }
      begin(kFloat, 0x20 | order, layout.sign);
      out.U16(0).U16(static_cast<uint16_t>(8 * type.size)).U8(layout.exponent_at).U8(layout.exponent_bits);
      out.U8(0).U8(layout.mantissa_bits).U32(layout.bias);
      break;
    }
  }
  return out.Take();
}

absl::StatusOr<std::optional<Shape>> ParseDataspace(const Input& input, Bytes message) {
  const uint8_t version = message.U8(0), rank = message.U8(1);
  constexpr uint8_t kNoValue = 2;
  if (version == 2 && message.U8(3) == kNoValue) return std::nullopt;
  if ((version != 1 && version != 2) || rank > kMaxRank) {
    return input.Damaged(message.offset(), absl::StrCat("a data space of version ", version, " and rank ", rank));
  }
  Shape shape;
  const uint64_t sizes_at = version == 1 ? 8 : 4;
  for (uint64_t i = 0; i < rank; ++i) shape.push_back(static_cast<int64_t>(message.U64(sizes_at + 8 * i)));
  if (!message.ok()) return input.Damaged(message.offset(), "a data space ends too early");
  if (CheckedNumElements(shape) < 0) {
    return input.Damaged(message.offset(), absl::StrCat("the shape ", ShapeString(shape), " cannot be"));
  }
  return shape;
}

std::string EncodeDataspace(const Shape& shape) {
  Output out;
  out.U8(1).U8(static_cast<uint8_t>(shape.size())).U8(0).Zeros(5);
  for (int64_t size : shape) out.U64(static_cast<uint64_t>(size));
  return out.Take();
}

}  // namespace tandem::hdf5
