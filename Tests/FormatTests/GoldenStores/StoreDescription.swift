import Foundation
import Heartwood
import HeartwoodBytes
import HeartwoodEngine

/// The content and state of a store as lines of text.
struct StoreDescription {
  private(set) var lines: [String] = []
  private(set) var isRefused = false
  private let path: String
  private let isGraph: Bool

  /// The descriptions of a store opened for reading, and for writing.
  static func text(reading: StoreDescription, writing: StoreDescription) -> String {
    let second = reading.lines == writing.lines ? ["  the same"] : writing.lines
    return (["reading"] + reading.lines + ["writing"] + second).joined(separator: "\n")
  }

  /// Opens the store, describes it, and closes it.
  init(_ path: String, _ access: EngineOptions.Access, isGraph: Bool) {
    self.path = path
    self.isGraph = isGraph
    do {
      var options = EngineOptions(access: access, createsStore: false)
      // A graph is opened as keys and values first.
      options.acceptsOtherContent = isGraph
      let engine = try Engine(at: path, options: options)
      describe(engine)
      try engine.close()
      if isGraph { lines += try GraphDescription.lines(path, isReadOnly: access == .readOnly) }
    } catch {
      isRefused = true
      lines.append("  refused: " + Self.text(error))
    }
  }

  private mutating func describe(_ engine: Engine) {
    attempt { store in
      let (statistics, report) = (try engine.statistics(), try engine.verify())
      store.lines.append(
        "  generation \(statistics.generation), \(statistics.unrecoveredTransactions) hidden, "
          + (report.isSound ? "sound" : "not sound"))
    }
    attempt { store in
      for record in try engine.generations() { store.describe(record, of: engine) }
    }
    attempt { store in store.describe(try engine.snapshot()) }
  }

  private mutating func describe(_ record: GenerationRecord, of engine: Engine) {
    let counts = "\(record.puts) puts, \(record.deletes) deletes" + (record.isInternal ? ", internal" : "")
    do {
      let snapshot = try engine.snapshot(at: record.generation)
      lines.append(
        "  generation \(record.generation): \(counts); \(snapshot.count) keys, \(try digest(snapshot))")
    } catch {
      lines.append("  generation \(record.generation): \(counts); \(Self.text(error))")
    }
  }

  /// A checksum of all keys and values.
  private func digest(_ snapshot: Snapshot) throws -> String {
    var sum: UInt64 = 0
    try snapshot.scan { key, value in
      sum = XXH64.hash(value, seed: XXH64.hash(key, seed: sum))
      return true
    }
    return FormatDocument.hexadecimal(Int(truncatingIfNeeded: sum >> 32), 8)
  }

  /// All entries, or the first and last 20 if there are more than 40. Each is read separately, so that a damaged value
  /// does not hide the others.
  private mutating func describe(_ snapshot: Snapshot) {
    lines.append("  \(snapshot.count) keys")
    // `GraphDescription` describes a graph's objects instead.
    guard !isGraph else { return }
    let shown: UInt64 = 20
    for rank in 0..<snapshot.count where rank < shown || rank >= snapshot.count - min(snapshot.count, shown) {
      attempt { store in
        let cursor = try snapshot.cursor()
        guard try cursor.seek(rank: rank) else { return store.lines.append("  nothing at rank \(rank)") }
        let key = Self.text(Array(cursor.key))
        do {
          store.lines.append("  \(key) = \(Self.text(Array(try cursor.value())))")
        } catch {
          store.lines.append("  \(key): \(Self.text(error))")
        }
      }
    }
  }

  private mutating func attempt(_ body: (inout StoreDescription) throws -> Void) {
    do {
      try body(&self)
    } catch {
      lines.append("  " + Self.text(error))
    }
  }

  /// The code of an error and the file that it names.
  private static func text(_ error: any Error) -> String {
    guard let error = error as? EngineError else { return "another error: \(error)" }
    let file = error.file.map { URL(filePath: $0).lastPathComponent }
    return error.code.rawValue + (file.map { $0 == "store" ? "" : " in \($0)" } ?? "")
  }

