// Plain structs as JSON objects: each type lists its fields once, by name, and both directions follow from the list.
//
// A type has `template <typename Self, typename Visit> void visit_fields(Self& self, Visit&& visit)` that calls
// visit("name", member) for each field, and an enum has `template <> struct EnumNames<E>`.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace homa::simulation {

template <typename Enum>
struct EnumNames;  // static constexpr std::array<std::pair<Enum, const char*>, N> kNames

template <typename Enum>
const char* name_of(Enum value) {
  for (const auto& [candidate, name] : EnumNames<Enum>::kNames) {
    if (candidate == value) return name;
  }
  return "?";
}

template <typename T>
nlohmann::json write_json(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return name_of(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (requires { value.begin(); }) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& element : value) list.push_back(write_json(element));
    return list;
  } else {
    nlohmann::json object = nlohmann::json::object();
    visit_fields(value, [&](const char* name, const auto& field) { object[name] = write_json(field); });
    return object;
  }
}

/// Reads into values and remembers the first fault, with the path to it ("backlog.slope.low must be a number").
class JsonReader {
 public:
  const std::string& fault() const { return fault_; }

  template <typename T>
  void read(const nlohmann::json& json, T& value, const std::string& path) {
    if (!fault_.empty()) return;
    if constexpr (std::is_enum_v<T>) {
      read_enum(json, value, path);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!json.is_boolean()) return fail(path, "must be true or false");
      value = json.get<bool>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!json.is_string()) return fail(path, "must be a text");
      value = json.get<std::string>();
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!json.is_number()) return fail(path, "must be a number");
      value = json.get<T>();
    } else if constexpr (std::is_integral_v<T>) {
      if (!is_count(json) || json.get<std::uint64_t>() > static_cast<std::uint64_t>(static_cast<T>(-1))) {
        return fail(path, "must be a whole number, 0 or more, and not too large");
      }
      value = json.get<T>();
    } else if constexpr (requires { value.begin(); }) {
      read_list(json, value, path);
    } else {
      read_object(json, value, path);
    }
  }

 private:
  static bool is_count(const nlohmann::json& json) {
    return json.is_number_unsigned() || (json.is_number_integer() && json.get<std::int64_t>() >= 0);
  }
  void fail(const std::string& path, const std::string& what) {
    if (fault_.empty()) fault_ = (path.empty() ? std::string("the whole") : path) + " " + what;
  }
  template <typename T>
  void read_enum(const nlohmann::json& json, T& value, const std::string& path) {
    std::string names;
    for (const auto& [candidate, name] : EnumNames<T>::kNames) {
      if (json.is_string() && json.get<std::string>() == name) {
        value = candidate;
        return;
      }
      names += std::string(names.empty() ? "" : " or ") + name;
    }
    fail(path, "must be " + names);
  }
  template <typename T>
  void read_list(const nlohmann::json& json, std::vector<T>& list, const std::string& path) {
    if (!json.is_array()) return fail(path, "must be a list");
    list.clear();
    for (const auto& element : json)
      read(element, list.emplace_back(), path + "[" + std::to_string(list.size() - 1) + "]");
  }
  template <typename T, std::size_t N>
  void read_list(const nlohmann::json& json, std::array<T, N>& list, const std::string& path) {
    if (!json.is_array() || json.size() != N) return fail(path, "must be a list of " + std::to_string(N));
    for (std::size_t i = 0; i < N; ++i) read(json[i], list[i], path + "[" + std::to_string(i) + "]");
  }
  template <typename T>
  void read_object(const nlohmann::json& json, T& object, const std::string& path) {
    if (!json.is_object()) return fail(path, "must be an object");
    std::size_t known = 0;
    std::string names;
    visit_fields(object, [&](const char* name, auto& field) {
      names += std::string(names.empty() ? "" : ", ") + name;
      const auto found = json.find(name);
      if (found == json.end()) return;
      ++known;
      read(*found, field, path.empty() ? name : path + "." + name);
    });
    if (known == json.size()) return;
    for (const auto& [key, unused] : json.items()) {
      bool is_known = false;
      visit_fields(object, [&, &wanted = key](const char* name, auto&) { is_known = is_known || wanted == name; });
      if (!is_known) return fail(path.empty() ? key : path + "." + key, "is unknown; here may stand: " + names);
    }
  }

  std::string fault_;
};

}  // namespace homa::simulation
