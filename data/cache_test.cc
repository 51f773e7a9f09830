// Cache with a file: the same elements and positions as in memory, and nothing that is half.
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/fault_injecting_env.h"
#include "data/dataset.h"
#include "data/files/cache_file.h"
#include "data/files/element_codec.h"
#include "data/files/example.h"
#include "data/files/record_writer.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

std::string NewDir(const std::string& name) {
  const std::string dir = JoinPath(testing::TempDir(), name);
  (void)Env::Default()->DeleteRecursively(dir);
  EXPECT_TRUE(Env::Default()->CreateDirs(dir).ok());
  return dir;
}

std::vector<std::string> Names(const std::string& dir) { return *Env::Default()->ListDir(dir); }

// 0, 1, ..., n - 1 with a string of each and, where `broken` is not negative, an error; counts its calls.
Dataset Counted(int64_t n, std::atomic<int>* calls, int64_t broken = -1) {
  return Dataset::Range(n).Map(
      [calls, broken](const Element& e) -> absl::StatusOr<Element> {
        ++*calls;
        const int64_t i = *e.components[0].data<int64_t>();
        if (i == broken) return absl::DataLossError("broken");
        return Element{{e.components[0], HostTensor::FromStrings({2}, std::vector<std::string>{absl::StrCat("s", i),
                                                                                               std::string(i, 'x')})}};
      },
      {.spec = {{"value", DType::kInt64, {}}, {"text", DType::kString, {2}}}});
}

TEST(CacheTest, AnElementSurvivesItsBytes) {
  const Element element = {{HostTensor::FromVector<float>({2, 2}, {1, -2, 3, 4}), HostTensor::Zeros(DType::kBool, {3}),
                            HostTensor::FromStrings({2, 1}, std::vector<std::string>{"", std::string("a\0b", 3)}),
                            HostTensor(DType::kFloat64, {0, 4}), HostTensor::Scalar<int64_t>(-7)}};
  std::string bytes;
  AppendElement(element, &bytes);
  Element read;
  ASSERT_TRUE(ParseElement(bytes, &read));
  EXPECT_TRUE(BitEqual({read}, {element}));
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(ParseElement(bytes.substr(0, size), &read)) << size;
  EXPECT_FALSE(ParseElement(bytes + "x", &read));
}

TEST(CacheTest, TheFileTakesThePlaceOfTheStagesBefore) {
  const std::string dir = NewDir("place"), file = JoinPath(dir, "train.cache");
  std::atomic<int> calls = 0;
  const Dataset first = Counted(50, &calls).Cache({.file = file});
  ASSERT_TRUE(first.status().ok()) << first.status();
  const std::vector<Element> expected = Read(Counted(50, &calls));
  calls = 0;
  EXPECT_TRUE(BitEqual(Read(first, 49), std::vector<Element>(expected.begin(), expected.end() - 1)));
  EXPECT_NE(Names(dir), std::vector<std::string>{"train.cache"});  // not all were made
  EXPECT_TRUE(BitEqual(Read(first), expected));
  EXPECT_EQ(calls, 50);
  EXPECT_EQ(Names(dir), std::vector<std::string>{"train.cache"});
  calls = 0;
  const Dataset second = Counted(50, &calls).Cache({.file = file});
  ASSERT_TRUE(second.status().ok()) << second.status();
  EXPECT_TRUE(BitEqual(Read(second), expected));
  EXPECT_TRUE(BitEqual(Read(second.Prefetch(3)), expected));
  EXPECT_EQ(Read(second.Shuffle(20, {.seed = 1}).Batch(7)).size(), 8u);
  EXPECT_EQ(calls, 0);
}

