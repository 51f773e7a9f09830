#include "data/image/decode_image.h"

#include <algorithm>
#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "data/image/jpeg.h"
#include "data/image/png.h"
#include "data/image/test_util.h"

namespace tandem {
namespace {

using absl::StatusCode;

// "c3_16" or "ratio4" as options for the picture whose full result is `full`.
DecodeImageOptions OptionsOf(const std::string& result, const HostTensor& full) {
  DecodeImageOptions options;
  if (result == "fast") {
    options.fast_dct = true;
  } else if (absl::StartsWith(result, "ratio")) {
    const int ratio = result[5] - '0';
    options.min_height = (full.shape()[0] + ratio - 1) / ratio;
    options.min_width = (full.shape()[1] + ratio - 1) / ratio;
  } else {
    options.channels = result[1] - '0';
    if (absl::EndsWith(result, "_16")) options.bits = 16;
  }
  return options;
}

TEST(DecodeImage, EqualsTensorFlow) {
  const Goldens goldens("decode.safetensors");
  ASSERT_TRUE(goldens.ok());
  int compared = 0;
  for (const SafetensorsEntry& entry : goldens.reader().entries()) {
    const std::vector<std::string> parts = absl::StrSplit(entry.name, '/');
    if (parts[1] == "file") continue;
    const HostTensor full =
        absl::StartsWith(parts[1], "ratio") ? goldens.Get(parts[0] + "/c0") : HostTensor::Scalar<int32_t>(0);
    auto image = DecodeImage(goldens.Bytes(parts[0] + "/file"), OptionsOf(parts[1], full));
    ASSERT_TRUE(image.ok()) << entry.name << ": " << image.status();
    const HostTensor expected = goldens.Get(entry.name);
    EXPECT_EQ(image->shape(), expected.shape()) << entry.name;
    EXPECT_TRUE(image->BitEqual(expected)) << entry.name;
    ++compared;
  }
  EXPECT_GT(compared, 70);
}

TEST(DecodeImage, OtherBytes) {
  ExpectError(DecodeImage("", {.name = "a.jpg"}).status(), StatusCode::kDataLoss, "a.jpg: the picture is empty");
  ExpectError(DecodeImage("GIF89a", {.name = "a.jpg"}).status(), StatusCode::kUnimplemented, "a.jpg: a GIF picture");
  ExpectError(DecodeImage("<html></html>", {.name = "a\n.jpg"}).status(), StatusCode::kDataLoss,
              "a\\x0a.jpg: neither a JPEG (ff d8 ff) nor a PNG picture (89 50 4e 47): the first of its 13 bytes are "
              "3c68746d6c3e3c2f");
}

TEST(DecodeJpeg, WrongOptions) {
  const std::string file = Goldens("decode.safetensors").Bytes("rgb420/file");
  ExpectError(DecodeJpeg(file, {.name = "x", .channels = 4}).status(), StatusCode::kInvalidArgument,
              "x: decoding JPEG: channels is 4; it must be 0");
  ExpectError(DecodeJpeg(file, {.bits = 16}).status(), StatusCode::kInvalidArgument, "bits is 16; it must be 8");
  ExpectError(DecodeJpeg(file, {.min_width = -1}).status(), StatusCode::kInvalidArgument, "0 and -1");
  ExpectError(DecodeJpeg(file, {.max_bytes = 0}).status(), StatusCode::kInvalidArgument, "max_bytes is 0");
  ExpectError(DecodePng(file, {.channels = 5}).status(), StatusCode::kInvalidArgument, "channels is 5");
  ExpectError(DecodePng(file, {.bits = 12}).status(), StatusCode::kInvalidArgument, "bits is 12; it must be 8 or 16");
}

TEST(DecodeJpeg, CutShort) {
  const Goldens goldens("decode.safetensors");
  for (const std::string name : {"rgb420", "progressive"}) {
    const std::string file = goldens.Bytes(name + "/file");
    for (size_t size = 2; size + 8 < file.size(); size += 5) {
      const absl::Status status = DecodeJpeg(file.substr(0, size), {.name = "cut.jpg"}).status();
      ExpectError(status, StatusCode::kDataLoss, "cut.jpg: broken JPEG picture at byte ");
    }
    ExpectError(DecodeJpeg(file.substr(0, 1000), {.name = "cut.jpg"}).status(), StatusCode::kDataLoss,
                "at byte 1000 of 1000: ");
  }
  // The end marker alone: nothing of the pixels is missing, unless there may have been another scan.
  const std::string file = goldens.Bytes("rgb420/file");
  auto image = DecodeJpeg(file.substr(0, file.size() - 2));
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_TRUE(image->BitEqual(goldens.Get("rgb420/c0")));
  const std::string progressive = goldens.Bytes("progressive/file");
  EXPECT_FALSE(DecodeJpeg(progressive.substr(0, progressive.size() - 2)).ok());
}

// Writes `height` and `width` into the frame header (after ff c0 or ff c2, the length and the precision).
std::string WithJpegSize(std::string file, char marker, int height, int width) {
  const size_t at = file.find(std::string("\xff") + marker);
  file[at + 5] = height >> 8;
  file[at + 6] = height;
  file[at + 7] = width >> 8;
  file[at + 8] = width;
  return file;
}

TEST(DecodeJpeg, DeclaredSizes) {
  const Goldens goldens("decode.safetensors");
  const std::string file = WithJpegSize(goldens.Bytes("rgb420/file"), '\xc0', 65500, 65500);
  ExpectError(DecodeJpeg(file, {.name = "big.jpg"}).status(), StatusCode::kResourceExhausted,
              "big.jpg: the JPEG picture's header declares 65500 x 65500 pixels, which need 12870750000 bytes; the "
              "limit is max_bytes = 268435456; set DecodeImageOptions.max_bytes higher");
  // The coefficients of a progressive picture count too: 2 bytes for Y, and for Cb and Cr at half the size.
  const std::string progressive = WithJpegSize(goldens.Bytes("progressive/file"), '\xc2', 8000, 8000);
  ExpectError(DecodeJpeg(progressive).status(), StatusCode::kResourceExhausted, "declares 8000 x 8000 pixels");
  ExpectError(DecodeJpeg(WithJpegSize(goldens.Bytes("rgb420/file"), '\xc0', 8000, 8000)).status(),
              StatusCode::kDataLoss, "premature end");
  const std::string small = goldens.Bytes("rgb420/file");
  ExpectError(DecodeJpeg(small, {.max_bytes = 37 * 53 * 3 - 1}).status(), StatusCode::kResourceExhausted, "5883 bytes");
  EXPECT_TRUE(DecodeJpeg(small, {.max_bytes = 37 * 53 * 3}).ok());
}

TEST(DecodeJpeg, SmallestScaleThatIsLargeEnough) {
  const std::string file = Goldens("decode.safetensors").Bytes("rgb420/file");  // 37 x 53
  const auto shape = [&](int64_t height, int64_t width) {
    auto image = DecodeJpeg(file, {.min_height = height, .min_width = width});
    return image.ok() ? image->shape() : Shape{};
  };
  EXPECT_EQ(shape(1, 1), (Shape{5, 7, 3}));
  EXPECT_EQ(shape(5, 7), (Shape{5, 7, 3}));
  EXPECT_EQ(shape(6, 7), (Shape{10, 14, 3}));
  EXPECT_EQ(shape(0, 15), (Shape{19, 27, 3}));
  EXPECT_EQ(shape(20, 1), (Shape{37, 53, 3}));
  EXPECT_EQ(shape(1000, 1000), (Shape{37, 53, 3}));
}

// A grey-blue picture of 8 x 8 pixels with a scan for each of Y, Cb and Cr.
std::string JpegOfThreeScans() {
  jpeg_compress_struct cinfo;
  jpeg_error_mgr error;
  cinfo.err = jpeg_std_error(&error);
  jpeg_create_compress(&cinfo);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&cinfo, &bytes, &size);
  cinfo.image_height = cinfo.image_width = 8;
  cinfo.input_components = 3;
  cinfo.in_color_space = JCS_RGB;
  jpeg_set_defaults(&cinfo);
  const jpeg_scan_info scans[] = {{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
  cinfo.scan_info = scans;
  cinfo.num_scans = 3;
  jpeg_start_compress(&cinfo, TRUE);
  uint8_t row[24];
  for (int i = 0; i < 24; ++i) row[i] = i % 3 == 2 ? 180 : 120;
  JSAMPROW rows[] = {row};
  while (cinfo.next_scanline < 8) jpeg_write_scanlines(&cinfo, rows, 1);
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  const std::string file(reinterpret_cast<char*>(bytes), size);
  free(bytes);
  return file;
}

TEST(DecodeJpeg, TooManyScans) {
  const std::string file = JpegOfThreeScans();
  const auto image = DecodeJpeg(file);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_NEAR(image->values<uint8_t>()[2], 180, 2);
  const size_t scan = file.rfind("\xff\xda");
  const std::string last = file.substr(scan, file.size() - 2 - scan);
  // The last scan comes again and again, which does not change the picture.
  std::string repeated = file;
  for (int i = 0; i < 497; ++i) repeated.insert(scan, last);
  const auto same = DecodeJpeg(repeated);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_TRUE(same->BitEqual(*image));
  repeated.insert(scan, last);
  ExpectError(DecodeJpeg(repeated).status(), StatusCode::kDataLoss, "more than 500 scans");
}

// Ink as programs other than Adobe's store it: red is (255 - K) (255 - C) / 255.
TEST(DecodeJpeg, Cmyk) {
  jpeg_compress_struct cinfo;
  jpeg_error_mgr error;
  cinfo.err = jpeg_std_error(&error);
  jpeg_create_compress(&cinfo);
  cinfo.image_height = cinfo.image_width = 1;
  cinfo.input_components = 4;
  cinfo.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&cinfo);
  jpeg_set_quality(&cinfo, 100, TRUE);
  for (const bool adobe : {false, true}) {
    cinfo.write_Adobe_marker = adobe;
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&cinfo, &bytes, &size);
    jpeg_start_compress(&cinfo, TRUE);
    uint8_t pixel[] = {20, 100, 200, 60};
    JSAMPROW rows[] = {pixel};
    jpeg_write_scanlines(&cinfo, rows, 1);
    jpeg_finish_compress(&cinfo);
    const std::string file(reinterpret_cast<char*>(bytes), size);
    free(bytes);
    const auto image = DecodeJpeg(file);
    ASSERT_TRUE(image.ok()) << image.status();
    ASSERT_EQ(image->shape(), (Shape{1, 1, 3}));
    for (int c = 0; c < 3; ++c) {
      const double expected = adobe ? pixel[c] * 60 / 255.0 : (255 - pixel[c]) * (255 - 60) / 255.0;
      EXPECT_NEAR(image->values<uint8_t>()[c], expected, 2);
    }
    ExpectError(DecodeJpeg(file, {.channels = 1}).status(), StatusCode::kUnimplemented, "color conversion");
  }
  jpeg_destroy_compress(&cinfo);
}

TEST(DecodeJpeg, NotSupported) {
  std::string file = Goldens("decode.safetensors").Bytes("rgb420/file");
  file[file.find("\xff\xc0") + 1] = '\xc3';
  ExpectError(DecodeJpeg(file, {.name = "x"}).status(), StatusCode::kUnimplemented, "SOF type 0xc3");
}

uint32_t BigEndian(const std::string& s, size_t at) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(s[at + i]);
  return value;
}

