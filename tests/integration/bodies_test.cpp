#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// TASK.md belongs to everybody: agents and people save it in every way there is, in both places, while the daemon
/// rewrites its frontmatter as fast as it can. No line may be lost, no status written by hand may count.
namespace orange::tests {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// The demo agent has asked, and writes nothing more until it is answered.
void wait_for_question(Sandbox& orange, const std::string& id) {
    orange.wait_for_status(id, "clarification");
    rpc::TaskPeek peek;
    peek.id = id;
    orange.eventually("the agent waits for an answer",
                      [&] { return orange.call(peek).text.find("waiting for an answer") != std::string::npos; });
}

/// How an editor adds a line.
using Editor = void (*)(Sandbox&, const fs::path& file, const std::string& line);

void append(Sandbox&, const fs::path& file, const std::string& line) {
    std::FILE* out = std::fopen(file.c_str(), "ae");
    if (!out) return;
    std::fputs((line + "\n").c_str(), out);
    std::fclose(out);
}

void in_place(Sandbox&, const fs::path& file, const std::string& line) {
    const auto text = read_file(file);
    write_file(file, text + line + "\n");
}

void rename_over(Sandbox&, const fs::path& file, const std::string& line) {
    const auto text = read_file(file);
    const auto temporary = file.parent_path() / "edited-elsewhere";
    write_file(temporary, text + line + "\n");
    fs::rename(temporary, file);
}

void sed(Sandbox& orange, const fs::path& file, const std::string& line) {
    orange.try_run({"sed", "-i", "$a " + line, file.string()});
}

void delete_and_create(Sandbox&, const fs::path& file, const std::string& line) {
    const auto text = read_file(file);
    fs::remove(file);
    write_file(file, text + line + "\n");
}

bool has_notice(Sandbox& orange, const std::string& id, const std::string& kind) {
    rpc::TaskShow show;
    show.id = id;
    const auto notices = orange.call(show).task.notices;
    return std::ranges::any_of(notices, [&](const auto& notice) { return name_of(notice.kind) == kind; });
}

std::string everything(Sandbox& orange, const std::string& id) {
    auto text = orange.body(id);
    for (const auto& entry : fs::directory_iterator(orange.folder(id))) {
        const auto name = entry.path().filename().string();
        if (name.starts_with("TASK.kept-")) text += read_file(entry.path());
    }
    return text;
}

}  // namespace

TEST_CASE("No line is lost, however TASK.md is saved, while the daemon writes as fast as it can") {
    const auto [name, edit] = GENERATE(table<std::string, Editor>({{"append", append},
                                                                   {"in place", in_place},
                                                                   {"rename over", rename_over},
                                                                   {"sed -i", sed},
                                                                   {"delete and create", delete_and_create}}));
    const bool in_worktree = GENERATE(true, false);
    INFO(name << (in_worktree ? " in the worktree" : " in the task's folder"));
    Sandbox orange;
    orange.add_project("shop");
    // An agent that only sleeps: the writer below is alone.
    std::filesystem::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses" / "idle.yml",
               "name: idle\nprogram: sh\nmode: persistent\nargv:\n  full: [-c, sleep 600, --, \"{prompt}\"]\n");
    rpc::TaskCreate params;
    params.project = "shop";
    params.summary = "Wait";
    params.harness = params.review_harness = "idle";
    const auto id = orange.call(params).task.fields.id.value;
    orange.wait_for_status(id, "planning");
    const auto file = (in_worktree ? orange.worktree(id) : orange.folder(id)) / "TASK.md";

    std::atomic<bool> stop{false};
    std::thread daemon_writes([&] {
        auto connection = connection::Connection::open(orange.home() / "orange.sock", 2s);
        for (int n = 0; !stop && connection; ++n) {
            rpc::TaskUpdate update;
            update.id = id;
            update.summary = "Summary number " + std::to_string(n);
            (void)connection->call(update);
        }
    });
    constexpr int k_lines = 60;
    for (int n = 0; n < k_lines; ++n) {
        // The writer is alone with its lines: it reads before it writes, and waits until its own last line is there.
        const auto line = "line-" + std::to_string(n) + ".";
        edit(orange, file, line);
        orange.eventually("the line is there or kept beside",
                          [&] { return holds(read_file(file), line) || holds(everything(orange, id), line); });
    }
    stop = true;
    daemon_writes.join();
    orange.eventually("every line is in the body or kept beside it", [&] {
        const auto text = everything(orange, id);
        for (int n = 0; n < k_lines; ++n) {
            if (text.find("line-" + std::to_string(n) + ".") == std::string::npos) return false;
        }
        return true;
    });
    orange.eventually("both copies are the same", [&] {
        return read_file(orange.worktree(id) / "TASK.md") == read_file(orange.folder(id) / "TASK.md");
    });
    CHECK(orange.status(id) == "planning");
    CHECK(orange.history(id, "frontmatter.restored").empty());
}

