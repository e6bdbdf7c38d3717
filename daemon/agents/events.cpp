#include "daemon/agents/events.hpp"

#include <algorithm>
#include <cctype>

#include "common/base/text.hpp"
#include "common/model/json.hpp"

namespace orange::agents {
namespace {

constexpr std::size_t k_most_at_once = 64 * 1024;
constexpr std::size_t k_longest_text = 300;
constexpr std::size_t k_most_taken = 10'000;  // a program that invents ids takes no more memory

struct Event {
    std::string name;
    std::string text;
    bool background = false;
};

/// True for a list that is not empty, or the number of its items (shim/event.hpp).
bool has_items(const Json& object, const std::string& member) {
    if (!object.contains(member)) return false;
    const auto& value = object.at(member);
    return value.is_array() ? !value.empty() : value.is_number_integer() && value.get<std::int64_t>() > 0;
}

Event event_in(const EventSigns& signs, std::string_view line) {
    if (!line.starts_with('{')) {
        const auto end = std::min(line.find(' '), line.size());
        return {std::string(line.substr(0, end)), std::string(trim(line.substr(end)))};
    }
    const auto json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return {};
    Event event{text_member(json, signs.key), {}};
    event.background = !signs.background.empty() && has_items(json, signs.background);
    for (const auto& member : signs.text) {
        const auto text = text_member(json, member);
        if (!text.empty()) event.text += (event.text.empty() ? "" : ": ") + text;
    }
    return event;
}

/// Returns the id of the message that the program has taken; empty if the line says something else.
std::string taken_in(const EventSigns& signs, std::string_view line) {
    if (!line.starts_with('{') || line.find("\"taken\"") == std::string_view::npos) return {};
    const auto json = Json::parse(line, nullptr, false);
    if (!json.is_object() || text_member(json, signs.key) != "taken") return {};
    return text_member(json, "id");
}

bool is_one_of_them(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns the path of the conversation's file that the event names; empty if it names none that may be one.
std::string transcript_in(const EventSigns& signs, const Json& json) {
    const auto path = signs.transcript.empty() ? std::string() : text_member(json, signs.transcript);
    const bool is_plain = std::none_of(path.begin(), path.end(), [](unsigned char c) { return std::iscntrl(c) != 0; });
    return path.starts_with('/') && is_plain ? path : std::string();
}

/// Returns the text by which the call of an event is known again.
std::string call_in(const PermitSigns& signs, const Json& json) {
    if (!signs.id.empty()) return text_member(json, signs.id);
    const auto hash = text_member(json, signs.input + "_hash");
    return text_member(json, signs.tool) + " " + (hash.empty() ? text_member(json, signs.input) : hash);
}

/// True for the form 01234567-89ab-cdef-0123-456789abcdef.
bool is_uuid(std::string_view id) {
    constexpr std::string_view k_form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    return std::equal(id.begin(), id.end(), k_form.begin(), k_form.end(),
                      [](unsigned char c, char wanted) { return wanted == '-' ? c == '-' : std::isxdigit(c) != 0; });
}

}  // namespace

std::optional<Statement> told_by(const Harness& harness, std::string_view line) {
    const auto& signs = harness.events;
    auto event = event_in(signs, trim(line));
    if (event.name.empty()) return std::nullopt;
    auto text = printable(std::string_view(event.text).substr(0, k_longest_text));
    if (is_one_of_them(signs.busy, event.name)) return Statement{Activity::busy, {}};
    if (is_one_of_them(signs.idle, event.name)) return Statement{Activity::idle, {}, false, event.background};
    if (is_one_of_them(signs.question, event.name)) return Statement{Activity::waiting, std::move(text)};
    if (is_one_of_them(signs.limit, event.name)) return Statement{Activity::limited, std::move(text), true};
    if (is_one_of_them(signs.error, event.name)) {
        const bool usage_limit = limit_on(harness, text).value_or(Reading{}).usage_limit;
        return Statement{Activity::limited, std::move(text), usage_limit};
    }
    if (is_one_of_them(signs.end, event.name)) return Statement{};
    return std::nullopt;
}

bool is_conversation_id(std::string_view id) {
    constexpr std::size_t k_longest = 64;
    const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
    return !id.empty() && id.size() <= k_longest && id.front() != '-' && std::all_of(id.begin(), id.end(), plain);
}

bool Session::permits(std::string_view id) const {
    if (!is_conversation_id(id)) return false;
    if (form.empty()) return true;
    if (form == "uuid") return is_uuid(id);
    const auto star = form.find('*');
    const auto front = std::string_view(form).substr(0, star), back = std::string_view(form).substr(star + 1);
    return id.size() > front.size() + back.size() && id.starts_with(front) && id.ends_with(back);
}

std::optional<Conversation> conversation_in(const Harness& harness, std::string_view line) {
    const auto& signs = harness.events;
    if (signs.session.empty() || !harness.session.can_resume()) return std::nullopt;
    const auto json = Json::parse(line, nullptr, false);
    if (!json.is_object() || is_one_of_them(signs.end, text_member(json, signs.key))) return std::nullopt;
    Conversation conversation{text_member(json, signs.session), {}};
    if (!harness.session.permits(conversation.id)) return std::nullopt;
    conversation.transcript = transcript_in(signs, json);
    return conversation;
}

bool EventReader::read(const Harness& harness, FileSystem& files, const Path& path) {
    const auto facts = files.facts_of(path);
    if (!facts || facts->kind != FileFacts::Kind::file) return false;
    const bool is_other = facts->size == at_ && facts->modified != modified_;  // replaced by one of the same size
    if (facts->size == at_ && !is_other) return false;
    if (facts->size < at_ || is_other) at_ = 0;
    modified_ = facts->modified;
    const auto added = static_cast<std::size_t>(std::min<std::uintmax_t>(facts->size - at_, k_most_at_once));
    const auto piece = files.read_before(path, facts->size, added);
    if (!piece) return false;
    std::string_view lines = piece->bytes;
    const bool is_cut = piece->from > at_;
    const auto end = lines.rfind('\n');
    if (end == std::string_view::npos) {
        if (is_cut) at_ = facts->size;  // a single line that is too long
        return false;
    }
    at_ = piece->from + end + 1;
    lines = lines.substr(0, end);
    if (is_cut) lines.remove_prefix(std::min(lines.find('\n'), lines.size()));
    return parse(harness, lines);
}

bool EventReader::parse(const Harness& harness, std::string_view lines) {
    bool any = false;
    for (const auto line : split_lines(lines)) {
        if (auto id = taken_in(harness.events, line); !id.empty() && taken_.size() < k_most_taken) {
            taken_.insert(std::move(id));
        }
        if (auto conversation = conversation_in(harness, line)) conversation_ = std::move(conversation);
        remember(harness, line);
        auto told = told_by(harness, line);
        const bool asks = harness.permits.are_asked() && follow_calls(harness, line, told);
        if (!told) continue;
        last_ = std::move(*told);
        last_.asks = asks;
        any = true;
    }
    return any;
}

const AskedCall* EventReader::asked(const std::string& key) const {
    const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const auto& each) { return each.key == key; });
    return found == calls_.end() ? nullptr : &*found;
}