// A position from memory, from a file that is being written, and from a complete one, in each of the others.
TEST(CacheTest, PositionsAreTheSameEverywhere) {
  const std::string dir = NewDir("positions");
  std::atomic<int> calls = 0;
  const auto behind = [](const Dataset& cache) { return cache.Shuffle(9, {.seed = 4}).Repeat(2).Batch(4); };
  const auto make = [&](int kind, int i) {
    if (kind == 0) return behind(Counted(30, &calls).Cache());
    const std::string file = JoinPath(dir, kind == 1 ? absl::StrCat("new", i) : "complete");
    return behind(Counted(30, &calls).Cache({.file = file}));
  };
  const std::vector<Element> all = Read(make(2, 0));
  ASSERT_EQ(all.size(), 15u);
  int count = 0;
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) {
      for (size_t k : {0, 1, 5, 8, 14, 15}) {
        const Dataset a = make(from, count++), b = make(to, count++);
        std::unique_ptr<Iterator> first = Make(a), second = Make(b);
        Read(*first, k);
        const std::string state = *first->SaveState();
        absl::Status status = second->RestoreState(state);
        ASSERT_TRUE(status.ok()) << status;
        EXPECT_EQ(*second->SaveState(), state);
        EXPECT_TRUE(BitEqual(Read(*second), {all.begin() + k, all.end()})) << from << to << k;
      }
    }
  }
}

TEST(CacheTest, ErrorsAreNotKept) {
  const std::string dir = NewDir("errors"), file = JoinPath(dir, "cache");
  std::atomic<int> calls = 0;
  for (int run = 0; run < 2; ++run) {
    const Dataset d = Counted(9, &calls, 4).Cache({.file = file}).IgnoreErrors({.max = 1}).Repeat(2);
    EXPECT_EQ(Values(d), (std::vector<int64_t>{0, 1, 2, 3, 5, 6, 7, 8, 0, 1, 2, 3, 5, 6, 7, 8})) << run;
    EXPECT_EQ(Names(dir), std::vector<std::string>{"cache"});
  }
  EXPECT_EQ(calls, 9 + 1 + 2);  // the broken one each time
}

// What failed when the file was made may be an element later, behind the file's end.
TEST(CacheTest, AnElementThatComesTooLateForTheFileIsStillThere) {
  const std::string file = JoinPath(NewDir("late"), "cache");
  std::atomic<int> failures = 0;
  const Dataset d = Dataset::Range(9)
                        .Map(
                            [&failures](const Element& e) -> absl::StatusOr<Element> {
                              const int64_t i = *e.components[0].data<int64_t>();
                              if (i == 4 && failures++ == 0) return absl::UnavailableError("not now");
                              // Larger than the writer's buffer, so that each is written at once.
                              HostTensor t(DType::kInt64, {1 << 18});
                              std::fill_n(t.data<int64_t>(), t.num_elements(), i);
                              return Element{{t}};
                            },
                            {.spec = {{"value", DType::kInt64, {1 << 18}}}})
                        .Cache({.file = file})
                        .IgnoreErrors({.max = 1})
                        .Repeat(2);
  EXPECT_EQ(Read(d).size(), 8u + 9u);
  EXPECT_TRUE(Env::Default()->Exists(file));
}

TEST(CacheTest, TheCacheOfAnotherPipelineIsAnError) {
  const std::string dir = NewDir("other"), file = JoinPath(dir, "cache");
  Read(Dataset::Range(5).Cache({.file = file}));
  const absl::Status stages = Dataset::Range(5).Shuffle(2).Cache({.file = file}).status();
  EXPECT_EQ(stages.code(), absl::StatusCode::kFailedPrecondition) << stages;
  EXPECT_TRUE(absl::StrContains(stages.message(), "Cache: ")) << stages;
  EXPECT_TRUE(absl::StrContains(stages.message(), file)) << stages;
  EXPECT_TRUE(absl::StrContains(stages.message(), "another pipeline: \"range(5)\", and this one is \"range(5) | "))
      << stages;
  const auto slices = [&](int64_t value) {
    return Dataset::FromTensorSlices({{"x", HostTensor::FromVector<int64_t>({2}, {1, value})}})
        .Cache({.file = file + "2"});
  };
  Read(slices(2));
  EXPECT_TRUE(slices(2).status().ok());
  const absl::Status data = slices(3).status();
  EXPECT_EQ(data.code(), absl::StatusCode::kFailedPrecondition) << data;
  EXPECT_TRUE(absl::StrContains(data.message(), "other data")) << data;
}

