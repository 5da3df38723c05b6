import Foundation
import Heartwood
import TestSupport
import Testing

@testable import HeartwoodCommand

@Suite struct `Values that are written and imported again` {
  private static let model = """
    {"entities": {"Item": {"attributes": {
      "number": {"type": "integer32"},
      "exact": {"type": "decimal", "optional": true},
      "double": {"type": "double", "optional": true},
      "float": {"type": "float", "optional": true},
      "date": {"type": "date", "optional": true},
      "data": {"type": "data", "optional": true},
      "count": {"type": "integer32", "derived": "number"}}}}}
    """
  private static let columns = ["number", "exact", "double", "float", "date", "data"]

  /// Each is the values of an object, by name.
  private static var items: [[String: any Sendable]] {
    var items: [[String: any Sendable]] = [[:]]
    for exact in [
      Decimal.nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, -0.5, 0,
      1e100,
    ] { items.append(["exact": exact]) }
    for double in [
      Double.nan, .infinity, -.infinity, -0.0, 0, .leastNonzeroMagnitude, -.greatestFiniteMagnitude, 0.1,
      0x1p53, 1e15, 123_456_789_012_345_680,
    ] {
      items.append(["double": double])
      items.append(["float": Float(double)])
      items.append(["date": Date(timeIntervalSinceReferenceDate: double)])
    }
    for seconds in [
      0.001, 0.0015, -0.0015, 0.000_000_123, 700_000_000.123_456_7, 252_423_993_600, 1e11, 1e12, -1e12,
      1, -1, 59_999_999_999, -59_999_999_999, 6e10, -6e10,
      1e-300,
      -62_135_596_801, -63_113_904_000, 0x1.123456789abcdp40,
    ] { items.append(["date": Date(timeIntervalSinceReferenceDate: seconds)]) }
    for data in [Data(), Data([0]), Data("text".utf8)] { items.append(["data": data]) }
    return items
  }

  private let folder: TemporaryFolder
  private let model: String
  private var path: String { folder.path("items") }

  init() throws {
    folder = try TemporaryFolder()
    model = try folder.file("model.json", Self.model)
    let graph = try ModelFile.read(model).graphModel()
    try CommandStore.making(path, model: graph, .log) { store in
      for (number, values) in Self.items.enumerated() {
        let object = ManagedObject(entity: try store.entity(named: "Item"), insertInto: store.context)
        try object.assign(number, forKey: "number")
        for (name, value) in values { try object.assign(value, forKey: name) }
      }
      try store.context.save()
    }
  }

  /// All values as texts that differ where the values differ.
  private func contents(_ path: String) throws -> [String] {
    try CommandStore.with(path, for: .reading, RecordingConsole()) { store in
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      request.sortDescriptors = [NamedSort("number", ascending: true)]
      return try store.context.fetch(request).map { object in
        Self.columns.map { name in
          switch object.value(forKey: name) {
          case let value as Double: "\(value.bitPattern)"
          case let value as Float: "\(value.bitPattern)"
          case let value as Date: "\(value.timeIntervalSinceReferenceDate.bitPattern)"
          case let value as Data: "\(Array(value))"
          case let value: "\(String(describing: value))"
          }
        }.joined(separator: " ")
      }
    }
  }

  @Test func `an export has all values exactly`() throws {
    let file = try folder.file("items.json", CommandRun("export", path).output)
    let run = CommandRun("import", folder.path("copy"), file)
    #expect(run.status == .success, "\(run.notes)")
    #expect(try contents(folder.path("copy")) == contents(path))
    #expect(try contents(path).count == Self.items.count)
  }

  @Test func `the JSON of fetched objects has all values exactly`() throws {
    let words = ["--columns", Self.columns.joined(separator: ",") + ",@id", "--format", "json"]
    let file = try folder.file("items.json", CommandRun(["fetch", path, "Item"] + words).output)
    let run = CommandRun("import", folder.path("copy"), file, "--model", model)
    #expect(run.status == .success, "\(run.notes)")
    #expect(try contents(folder.path("copy")) == contents(path))
  }

  @Test func `the CSV of fetched objects has all values exactly, and empty data is not missing data`() throws
  {
    let words = ["--columns", Self.columns.joined(separator: ","), "--format", "csv"]
    let file = try folder.file("Item.csv", CommandRun(["fetch", path, "Item"] + words).output)
    let run = CommandRun("import", folder.path("copy"), file, "--model", model)
    #expect(run.status == .success, "\(run.notes)")
    #expect(try contents(folder.path("copy")) == contents(path))
  }

  @Test(arguments: ["2024", "20240131", "-5", "31.01.2024", "1e", ""])
  func `a field of digits only is no date, as it could be a year or a day`(field: String) throws {
    let file = try folder.file("Item.csv", "number,date\n1,\"\(field)\"\n")
    let run = CommandRun("import", folder.path("copy"), file, "--model", model)
    #expect(run.notes.contains("line 2.date: expected a date"), "\(run.notes)")
  }

  @Test(arguments: ["NaN ", "nan", "+Infinity", "1.5abc", "1,5", "0x10", "1.", ".5", "--1", "1e", ""])
  func `a text that is no number is refused, in JSON and in CSV`(text: String) throws {
    for name in ["exact", "double", "float"] {
      let csv = try folder.file("Item.csv", "number,\(name)\n1,\"\(text)\"\n")
      let json = try folder.file(
        "Item.json", "[{\"@entity\": \"Item\", \"number\": 1, \"\(name)\": \"\(text)\"}]")
      for file in [csv, json] {
        let run = CommandRun("import", folder.path("copy"), file, "--model", model)
        #expect(run.status == .dataError && run.notes.contains(".\(name): expected a"), "\(run.notes)")
      }
    }
  }

  @Test(arguments: [
    "1.000000000000000000000000000000000000001", "1e166", "340282366920938463463374607431768211456", "1e-129",
  ])
  func `a number that a decimal does not have is refused, and not rounded`(digits: String) throws {
    let json = try folder.file("Item.json", "[{\"@entity\": \"Item\", \"number\": 1, \"exact\": \(digits)}]")
    let run = CommandRun("import", folder.path("copy"), json, "--model", model)
    #expect(
      run.status == .dataError && run.notes.contains(".exact: \(digits) does not fit into a decimal"),
      "\(run.notes)")
  }

  @Test func `help says how CSV is written and read`() {
    let help = CommandRun("fetch", "--help").output
    #expect(help.contains("seconds since 2001") && help.contains("\"\""))
    #expect(CommandRun("import", "--help").output.contains("\"Infinity\""))
  }
}
