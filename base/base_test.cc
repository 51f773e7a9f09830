#include <cmath>
#include <limits>

#include "base/bfloat16.h"
#include "base/dtype.h"
#include "base/fingerprint.h"
#include "base/host_tensor.h"
#include "base/philox.h"
#include "base/precision.h"
#include "base/process_start.h"
#include "base/source_location.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(DTypeTest, NamesRoundTrip) {
  for (DType t : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUInt8, DType::kBool,
                  DType::kBFloat16}) {
    EXPECT_EQ(DTypeFromName(Name(t)), t);
    EXPECT_GT(SizeOf(t), 0);
  }
  EXPECT_EQ(DTypeFromName("float33"), DType::kInvalid);
  EXPECT_EQ(ShapeString({kBatch, 28, 28, 1}), "[b,28,28,1]");
  EXPECT_EQ(ShapeString({}), "[]");
}

TEST(PrecisionTest, NamesRoundTrip) {
  for (Precision p : {Precision::kFloat32, Precision::kStrictFloat32, Precision::kMixedBfloat16}) {
    EXPECT_EQ(*PrecisionFromName(Name(p)), p);
  }
  EXPECT_EQ(PrecisionFromName("bf16").status().message(),
            "unknown precision \"bf16\"; use float32, strict_float32 or mixed_bfloat16");
}

TEST(BFloat16Test, RoundsToNearestEven) {
  EXPECT_EQ(RoundToBFloat16(1.0), 1.0);
  EXPECT_EQ(RoundToBFloat16(1.0 + 1.0 / 256), 1.0);              // half way to 1 + 2^-7: to even
  EXPECT_EQ(RoundToBFloat16(1.0 + 3.0 / 256), 1.0 + 4.0 / 256);  // half way between odd and even
  EXPECT_EQ(RoundToBFloat16(1.0 + 1.01 / 256), 1.0 + 2.0 / 256);
  EXPECT_EQ(RoundToBFloat16(-3.14159265), -3.140625);
  EXPECT_EQ(RoundToBFloat16(3.4e38), std::numeric_limits<double>::infinity());
  EXPECT_EQ(RoundToBFloat16(-1e39), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(RoundToBFloat16(std::nan(""))));
  EXPECT_EQ(ToBFloat16Bits(-0.0f), 0x8000);
  for (uint32_t bits = 0; bits < 65536; ++bits) {  // every number that is one already stays
    float x = FromBFloat16Bits(static_cast<uint16_t>(bits));
    if (!std::isnan(x)) {
      EXPECT_EQ(ToBFloat16Bits(x), bits);
    }
  }
}

TEST(HostTensorBytesTest, CopiesShareAndClonesDoNot) {
  HostTensor a = HostTensor::FromVector<float>({2, 2}, {1, 2, 3, 4});
  HostTensor shared = a, clone = a.Clone();
  a.data<float>()[0] = 9;
  EXPECT_EQ(shared.values<float>()[0], 9);
  EXPECT_EQ(clone.values<float>()[0], 1);
  EXPECT_FALSE(clone.BitEqual(a));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a.raw()) % 64, 0u);
}

TEST(HostTensorBytesTest, SmallBuffersAreAligned) {
  std::vector<HostTensor> tensors;
  for (int64_t n : {0, 1, 7, 63, 64, 65}) {
    for (int i = 0; i < 4; ++i) tensors.push_back(HostTensor::Zeros(DType::kUInt8, {n}));
  }
  for (const HostTensor& t : tensors) EXPECT_EQ(reinterpret_cast<uintptr_t>(t.raw()) % 64, 0u) << t.byte_size();
}

TEST(HostTensorBytesTest, LargeBuffersAreAlignedAndOutliveTheirMaker) {
  HostTensor view;
  {
    HostTensor t = HostTensor::Zeros(DType::kUInt8, {3 << 20});
    t.data<uint8_t>()[(3 << 20) - 1] = 7;
    view = t.Reshaped({3, 1 << 20});
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.raw()) % 64, 0u);
  EXPECT_EQ(view.data<uint8_t>()[(3 << 20) - 1], 7);
  EXPECT_TRUE(view.BitEqual(view.Clone()));
}

// Known-answer vectors of the Random123 distribution (kat_vectors, philox4x32 10).
TEST(PhiloxTest, KnownAnswers) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  EXPECT_EQ(Philox4x32({0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}, {0xffffffffu, 0xffffffffu}),
            (PhiloxCounter{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
  EXPECT_EQ(Philox4x32({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}),
            (PhiloxCounter{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
}

TEST(PhiloxTest, UniformIsBelowOne) {
  EXPECT_EQ(UniformFloat(0), 0.0f);
  EXPECT_LT(UniformFloat(0xffffffffu), 1.0f);
}

TEST(FingerprintTest, IsStable) {
  EXPECT_EQ(Fingerprint64("dense/kernel"), Fingerprint64("dense/kernel"));
  EXPECT_NE(Fingerprint64("dense/kernel"), Fingerprint64("dense/kernel", 1));
  EXPECT_NE(Fingerprint64(""), Fingerprint64("a"));
}

absl::StatusOr<int> Half(int x) {
  if (x % 2) return absl::InvalidArgumentError("odd");
  return x / 2;
}
absl::StatusOr<int> Quarter(int x) {
  TD_ASSIGN_OR_RETURN(int h, Half(x));
  return Half(h);
}

TEST(StatusMacrosTest, PropagateErrors) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
  EXPECT_EQ(Quarter(3).status().message(), "odd");
}

SourceLocation Here(SourceLocation loc = SourceLocation::Current()) { return loc; }
TEST(ProcessStartTest, IsKnownAndDoesNotGoBack) {
  double before = SecondsSinceProcessStart();
  EXPECT_GE(before, 0);
  EXPECT_GE(SecondsSinceProcessStart(), before);
}

TEST(SourceLocationTest, IsTheCallersLine) { EXPECT_EQ(Here().line, __LINE__); }

}  // namespace
}  // namespace tandem