// The files that FlatMap reads are part of the data, wherever their folder is.
TEST(CacheTest, ChangedFilesBehindListFilesAreOtherData) {
  const std::string dir = NewDir("listed"), moved = NewDir("listed_elsewhere"),
                    file = JoinPath(NewDir("kept"), "cache");
  const auto write = [](const std::string& folder, const std::string& text) {
    ASSERT_TRUE(Env::Default()->WriteFile(JoinPath(folder, "part.txt"), {text}).ok());
  };
  const auto lines = [&](const std::string& folder) {
    return Dataset::ListFiles({JoinPath(folder, "*.txt")})
        .FlatMap([](const Element& name) -> absl::StatusOr<Dataset> {
          return Dataset::TextLine({std::string(name.components[0].string())});
        })
        .Cache({.file = file});
  };
  write(dir, "a\n");
  write(moved, "a\n");
  EXPECT_EQ(Read(lines(dir)).size(), 1u);
  EXPECT_TRUE(lines(dir).status().ok()) << lines(dir).status();
  EXPECT_TRUE(lines(moved).status().ok()) << lines(moved).status();
  write(dir, "bb\n");
  const absl::Status changed = lines(dir).status();
  EXPECT_EQ(changed.code(), absl::StatusCode::kFailedPrecondition) << changed;
  EXPECT_TRUE(absl::StrContains(changed.message(), "other data")) << changed;
}

// A position in the middle of a file is none of another.
TEST(CacheTest, APositionOfOtherListedFilesIsRefused) {
  const std::string dir = NewDir("rotated");
  const auto lines = [&](const std::string& name) {
    EXPECT_TRUE(Env::Default()->WriteFile(JoinPath(dir, name), {"a\nb\n"}).ok());
    return Dataset::ListFiles({JoinPath(dir, name)}).FlatMap([](const Element& file) -> absl::StatusOr<Dataset> {
      return Dataset::TextLine({std::string(file.components[0].string())});
    });
  };
  std::unique_ptr<Iterator> monday = Make(lines("monday")), again = Make(lines("monday")),
                            tuesday = Make(lines("tuesday"));
  Element e;
  bool end = false;
  ASSERT_TRUE(monday->GetNext(&e, &end).ok());
  const absl::StatusOr<std::string> state = monday->SaveState();
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_TRUE(again->RestoreState(*state).ok());
  EXPECT_EQ(tuesday->RestoreState(*state).code(), absl::StatusCode::kFailedPrecondition);
}

// What one of several sources cannot tell does not hide what the others can.
TEST(CacheTest, ChangedDataBesideAGeneratorAreOtherData) {
  const std::string file = JoinPath(NewDir("beside"), "cache");
  const auto zipped = [&](int64_t value) {
    const auto three = [](int64_t* position, Element* out, bool* end) -> absl::Status {
      *end = *position == 3;
      out->components.assign(1, HostTensor::Scalar<int64_t>(++*position));
      return absl::OkStatus();
    };
    const HostTensor x = HostTensor::FromVector<int64_t>({3}, {1, 2, value});
    return Dataset::Zip(
               {Dataset::FromGenerator(three, {{"made", DType::kInt64, {}}}), Dataset::FromTensorSlices({{"x", x}})})
        .Cache({.file = file});
  };
  Read(zipped(3));
  EXPECT_TRUE(zipped(3).status().ok()) << zipped(3).status();
  EXPECT_EQ(zipped(4).status().code(), absl::StatusCode::kFailedPrecondition);
}

struct Settings {
  const char* name;
  Dataset one, other;
};

