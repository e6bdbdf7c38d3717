#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/rpc/doctor_methods.hpp"

namespace orange::doctor {

/// Where a message says that something is wrong in a file.
struct Place {
    std::string file;  ///< "path" or "path:line"
    std::string text;  ///< the message, without a place in front
};

/// Finds "name:12:3: …" at the beginning of `message`, or "line 12" in it.
Place place_in(const std::filesystem::path& file, std::string_view message);

/// "3 minutes", "2 hours": coarse, for ages.
std::string spoken(std::chrono::seconds age);

/// What the checks have found so far.
class Report {
  public:
    /// What is said from now on belongs to this check.
    void begin(std::string check) { check_ = std::move(check); }
    void ok(std::string text);
    void warn(std::string text, std::string command = {}, std::string file = {});
    void wrong(std::string text, std::string command = {}, std::string file = {});

    const std::vector<rpc::Finding>& findings() const { return findings_; }

  private:
    void add(const char* level, std::string text, std::string command, std::string file);

    std::string check_;
    std::vector<rpc::Finding> findings_;
};

}  // namespace orange::doctor
