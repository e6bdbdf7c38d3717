#include "tests/flows/transcript.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "common/base/text.hpp"

namespace orange::tests {
namespace {

struct Arity {
    std::size_t least;
    std::size_t most;
};
constexpr std::size_t k_any = 20;

const std::map<std::string, Arity>& subjects() {
    static const std::map<std::string, Arity> table = {
        {"status", {1, 1}},  {"windows", {1, k_any}}, {"workspace", {1, 1}}, {"pool", {1, k_any}}, {"round", {1, 1}},
        {"crashes", {1, 1}}, {"counter", {2, 2}},     {"attention", {1, 1}}, {"needs", {1, 2}},    {"branch", {1, 1}},
        {"section", {2, 2}}, {"heard", {2, 2}},       {"prompt", {2, 2}},    {"logs", {1, k_any}}, {"saved", {1, 1}},
        {"main", {2, 2}},    {"remote", {2, 2}},      {"queue", {1, 1}},     {"worker", {1, 1}},   {"reviewer", {1, 1}},
    };
    return table;
}

const std::map<std::string, std::map<std::string, Arity>>& verbs() {
    static const std::map<std::string, Arity> agent = {
        {"orange", {1, k_any}}, {"git", {1, k_any}}, {"write", {1, k_any}}, {"commit", {1, 1}},
        {"save", {2, 2}},       {"exit", {1, 1}},    {"die", {0, 0}}};
    static const std::map<std::string, std::map<std::string, Arity>> table = {
        {"human",
         {{"orange", {1, k_any}},
          {"git", {1, k_any}},
          {"rpc", {2, 2}},
          {"kill-session", {0, 0}},
          {"setup", {1, k_any}}}},
        {"worker", agent},
        {"reviewer", agent},
        {"github",
         {{"merges", {1, 1}},
          {"closes", {1, 1}},
          {"opens-again", {1, 1}},
          {"requests-changes", {1, 1}},
          {"fails-checks", {1, 1}},
          {"passes-checks", {1, 1}}}},
    };
    return table;
}

bool is_number(const std::string& word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::size_t number(const std::string& word) {
    std::size_t value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    return value;
}

/// `text` split at the separators that are not between double quotes.
std::vector<std::string> split_outside_quotes(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && quoted && i + 1 < text.size()) {
            parts.back() += text[i++];
        } else if (text[i] == '"') {
            quoted = !quoted;
        } else if (text[i] == separator && !quoted) {
            parts.emplace_back();
            continue;
        }
        parts.back() += text[i];
    }
    for (auto& part : parts) part = std::string(trim(part));
    return parts;
}

class Parser {
  public:
    Parser(const std::string& name, const std::string& text) : name_(name), lines_(split_lines(text)) {}

    Result<Transcript> parse() {
        for (at_ = 0; at_ < lines_.size(); ++at_) {
            const std::string line(lines_[at_]);
            if (trim(line).empty()) {
                in_history_ = false;
                continue;
            }
            if (auto read = parse_line(line); !read) return read.error();
        }
        if (parsed_.title.empty()) return wrong("the first line must be \"# \" and a title");
        if (parsed_.steps.empty()) return wrong("nothing happens in it");
        return parsed_;
    }

  private:
    Error wrong(const std::string& what) const {
        return {ErrorCode::invalid_argument,
                name_ + ":" + std::to_string(std::min(at_ + 1, lines_.size())) + ": " + what};
    }

    Result<void> parse_line(const std::string& line) {
        if (line.starts_with("#")) {
            if (at_ == 0) parsed_.title = std::string(trim(line.substr(1)));
            return {};
        }
        if (line.starts_with("    ")) return history_line(std::string(trim(line)));
        in_history_ = false;
        if (line.starts_with("> ")) return event(line);
        if (line.starts_with("< ")) return outcome(std::string(trim(line.substr(2))));
        if (line.starts_with("= ")) return expectation(line);
        if (line.starts_with("history")) return history(line);
        if (parsed_.steps.empty()) return header(line);
        return wrong("a line begins with \"> \", \"< \", \"= \", \"history:\" or \"#\"");
    }

