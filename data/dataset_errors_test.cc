// Every mistake in a pipeline comes back as a Status that names the user's line.
#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/logging.h"
#include "base/out_of_memory.h"
#include "data/dataset.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

// Of the undefined-behaviour sanitizer, where this program has it.
extern "C" __attribute__((weak)) void __ubsan_handle_dynamic_type_cache_miss_abort(void*, uintptr_t, uintptr_t);

namespace tandem {
namespace {

// MakeIterator fails with InvalidArgument, this file's `line`, and a text that contains `what`.
void ExpectError(const Dataset& d, int line, absl::string_view what) {
  absl::Status status = d.MakeIterator().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(status, d.status());
  EXPECT_TRUE(absl::StrContains(status.message(), what)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("data/dataset_errors_test.cc:", line, ": "))) << status;
  EXPECT_TRUE(d.spec().empty());
  EXPECT_EQ(d.cardinality(), 0);
}

HostTensor Rows(int64_t n) { return HostTensor::Zeros(DType::kFloat32, {n, 2}); }

absl::StatusOr<Element> Identity(const Element& in) { return in; }

TEST(DatasetErrorsTest, Sources) {
  ExpectError(Dataset::Range(-1), __LINE__, "Range: the size must not be negative, got -1");
  ExpectError(Dataset::FromTensorSlices({}), __LINE__, "at least one tensor");
  ExpectError(Dataset::FromTensorSlices({{"x", Rows(3)}, {"y", Rows(4)}}), __LINE__,
              "tensor 'y' has 4 rows (shape [4,2]) and 'x' has 3");
  ExpectError(Dataset::FromTensorSlices({{"x", Rows(3)}, {"x", Rows(3)}}), __LINE__, "two tensors have the name 'x'");
  ExpectError(Dataset::FromTensorSlices({{"x", HostTensor()}}), __LINE__, "'x' is empty");
  ExpectError(Dataset::FromTensorSlices({{"x", HostTensor::Scalar<float>(1)}}), __LINE__, "'x' is a scalar");
}

TEST(DatasetErrorsTest, RowsThatAreStillBeingRead) {
  int64_t asked = 0;
  Dataset d = Dataset::FromTensorSlices({{"x", Rows(8)}}, [&asked](int64_t rows) {
    asked = rows;
    return rows <= 4 ? absl::OkStatus() : absl::DataLossError("row 4 is damaged");
  });
  const int line = __LINE__ - 4;
  std::unique_ptr<Iterator> it = Make(d.Batch(3));
  EXPECT_EQ(Read(*it, 1).size(), 1u);
  EXPECT_EQ(asked, 3);
  Element batch;
  bool end = false;
  absl::Status status = it->GetNext(&batch, &end);
  EXPECT_EQ(asked, 6);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "row 4 is damaged")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("data/dataset_errors_test.cc:", line, ": "))) << status;
  EXPECT_EQ(Make(d.Skip(2))->GetNext(&batch, &end), absl::OkStatus());
  EXPECT_EQ(asked, 3);
}

TEST(DatasetErrorsTest, Arguments) {
  Dataset d = Dataset::Range(10);
  ExpectError(d.Shuffle(0), __LINE__, "Shuffle: the buffer size must be between 1 and");
  ExpectError(d.Shuffle(int64_t{1} << 40), __LINE__, "got 1099511627776");
  ExpectError(d.ShuffleAndRepeat(-5, 2), __LINE__, "Shuffle: the buffer size");
  ExpectError(d.ShuffleAndRepeat(5, -2), __LINE__, "Repeat: the count");
  ExpectError(d.Repeat(-2), __LINE__, "Repeat: the count must be >= 0, or -1 for ever, got -2");
  ExpectError(d.Batch(0), __LINE__, "Batch: the size must be at least 1, got 0");
  ExpectError(d.Batch(INT64_MAX), __LINE__, "too large");
  ExpectError(d.Batch(11, {.drop_remainder = true}), __LINE__, "11 is larger than the data (10 elements)");
  ExpectError(d.Batch(3).Batch(2), __LINE__, "or set drop_remainder in the first");
  ExpectError(d.Prefetch(-1), __LINE__, "Prefetch: the buffer size must be >= 0");
  ExpectError(d.Shard(0, 0), __LINE__, "the number of shards must be at least 1");
  ExpectError(d.Shard(2, 2), __LINE__, "the index must be in [0, 2) for 2 shards, got 2");
  ExpectError(d.Shard(2, -1), __LINE__, "got -1");
  ExpectError(d.Take(-2), __LINE__, "Take: the count");
  ExpectError(d.Skip(-2), __LINE__, "Skip: the count");
}

