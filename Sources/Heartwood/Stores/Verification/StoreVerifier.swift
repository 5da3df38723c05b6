import HeartwoodBytes
import HeartwoodEngine

/// Checks one generation of a store above the engine: rows are readable, and everything stored besides them
/// agrees with them.
///
/// Each problem becomes one sentence. Only errors of the engine stop the verification.
final class StoreVerifier {
  let view: LogStoreView
  private(set) var findings: [String] = []
  /// How many entries the rows have in each index, by its number.
  var expectedEntries: [UInt16: Int] = [:]
  /// The number of findings beyond the first 1000, which are not kept.
  private var others = 0

  init(_ view: LogStoreView) { self.view = LogStoreView(view.reader, view.schema, hasOneReader: true) }

  var schema: StoreSchema { view.schema }

  /// - Returns: the findings, one sentence each.
  /// - Complexity: O(n log n) in the number of entries of the store.
  func run() throws -> [String] {
    try checkSchema()
    for root in schema.rootEntities {
      try checkRows(of: root)
      try checkExternal(of: root)
    }
    for index in schema.indexes { try checkEntries(of: index) }
    for entity in schema.storedEntities {
      for case let relationship as RelationshipDescription in entity.ownProperties
      where relationship.isToMany && !relationship.isTransient {
        try checkLinks(relationship)
      }
    }
    try checkHistory()
    try checkMetadata()
    try checkKinds()
    if others > 0 { findings.append("and \(others) more") }
    return findings
  }

  func report(_ finding: String) {
    // A systematic error would be repeated for every row.
    if findings.count < 1000 { findings.append(finding) } else { others += 1 }
  }

  private func checkSchema() throws {
    guard let record = try SchemaRecord(in: view.reader) else { return report("the store has no model") }
    for difference in record.differences(from: schema.record) { report("the model: \(difference)") }
  }

  private func checkMetadata() throws {
    do {
      _ = try StoreMetadata(in: view.reader)
    } catch let error as HeartwoodError {
      report(error.message)
    }
  }

  /// Reports keys that belong to no part of the model.
  private func checkKinds() throws {
    let indexes = Set(schema.indexes.map(\.number))
    let roots = Set(schema.rootEntities.map(schema.keyNumber))
    var links: [UInt8: Set<UInt16>] = [:]
    for entity in schema.storedEntities {
      for relationship in entity.relationshipsBySlot where relationship.isToMany && !relationship.isTransient
      {
        let kinds = relationship.isOrdered ? [KeySpace.order, KeySpace.rank] : [KeySpace.link]
        for kind in kinds { links[kind, default: []].insert(schema.number(of: relationship)) }
      }
    }
    let known: [UInt8: Set<UInt16>] = [
      KeySpace.row: roots, KeySpace.external: roots, KeySpace.counter: roots, KeySpace.rewriting: roots,
      KeySpace.index: indexes,
    ].merging(links) { first, _ in first }
    try view.scan(.all) { key, value in
      switch key[0] {
      case KeySpace.schema, KeySpace.newestHistory, KeySpace.deletedHistory, KeySpace.metadata:
        if key.count != 1 { self.reportStray(key) }
      case KeySpace.consumer: try self.checkConsumer(key, value)
      case KeySpace.replica, KeySpace.historyBytes: if key.count != 1 { self.reportStray(key) }
      case KeySpace.foreignObject: if key.count != 13 { self.reportStray(key) }
      case KeySpace.stamp, KeySpace.foreignKey:
        if !roots.contains(try KeySpace.number(of: key)) { self.reportStray(key) }
      case KeySpace.history: if key.count != 9 { self.reportStray(key) }
      default:
        let number = key.count < 3 ? nil : try KeySpace.number(of: key)
        if number.map({ known[key[0]]?.contains($0) == true }) != true { self.reportStray(key) }
      }
      return true
    }
  }

  private func checkConsumer(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
    do {
      let name = try KeySpace.consumerName(of: key)
      let record = try ConsumerRecord(decoding: value, of: name)
      guard record.transaction > view.generation else { return }
      report(
        "the consumer \"\(name)\" has seen transaction \(record.transaction), but the newest generation is \(view.generation)"
      )
    } catch {
      report(error.message)
    }
  }

  func reportStray(_ key: UnsafeRawBufferPointer) { report(HeartwoodError.damagedKey(key).message) }

  /// The name of a row in findings.
  func name(_ entity: EntityDescription, _ key: UInt64) -> String { "\(entity.displayName) \(key)" }

  /// The row; nil if it is missing or damaged. `checkRows` reports the damage.
  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView? {
    do {
      return try view.row(root, key)
    } catch let error as HeartwoodError where error.underlying == nil {
      return nil
    }
  }
}

/// The history.
extension StoreVerifier {
  private func checkHistory() throws {
    // A record behind deleted ones says that it follows the one before those.
    var previous = try view.number(KeySpace.deletedHistoryKey) ?? 0
    try view.scan(.prefix([KeySpace.history])) { key, value in
      let number = try KeySpace.lastNumber(key)
      do {
        let record = try HistoryCoding.decode(value, number: number, self.schema)
        self.check(record, after: previous)
      } catch let error as HeartwoodError {
        self.report(error.message)
      }
      previous = number
      return true
    }
    let newest = try view.number(KeySpace.newestHistoryKey) ?? 0
    if newest != previous {
      report("the newest transaction with a history is \(previous), but the store says \(newest)")
    }
    if previous > view.generation {
      report("there is a history of transaction \(previous), but the newest generation is \(view.generation)")
    }
  }

  private func check(_ record: HistoryRecord, after previous: UInt64) {
    if record.previous != previous {
      report(
        "the history of transaction \(record.number) follows \(previous), but says that it follows "
          + "\(record.previous)")
    }
    // The history of a migrated store leaves out entities that the model no longer has.
    if record.changes.isEmpty, !schema.record.isMigrated {
      report("the history of transaction \(record.number) has no changes")
    }
  }
}