// Stages that differ in what a position does not depend on make other elements.
TEST(CacheTest, OtherSettingsOfAStageAreAnotherPipeline) {
  const std::string dir = NewDir("settings"), table = JoinPath(dir, "table.csv"), records = JoinPath(dir, "records");
  ASSERT_TRUE(Env::Default()->WriteFile(table, {"a,b\n1;0,\n"}).ok());
  std::unique_ptr<RecordWriter> writer = *RecordWriter::Create(records);
  ASSERT_TRUE(writer->Write(ExampleBuilder().Int64("x", {1, 2}).Int64("y", {3, 4}).Serialize()).ok());
  ASSERT_TRUE(writer->Close().ok());
  const auto csv = [&](const char* value, char delimiter) {
    return Dataset::Csv({table}, {{"b", DType::kString, HostTensor::FromStrings({}, std::vector<std::string>{value})}},
                        {.delimiter = delimiter});
  };
  const auto headless = [&](char delimiter) {
    return Dataset::Csv(
        {table},
        {{"a", DType::kString}, {"b", DType::kString, HostTensor::FromStrings({}, std::vector<std::string>{""})}},
        {.header = false, .delimiter = delimiter});
  };
  const auto parsed = [&](FeatureSpec feature) {
    feature.name = "value";
    return Dataset::TFRecord({records}).ParseExample({std::move(feature)});
  };
  const auto sequences = [&](FeatureSpec feature) {
    feature.name = "value";
    return Dataset::TFRecord({records}).ParseSequenceExample({std::move(feature)}, {});
  };
  const auto number = [](int64_t value) { return HostTensor::Scalar<int64_t>(value); };
  const auto padded = [&](PaddedBatchOptions options) {
    return Dataset::Range(5).Window({.size = 2}).PaddedBatch(2, options);
  };
  const auto bucketed = [&](int64_t padding) {
    return Dataset::Range(5)
        .Window({.size = 2})
        .BucketBySequenceLength(
            [](const Element& e) -> absl::StatusOr<int64_t> { return e.components[0].num_elements(); }, {2}, {1, 2},
            {.padding_values = {{"value", number(padding)}}});
  };
  const auto key = [](const Element&) -> absl::StatusOr<std::string> { return ""; };
  const std::vector<Settings> rows = {
      {"a key", parsed(FeatureSpec::FixedLen("x", DType::kInt64, {2})),
       parsed(FeatureSpec::FixedLen("y", DType::kInt64, {2}))},
      {"a default", parsed(FeatureSpec::FixedLen("z", DType::kInt64, {}, number(1))),
       parsed(FeatureSpec::FixedLen("z", DType::kInt64, {}, number(2)))},
      {"a padding", parsed(FeatureSpec::VarLen("x", DType::kInt64)),
       parsed(FeatureSpec::VarLen("x", DType::kInt64, number(2)))},
      {"a key of a sequence", sequences(FeatureSpec::FixedLen("x", DType::kInt64, {2})),
       sequences(FeatureSpec::FixedLen("y", DType::kInt64, {2}))},
      {"a default of a column", csv("n", ','), csv("m", ',')},
      {"a delimiter", headless(','), headless(';')},
      {"a limit of records", Dataset::TFRecord({records}, {.max_record_bytes = 1000}), Dataset::TFRecord({records})},
      {"a limit of lines", Dataset::TextLine({records}, {.max_line_bytes = 1000}), Dataset::TextLine({records})},
      {"epochs", Dataset::Range(3).Repeat(1), Dataset::Range(3).Repeat(2)},
      {"the first number", Dataset::Range(3).Enumerate(), Dataset::Range(3).Enumerate(1)},
      {"padded shapes", padded({.padded_shapes = {{"value", {2}}}}), padded({.padded_shapes = {{"value", {3}}}})},
      {"a padding of a batch", padded({}), padded({.padding_values = {{"value", number(1)}}})},
      {"a padding of a bucket", bucketed(0), bucketed(1)},
      {"errors", Dataset::Range(3).IgnoreErrors({.max = 1}), Dataset::Range(3).IgnoreErrors({.max = 2})},
      {"keys", Dataset::Range(3).Dedupe(key, {.max_keys = 1}), Dataset::Range(3).Dedupe(key, {.max_keys = 2})},
      {"settings of one of two",
       Dataset::Zip({Dataset::Range(3),
                     Dataset::Range(3).Enumerate().Map(
                         [](const Element& e) -> absl::StatusOr<Element> { return Element{{e.components[0]}}; },
                         {.names = {"index"}})}),
       Dataset::Zip({Dataset::Range(3),
                     Dataset::Range(3).Enumerate(1).Map(
                         [](const Element& e) -> absl::StatusOr<Element> { return Element{{e.components[0]}}; },
                         {.names = {"index"}})})},
  };
  for (const Settings& row : rows) {
    SCOPED_TRACE(row.name);
    ASSERT_TRUE(row.one.status().ok()) << row.one.status();
    ASSERT_TRUE(row.other.status().ok()) << row.other.status();
    EXPECT_EQ(row.one.Signature(), row.other.Signature()) << "positions do not depend on it";
    const std::string file = JoinPath(dir, absl::StrCat(row.name, ".cache"));
    std::unique_ptr<Iterator> it = Make(row.one.Cache({.file = file}));
    bool end = false;
    for (Element e; !end;) (void)it->GetNext(&e, &end);
    ASSERT_TRUE(Env::Default()->Exists(file));
    EXPECT_TRUE(row.one.Cache({.file = file}).status().ok()) << row.one.Cache({.file = file}).status();
    const absl::Status status = row.other.Cache({.file = file}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "another pipeline")) << status;
  }
}

