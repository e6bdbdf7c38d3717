#include "daemon/shim/permit.hpp"

#include "common/model/json.hpp"
#include "tests/facts.hpp"
#include "tests/unit/shim/shim_fixture.hpp"

using namespace orange;
using namespace orange::shim;
using namespace orange::test;

namespace {

ReviewRules rules() {
    return {"/ws/shop--1",
            "/ws/shop--1/TASK.md",
            {{"make", "test"}, {"npm", "test"}, {"cargo", "test", "-q"}, {"sh", "-c", "cd web && npm test"}}};
}

bool permits(const std::string& command) {
    return permit_command(rules(), command).has_value();
}

bool permits_call(const std::string& tool, const Json& input) {
    return permit_call(rules(), dump(Json{{"tool_name", tool}, {"tool_input", input}})).has_value();
}

}  // namespace

TEST_CASE("a reviewer runs the project's checks, git queries, orange, and what only shows something") {
    for (const char* command : {
             "make test",
             "npm test",
             "cargo test -q",
             "sh -c 'cd web && npm test'",
             "make test 2>&1 | tail -5",
             "make test >/dev/null 2>&1; echo \"exit: $?\"",
             "make test 2>&1 | tail -3; echo ${PIPESTATUS[0]}",
             "make test && git status --short",
             "timeout 60 make test",
             "timeout -k 5 --foreground 60s make test",
             "time -p make test",
             "nice -n 5 make test",
             "CI=1 NO_COLOR=1 make test",
             "git diff main...HEAD",
             "git diff main...HEAD -- '*.cpp' | head -50",
             "git --no-pager log --oneline -5 HEAD@{1}",
             "git show 'HEAD^{commit}' --stat",
             "git -C . diff --stat main...HEAD",
             "git -C /ws/shop--1/web status",
             "git branch --show-current",
             "GIT_PAGER=cat git log -p -Oorder",
             "cd /ws/shop--1 && git log --oneline",
             "cd web; make test",
             "orange task update --status reviewing",
             "orange task show $ORANGE_TASK --json | jq -r .status",
             "orange help task update",
             "ls -la",
             "cat README *.md",
             "grep -rn 'a$' src | wc -l",
             "grep -n \"100$\" README # costs",
             "sed -n '10,20p;30p' README",
             "sed -n 5,\\$p README",
             "find . -name '*.cpp' -newer README",
             "rg --files -g '!build'",
             "sort -k 2,2 -u README | uniq -c",
             "command -v make",
             "! grep -q evil README",
             "\n# look first\nls\\\n -l\n\ngit status\n",
             "cat <<'END' >> TASK.md\n## Review\nVerdict: PASS, `x` $(y)\nEND",
             "cat > ./TASK.md <<-END\n\t## Review\n\tcosts 5 $ and \\`x\\`\n\tEND\norange task update --status "
             "reviewing",
             "printf '%s\\n' '## Review' >> /ws/shop--1/TASK.md",
             "echo '## Review' | tee -a TASK.md",
             "apply_patch <<'PATCH'\n*** Begin Patch\n*** Update File: TASK.md\n@@\n-a\n+b\n*** End Patch\nPATCH",
         }) {
        INFO(command);
        const auto answer = permit_command(rules(), command);
        INFO((answer ? std::string() : answer.error().message));
        CHECK(answer.has_value());
    }
}

