// Files for an agent in the dashboard's form: pictures of a clipboard that programs of the test play, and a daemon that
// ends while it gets a file.
#include <fstream>

#include "common/base/text.hpp"
#include "common/rpc/errors.hpp"
#include "common/rpc/file_methods.hpp"
#include "tests/integration/stage.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using namespace orange::tests;
namespace fs = std::filesystem;

namespace {

/// A desktop with programs that read its clipboard, each as a script says.
class Desktop {
  public:
    explicit Desktop(Sandbox& box) : folder_(box.root() / "desktop") {
        fs::create_directories(folder_);
        for (const char* program : {"wl-paste", "xclip"}) {
            write_file(folder_ / program, "#!/bin/sh\n. \"$0.script\"\n");
            fs::permissions(folder_ / program, fs::perms::owner_all);
            plays(program, "exit 1");
        }
    }
    void plays(const std::string& program, const std::string& script) const {
        write_file(folder_ / (program + ".script"), script + "\n");
    }
    /// Prints a picture that ends with `text`.
    static std::string prints(const std::string& text) { return R"(printf '\211PNG\r\n\032\n%s' )" + text; }
    static std::string picture(const std::string& text) { return "\x89PNG\r\n\x1a\n" + text; }
    std::string command() const {
        return "PATH=" + folder_.string() + ":$PATH WAYLAND_DISPLAY=one DISPLAY=two orange-dashboard";
    }
    fs::path folder() const { return folder_; }

  private:
    fs::path folder_;
};

/// The form, with a summary and a file.
void fill_in(Stage& stage, const std::string& summary, const std::string& file) {
    stage.press({"c"});
    stage.wait_for("Create a task");
    stage.letters(summary);
    stage.press({"Tab", "Tab"});
    stage.letters(file);
}

std::vector<std::string> given_files(Sandbox& box, const std::string& id) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(box.folder(id) / "files"))
        names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

}  // namespace

TEST_CASE("Ctrl-v takes the picture of the clipboard, and a program that gives none stops nothing") {
    Sandbox box;
    const auto repository = box.add_project("shop");
    const Desktop desktop(box);
    Stage stage(box, repository, 120, 40);
    stage.start("no active tasks", desktop.command());
    stage.press({"c"});
    stage.wait_for("Create a task");
    stage.letters("Fix it");
    stage.press({"C-v"});
    stage.wait_for("The clipboard has no picture");

    // It hangs, and so does what it has started.
    desktop.plays("wl-paste", "sleep 1000 & echo $! > \"$0.pid\"; wait");
    stage.press({"C-v"});
    stage.letters(" now");
    stage.wait_for("Fix it now");
    CHECK_THAT(stage.shown(), !Holds("did not read"));
    stage.wait_for("wl-paste did not read the clipboard within 5 s");
    const auto status = "/proc/" + std::string(trim(read_file(desktop.folder() / "wl-paste.pid"))) + "/status";
    box.eventually("nothing of it is left", [&] {
        const auto text = read_file(status);
        return text.empty() || holds(text, "State:\tZ");
    });

    desktop.plays("wl-paste", "exec yes");  // without an end
    stage.press({"C-v"});
    stage.wait_for("larger than 32 MiB");
    desktop.plays("wl-paste", Desktop::prints("one"));
    stage.press({"C-v"});
    stage.wait_for("as clipboard.png");
    desktop.plays("wl-paste", Desktop::prints("two") + "; exec >&-; sleep 1000");  // it stays
    stage.press({"C-v"});
    stage.wait_for("as clipboard-2.png");
    desktop.plays("wl-paste", "exit 1");
    desktop.plays("xclip", Desktop::prints("three"));
    stage.press({"C-v"});
    stage.wait_for("as clipboard-3.png");

    stage.press({"Enter"});
    stage.wait_for("Fix it now: created");
    const auto tasks = box.call(rpc::TaskList{}).tasks;
    REQUIRE(tasks.size() == 1);
    const auto id = tasks[0].fields.id.value;
    CHECK(given_files(box, id) == std::vector<std::string>{"clipboard-2.png", "clipboard-3.png", "clipboard.png"});
    const auto files = box.folder(id) / "files";
    CHECK(read_file(files / "clipboard.png") == Desktop::picture("one"));
    CHECK(read_file(files / "clipboard-2.png") == Desktop::picture("two"));
    CHECK(read_file(files / "clipboard-3.png") == Desktop::picture("three"));
    CHECK_THAT(box.body(id), Holds("clipboard-3.png` (from clipboard"));
    stage.press({"q"});
    stage.wait_for("status 0");
}

TEST_CASE("Without a desktop Ctrl-v says so, and without its program what to install") {
    Sandbox box;
    const auto repository = box.add_project("shop");
    Stage stage(box, repository, 120, 40);
    for (const auto& [variables, text] : {std::pair{"WAYLAND_DISPLAY= DISPLAY=", "There is no clipboard to read here"},
                                          {"WAYLAND_DISPLAY=one DISPLAY=", "install wl-clipboard"},
                                          {"WAYLAND_DISPLAY= DISPLAY=two", "install xclip"}}) {
        stage.type("clear");
        stage.start("no active tasks", std::string(variables) + " orange-dashboard");
        stage.press({"c"});
        stage.wait_for("Create a task");
        stage.press({"C-v"});
        stage.wait_for(text);
        stage.press({"Escape", "q"});
        stage.wait_for("status 0");
    }
}

