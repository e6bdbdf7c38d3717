#include "daemon/shim/spec.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>

#include "common/base/try.hpp"
#include "common/model/fields.hpp"

namespace orange {
namespace {

Error bad_spec(const std::string& why) {
    return {ErrorCode::invalid_argument, "run spec: " + why};
}

Result<void> check(const RunSpec& spec) {
    if (spec.argv.empty() || spec.argv[0].empty()) return bad_spec("\"argv\" is empty");
    if (!spec.cwd.starts_with('/')) return bad_spec("\"cwd\" is not absolute");
    if (!spec.exit_file.starts_with('/')) return bad_spec("\"exit_file\" is not absolute");
    for (const auto& path : {spec.inner_folder, spec.started_file, spec.address_file}) {
        if (!path.empty() && !path.starts_with('/')) return bad_spec("\"" + path + "\" is not absolute");
    }
    for (const auto& path : spec.copies) {
        if (!path.starts_with('/')) return bad_spec("\"" + path + "\" is not absolute");
    }
    if (!spec.worktree.empty() && !spec.worktree.starts_with('/')) return bad_spec("\"worktree\" is not absolute");
    return {};
}

}  // namespace

std::filesystem::path copy_in(const std::filesystem::path& folder, std::size_t number) {
    return folder / "copies" / std::to_string(number);
}

std::string spec_text(const RunSpec& spec) {
    return dump(written(spec)) + "\n";
}

Result<RunSpec> spec_from_text(std::string_view text) {
    const auto json = parse_json(text);
    auto spec = json ? read_as<RunSpec>(*json, "", UnknownKeys::ignore) : Result<RunSpec>(json.error());
    if (!spec) return in_context("run spec", spec.error());
    TRY(check(*spec));
    return spec;
}

Result<RunSpec> read_spec(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return io_error("reading " + file.string(), errno);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return spec_from_text(text);
}

}  // namespace orange
