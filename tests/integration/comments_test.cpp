#include <algorithm>
#include <thread>

#include "common/base/text.hpp"
#include "common/rpc/comment_methods.hpp"
#include "tests/catch.hpp"
#include "tests/integration/puppets.hpp"

/// Comments on lines of a task's work, with the real client and daemon: written, sent, answered, asked again, and made
/// in an editor. Puppets play the agents.
namespace orange::tests {
namespace {

/// A task in the status reviewing. Its branch changes the second line of src/cart.py, and adds a fourth.
struct CommentedTask {
    CommentedTask() {
        const auto repo = orange.root() / "repos" / "shop";
        write(repo / "src" / "cart.py", "a = 1\nb = 2\nc = 3\n");
        orange.git({"add", "-A"}, repo);
        orange.git({"commit", "-qm", "A cart"}, repo);
        id = stage.create();
        commit("a = 1\nb = 22\nc = 3\nd = 4\n");
        stage.go_to_review(id);
        pass_review();
    }

    static void write(const std::filesystem::path& file, const std::string& text) {
        std::filesystem::create_directories(file.parent_path());
        write_file(file, text);
    }
    void commit(const std::string& cart) {
        write(worktree() / "src" / "cart.py", cart);
        orange.git({"add", "src"}, worktree());
        orange.git({"commit", "-qm", "Change the cart"}, worktree());
    }
    std::filesystem::path worktree() { return orange.worktree(id); }

    /// Replaces a section of TASK.md, or adds it.
    void write_section(const std::string& name, const std::string& text) {
        const auto file = worktree() / "TASK.md";
        std::string body;
        bool is_in = false;
        const auto before = read_file(file);
        for (const auto line : split_lines(before)) {
            if (line.starts_with("## ")) is_in = line == "## " + name;
            if (!is_in) body += std::string(line) + "\n";
        }
        write_file(file, body + "\n## " + name + "\n\n" + text);
    }
    void pass_review() {
        write_section("Review", "Verdict: PASS\nRound " + std::to_string(++round) + "\n");
        (void)orange.update_status(id, "reviewing");  // or Orange moves it itself: the verdict is there
        orange.wait_for_status(id, "reviewing");
    }
    /// The worker hands over with this text; returns what its command printed.
    std::string hand_over(const std::string& handoff) {
        write_section("Handoff", handoff);
        return stage.play(id, "worker", "orange task update --status agent-review");
    }

    Ran comment(std::vector<std::string> words, const std::string& input = {}) {
        words.insert(words.begin(), {"comment", id});
        return orange.orange(words, {}, input);
    }
    Json comments() {
        const auto ran = orange.orange({"comments", id, "--json"});
        REQUIRE(ran.status == 0);
        return Json::parse(ran.out).at("comments");
    }
    /// "1 draft here src/cart.py:2-2", a line for each comment.
    std::string listed() {
        std::string all;
        for (const auto& each : comments()) {
            all += std::to_string(each.at("number").get<int>()) + " " + each.at("state").get<std::string>() + " " +
                   each.at("place").get<std::string>() + " " + each.value("path", each.value("section", "")) + ":" +
                   (each.value("side", "new") == "old" ? "-" : "") + std::to_string(each.at("line").get<int>()) + "-" +
                   std::to_string(each.at("end").get<int>()) + "\n";
        }
        return all;
    }

    /// Runs `orange review` with an editor that is this script of sh; "$1" is the file.
    Ran review(const std::string& script, const std::string& options = {}) {
        const auto editor = orange.root() / "editor";
        write_file(editor, "#!/bin/sh\n" + script + "\n");
        std::filesystem::permissions(editor, std::filesystem::perms::owner_all);
        return orange.on_terminal("VISUAL= EDITOR=" + editor.string() + " TMPDIR=" + orange.root().string() +
                                      " orange review " + id + " " + options,
                                  orange.root(), {"nothing is asked"});
    }
    /// The files that `orange review` has left.
    std::vector<std::filesystem::path> left_files() {
        std::vector<std::filesystem::path> files;
        for (const auto& each : std::filesystem::directory_iterator(orange.root())) {
            if (each.path().filename().string().starts_with("orange-review-")) files.push_back(each.path());
        }
        return files;
    }