TEST(DatasetErrorsTest, BatchingAgainNamesBothPlaces) {
  const Dataset d = Dataset::Range(10);
  const Dataset short_last = d.Batch(3);
  const int line = __LINE__ - 1;
  const std::string first = absl::StrCat("batches of 3 already, from the Batch at data/dataset_errors_test.cc:", line);
  ExpectError(short_last.Batch(2), __LINE__, first);
  const Dataset full = d.Batch(5);
  LogCapture log;
  EXPECT_EQ(full.Batch(2).status(), absl::OkStatus());
  const int again = __LINE__ - 1;
  const std::string file = "data/dataset_errors_test.cc:";
  EXPECT_EQ(
      log.Text(LogSeverity::kWarning),
      absl::StrCat(file, again, ": Batch: the elements are batches of 5 already, from the Batch at ", file, again - 2,
                   ": every example is one of them; remove one of the two if this is not what you want\n"));
}

TEST(DatasetErrorsTest, Map) {
  Dataset d = Dataset::Range(10);
  ExpectError(d.Map(nullptr), __LINE__, "Map: the function is null");
  ExpectError(d.Map(Identity, {.num_parallel_calls = -1}), __LINE__, "num_parallel_calls must be >= 0");
  ExpectError(d.Map(Identity, {.names = {"a", "b"}}), __LINE__, "returns 1 components and MapOptions.names has 2");
  ExpectError(d.Map(Identity, {.names = {"a"}, .spec = d.spec()}), __LINE__, "are both given");
  ExpectError(d.Take(0).Map(Identity), __LINE__, "the dataset is empty");
  auto nothing = [](const Element&) -> absl::StatusOr<Element> { return Element(); };
  ExpectError(d.Map(nothing), __LINE__, "returns no component");
  auto hollow = [](const Element&) -> absl::StatusOr<Element> { return Element{{HostTensor()}}; };
  ExpectError(d.Map(hollow), __LINE__, "component 0 of the result is empty");
  auto twice = [](const Element& e) -> absl::StatusOr<Element> { return Element{{e.components[0], e.components[0]}}; };
  ExpectError(d.Map(twice), __LINE__, "or in MapOptions.names");
  auto fail = [](const Element&) -> absl::StatusOr<Element> { return absl::InvalidArgumentError("no such image"); };
  ExpectError(d.Map(fail), __LINE__, "Map: element 0 of the source: no such image");
  auto throws = [](const Element&) -> absl::StatusOr<Element> { throw std::out_of_range("no key 7"); };
  ExpectError(d.Skip(3).Map(throws), __LINE__, "Map: element 3 of the source: threw std::out_of_range: \"no key 7\"");
  ExpectError(d.Map(Identity, {.num_parallel_calls = 1 << 30}), __LINE__,
              "num_parallel_calls = 1073741824 is more than 1024");
  ExpectError(d.Map(twice, {.names = {"a", "a"}}), __LINE__, "two components have the name 'a'");
  ExpectError(d.Map(Identity, {.spec = {{"a", DType::kInvalid, {}}}}), __LINE__, "which no tensor has");
  auto wrong = [](const Element&) -> absl::StatusOr<Element> {
    return Element{{HostTensor::FromVector<float>({3}, {1, 2})}};
  };
  ExpectError(d.Map(wrong), __LINE__ - 2, "the shape [3] has 3 elements, but 2 values are given");
}

TEST(DatasetErrorsTest, TheFirstErrorSticks) {
  Dataset bad = Dataset::Range(10).Batch(-1);
  int line = __LINE__ - 1;
  ExpectError(bad.Shuffle(0).Repeat(-7).Map(nullptr).Prefetch(-1).Shard(0, 0).Take(-9).Skip(-9).Batch(0), line,
              "Batch: the size must be at least 1, got -1");
}

TEST(DatasetErrorsTest, AnErrorOfMapIsThatOfOneElement) {
  auto odd_fails = [](const Element& in) -> absl::StatusOr<Element> {
    int64_t v = *in.components[0].data<int64_t>();
    if (v % 2) return absl::DataLossError(absl::StrCat("cannot decode ", v));
    return in;
  };
  for (int threads : {1, 3}) {
    Dataset d = Dataset::Range(4).Map(odd_fails, {.num_parallel_calls = threads});
    int line = __LINE__ - 1;
    std::unique_ptr<Iterator> it = Make(d);
    for (int64_t i = 0; i < 4; ++i) {
      Element e;
      bool end = true;
      absl::Status status = it->GetNext(&e, &end);
      EXPECT_FALSE(end);
      if (i % 2 == 0) {
        ASSERT_TRUE(status.ok()) << status;
        EXPECT_EQ(*e.components[0].data<int64_t>(), i);
      } else {
        EXPECT_EQ(status, absl::DataLossError(absl::StrCat("data/dataset_errors_test.cc:", line, ": Map, element ", i,
                                                           " of the source: cannot decode ", i)));
      }
    }
    EXPECT_TRUE(Read(*it).empty());
  }
}

