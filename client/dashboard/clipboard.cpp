#include "client/dashboard/clipboard.hpp"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "client/connection/child.hpp"

namespace orange::dashboard {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds k_patience{5};
constexpr std::size_t k_largest_picture = std::size_t{32} << 20;
constexpr std::string_view k_png = "\x89PNG\r\n\x1a\n";

struct Source {
    const char* variable;  ///< is set on a desktop that has this clipboard
    const char* package;
    std::vector<std::string> argv;
};

/// Returns what the program prints, if that is a picture.
Result<std::string> picture_from(const Source& source) {
    const auto until = steady_clock::now() + k_patience;
    auto bytes = connection::output_of(source.argv, k_largest_picture + 1, k_patience);
    std::string why = "The clipboard has no picture";
    if (!bytes) {
        why = std::string("To take pictures from the clipboard, install ") + source.package;
    } else if (bytes->size() > k_largest_picture) {
        why = "The picture in the clipboard is larger than 32 MiB";
    } else if (steady_clock::now() >= until) {
        why = source.argv.front() + " did not read the clipboard within 5 s";
    } else if (bytes->starts_with(k_png)) {
        return std::move(*bytes);
    }
    return {ErrorCode::unavailable, why};
}

}  // namespace

Result<std::string> clipboard_picture() {
    static const Source k_sources[] = {
        {"WAYLAND_DISPLAY", "wl-clipboard", {"wl-paste", "--no-newline", "--type", "image/png"}},
        {"DISPLAY", "xclip", {"xclip", "-selection", "clipboard", "-t", "image/png", "-o"}}};
    std::optional<Error> first;
    for (const auto& source : k_sources) {
        const char* value = std::getenv(source.variable);
        if (value == nullptr || *value == '\0') continue;
        auto picture = picture_from(source);
        if (picture) return picture;
        if (!first) first = picture.error();
    }
    if (first) return *first;
    return {ErrorCode::unavailable,
            "There is no clipboard to read here (WAYLAND_DISPLAY and DISPLAY are not set); give the path of a file"};
}

}  // namespace orange::dashboard
