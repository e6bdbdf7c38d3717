#include "daemon/store/brief.hpp"

#include <unordered_set>

#include "common/model/fields.hpp"
#include "common/model/json.hpp"

namespace orange::store {
namespace {

/// Returns true for a merge that is done and stayed in the local repository.
bool is_unpushed(const MergeRecord& merge) {
    return merge.phase == MergePhase::done && !merge.push && !merge.elsewhere;
}

/// Walks through a JSON text and takes some of its values. It gives up where a value has an unusual form.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

    /// Calls `take` with each key of the object that begins here. `take` takes the value; it returns false to give up.
    template <class Take>
    bool object(const Take& take) {
        if (!eat('{')) return false;
        if (eat('}')) return true;
        do {
            std::string_view key;
            if (!text(key) || !eat(':') || !take(key)) return false;
        } while (eat(','));
        return eat('}');
    }

    /// Takes a string without escapes.
    bool text(std::string_view& value) {
        if (!eat('"')) return false;
        const char* begin = at_;
        while (at_ != end_ && *at_ != '"') {
            if (*at_ == '\\' || static_cast<unsigned char>(*at_) < ' ') return false;
            ++at_;
        }
        if (at_ == end_) return false;
        value = {begin, static_cast<std::size_t>(at_++ - begin)};
        return true;
    }

    bool boolean(bool& value) {
        value = word("true");
        return value || word("false");
    }

    /// Takes exactly this value, which has no spaces in it.
    bool word(std::string_view value) {
        skip_space();
        if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(value)) return false;
        at_ += value.size();
        return true;
    }

    bool skip(int depth = 0) {
        skip_space();
        if (at_ == end_ || depth > k_deepest) return false;
        switch (*at_) {
            case '"':
                return skip_text();
            case '{':
                return skip_all('{', '}', depth);
            case '[':
                return skip_all('[', ']', depth);
            default:
                return skip_literal();
        }
    }

    /// Skips a value and takes its text.
    bool raw(std::string_view& value) {
        skip_space();
        const char* begin = at_;
        if (!skip()) return false;
        value = {begin, static_cast<std::size_t>(at_ - begin)};
        return true;
    }

    bool is_at_end() {
        skip_space();
        return at_ == end_;
    }

  private:
    static constexpr int k_deepest = 16;

    void skip_space() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }

    bool eat(char c) {
        skip_space();
        if (at_ == end_ || *at_ != c) return false;
        ++at_;
        return true;
    }

    bool skip_text() {
        ++at_;
        for (; at_ != end_ && *at_ != '"'; ++at_) {
            if (static_cast<unsigned char>(*at_) < ' ') return false;
            if (*at_ == '\\' && ++at_ == end_) return false;
        }
        if (at_ == end_) return false;
        ++at_;
        return true;
    }

    bool skip_all(char open, char close, int depth) {
        if (!eat(open)) return false;
        if (eat(close)) return true;
        do {
            skip_space();
            if (open == '{' && (at_ == end_ || *at_ != '"' || !skip_text() || !eat(':'))) return false;
            if (!skip(depth + 1)) return false;
        } while (eat(','));
        return eat(close);
    }

    bool skip_literal() {
        if (word("true") || word("false") || word("null")) return true;
        const char* begin = at_;
        while (at_ != end_ && ((*at_ >= '0' && *at_ <= '9') || *at_ == '-')) ++at_;
        return at_ != begin;
    }

    const char* at_;
    const char* end_;
};

template <class Rows>
bool take_rows(Scanner& scan, Rows& rows) {
    std::string_view text;
    if (!scan.raw(text)) return false;
    const auto json = Json::parse(text, nullptr, false);
    auto read = json.is_discarded() ? Result<Rows>(Error{}) : read_as<Rows>(json, "", UnknownKeys::ignore);
    if (read) rows = std::move(*read);
    return read.has_value();
}

/// The values that a brief needs, as they are in the text.
struct Draft {
    Task task;
    bool ended = false;
    bool into_parent = false;
    MergeRecord merge;
};

bool take(Scanner& scan, std::string& into) {
    std::string_view value;
    if (!scan.text(value)) return false;
    into = value;
    return true;
}

bool take_field(Scanner& scan, std::string_view key, Task& task) {
    if (key == "id") return take(scan, task.id.value);
    if (key == "project") return take(scan, task.project);
    if (key == "branch") return take(scan, task.branch);
    if (key == "workflow") return take(scan, task.workflow);
    if (key == "workflow_hash") return take(scan, task.workflow_hash);
    if (key == "status") return take(scan, task.status);
    if (key == "summary") return take(scan, task.summary);
    if (key == "parent") return take(scan, task.parent.value);
    if (key == "workspace" || key == "attention") return scan.word("null");
    if (key != "created_at") return scan.skip();
    std::string_view value;
    if (!scan.text(value)) return false;
    const auto time = from_rfc3339(value);
    task.created_at = time.value_or(Timestamp{});
    return time.has_value();
}