    Result<void> header(const std::string& line) {
        const auto colon = line.find(':');
        const auto key = line.substr(0, colon);
        const auto value = colon == std::string::npos ? "" : std::string(trim(line.substr(colon + 1)));
        if (value.empty())
            return wrong("a header is \"absent: …\", \"pool: 1\", \"remote: yes\" or \"remote: github\"");
        if (key == "absent") {
            parsed_.absent = value;
        } else if (key == "pool" && is_number(value)) {
            parsed_.pool = static_cast<int>(number(value));
        } else if (key == "remote" && value == "yes") {
            parsed_.remote = true;
        } else if (key == "remote" && value == "github") {
            parsed_.github = true;
        } else {
            return wrong("unknown header \"" + line + "\"");
        }
        return {};
    }

    /// Takes "2" of "worker 2: …" and leaves what is behind the colon.
    Result<std::size_t> label(std::string& text, std::string& actor) {
        const auto colon = text.find(':');
        if (colon == std::string::npos) return wrong("a colon is missing after who it is about");
        auto words = words_of(text.substr(0, colon));
        if (!words) return wrong(words.error().message);
        text = std::string(trim(text.substr(colon + 1)));
        actor = words->empty() ? "" : words->at(0);
        if (words->size() == 1) return std::size_t{0};
        if (words->size() != 2 || !is_number(words->at(1)))
            return wrong("before the colon: a name, and a task's number");
        return number(words->at(1));
    }

    Result<void> event(const std::string& line) {
        Step step{Step::Kind::event, at_ + 1, line, 0, {}, {}, {}};
        auto rest = line.substr(2);
        auto task = label(rest, step.event.actor);
        if (!task) return task.error();
        step.event.task = *task;
        const auto actor = verbs().find(step.event.actor);
        if (actor == verbs().end()) return wrong("nobody is called \"" + step.event.actor + "\"");
        auto words = event_words(rest);
        if (!words) return wrong(words.error().message);
        if (words->empty()) return wrong("what does the " + step.event.actor + " do?");
        step.event.words = *words;
        const auto verb = actor->second.find(words->at(0));
        if (verb == actor->second.end()) return wrong("a " + actor->first + " cannot \"" + words->at(0) + "\"");
        const auto given = words->size() - 1;
        if (given < verb->second.least || given > verb->second.most)
            return wrong("\"" + words->at(0) + "\" with " + counted(given, "argument"));
        parsed_.steps.push_back(std::move(step));
        return {};
    }

    /// "write Plan | APPROACH: x | TOUCHING: y" and "rpc METHOD {…}" have words of their own kind.
    Result<std::vector<std::string>> event_words(const std::string& text) {
        if (text.starts_with("write ")) {
            std::vector<std::string> words = {"write"};
            for (auto& part : split_outside_quotes(text.substr(6), '|')) words.push_back(std::move(part));
            words[1] = "## " + words[1];
            return words;
        }
        if (text.starts_with("rpc ")) {
            const auto blank = text.find(' ', 4);
            if (blank == std::string::npos) return Error(ErrorCode::invalid_argument, "rpc METHOD {parameters}");
            return std::vector<std::string>{"rpc", text.substr(4, blank - 4), text.substr(blank + 1)};
        }
        return words_of(text);
    }

    Result<void> outcome(const std::string& text) {
        if (parsed_.steps.empty() || parsed_.steps.back().kind != Step::Kind::event)
            return wrong("\"< \" belongs below an event");
        auto words = words_of(text);
        if (!words) return wrong(words.error().message);
        const auto is = [&](const char* word, std::size_t size) {
            return words->size() == size && words->at(0) == word;
        };
        Outcome found{Outcome::Kind::says, "", "", at_ + 1};
        if (is("refused", 2)) {
            found = {Outcome::Kind::refused, words->at(1), "", at_ + 1};
        } else if (is("noted", 2)) {
            found = {Outcome::Kind::noted, words->at(1), "", at_ + 1};
        } else if (is("gone", 1)) {
            found.kind = Outcome::Kind::gone;
        } else if (is("says", 2)) {
            found.text = words->at(1);
        } else if (words->size() >= 3 && words->at(0) == "json") {
            found = {Outcome::Kind::json, words->at(1), text.substr(text.find(words->at(1)) + words->at(1).size() + 1),
                     at_ + 1};
        } else {
            return wrong("below an event: refused \"…\", noted \"…\", gone, says \"…\" or json /pointer value");
        }
        parsed_.steps.back().event.outcomes.push_back(std::move(found));
        return {};
    }

