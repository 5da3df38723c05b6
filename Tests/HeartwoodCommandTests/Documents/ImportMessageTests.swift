import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

/// The messages of an import about objects and limits that do not fit.
@Suite struct `Messages of imports` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func model(_ rule: String, type: String = "double") -> String {
    """
    {"entities": {"City": {"attributes": {"name": {"type": "string", "optional": true},
      "size": {"type": "\(type)", "optional": true, "validationRules": [\(rule)]}}}}}
    """
  }

  private func write(_ text: String, _ name: String) throws -> String {
    let path = folder.path(name)
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  @Test func `an object that a rule refuses is named by its place in the file`() throws {
    let rule = #"{"kind": "number", "least": "5"}"#
    let objects = #"[{"@id": "City/a", "size": 7}, {"@id": "City/b", "size": 1}]"#
    let json = CommandRun(
      "import", folder.path("a.heartwood"),
      try write(#"{"model": \#(model(rule)), "objects": \#(objects)}"#, "a.json"))
    #expect(json.status == .dataError)
    #expect(json.notes.contains("City.size of objects[1] is 1.0, which must be at least 5"), "\(json.notes)")
    let csv = CommandRun(
      "import", folder.path("b.heartwood"), try write("name,size\na,7\nb,8\nc,1\nd,2\n", "City.csv"),
      "--model",
      try write(model(rule), "model.json"))
    #expect(csv.status == .dataError)
    #expect(csv.notes.contains(/City\.size of line [45] is/), "\(csv.notes)")
    #expect(!json.notes.contains("x-coredata") && !csv.notes.contains("x-coredata"))
  }

  @Test(arguments: [
    (
      #"{"kind": "number", "least": "NaN"}"#, "double",
      "validationRules[0].least: \"NaN\" is no limit of a number"
    ),
    (#"{"kind": "number", "greatest": "inf"}"#, "integer64", "\"inf\" is no limit of a number"),
    (#"{"kind": "date", "least": "nan"}"#, "date", "\"nan\" is no limit of a date"),
    (#"{"kind": "length", "greatest": "five"}"#, "string", "\"five\" is no limit of a length"),
    (
      #"{"kind": "longest", "least": "5"}"#, "double",
      "validationRules[0].kind: \"longest\" is none of number, date, length"
    ), (#"{"least": "5"}"#, "double", "validationRules[0]: \"kind\" is missing"),
    (#"{"kind": "number", "least": 5}"#, "double", "validationRules[0].least: expected a string"),
    (#"{"kind": "number", "minimum": "5"}"#, "double", "minimum"),
  ])
  func `a limit that is none is refused in a model`(rule: String, type: String, message: String) throws {
    let run = CommandRun(
      "import", folder.path("a.heartwood"),
      try write(#"{"model": \#(model(rule, type: type)), "objects": []}"#, "a.json"))
    #expect(run.status == .dataError && run.notes.contains(message), "\(run.notes)")
  }

  @Test func `objects with composite attributes as CSV are imported again`() throws {
    let model = """
      {"entities": {"City": {"attributes": {"name": {"type": "string"}, "place": {"type": "composite", "optional": true,
        "elements": {"x": {"type": "integer64", "default": 0}, "inner": {"type": "composite", "optional": true,
          "elements": {"note": {"type": "string", "optional": true}}}}}}}}}
      """
    let objects = """
      [{"@id": "City/a", "name": "a"}, {"@id": "City/b", "name": "b", "place": {"x": 3}},
       {"@id": "City/c", "name": "c", "place": {"x": 4, "inner": {"note": "n"}}}]
      """
    let made = CommandRun(
      "import", folder.path("a.heartwood"),
      try write(#"{"model": \#(model), "objects": \#(objects)}"#, "a.json"))
    #expect(made.status == .success, "\(made.notes)")
    let csv = CommandRun("fetch", folder.path("a.heartwood"), "City", "--format", "csv", "--sort", "name")
      .output
    #expect(csv.hasPrefix("@id,name,place,place.x,place.inner,place.inner.note\n"), "\(csv)")
    let again = CommandRun(
      "import", folder.path("b.heartwood"), try write(csv, "City.csv"), "--model",
      try write(model, "model.json"))
    #expect(again.status == .success, "\(again.notes)")
    let fetched = CommandRun("fetch", folder.path("b.heartwood"), "City", "--format", "csv", "--sort", "name")
    #expect(fetched.output == csv)
  }
}
