/// The names that go to disk or over the wire: none of them ever changes, and the documents have all of them.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "common/model/activity.hpp"
#include "common/model/needs.hpp"
#include "common/model/notice_kinds.hpp"
#include "common/model/pull_request.hpp"
#include "common/model/record.hpp"
#include "common/model/role.hpp"
#include "common/rpc/errors.hpp"
#include "tests/catch.hpp"
#include "tests/golden.hpp"

using namespace orange;

namespace {

namespace fs = std::filesystem;

struct Name {
    std::string kind, name, more = {};
};

template <class Enum, int i = 0, class Visit>
void visit_each(const Visit& visit) {
    if constexpr (is_enumerator<static_cast<Enum>(i)>()) {
        visit(static_cast<Enum>(i));
        visit_each<Enum, i + 1>(visit);
    }
}

template <class Enum>
void add(std::vector<Name>& names, const std::string& kind) {
    static_assert(is_enumerator<static_cast<Enum>(0)>(), "its enumerators are in another header");
    visit_each<Enum>([&](Enum value) {
        names.push_back({kind, name_text(value)});
        CHECK(from_name(name_of(value), Enum{}) == value);
    });
}

std::string text_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

bool is_event_type(std::string_view word) {
    return word == "notification" ||
           (std::ranges::count(word, '.') == 1 && !word.starts_with('.') && !word.ends_with('.') &&
            word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_.") == word.npos);
}

/// Adds the types in the statements of a source that write or publish an event.
void add_events(std::set<std::string>& types, const std::string& source) {
    for (const std::string_view writes :
         {"journal.", "journal_.", "tell(", "told(", "publish(", ".type = ", "HistoryEvent"}) {
        for (auto at = source.find(writes); at != source.npos; at = source.find(writes, at + 1)) {
            const auto end = std::min(source.find(';', at), source.size());
            for (auto quote = source.find('"', at); quote < end;) {
                const auto close = source.find('"', quote + 1);
                if (close == source.npos) break;
                const auto word = source.substr(quote + 1, close - quote - 1);
                if (is_event_type(word)) types.insert(word);
                quote = source.find('"', close + 1);
            }
        }
    }
}

std::set<std::string> event_types() {
    std::set<std::string> types;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(ORANGE_SOURCE_DIR) / "daemon")) {
        if (entry.path().extension() == ".cpp") add_events(types, text_of(entry.path()));
    }
    return types;
}

std::vector<Name> stored_names() {
    std::vector<Name> names;
    add<NoticeKind>(names, "notice");
    add<Need>(names, "need");
    visit_each<ErrorCode>([&](ErrorCode code) {
        names.push_back({"error", std::string(name_of(code)), " " + std::to_string(rpc::number_of(code))});
    });
    add<Role>(names, "role");
    add<Activity>(names, "activity");
    add<MergePhase>(names, "merge");
    add<PullState>(names, "pull.state");
    add<PullChecks>(names, "pull.checks");
    add<PullReview>(names, "pull.review");
    for (const auto& type : event_types()) names.push_back({"event", type});
    return names;
}

}  // namespace

TEST_CASE("Names on disk and on the wire never change: a new one is added to tests/data/golden/names.txt") {
    std::string text;
    for (const auto& [kind, name, more] : stored_names()) text.append(kind).append(" ").append(name + more + "\n");
    check_golden("names.txt", text);
}

TEST_CASE(
    "docs/protocol.md has every notice, need, error and activity, and every event that docs/files.md does not have") {
    const auto docs = fs::path(ORANGE_SOURCE_DIR) / "docs";
    const auto protocol = text_of(docs / "protocol.md");
    const auto files = text_of(docs / "files.md");
    for (const auto& [kind, name, more] : stored_names()) {
        if (kind == "role" || kind == "merge" || kind.starts_with("pull.")) continue;
        INFO(kind << " " << name);
        const auto quoted = "`" + name + "`";
        CHECK((protocol.find(quoted) != protocol.npos || (kind == "event" && files.find(quoted) != files.npos)));
    }
}