  static func text(_ bytes: [UInt8]) -> String {
    if bytes.count > 32, let first = bytes.first, bytes.allSatisfy({ $0 == first }) {
      return "\(bytes.count) times \(text([first]))"
    }
    return bytes.map { byte in
      0x20..<0x7F ~= byte && byte != 0x5C
        ? String(UnicodeScalar(byte)) : "\\x" + FormatDocument.hexadecimal(Int(byte), 2)
    }.joined()
  }
}

/// The content of a graph's store: all objects by name, and the history.
enum GraphDescription {
  static func lines(_ path: String, isReadOnly: Bool) throws -> [String] {
    ValueTransformers.register(GoldenValues.Colour.self)
    let url = URL(filePath: path)
    let model = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: url)
    let container = PersistentContainer(name: "Golden", managedObjectModel: model)
    let description = PersistentStoreDescription(url: url)
    description.isReadOnly = isReadOnly
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    let lines =
      try context.performAndWait { try objects(context, model) + history(context) } + notes(container)
    let isSound = try container.persistentStoreCoordinator.verify().findings.isEmpty
    try container.close()
    return ["  a graph, \(isSound ? "sound" : "not sound")"] + lines
  }

  private static func objects(
    _ context: ManagedObjectContext, _ model: ManagedObjectModel
  ) throws -> [String] {
    try model.entitiesByName.keys.sorted().flatMap { name -> [String] in
      let objects = try context.fetch(FetchRequest<ManagedObject>(entityName: name))
      return objects.sorted { $0.objectID.key < $1.objectID.key }.map(line)
    }
  }

  private static func line(_ object: ManagedObject) -> String {
    let properties = object.entity.properties.sorted { $0.name < $1.name }.map { property in
      guard let relationship = property as? RelationshipDescription else {
        return "\(property.name) = \(object.value(forKey: property.name).map(text) ?? "-")"
      }
      let identifiers = object.objectIDs(forRelationshipNamed: property.name)
      let sorted = relationship.isOrdered ? identifiers : identifiers.sorted { $0.key < $1.key }
      return "\(property.name) -> \(sorted.map(text).joined(separator: " "))"
    }
    return "  \(text(object.objectID)): \(properties.joined(separator: ", "))"
  }

  private static func history(_ context: ManagedObjectContext) throws -> [String] {
    let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    return try context.execute(request).transactions.map { transaction in
      let changes = (transaction.changes ?? []).map { change in
        let tombstone = (change.tombstone ?? [:]).sorted { $0.key < $1.key }.map {
          " \($0.key) was \($0.value)"
        }
        return "\(change.changeType) \(text(change.changedObjectID))" + tombstone.joined()
      }
      let (number, author) = (transaction.transactionNumber, transaction.author ?? "-")
      let time = Int(transaction.timestamp.timeIntervalSince1970)
      return "  transaction \(number) by \(author) at \(time): \(changes.joined(separator: ", "))"
    }
  }

  /// The notes of a program about the store.
  private static func notes(_ container: PersistentContainer) throws -> [String] {
    let coordinator = container.persistentStoreCoordinator
    let metadata = try coordinator.persistentStores.first.map { try coordinator.metadata(for: $0) } ?? [:]
    let notes = metadata.filter { $0.key.first?.isLowercase == true }
    return notes.isEmpty ? [] : ["  notes: \(text(notes))"]
  }

  private static func text(_ value: Any) -> String {
    switch value {
    case let values as [String: Any]:
      return values.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }.joined(separator: "; ")
    // A value that is stored outside of its row.
    case let data as Data where data.count > 1000:
      let sum = data.withUnsafeBytes { XXH64.hash($0, seed: 0) }
      return "\(data.count) bytes, \(FormatDocument.hexadecimal(Int(truncatingIfNeeded: sum >> 32), 8))"
    default: return "\(value)"
    }
  }

  private static func text(_ identifier: ManagedObjectID) -> String {
    "\(identifier.entity.name ?? "")/p\(identifier.key)"
  }
}
