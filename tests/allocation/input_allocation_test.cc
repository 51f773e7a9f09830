// Lets allocations fail in input pipelines: of files, of pictures, and of stages that keep elements. The elements that
// come are right, and those that are missing come from the next iterator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/dataset.h"
#include "data/files/npy.h"
#include "data/files/record_writer.h"
#include "data/files/write_npz.h"
#include "data/idx.h"
#include "tests/allocation/allocation_failure.h"

namespace tandem {
namespace {

using test::Armed;

using Texts = std::vector<std::string>;

template <typename T>
void AppendNumbers(const HostTensor& tensor, std::string* text) {
  for (const T value : tensor.values<T>()) absl::StrAppend(text, " ", value);
}

// Its values, those of all components one after another: "1 2.5 word".
std::string TextOf(const Element& element) {
  std::string text;
  for (const HostTensor& tensor : element.components) {
    if (tensor.dtype() == DType::kString) {
      for (int64_t i = 0; i < tensor.num_elements(); ++i) absl::StrAppend(&text, " ", tensor.string(i));
    }
    if (tensor.dtype() == DType::kInt64) AppendNumbers<int64_t>(tensor, &text);
    if (tensor.dtype() == DType::kFloat32) AppendNumbers<float>(tensor, &text);
    if (tensor.dtype() == DType::kUInt8) AppendNumbers<uint8_t>(tensor, &text);
  }
  return text.empty() ? text : text.substr(1);
}

// Appends all elements; returns the first error.
absl::Status ReadTo(Iterator& iterator, Texts* texts) {
  for (;;) {
    Element element;
    bool end = false;
    TD_RETURN_IF_ERROR(iterator.GetNext(&element, &end));
    if (end) return absl::OkStatus();
    texts->push_back(TextOf(element));
  }
}

absl::Status Wrong(absl::string_view what, const Texts& texts) {
  return absl::InternalError(absl::StrCat(what, ": ", absl::StrJoin(texts, "; ")));
}

struct Reading {
  bool in_any_order = false;       // the elements come
  bool errors_keep_places = true;  // what is behind an element does not depend on it
  std::function<void()> begin = [] {};
};

class InputAllocationTest : public test::AllocationFailure {
 protected:
  std::string File(const std::string& name) const { return (root() / name).string(); }

  void WriteText(const std::string& name, const std::string& text) const { std::ofstream(File(name)) << text; }

  void WriteRecords(const std::string& name, const Texts& records, Compression compression) const {
    auto writer = RecordWriter::Create(File(name), {.compression = compression});
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (const std::string& record : records) ASSERT_TRUE((*writer)->Write(record).ok());
    ASSERT_TRUE((*writer)->Close().ok());
  }

  // Makes the dataset and reads it to its end, which gives `expected`.
  void TryPipeline(const std::string& what, const std::function<Dataset()>& make, const Texts& expected_texts,
                   const Reading& reading = {}) {
    const auto ordered = [&reading](Texts texts) {
      if (reading.in_any_order) std::sort(texts.begin(), texts.end());
      return texts;
    };
    const Texts expected = ordered(expected_texts);
    TryAll(what, [&](const Armed& armed) -> absl::Status {
      reading.begin();
      std::optional<Dataset> dataset;
      std::unique_ptr<Iterator> iterator;
      Texts texts;
      const absl::Status status = armed([&] {
        return CatchResourceErrors("", [&]() -> absl::Status {
          dataset = make();
          TD_ASSIGN_OR_RETURN(iterator, dataset->MakeIterator());
          return ReadTo(*iterator, &texts);
        });
      });
      if (status.ok()) return ordered(texts) == expected ? status : Wrong("wrong elements", texts);
      // Behind the error come elements that are whole, and no others.
      for (int i = 0; iterator != nullptr && i < 100 && !ReadTo(*iterator, &texts).ok(); ++i) {
      }
      Texts found = ordered(texts);
      auto next = found.begin();
      for (const std::string& text : expected) next += next != found.end() && *next == text;
      if (next != found.end() && reading.errors_keep_places) return Wrong("unexpected elements behind an error", texts);
      // Another iterator has them all.
      if (!dataset.has_value() || !dataset->status().ok()) return status;
      texts.clear();
      TD_ASSIGN_OR_RETURN(iterator, dataset->MakeIterator());
      TD_RETURN_IF_ERROR(ReadTo(*iterator, &texts));
      return ordered(texts) == expected ? status : Wrong("wrong elements of the next iterator", texts);
    });
  }
};

TEST_F(InputAllocationTest, RecordsOfExamples) {
  Texts records, expected;
  for (int64_t i = 0; i < 24; ++i) {
    ExampleBuilder example;
    example.Int64("id", i).Bytes("name", absl::StrCat("n", i));
    std::string values;
    for (int64_t k = 0; k < i % 3; ++k) absl::StrAppend(&values, " ", i, ".5");
    example.Float("v", std::vector<float>(i % 3, static_cast<float>(i) + 0.5f));
    records.push_back(example.Serialize());
    expected.push_back(absl::StrCat(i, " n", i, values));
  }
  WriteRecords("a", {records.begin(), records.begin() + 10}, Compression::kGzip);
  WriteRecords("b", {records.begin() + 10, records.end()}, Compression::kGzip);
  const auto parsed = [&] {
    return Dataset::TFRecord({File("a"), File("b")}, {.compression = Compression::kGzip})
        .ParseExample({FeatureSpec::FixedLen("id", DType::kInt64), FeatureSpec::FixedLen("name", DType::kString),
                       FeatureSpec::VarLen("v", DType::kFloat32)},
                      {.num_parallel_calls = 2});
  };
  TryPipeline(
      "records", [&] { return parsed().Prefetch(2); }, expected);
  TryPipeline("shuffled records", [&] { return parsed().Shuffle(7, {.seed = 3}); }, expected, {.in_any_order = true});
}

TEST_F(InputAllocationTest, CsvInMemory) {
  std::string text = "id,name,x\n";
  Texts expected;
  for (int i = 0; i < 12; ++i) absl::StrAppend(&text, i, ",\"n,", i, "\",", i, ".25\n");
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < 12; i += 3) {
      expected.push_back(absl::StrCat(i, " ", i + 1, " ", i + 2, " ", i, ".5 ", i + 1, ".5 ", i + 2, ".5"));
    }
  }
  WriteText("table.csv", text);
  TryPipeline(
      "CSV, cached in memory, on threads",
      [&] {
        return Dataset::Csv({File("table.csv")}, {{"id", DType::kInt64}, {"x", DType::kFloat32}})
            .Cache()
            .Repeat(2)
            .Map(
                [](const Element& e) -> absl::StatusOr<Element> {
                  return Element{{e.components[0], HostTensor::Scalar(e.components[1].data<float>()[0] + 0.25f)}};
                },
                {.num_parallel_calls = 3})
            .Batch(3);
      },
      expected);
}

