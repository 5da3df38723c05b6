import Heartwood
import Foundation
import Testing

@testable import HeartwoodCommand

private func parse(_ text: String) throws -> JSONValue {
  try JSONParser.parse(Array(text.utf8))
}

private func error(_ text: String) -> JSONError? {
  do {
    _ = try JSONParser.parse(Array(text.utf8))
    return nil
  } catch {
    return error
  }
}

@Test func `whole numbers are exact to the last of 64 bits`() throws {
  #expect(try parse("9223372036854775807") == .integer(.max))
  #expect(try parse("-9223372036854775808") == .integer(.min))
  #expect(
    try parse("9223372036854775808") == .fraction(9_223_372_036_854_775_808, text: "9223372036854775808"))
  #expect(try parse("-0") == .integer(0))
}

@Test func `true and 1 are different values`() throws {
  #expect(
    try parse("[true, 1, 1.0, null]") == .array([.bool(true), .integer(1), .fraction(1, text: "1.0"), .null]))
}

@Test func `members keep their order`() throws {
  let value = try parse(#" { "b" : 1 , "a" : {}, "c": [ ] } "#)
  #expect(
    value
      == .object(JSONObject([("b", .integer(1)), ("a", .object(JSONObject())), ("c", .array([]))])))
}

@Test func `escapes and surrogate pairs are resolved`() throws {
  #expect(try parse(#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00z""#) == .string("a\"\\/\u{8}\u{c}\n\r\té😀z"))
}

@Test(arguments: [
  ("", 1, 1), ("{", 1, 2), ("[1,]", 1, 4), ("{\"a\" 1}", 1, 6), ("[1\n,\n  x]", 3, 3), ("\"abc", 1, 1),
  ("01", 1, 2), ("1.", 1, 3), ("-", 1, 2), ("1e", 1, 3), ("1e999", 1, 1), ("tru", 1, 1), ("1 2", 1, 3),
  ("{\"a\":1,\"a\":2}", 1, 8), ("\"\\x\"", 1, 2), ("\"\\ud800\"", 1, 2), ("\"\\u12g4\"", 1, 6),
  ("\"\n\"", 1, 2),
  ("[\"日本\", ?]", 1, 8),
])
func `text that is not JSON is refused with its place`(text: String, line: Int, column: Int) {
  let error = error(text)
  #expect(error?.line == line)
  #expect(error?.column == column)
}

@Test func `bytes that are not UTF-8 are refused`() {
  #expect(throws: JSONError.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
}

@Test func `deep nesting is refused, not followed`() {
  let text = String(repeating: "[", count: 100_000)
  #expect(error(text)?.message.contains("nested") == true)
}

@Test func `every truncated document is refused without a trap`() throws {
  let bytes = Array(#"{"a": [1.5e3, "x\u0041\n", true, {"@ref": "B/1"}], "é": null}"#.utf8)
  _ = try JSONParser.parse(bytes)
  for length in 0..<bytes.count {
    #expect(throws: JSONError.self) { try JSONParser.parse(Array(bytes[..<length])) }
  }
}

@Test func `a written document is read back unchanged`() throws {
  let value = try parse(#"{"a\n\u0001": [1, -2.50, true, null, "é\"\\😀", {}, []], "b": {"c": "d"}}"#)
  #expect(try parse(JSONWriter.line(value)) == value)
  #expect(try parse(JSONWriter.pretty(value)) == value)
}

@Test(arguments: [1, 15, 16, 17, 40])
func `a name that occurs twice is an error at its second place, among few members and many`(count: Int) throws
{
  let members = (0..<count).map { "\"n\($0)\": \($0)" }.joined(separator: ",\n")
  #expect(
    try parse("{\(members)}") == .object(JSONObject((0..<count).map { ("n\($0)", .integer(Int64($0))) })))
  for place in Set([0, count / 2, count - 1]) {
    let found = error("{\(members),\n\"n\(place)\": 0}")
    #expect(found?.message == "\"n\(place)\" occurs twice in one object" && found?.line == count + 1)
  }
}
