#include "tests/unit/runner/power.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <set>
#include <stdexcept>

#include "tests/unit/git/git_fixture.hpp"

namespace orange::test {
namespace fs = std::filesystem;
namespace {

PageCache* g_cache = nullptr;

struct FailingDisk {
    int countdown = 0;
    bool failed = false;
    bool trusted = false;
    std::pair<std::uint64_t, std::uint64_t> file{};  ///< whose fsync failed; what is appended is taken back
    int kept = -1;                                   ///< it, so that no other file gets its number
};
FailingDisk g_disk;

std::pair<std::uint64_t, std::uint64_t> inode_of(const struct stat& facts) {
    return {facts.st_dev, facts.st_ino};
}

struct stat facts_of(const fs::path& path) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) throw std::runtime_error("no facts of " + path.string());
    return facts;
}

}  // namespace

PageCache::PageCache(fs::path root) : root_(fs::canonical(root)) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    look(root_);
    g_cache = this;
}

PageCache::~PageCache() {
    g_cache = nullptr;
    for (const auto& [inode, fd] : kept_) ::close(fd);
}

bool PageCache::believed(const fs::path& below_root) {
    auto part = below_root.begin();
    if (part == below_root.end() || *part != "workspaces") return false;
    if (++part == below_root.end() || part->string().starts_with('.')) return false;
    return ++part != below_root.end() && *part != "TASK.md" && !part->string().starts_with(".TASK.md");
}

void PageCache::keep(const fs::path& path, const Inode& inode) {
    if (kept_.contains(inode)) return;
    const int fd = ::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) throw std::runtime_error("cannot keep " + path.string());
    kept_[inode] = fd;
}

/// Everything there is at the beginning is safe.
void PageCache::look(const fs::path& path) {
    const auto facts = facts_of(path);
    const auto inode = inode_of(facts);
    keep(path, inode);
    if (S_ISREG(facts.st_mode)) synced_bytes_[inode] = read_file(path);
    if (!S_ISDIR(facts.st_mode)) return;
    auto& names = synced_names_[inode];
    for (const auto& entry : fs::directory_iterator(path)) {
        if (believed(entry.path().lexically_relative(root_))) continue;
        const auto below = facts_of(entry.path());
        names[entry.path().filename().string()] = {inode_of(below), S_ISDIR(below.st_mode)};
        look(entry.path());
    }
}

void PageCache::sync(int fd) {
    const fs::path path = fs::read_symlink("/proc/self/fd/" + std::to_string(fd));
    const auto below = path.lexically_relative(root_);
    if (below.empty() || *below.begin() == "..") return;
    before_sync();
    struct stat facts {};
    if (::fstat(fd, &facts) != 0) return;
    const auto inode = inode_of(facts);
    // Not a duplicate of `fd`: that would pass for somebody who still writes.
    if (!kept_.contains(inode))
        kept_[inode] = ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_PATH | O_CLOEXEC);
    if (S_ISREG(facts.st_mode)) {
        synced_bytes_[inode] = read_file("/proc/self/fd/" + std::to_string(fd));
        return;
    }
    Entries names;
    for (const auto& entry : fs::directory_iterator(path)) {
        const auto its = facts_of(entry.path());
        names[entry.path().filename().string()] = {inode_of(its), S_ISDIR(its.st_mode)};
    }
    synced_names_[inode] = std::move(names);
}

