// Input pipelines: where examples come from, in which order, and how they are grouped into batches.
//
//   Dataset train = Dataset::FromTensorSlices({{"image", images}, {"label", labels}})
//                       .Shard(context.num_input_pipelines, context.input_pipeline_id)
//                       .Shuffle(5000, {.seed = 1})
//                       .Repeat(epochs)
//                       .Batch(128)
//                       .Prefetch(2);
//   TD_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> it, train.MakeIterator());
//   for (;;) {
//     bool end = false;
//     Element batch;
//     TD_RETURN_IF_ERROR(it->GetNext(&batch, &end));
//     if (end) break;
//     ...
//   }
//
// The names and meanings are tf.data's; what differs: everything is deterministic (seeds default to 0), an iterator's
// position can be saved and restored exactly, also into a pipeline with other batches, Map's function is called when an
// element leaves the pipeline (elements that are skipped or wait in a shuffle buffer cost nothing), and a Prefetch
// anywhere in the chain asks for whole elements of the last stage to be made ahead.
#ifndef TANDEM_DATA_DATASET_H_
#define TANDEM_DATA_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/env.h"
#include "base/host_tensor.h"
#include "base/source_location.h"
#include "data/component_buffer.h"
#include "data/element.h"
#include "data/files/csv.h"
#include "data/files/example.h"
#include "data/files/record_reader.h"
#include "data/files/sequence_example.h"
#include "data/throughput.h"

namespace tandem {

namespace data_internal {
class Node;
struct DatasetAccess;
}  // namespace data_internal

// For num_parallel_calls and the size of a Prefetch: as much as the consumer turns out to need. The elements and their
// order never depend on it.
inline constexpr int kAuto = 0;
// The cardinality of a dataset that never ends.
inline constexpr int64_t kInfiniteCardinality = -1;
// The cardinality of a dataset whose end is known only when it is reached, such as one of files.
inline constexpr int64_t kUnknownCardinality = -2;

struct MapOptions {
  // How many threads call the function. With 1, it runs in the thread that calls GetNext (or in Prefetch's). With
  // kAuto there is one at first, and another, up to as many as the machine has, whenever the consumer has had to wait
  // for some elements in a row. The order of the results never depends on it.
  int num_parallel_calls = 1;
  // Names of the components that the function returns; empty keeps the input's names.
  std::vector<std::string> names = {};
  // The full description of what the function returns; empty takes it from a call on the first element. -1 stands
  // for a size that varies.
  std::vector<ComponentSpec> spec = {};
  // Of a function of batches: it may return another number of examples than it was given. Workers that share an input
  // then make all batches, those of the others too, because each must know how many examples all of them have.
  bool changes_rows = false;
};

struct TextLineOptions {
  Compression compression = Compression::kNone;
  // How much is read from a file at once, in bytes.
  int64_t buffer_size = 256 << 10;
  // A longer line is an error, however much memory there is.
  int64_t max_line_bytes = 64 << 20;
};

struct CsvOptions {
  // The first line of each file has the names of its columns, which may come in any order. Without it, the columns that
  // are asked for are all there are.
  bool header = true;
  char delimiter = ',';
  Compression compression = Compression::kNone;
  int64_t buffer_size = 256 << 10;
  // Of a record, which may have several lines between quotes.
  int64_t max_line_bytes = 64 << 20;
};

struct FixedLengthOptions {
  // Of each record, at least 1; and of what each file has before and behind its records.
  int64_t record_bytes = 0;
  int64_t header_bytes = 0;
  int64_t footer_bytes = 0;
  Compression compression = Compression::kNone;
  int64_t buffer_size = 256 << 10;
};

struct IdxOptions {
  // Of the component.
  std::string name = "value";
  // How much is read from a file at once, in bytes.
  int64_t buffer_size = 256 << 10;
};

struct ListFilesOptions {
  // In an order that depends on the seed and the names, another in every epoch; otherwise sorted.
  bool shuffle = false;
  uint64_t seed = 0;
};

struct IgnoreErrorsOptions {
  // More errors than these in a pass are not ignored.
  int64_t max = 0;
};

struct DedupeOptions {
  // More keys in a pass are an error: they take some 50 bytes each in memory, and 20 in every checkpoint.
  int64_t max_keys = 1 << 20;
};

struct CacheOptions {
  // Empty: in memory. Where files are dealt out to workers (AutoShard::kFile), each adds its number: "FILE-0-of-2".
  // Where workers have inputs of their own otherwise (AutoShard::kOff) and see one file system, the name must have
  // InputContext::input_pipeline_id: each keeps other elements.
  std::string file;
  Env* env = nullptr;  // Env::Default() when null
};

struct InterleaveOptions {
  // How many datasets take part at a time.
  int64_t cycle_length = 4;
  // How many elements of one come in a row.
  int64_t block_length = 1;
  // Threads that make the elements (read, check, parse, map), as MapOptions.num_parallel_calls.
  int num_parallel_calls = 1;
};

struct DatasetWindowOptions {
  // Elements of a window, at least 1.
  int64_t size = 1;
  // From the first element of one window to that of the next; 0 stands for the size: no overlap, no gap.
  int64_t shift = 0;
  // From one element of a window to the next.
  int64_t stride = 1;
  // Leaves out the last windows, which have less elements.
  bool drop_remainder = false;
};

struct PaddedBatchOptions {
  // Sizes of components, by name, without the batch's: -1 fills up to the largest in the batch. Components that are not
  // named have the shape of the elements' spec.
  std::vector<std::pair<std::string, Shape>> padded_shapes = {};
  // What fills the place, by name: scalars; 0, false or "" for those that are not named.
  std::vector<std::pair<std::string, HostTensor>> padding_values = {};
  bool drop_remainder = false;
};

struct ParseExampleOptions {
  // As MapOptions.num_parallel_calls.
  int num_parallel_calls = 1;
};

struct ShuffleOptions {
  uint64_t seed = 0;
  // Another order in every epoch of a Repeat that follows.
  bool reshuffle_each_iteration = true;
};

struct BatchOptions {
  // Drops the last batch when it is not full.
  bool drop_remainder = false;
};

// Reads a dataset's elements in order. GetNext is for one thread at a time; SaveState may be called from any thread.
// Destruction stops the pipeline's threads, after the calls of functions that they are in.
class Iterator {
 public:
  virtual ~Iterator() = default;

