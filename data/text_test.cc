// Text and CSV files, records of one length, and names of files.
#include <zlib.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "data/dataset.h"
#include "data/test_util.h"
#include "data/testdata/golden.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using Texts = std::vector<std::string>;

std::string Write(const std::string& name, absl::string_view bytes) {
  const std::string path = JoinPath(testing::TempDir(), name);
  std::ofstream(path, std::ios::binary) << bytes;  // without a sync, which is slow
  return path;
}

Texts Strings(const Dataset& dataset, size_t component = 0) {
  Texts strings;
  for (const Element& e : Read(dataset)) {
    const HostTensor& t = e.components[component];
    for (int64_t i = 0; i < t.num_elements(); ++i) strings.emplace_back(t.string(i));
  }
  return strings;
}

// The first error of the dataset's elements, or of the dataset.
absl::Status FirstError(const Dataset& d) {
  if (!d.status().ok()) return d.status();
  std::unique_ptr<Iterator> it = Make(d);
  for (;;) {
    Element e;
    bool end = false;
    const absl::Status status = it->GetNext(&e, &end);
    if (!status.ok() || end) return status;
  }
}

bool Says(const absl::Status& status, absl::string_view text) {
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(absl::StrContains(status.message(), text)) << status;
  return absl::StrContains(status.message(), text);
}

TEST(TextLineTest, ReadsLines) {
  const std::string a = Write("a.txt", "one\n\ntwo\r\nthree"), b = Write("b.txt", ""), c = Write("c.txt", "four\n");
  const Texts expected = {"one", "", "two", "three", "four"};
  for (int64_t buffer_size : {1, 2, 5, 1000}) {
    EXPECT_EQ(Strings(Dataset::TextLine({a, b, c}, {.buffer_size = buffer_size})), expected) << buffer_size;
  }
  EXPECT_EQ(Strings(Dataset::TextLine({a, b, c}).Batch(2).Prefetch(2)), expected);
  EXPECT_EQ(Strings(Dataset::TextLine({a, c}).Shuffle(1)), expected);
  const std::string gz = JoinPath(testing::TempDir(), "lines.gz");
  gzFile out = gzopen(gz.c_str(), "wb");
  gzputs(out, "zipped\nlines\n");
  gzclose(out);
  EXPECT_EQ(Strings(Dataset::TextLine({gz}, {.compression = Compression::kGzip}).Shuffle(1)),
            (Texts{"zipped", "lines"}));
  Says(FirstError(Dataset::TextLine({Write("long", "12345\n123456\n1\n")}, {.buffer_size = 2, .max_line_bytes = 5})),
       "long: line 2: the line has more than 5 bytes");
  Says(FirstError(Dataset::TextLine({"absent"})), "absent");
  Says(FirstError(Dataset::TextLine({a}, {.buffer_size = 0})), "buffer size");
}

// The mark is no part of the first line, wherever a reader begins.
TEST(TextLineTest, AByteOrderMarkIsNoPartOfALine) {
  const std::string mark = "\xef\xbb\xbf", path = Write("marked.txt", mark + "one\n" + mark + "two\nthree\n");
  const Texts expected = {"one", mark + "two", "three"};
  for (int64_t buffer_size : {1, 2, 1000}) {
    const Dataset d = Dataset::TextLine({path, path}, {.buffer_size = buffer_size});
    EXPECT_EQ(Strings(d.Take(3)), expected);
    EXPECT_EQ(Strings(d.Skip(3)), expected);
    EXPECT_EQ(Strings(d.Shuffle(1)).size(), 6u);
    // A place in the input that is saved and restored.
    for (int64_t taken = 0; taken < 3; ++taken) {
      std::unique_ptr<Iterator> it = Make(d), again = Make(d);
      Element e;
      bool end = false;
      for (int64_t i = 0; i < taken; ++i) ASSERT_TRUE(it->GetNext(&e, &end).ok());
      ASSERT_TRUE(again->RestoreState(*it->SaveState()).ok());
      ASSERT_TRUE(again->GetNext(&e, &end).ok());
      EXPECT_EQ(e.components[0].string(), expected[taken]) << taken;
    }
  }
  const std::string only = Write("mark_only.txt", mark);
  EXPECT_EQ(Strings(Dataset::TextLine({only})), Texts());
  EXPECT_EQ(Strings(Dataset::TextLine({Write("mark_begins.txt", "\xef\xbb")})), Texts{"\xef\xbb"});
  const std::string gz = JoinPath(testing::TempDir(), "marked.gz");
  gzFile out = gzopen(gz.c_str(), "wb");
  gzputs(out, (mark + "zipped\nlines\n").c_str());
  gzclose(out);
  EXPECT_EQ(Strings(Dataset::TextLine({gz}, {.compression = Compression::kGzip})), (Texts{"zipped", "lines"}));
  Says(FirstError(Dataset::TextLine({Write("utf16.txt", absl::string_view("\xff\xfeo\0n\0", 6))})),
       "utf16.txt: line 1: at byte 0: the byte order mark of UTF-16LE (ff fe), and text must be UTF-8");
}

