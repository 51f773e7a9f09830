// Memory does not grow with the number of records that were read, and what stages keep has limits. TANDEM_RECORDS says
// how many are read (bazel test
// --test_env=TANDEM_RECORDS=1000000 --test_output=all //data:memory_test); 100000 else. Prints the figures.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "data/dataset.h"
#include "data/files/record_writer.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

constexpr int kRecordsOfAFile = 5000;
// What the allocator and buffers that adapt may take more.
constexpr double kMostGrowth = 16;  // MiB

// Of this process, in MiB.
double ResidentMemory() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
}

std::string WriteRecords(const std::string& name, Compression compression) {
  const std::string path = JoinPath(testing::TempDir(), name);
  auto writer = RecordWriter::Create(path, {.compression = compression});
  for (int i = 0; i < kRecordsOfAFile; ++i) {
    const std::vector<float> values(20 + i % 60, static_cast<float>(i));
    EXPECT_TRUE((*writer)->Write(ExampleBuilder().Float("x", values).Int64("y", i).Serialize()).ok());
  }
  EXPECT_TRUE((*writer)->Close().ok());
  return path;
}

// Every file is opened anew, as so many different ones would be.
Dataset Records(const std::string& path, Compression compression, int64_t files) {
  const auto open = [path, compression](const Element&) -> absl::StatusOr<Dataset> {
    return Dataset::TFRecord({path}, {.compression = compression});
  };
  return Dataset::Range(files).Interleave(open, {.cycle_length = 4, .num_parallel_calls = 2});
}

TEST(MemoryTest, DoesNotGrowWithTheRecords) {
  int64_t records = 100000;
  if (const char* wanted = std::getenv("TANDEM_RECORDS"); wanted != nullptr) {
    ASSERT_TRUE(absl::SimpleAtoi(wanted, &records) && records >= 10 * kRecordsOfAFile) << wanted;
  }
  const int64_t files = records / kRecordsOfAFile;
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    const std::string path = WriteRecords(std::string(Name(compression)), compression);
    const Dataset d =
        Records(path, compression, files)
            .Shuffle(1000, {.seed = 1})
            .ParseExample({FeatureSpec::VarLen("x", DType::kFloat32), FeatureSpec::FixedLen("y", DType::kInt64)})
            .PaddedBatch(50)
            .Prefetch();
    ASSERT_TRUE(d.status().ok()) << d.status();
    std::unique_ptr<Iterator> it = Make(d);
    const int64_t batches = files * kRecordsOfAFile / 50;
    double early = 0, most = 0;
    for (int64_t i = 0; i < batches; ++i) {
      Element e;
      bool end = false;
      const absl::Status status = it->GetNext(&e, &end);
      ASSERT_TRUE(status.ok() && !end) << status;
      if (i % 100 != 0) continue;
      // A fifth of the way, everything that has a size has it.
      (i < batches / 5 ? early : most) = std::max(i < batches / 5 ? early : most, ResidentMemory());
    }
    std::printf("%s: %lld records, %.1f MiB after a fifth of them, %.1f MiB at most afterwards\n",
                std::string(Name(compression)).c_str(), static_cast<long long>(batches * 50), early, most);
    EXPECT_LT(most, early + kMostGrowth);
  }
}

// What a shuffle buffer does not keep it reads again.
TEST(MemoryTest, AShuffleOfWhatIsMadeOfRecordsKeepsALimitedPartOfThem) {
  const int64_t records = 8000;  // 122 MiB
  const std::string path = JoinPath(testing::TempDir(), "large");
  auto writer = RecordWriter::Create(path, {});
  for (int64_t i = 0; i < records; ++i) ASSERT_TRUE((*writer)->Write(std::string(16000, 'x')).ok());
  ASSERT_TRUE((*writer)->Close().ok());
  const Dataset read = Dataset::TFRecord({path});
  const std::vector<std::pair<std::string, Dataset>> all = {
      {"batch", read.Batch(4)},
      {"padded batch", read.PaddedBatch(4)},
      {"window", read.Window({.size = 4})},
      {"zip", Dataset::Zip({Dataset::Range(records), read})},
      {"batch of zip", Dataset::Zip({Dataset::Range(records), read}).Batch(4)},
  };
  for (const auto& [name, dataset] : all) {
    ASSERT_TRUE(dataset.status().ok()) << dataset.status();
    malloc_trim(0);
    const double before = ResidentMemory();
    std::unique_ptr<Iterator> it = Make(dataset.Shuffle(records));
    int64_t rows = 0;
    for (const Element& e : Read(*it, 1)) rows += e.components.back().num_elements();
    const double kept = ResidentMemory() - before;
    std::printf("%s: a shuffle buffer of %.1f MiB\n", name.c_str(), kept);
    EXPECT_LT(kept, 64 + kMostGrowth) << name;
    for (;;) {
      const std::vector<Element> next = Read(*it, 1);
      if (next.empty()) break;
      rows += next[0].components.back().num_elements();
      ASSERT_EQ(next[0].components.back().string().size(), 16000u);
    }
    EXPECT_EQ(rows, records) << name;
  }
}

// Of data sets that were made for elements, for tokens that come without them.
TEST(MemoryTest, FlatMapKeepsALimitedPartOfItsDatasets) {
  std::vector<std::weak_ptr<int>> made;
  const auto large = [&made](const Element& e) -> absl::StatusOr<Dataset> {
    const auto held = std::make_shared<int>();
    made.push_back(held);
    return Dataset::FromTensorSlices({{"x", HostTensor::Zeros(DType::kFloat32, {2, 1 << 20})}})  // 8 MiB
        .Map([held](const Element& e) { return e; });
  };
  for (const Dataset& d : {Dataset::Range(16).FlatMap(large), Dataset::Range(16).Interleave(large)}) {
    made.clear();
    std::unique_ptr<Iterator> it = Make(d);
    ASSERT_EQ(Read(*it, 30).size(), 30u);
    EXPECT_GE(made.size(), 15u);
    const auto there = std::count_if(made.begin(), made.end(), [](const auto& held) { return !held.expired(); });
    EXPECT_LE(there, 64 / 8 + 1);
  }
}

}  // namespace
}  // namespace tandem
