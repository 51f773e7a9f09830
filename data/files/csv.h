// Parses the fields of CSV records (RFC 4180) as numbers and strings.
#ifndef TANDEM_DATA_FILES_CSV_H_
#define TANDEM_DATA_FILES_CSV_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/data/element.h"

namespace TANDEM_API tandem {

// A column to read: float32, float64, int32, int64 or string.
struct CsvColumn {
  std::string name;
  DType dtype = DType::kInvalid;
  // The value of an empty field, a scalar of the column's type. With an empty tensor, an empty field is an error.
  HostTensor default_value = {};
};

// Splits a record into its fields, without the quotes around them; doubled quotes become single. `storage` owns the
// fields that had to be copied. InvalidArgument, with the column counted from 1, for a quote in a field that is not
// quoted, or for text after a closing quote.
absl::Status SplitCsv(absl::string_view record, char delimiter, std::vector<absl::string_view>* fields,
                      std::vector<std::string>* storage);

// Parses the wanted columns of a file, which may also have other columns. Immutable.
class CsvParser {
 public:
  // Makes a parser of these columns. InvalidArgument, with the column, for types that cannot be read, defaults that do
  // not fit, and names that occur twice.
  static absl::StatusOr<CsvParser> Create(std::vector<CsvColumn> columns, char delimiter);

  const std::vector<ComponentSpec>& spec() const { return spec_; }
  const std::vector<CsvColumn>& columns() const { return columns_; }
  char delimiter() const { return delimiter_; }

  // Returns the field number of each wanted column in a file whose first record is `header`. NotFound, with the
  // existing names, for a missing column.
  absl::StatusOr<std::vector<size_t>> FindColumns(absl::string_view header) const;

  // Collects `rows` values of each column.
  class Batch {
   public:
    // `parser` must outlive the batch.
    Batch(const CsvParser& parser, int64_t rows);
    // Parses the next record, which must have exactly `fields` fields; places[i] is the number of the field for column
    // i. An error names the column, its number from 1, the field and the expected type.
    absl::Status Add(absl::string_view record, size_t fields, absl::Span<const size_t> places);
    // Stores the columns: of shape [rows] if `batched`, otherwise the scalars of the only row.
    void Finish(bool batched, Element* out);

   private:
    absl::Status SetField(size_t column, size_t place, absl::string_view field);

    const CsvParser& parser_;
    const int64_t rows_;
    int64_t row_ = 0;
    std::vector<HostTensor> numbers_;                      // one tensor for each column; empty for columns of strings
    std::vector<std::vector<absl::string_view>> strings_;  // one list for each column
    std::vector<absl::string_view> fields_;
    std::vector<std::vector<std::string>> storage_;  // unquoted copies of fields, one entry per row that needs some
  };

 private:
  CsvParser() = default;

  std::vector<CsvColumn> columns_;
  std::vector<ComponentSpec> spec_;
  char delimiter_ = ',';
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_CSV_H_
