import TestSupport
import Testing

@testable import HeartwoodCommand

/// Values that a file does not have and that decide which object is meant.
@Suite struct `Defaults and unique values of an import` {
  private static let model = """
    {"entities": {
      "P": {
        "attributes": {
          "name": {"type": "string", "unique": true}, "z": {"type": "string", "optional": true},
          "k": {"type": "integer64", "default": 7}, "label": {"type": "string", "default": "none"},
          "h": {"type": "composite", "optional": true, "elements": {
            "zip": {"type": "string", "optional": true}, "no": {"type": "integer32", "default": 3},
            "geo": {"type": "composite", "optional": true, "elements": {
              "lat": {"type": "double", "optional": true}, "lon": {"type": "double", "optional": true, "default": 1.5}}}}}},
        "relationships": {"f": {"destination": "P"}},
        "uniquenessConstraints": [["z", "k"], ["h.zip", "h.no"], ["h.geo.lat", "h.geo.lon"]]}}}
    """

  private let folder: TemporaryFolder
  private var path: String { folder.path("p") }

  init() throws {
    folder = try TemporaryFolder()
    let run = CommandRun(
      "import", path, try folder.file("first.json", #"[{"@entity": "P", "name": "old", "z": "S", "k": 1}]"#),
      "--model", try folder.file("model.json", Self.model))
    #expect(run.status == .success, "\(run.notes)")
  }

  private func run(_ text: String, _ options: String..., csv: Bool = false) throws -> CommandRun {
    CommandRun(["import", path, try folder.file(csv ? "P.csv" : "more.json", text)] + options)
  }

  private func rows(_ columns: String) -> String {
    CommandRun("fetch", path, "P", "--columns", columns, "--sort", "name", "--format", "csv").output
  }

  @Test func `a search finds new objects by their defaults`() throws {
    let run = try run(
      #"""
      [{"@entity": "P", "name": "one", "z": "Q", "f": {"@find": {"z": "Q", "k": 7}}},
       {"@entity": "P", "name": "two", "h.zip": "Z", "f": {"@find": {"h.zip": "Z", "h.no": 3}}},
       {"@entity": "P", "name": "three", "h": {"geo": {"lat": 4}}, "f": {"@find": {"h.geo.lat": 4, "h.geo.lon": 1.5}}},
       {"@entity": "P", "name": "four", "z": "R", "k": null, "f": {"@find": {"z": "R", "k": 7}}}]
      """#)
    #expect(run.status == .success, "\(run.notes)")
    #expect(CommandRun("count", path, "P", "--where", "f == SELF").output == "4\n")
  }

  @Test func `a search does not find objects by defaults that they do not get`() throws {
    // It may be one of the store, which has another value.
    let updated = try run(
      #"[{"@entity": "P", "name": "old", "z": "S", "f": {"@find": {"z": "S", "k": 7}}}]"#, "--upsert", "name")
    #expect(updated.notes.contains("neither the file nor the store has a P"), "\(updated.notes)")
    let absent = try run(#"[{"@entity": "P", "name": "x", "f": {"@find": {"h.zip": "Z", "h.no": 3}}}]"#)
    #expect(absent.notes.contains("neither the file nor the store has a P"), "\(absent.notes)")
  }

  @Test(arguments: ["1", "100"])
  func `elements that are unique count however they are given`(batch: String) throws {
    for objects in [
      #"{"@entity": "P", "name": "a", "h.geo": {"lat": 1}}, {"@entity": "P", "name": "b", "h": {"geo": {"lat": 1}}}"#,
      #"{"@entity": "P", "name": "a", "h.zip": "A"}, {"@entity": "P", "name": "b", "h": {"zip": "A"}}"#,
      #"{"@entity": "P", "name": "a", "h.geo.lat": 2}, {"@entity": "P", "name": "b", "h.geo.lat": 2}"#,
    ] {
      let run = try run("[\(objects)]", "--batch", batch)
      #expect(run.notes.contains("objects[1]: objects[0] has the same values"), "\(objects): \(run)")
    }
    #expect(CommandRun("count", path, "P").output == "1\n")
  }

  @Test(arguments: ["1", "100"])
  func `an update that gives a composite its first value gives it its defaults`(batch: String) throws {
    let run = try run(
      #"[{"@entity": "P", "name": "old", "h.zip": "A"}, {"@entity": "P", "name": "new", "h": {"zip": "A"}}]"#,
      "--upsert", "name", "--batch", batch)
    #expect(run.notes.contains("objects[1]: objects[0] has the same values of h.zip, h.no"), "\(run)")
    #expect(rows("name,h.zip") == "name,h.zip\nold,\n")
  }

  @Test func `an update finds its object by an element in a nested whole`() throws {
    #expect(try run(#"[{"@entity": "P", "name": "a", "h.geo": {"lat": 1}}]"#).status == .success)
    let run = try run(
      #"[{"@entity": "P", "name": "b", "h.geo": {"lat": 1, "lon": 1.5}}]"#, "--upsert", "h.geo.lat+h.geo.lon")
    #expect(run.output.contains("1 of them updated"), "\(run)")
    #expect(rows("name") == "name\nb\nold\n")
  }

  @Test func `a new object of an update has the default where the file has no value`() throws {
    let run = try run("name,label,k\nold,,2\nnew,,\n", "--upsert", "name", csv: true)
    #expect(run.status != .success && run.notes.contains("P.label of P/p1 needs a value"), "\(run)")
    let added = try self.run("name,label,k\nnew,,\nnewer,x,\n", "--upsert", "name", csv: true)
    #expect(added.status == .success, "\(added.notes)")
    #expect(rows("name,label,k") == "name,label,k\nnew,none,7\nnewer,x,7\nold,none,1\n")
    let several = try self.run("z,k,name,label\nT,9,last,\n", "--upsert", "z+k", csv: true)
    #expect(several.status == .success, "\(several.notes)")
  }

  @Test func `columns name a destination by what is unique together`() throws {
    let run = try run("name,f.z,f.k\na,S,1\nb,,\n", csv: true)
    #expect(run.status == .success, "\(run.notes)")
    let written = rows("name,f.z,f.k")
    #expect(written == "name,f.z,f.k\na,S,1\nb,,\nold,,\n")
    let again = try self.run(written, "--upsert", "name", csv: true)
    #expect(again.status == .success, "\(again.notes)")
    #expect(rows("name,f.z,f.k") == written)
    let partly = try self.run("name,f.z,f.k\nc,S,\n", csv: true)
    #expect(partly.status == .dataError && partly.notes.contains("line 2.f"), "\(partly.notes)")
    let one = try self.run("name,f.z\nc,S\n", csv: true)
    #expect(one.notes.contains("P.z is not unique"), "\(one.notes)")
  }

  @Test(arguments: [false, true]) func `an update finds its object by defaults of the file's objects`(
    csv: Bool
  ) throws {
    func file(_ name: String) -> String {
      csv ? "name,z\n\(name),Q\n" : #"[{"@entity": "P", "name": "\#(name)", "z": "Q"}]"#
    }
    #expect(try run(file("a"), csv: csv).status == .success)
    let refused = try run(file("b"), csv: csv)
    #expect(refused.notes.contains("--upsert P.z+k updates that object"), "\(refused.notes)")
    let updated = try run(file("b"), "--upsert", "P.z+k", csv: csv)
    #expect(updated.output.contains("1 of them updated"), "\(updated)")
    #expect(rows("name,z,k") == "name,z,k\nb,Q,7\nold,S,1\n")
    // Values that the file has count more, whatever the order of the names.
    let named = try run(file("old"), "--upsert", "P.z+k,name", csv: csv)
    #expect(named.output.contains("1 of them updated"), "\(named)")
    #expect(rows("name,z,k") == "name,z,k\nb,Q,7\nold,Q,1\n")
  }

  @Test func `two objects of a file with the same values by default are one too many`() throws {
    let run = try run(
      #"[{"@entity": "P", "name": "a", "z": "Q"}, {"@entity": "P", "name": "b", "z": "Q", "k": 7}]"#,
      "--upsert", "z+k")
    #expect(run.notes.contains("objects[1]: objects[0] has the same values of z, k"), "\(run)")
  }
}
