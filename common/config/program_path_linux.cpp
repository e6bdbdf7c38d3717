#include <sys/auxv.h>

#include "common/config/program_path.hpp"

namespace orange {
namespace {

/// Returns the path that execve() was called with, if it is absolute and its last name is no link.
std::filesystem::path started_as() {
    const auto* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    std::error_code error;
    const std::filesystem::path path(name != nullptr ? name : "");
    const bool is_file = path.is_absolute() &&
                         std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::regular;
    return is_file ? path.lexically_normal() : std::filesystem::path();
}

}  // namespace

Result<std::filesystem::path> program_path() {
    std::error_code error;
    auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return io_error("reading /proc/self/exe", error.value());
    // The kernel marks a binary that was replaced while it runs (by an upgrade); its folder is still right.
    std::string text = path.string();
    constexpr std::string_view k_deleted = " (deleted)";
    if (text.ends_with(k_deleted)) text.resize(text.size() - k_deleted.size());
    const auto started = started_as();
    if (!started.empty() && std::filesystem::equivalent(started, text, error)) return started;
    return std::filesystem::path(text);
}

}  // namespace orange
