#include "common/model/fields.hpp"

#include "tests/catch.hpp"

using namespace orange;

namespace {

struct Inner {
    std::string name;
    void describe(auto& v) { v.required("name", name, "its name"); }
};

struct Everything {
    std::string text;
    int number = 7;
    std::int64_t wide = 0;
    bool flag = false;
    std::optional<std::string> maybe;
    std::optional<int> count;
    std::vector<std::string> words;
    std::vector<Inner> inner;
    std::map<std::string, std::int64_t> counts;
    std::optional<std::string> nullable;
    std::string sparse;
    Json any;
    void describe(auto& v) {
        v.required("text", text, "some text");
        v.optional("number", number, "a number");
        v.optional("wide", wide, "a wide number");
        v.optional("flag", flag, "a flag");
        v.optional("maybe", maybe, "perhaps");
        v.optional("count", count, "perhaps a number");
        v.optional("words", words, "words");
        v.optional("inner", inner, "structs");
        v.optional("counts", counts, "numbers by name");
        v.nullable("nullable", nullable, "a text or null");
        v.sparse("sparse", sparse, "written if it is not empty");
        v.optional("any", any, "anything");
    }
};

std::string why_not(const Json& json) {
    const auto read = read_as<Everything>(json, "");
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::invalid_argument);
    return read.error().message;
}

}  // namespace

TEST_CASE("Everything that is given is read, and written back the same") {
    const Json json = {{"text", "a"},
                       {"number", -3},
                       {"wide", 1LL << 40},
                       {"flag", true},
                       {"maybe", ""},
                       {"count", 0},
                       {"words", {"x", "y"}},
                       {"inner", {{{"name", "n"}}}},
                       {"counts", {{"working", 2}}},
                       {"nullable", nullptr},
                       {"sparse", "s"},
                       {"any", {1, nullptr}}};
    const auto read = read_as<Everything>(json, "");
    REQUIRE(read);
    CHECK(read->inner.at(0).name == "n");
    CHECK(read->maybe == "");
    CHECK(written(*read) == json);
}

TEST_CASE("What is optional keeps its default, absent or null alike, and an empty optional is not written") {
    const auto read = read_as<Everything>(Json{{"text", "a"}, {"number", nullptr}, {"maybe", nullptr}}, "");
    REQUIRE(read);
    CHECK(read->number == 7);
    CHECK_FALSE(read->maybe);
    CHECK_FALSE(written(*read).contains("maybe"));
    CHECK_FALSE(written(*read).contains("sparse"));
}

TEST_CASE("What is required and missing is named, with what it means") {
    CHECK_THAT(why_not(Json::object()), Tells("\"text\""));
    CHECK_THAT(why_not(Json{{"text", nullptr}}), Holds("\"text\" is missing"));
    CHECK_THAT(why_not(Json{{"text", "a"}, {"inner", {Json::object()}}}), Holds("\"inner[].name\""));
}

TEST_CASE("A parameter that does not exist is refused with the ones that do") {
    CHECK_THAT(why_not(Json{{"text", "a"}, {"txet", "b"}}), Holds("\"txet\"") && Holds("text, number"));
}

TEST_CASE("A reader of replies skips what it does not know, at every depth") {
    const Json json = {{"text", "a"}, {"new", 1}, {"inner", {{{"name", "n"}, {"newer", 2}}}}};
    CHECK_FALSE(read_as<Everything>(json, ""));
    const auto read = read_as<Everything>(json, "", UnknownKeys::ignore);
    REQUIRE(read);
    CHECK(read->inner.at(0).name == "n");
    CHECK_FALSE(read_as<Everything>(Json{{"new", 1}}, "", UnknownKeys::ignore));
}

TEST_CASE("A wrong type is refused with what would be right") {
    const auto with = [](const char* key, Json value) {
        Json json = {{"text", "a"}};
        json[key] = std::move(value);
        return json;
    };
    CHECK_THAT(why_not(with("text", 5)), Holds("\"text\" must be a string"));
    CHECK_THAT(why_not(with("number", "5")), Tells("\"number\"") && Tells("integer"));
    CHECK_THAT(why_not(with("number", 5.5)), Tells("\"number\""));
    CHECK_THAT(why_not(with("number", 1LL << 40)), Tells("\"number\""));
    CHECK_THAT(why_not(with("wide", std::uint64_t{1} << 63)), Tells("\"wide\""));
    CHECK_THAT(why_not(with("flag", 1)), Tells("\"flag\""));
    CHECK_THAT(why_not(with("words", "x")), Tells("\"words\""));
    CHECK_THAT(why_not(with("words", {1})), Tells("\"words[]\"") && Tells("string"));
    CHECK_THAT(why_not(with("counts", {{"a", "b"}})), Tells("\"counts.a\""));
    CHECK_FALSE(why_not(Json::array()).empty());
}

TEST_CASE("The schema says names, types, meanings and what is required") {
    const Json schema = schema_of<Everything>();
    CHECK(schema["type"] == "object");
    CHECK(schema["required"] == Json{"text"});
    CHECK(schema["additionalProperties"] == false);
    CHECK(schema["properties"]["text"] == Json{{"type", "string"}, {"description", "some text"}});
    CHECK(schema["properties"]["count"]["type"] == "integer");
    CHECK(schema["properties"]["inner"]["items"]["properties"]["name"]["type"] == "string");
    CHECK(schema["properties"]["counts"]["additionalProperties"]["type"] == "integer");
    CHECK(schema["properties"]["nullable"]["type"] == Json{"string", "null"});
    CHECK(schema["properties"]["any"] == Json{{"description", "anything"}});
}