TEST_F(InputAllocationTest, TextInAFile) {
  std::string text;
  Texts lines;
  for (int i = 0; i < 15; ++i) {
    lines.push_back(absl::StrCat("line-", i));
    absl::StrAppend(&text, lines.back(), "\n");
  }
  WriteText("lines", text);
  const auto cached = [&] { return Dataset::TextLine({File("lines")}).Cache({.file = File("cache")}); };
  Texts expected = lines;
  expected.insert(expected.end(), lines.begin(), lines.end());
  TryPipeline("text, cached in a file", [&] { return cached().Repeat(2); }, expected,
              {.begin = [&] { std::filesystem::remove(File("cache")); }});
  TryPipeline(
      "the file of a cache", [&] { return cached().Prefetch(2); }, lines);
}

TEST_F(InputAllocationTest, FixedLengthIdxAndNames) {
  Texts expected;
  std::string bytes, idx("\0\0\x08\2\0\0\0\x0a\0\0\0\2", 12);
  for (int i = 0; i < 10; ++i) {
    absl::StrAppend(&bytes, "r", i);
    idx.push_back(static_cast<char>(i));
    idx.push_back(static_cast<char>(100 + i));
    if (i >= 2) expected.push_back(absl::StrCat(i, " r", i, " ", i, " ", 100 + i));
  }
  WriteText("fixed", bytes);
  WriteText("values.idx", idx);
  TryPipeline(
      "records of one length with IDX",
      [&] {
        return Dataset::Zip({Dataset::FixedLengthRecord({File("fixed")}, {.record_bytes = 2}),
                             Dataset::Idx({File("values.idx")})})
            .Enumerate()
            .Skip(2);
      },
      expected);
  Texts lines;
  for (int file = 0; file < 3; ++file) {
    std::string text;
    for (int i = 0; i < 4; ++i) absl::StrAppend(&text, file, "-", i, "\n");
    WriteText(absl::StrCat("part-", file), text);
  }
  for (int pair : {0, 2}) {  // blocks of two lines of two files at a time
    for (int file = 0; file < 2; ++file) {
      for (int i = pair; i < pair + 2; ++i) lines.push_back(absl::StrCat(file, "-", i));
    }
  }
  for (int i = 0; i < 4; ++i) lines.push_back(absl::StrCat("2-", i));
  TryPipeline(
      "files that are listed, read in turn on threads",
      [&] {
        return Dataset::ListFiles({File("part-*")})
            .Interleave(
                [](const Element& e) -> absl::StatusOr<Dataset> {
                  return Dataset::TextLine({std::string(e.components[0].string())});
                },
                {.cycle_length = 2, .block_length = 2, .num_parallel_calls = 2});
      },
      lines);
}

int64_t Number(const Element& e) { return e.components[0].values<int64_t>()[0]; }

