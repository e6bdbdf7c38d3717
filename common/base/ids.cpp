#include "common/base/ids.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace orange {
namespace {

constexpr std::string_view k_alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t k_max_project_name = 40;

bool is_lower_alnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string random_id(std::size_t length) {
    // Rejection sampling keeps the draw uniform: 248 is the largest multiple of 62 below 256.
    constexpr unsigned k_limit = 256 - 256 % k_alphabet.size();
    std::string id;
    std::array<unsigned char, 64> pool{};
    while (id.size() < length) {
        if (::getentropy(pool.data(), pool.size()) != 0) {
            throw std::system_error(errno, std::generic_category(), "getentropy");
        }
        for (std::size_t i = 0; i < pool.size() && id.size() < length; ++i) {
            if (pool[i] < k_limit) id += k_alphabet[pool[i] % k_alphabet.size()];
        }
    }
    return id;
}

std::string random_uuid() {
    constexpr std::string_view k_hex = "0123456789abcdef";
    std::array<unsigned char, 16> bytes{};
    if (::getentropy(bytes.data(), bytes.size()) != 0) {
        throw std::system_error(errno, std::generic_category(), "getentropy");
    }
    bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0FU) | 0x40U);
    bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3FU) | 0x80U);
    std::string id;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) id += '-';
        id += k_hex[bytes[i] >> 4U];
        id += k_hex[bytes[i] & 0xFU];
    }
    return id;
}

bool is_task_id(std::string_view text) {
    return text.size() == k_task_id_length &&
           std::all_of(text.begin(), text.end(), [](char c) { return k_alphabet.find(c) != std::string_view::npos; });
}

Result<void> check_project_name(std::string_view name) {
    const auto bad = [&](std::string_view why) {
        return Error(ErrorCode::invalid_argument,
                     "project name \"" + std::string(name) + "\" " + std::string(why) +
                         "; use lower-case letters, digits, '_' and single '-', beginning with a letter or digit, at "
                         "most 40 characters");
    };
    if (name.empty()) return bad("is empty");
    if (name.size() > k_max_project_name) return bad("is too long");
    if (!is_lower_alnum(name.front())) return bad("does not begin with a lower-case letter or a digit");
    if (name.find("--") != std::string_view::npos) return bad("contains \"--\"");
    const bool clean =
        std::all_of(name.begin(), name.end(), [](char c) { return is_lower_alnum(c) || c == '_' || c == '-'; });
    if (!clean) return bad("contains a character that is not allowed");
    return {};
}

std::string project_name_from(std::string_view folder) {
    if (folder.ends_with(".git")) folder.remove_suffix(4);
    std::string name;
    for (const char raw : folder) {
        const char c = raw >= 'A' && raw <= 'Z' ? static_cast<char>(raw - 'A' + 'a') : raw;
        const char kept = is_lower_alnum(c) || c == '_' ? c : '-';
        if (kept == '-' && (name.empty() || name.back() == '-')) continue;
        if (kept == '_' && name.empty()) continue;
        name += kept;
    }
    if (name.size() > k_max_project_name) name.resize(k_max_project_name);
    while (!name.empty() && name.back() == '-') name.pop_back();
    return name.empty() ? "project" : name;
}

}  // namespace orange