bool EventReader::follow_calls(const Harness& harness, std::string_view line, const std::optional<Statement>& told) {
    constexpr std::size_t k_most_calls = 100;
    auto json = Json::parse(line, nullptr, false);
    if (!json.is_object()) json = Json::object();  // an event of words
    const bool is_done = is_one_of_them(harness.permits.done, text_member(json, harness.events.key));
    if (!told && !is_done) return false;
    const auto call = call_in(harness.permits, json);
    if (is_done) {
        request_answered();
        // Equal calls are made in the order in which they were asked for; one that was denied is never made.
        AskedCall* made = nullptr;
        for (auto& each : calls_) {
            if (each.made || each.turn_over || each.call != call) continue;
            if (made == nullptr || (made->later > 0 && each.later == 0)) made = &each;
        }
        if (made != nullptr) made->made = true;
    }
    const bool is_over =
        told && told->activity != Activity::busy && told->activity != Activity::waiting && !told->background;
    const bool has_agents = !harness.permits.agent.empty();
    auto agent = has_agents ? text_member(json, harness.permits.agent) : std::string();
    const bool begins = told && told->activity != Activity::idle;  // a question, or a turn
    for (auto& each : calls_) {
        const bool is_same = each.agent == agent;
        if (is_same || is_over) ++each.later;
        each.gone_on = each.gone_on || (has_agents && is_same && begins);
        each.turn_over = each.turn_over || is_over;
    }
    auto key = text_member(json, "ask");
    if (key.empty()) return false;
    calls_.push_back({std::move(key), call, std::move(agent)});
    if (calls_.size() > k_most_calls) calls_.erase(calls_.begin());
    return true;
}

void EventReader::remember(const Harness& harness, std::string_view line) {
    const auto& signs = harness.events;
    if (signs.session.empty() && signs.transcript.empty()) return;
    const auto json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return;
    const auto add = [](std::vector<std::string>& into, std::string text) {
        if (!is_one_of_them(into, text) && into.size() < k_most_told) into.push_back(std::move(text));
    };
    const auto id = signs.session.empty() ? std::string() : text_member(json, signs.session);
    if (harness.session.permits(id)) add(told_ids_, id);
    if (auto path = transcript_in(signs, json); !path.empty()) add(told_files_, std::move(path));
}

}  // namespace orange::agents