TEST(DecodePng, CutShortAndDamaged) {
  const std::string file = Goldens("decode.safetensors").Bytes("rgb8/file");
  for (size_t size = 0; size < file.size(); ++size) {
    ExpectError(DecodePng(file.substr(0, size), {.name = "cut.png"}).status(), StatusCode::kDataLoss,
                "cut.png: broken PNG picture at byte ");
  }
  std::string damaged = file;
  damaged[file.find("IDAT") + 30] ^= 4;
  EXPECT_EQ(DecodePng(damaged).status().code(), StatusCode::kDataLoss);
}

TEST(DecodePng, DeclaredSizes) {
  const std::string file = Goldens("decode.safetensors").Bytes("rgb8/file");
  EXPECT_EQ(BigEndian(file, 16), 13);  // width
  // An own picture of one row, with the height (and with it the checksum of IHDR) of another.
  const auto row = EncodePng(HostTensor::Zeros(DType::kUInt8, {1, 60000, 3}), {});
  const auto tall = EncodePng(HostTensor::Zeros(DType::kUInt8, {140, 60000, 3}), {.compression = 1});
  ASSERT_TRUE(row.ok() && tall.ok());
  std::string lie = *row;
  lie.replace(0, 33, *tall, 0, 33);
  ExpectError(DecodePng(lie, {.name = "lie.png"}).status(), StatusCode::kDataLoss,
              "the header declares 140 x 60000 pixels, more than so short a file can hold");
  ExpectError(DecodePng(*tall, {.name = "t.png", .bits = 16, .max_bytes = 30000000}).status(),
              StatusCode::kResourceExhausted,
              "t.png: the PNG picture's header declares 140 x 60000 pixels, which need 33600000 bytes");
  ExpectError(DecodePng(*tall, {.channels = 4, .max_bytes = 30000000}).status(), StatusCode::kResourceExhausted,
              "which need 33600000 bytes");
}