TEST(DatasetErrorsTest, AnExceptionIsAnErrorOfItsElement) {
  auto throws = [](const Element& in) -> absl::StatusOr<Element> {
    const int64_t v = *in.components[0].data<int64_t>();
    if (v == 3) throw std::runtime_error("three");
    if (v == 5) throw std::bad_alloc();
    return in;
  };
  const int line = __LINE__ + 1;
  auto mapped = [&](int threads) { return Dataset::Range(7).Map(throws, {.num_parallel_calls = threads}); };
  const std::string at = absl::StrCat("data/dataset_errors_test.cc:", line, ": Map, element ");
  for (const Dataset& d : {mapped(1), mapped(3), mapped(1).Prefetch(2), mapped(2).Prefetch()}) {
    std::unique_ptr<Iterator> it = Make(d);
    for (int64_t i = 0; i < 7; ++i) {
      Element e;
      bool end = true;
      const absl::Status status = it->GetNext(&e, &end);
      EXPECT_FALSE(end);
      EXPECT_EQ(
          status,
          i == 3 ? absl::InvalidArgumentError(absl::StrCat(at, "3 of the source: threw std::runtime_error: \"three\""))
          : i == 5 ? OutOfMemoryError(absl::StrCat(at, "5 of the source: ran out of memory (std::bad_alloc)"))
                   : absl::OkStatus());
    }
    EXPECT_TRUE(Read(*it).empty());
  }
  // The element of a batch, and a batch as the element.
  Element e;
  bool end = false;
  EXPECT_EQ(Make(mapped(1).Batch(7))->GetNext(&e, &end),
            absl::InvalidArgumentError(absl::StrCat(at, "3 of the source: threw std::runtime_error: \"three\"")));
  std::unique_ptr<Iterator> batches = Make(Dataset::Range(7).Skip(2).Batch(2).Map(
      [calls = 0](const Element& in) mutable -> absl::StatusOr<Element> {
        if (++calls > 2) throw 1;  // not where the result is looked at, nor in the first
        return in;
      },
      {}, {"model.cc", 12}));
  EXPECT_TRUE(batches->GetNext(&e, &end).ok());
  EXPECT_EQ(batches->GetNext(&e, &end),
            absl::InvalidArgumentError("model.cc:12: Map, the batch of 2 that begins with element 4 of the source: "
                                       "threw int, which is no std::exception"));
}

// A process that has no file descriptor left has no broken files.
TEST(DatasetErrorsTest, FileDescriptorsThatRunOutAreNotIgnored) {
  if (__ubsan_handle_dynamic_type_cache_miss_abort != nullptr) {
    GTEST_SKIP() << "the undefined-behaviour sanitizer's check of dynamic types takes descriptors of its own";
  }
  std::vector<std::string> files;
  for (const char* name : {"first.txt", "second.txt"}) {
    files.push_back(JoinPath(testing::TempDir(), name));
    ASSERT_TRUE(Env::Default()->WriteFile(files.back(), {"a\nb\n"}).ok());
  }
  const auto lines = [](const Element& file) -> absl::StatusOr<Dataset> {
    return Dataset::TextLine({std::string(file.components[0].string())});
  };
  const Dataset listed = Dataset::FromTensorSlices({{"file", HostTensor::FromStrings({2}, files)}}).FlatMap(lines);
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  for (const Dataset& d : {Dataset::TextLine(files), listed, Dataset::TextLine(files).Cache().Shuffle(1)}) {
    std::unique_ptr<Iterator> it = Make(d.IgnoreErrors({.max = 10}));
    EXPECT_EQ(Read(*it, 2).size(), 2u);
    const rlimit none = {0, limit.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    Element e;
    bool end = false;
    const absl::Status status = it->GetNext(&e, &end);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_FALSE(end);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_TRUE(IsOutOfMemory(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "second.txt: cannot ")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "Too many open files")) << status;
  }
}