TEST_CASE("a reviewer is refused whatever else a command line does") {
    for (const char* command : {
             "make clean",
             "make test clean",
             "make test; touch evil",
             "make test\ntouch evil",
             "make test > evil",
             "make test &> evil",
             "make test 2>evil",
             "make test >& evil",
             "make test >| evil",
             "make test 1<>evil",
             "make test & touch evil",
             "make test $(touch evil)",
             "make test \"$(touch evil)\"",
             "make test `touch evil`",
             "make test ${x:=y}",
             "make $TARGET",
             "make test <(touch evil)",
             "(make test)",
             "{ make test; }",
             "if make test; then touch evil; fi",
             "for f in a; do touch $f; done",
             "f() { touch evil; }; f",
             "PATH=. make test",
             "X=1",
             "MAKEFLAGS=-f./evil make test",
             "env make test; touch evil",
             "env make test",
             "bash -c 'make test'",
             "sh -c 'make test'",
             "eval make test",
             "exec make test",
             "nohup make test",
             "xargs make test",
             "\\time -o evil make test",
             "timeout 60 touch evil",
             "cd /elsewhere && make test",
             "cd .. && make test",
             "cd ~ && make test",
             "cd - && make test",
             "cd && make test",
             "cd $HOME; make test",
             "git commit --allow-empty -qm evil",
             "git push origin HEAD:evil",
             "git diff --output=evil",
             "git diff --output evil",
             "git diff {--output=evil,HEAD}",
             "git diff $OPTIONS",
             "git diff *",
             "git log --ext-diff",
             "git grep --open=evil x",
             "git grep -Oevil x",
             "git -c core.pager='touch evil' log",
             "git -C /elsewhere log",
             "git --git-dir=/elsewhere log",
             "git branch evil",
             "git branch -D main",
             "git checkout -q -b evil",
             "git stash",
             "git",
             "GIT_PAGER='touch evil' git log",
             "git diff | tee evil",
             "tee TASK.md evil",
             "touch evil",
             "echo x > evil",
             "echo x > web/TASK.md",
             "cd web; echo x > TASK.md",
             "echo x > ~/TASK.md",
             "echo x > $FILE",
             "rm -f README",
             "cp TASK.md evil",
             "mv TASK.md evil",
             "sed -i s/hi/ho/ README",
             "sed -n 's/a/b/w evil' README",
             "sed -n 1e README",
             "sed -n 1p -i README",
             "awk 'BEGIN { sys"
             "tem(\"touch evil\") }'",
             "find . -name README -exec touch evil {} ;",
             "find . -delete",
             "find . -fprint evil",
             "rg --pre ./evil x",
             "sort -o evil README",
             "sort -uo evil README",
             "sort --compress-program=./evil README",
             "uniq README evil",
             "tree -ao evil",
             "ls$X",
             "orange$X task show",
             "orange task $X",
             "orange task shell",
             "orange harness new mine",
             "orange",
             "$X",
             "\r# a comment to us alone; touch evil",
             "cat <<E$X\nE$X\ntouch evil\nE",
             "cat <<\"$X\"\nE\n",
             "apply_patch \"*** Begin Patch $X\"",
             "printf -v 'a[$(touch evil)]' x",
             "python3 -c 'open(\"evil\",\"w\")'",
             "curl -s http://127.0.0.1/",
             "npm install x",
             "cargo run",
             "./make test",
             "/tmp/orange task show",
             "cat > TASK.md <<END\n$(touch evil)\nEND",
             "cat > TASK.md <<END\n`touch evil`\nEND",
             "cat <<'A' | sh\ntouch evil\nA",
             "cat <<'A'\nx\nA\ntouch evil",
             "apply_patch <<'P'\n*** Begin Patch\n*** Update File: README\n@@\n-a\n+b\n*** End Patch\nP",
             "apply_patch <<'P'\n*** Begin Patch\n*** Update File: TASK.md\n*** Move to: evil\n*** End Patch\nP",
             "apply_patch <<'P'\n*** Begin Patch\n*** Delete File: TASK.md\n*** End Patch\nP",
             "echo 'not closed",
             "cat <",
         }) {
        INFO(command);
        CHECK_FALSE(permits(command));
    }
    CHECK_FALSE(permit_command(rules(), std::string_view("ls\0touch evil", 13)).has_value());
}

TEST_CASE("the refusal names what was refused and what is permitted") {
    const auto refused = permit_command(rules(), "git status && touch evil");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::forbidden);
    CHECK_THAT(refused.error().message, Holds("touch evil") && Holds("make test") && Tells("TASK.md"));
}