  // Stores the next element in *out, or sets *end (and goes on doing so) when there is none. After an error, which
  // is that of one element, the next call goes on with the following element. Where memory runs out while the order is
  // drawn, no element follows until RestoreState; SaveState still gives the position.
  virtual absl::Status GetNext(Element* out, bool* end) = 0;

  // Whether the element that GetNext will return after `ahead` others is there already, and then that element: its
  // tensors share their memory with those that GetNext returns. Waits for nothing and moves nothing.
  virtual bool Peek(int64_t ahead, Element* out) { return false; }

  // Whether the element that GetNext has returned last ends a pass over what the last Repeat of the dataset repeats; an
  // error is an element too. An element is of the passes that its examples are of, and the last one that is of a pass
  // ends it: where a Batch behind the Repeat has put examples of two passes into one batch, that batch ends the first.
  // All parts of a batch (Parts) are of its passes, so the last part ends them, an empty one too. The last element of
  // the dataset ends a pass, whether it was the last of one or a Take cut it off; without a Repeat nothing else does,
  // and so it is behind a Cache or Concatenate that no Repeat follows. Of a Zip the first dataset with a Repeat counts.
  // A pass of which no element is left, as behind a Filter, is none. A stage that reads ahead (Shuffle, Window,
  // Interleave, BucketBySequenceLength) behind the last Repeat gives elements of what it has read, so passes end early
  // there: put Repeat behind it. False before the first GetNext, and before the first one after RestoreState.
  //
  // The place of the next element is looked up for it, as the next GetNext would do; its contents are not made where
  // its place can be known without. For the thread that calls GetNext.
  virtual bool ends_pass() { return false; }

  // Of every `period` elements from here on, those from number `first` on, `count` of them, are wanted; a round of
  // `period` begins here and at every RestoreState. Of the others GetNext gives the number of rows alone, where that is
  // known without making them: workers that share a dataset read no more than their own. To be called before the first
  // GetNext.
  virtual void MakeOnly(int64_t period, int64_t first, int64_t count) {}

