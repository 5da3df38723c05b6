import BenchmarkHarness
import Foundation

/// A file for `heartwood import`: 66,000 objects with 374,000 links, 30 MB of JSON. Persons of companies work in projects.
struct ImportFile {
  let path: String

  func write() throws {
    var random = SplitMix64(seed: 7)
    var lines = ["{\"model\": \(Self.model),", "\"objects\": ["]
    for number in 0..<1_000 {
      lines.append(
        #"{"@id": "Company/\#(number)", "name": "Company \#(number)", "city": "\#(Self.text(1, &random))"},"#)
    }
    for number in 0..<5_000 { lines.append(Self.project(number, &random) + ",") }
    for number in 0..<60_000 { lines.append(Self.person(number, &random) + (number < 59_999 ? "," : "")) }
    lines.append("]}")
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
  }

  private static func project(_ number: Int, _ random: inout SplitMix64) -> String {
    #"{"@id": "Project/\#(number)", "title": "\#(text(3, &random))", "budget": \#(random.next(below: 100_000)).5, "#
      + #""company": {"@ref": "Company/\#(random.next(below: 1_000))"}}"#
  }

  /// A person with one company, five projects, and a mentor if the number is below 9,000.
  private static func person(_ number: Int, _ random: inout SplitMix64) -> String {
    var projects: [Int] = []
    while projects.count < 5 {
      let project = random.next(below: 5_000)
      if !projects.contains(project) { projects.append(project) }
    }
    let references = projects.map { #"{"@ref": "Project/\#($0)"}"# }.joined(separator: ", ")
    let mentor = number < 9_000 ? #""mentor": {"@ref": "Person/\#(number + 9_000)"}, "# : ""
    return
      #"{"@id": "Person/\#(number)", "email": "p\#(number)@example.org", "name": "\#(text(2, &random))", "#
      + #""age": \#(18 + random.next(below: 50)), "score": \#(random.next(below: 100)).25, "#
      + #""joined": "20\#(10 + random.next(below: 15))-03-0\#(1 + random.next(below: 9))T08:30:00Z", "#
      + #""active": \#(random.next(below: 2) == 0), "biography": "\#(text(24, &random))", "#
      + mentor
      + #""company": {"@ref": "Company/\#(random.next(below: 1_000))"}, "projects": [\#(references)]}"#
  }

  private static func text(_ words: Int, _ random: inout SplitMix64) -> String {
    (0..<words).map { _ in
      let letters = (0..<(4 + random.next(below: 6))).map { _ in UInt8(97 + random.next(below: 26)) }
      return String(decoding: letters, as: UTF8.self)
    }.joined(separator: " ")
  }

  private static let model = """
    {"entities": {
      "Company": {
        "attributes": {
          "name": {"type": "string", "unique": true}, "city": {"type": "string"}},
        "relationships": {
          "persons": {"destination": "Person", "toMany": true, "inverse": "company", "deleteRule": "cascade"},
          "projects": {"destination": "Project", "toMany": true, "inverse": "company", "deleteRule": "cascade"}}},
      "Project": {
        "attributes": {"title": {"type": "string", "indexed": true}, "budget": {"type": "double"}},
        "relationships": {
          "company": {"destination": "Company", "inverse": "projects"},
          "persons": {"destination": "Person", "toMany": true, "inverse": "projects"}}},
      "Person": {
        "attributes": {
          "email": {"type": "string", "unique": true}, "name": {"type": "string", "indexed": true},
          "age": {"type": "integer16"}, "score": {"type": "double"}, "joined": {"type": "date"},
          "active": {"type": "boolean"}, "biography": {"type": "string"}},
        "relationships": {
          "company": {"destination": "Company", "inverse": "persons"},
          "projects": {"destination": "Project", "toMany": true, "inverse": "persons"},
          "mentor": {"destination": "Person", "inverse": "pupils"},
          "pupils": {"destination": "Person", "toMany": true, "inverse": "mentor"}}}}}
    """
}
