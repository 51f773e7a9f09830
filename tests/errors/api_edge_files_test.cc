// Readers and writers of files of data with arguments that they cannot use.
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/host_tensor.h"
#include "base/test_dir.h"
#include "data/fashion_mnist.h"
#include "data/files/example.h"
#include "data/files/npy.h"
#include "data/files/record_reader.h"
#include "data/files/record_writer.h"
#include "data/files/sequence_example.h"
#include "data/files/write_npz.h"
#include "data/idx.h"
#include "data/list_files.h"
#include "gtest/gtest.h"
#include "tests/errors/api_edge.h"

namespace tandem::edge {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

std::string WriteText(const std::string& name, const std::string& text) {
  const std::string path = JoinPath(TestDir(name), name);
  EXPECT_TRUE(Env::Default()->WriteFile(path, {text}).ok());
  return path;
}

// A good file of three records.
std::string WriteRecords(const std::string& name, Compression compression) {
  const std::string path = JoinPath(TestDir(name), name);
  auto writer = RecordWriter::Create(path, {.compression = compression});
  EXPECT_TRUE(writer.ok()) << writer.status();
  for (const char* record : {"a", "bc", ""}) EXPECT_TRUE((*writer)->Write(record).ok());
  EXPECT_TRUE((*writer)->Close().ok());
  return path;
}

TEST(FilesEdgeTest, RecordReaders) {
  const std::string path = WriteRecords("records", Compression::kNone);
  auto open = [&](const RecordOptions& options) {
    return [path, options] { return RecordReader::Open(path, options).status(); };
  };
  Check({
      {"an empty path", "no path", [] { return RecordReader::Open("").status(); }},
      {DirName(path), "a folder", [&] { return RecordReader::Open(DirName(path)).status(); }},
      {"buffer size", "0", open({.buffer_size = 0})},
      {"buffer size", "a huge one", open({.buffer_size = kHuge})},
      {"limit", "a negative one", open({.max_record_bytes = -1})},
  });
  for (const Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    const std::string file = WriteRecords("seek", compression);
    auto reader = RecordReader::Open(file, {.compression = compression});
    ASSERT_TRUE(reader.ok()) << reader.status();
    Record record;
    bool end = false;
    Check({
        {"Next", "nowhere to put it", [&] { return (*reader)->Next(nullptr, &end); }},
        {"Next", "nowhere to put the end", [&] { return (*reader)->Next(&record, nullptr); }},
        {file, "before the file", [&] { return (*reader)->Seek(-1); }, "-1"},
        {file, "far before the file", [&] { return (*reader)->Seek(kMin); }},
        {file, "far behind the file", [&] { return (*reader)->Seek(kHuge); }},
    });
    ASSERT_TRUE((*reader)->Seek(0).ok()) << "after what could not be done";
    ASSERT_TRUE((*reader)->Next(&record, &end).ok());
    EXPECT_EQ(record.bytes, "a");
    EXPECT_TRUE((*reader)->CheckBytes(record).ok());
    EXPECT_FALSE((*reader)->CheckBytes(Record()).ok()) << "no record";
  }
}

TEST(FilesEdgeTest, RecordWriters) {
  const std::string dir = TestDir("writers"), path = JoinPath(dir, "file");
  auto create = [&](const RecordWriterOptions& options) {
    return [path, options] { return RecordWriter::Create(path, options).status(); };
  };
  Check({
      {"an empty path", "no path", [] { return RecordWriter::Create("").status(); }},
      {dir, "a folder", [&] { return RecordWriter::Create(dir).status(); }},
      {"/no/folder", "nowhere", [] { return RecordWriter::Create("/no/folder/file").status(); }},
      {"level", "10", create({.compression = Compression::kGzip, .compression_level = 10})},
      {"level", "0", create({.compression = Compression::kGzip, .compression_level = -2})},
  });
  auto writer = RecordWriter::Create(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE((*writer)->Write({}).ok());
  EXPECT_TRUE((*writer)->Close().ok());
  EXPECT_TRUE((*writer)->Close().ok()) << "once more";
  Check({{path, "closed", [&] { return (*writer)->Write("x"); }, "closed"}});
}

TEST(FilesEdgeTest, NumPy) {
  const std::string text = WriteText("npy", "no array"), dir = DirName(text);
  auto named = [](std::string name) {
    return [name] { return SerializeNpz({{name, HostTensor::Scalar(1.0f)}}).status(); };
  };
  Check({
      {"an empty path", "no path", [] { return ReadNpy("").status(); }},
      {"an empty path", "no path", [] { return ReadNpz("").status(); }},
      {dir, "a folder", [&] { return ReadNpy(dir).status(); }},
      {dir, "a folder", [&] { return ReadNpz(dir).status(); }},
      {text, "a text", [&] { return ReadNpy(text).status(); }},
      {text, "a text", [&] { return ReadNpz(text).status(); }},
      {"max_bytes", "a negative limit", [&] { return ReadNpy(text, {.max_bytes = -1}).status(); }},
      {"max_bytes", "a negative limit", [&] { return ReadNpz(text, {.max_bytes = kMin}).status(); }},
      {"array", "an empty tensor",
       [] {
         return SerializeNpz({{"a", HostTensor()}}).status();
       }},
      {".npz", "texts",
       [] {
         return SerializeNpz({{"a", HostTensor(DType::kString, {2})}}).status();
       }},
      {".npz", "a name that no archive holds", named(std::string(70000, 'x')), "70004 bytes"},
      {".npz", "a NUL in a name", named(std::string("a\0b", 3))},
      {".npz", "a name that is no text", named("\xff")},
  });
}

TEST(FilesEdgeTest, Examples) {
  constexpr DType kFloat = DType::kFloat32;
  auto create = [](std::vector<FeatureSpec> features) {
    return [features] { return ExampleParser::Create(features).status(); };
  };
  auto sequence = [](std::vector<FeatureSpec> context, std::vector<FeatureSpec> lists) {
    return [context, lists] { return SequenceExampleParser::Create(context, lists).status(); };
  };
  const auto parser = ExampleParser::Create({FeatureSpec::FixedLen("a", kFloat)});
  const auto lists = SequenceExampleParser::Create({}, {FeatureSpec::VarLen("a", kFloat)});
  ASSERT_TRUE(parser.ok() && lists.ok());
  const std::string good = ExampleBuilder().Float("a", 1.0f).Serialize();
  Element element;
  Check({
      {"feature", "none", create({})},
      {"'a'", "no type", create({{.key = "a"}})},
      {"'a'", "a type that no Example has", create({FeatureSpec::VarLen("a", DType::kBool)})},
      {"'a'", "a negative size", create({FeatureSpec::FixedLen("a", kFloat, {-7})})},
      {"'a'", "more elements than there are numbers", create({FeatureSpec::FixedLen("a", kFloat, {kHuge, kHuge})})},
      {"'a'", "a default of another type",
       create({FeatureSpec::FixedLen("a", kFloat, {2}, HostTensor::Scalar<int64_t>(1))})},
      {"'a'", "a default of another size", create({FeatureSpec::VarLen("a", kFloat, HostTensor(kFloat, {3}))})},
      {"'a'", "twice", create({FeatureSpec::VarLen("a", kFloat), FeatureSpec::VarLen("a", kFloat)})},
      {"feature", "none", sequence({}, {})},
      {"'a'", "no type", sequence({}, {{.key = "a"}})},
      {"'a'", "twice", sequence({FeatureSpec::VarLen("a", kFloat)}, {FeatureSpec::VarLen("a", kFloat)})},
      {"Example", "garbage", [] { return ListFeatures("no example").status(); }},
      {"ParseOne", "nowhere to put it", [&] { return parser->ParseOne(good, nullptr); }},
      {"Example", "garbage", [&] { return parser->ParseOne("no example", &element); }},
      {"'a'", "absent", [&] { return parser->ParseOne("", &element); }},
      {"ParseBatch", "nowhere to put it",
       [&] {
         int64_t row = 0;
         return parser->ParseBatch({good}, nullptr, &row);
       }},
      {"ParseBatch", "nowhere to put the row", [&] { return parser->ParseBatch({good}, &element, nullptr); }},
      {"Parse", "nowhere to put it", [&] { return lists->Parse("", nullptr); }},
      {"Example", "garbage", [&] { return lists->Parse("no example", &element); }},
  });
}

TEST(FilesEdgeTest, ImagesAndLabels) {
  const HostTensor none, floats = HostTensor::Zeros(DType::kFloat32, {2, 28, 28}),
                         bytes = HostTensor::Zeros(DType::kUInt8, {3});
  const std::string text = WriteText("idx", "no images"), dir = DirName(text);
  Check({
      {"/no/folder", "no folder", [] { return LoadFashionMnist("/no/folder").status(); }},
      {"train-images", "no path", [] { return LoadFashionMnist("").status(); }},
      {"images", "nothing", [=] { return ScaledImages(none).status(); }},
      {"images", "floats", [=] { return ScaledImages(floats).status(); }},
      {"labels", "nothing", [=] { return Int32Labels(none).status(); }},
      {"labels", "floats", [=] { return Int32Labels(floats).status(); }},
      {"labels", "nothing", [=] { return OneHotLabels(none).status(); }},
      {"classes", "no classes", [=] { return OneHotLabels(bytes, 0).status(); }},
      {"classes", "negative classes", [=] { return OneHotLabels(bytes, -5).status(); }},
      {"an empty path", "no path", [] { return ReadIdx("").status(); }},
      {text, "a text", [=] { return ReadIdx(text).status(); }},
      {dir, "a folder", [=] { return ReadIdx(dir).status(); }},
      {"an empty path", "no path", [] { return IdxReader::Open("").status(); }},
      {text, "a text", [=] { return IdxReader::Open(text).status(); }},
  });
  auto reader = OpenFashionMnistSplit(FashionMnistSplit::kTest);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_TRUE(reader->images->WaitForRows(kMin).ok()) << "none";
  EXPECT_TRUE(reader->images->WaitForRows(kHuge).ok()) << "all";
}

TEST(FilesEdgeTest, OtherFiles) {
  Check({
      {"pattern", "no pattern", [] { return MatchFiles("").status(); }},
      {"[a", "an open set", [] { return MatchFiles("/tmp/[a").status(); }},
      {"\\", "a backslash at the end", [] { return MatchFiles("/tmp/a\\").status(); }},
  });
}

}  // namespace
}  // namespace tandem::edge
