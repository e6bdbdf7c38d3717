#include "tests/integration/voice.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <regex>
#include <vector>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

namespace orange::tests {
namespace {

namespace fs = std::filesystem;

/// As long as "/dev/shm/" and "/tmp/" and a unique name need at most.
const std::string k_root = "/home/alexander.hume";
constexpr std::array k_ids = {"Nx1RaYt5Wq0LmZc8Vb3Kd", "Bq7TpGu2Xe9HjSf4Nr6Ow", "Hd4WzKi8Cv1MtLb5Qy3Ea",
                              "Kz9MfRo3Ux7JgDn2Ps6Wh", "Vp2CkEs6Bt0QxHl4Ym8Ji", "Ys6FbNw1Gd5TzOa9Rc3Lu",
                              "Gt3JvXm7Ke2WqIp0Sh5Fz", "Lw8QcUr4Oy6BnTj1Dk9Ge"};

struct Step {
    char kind = '$';
    std::string text;
    std::vector<std::string> answers = {};
};

std::vector<Step> parse(const std::string& text) {
    std::vector<Step> steps;
    for (const auto line : split_lines(text)) {
        if (line.size() < 2 || line[1] != ' ' || std::string_view("#%$>").find(line[0]) == std::string_view::npos)
            continue;
        if (line[0] != '>') {
            steps.push_back({line[0], std::string(line.substr(2))});
        } else if (!steps.empty()) {
            steps.back().answers.emplace_back(line.substr(2));
        }
    }
    return steps;
}

bool joins(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// Every word of `text` that is `from`, or its beginning of at least four characters, as so much of `to`.
std::string renamed(const std::string& text, const std::string& from, const std::string& to) {
    constexpr std::size_t k_least = 4;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t same = 0;
        if (at == 0 || !joins(text[at - 1])) {
            while (same < from.size() && at + same < text.size() && text[at + same] == from[same]) ++same;
        }
        const bool ends = at + same == text.size() || !joins(text[at + same]);
        if (same >= k_least && ends) {
            out += to.substr(0, same);
            at += same;
        } else {
            out += text[at++];
        }
    }
    return out;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

std::u32string points(std::string_view text) {
    std::u32string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte & 0xC0) != 0x80) {
            out.push_back(byte);
        } else {
            out.back() = out.back() << 8 | byte;
        }
    }
    return out;
}

std::string bytes(std::u32string_view text) {
    std::string out;
    for (const char32_t point : text) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            if (shift == 0 || point >> shift != 0) out += static_cast<char>(point >> shift & 0xFF);
        }
    }
    return out;
}

/// A table's column of ages: always the same one, and so wide as that makes it.
std::string with_same_ages(const std::string& text, const std::string& title) {
    static const std::regex k_age("now( +|$)|\\d+[smhd]( ago)?( +|$)");
    std::string out;
    std::size_t column = std::string::npos, next = 0;
    for (const auto line : split_lines(text)) {
        auto row = points(line);
        const auto head = line.find("  " + title + " ");
        if (column == std::string::npos && head != std::string::npos) {
            column = head + 2;
            next = line.find_first_not_of(' ', column + title.size());
        }
        if (column != std::string::npos && row.size() > column && row[column - 1] == ' ') {
            auto cell = bytes(row.substr(column, next - column));
            const auto trimmed = std::string(trim(cell));
            const bool is_age = std::regex_match(cell, k_age);
            const std::string age = title == "WHEN" ? "5s ago" : "5s";
            if (is_age || trimmed == title || trimmed == "running") {
                cell = is_age ? age : trimmed;
                cell.resize(std::max(cell.size(), std::max(title.size(), age.size()) + 2), ' ');
                const auto rest = row.size() > next ? bytes(row.substr(next)) : std::string();
                out += std::string(trim("." + bytes(row.substr(0, column)) + cell + rest)).substr(1) + "\n";
                continue;
            }
        }
        out += std::string(line) + "\n";
    }
    return out;
}

/// Forty digits that look like a commit.
std::string commit_name(std::ptrdiff_t place) {
    std::string name;
    for (int round = 0; name.size() < 40; ++round) {
        auto part = fast_hash(std::to_string(place) + "." + std::to_string(round));
        std::reverse(part.begin(), part.end());
        name += part;
    }
    return name;
}