// Each byte of the file, changed, and each length: an error that names the file, or the right elements.
TEST(CacheTest, DamageIsNoticed) {
  const std::string dir = NewDir("damage"), file = JoinPath(dir, "cache");
  std::atomic<int> calls = 0;
  const auto make = [&] { return Counted(6, &calls).Cache({.file = file}); };
  const std::vector<Element> all = Read(make());
  const std::string bytes = *Env::Default()->ReadFile(file);
  const auto check = [&](const std::string& changed, size_t at) {
    std::ofstream(file, std::ios::binary) << changed;  // thousands of files need not reach the disk
    const Dataset d = make();
    if (!d.status().ok()) {
      EXPECT_TRUE(absl::StrContains(d.status().message(), file)) << at << d.status();
      return;
    }
    std::unique_ptr<Iterator> it = Make(d);
    for (size_t i = 0; i <= all.size(); ++i) {
      Element e;
      bool end = false;
      const absl::Status status = it->GetNext(&e, &end);
      if (!status.ok()) {
        EXPECT_TRUE(absl::StrContains(status.message(), file)) << at << status;
      } else {
        EXPECT_EQ(end, i == all.size());
        EXPECT_TRUE(end || BitEqual({e}, {all[i]})) << at;
      }
    }
  };
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] ^= 1 << (at % 8);
    check(changed, at);
    check(bytes.substr(0, at), at);
  }
}

TEST(CacheTest, AFullDiskIsNamedAndLosesNoPosition) {
  const std::string dir = NewDir("full"), file = JoinPath(dir, "cache");
  std::atomic<int> calls = 0;
  // Larger than the writer's buffer, so that each is written at once.
  const auto make = [&](Env* env) {
    return Dataset::Range(6)
        .Map(
            [](const Element& e) -> absl::StatusOr<Element> {
              HostTensor t(DType::kInt64, {1 << 18});
              std::fill_n(t.data<int64_t>(), t.num_elements(), *e.components[0].data<int64_t>());
              return Element{{t}};
            },
            {.spec = {{"value", DType::kInt64, {1 << 18}}}})
        .Cache({.file = file, .env = env});
  };
  FaultInjectingEnv env(Env::Default());
  std::unique_ptr<Iterator> it = Make(make(&env));
  EXPECT_EQ(Read(*it, 3).size(), 3u);
  const std::string state = *it->SaveState();
  env.FailNth(FileOp::kWrite, 1, ENOSPC);
  for (int i = 0; i < 2; ++i) {  // no element passes as if it were kept
    Element e;
    bool end = false;
    const absl::Status status = it->GetNext(&e, &end);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), file)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "the cache could not be written")) << status;
  }
  EXPECT_EQ(Names(dir), std::vector<std::string>{});  // the room is given back
  std::unique_ptr<Iterator> again = Make(make(Env::Default()));
  ASSERT_TRUE(again->RestoreState(state).ok());
  const std::vector<Element> rest = Read(*again);
  ASSERT_EQ(rest.size(), 3u);
  EXPECT_EQ(*rest[0].components[0].data<int64_t>(), 3);
}