  // The position after the elements that GetNext has returned so far, whatever was prefetched. Small: positions and
  // generator counters, never payloads.
  virtual absl::StatusOr<std::string> SaveState() = 0;

  // Goes to a saved position, in this or another process: the elements that follow are the same bits as those that
  // followed it then. Takes time proportional to the shuffle buffers, not to the position. FailedPrecondition when the
  // state comes from another pipeline or version, DataLoss when it is damaged; the iterator is then left where it was.
  // The number of epochs of a Repeat, the prefetching, the number of threads and, where examples are put together by
  // Batch and no later stage counts or keeps whole batches (Shuffle, Take, Skip, Shard, Batch, Filter, TakeWhile,
  // IgnoreErrors, Dedupe, Scan, Cache, FlatMap, Interleave, Unbatch, Zip, Concatenate), the size of the batches may
  // differ between the two pipelines: the position is that of the next example. The contents of the sources and Map's
  // functions are taken to be equal. Where a pipeline that has ended is to go on with more epochs, a Zip of datasets of
  // different length ends again if a stage that asks ahead, such as Shuffle, comes behind it; and what a Batch with
  // drop_remainder or a Shard before such a stage had left over is gone.
  virtual absl::Status RestoreState(absl::string_view state) = 0;

  // CPU time that the pipeline's own threads have used, in seconds. 0 without threads: then GetNext does all the work.
  virtual double ThreadCpuSeconds() const { return 0; }
};

// A description of a pipeline: a cheap, immutable handle that may be copied and shared between threads. A wrong
// argument makes a dataset whose status() and MakeIterator() carry the first error, with the caller's file and line.
//
// The functions of Map and MapInto, and wait_for_rows, may be called by several threads at once. That of every other
// stage is called by one thread at a time, not always the same, and again for an element where its position is saved or
// was restored. A dataset that a function of FlatMap or Interleave makes has stages of its own.
class Dataset {
 public:
  using MapFn = std::function<absl::StatusOr<Element>(const Element&)>;
  using MapIntoFn = std::function<absl::Status(const Element& in, absl::Span<const ComponentBuffer> out)>;
  using Slices = std::vector<std::pair<std::string, HostTensor>>;
  using PredicateFn = std::function<absl::StatusOr<bool>(const Element&)>;
  using DatasetFn = std::function<absl::StatusOr<Dataset>(const Element&)>;
  using KeyFn = std::function<absl::StatusOr<std::string>(const Element&)>;
  using LengthFn = std::function<absl::StatusOr<int64_t>(const Element&)>;
  using ScanFn = std::function<absl::StatusOr<Element>(const Element& state, const Element& element, Element* next)>;
  using GeneratorFn = std::function<absl::Status(int64_t* position, Element* out, bool* end)>;
  using WaitForRows = std::function<absl::Status(int64_t rows)>;

  // Element i is row i of every tensor: tensors of rank >= 1 with equal sizes in dimension 0. Rows are not copied
  // until a batch is made of them; the tensors must not be written any more.
  static Dataset FromTensorSlices(Slices tensors, SourceLocation location = SourceLocation::Current());
  // The same of tensors whose rows are still being read, from the first to the last: before rows [0, n) are used,
  // `wait_for_rows(n)` is called, in any thread, and its error is that of the element.
  static Dataset FromTensorSlices(Slices tensors, WaitForRows wait_for_rows,
                                  SourceLocation location = SourceLocation::Current());
  // 0, 1, ..., n-1: one int64 scalar named "value". n >= 0.
  static Dataset Range(int64_t n, SourceLocation location = SourceLocation::Current());

  // The records of TFRecord files, one file after another: one scalar string named "record". There must be a file, and
  // each must be there when the dataset is made. A broken place in a file is an error of its element, with file and
  // offset: a record whose own bytes are damaged is followed by the next record, what else is broken by the next file.
  // The position is a file and an offset. A position far inside of a compressed file takes as long to restore as
  // reading up to it.
  static Dataset TFRecord(std::vector<std::string> files, RecordOptions options = {},
                          SourceLocation location = SourceLocation::Current());

