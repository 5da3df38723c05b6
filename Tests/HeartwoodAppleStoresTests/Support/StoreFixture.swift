import Foundation
import Heartwood
import HeartwoodAppleStores
import TestSupport
import Testing

/// A copy of a store of `Fixtures/AppleStores`, in a folder of its own.
struct StoreFixture {
  let folder: TemporaryFolder
  let url: URL

  static let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/AppleStores")

  init(_ name: String, from source: URL = source) throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "\(name).sqlite")
    for file in try FileManager.default.contentsOfDirectory(atPath: source.path)
    where file.hasPrefix("\(name).sqlite") || file == ".\(name)_SUPPORT" {
      try FileManager.default.copyItem(at: source.appending(path: file), to: folder.url.appending(path: file))
    }
  }

  /// A store that a script makes with the modules of `Fixtures/AppleStores`: `path` is its place.
  init(making script: String) throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "made.sqlite")
    let beginning = """
      import sys
      sys.path.insert(0, sys.argv[1])
      from models import *
      from stores import *
      A, R, E, path = Attribute, Relationship, Entity, sys.argv[2]

      """
    try Python.run(["-c", beginning + script, Self.source.path, url.path])
  }

  /// The model of the file. The names of its transformers are none that other tests register, so that their values are bytes.
  func model() throws -> ManagedObjectModel {
    AppleSQLiteStore.register()
    let stored = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: url)
    let model = try ManagedObjectModel(changeablyMerging: [stored])
    for attribute in model.entities.flatMap(\.attributesByName.values) where attribute.type == .transformable
    {
      attribute.valueTransformerName = "Unknown"
    }
    model.keepsBytesWithoutTransformers()
    return model
  }

  /// Opens the store.
  func open(_ model: ManagedObjectModel? = nil) throws -> OpenFixture {
    AppleSQLiteStore.register()
    let coordinator = try PersistentStoreCoordinator(checking: model ?? self.model())
    let store = try coordinator.addPersistentStore(type: .appleSQLite, at: url)
    return OpenFixture(
      coordinator: coordinator, store: try #require(store as? AppleSQLiteStore),
      context: ManagedObjectContext(.privateQueue, coordinator: coordinator))
  }
}

struct OpenFixture {
  let coordinator: PersistentStoreCoordinator
  let store: AppleSQLiteStore
  let context: ManagedObjectContext

  func read<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    try context.performAndWait { try body(context) }
  }
}

/// The contents of a store as Python's `sqlite3` reads them.
struct StoreDump: Decodable {
  struct Row: Decodable, Equatable {
    let version: Int64?
    let cells: [String: String?]
    let links: [String: [Int64]]
  }

  let entities: [String: [String: Row]]

  /// - Parameter url: The store, beside which its description is.
  init(_ url: URL) throws {
    let data = try Python.run([StoreFixture.source.appending(path: "dump").path, url.path])
    entities = try JSONDecoder().decode([String: [String: Row]].self, from: data)
  }
}

/// The same of a context, in the same form.
struct ContextDump {
  private(set) var entities: [String: [String: StoreDump.Row]] = [:]

  init(_ context: ManagedObjectContext, versions: [String: [String: StoreDump.Row]] = [:]) throws {
    guard let model = context.persistentStoreCoordinator?.managedObjectModel else { return }
    for entity in model.entities where !entity.isAbstract {
      let name = entity.name ?? ""
      var rows: [String: StoreDump.Row] = [:]
      let request = FetchRequest<ManagedObject>(entityName: name)
      request.includesSubentities = false
      for object in try context.fetch(request) {
        let key = String(object.objectID.uriRepresentation().lastPathComponent.dropFirst())
        rows[key] = StoreDump.Row(
          version: versions[name]?[key]?.version ?? nil, cells: Self.cells(object), links: Self.links(object))
      }
      entities[name] = rows
    }
    try context.throwIfUnreadable()
  }

  private static func cells(_ object: ManagedObject) -> [String: String?] {
    var cells: [String: String?] = [:]
    for property in object.entity.storedProperties {
      guard let attribute = property as? AttributeDescription else { continue }
      cells[attribute.name] = .some(text(object.value(forKey: attribute.name)))
    }
    return cells
  }

  private static func links(_ object: ManagedObject) -> [String: [Int64]] {
    var links: [String: [Int64]] = [:]
    for (name, relationship) in object.entity.relationshipsByName {
      let keys = object.objectIDs(forRelationshipNamed: name).compactMap {
        Int64($0.uriRepresentation().lastPathComponent.dropFirst())
      }
      links[name] = relationship.isOrdered ? keys : keys.sorted()
    }
    return links
  }

  private static func text(_ value: Any?) -> String? {
    func bits(_ number: Double) -> String {
      let text = String(number.bitPattern, radix: 16)
      return "d:" + String(repeating: "0", count: 16 - text.count) + text
    }
    func hex(_ data: some Sequence<UInt8>) -> String {
      "b:" + data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    return switch value {
    case nil: nil
    case let value as Bool: value ? "i:1" : "i:0"
    case let value as any BinaryInteger: "i:\(value)"
    case let value as Float: bits(Double(value))
    case let value as Double: bits(value)
    case let value as Decimal: "n:\(value)"
    case let value as Date: bits(value.timeIntervalSinceReferenceDate)
    case let value as String: "s:" + value
    case let value as URL: "s:" + value.absoluteString
    case let value as UUID: hex(withUnsafeBytes(of: value.uuid) { Array($0) })
    case let value as Data: hex(value)
    default: "?:\(value ?? "")"
    }
  }
}

/// How the two differ, in words.
func differences(_ left: [String: [String: StoreDump.Row]], _ right: [String: [String: StoreDump.Row]])
  -> [String]
{
  var found: [String] = []
  for name in Set(left.keys).union(right.keys).sorted() {
    let (one, other) = (left[name] ?? [:], right[name] ?? [:])
    for key in Set(one.keys).union(other.keys).sorted() {
      guard let first = one[key], let second = other[key] else {
        found.append("\(name) \(key) is in \(one[key] == nil ? "the second" : "the first") only")
        continue
      }
      for cell in Set(first.cells.keys).union(second.cells.keys).sorted() {
        let values = (first.cells[cell] ?? nil, second.cells[cell] ?? nil)
        if values.0 != values.1 {
          found.append("\(name) \(key) \(cell): \(values.0 ?? "-") and \(values.1 ?? "-")")
        }
      }
      for link in Set(first.links.keys).union(second.links.keys).sorted()
      where first.links[link] ?? [] != second.links[link] ?? [] {
        found.append("\(name) \(key) \(link): \(first.links[link] ?? []) and \(second.links[link] ?? [])")
      }
    }
  }
  return found
}

extension Trait where Self == ConditionTrait {
  /// Skips the test where there is no Python to compare with.
  static var comparesWithPython: Self {
    .enabled(if: Python.isThere, "python3 is needed to compare with its sqlite3")
  }
}

enum Python {
  static let isThere = (try? run(["-c", "import sqlite3"])) != nil

  /// Runs a script; returns what it writes.
  @discardableResult
  static func run(_ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3"] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failed(status: process.terminationStatus) }
    return data
  }

  struct Failed: Error {
    let status: Int32
  }
}
