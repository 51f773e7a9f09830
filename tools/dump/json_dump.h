// Shows an executable as JSON.
#ifndef TANDEM_TOOLS_DUMP_JSON_DUMP_H_
#define TANDEM_TOOLS_DUMP_JSON_DUMP_H_

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/executable/executable.h"

namespace tandem {

// Top-level keys: executable, replicas, collectives, kernels, commands, memory, variables, phases. With
// `expand_replicas`, lists the commands of every replica, with its name, instead of those of each program.
nlohmann::ordered_json DumpJson(const Executable& executable, bool expand_replicas);

// Returns a string without its quotes, any other value as JSON.
std::string TextOf(const nlohmann::ordered_json& value);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_JSON_DUMP_H_