  // The lines of text files: one scalar string named "line", without what ends it, "\n" or "\r\n". Of these files and
  // CSV's, UTF-8's byte order mark at the start is no part of a line, and that of UTF-16 or UTF-32 is an error.
  static Dataset TextLine(std::vector<std::string> files, TextLineOptions options = {},
                          SourceLocation location = SourceLocation::Current());
  // The records of CSV files (RFC 4180; empty lines are skipped): one scalar for each of `columns`. An error names
  // file, line and column: a wrong number of columns, an empty field without a default, text that is no decimal number
  // of the type, or one out of its range.
  static Dataset Csv(std::vector<std::string> files, std::vector<CsvColumn> columns, CsvOptions options = {},
                     SourceLocation location = SourceLocation::Current());
  // Records of one length: one scalar string named "record".
  static Dataset FixedLengthRecord(std::vector<std::string> files, FixedLengthOptions options,
                                   SourceLocation location = SourceLocation::Current());
  // The rows of IDX files, such as MNIST's, plain or compressed with gzip, as ReadIdx (data/idx.h) has them: read one
  // after another, where FromTensorSlices keeps them all in memory. The rows of all files must be alike.
  static Dataset Idx(std::vector<std::string> files, IdxOptions options = {},
                     SourceLocation location = SourceLocation::Current());
  // The names of the files that patterns match (data/list_files.h) when the dataset is made: one scalar string named
  // "file". Each pattern must match a file. Those of all patterns are sorted together, and each is there once.
  static Dataset ListFiles(const std::vector<std::string>& patterns, ListFilesOptions options = {},
                           SourceLocation location = SourceLocation::Current());
  // One element.
  static Dataset FromTensors(Slices tensors, SourceLocation location = SourceLocation::Current());
  // What a function makes. It is called with a position, 0 at first, makes the element that is there, and stores the
  // position of the next, any other number >= 0; or it sets *end. Its result must depend on nothing but the position,
  // so that a saved position is all that is needed to go on: it may be called again for a position, and from another
  // thread. After an error the next element is that of the position that was stored; if it is the same, or *end was set
  // too, none.
  static Dataset FromGenerator(GeneratorFn fn, std::vector<ComponentSpec> spec,
                               SourceLocation location = SourceLocation::Current());
  // Element i has the components of element i of each dataset. As long as the shortest.
  static Dataset Zip(const std::vector<Dataset>& datasets, SourceLocation location = SourceLocation::Current());

