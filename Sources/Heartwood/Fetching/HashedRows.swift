/// A source of rows that has read all rows of some entities into hash tables, because so many of them are needed that finding each in the
/// tree would cost more.
///
/// A table is filled when the first row of its entity is needed.
final class HashedRows: RowSource {
  private let source: any RowSource
  private let view: any StoreView
  private var tables: [UInt16: [UInt64: RowView]] = [:]
  let roots: [EntityDescription]

  /// - Precondition: The source has no unsaved changes of these entities, and the view's rows stay valid.
  init(_ source: any RowSource, _ view: any StoreView, _ roots: [EntityDescription]) {
    self.source = source
    self.view = view
    self.roots = roots
  }

  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView? {
    if let table = tables[root.number] { return table[key] }
    guard roots.contains(where: { $0 === root }) else { return try source.row(root, key) }
    var table: [UInt64: RowView] = [:]
    table.reserveCapacity(try view.rowCount(of: root))
    try view.scanRows(of: root, from: nil, reversed: false) { found in
      table[found.key] = found.row
      return true
    }
    tables[root.number] = table
    return table[key]
  }

  func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    try source.destinations(relationship, of: key, body)
  }

  func destinationCount(_ relationship: RelationshipDescription, of key: UInt64) throws -> Int {
    try source.destinationCount(relationship, of: key)
  }

  func hasDestination(
    _ relationship: RelationshipDescription, _ target: UInt64, of key: UInt64
  ) throws -> Bool {
    try source.hasDestination(relationship, target, of: key)
  }

  func count(_ counts: inout WordCounts) throws { try source.count(&counts) }
}

/// How the rows of related objects are found.
struct RelatedRows {
  let root: EntityDescription
  let count: Int
  let isHashed: Bool

  /// The most rows of a hash table, which has about 50 bytes for each.
  private static var greatestTable: Int { 200_000 }
  /// Of a row that is read into a hash table, in rows of a scan.
  private static var costOfHashing: Double { 2 }
  /// Of a row in a hash table.
  private static var costOfHash: Double { 0.5 }

  /// - Parameter reads: How often a row of the entity is needed.
  init(_ root: EntityDescription, reads: Double, in view: any StoreView, canHash: Bool) throws {
    self.root = root
    count = try view.rowCount(of: root)
    let hashing = Double(count) * Self.costOfHashing + reads * Self.costOfHash
    isHashed = canHash && count <= Self.greatestTable && hashing < reads * Planner.costOfLookup
  }

  var text: String {
    let name = root.displayName
    return isHashed ? "join: hash table of \(name)" : "join: look-ups of \(name)"
  }
}

extension FetchExecution {
  /// The related rows that the condition, the order and the results read, each way chosen by counts.
  func relatedRows() throws -> [RelatedRows] {
    guard !plan.access.isRequested else { return [] }
    let predicate = plan.isFilterServed ? [] : plan.filter?.reachedRoots ?? []
    let sort = request.sort?.reachedRoots ?? []
    guard !(predicate.isEmpty && sort.isEmpty && request.reachedRoots.isEmpty) else { return [] }
    var reads: [(root: EntityDescription, count: Double)] = []
    func add(_ roots: [EntityDescription], _ count: Double) {
      for root in roots {
        if let place = reads.firstIndex(where: { $0.root === root }) {
          reads[place].count += count
        } else {
          reads.append((root, count))
        }
      }
    }
    let (read, matching) = (Double(expectedReads(plan.matches)), Double(plan.matches))
    add(predicate, read)
    if case .sorted = plan.order {
      let depth = Double(max(1, Int(matching).bitWidth - Int(matching).leadingZeroBitCount))
      add(sort, request.sort?.isComputed == true ? matching : 2 * matching * depth)
    }
    add(request.reachedRoots, min(matching, Double(request.window ?? .max)))
    return try reads.map { part in
      try RelatedRows(
        part.root, reads: part.count, in: view,
        canHash: !view.convertsRows && !changedRoots.contains(part.root.number))
    }
  }

  /// The same execution with hash tables where they are cheaper.
  func withHashedRows() throws -> FetchExecution {
    guard !view.convertsRows else { return self }
    let roots = try relatedRows().filter(\.isHashed).map(\.root)
    guard !roots.isEmpty else { return self }
    var execution = self
    execution.source = HashedRows(source, view, roots)
    return execution
  }
}
