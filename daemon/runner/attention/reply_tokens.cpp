#include "daemon/runner/attention/reply_tokens.hpp"

#include <algorithm>

#include "common/base/ids.hpp"
#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/model/fields.hpp"
#include "common/model/json.hpp"

namespace orange {
namespace {

constexpr std::size_t k_reply_token_length = 8, k_most_choices = 1000;

struct TokensFile {
    int schema = 1;
    std::vector<ReplyChoice> tokens;

    void describe(auto& v) {
        v.required("schema", schema, "1");
        v.required("tokens", tokens, "oldest first");
    }
};

}  // namespace

ReplyTokens::ReplyTokens(World& world) : world_(world), file_(replies_folder(world) / "tokens.json") {
    const auto text = world_.files.read(file_);
    const auto json = text ? parse_json(*text) : Result<Json>(text.error());
    if (!json) {
        if (json.error().code != ErrorCode::not_found) log::warn("replies", json.error().message);
        return;
    }
    auto read = read_as<TokensFile>(*json, "", UnknownKeys::ignore);
    if (read) choices_ = std::move(read->tokens);
    if (!read) log::warn("replies", file_.string() + ": " + read.error().message);
}

std::string ReplyTokens::add(ReplyChoice choice) {
    std::string token;
    while (!is_token(token)) token = to_lower(random_id(k_reply_token_length));
    choice.hash = sha256(token);
    choices_.push_back(std::move(choice));
    if (choices_.size() > k_most_choices) choices_.erase(choices_.begin());
    return token;
}

ReplyChoice* ReplyTokens::find(const std::string& token) {
    const auto found = std::ranges::find(choices_, sha256(token), &ReplyChoice::hash);
    return found == choices_.end() ? nullptr : &*found;
}

void ReplyTokens::save() const {
    const auto saved = world_.files.replace(file_, dump(written(TokensFile{1, choices_})) + "\n");
    if (!saved) log::warn("replies", saved.error().message);
}

bool ReplyTokens::is_token(std::string_view word) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    return word.size() == k_reply_token_length && std::ranges::any_of(word, is_digit) &&
           std::ranges::any_of(word, is_letter) &&
           std::ranges::all_of(word, [&](char c) { return is_digit(c) || is_letter(c); });
}

}  // namespace orange