TEST(CsvTest, PlacesAreRightBehindAByteOrderMark) {
  const std::string path = Write("marked.csv", "\xef\xbb\xbf\"n\",s\n1,a\nx,b\n");
  Says(FirstError(Dataset::Csv({path}, {{"n", DType::kInt32}})), "marked.csv: line 3: column 1 ('n'): 'x' is no int32");
}

std::vector<CsvColumn> TableColumns() {
  return {{"id", DType::kInt64},
          {"x", DType::kFloat32, HostTensor::Scalar<float>(-1)},
          {"y", DType::kFloat64},
          {"name", DType::kString, HostTensor::String("none")},
          {"count", DType::kInt32, HostTensor::Scalar<int32_t>(42)}};
}

TEST(CsvTest, ReadsTheValuesThatTensorFlowReads) {
  std::map<std::string, HostTensor> expected = ReadGolden("table.expected");
  for (int64_t buffer_size : {1, 10, 1000}) {
    const Dataset d = Dataset::Csv({GoldenPath("table.csv")}, TableColumns(), {.buffer_size = buffer_size});
    ASSERT_TRUE(d.status().ok()) << d.status();
    EXPECT_EQ(SpecString(d.spec()), "id:int64[], x:float32[], y:float64[], name:string[], count:int32[]");
    for (const Dataset& batched :
         {d.Batch(8), d.Shuffle(1).Map([](const Element& e) -> absl::StatusOr<Element> { return e; }).Batch(8)}) {
      const std::vector<Element> batches = Read(batched);
      ASSERT_EQ(batches.size(), 1u);
      for (size_t c = 0; c < d.spec().size(); ++c) {
        EXPECT_TRUE(batches[0].components[c].BitEqual(expected[d.spec()[c].name])) << d.spec()[c].name;
      }
    }
  }
}

TEST(CsvTest, ColumnsAreFoundByName) {
  const std::string a = Write("a.csv", "x,y\n1,a\n\n2,b\n"), b = Write("b.csv", "y,z,\"x\"\nc,?,3\n");
  const Dataset d = Dataset::Csv({a, b}, {{"y", DType::kString}, {"x", DType::kInt64}});
  EXPECT_EQ(Strings(d), (Texts{"a", "b", "c"}));
  EXPECT_EQ(Read(d)[2].components[1].values<int64_t>()[0], 3);
  const Dataset tabs =
      Dataset::Csv({Write("c.tsv", "1\ta,b\n2\t\"c\td\"")}, {{"x", DType::kInt32}, {"y", DType::kString}},
                   {.header = false, .delimiter = '\t'});
  EXPECT_EQ(Strings(tabs, 1), (Texts{"a,b", "c\td"}));
}