// The process ends at each of its operations on files, and the power with it: the next one has the right elements.
TEST(CacheTest, ACacheThatWasBegunIsMadeAnew) {
  std::atomic<int> calls = 0;
  const std::vector<Element> all = Read(Counted(20, &calls));
  int whole = 0;
  for (int n = 1; n < 40; ++n) {
    const std::string dir = NewDir("begun"), file = JoinPath(dir, "cache");
    FaultInjectingEnv env(Env::Default());
    env.CrashAt(n);
    {
      std::unique_ptr<Iterator> it = Make(Counted(20, &calls).Cache({.file = file, .env = &env}));
      bool end = false;
      for (int i = 0; i < 25 && !end; ++i) {
        Element e;
        (void)it->GetNext(&e, &end);
      }
    }
    const bool crashed = env.crashed();
    ASSERT_TRUE(env.DropUnsynced().ok());
    EXPECT_TRUE(BitEqual(Read(Counted(20, &calls).Cache({.file = file})), all)) << n;
    calls = 0;
    EXPECT_TRUE(BitEqual(Read(Counted(20, &calls).Cache({.file = file})), all)) << n;
    EXPECT_EQ(calls, 0) << n;
    whole += !crashed;
  }
  EXPECT_GT(whole, 0);  // all operations were among them
  EXPECT_LT(whole, 39);
}

// What a process that is gone has left is removed, and only that.
TEST(CacheTest, LeftoversAreRemoved) {
  const std::string dir = NewDir("leftovers"), file = JoinPath(dir, "c");
  const std::string other = ".tmp-c-1-999999999-0123456789abcdef-0";  // of a cache "c-1"
  for (const std::string& name : {std::string(".tmp-c-999999999-0123456789abcdef-0"), other}) {
    ASSERT_TRUE(Env::Default()->WriteFile(JoinPath(dir, name), {"TDCACHE1"}).ok());
  }
  Read(Dataset::Range(3).Cache({.file = file}));
  EXPECT_EQ(Names(dir), (std::vector<std::string>{other, "c"}));
}

// Another process, which may have the same id in a container of its own, makes the same cache.
TEST(CacheTest, PartsThatAreBeingWrittenStay) {
  const std::string dir = NewDir("written"), file = JoinPath(dir, "c");
  const std::string part = JoinPath(dir, ".tmp-c-999999999-0123456789abcdef-0");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto written = Env::Default()->CreateLockedFile(part);
    static_cast<void>(write(ready[1], "x", 1) == 1);
    for (;;) pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  Read(Dataset::Range(3).Cache({.file = file}));
  EXPECT_EQ(Names(dir), (std::vector<std::string>{BaseName(part), "c"}));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(Env::Default()->DeleteFile(file).ok());
  Read(Dataset::Range(3).Cache({.file = file}));
  EXPECT_EQ(Names(dir), (std::vector<std::string>{"c"}));
}

// All elements have been read when the cache gets its name: that another one has it already is no reason to end.
TEST(CacheTest, TheSameCacheOfAnotherProcessIsAsGood) {
  const std::string dir = NewDir("faster"), file = JoinPath(dir, "c");
  FaultInjectingEnv env(Env::Default());
  env.FailNth(FileOp::kRename, 1, ENOENT);
  std::unique_ptr<Iterator> slow = Make(Dataset::Range(3).Cache({.file = file, .env = &env}).Repeat(2));
  Element e;
  bool end = false;
  ASSERT_TRUE(slow->GetNext(&e, &end).ok());
  Read(Dataset::Range(3).Cache({.file = file}));
  EXPECT_EQ(Read(*slow).size(), 5u);
  EXPECT_EQ(Names(dir), (std::vector<std::string>{"c"}));
  // Another pipeline's is none.
  FaultInjectingEnv again(Env::Default());
  again.FailNth(FileOp::kRename, 1, ENOENT);
  const std::string other = JoinPath(dir, "d");
  std::unique_ptr<Iterator> failing = Make(Dataset::Range(4).Cache({.file = other, .env = &again}).Repeat(2));
  ASSERT_TRUE(failing->GetNext(&e, &end).ok());
  Read(Dataset::Range(3).Cache({.file = other}));
  absl::Status status;
  while (status.ok() && !end) status = failing->GetNext(&e, &end);
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
}

}  // namespace
}  // namespace tandem
