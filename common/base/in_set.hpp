#pragma once

#include <set>
#include <utility>

namespace orange {

/// Keeps an element in a set for the lifetime of this object. The set must outlive it.
template <class T>
class InSet {
  public:
    InSet(std::set<T>& all, T one) : all_(all), one_(std::move(one)) { all_.insert(one_); }
    ~InSet() { all_.erase(one_); }
    InSet(const InSet&) = delete;
    InSet& operator=(const InSet&) = delete;

  private:
    std::set<T>& all_;
    T one_;
};

}  // namespace orange
