#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/rpc/doctor_methods.hpp"

namespace orange::doctor {

/// A problem in a file: its place and its description.
struct Located {
    std::string file;  ///< "path" or "path:line"
    std::string text;  ///< the message without the place
};

/// Takes the place from "name:12:3: …" at the beginning of `message`, or from "line 12" in it.
Located place_in(const std::filesystem::path& file, std::string_view message);

/// Returns the age in words, coarsely: "3 minutes", "2 hours".
std::string spoken(std::chrono::seconds age);

/// Collects the findings of the checks.
class Report {
  public:
    /// Sets the check to which the following findings belong.
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