TEST(DatasetErrorsTest, AnExceptionOfWaitForRows) {
  Dataset d = Dataset::FromTensorSlices(
      {{"x", Rows(4)}}, [](int64_t) -> absl::Status { throw std::runtime_error("gone"); }, {"input.cc", 3});
  Element e;
  bool end = false;
  EXPECT_EQ(Make(d.Prefetch(1))->GetNext(&e, &end),
            absl::InvalidArgumentError("input.cc:3: FromTensorSlices: threw std::runtime_error: \"gone\""));
}

// What was drawn of an element when memory ran out is no part of the position, from which an iterator can go on.
TEST(DatasetErrorsTest, AnIteratorWhoseSourceFailedGoesOnFromItsPosition) {
  for (const bool threads : {false, true}) {
    std::atomic<bool> fails = true;
    auto copy = [&](const Element&, const Element& in, Element*) -> absl::StatusOr<Element> {
      if (fails && *in.components[0].data<int64_t>() == 5) throw std::bad_alloc();
      return in;
    };
    const Dataset rows = Dataset::Range(12).Scan({}, copy, {{"value", DType::kInt64, {}}}).Batch(4);
    const Dataset d = threads ? rows.Prefetch(2) : rows;
    std::unique_ptr<Iterator> it = Make(d), second = Make(d);
    Element e;
    bool end = false;
    int64_t batches = 0;
    absl::Status status;
    for (; (status = it->GetNext(&e, &end)).ok(); ++batches) ASSERT_FALSE(end);
    EXPECT_TRUE(IsOutOfMemory(status)) << status;
    EXPECT_LE(batches, 1);
    EXPECT_EQ(it->GetNext(&e, &end), status);
    fails = false;
    EXPECT_EQ(it->GetNext(&e, &end), status);  // the rest of the batch is lost
    const absl::StatusOr<std::string> state = it->SaveState();
    ASSERT_TRUE(state.ok()) << state.status();
    std::vector<int64_t> rest;
    for (int64_t i = 4 * batches; i < 12; ++i) rest.push_back(i);
    for (Iterator* from : {second.get(), it.get()}) {
      ASSERT_TRUE(from->RestoreState(*state).ok());
      EXPECT_EQ(Values(Read(*from)), rest) << threads;
    }
  }
}

TEST(DatasetErrorsTest, TensorsThatCouldNotBeMade) {
  Dataset d = Dataset::FromTensorSlices({{"x", HostTensor::FromVector<float>({2, 2}, {1, 2, 3})}});
  ExpectError(d, __LINE__ - 1, "tensor 'x': ");
  EXPECT_TRUE(absl::StrContains(d.status().message(), "the shape [2,2] has 4 elements, but 3 values are given"));
}

TEST(DatasetErrorsTest, PlacesForResultsMustBeGiven) {
  std::unique_ptr<Iterator> it = Make(Dataset::Range(2));
  Element e;
  bool end = false;
  EXPECT_EQ(it->GetNext(nullptr, &end).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(it->GetNext(&e, nullptr).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(it->Peek(-1, &e));
  EXPECT_FALSE(it->Peek(0, nullptr));
}

TEST(DatasetErrorsTest, ResultsMustFitTheirDescription) {
  auto grow = [](const Element& in) -> absl::StatusOr<Element> {
    return Element{{HostTensor::Zeros(DType::kInt64, {1 + *in.components[0].data<int64_t>()})}};
  };
  std::unique_ptr<Iterator> it = Make(Dataset::Range(3).Map(grow));
  Element e;
  bool end = false;
  EXPECT_TRUE(it->GetNext(&e, &end).ok());
  absl::Status status = it->GetNext(&e, &end);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), "component 'value' is int64[2] where int64[1] is expected"))
      << status;

  MapOptions varying{.spec = {{"value", DType::kInt64, {-1}}}};
  Dataset batched = Dataset::Range(3).Map(grow, varying).Batch(2);
  int line = __LINE__ - 1;
  status = Make(batched)->GetNext(&e, &end);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("data/dataset_errors_test.cc:", line,
                                                               ": Batch: component 'value' is int64[2] in row 1 and "
                                                               "int64[1] in row 0")))
      << status;

  auto two = [](const Element& in) -> absl::StatusOr<Element> { return Element{{in.components[0], in.components[0]}}; };
  status = Make(Dataset::Range(3).Map(two, {.spec = {{"one", DType::kInt64, {}}}}))->GetNext(&e, &end);
  EXPECT_TRUE(absl::StrContains(status.message(), "2 components where 1 are expected (one:int64[])")) << status;
}

}  // namespace
}  // namespace tandem