TEST_CASE("A status that is edited by hand never counts, and costs no line of the body") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Wait demo:clarify");
    wait_for_question(orange, id);
    for (const auto& file : {orange.worktree(id) / "TASK.md", orange.folder(id) / "TASK.md"}) {
        auto text = read_file(file);
        const auto at = text.find("status: clarification");
        REQUIRE(at != std::string::npos);
        text.replace(at, std::string("status: clarification").size(), "status: done");
        write_file(file, text + "\nwritten by hand\n");
        orange.eventually("the frontmatter is restored",
                          [&] { return holds(read_file(file), "status: clarification"); });
        CHECK_THAT(read_file(file), Holds("written by hand"));
    }
    CHECK(orange.status(id) == "clarification");
    CHECK(orange.history(id, "frontmatter.restored").size() >= 1);
}

TEST_CASE("An edit of one copy arrives in the other, and a deleted mirror comes back") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Wait demo:clarify");
    wait_for_question(orange, id);
    rpc::TaskPeek peek;
    peek.id = id;
    orange.eventually("the agent only waits", [&] { return holds(orange.call(peek).text, "waiting for an answer"); });
    const auto mirror = orange.worktree(id) / "TASK.md";
    const auto own = orange.folder(id) / "TASK.md";
    append(orange, own, "from the human");
    orange.eventually("it is in the mirror", [&] { return holds(read_file(mirror), "from the human"); });
    append(orange, mirror, "from the agent");
    orange.eventually("it is in the task's own", [&] { return holds(read_file(own), "from the agent"); });
    fs::remove(mirror);
    orange.eventually("the mirror is back", [&] { return holds(read_file(mirror), "from the human"); });
    CHECK(orange.git({"status", "--porcelain"}, orange.worktree(id)).empty());
}

TEST_CASE("Both copies edited while no daemon ran: both edits stay") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Wait demo:clarify");
    wait_for_question(orange, id);
    const auto mirror = orange.worktree(id) / "TASK.md";
    const auto own = orange.folder(id) / "TASK.md";
    orange.kill_daemon();
    append(orange, own, "the edit of the human");
    append(orange, mirror, "the edit of the agent");
    orange.start_daemon();
    orange.eventually("both are in step", [&] { return read_file(own) == read_file(mirror); });
    INFO(Json(orange.history(id)).dump(1) << orange.fields(id).dump(1));
    CHECK_THAT(read_file(own), Holds("the edit of the human") && Holds("the edit of the agent"));
    CHECK(orange.history(id, "section.lost").empty());
}

TEST_CASE("A repository with a TASK.md of its own keeps it") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    write_file(repo / "TASK.md", "ours\n");
    orange.git({"add", "-A"}, repo);
    orange.git({"commit", "-q", "-m", "A TASK.md"}, repo);
    const auto id = orange.create("shop", "Add a greeting");
    orange.wait_for_status(id, "reviewing");
    CHECK(read_file(orange.worktree(id) / "TASK.md") == "ours\n");
    CHECK_THAT(read_file(orange.worktree(id) / ".orange" / "TASK.md"), Holds("## Handoff"));
}