TEST(DecodePng, RgbToGrey) {
  const HostTensor rgb = HostTensor::FromVector<uint8_t>({1, 4, 3}, {255, 0, 0, 0, 255, 0, 0, 0, 255, 200, 100, 50});
  const auto file = EncodePng(rgb);
  ASSERT_TRUE(file.ok());
  const auto grey = DecodePng(*file, {.channels = 1});
  ASSERT_TRUE(grey.ok()) << grey.status();
  const double expected[] = {0.299 * 255, 0.587 * 255, 0.114 * 255, 0.299 * 200 + 0.587 * 100 + 0.114 * 50};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(grey->values<uint8_t>()[i], expected[i], 1);
}

HostTensor Counting(DType dtype, Shape shape) {
  HostTensor t(dtype, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if (dtype == DType::kUInt8) {
      t.data<uint8_t>()[i] = i * 37;
    } else {
      t.data<int32_t>()[i] = i * 4001 % 65536;
    }
  }
  return t;
}

TEST(EncodePng, ComesBack) {
  for (const DType dtype : {DType::kUInt8, DType::kInt32}) {
    for (int channels = 1; channels <= 4; ++channels) {
      const HostTensor image = Counting(dtype, {9, 7, channels});
      const auto file = EncodePng(image, {.compression = 2 * channels});
      ASSERT_TRUE(file.ok()) << file.status();
      const auto back = DecodePng(*file, {.bits = dtype == DType::kInt32 ? 16 : 8});
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_TRUE(back->BitEqual(image));
    }
  }
}

