#include "daemon/files/unfinished.hpp"

#include <algorithm>
#include <cctype>

#include "common/base/ids.hpp"
#include "common/base/try.hpp"

namespace orange::files {
namespace {

constexpr std::size_t k_random = 10;
constexpr std::string_view k_end = ".tmp";

}  // namespace

std::string unfinished_name(std::string_view name) {
    return "." + std::string(name) + "." + random_id(k_random) + std::string(k_end);
}

bool is_unfinished(std::string_view name) {
    if (!name.starts_with('.') || !name.ends_with(k_end)) return false;
    name.remove_suffix(k_end.size());
    const auto dot = name.rfind('.');
    const auto random = name.substr(dot + 1);
    return dot > 0 && random.size() == k_random &&
           std::all_of(random.begin(), random.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

Result<void> remove_unfinished(FileSystem& files, const Path& folder) {
    TRY(const auto names, files.list(folder));
    for (const auto& name : names) {
        if (!is_unfinished(name)) continue;
        TRY(files.remove(folder / name));
    }
    return {};
}

}  // namespace orange::files