PageCache::Image PageCache::image(const Choice& choice) const {
    // Where everything is now, by inode: bytes of files that lost their names are not read, they are not current.
    std::map<Inode, Entries> names;
    std::map<Inode, std::string> bytes;
    std::map<Inode, bool> regular;
    const std::function<void(const fs::path&)> walk = [&](const fs::path& folder) {
        auto& entries = names[inode_of(facts_of(folder))];
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (believed(entry.path().lexically_relative(root_))) continue;
            const auto its = facts_of(entry.path());
            entries[entry.path().filename().string()] = {inode_of(its), S_ISDIR(its.st_mode)};
            if (S_ISREG(its.st_mode)) bytes[inode_of(its)] = read_file(entry.path());
            if (S_ISDIR(its.st_mode)) walk(entry.path());
        }
    };
    walk(root_);

    Image image;
    const auto content_of = [&](const Inode& inode) -> std::string {
        const auto safe = synced_bytes_.find(inode);
        const auto now = bytes.find(inode);
        const std::string synced = safe == synced_bytes_.end() ? std::string() : safe->second;
        const std::string current = now == bytes.end() ? synced : now->second;
        switch (choice.bytes(inode)) {
            case Bytes::synced:
                return synced;
            case Bytes::current:
                return current;
            case Bytes::torn:
                break;
        }
        if (current == synced) return current;
        const auto begin = current.starts_with(synced) ? synced.size() : 0;
        return current.substr(0, begin + (current.size() - begin) / 2);
    };
    const std::function<void(const Inode&, const std::string&)> build = [&](const Inode& folder,
                                                                            const std::string& path) {
        const auto safe = synced_names_.find(folder);
        const auto now = names.find(folder);
        const bool current = choice.current_names(folder);
        const Entries nothing;
        auto entries = current ? (now == names.end() ? nothing : now->second)
                               : (safe == synced_names_.end() ? nothing : safe->second);
        if (path == "workspaces/") {
            // Worktrees come and go with git's own records of them.
            std::erase_if(entries, [](const auto& entry) { return entry.second.folder; });
            if (now != names.end()) {
                for (const auto& entry : now->second) {
                    if (entry.second.folder) entries.insert(entry);
                }
            }
        }
        for (const auto& [name, entry] : entries) {
            if (believed(path + name)) continue;
            if (entry.folder) {
                image[path + name + "/"] = "";
                build(entry.inode, path + name + "/");
            } else {
                image[path + name] = content_of(entry.inode);
            }
        }
    };
    build(inode_of(facts_of(root_)), "");
    return image;
}

std::vector<PageCache::Image> PageCache::images() const {
    const auto always = [](bool names, Bytes bytes) {
        return Choice{[names](const Inode&) { return names; }, [bytes](const Inode&) { return bytes; }};
    };
    std::set<Image> different;
    different.insert(image(always(false, Bytes::synced)));
    different.insert(image(always(true, Bytes::synced)));
    different.insert(image(always(false, Bytes::current)));
    different.insert(image(always(true, Bytes::torn)));
    for (unsigned seed = 1; seed <= 2; ++seed) {
        std::mt19937 random(seed);
        std::map<Inode, bool> names;
        std::map<Inode, Bytes> bytes;
        const Choice mixed{
            [&](const Inode& inode) { return names.try_emplace(inode, random() % 2 == 0).first->second; },
            [&](const Inode& inode) {
                return bytes.try_emplace(inode, static_cast<Bytes>(random() % 3)).first->second;
            }};
        different.insert(image(mixed));
    }
    return {different.begin(), different.end()};
}

void PageCache::restore(const Image& image, const fs::path& root) {
    std::vector<fs::path> there;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        const auto below = entry.path().lexically_relative(root);
        if (!believed(below)) there.push_back(below);
    }
    for (auto path = there.rbegin(); path != there.rend(); ++path) {
        const bool folder = fs::is_directory(fs::symlink_status(root / *path));
        if (image.contains(path->string() + (folder ? "/" : ""))) continue;
        std::error_code kept;  // a worktree that is believed
        fs::remove(root / *path, kept);
    }
    for (const auto& [path, content] : image) {
        if (path.ends_with('/')) {
            fs::create_directories(root / path);
        } else {
            write_file(root / path, content);
            fs::permissions(root / path, fs::perms::owner_read | fs::perms::owner_write);
        }
    }
}

void fail_sync(int n) {
    if (g_disk.kept >= 0) ::close(g_disk.kept);
    g_disk = {};
    g_disk.countdown = n;
}
bool has_failed_sync() {
    return g_disk.failed;
}
bool has_trusted_a_failed_file() {
    return g_disk.trusted;
}

}  // namespace orange::test

extern "C" {
int __wrap_fsync(int fd);

/// Every fsync of this program, by `--wrap`. Nothing is really synced: that is slow, and what is asked here is who
/// asks.
int __wrap_fsync(int fd) {
    using orange::test::g_disk;
    struct stat facts {};
    if (::fstat(fd, &facts) != 0) return -1;
    if (g_disk.failed && S_ISREG(facts.st_mode) && orange::test::inode_of(facts) == g_disk.file) g_disk.trusted = true;
    if (g_disk.countdown > 0 && --g_disk.countdown == 0) {
        g_disk.failed = true;
        const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
        if (path.extension() == ".tmp") {
            g_disk.file = orange::test::inode_of(facts);
            g_disk.kept = ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_PATH | O_CLOEXEC);
        }
        errno = EIO;
        return -1;
    }
    if (orange::test::g_cache) orange::test::g_cache->sync(fd);
    return 0;
}
}
