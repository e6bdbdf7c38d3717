#include "daemon/doctor/doctor.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

/// What the doctor says of a machine that is not as it should be: a disk, a service manager, programs. The machine is
/// another one; the rest is real.
using namespace orange;
using namespace orange::test;
using Catch::Contains;

namespace {

struct Patient : RunnerWorld {
    Patient() {
        boot();
        facts.config = [] { return Result<void>{}; };
        facts.machine.systemd = git.dir / "no-systemd";
    }

    Disk healthy() const {
        Disk disk;
        disk.free_bytes = std::uint64_t{100} << 30;
        disk.free_files = 1'000'000;
        disk.has_inodes = true;
        return disk;
    }
    void on(Disk disk) {
        facts.machine.disk = [disk](const std::filesystem::path&) { return Result<Disk>(disk); };
    }

    /// "level text → command", a line for each finding of that check.
    std::string said(const std::string& check) {
        std::string lines;
        for (const auto& finding : house().go(doctor::examine(house().runner(), facts, {}))) {
            if (finding.check != check) continue;
            lines += finding.level + " " + finding.text + " → " + finding.command.value_or("") + "\n";
        }
        return lines;
    }

    doctor::Facts facts;
};

}  // namespace

TEST_CASE_METHOD(Patient, "a disk with room says nothing") {
    on(healthy());
    CHECK_THAT(said("disk"), Catch::StartsWith("ok "));
    auto unlimited = healthy();
    unlimited.has_inodes = false;  // btrfs: no number of files
    unlimited.free_files = 0;
    on(unlimited);
    CHECK_THAT(said("disk"), Catch::StartsWith("ok "));
}

TEST_CASE_METHOD(Patient, "a disk that is full, nearly full, read-only or out of files is told with what looks at it") {
    auto disk = healthy();
    disk.free_bytes = std::uint64_t{63} << 20;
    on(disk);
    CHECK_THAT(said("disk"), Catch::StartsWith("error ") && Tells("63") && Holds("→ df -h "));
    disk.free_bytes = std::uint64_t{512} << 20;
    on(disk);
    CHECK_THAT(said("disk"), Catch::StartsWith("warning ") && Tells("512") && Holds("→ df -h "));
    disk = healthy();
    disk.free_files = 7;
    on(disk);
    CHECK_THAT(said("disk"), Catch::StartsWith("error ") && Tells("7") && Holds("→ df -i "));
    disk = healthy();
    disk.read_only = true;
    on(disk);
    CHECK_THAT(said("disk"), Catch::StartsWith("error "));
    facts.machine.disk = [](const std::filesystem::path&) {
        return Result<Disk>(Error(ErrorCode::io, "looking at the disk: Input/output error"));
    };
    CHECK_THAT(said("disk"), Catch::StartsWith("error ") && Holds("Input/output error"));
}

TEST_CASE_METHOD(Patient, "agents without control groups are in order, until their memory is to be limited") {
    CHECK_THAT(said("memory"), Catch::StartsWith("ok "));
    (void)draft();
    auto shop = *house().world().projects.find("shop");
    set_setting(shop.settings, "limits.memory", "12G").value();
    house().world().projects.put(shop).value();
    CHECK_THAT(said("memory"), Catch::StartsWith("warning ") && Tells("limits.memory") && !Holds("limits.processes"));
    set_setting(shop.settings, "limits.memory", "0").value();
    set_setting(shop.settings, "limits.processes", "512").value();
    house().world().projects.put(shop).value();
    CHECK_THAT(said("memory"), Holds("warning ") && Tells("limits.processes"));
}

TEST_CASE_METHOD(Patient, "a home on a network disk is a warning that says where it should be") {
    auto disk = healthy();
    disk.network = "nfs";
    on(disk);
    CHECK_THAT(said("disk"), Catch::StartsWith("warning ") && Tells("nfs") && Tells("ORANGE_HOME"));
}

TEST_CASE_METHOD(Patient, "who does not linger is told so where systemd would end the agents at logout") {
    facts.machine.systemd = git.dir.path;
    facts.machine.lingering = git.dir / "linger";
    facts.machine.user = 4'000'000'000U;  // nobody's: its number stands for its name
    CHECK_THAT(said("service"), Catch::StartsWith("warning ") && Tells("4000000000") &&
                                    Holds("→ sudo loginctl enable-linger 4000000000"));
    write_file(git.dir / "linger/4000000000", "");
    CHECK_THAT(said("service"), Catch::StartsWith("ok "));
    std::filesystem::remove(git.dir / "linger/4000000000");
    facts.machine.user = 0;  // has no session that could end
    CHECK_THAT(said("service"), Catch::StartsWith("ok "));
}
