#include "daemon/process/umask.hpp"

#include <sys/stat.h>

#include <charconv>
#include <system_error>

namespace orange::process {

int current_umask() {
    const auto mask = ::umask(077);  // there is no call that only reads the umask
    ::umask(mask);
    return static_cast<int>(mask);
}

int umask_at_start() {
    static const int mask = current_umask();
    return mask;
}

void use_umask(int mask) {
    ::umask(static_cast<mode_t>(mask));
}

std::optional<int> umask_from(std::string_view text) {
    constexpr int k_octal = 8, k_of_others = 077;
    int mask = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mask, k_octal);
    if (text.size() > 4 || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (mask < 0 || mask > k_of_others) return std::nullopt;
    return mask;
}

std::string umask_text(int mask) {
    return {'0', static_cast<char>('0' + mask / 64 % 8), static_cast<char>('0' + mask / 8 % 8),
            static_cast<char>('0' + mask % 8)};
}

}  // namespace orange::process
