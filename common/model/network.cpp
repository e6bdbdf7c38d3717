#include "common/model/network.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange {
namespace {

constexpr std::size_t k_most_places = 200, k_longest_host = 253, k_longest_label = 63;
constexpr std::string_view k_form =
    ": a place is a name, as api.example.org or .example.org (with all below it), or an address, as 10.1.2.3, "
    "10.1.2.0/24 or [fd00::1], each perhaps with a port, as api.example.org:8443";

std::optional<int> number_in(std::string_view text, int least, int most) {
    int number = 0;
    const auto* end = text.data() + text.size();
    if (text.empty() || std::from_chars(text.data(), end, number).ptr != end) return std::nullopt;
    return number >= least && number <= most ? std::optional(number) : std::nullopt;
}

/// True for a label of a name: letters, digits, dashes and underscores.
bool is_label(std::string_view label) {
    constexpr std::string_view k_known = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    return !label.empty() && label.size() <= k_longest_label && label.front() != '-' && label.back() != '-' &&
           label.find_first_not_of(k_known) == label.npos;
}

/// True for a name. One that ends with a number is none: programs take it for an address.
bool is_name(std::string_view host) {
    if (host.starts_with('.')) host.remove_prefix(1);
    if (host.empty() || host.size() > k_longest_host) return false;
    const auto labels = split(host, '.');
    const auto last = labels.back();
    const bool is_number = last.starts_with("0x") || last.find_first_not_of("0123456789") == last.npos;
    return !is_number && std::ranges::all_of(labels, is_label);
}

bool is_address(const std::string& host) {
    const auto slash = host.find('/');
    const auto address = host.substr(0, slash);
    const bool is_four = address.find(':') == address.npos;
    unsigned char bytes[sizeof(in6_addr)];
    if (::inet_pton(is_four ? AF_INET : AF_INET6, address.c_str(), bytes) != 1) return false;
    return slash == host.npos || number_in(host.substr(slash + 1), 0, is_four ? 32 : 128);
}

/// Takes ":8443" from the end of a place, if it has a port.
Result<std::optional<int>> take_port(std::string& host, std::string_view place) {
    const auto colon = host.rfind(':');
    const auto bracket = host.rfind(']');
    const bool has_port = colon != host.npos && (bracket == host.npos || bracket < colon);
    if (!has_port) return std::optional<int>();
    const auto port = number_in(std::string_view(host).substr(colon + 1), 1, 65535);
    if (!port) return Error(ErrorCode::invalid_argument, "\"" + printable(place) + "\" has no port from 1 to 65535");
    host.resize(colon);
    return port;
}

Result<NetworkPlace> place_in(std::string_view text) {
    NetworkPlace place;
    if (text.find("://") != text.npos) {
        return Error(ErrorCode::invalid_argument,
                     "\"" + printable(text) + "\" is the address of a page; write its name alone, as example.org");
    }
    place.host = to_lower(text);
    TRY(place.port, take_port(place.host, text));
    if (place.host.starts_with('[')) {
        const auto end = place.host.find(']');
        const auto inside = place.host.substr(1, end == place.host.npos ? end : end - 1);
        const auto rest = end == place.host.npos ? std::string("]") : place.host.substr(end + 1);
        place.host = inside + rest;
        place.is_address = inside.find(':') != inside.npos && is_address(place.host);
        if (place.is_address) return place;
    } else {
        place.is_address = place.host.find(':') == place.host.npos && is_address(place.host);
        if (place.is_address || is_name(place.host)) return place;
    }
    return Error(ErrorCode::invalid_argument,
                 "\"" + printable(text) + "\" is no place in a network" + std::string(k_form));
}

}  // namespace

Result<Network> network_in(std::string_view text) {
    Network network;
    std::string list(text);
    std::ranges::replace(list, ',', ' ');
    std::vector<std::string> words;
    for (const auto word : split(list, ' ')) {
        if (!trim(word).empty()) words.emplace_back(trim(word));
    }
    if (words == std::vector<std::string>{"full"}) return network;
    network.kind = Network::Kind::none;
    if (words == std::vector<std::string>{"none"}) return network;
    network.kind = Network::Kind::list;
    for (const auto& word : words) {
        if (word == "full" || word == "none") {
            return Error(ErrorCode::invalid_argument, word + " stands alone, without places beside it");
        }
        TRY(auto place, place_in(word));
        if (std::ranges::find(network.places, place) == network.places.end())
            network.places.push_back(std::move(place));
    }
    if (network.places.empty() || network.places.size() > k_most_places) {
        return Error(ErrorCode::invalid_argument,
                     "it must be full, none, or up to " + std::to_string(k_most_places) + " places");
    }
    return network;
}

std::string text_of(const NetworkPlace& place) {
    const bool is_six = place.host.find(':') != place.host.npos;
    auto text = place.host;
    if (is_six) {
        const auto slash = std::min(text.find('/'), text.size());
        text = "[" + text.substr(0, slash) + "]" + text.substr(slash);
    }
    return place.port ? text + ":" + std::to_string(*place.port) : text;
}

std::string text_of(const Network& network) {
    if (network.kind == Network::Kind::full) return "full";
    if (network.kind == Network::Kind::none) return "none";
    std::vector<std::string> words;
    for (const auto& place : network.places) words.push_back(text_of(place));
    return join(words, " ");
}

}  // namespace orange
