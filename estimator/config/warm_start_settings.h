// WarmStartSettings (RunConfig.warm_start_from): which variables start with values of another training, and from where.
#ifndef TANDEM_ESTIMATOR_CONFIG_WARM_START_SETTINGS_H_
#define TANDEM_ESTIMATOR_CONFIG_WARM_START_SETTINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// What to do with a variable that has another shape or type in the source.
enum class ShapeMismatch {
  kError,  // return an error that lists all such variables
  kSkip,   // keep the value of its initialiser
  // Copy the part that both have, from the first element of every dimension on, and keep the initialiser's values
  // elsewhere. Another rank or type is an error.
  kCopyOverlap,
};

// For a variable that has a row for each token, such as a table of embeddings, when the vocabulary has changed: rows
// are matched by their tokens. Rows of tokens that the old vocabulary lacks, and rows of new OOV buckets, keep the
// values of the initialiser. A vocabulary is a file with one token per line; row i has the token of line i + 1. The
// last rows are the OOV buckets, which have no line. Lines beyond the rows are ignored. A duplicate token, or too few
// lines, is an error (DataLoss, exit code 65) that names file and line.
struct VocabInfo {
  std::string new_vocab;  // file of the model's vocabulary
  std::string old_vocab;  // file of the source's vocabulary
  int64_t new_oov_buckets = 0;
  int64_t old_oov_buckets = 0;
  // The dimension of the tokens: 0 for an embedding's table and for a bias, 1 for a dense kernel whose units are
  // tokens.
  int axis = 0;
};

// Where variables get their first values from, instead of their initialisers. Used only while model_dir has no
// checkpoint, so that a restart does not warm-start again. The log says what was taken, what was not and why, and what
// else the source has.
struct WarmStartSettings {
  // A safetensors file, a checkpoint directory (".../model.ckpt-100"), or a model_dir (its latest checkpoint).
  std::string path;
  // A regular expression (ECMAScript) that a variable's whole name must match. All variables are considered, including
  // the statistics of batch norms (TensorFlow's ".*" takes none of them); names that the source does not have keep
  // their initialisers.
  std::string vars_to_warm_start = ".*";
  // Take slots of optimizers too: Adam's moments and moving averages of weights. Otherwise they begin anew, the
  // averages from the values that the weights begin with. The step begins at 0, so Adam would treat moments of a long
  // training as those of its first steps.
  bool with_slots = false;
  // The source's names for variables of the model, if they differ: {{"encoder/kernel", "conv2d/kernel"}}. Slots, if
  // they are taken, are looked up under the source's name of their variable. A name that the model or the source lacks
  // is an error.
  std::map<std::string, std::string> var_name_to_prev_var_name = {};
  // Rules for names that are not in the map: each (expression, replacement) is applied, with std::regex_replace, to the
  // result of the rules before it, beginning with the model's name: {{"^encoder/", "bert/encoder/"}}.
  std::vector<std::pair<std::string, std::string>> var_name_replacements = {};
  // Vocabularies by the model's name of the variable. Rows of its slots are matched in the same way, if slots are
  // taken.
  std::map<std::string, VocabInfo> var_name_to_vocab_info = {};
  ShapeMismatch on_shape_mismatch = ShapeMismatch::kError;

  // Returns the mistakes in these settings that can be found without the model and the source.
  std::vector<std::string> Problems() const;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CONFIG_WARM_START_SETTINGS_H_