TEST_F(InputAllocationTest, StagesThatKeepElements) {
  const std::vector<ComponentSpec> number = {{"value", DType::kInt64, {}}};
  TryPipeline(
      "stages",
      [&] {
        return Dataset::Range(9)
            .Filter([](const Element& e) -> absl::StatusOr<bool> { return Number(e) % 3 != 0; })  // 1 2 4 5 7 8
            .Dedupe([](const Element& e) -> absl::StatusOr<std::string> { return std::to_string(Number(e) / 2); })
            .Concatenate(Dataset::Range(2))  // 1 2 4 7 8 0 1
            .Window({.size = 3, .shift = 2})
            .Unbatch()  // 1 2 4 4 7 8 8 0 1 1
            .Scan(
                {{HostTensor::Scalar<int64_t>(0)}},
                [](const Element& sum, const Element& e, Element* next) -> absl::StatusOr<Element> {
                  *next = {{HostTensor::Scalar<int64_t>(Number(sum) + Number(e))}};
                  return *next;
                },
                number)
            .Batch(4);
      },
      {"1 3 7 11", "18 26 34 34", "35 36"}, {.errors_keep_places = false});
  TryPipeline(
      "rows of different length",
      [&] {
        return Dataset::Range(5)
            .Map(
                [](const Element& e) -> absl::StatusOr<Element> {
                  return Element{{HostTensor::FromVector({Number(e)}, std::vector<int64_t>(Number(e), Number(e)))}};
                },
                {.spec = {{"value", DType::kInt64, {-1}}}})
            .BucketBySequenceLength(
                [](const Element& e) -> absl::StatusOr<int64_t> { return e.components[0].num_elements(); }, {3}, {2, 2})
            .Prefetch(1);
      },
      {"0 1", "3 3 3 0 4 4 4 4", "2 2"}, {.errors_keep_places = false});
}

// A position that is saved and restored.
TEST_F(InputAllocationTest, Positions) {
  const auto dataset = [] { return Dataset::Range(12).Shuffle(4, {.seed = 1}).Repeat(2).Batch(3).Prefetch(2); };
  Texts all;
  ASSERT_TRUE(ReadTo(**dataset().MakeIterator(), &all).ok());
  ASSERT_EQ(all.size(), 8u);
  TryAll("positions", [&](const Armed& armed) {
    return armed([&] {
      return CatchResourceErrors("", [&]() -> absl::Status {
        TD_ASSIGN_OR_RETURN(const auto first, dataset().MakeIterator());
        Texts texts;
        for (int i = 0; i < 3; ++i) {
          Element element;
          bool end = false;
          TD_RETURN_IF_ERROR(first->GetNext(&element, &end));
          texts.push_back(TextOf(element));
        }
        TD_ASSIGN_OR_RETURN(const std::string state, first->SaveState());
        TD_ASSIGN_OR_RETURN(const auto second, dataset().MakeIterator());
        TD_RETURN_IF_ERROR(second->RestoreState(state));
        TD_RETURN_IF_ERROR(ReadTo(*second, &texts));
        return texts == all ? absl::OkStatus() : Wrong("wrong elements", texts);
      });
    });
  });
}

TEST_F(InputAllocationTest, ArraysOfNumPyAndIdx) {
  const HostTensor a = HostTensor::FromVector<float>({2, 3}, {1, 2, 3, 4, 5, 6}), b = HostTensor::Scalar<int64_t>(7);
  std::string idx("\0\0\x08\1\0\0\0\4", 8);
  idx += "abcd";
  WriteText("values.idx", idx);
  TryAll("arrays", [&](const Armed& armed) {
    return armed([&] {
      return CatchResourceErrors("", [&]() -> absl::Status {
        TD_ASSIGN_OR_RETURN(const std::string bytes, SerializeNpz({{"a", a}, {"b", b}}));
        TD_RETURN_IF_ERROR(Env::Default()->WriteFileAtomically(File("arrays.npz"), bytes));
        TD_ASSIGN_OR_RETURN(const auto arrays, ReadNpz(File("arrays.npz")));
        if (arrays.size() != 2 || !arrays[0].second.BitEqual(a) || !arrays[1].second.BitEqual(b)) {
          return absl::InternalError("wrong arrays");
        }
        TD_ASSIGN_OR_RETURN(const HostTensor values, ReadIdx(File("values.idx")));
        return TextOf({{values}}) == "97 98 99 100" ? absl::OkStatus() : absl::InternalError("wrong values");
      });
    });
  });
}

// Records that were written without an error are all there.
TEST_F(InputAllocationTest, WritingRecords) {
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    TryAll(absl::StrCat("writing records, ", Name(compression)), [&](const Armed& armed) -> absl::Status {
      TD_RETURN_IF_ERROR(armed([&] {
        return CatchResourceErrors("", [&]() -> absl::Status {
          TD_ASSIGN_OR_RETURN(const auto writer, RecordWriter::Create(File("written"), {.compression = compression}));
          for (const char* record : {"one", "two"}) TD_RETURN_IF_ERROR(writer->Write(record));
          return writer->Close();
        });
      }));
      Texts texts;
      TD_ASSIGN_OR_RETURN(const auto iterator,
                          Dataset::TFRecord({File("written")}, {.compression = compression}).MakeIterator());
      TD_RETURN_IF_ERROR(ReadTo(*iterator, &texts));
      return texts == Texts{"one", "two"} ? absl::OkStatus() : Wrong("wrong records", texts);
    });
  }
}

}  // namespace
}  // namespace tandem
