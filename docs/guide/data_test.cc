// Compiles the code of docs/guide/data.md and runs it on small files.
#include <fstream>
#include <string>

#include "data/testdata/golden.h"
#include "gtest/gtest.h"
#include "tandem/base/env.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/dataset.h"
#include "tandem/data/files/npy.h"
#include "tandem/data/files/record_writer.h"
#include "tandem/data/vocabulary.h"

namespace tandem {
namespace {

#include "docs/guide/data_test_blocks.inc"

absl::Status WriteRecord(const std::string& path, const std::string& record) {
  TD_ASSIGN_OR_RETURN(auto writer, RecordWriter::Create(path));
  TD_RETURN_IF_ERROR(writer->Write(record));
  return writer->Close();
}

TEST(DataPageTest, EveryBlockRuns) {
  const std::string folder = testing::TempDir();
  const std::vector<float> image(28 * 28, 0.5f);
  ASSERT_TRUE(
      WriteRecord(folder + "/train-0.tfrecord", ExampleBuilder().Float("image", image).Int64("label", 1).Serialize())
          .ok());
  ASSERT_TRUE(WriteRecord(folder + "/words.tfrecord", ExampleBuilder().Int64("words", {1, 2}).Serialize()).ok());
  ASSERT_TRUE(WriteRecord(folder + "/old.tfrecord", "x").ok());
  std::ofstream(folder + "/table.csv") << "income,age\n,30\n";
  std::ofstream(folder + "/people.csv") << "job,income\nsmith,1\nsmith,2\nking,3\n";
  std::ofstream(folder + "/lines.txt") << "a line\n";
  std::ofstream(folder + "/train.npz", std::ios::binary) << *Env::Default()->ReadFile(GoldenPath("train.npz"));
  std::ofstream(folder + "/images-idx3-ubyte") << std::string("\0\0\x08\3\0\0\0\1\0\0\0\1\0\0\0\2ab", 18);
  std::ofstream(folder + "/labels-idx1-ubyte") << std::string("\0\0\x08\1\0\0\0\1\7", 9);
  EXPECT_EQ(std::size(kBlocks), 11u);
  for (const auto& block : kBlocks) {
    const absl::Status status = block(folder);
    EXPECT_TRUE(status.ok()) << status;
  }
}

}  // namespace
}  // namespace tandem