  // Applies `fn` to every element. `fn` must depend on nothing but its argument and be safe to call from several
  // threads; an error is returned by GetNext with `location`.
  Dataset Map(MapFn fn, MapOptions options = {}, SourceLocation location = SourceLocation::Current()) const;
  // As Map, but `fn` writes its result into memory that is there, of every component of options.spec, which must be
  // given, with types of numbers and all sizes known. Where a Batch follows, that is the batch's, so that nothing is
  // copied. `fn` must write all of it, and not keep it.
  Dataset MapInto(MapIntoFn fn, MapOptions options, SourceLocation location = SourceLocation::Current()) const;
  // Reads `features` out of records that are serialised tf.train.Examples (data/files/example.h has the rules): the
  // elements must have one component, a string or a batch of strings. Of records in a batch, and where a Batch follows
  // and all lengths are fixed, the values go into the batch directly. An error names the record's file and offset, the
  // key, and what was expected and found there.
  Dataset ParseExample(std::vector<FeatureSpec> features, ParseExampleOptions options = {},
                       SourceLocation location = SourceLocation::Current()) const;
  // Reads features out of single records that are serialised tf.train.SequenceExamples: those of the context, then the
  // lists, as data/files/sequence_example.h says. PaddedBatch puts sequences of different length together.
  Dataset ParseSequenceExample(std::vector<FeatureSpec> context, std::vector<FeatureSpec> sequence,
                               ParseExampleOptions options = {},
                               SourceLocation location = SourceLocation::Current()) const;
  // The elements for which `predicate` is true, and those that are errors. Where the elements are dear to make, put the
  // stage early: what comes before it is made in the thread that draws the order.
  Dataset Filter(PredicateFn predicate, SourceLocation location = SourceLocation::Current()) const;
  // The elements before the first for which `predicate` is false.
  Dataset TakeWhile(PredicateFn predicate, SourceLocation location = SourceLocation::Current()) const;
  // Leaves out elements that are errors, each with a warning in the log; more than `max` in a pass are errors still,
  // and so are those that lack memory or file descriptors, which are not broken.
  Dataset IgnoreErrors(IgnoreErrorsOptions options, SourceLocation location = SourceLocation::Current()) const;
  // Of the elements with one key, the first in each pass; and those that are errors. All keys of the pass so far are
  // part of the position, so this is for some millions of them at most.
  Dataset Dedupe(KeyFn key, DedupeOptions options = {}, SourceLocation location = SourceLocation::Current()) const;
  // Says that a pass has `count` elements, where the stages before cannot know it, such as files: so that the length of
  // an epoch is known (EvalSpec.every_epochs, progress, cardinality()). A pass with more or less is an error at its
  // end.
  Dataset AssertCardinality(int64_t count, SourceLocation location = SourceLocation::Current()) const;
  // The elements of the datasets that `fn` makes of the elements, one dataset after another. All must be made by the
  // same stages. `fn` must depend on nothing but its argument. A dataset begins anew in every epoch: a Shuffle in it
  // has the same order each time.
  Dataset FlatMap(DatasetFn fn, SourceLocation location = SourceLocation::Current()) const;
  // The same with several datasets at a time: `block_length` elements of each of `cycle_length` in turn. The order is
  // that of tf.data's deterministic Interleave.
  Dataset Interleave(DatasetFn fn, InterleaveOptions options = {},
                     SourceLocation location = SourceLocation::Current()) const;
  // The rows of each element: all its components have as many.
  Dataset Unbatch(SourceLocation location = SourceLocation::Current()) const;
  // All elements, then those of `other`, which must have the same components.
  Dataset Concatenate(const Dataset& other, SourceLocation location = SourceLocation::Current()) const;
  // Puts a component before the others: the element's number, an int64 scalar, counted from `start` >= 0 in every pass.
  Dataset Enumerate(int64_t start = 0, const std::string& name = "index",
                    SourceLocation location = SourceLocation::Current()) const;
  // Keeps `buffer_size` >= 1 elements, yields one of them at random (uniformly) and fills its place with the next.
  // The order depends on the seed, the epoch and the number of elements, on nothing else.
  Dataset Shuffle(int64_t buffer_size, ShuffleOptions options = {},
                  SourceLocation location = SourceLocation::Current()) const;
  // `count` times, -1 for ever. An empty dataset stays empty: where the first pass has no elements, no other follows;
  // without a count, neither does one behind a later pass that has none.
  Dataset Repeat(int64_t count = -1, SourceLocation location = SourceLocation::Current()) const;
  // Shuffle, then Repeat: the buffer never mixes two epochs.
  Dataset ShuffleAndRepeat(int64_t buffer_size, int64_t count = -1, ShuffleOptions options = {},
                           SourceLocation location = SourceLocation::Current()) const;
  // Stacks `batch_size` >= 1 elements along a new dimension 0.
  Dataset Batch(int64_t batch_size, BatchOptions options = {},
                SourceLocation location = SourceLocation::Current()) const;
  // The elements that `fn` makes of each element and a state, which is `initial` at the start of every pass and then
  // what `fn` stored in *next, of the same types. The state must be of numbers; it is saved with the position. An
  // element that is an error leaves the state as it is. Shuffle, Window, Cache, FlatMap, Interleave, Unbatch and
  // BucketBySequenceLength cannot follow: they keep elements by their places.
  Dataset Scan(Element initial, ScanFn fn, std::vector<ComponentSpec> spec,
               SourceLocation location = SourceLocation::Current()) const;
  // Elements that follow one another, stacked along a new dimension 0 (tf.data: Window, then a Batch of each window).
  Dataset Window(DatasetWindowOptions options, SourceLocation location = SourceLocation::Current()) const;
  // Keeps the elements of the first pass in memory, for later passes and other iterators: also the order of the first
  // pass, so put Shuffle behind. Errors are not kept. In another process, a position is restored without the elements
  // before it. The dataset must have an end.
  //
  // With CacheOptions.file they are kept there, and the dataset that is made when the file is complete reads them from
  // it. Positions are the same in all three. The file gets its name when every element was made, and never before. It
  // knows the stages with their settings and the data (Signature, Fingerprint), but not what functions do: after a
  // change of one, delete the file. Of files that a function opens it knows those whose names come from ListFiles.
  // FailedPrecondition for the cache of another pipeline or of other data, DataLoss for a damaged one. When it cannot
  // be written, as on a full disk, this element and all further ones are an error: the position before stays right.
  Dataset Cache(CacheOptions options = {}, SourceLocation location = SourceLocation::Current()) const;
  // Stacks elements whose sizes differ: each is filled up at its ends.
  Dataset PaddedBatch(int64_t batch_size, PaddedBatchOptions options = {},
                      SourceLocation location = SourceLocation::Current()) const;
  // Batches of elements of similar length: bucket i has the lengths in [boundaries[i - 1], boundaries[i]), the first
  // all that are shorter, the last all others, and makes batches of batch_sizes[i]; one more size than boundaries.
  Dataset BucketBySequenceLength(LengthFn length, std::vector<int64_t> boundaries, std::vector<int64_t> batch_sizes,
                                 PaddedBatchOptions options = {},
                                 SourceLocation location = SourceLocation::Current()) const;
  // Each batch, of r examples, as `count` elements, one after another: the first has its first ceil(r / count)
  // examples, the next the following ones, and the last ones have less, or none. So a step of `count` replicas, each of
  // which takes an element, has a whole batch, and no batch is of two steps. Behind Batch (and stages that take its
  // elements as they are, and ParseExample of lengths that are fixed) a part is made without the others. Where a batch
  // comes out of a function or a PaddedBatch it is made once, as a whole, and cut. A component without rows of examples
  // is in every part. batch_size() is that of the first part of a full batch. The elements must be batches.
  Dataset Parts(int64_t count, SourceLocation location = SourceLocation::Current()) const;
  // Makes up to `buffer_size` elements ahead in a thread of its own. kAuto chooses, and adapts, the number.
  Dataset Prefetch(int64_t buffer_size = kAuto, SourceLocation location = SourceLocation::Current()) const;
  // Elements index, index + num_shards, ...; 0 <= index < num_shards.
  Dataset Shard(int64_t num_shards, int64_t index, SourceLocation location = SourceLocation::Current()) const;
  // The first `count` elements; -1 takes all.
  Dataset Take(int64_t count, SourceLocation location = SourceLocation::Current()) const;
  // All but the first `count` elements; -1 skips all.
  Dataset Skip(int64_t count, SourceLocation location = SourceLocation::Current()) const;