TEST_CASE("calls of tools are decided by their names and what they name") {
    const std::string patch = "*** Begin Patch\n*** Update File: /ws/shop--1/TASK.md\n@@\n-a\n+b\n*** End Patch";
    CHECK(permits_call("Bash", {{"command", "make test"}}));
    CHECK(permits_call("bash", {{"command", Json{"bash", "-lc", "make test && ls"}}}));
    CHECK(permits_call("exec_command", {{"cmd", "make test"}, {"workdir", "/ws/shop--1/web"}}));
    CHECK(permits_call("Bash", {{"command", patch}}));
    CHECK(permits_call("apply_patch", {{"command", patch}}));
    CHECK(permits_call("Edit", {{"file_path", "/ws/shop--1/TASK.md"}}));
    CHECK(permits_call("edit", {{"path", "TASK.md"}}));
    CHECK(permits_call("write", {{"path", "./TASK.md"}}));
    CHECK(permits_call("read", {{"path", "/etc/passwd"}}));
    CHECK(permits_call("update_plan", {{"plan", Json::array()}}));

    CHECK_FALSE(permits_call("Bash", {{"command", "touch evil"}}));
    CHECK_FALSE(permits_call("Bash", {{"command", Json{"touch", "evil"}}}));
    CHECK_FALSE(permits_call("Bash", {{"command", Json{"bash", "-c", "touch evil"}}}));
    CHECK_FALSE(permits_call("exec_command", {{"cmd", "make test"}, {"workdir", "/elsewhere"}}));
    CHECK_FALSE(permits_call("Bash", Json::object()));
    CHECK_FALSE(permits_call("apply_patch", {{"command", "*** Begin Patch\n*** Add File: evil\n+x\n*** End Patch"}}));
    CHECK_FALSE(permits_call("apply_patch", Json::object()));
    CHECK_FALSE(permits_call("Edit", {{"file_path", "/ws/shop--1/README"}}));
    CHECK_FALSE(permits_call("write", Json::object()));
    CHECK_FALSE(permits_call("WebFetch", {{"url", "http://127.0.0.1/"}}));
    CHECK_FALSE(permits_call("mcp__files__write", {{"path", "TASK.md"}}));
    CHECK_FALSE(permits_call("", Json::object()));
    for (const char* call :
         {"", "null", "{", "[]", "{\"tool_name\": \"Read\"}", "{\"tool_name\": 1, \"tool_input\": {}}"}) {
        INFO(call);
        CHECK_FALSE(permit_call(rules(), call).has_value());
    }
}

TEST_CASE_METHOD(ShimFixture, "orange-agent --permit decides by the run's spec, and refuses with 2 if there is none") {
    auto spec = script("true");
    spec.review = ReviewRules{spec.worktree, spec.worktree + "/TASK.md", {{"make", "test"}}};
    write_file(dir / "spec.json", spec_text(spec));
    const auto asked = [&](const std::string& file, const std::string& call) {
        Command hook;
        hook.argv = {ORANGE_BINARY_DIR "/bin/orange-agent", "--permit", file};
        hook.input = call;
        auto done = run(io, runner.run(std::move(hook)));
        REQUIRE(done);
        return *done;
    };
    const std::string yes = R"({"tool_name":"Bash","tool_input":{"command":"make test"}})";
    const auto permitted = asked(dir / "spec.json", yes);
    CHECK(permitted.exit_status == 0);
    CHECK((permitted.out + permitted.err).empty());
    const auto refused = asked(dir / "spec.json", R"({"tool_name":"Bash","tool_input":{"command":"make"}})");
    CHECK(refused.exit_status == 2);
    CHECK_FALSE(refused.err.empty());
    CHECK(refused.out.empty());
    CHECK(asked(dir / "none.json", yes).exit_status == 2);
    CHECK(asked(dir / "spec.json", "").exit_status == 2);
}

TEST_CASE_METHOD(ShimFixture,
                 "a link in the worktree that leads out of it is outside, and a link to the worktree inside") {
    namespace fs = std::filesystem;
    fs::create_directories(dir / "tree/web");
    fs::create_directory_symlink("/", dir / "tree/out");
    fs::create_directory_symlink(dir / "tree", dir / "alias");
    const ReviewRules own{(dir / "alias").string(), (dir / "alias/TASK.md").string(), {{"make", "test"}}};
    const auto tree = (dir / "tree").string();
    CHECK(permit_command(own, "cd " + tree + "/web && make test").has_value());
    CHECK(permit_command(own, "echo x >> " + tree + "/TASK.md").has_value());
    CHECK_FALSE(permit_command(own, "cd out && make test").has_value());
    CHECK_FALSE(permit_command(own, "git -C out log").has_value());
}