    Result<void> expectation(const std::string& line) {
        Step step{Step::Kind::expectation, at_ + 1, line, 0, {}, {}, {}};
        auto rest = line.substr(2);
        if (rest.starts_with("task ")) {
            std::string unused;
            auto task = label(rest, unused);
            if (!task) return task.error();
            step.task = *task;
        }
        for (const auto& part : split_outside_quotes(rest, ';')) {
            auto words = words_of(part);
            if (!words) return wrong(words.error().message);
            if (words->empty()) return wrong("an expectation is missing before or after \";\"");
            const auto subject = subjects().find(words->at(0));
            if (subject == subjects().end()) return wrong("unknown expectation \"" + words->at(0) + "\"");
            words->erase(words->begin());
            if (words->size() < subject->second.least || words->size() > subject->second.most)
                return wrong("\"" + subject->first + "\" with " + counted(words->size(), "word"));
            step.clauses.push_back({subject->first, std::move(*words)});
        }
        parsed_.steps.push_back(std::move(step));
        return {};
    }

    Result<void> history(const std::string& line) {
        Step step{Step::Kind::history, at_ + 1, line, 0, {}, {}, {}};
        std::string rest = line, actor;
        auto task = label(rest, actor);
        if (!task) return task.error();
        if (actor != "history" || !rest.empty()) return wrong("\"history:\" or \"history 2:\", the events below it");
        step.task = *task;
        parsed_.steps.push_back(std::move(step));
        in_history_ = true;
        return {};
    }

    Result<void> history_line(const std::string& text) {
        if (!in_history_) return wrong("an indented line belongs below \"history:\"");
        parsed_.steps.back().history.push_back(text);
        return {};
    }

    std::string name_;
    std::vector<std::string_view> lines_;
    std::size_t at_ = 0;
    bool in_history_ = false;
    Transcript parsed_;
};

}  // namespace

Result<Transcript> parse_transcript(const std::string& name, const std::string& text) {
    return Parser(name, text).parse();
}

Result<std::vector<Cell>> parse_matrix(const std::string& text) {
    std::vector<std::string> workflows;
    std::vector<Cell> cells;
    std::size_t number = 0;
    for (const auto line : split_lines(text)) {
        ++number;
        const auto at = "matrix.txt:" + std::to_string(number) + ": ";
        if (trim(line).empty() || line.starts_with("#")) continue;
        auto words = words_of(std::string(line));
        if (!words) return Error(ErrorCode::invalid_argument, at + words.error().message);
        if (workflows.empty()) {
            if (words->at(0) != "flow") return Error(ErrorCode::invalid_argument, at + "begins with: flow WORKFLOW…");
            workflows.assign(words->begin() + 1, words->end());
            continue;
        }
        if (words->size() != workflows.size() + 1)
            return Error(ErrorCode::invalid_argument, at + "a row needs a cell for each workflow");
        for (std::size_t i = 0; i < workflows.size(); ++i) {
            const auto& cell = words->at(i + 1);
            if (cell != "yes" && cell != "none" && cell != "same") {
                return Error(ErrorCode::invalid_argument,
                             at + "a cell is \"yes\", \"none\" or \"same\", not \"" + cell + "\"");
            }
            if (cell != "same") cells.push_back({workflows[i], words->at(0), cell == "yes"});
        }
    }
    return cells;
}

Result<std::vector<std::string>> words_of(const std::string& line) {
    std::vector<std::string> words;
    bool quoted = false, open = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (!quoted && (c == ' ' || c == '\t')) {
            open = false;
            continue;
        }
        if (!open) words.emplace_back();
        open = true;
        if (c == '"') {
            quoted = !quoted;
        } else if (quoted && c == '\\' && i + 1 < line.size()) {
            const char next = line[++i];
            words.back() += next == 'n' ? '\n' : next;
        } else {
            words.back() += c;
        }
    }
    if (quoted) return Error(ErrorCode::invalid_argument, "a quotation mark is not closed");
    return words;
}

}  // namespace orange::tests