TEST_CASE("A daemon that is killed while it gets a file: the form comes again, and creates the task once") {
    Sandbox box;
    const auto repository = box.add_project("shop");
    const std::string bytes(3 * rpc::k_largest_piece + 1, 'x');
    write_file(repository / "big.bin", bytes);
    Stage stage(box, repository, 120, 40);
    stage.start("no active tasks");
    fill_in(stage, "Read it", "big.bin");
    box.run({"kill", "-STOP", std::to_string(box.daemon_pid())});
    stage.press({"Enter"});
    CHECK(stage.press_all({"q"})[0].shows == "error");
    stage.wait_for("still being sent; q again quits");
    box.kill_daemon();
    stage.wait_for("c opens the form again");
    const auto links = stage.traced("link 0 1");
    box.start_daemon();
    box.eventually("the dashboard has the next daemon", [&] { return stage.traced("link 0 1") > links; });
    CHECK(box.call(rpc::TaskList{}).tasks.empty());
    stage.press({"c"});
    stage.wait_for("Create a task");
    stage.press({"Enter"});
    stage.wait_for("Read it: created");
    const auto tasks = box.call(rpc::TaskList{}).tasks;
    REQUIRE(tasks.size() == 1);
    const auto id = tasks[0].fields.id.value;
    REQUIRE(given_files(box, id) == std::vector<std::string>{"big.bin"});
    CHECK(read_file(box.folder(id) / "files" / "big.bin") == bytes);
    stage.press({"q"});
    stage.wait_for("status 0");
}

TEST_CASE("A file that does not arrive: the form opens at it again, and the task names only what was sent whole") {
    Sandbox box;
    const auto repository = box.add_project("shop");
    write_file(repository / "big.bin", std::string(2 * rpc::k_largest_piece, 'x'));
    const auto tasks = written(box.call(rpc::TaskList{})), projects = written(box.call(rpc::ProjectList{true}));
    box.stop_daemon();
    fs::remove(box.home() / "orange.sock");
    enum class Second { is_lost, is_refused, is_taken, is_unknown };
    auto second = Second::is_unknown;
    int begun = 0;
    {
        const test::FakeDaemon daemon(box.home() / "orange.sock", [&](const Json& request) {
            using Lines = std::vector<std::string>;
            const auto answered = [&](const Json& result) { return Lines{test::FakeDaemon::reply(request, result)}; };
            const auto& method = request.at("method");
            const auto& params = request.at("params");
            if (method == rpc::TaskList::k_name) return answered(tasks);
            if (method == rpc::ProjectList::k_name) return answered(projects);
            if (method != rpc::FilePut::k_name) return answered(Json::object());
            if (second == Second::is_unknown) {
                return Lines{test::FakeDaemon::error(request, rpc::k_method_not_found, "no method file.put")};
            }
            const auto offset = params.value("offset", std::int64_t{0});
            if (offset > 0 && second == Second::is_lost) return Lines{""};
            if (offset > 0 && second == Second::is_refused) {
                return Lines{test::FakeDaemon::error(request, -32013, "the disk is full")};
            }
            if (offset == 0) ++begun;
            return answered({{"upload", "upload-" + std::to_string(begun)}, {"size", offset + rpc::k_largest_piece}});
        });
        const auto created = [&] {
            Json all = Json::array();
            for (const auto& request : daemon.requests()) {
                if (request.at("method") == rpc::TaskCreate::k_name) all.push_back(request.at("params"));
            }
            return all;
        };
        Stage stage(box, repository, 120, 40);
        stage.start("no active tasks", "ORANGE_NO_AUTOSTART=1 orange-dashboard");
        fill_in(stage, "Read it", "big.bin");
        stage.press({"Enter"});
        stage.wait_for("orange daemon restart");  // the daemon is too old
        for (const auto& [how, text] : {std::pair{Second::is_lost, "the daemon stopped while it got"},
                                        {Second::is_refused, "the disk is full"}}) {
            daemon.meet();
            second = how;
            daemon.meet();
            stage.press({"c"});
            stage.wait_for("Create a task");
            stage.press({"Enter"});
            stage.wait_for(text);
        }
        CHECK(created().empty());
        daemon.meet();
        second = Second::is_taken;
        daemon.meet();
        stage.press({"c"});
        stage.wait_for("Create a task");
        stage.press({"Enter"});
        box.eventually("the task is created", [&] { return !created().empty(); });
        REQUIRE(created().size() == 1);
        CHECK(created()[0].at("files") == Json{"upload-3"});
        CHECK(created()[0].at("summary") == "Read it");
        stage.press({"q"});
        stage.wait_for("status 0");
    }
    box.start_daemon();
}