class Player {
  public:
    explicit Player(std::string name) : name_(std::move(name)), orange_("", k_root.size()) {
        repo_ = orange_.add_project("shop");
    }
    ~Player() {
        // One that a case started is nobody's child.
        orange_.on_terminal("orange daemon stop", orange_.root());
    }
    Player(const Player&) = delete;
    Player& operator=(const Player&) = delete;

    std::string play(const std::vector<Step>& steps) {
        std::string out;
        char before = ' ';
        for (const auto& step : steps) {
            if (before == '%' && step.kind != '%') out += "\n";
            before = step.kind;
            out += std::string(1, step.kind) + " " + step.text + "\n";
            for (const auto& answer : step.answers) out += "> " + answer + "\n";
            if (step.kind == '#') continue;
            const auto said = run(step);
            if (step.kind == '$') out += said + "\n";
        }
        while (out.ends_with("\n\n")) out.pop_back();
        return out;
    }

    /// As play(), for the cases in the ```console blocks of a Markdown page. Set-up is in comments: <!-- % command -->.
    /// A page does not show exit statuses.
    std::string play_page(const std::string& page) {
        constexpr std::string_view k_set_up = "<!-- % ", k_end = " -->";
        std::string out;
        bool inside = false, is_output = false;
        const auto lines = split_lines(page);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const auto line = std::string(lines[i]);
            const bool is_fence = line.starts_with("```");
            if (is_fence) inside = !inside && line == "```console";
            const bool is_case = inside && line.starts_with("$ ");
            if (is_fence || is_case || !inside) is_output = false;
            if (!is_output) out += line + "\n";
            if (!inside && line.starts_with(k_set_up)) {
                run({'%', line.substr(k_set_up.size(), line.size() - k_set_up.size() - k_end.size())});
            }
            if (!is_case) continue;
            Step step{'$', line.substr(2)};
            while (i + 1 < lines.size() && lines[i + 1].starts_with("> ")) {
                step.answers.emplace_back(lines[++i].substr(2));
                out += "> " + step.answers.back() + "\n";
            }
            static const std::regex k_status("\\[\\d+\\]\n$");
            out += std::regex_replace(run(step), k_status, "");
            is_output = true;
            std::size_t next = i + 1;
            while (next < lines.size() && !lines[next].starts_with("$ ") && !lines[next].starts_with("```")) ++next;
            if (next < lines.size() && lines[next].starts_with("$ ")) out += "\n";
        }
        return out;
    }

  private:
    std::string run(const Step& step) {
        auto command = step.text;
        for (std::size_t i = 0; i < ids_.size(); ++i) command = renamed(command, k_ids.at(i), ids_[i]);
        const auto ran = orange_.on_terminal(command, repo_, step.answers);
        if (step.kind == '%' && ran.status != 0) orange_.fail(name_ + ": % " + step.text + "\n" + ran.out);
        wait_until_quiet();
        look_for_ids();
        auto out = steady(ran.out);
        for (const auto line : split_lines(out)) {
            if (step.kind == '$' && !parse(std::string(line)).empty())
                orange_.fail(name_ + ": $ " + step.text + "\nthis output is taken for a command: " + std::string(line));
        }
        while (out.ends_with("\n\n")) out.pop_back();
        if (out == "\n") out.clear();
        return ran.status == 0 ? out : out + "[" + std::to_string(ran.status) + "]\n";
    }

    /// What a transition does after its reply belongs to the case.
    void wait_until_quiet() {
        orange_.eventually("nothing is on its way", [&] {
            auto daemon = connection::Connection::open(orange_.home() / "orange.sock", std::chrono::seconds(2));
            if (!daemon) return true;
            rpc::TaskList all;
            all.all = true;
            all.changes = true;
            const auto tasks = daemon->call(all);
            return !tasks ||
                   (!tasks->counting && std::none_of(tasks->tasks.begin(), tasks->tasks.end(),
                                                     [](const auto& task) { return task.in_progress.has_value(); }));
        });
    }

    /// In the order of their creation, also those that are gone: each is in the log.
    void look_for_ids() {
        static const std::regex k_named(R"x("msg":"(task.created.*"task|agent.spawned.*"run)":"(\w+)")x");
        const auto log = read_file(orange_.home() / "orange.log");
        for (std::sregex_iterator found(log.begin(), log.end(), k_named), end; found != end; ++found) {
            auto& known = (*found)[1].str().starts_with("task") ? ids_ : runs_;
            const auto id = (*found)[2].str();
            if (std::find(known.begin(), known.end(), id) == known.end()) known.push_back(id);
        }
        if (ids_.size() > k_ids.size()) orange_.fail(name_ + ": more tasks than there are names");
    }

    std::string steady(std::string text) {
        replace_all(text, "\r\n", "\n");
        for (std::size_t i = 0; i < ids_.size(); ++i) text = renamed(text, ids_[i], k_ids.at(i));
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            text = renamed(text, runs_[i], std::string(1, static_cast<char>('A' + i)) + "8Rk2Tw5Ym1Z");
        }
        const auto root = orange_.root().string();
        replace_all(text, root, k_root);
        for (auto n = root.size() - 1; n > 4; --n) {
            replace_all(text, root.substr(0, n) + "…", k_root.substr(0, n) + "…");
        }
        for (const char* title : {"AGE", "WHEN", "CHANGED"}) text = with_same_ages(text, title);
        static const std::vector<std::pair<std::regex, std::string>> k_changing = {
            {std::regex("\\d{4}-\\d\\d-\\d\\d([T ])\\d\\d:\\d\\d:\\d\\d"), "2026-01-02$0103:04:05"},
            {std::regex("\\b\\d\\d:\\d\\d:\\d\\d\\b"), "03:04:05"},
            {std::regex("\\b(just now|\\d+[smhd] ago)\\b"), "5s ago"},
            {std::regex("\\b(pid|tmux server) \\d+"), "$1 12345"},
            {std::regex("\\bup (now|\\d+s), \\d+ MiB"), "up 5s, 11 MiB"},
            {std::regex("(:\\d\\d)\\.\\d{3}Z"), "$1.000Z"},
            {std::regex("(^|\n) *\\d+\\.\\ds  "), "$01  0.5s  "},
            {std::regex("orange-demo-\\w{6}"), "orange-demo-Wy5kPd"},
            {std::regex("\\bdemo-[a-z0-9]{6}\\b"), "demo-x4k9qz"},
            {std::regex("\\b(git|tmux|gh|oranged?) \\d+\\.\\d+[.\\w]*"), "$1 9.9"},
        };
        for (const auto& [what, by] : k_changing) text = std::regex_replace(text, what, by);
        return with_same_hashes(text);
    }

    /// Commits are told apart by their first seven digits, in order of appearance.
    std::string with_same_hashes(const std::string& text) {
        static const std::regex k_hash("\\b[0-9a-f]{7,64}\\b");
        std::string out;
        auto rest = text.cbegin();
        for (std::smatch hash; std::regex_search(rest, text.cend(), hash, k_hash); rest = hash[0].second) {
            const auto begin = hash.str().substr(0, 7);
            auto place = std::find(hashes_.begin(), hashes_.end(), begin) - hashes_.begin();
            if (place == static_cast<std::ptrdiff_t>(hashes_.size())) hashes_.push_back(begin);
            const auto length = static_cast<std::size_t>(hash.length());
            out += hash.prefix().str() + (hash.str() == "1000000" ? hash.str() : commit_name(place).substr(0, length));
        }
        return out + std::string(rest, text.cend());
    }

    std::string name_;
    Sandbox orange_;
    fs::path repo_;
    std::vector<std::string> ids_;
    std::vector<std::string> runs_;
    std::vector<std::string> hashes_;
};

void compare(const std::string& name, const fs::path& file, const std::string& written, const std::string& said) {
    if (said == written) {
        SUCCEED(name);
        return;
    }
    if (std::getenv("ORANGE_WRITE_VOICE") != nullptr) return write_file(file, said);
    const auto now = fs::temp_directory_path() / ("orange-voice-" + name);
    write_file(now, said);
    Sandbox shell;
    const auto diff = shell.try_run({"diff", "-u", file.string(), now.string()});
    fs::remove(now);
    FAIL("said otherwise than in " + file.string() + "; if that is meant: scripts/voice\n" + diff.out);
}

}  // namespace

fs::path voice_folder() {
    return fs::path(ORANGE_SOURCE_DIR) / "tests" / "data" / "voice";
}

void play_voice(const std::string& name) {
    const auto file = voice_folder() / (name + ".txt");
    const auto written = read_file(file);
    compare(name, file, written, Player(name).play(parse(written)));
}

void play_page(const std::string& name) {
    const auto file = fs::path(ORANGE_SOURCE_DIR) / "docs" / (name + ".md");
    const auto written = read_file(file);
    compare(name, file, written, Player(name).play_page(written));
}

}  // namespace orange::tests