bool take_merge(Scanner& scan, std::string_view key, MergeRecord& merge) {
    if (key == "commit") return take(scan, merge.commit);
    if (key == "base") return take(scan, merge.base);
    if (key == "target") return take(scan, merge.target);
    if (key == "push") return scan.boolean(merge.push);
    if (key == "elsewhere") return scan.boolean(merge.elsewhere);
    if (key != "phase") return scan.skip();
    std::string_view value;
    if (!scan.text(value)) return false;
    const auto phase = from_name(value, MergePhase{});
    merge.phase = phase.value_or(MergePhase::planned);
    return phase.has_value();
}

bool take_pull_request(Scanner& scan, std::string_view key) {
    if (key != "state") return scan.skip();
    std::string_view value;
    return scan.text(value) && value != name_of(PullState::closed) && from_name(value, PullState{});
}

bool take_member(Scanner& scan, std::string_view key, Draft& draft) {
    if (key == "fields") return scan.object([&](std::string_view name) { return take_field(scan, name, draft.task); });
    if (key == "merge") return scan.object([&](std::string_view name) { return take_merge(scan, name, draft.merge); });
    if (key == "pull_request") return scan.object([&](std::string_view name) { return take_pull_request(scan, name); });
    if (key == "ended") return scan.boolean(draft.ended);
    if (key == "into_parent") return scan.boolean(draft.into_parent);
    if (key == "schema") {
        return scan.word(std::to_string(k_schema)) || scan.word(std::to_string(k_restricting_schema));
    }
    if (key == "intent") return scan.word("null");
    if (key == "queued" || key == "unapproved") return scan.word("false");
    const bool must_be_empty = key == "runs" || key == "held" || key == "outbox" || key == "notices" || key == "left" ||
                               key == "programs_changed" || key == "harnesses_changed";
    return must_be_empty ? scan.word("[]") : scan.skip();
}

/// Makes a brief. `merge` is empty if the task has none.
Brief brief_from(const Task& task, bool ended, const MergeRecord& merge, bool into_parent) {
    Brief brief;
    brief.id = task.id;
    brief.parent = task.parent;
    brief.project = SharedText(task.project);
    brief.workflow = SharedText(task.workflow);
    brief.workflow_hash = SharedText(task.workflow_hash);
    brief.status = SharedText(task.status);
    brief.branch = task.branch;
    brief.summary = task.summary;
    brief.created_at = task.created_at;
    brief.ended = ended || is_end(task.status);
    brief.into_parent = into_parent;
    if (is_unpushed(merge)) {
        brief.unpushed = std::make_shared<UnpushedMerge>(UnpushedMerge{merge.commit, merge.base, merge.target});
    }
    return brief;
}

}  // namespace

SharedText::SharedText(std::string_view text) {
    static std::unordered_set<std::string> all;
    text_ = &*all.emplace(text).first;
}

bool is_end(const std::string& status) {
    return status == "done" || status == "cancelled";
}

bool has_ended(const TaskRecord& record) {
    return record.ended || is_end(record.task.status);
}

bool rests(const TaskRecord& record) {
    const bool may_open_again = record.pull_request && record.pull_request->state == PullState::closed;
    const bool waits = record.intent || record.queued || !record.held.empty() || !record.outbox.empty();
    return has_ended(record) && !waits && record.runs.empty() && record.left.empty() && !record.task.workspace &&
           record.notices.empty() && !record.alarmed() && !may_open_again;
}

Brief brief_of(const TaskRecord& record) {
    auto brief = brief_from(record.task, record.ended, record.merge.value_or(MergeRecord{}), record.into_parent);
    brief.unfinished = record.intent.has_value();
    brief.unapproved = record.unapproved;
    return brief;
}

Spent spent_of(const TaskRecord& record) {
    return {record.usage, record.times};
}

std::optional<Spent> spent_in(std::string_view state) {
    Scanner scan(state);
    Spent spent;
    const bool is_whole = scan.object([&](std::string_view key) {
        if (key == "usage") return take_rows(scan, spent.usage);
        return key == "times" ? take_rows(scan, spent.times) : scan.skip();
    });
    if (!is_whole || !scan.is_at_end()) return std::nullopt;
    return spent;
}

std::optional<Brief> brief_of_resting(std::string_view state) {
    Scanner scan(state);
    Draft draft;
    const bool is_whole = scan.object([&](std::string_view key) { return take_member(scan, key, draft); });
    if (!is_whole || !scan.is_at_end() || draft.task.id.empty()) return std::nullopt;
    auto brief = brief_from(draft.task, draft.ended, draft.merge, draft.into_parent);
    if (!brief.ended) return std::nullopt;
    return brief;
}

}  // namespace orange::store