TEST(EncodePng, WrongArguments) {
  ExpectError(EncodePng(HostTensor()).status(), StatusCode::kInvalidArgument, "EncodePng: the image is an empty");
  ExpectError(EncodePng(HostTensor::Zeros(DType::kUInt8, {4, 4})).status(), StatusCode::kInvalidArgument,
              "shape is [4,4]; it must be [height, width, channels]");
  ExpectError(EncodePng(HostTensor::Zeros(DType::kUInt8, {4, 0, 3})).status(), StatusCode::kInvalidArgument, "[4,0,3]");
  ExpectError(EncodePng(HostTensor::Zeros(DType::kFloat32, {4, 4, 3})).status(), StatusCode::kInvalidArgument,
              "type float32");
  ExpectError(EncodePng(HostTensor::FromVector<int32_t>({1, 1, 1}, {65536})).status(), StatusCode::kInvalidArgument,
              "the value 65536");
  ExpectError(EncodePng(HostTensor::Zeros(DType::kUInt8, {4, 4, 3}), {.compression = 10}).status(),
              StatusCode::kInvalidArgument, "compression is 10");
}

// The files of the goldens are TensorFlow's own encodings of a picture that this test does not have; so the encoder is
// held to the decoder, which is held to TensorFlow.
TEST(EncodeJpeg, ComesBackNearly) {
  const Goldens goldens("decode.safetensors");
  for (const std::string name : {"rgb444/c0", "grey/c0"}) {
    const HostTensor image = goldens.Get(name);
    for (const bool progressive : {false, true}) {
      const auto file = EncodeJpeg(image, {.quality = 100, .chroma_downsampling = false, .progressive = progressive});
      ASSERT_TRUE(file.ok()) << file.status();
      EXPECT_EQ(file->find("\xff\xc2") != std::string::npos, progressive);
      const auto back = DecodeJpeg(*file);
      ASSERT_TRUE(back.ok()) << back.status();
      ASSERT_EQ(back->shape(), image.shape());
      int worst = 0;
      for (int64_t i = 0; i < image.num_elements(); ++i) {
        worst = std::max(worst, std::abs(back->values<uint8_t>()[i] - image.values<uint8_t>()[i]));
      }
      EXPECT_LE(worst, 6);
    }
  }
  // The lower the quality, the fewer bytes.
  const HostTensor image = goldens.Get("rgb444/c0");
  EXPECT_LT(EncodeJpeg(image, {.quality = 20})->size(), EncodeJpeg(image, {.quality = 90})->size());
}

TEST(EncodeJpeg, WrongArguments) {
  ExpectError(EncodeJpeg(HostTensor::Zeros(DType::kUInt8, {4, 4, 4})).status(), StatusCode::kInvalidArgument,
              "channels one of 1, 3");
  ExpectError(EncodeJpeg(HostTensor::Zeros(DType::kFloat32, {4, 4, 3})).status(), StatusCode::kInvalidArgument,
              "JPEG takes uint8");
  ExpectError(EncodeJpeg(HostTensor::Zeros(DType::kUInt8, {4, 4, 3}), {.quality = 0}).status(),
              StatusCode::kInvalidArgument, "quality is 0");
}

}  // namespace
}  // namespace tandem