TEST_CASE("A repository whose .orange is a link starts no task, says why, and nothing behind the link is touched") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto notes = orange.root() / "notes";
    fs::create_directory(notes);
    write_file(notes / "TASK.md", "mine\n");
    write_file(repo / "TASK.md", "ours\n");
    fs::create_directory_symlink(notes, repo / ".orange");
    orange.git({"add", "-A"}, repo);
    orange.git({"commit", "-q", "-m", "A link"}, repo);
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Add a greeting";
    create.harness = "demo";
    std::string notes_on_it;
    const auto created = orange.call(create);
    for (const auto& note : created.notes) notes_on_it += note + "\n";
    notes_on_it += created.spawn_error.value_or("");
    INFO(notes_on_it);
    CHECK_THAT(notes_on_it, Tells(".orange"));
    CHECK(read_file(notes / "TASK.md") == "mine\n");
    CHECK(std::distance(fs::directory_iterator(notes), fs::directory_iterator()) == 1);

    fs::remove(repo / ".orange");
    orange.git({"commit", "-q", "-a", "-m", "No link"}, repo);
    const auto id = orange.create("shop", "Add a greeting");
    orange.wait_for_status(id, "reviewing");
    CHECK(read_file(notes / "TASK.md") == "mine\n");
}

TEST_CASE(
    "A TASK.md that is far too large is refused by name, costs the others nothing, and goes on when it is small") {
    Sandbox orange("poll_interval: 0.5\n");
    orange.add_project("shop");
    const auto id = orange.create("shop", "Wait demo:clarify");
    const auto other = orange.create("shop", "Wait demo:clarify");
    for (const auto& task : {id, other}) wait_for_question(orange, task);
    const auto mirror = orange.worktree(id) / "TASK.md";
    const auto own = orange.folder(id) / "TASK.md";
    const auto body = orange.body(id);
    const auto memory = orange.call(rpc::DaemonStatus{}).memory_kib;
    const auto whole = read_file(mirror);
    fs::resize_file(mirror, 100 << 20);
    rpc::TaskUpdate update;
    update.id = id;
    update.status = "planning";
    const auto refused = orange.try_call(update);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells(mirror.string()));
    CHECK(has_notice(orange, id, "task_file_unread"));
    CHECK(orange.status(id) == "clarification");
    rpc::TaskUpdate summary;
    summary.id = other;
    summary.summary = "as ever";
    orange.call(summary);
    const auto polled = orange.call(rpc::DaemonStatus{}).last_poll;
    orange.eventually("the daemon has looked", [&] { return orange.call(rpc::DaemonStatus{}).last_poll != polled; });
    CHECK(orange.call(rpc::DaemonStatus{}).memory_kib - memory < 64 << 10);
    CHECK_THAT(read_file(own), Holds(body));

    write_file(mirror, whole + "\nand a line\n");
    orange.eventually("it goes on", [&] { return holds(read_file(own), "and a line"); });
    CHECK_THAT(orange.body(id), Holds(body));
    orange.eventually("the notice ends", [&] { return !has_notice(orange, id, "task_file_unread"); });
}

TEST_CASE("Whatever stands in the place of TASK.md, the task shows it, and can be cancelled and merged") {
    Sandbox orange;
    orange.add_project("shop");
    const auto put = [](const std::string& kind, const fs::path& file) {
        fs::remove(file);
        if (kind == "pipe") REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
        if (kind == "folder") fs::create_directories(file / "inside");
        if (kind == "link") fs::create_symlink("/dev/zero", file);
        if (kind != "large") return;
        write_file(file, "---\n");
        fs::resize_file(file, std::uintmax_t{2} << 30);
    };
    for (const std::string kind : {"pipe", "folder", "link", "large"}) {
        INFO(kind);
        const auto id = orange.create("shop", "Wait demo:clarify");
        wait_for_question(orange, id);
        const auto mirror = orange.worktree(id) / "TASK.md";
        put(kind, mirror);
        const auto* notice = kind == "large" ? "task_file_unread" : "task_file_conflict";
        orange.eventually("the human is told", [&] { return has_notice(orange, id, notice); });
        put(kind, mirror);  // once more, at the very end
        rpc::TaskCancel cancel;
        cancel.id = id;
        CHECK(orange.try_call(cancel).has_value());
        orange.wait_for_status(id, "cancelled");
        CHECK(fs::exists(fs::symlink_status(orange.folder(id) / "TASK.md.found")));
    }
}