  // The first error in the chain.
  const absl::Status& status() const { return status_; }
  // The components of an element; empty when status() is not OK.
  const std::vector<ComponentSpec>& spec() const;
  // Examples in an element; 0 when not batched.
  int64_t batch_size() const;
  // Number of elements (batches, once batched), kInfiniteCardinality or kUnknownCardinality; 0 when status() is not OK.
  int64_t cardinality() const;
  // The structure that must be equal for a saved state to fit, e.g. "range(10) | shuffle(4, seed=1) | repeat".
  std::string Signature() const;
  // Tells the contents of the source from others: names, types, shapes, the number of examples, and a checksum of
  // pieces of its tensors (of rows that are still being read, the first ones). Cheap, so equal fingerprints prove
  // nothing. What later stages do does not count. Of files that ListFiles names, the contents count and not their
  // folders; of datasets that are made by functions (FlatMap, Interleave) nothing else does. Empty where no source can
  // tell; of several, one that cannot is "?".
  std::string Fingerprint() const;

  absl::StatusOr<std::unique_ptr<Iterator>> MakeIterator() const;

  // How fast the iterators of this dataset, and which of its stages, have been so far (data/throughput.h): measured at
  // some elements, so that it costs next to nothing. May be called while they run.
  Throughput MeasuredThroughput() const;
  // The same as text: a line for each stage and, once something was read, the slowest.
  std::string Describe() const;

 private:
  friend struct data_internal::DatasetAccess;
  Dataset(std::shared_ptr<const data_internal::Node> node, absl::Status status)
      : node_(std::move(node)), status_(std::move(status)) {}
  static Dataset Of(absl::StatusOr<std::shared_ptr<const data_internal::Node>> node, const char* op,
                    SourceLocation location);

  std::shared_ptr<const data_internal::Node> node_;  // null when status_ is not OK
  absl::Status status_;
};

}  // namespace tandem

#endif  // TANDEM_DATA_DATASET_H_