TEST(CsvTest, ErrorsNameFileLineAndColumn) {
  const std::vector<CsvColumn> columns = {{"n", DType::kInt32}, {"s", DType::kString, HostTensor::String("")}};
  const auto error = [&](absl::string_view rows) {
    return FirstError(Dataset::Csv({Write("e.csv", absl::StrCat("n,s\n", rows))}, columns));
  };
  EXPECT_EQ(error("1\n").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(error("1,a\"b\n").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(error("2x,b\n").code(), absl::StatusCode::kDataLoss);
  Says(error("1,\"two\nlines\"\n2x,b\n"), "e.csv: line 4: column 1 ('n'): '2x' is no int32");
  Says(error("1,a\n2147483648,b\n"), "e.csv: line 3: column 1 ('n'): '2147483648' is no int32");
  Says(error(",b\n"), "e.csv: line 2: column 1 ('n'): the field is empty, and a int32 without a default is expected");
  Says(error("1\n"), "e.csv: line 2: there are 1 columns where 2 are expected: '1'");
  Says(error("1,a,b\n"), "e.csv: line 2: there are 3 columns where 2 are expected");
  Says(error("1,a\"b\n"), "e.csv: line 2: column 2: a field with a quote in it must have quotes around it");
  Says(error("1,\"a\"b\n"), "e.csv: line 2: column 2: behind the closing quote");
  Says(error("1,a\n2,\"open\n3,b\n"), "e.csv: line 3: a quote is opened that nothing closes");
  EXPECT_TRUE(error("1,\n2,\"\"\"\"\n").ok());
  // The next record follows.
  const Dataset d = Dataset::Csv({Write("f.csv", "n,s\n1,a\nx,b\n3,c\n")}, columns).IgnoreErrors({.max = 1});
  EXPECT_EQ(Strings(d, 1), (Texts{"a", "c"}));
}

TEST(CsvTest, BadArgumentsAreNamed) {
  const std::string path = Write("g.csv", "count,name\n1,a\n");
  Says(Dataset::Csv({path}, {{"nmae", DType::kString}}).status(), "is 'name' meant?");
  Says(Dataset::Csv({path}, {{"nmae", DType::kString}}).status(), "g.csv: line 1: there is no column 'nmae'");
  Says(Dataset::Csv({path}, {}).status(), "no column to read");
  Says(Dataset::Csv({path}, {{"name", DType::kUInt8}}).status(), "cannot be uint8");
  Says(Dataset::Csv({path}, {{"name", DType::kString}, {"name", DType::kString}}).status(), "given twice");
  Says(Dataset::Csv({path}, {{"count", DType::kInt32, HostTensor::Scalar<int64_t>(1)}}).status(), "default is int64[]");
  Says(Dataset::Csv({path}, {{"name", DType::kString}}, {.delimiter = '"'}).status(), "delimiter");
  Says(Dataset::Csv({Write("empty.csv", "")}, {{"name", DType::kString}}).status(), "a header is expected");
}

TEST(CsvTest, NumbersThatATypeCannotHoldAreErrors) {
  const auto read = [](DType dtype, absl::string_view text) {
    return FirstError(Dataset::Csv({Write("range.csv", absl::StrCat(text, "\n"))}, {{"n", dtype}}, {.header = false}));
  };
  for (const auto& [dtype, texts] :
       std::vector<std::pair<DType, Texts>>{{DType::kFloat32, {"1e39", " -3.5e38", "+1e39", "0x10", "0X1p3", "-0x1"}},
                                            {DType::kFloat64, {"1e309", "-1e309 ", "0x10"}},
                                            {DType::kInt32, {"2147483648", "0x10"}},
                                            {DType::kInt64, {"9223372036854775808", "0x10"}}}) {
    for (const std::string& text : texts) {
      Says(read(dtype, text), absl::StrCat("range.csv: line 1: column 1 ('n'): '", text, "' is no ", Name(dtype)));
    }
  }
  for (const char* text : {"inf", "-Infinity", "+inf", "nan", "3.4028235e38", "1e-46", " +1.5"}) {
    EXPECT_EQ(read(DType::kFloat32, text), absl::OkStatus()) << text;
    EXPECT_EQ(read(DType::kFloat64, text), absl::OkStatus()) << text;
  }
}

// Sampled bytes are changed: right content or an error with file and line; nothing else.
TEST(CsvTest, DamageIsAnErrorWithAPlace) {
  const std::string good = *Env::Default()->ReadFile(GoldenPath("table.csv"));
  int errors = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (int change : {1, 2, 16, 34, 44 ^ 34, 128}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      const absl::Status status = FirstError(Dataset::Csv({Write("bad.csv", bad)}, TableColumns()));
      if (status.ok()) continue;
      ++errors;
      EXPECT_TRUE(absl::StrContains(status.message(), "bad.csv: line ")) << status;
    }
  }
  EXPECT_GT(errors, 300);
}

TEST(FixedLengthTest, ReadsRecords) {
  const std::string path = Write("fixed", "HEADaabbccFT");
  const FixedLengthOptions options = {.record_bytes = 2, .header_bytes = 4, .footer_bytes = 2};
  EXPECT_EQ(Strings(Dataset::FixedLengthRecord({path, path}, options)), (Texts{"aa", "bb", "cc", "aa", "bb", "cc"}));
  EXPECT_EQ(Strings(Dataset::FixedLengthRecord({path}, options).Shuffle(1)), (Texts{"aa", "bb", "cc"}));
  Says(Dataset::FixedLengthRecord({path}, {.record_bytes = 5}).status(), "fixed: the file has 12 bytes");
  Says(Dataset::FixedLengthRecord({path}, {}).status(), "record_bytes must be between 1");
  const std::string gz = JoinPath(testing::TempDir(), "fixed.gz");
  gzFile out = gzopen(gz.c_str(), "wb");
  gzputs(out, "HEADaabbcFT");
  gzclose(out);
  FixedLengthOptions zipped = options;
  zipped.compression = Compression::kGzip;
  Says(FirstError(Dataset::FixedLengthRecord({gz}, zipped)), "record 2 has 1 of 2 bytes");
}

TEST(ListFilesTest, MatchesPatterns) {
  const std::string root = JoinPath(testing::TempDir(), "tree");
  for (const char* dir : {"", "/a", "/a/b", "/c", "/.hidden"}) {
    ASSERT_TRUE(Env::Default()->CreateDirs(absl::StrCat(root, dir)).ok());
  }
  for (const char* file : {"/1.txt", "/2.txt", "/a/3.txt", "/a/b/4.txt", "/a/b/x.bin", "/c/5.txt", "/.hidden/6.txt"}) {
    ASSERT_TRUE(Env::Default()->WriteFile(absl::StrCat(root, file), {"x"}).ok());
  }
  const auto match = [&](const std::string& pattern, ListFilesOptions options = {}) {
    Texts names = Strings(Dataset::ListFiles({absl::StrCat(root, "/", pattern)}, options));
    for (std::string& name : names) name = name.substr(root.size() + 1);
    return names;
  };
  EXPECT_EQ(match("*.txt"), (Texts{"1.txt", "2.txt"}));
  EXPECT_EQ(match("[2-9].txt"), Texts{"2.txt"});
  EXPECT_EQ(match("*/*.txt"), (Texts{"a/3.txt", "c/5.txt"}));
  EXPECT_EQ(match("**/*.txt"), (Texts{"1.txt", "2.txt", "a/3.txt", "a/b/4.txt", "c/5.txt"}));
  EXPECT_EQ(match("a/**"), (Texts{"a/3.txt", "a/b/4.txt", "a/b/x.bin"}));
  EXPECT_EQ(match("**/b/?.txt"), Texts{"a/b/4.txt"});
  EXPECT_EQ(match("1.txt"), Texts{"1.txt"});
  Texts shuffled = match("**/*.txt", {.shuffle = true, .seed = 3});
  EXPECT_EQ(shuffled, match("**/*.txt", {.shuffle = true, .seed = 3}));
  EXPECT_NE(shuffled, match("**/*.txt"));
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, match("**/*.txt"));
  Says(Dataset::ListFiles({root + "/a/*.jpg"}).status(), "no file matches");
  Says(Dataset::ListFiles({root + "/a/*.jpg"}).status(), "3.txt, b");
  Says(Dataset::ListFiles({root + "/none/*.jpg"}).status(), "no file matches");
  EXPECT_FALSE(Dataset::ListFiles({}).status().ok());
  EXPECT_FALSE(Dataset::ListFiles({""}).status().ok());
  // Files that several patterns match are there once, whatever the order of the patterns.
  Texts all = Strings(Dataset::ListFiles({root + "/a/*.txt", root + "/?.txt", root + "/**/[1-3].txt"}));
  EXPECT_EQ(all, (Texts{root + "/1.txt", root + "/2.txt", root + "/a/3.txt"}));
  // As the start of a pipeline.
  const Dataset lines =
      Dataset::ListFiles({root + "/**/*.txt"}).Interleave([](const Element& e) -> absl::StatusOr<Dataset> {
        return Dataset::TextLine({std::string(e.components[0].string())});
      });
  EXPECT_EQ(Strings(lines), (Texts{"x", "x", "x", "x", "x"}));
}

}  // namespace
}  // namespace tandem