TEST_CASE("A line that an agent removes twice is kept, and the human is told everywhere") {
    Sandbox orange;
    orange.add_project("shop");
    rpc::TaskCreate params;
    params.project = "shop";
    params.summary = "Wait demo:clarify";
    params.context = "Mind the rounding.";
    params.harness = params.review_harness = "demo";
    const auto id = orange.call(params).task.fields.id.value;
    wait_for_question(orange, id);
    const auto mirror = orange.worktree(id) / "TASK.md";
    const auto remove_line = [&] {
        auto text = read_file(mirror);
        text.erase(text.find("Mind the rounding.\n"), std::string("Mind the rounding.\n").size());
        write_file(orange.root() / "edited", text);
        fs::rename(orange.root() / "edited", mirror);
    };
    remove_line();
    orange.eventually("it comes back", [&] { return holds(read_file(mirror), "Mind the rounding."); });
    CHECK_FALSE(has_notice(orange, id, "task_file_conflict"));
    remove_line();
    orange.eventually("the human is told", [&] { return has_notice(orange, id, "task_file_conflict"); });
    rpc::TaskShow show;
    show.id = id;
    const auto shown = orange.call(show);
    REQUIRE(shown.kept.size() == 1);
    CHECK_THAT(read_file(shown.kept[0]), Holds("Mind the rounding."));
    CHECK_THAT(orange.orange({"task", "show", id}).out, Tells(fs::path(shown.kept[0]).filename().string()));
    REQUIRE(orange.history(id, "section.lost").size() == 2);
    CHECK(orange.history(id, "section.lost")[1].at("kept") == fs::path(shown.kept[0]).filename().string());
}

TEST_CASE("A TASK.md that Markdown parsers take minutes for is read like any other") {
    Sandbox orange("poll_interval: 0.5\n");
    orange.add_project("shop");
    const auto id = orange.create("shop", "Wait demo:clarify");
    wait_for_question(orange, id);
    const auto mirror = orange.worktree(id) / "TASK.md";
    for (const std::string_view piece : {"![[]()", "- ", "> "}) {
        std::string hostile;
        while (hostile.size() < (200 << 10)) hostile += piece;
        if (piece == "- ") hostile += "x" + std::string(100 << 10, '\n');
        write_file(mirror, read_file(mirror) + "\n" + hostile + "\n\n## After " + std::string(piece) + "\n\nx\n");
        orange.eventually("its last section is seen",
                          [&] { return holds(orange.body(id), "## After " + std::string(piece)); });
    }
    rpc::TaskUpdate update;
    update.id = id;
    update.status = "planning";
    CHECK(orange.try_call(update).has_value());
}

TEST_CASE("A TASK.md that is replaced without frontmatter keeps what the human wrote, and git sees nothing of it") {
    Sandbox orange;
    orange.add_project("shop");
    rpc::TaskCreate params;
    params.project = "shop";
    params.summary = "Wait demo:clarify";
    params.context = "Mind the rounding.";
    params.harness = params.review_harness = "demo";
    const auto id = orange.call(params).task.fields.id.value;
    wait_for_question(orange, id);
    const auto before = orange.git({"status", "--porcelain", "--ignored"}, orange.worktree(id));
    orange.run({"/bin/sh", "-c", "cat >TASK.md <<EOF\n## Plan\n\nAPPROACH: other\nEOF\n"}, orange.worktree(id));
    orange.eventually("the sections are back", [&] {
        const auto text = read_file(orange.worktree(id) / "TASK.md");
        return text.find("Mind the rounding.") != std::string::npos &&
               text.find("APPROACH: other") != std::string::npos;
    });
    CHECK(orange.git({"status", "--porcelain", "--ignored"}, orange.worktree(id)) == before);
    CHECK(orange.history(id, "section.lost").empty());
}

}  // namespace orange::tests