    PuppetStage stage;
    Sandbox& orange = stage.orange;
    std::string id;
    int round = 0;
};

}  // namespace

TEST_CASE("A person comments on lines, the worker answers each comment, and the person asks again") {
    CommentedTask f;
    const auto empty = f.orange.orange({"comments", f.id});
    CHECK(empty.status == 0);
    CHECK_THAT(empty.out, Tells("orange comment " + f.orange.short_id(f.id)));
    const auto made = f.comment({"src/cart.py:2", "Round only once"});
    INFO(made.out + made.err);
    REQUIRE(made.status == 0);
    CHECK_THAT(made.out, Holds("src/cart.py:2") && Holds("b = 22") && Holds("Round only once"));
    CHECK(f.comment({"src/cart.py:3-4", "-"}, "Two\n\nlines\n").status == 0);
    CHECK(f.comment({"src/cart.py:-2", "Why", "not", "2?"}).status == 0);
    CHECK(f.comment({"Plan:2", "Which approach?"}).status == 0);
    CHECK(f.comment({"./src/cart.py:1", "Remove me", "--json"}).status == 0);
    CHECK(f.listed() ==
          "1 draft here src/cart.py:2-2\n2 draft here src/cart.py:3-4\n3 draft here src/cart.py:-2-2\n"
          "4 draft here Plan:2-2\n5 draft here src/cart.py:1-1\n");
    CHECK(f.comment({"--edit", "1", "Round only once, at the end"}).status == 0);
    CHECK(f.comment({"--remove", "5", "4"}).status == 0);
    CHECK_THAT(f.orange.orange({"show", f.id}).out, Holds("3 not sent"));
    CHECK_THAT(f.orange.orange({"comments", f.id}).out, Tells("orange reject " + f.orange.short_id(f.id)));

    CHECK(f.orange.orange({"reject", f.id}).status == 0);
    f.orange.wait_for_status(f.id, "working");
    f.orange.eventually("the worker can read the comments",
                        [&] { return holds(read_file(f.worktree() / "TASK.md"), "Round only once, at the end"); });
    CHECK_THAT(f.orange.body(f.id), Holds("## Feedback") && Holds("src/cart.py:2") && Holds("b = 22"));
    CHECK_THAT(f.listed(), Holds("1 sent") && Holds("2 sent") && Holds("3 sent"));
    CHECK(f.comment({"--edit", "1", "Too late"}).status == 1);

    const auto refused = f.hand_over("DONE: all\n1: Done: it is rounded at the end.\n");
    CHECK_THAT(refused, Tells("2") && Tells("3"));
    CHECK(f.orange.status(f.id) == "working");
    f.hand_over("DONE: all\n1: Done: it is rounded at the end.\n2: Done.\n3: Not done: 2 was wrong.\n");
    f.orange.wait_for_status(f.id, "agent-review");
    f.pass_review();
    CHECK_THAT(f.listed(), Holds("1 answered") && Holds("2 answered") && Holds("3 answered"));
    CHECK(f.comments().at(0).at("turns").at(0).at("answer") == "Done: it is rounded at the end.");
    const auto page = f.orange.orange({"comments", f.id});
    CHECK_THAT(page.out, Holds("it is rounded at the end") && Holds("Not done: 2 was wrong."));

    CHECK(f.comment({"--resolve", "1", "2"}).status == 0);
    CHECK(f.comment({"--reopen", "2"}).status == 0);
    CHECK(f.comment({"--ask", "3", "Who says that?"}).status == 0);
    CHECK(f.comment({"--resolve", "9"}).status == 1);
    CHECK_THAT(f.listed(), Holds("1 resolved") && Holds("2 answered") && Holds("3 draft"));
    CHECK(f.orange.orange({"task", "reject", f.id, "Once more"}).status == 0);
    f.orange.wait_for_status(f.id, "working");
    f.orange.eventually("the worker can read the question",
                        [&] { return holds(read_file(f.worktree() / "TASK.md"), "Who says that?"); });
    f.hand_over("DONE: all\n3: The specification does.\n");
    f.orange.wait_for_status(f.id, "agent-review");
    const auto turns = f.comments().at(2).at("turns");
    REQUIRE(turns.size() == 2);
    CHECK(turns.at(0).at("answer") == "Not done: 2 was wrong.");
    CHECK(turns.at(1).at("answer") == "The specification does.");
    CHECK_FALSE(holds(f.orange.orange({"comments", f.id}).out, "at the end"));
    CHECK_THAT(f.orange.orange({"comments", f.id, "--all"}).out, Holds("at the end"));
}

TEST_CASE("A comment that cannot be made is refused, and a rejection needs a text or comments") {
    CommentedTask f;
    const std::vector<std::vector<std::string>> refused = {
        {"src/cart.py:99", "Text"},  {"src/none.py:1", "Text"}, {"src/cart.py:0", "Text"},
        {"src/cart.py:2-1", "Text"}, {"src/cart.py", "Text"},   {"src/cart.py:2"},
        {"src/cart.py:2", "  "},     {"/etc/passwd:1", "Text"}, {"../../x:1", "Text"},
        {"Plan:99", "Text"},         {"## Nowhere:1", "Text"},  {"Plan:-1", "Text"},
        {"--edit", "1", "Text"},     {"--remove", "1"},         {"--take", "src/cart.py:2"},
        {"--take", "1", "x:2"},      {"only a text"},
    };
    for (const auto& words : refused) {
        const auto ran = f.comment(words);
        INFO(join(words, " ") + ": " + ran.out + ran.err);
        CHECK(ran.status == 1);
        CHECK(ran.out.empty());
    }
    CHECK(f.comment({"--edit", "1", "--remove", "1", "Text"}).status == 2);
    CHECK(f.comment({"--remove", "x"}).status == 2);
    CHECK_THAT(f.comment({"only a text"}).err, Tells("FILE:LINE"));
    const auto behind = f.orange.orange({"comment", "--resolve", "1", f.id});
    CHECK(behind.status == 2);
    CHECK_THAT(behind.err, Tells("\"" + f.id + "\""));
    CHECK_THAT(f.comment({"--help"}).out, Tells("orange comment [ID] FILE:LINE[-LINE] TEXT"));
    CHECK(f.comments().empty());
    CHECK(f.orange.orange({"reject", f.id}).status == 1);
    CHECK(f.orange.status(f.id) == "reviewing");
}

TEST_CASE("An agent may write no comment, and reads none that was not sent") {
    CommentedTask f;
    REQUIRE(f.comment({"src/cart.py:2", "Text"}).status == 0);
    f.stage.play(f.id, "worker", "orange comment src/cart.py:2 'I am the human'");
    f.stage.play(f.id, "worker", "orange comment --edit 1 'I am the human'");
    CHECK(f.listed() == "1 draft here src/cart.py:2-2\n");
    CHECK(f.comments().at(0).at("turns").at(0).at("text") == "Text");
    const auto seen = f.stage.play(f.id, "worker", "orange comments --json");
    INFO(seen);
    CHECK_FALSE(holds(seen, "\"Text\""));
    CHECK(f.orange.orange({"reject", f.id}).status == 0);
    f.orange.wait_for_status(f.id, "working");
    CHECK_THAT(f.stage.play(f.id, "worker", "orange comments --json"), Holds("\"Text\""));
}

TEST_CASE("A comment follows its lines, and is outdated when they are gone") {
    CommentedTask f;
    REQUIRE(f.comment({"src/cart.py:2", "Moves"}).status == 0);
    REQUIRE(f.comment({"src/cart.py:4", "Goes"}).status == 0);
    f.commit("# A cart\na = 1\nb = 22\nc = 3\n");
    CHECK(f.listed() == "1 draft moved src/cart.py:3-3\n2 draft outdated src/cart.py:4-4\n");
    const auto page = f.orange.orange({"comments", f.id}).out;
    CHECK_THAT(page, Holds("src/cart.py:3") && Tells("src/cart.py:2") && Holds("outdated") && Holds("d = 4"));
}

TEST_CASE("What the reviewer says about a line can be taken over") {
    CommentedTask f;
    f.write_section("Review", "Verdict: PASS\n\nsrc/cart.py:4: Nobody uses d\n");
    f.orange.eventually("the review is read", [&] {
        return holds(f.orange.orange({"comments", f.id}).out, "Nobody uses d");
    });
    CHECK_THAT(f.orange.orange({"comments", f.id}).out,
               Holds("orange comment " + f.orange.short_id(f.id) + " --take src/cart.py:4"));
    REQUIRE(f.comment({"--take", "src/cart.py:4"}).status == 0);
    CHECK(f.listed() == "1 draft here src/cart.py:4-4\n");
    CHECK(f.comment({"--take", "src/cart.py:4"}).status == 1);
}

TEST_CASE("Comments that are written into the diff in an editor are made at once") {
    CommentedTask f;
    REQUIRE(f.comment({"src/cart.py:2", "Known already"}).status == 0);
    const auto ran = f.review(
        "cp \"$1\" shown\n"
        "sed -i -e '/^ a = 1$/d' -e '/^-b = 2$/a > Why not 2?' -e '/^+d = 4$/a > [2] New\\n>\\n> lines' \"$1\"");
    INFO(ran.out);
    REQUIRE(ran.status == 0);
    CHECK_THAT(read_file(f.orange.root() / "shown"), Holds("+b = 22\n# 1 (draft): Known already\n"));
    CHECK(f.listed() == "1 draft here src/cart.py:2-2\n2 draft here src/cart.py:-2-2\n3 draft here src/cart.py:3-4\n");
    CHECK(f.comments().at(2).at("turns").at(0).at("text") == "New\n\nlines");
    CHECK(f.left_files().empty());
    CHECK(f.review("echo '#' >>\"$1\"").status == 0);
    CHECK(f.review(": >\"$1\"").status == 0);
    CHECK(f.review("test -t 1 && : >\"$1\"", "--json >none").status == 0);
    const auto none = Json::parse(read_file(f.orange.root() / "none"));
    CHECK(none.at("comments").empty());
    CHECK(none.at("task").at("fields").at("id") == f.id);
    CHECK(f.review("sed -i '/^ APPROACH/a > How?' \"$1\"", "--section Plan").status == 0);
    CHECK_THAT(f.listed(), Holds("4 draft here Plan:2-2\n"));
    CHECK(f.comments().size() == 4);
    const auto no_terminal = f.orange.orange({"review", f.id});
    CHECK(no_terminal.status == 1);
    CHECK_THAT(no_terminal.err, Tells("orange comment"));
}

TEST_CASE("An editor is opened again until the comments can be made, and nothing that was typed is lost") {
    CommentedTask f;
    SECTION("a row of the diff was changed, and is corrected") {
        const auto ran = f.review(
            "if grep -q '^#! ' \"$1\"; then sed -i 's/^+b = 23$/+b = 22/' \"$1\"\n"
            "else sed -i 's/^+b = 22$/+b = 23\\n> Corrected/' \"$1\"; fi");
        INFO(ran.out);
        CHECK(ran.status == 0);
        CHECK(f.listed() == "1 draft here src/cart.py:2-2\n");
        CHECK(f.left_files().empty());
    }
    SECTION("it is never corrected") {
        const auto ran = f.review("grep -q '^#! ' \"$1\" || sed -i 's/^+b = 22$/+b = 23\\n> Not lost/' \"$1\"");
        CHECK(ran.status == 1);
        REQUIRE(f.left_files().size() == 1);
        CHECK_THAT(ran.out, Holds(f.left_files().front().filename().string().substr(0, 20)));
        CHECK_THAT(read_file(f.left_files().front()), Holds("\n> Not lost\n"));
    }
    SECTION("it is emptied after that") {
        const auto ran = f.review(
            "if grep -q '^#! ' \"$1\"; then : >\"$1\"; else sed -i 's/^+b = 22$/+b = 23\\n> Not lost/' \"$1\"; fi");
        CHECK(ran.status == 1);
        REQUIRE(f.left_files().size() == 1);
        CHECK_THAT(read_file(f.left_files().front()), Holds("\n> Not lost\n"));
    }
    SECTION("the editor fails") {
        CHECK(f.review("sed -i '/^+b = 22$/a > Not lost' \"$1\"; exit 3").status == 1);
        REQUIRE(f.left_files().size() == 1);
        CHECK_THAT(read_file(f.left_files().front()), Holds("\n> Not lost\n"));
        CHECK(f.review("exit 3").status == 1);
        CHECK(f.left_files().size() == 1);
    }
    SECTION("the work has changed meanwhile, and the comment is about the line that was seen") {
        const auto cart = (f.worktree() / "src" / "cart.py").string();
        const auto ran =
            f.review("sed -i '/^[+-]b = 22*$/a > Seen' \"$1\"; sed -i -e 's/22/24/' -e '1i # A cart' " + cart);
        INFO(ran.out);
        CHECK(ran.status == 0);
        CHECK(f.listed() == "1 draft here src/cart.py:-2-2\n2 draft outdated src/cart.py:2-2\n");
        CHECK(f.comments().at(1).at("quoted") == "b = 22");
        CHECK(f.left_files().empty());
    }
    SECTION("a section has changed meanwhile, and the comment is moved by hand") {
        const auto file = (f.worktree() / "TASK.md").string();
        const auto ran = f.review(
            "if grep -q '^#! ' \"$1\"; then cp \"$1\" again\n"
            "sed -i -e '/^> Lost/d' \"$1\"\n"
            "else sed -i -e '/^ APPROACH/a > Lost' -e '/^ TOUCHING/a > Stays' \"$1\"\n"
            "sed -i 's/^APPROACH.*/APPROACH: another/' " +
                file + "; fi",
            "--section Plan");
        INFO(ran.out);
        CHECK(ran.status == 0);
        CHECK_THAT(read_file(f.orange.root() / "again"), Holds("@@ Plan @@\n> Lost\n") &&
                                                             Holds("\n APPROACH: another\n") &&
                                                             Holds("\n TOUCHING: nothing\n> Stays\n"));
        CHECK(f.listed() == "1 draft here Plan:3-3\n");
    }
    SECTION("the daemon is another one when the editor ends") {
        const auto begun = f.orange.root() / "begun", go_on = f.orange.root() / "go_on";
        Ran ran;
        std::thread reviewing([&] {
            ran = f.review("sed -i '/^+b = 22$/a > Not lost' \"$1\"; touch " + begun.string() + "; while [ ! -e " +
                           go_on.string() + " ]; do sleep 0.1; done");
        });
        f.orange.eventually("the editor is open", [&] { return std::filesystem::exists(begun); });
        f.orange.stop_daemon();
        f.orange.start_daemon();
        write_file(go_on, "");
        reviewing.join();
        INFO(ran.out);
        CHECK(ran.status == 0);
        CHECK(f.listed() == "1 draft here src/cart.py:2-2\n");
    }
    SECTION("the task has ended meanwhile, which no editing cures") {
        const auto ran = f.review("echo >>opened; sed -i '/^+b = 22$/a > Not lost' \"$1\"; orange task cancel " + f.id +
                                  " --yes >cancelled 2>&1");
        CHECK(ran.status == 1);
        CHECK(read_file(f.orange.root() / "opened") == "\n");
        REQUIRE(f.left_files().size() == 1);
        CHECK_THAT(read_file(f.left_files().front()), Holds("\n> Not lost\n"));
    }
    SECTION("the editor does not wait") {
        const auto ran = f.review("true");
        const bool is_at_once = tells(ran.out, "--wait");  // on a busy machine it may have taken longer
        CHECK(ran.status == (is_at_once ? 1 : 0));
        CHECK(f.left_files().size() == (is_at_once ? 1 : 0));
    }
    if (!f.left_files().empty()) CHECK(f.comments().empty());
}

}  // namespace orange::tests
