import HeartwoodBytes
import HeartwoodFiles

/// The rows of an incremental store as contexts read them.
///
/// A view for one reader keeps what it has read until `releaseRows()`; others ask the store whenever they are read. There are no indexes.
/// Fetches are requests to a store that executes them: see `IncrementalFetch`. Over other stores they are planned as over any view.
final class IncrementalView: MemberView, @unchecked Sendable {

  private struct State: @unchecked Sendable {
    /// Nil for rows that do not exist.
    var rows: [RowAddress: StoredRow?] = [:]
    var links: [LinkAddress: [UInt64]] = [:]
    /// Rows of a view that does not remember them, which are valid as long as it.
    var others: [StoredRow] = []
    var slab: RowSlab?
    var size = 0
  }

  private static let mostBytes = 1 << 20

  let contents: IncrementalContents
  let generation: UInt64
  /// The context on whose queue the view is read; nil for reads of others.
  private(set) weak var context: ManagedObjectContext?
  private let hasOneReader: Bool
  private let state = Guarded(State())
  /// Nil until it is used.
  private var madeForOtherQueues: IncrementalView?
  /// The row at which the scan of the one reader is, if the scan reads some of its values only.
  private var scanned: (any IncrementalStoreRow)?

  init(
    _ contents: IncrementalContents, _ generation: UInt64, _ context: ManagedObjectContext? = nil,
    hasOneReader: Bool = false
  ) {
    self.contents = contents
    self.generation = generation
    self.context = context
    self.hasOneReader = hasOneReader
  }

  var generations: StoreGenerations { StoreGenerations(contents.identity, generation) }

  /// Called on the context's queue.
  var forOtherQueues: any StoreView {
    if context == nil { return self }
    if let madeForOtherQueues { return madeForOtherQueues }
    let made = IncrementalView(contents, generation)
    madeForOtherQueues = made
    return made
  }

  var asksProgram: Bool { true }
  func has(_ entity: EntityDescription) -> Bool { contents.has(entity) }

  var convertsRows: Bool { true }
  func readsNeighbours(_ root: EntityDescription) -> Bool { false }

  func forOneReader() -> any StoreView {
    hasOneReader ? self : IncrementalView(contents, generation, context, hasOneReader: true)
  }

  func releaseRows() {
    guard hasOneReader else { return }
    state.withLock { if $0.size > Self.mostBytes { $0 = State() } }
  }

  // MARK: Rows

  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView? {
    guard key.isPermanentKey else { return nil }
    let place = RowAddress(root: root.number, key: key)
    if let known = state.withLock({ $0.rows[place] }) { return known?.view }
    if let scanned, scanned.number == key, scanned.entity.rootEntity === root {
      let bytes = try fitting(scanned) {
        try scanned.entity.row(version: scanned.version) { try scanned.value(at: $0) }
      }
      return keep(bytes, place).view
    }
    return try rows(root, [key]).first?.row.view
  }

  func load(_ root: EntityDescription, _ keys: [UInt64]) throws {
    guard hasOneReader else { return }
    let missing = state.withLock { state in
      keys.filter { $0.isPermanentKey && state.rows[RowAddress(root: root.number, key: $0)] == nil }
    }
    if missing.count > 1 { _ = try rows(root, missing) }
  }

  /// The rows of keys; those that do not exist are left out.
  func rows(_ root: EntityDescription, _ keys: [UInt64]) throws -> [(key: UInt64, row: StoredRow)] {
    let nodes = try contents.nodes(root, keys, context)
    var rows: [(key: UInt64, row: StoredRow)] = []
    rows.reserveCapacity(nodes.count)
    for node in nodes { rows.append((node.objectID.keyInItsStore, try row(of: node))) }
    guard hasOneReader else { return rows }
    let found = Set(rows.map(\.key))
    state.withLock { state in
      for key in keys where !found.contains(key) {
        state.rows[RowAddress(root: root.number, key: key)] = .some(nil)
      }
    }
    return rows
  }

  /// The row of a node.
  func row(of node: IncrementalStoreNode) throws -> StoredRow {
    try keep(
      contents.row(of: node, context),
      RowAddress(node.objectID.entity, node.objectID.keyInItsStore))
  }

  private func keep(_ bytes: [UInt8], _ address: RowAddress) -> StoredRow {
    state.withLock { state in
      let row = bytes.withUnsafeBytes { StoredRow(copying: $0, into: &state.slab) }
      state.size += bytes.count
      if hasOneReader { state.rows[address] = .some(row) } else { state.others.append(row) }
      return row
    }
  }

  // MARK: Relationships

  func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    guard key.isPermanentKey else { return }
    let place = LinkAddress(relationship, of: key)
    let known = state.withLock { $0.links[place] }
    let keys = try known ?? contents.destinations(relationship, of: [key], context)[key] ?? []
    if known == nil, hasOneReader { state.withLock { $0.links[place] = keys } }
    for key in keys where try !body(key) { return }
  }

  func load(_ relationship: RelationshipDescription, of keys: [UInt64]) throws {
    guard hasOneReader else { return }
    let missing = state.withLock { state in
      keys.filter { $0.isPermanentKey && state.links[LinkAddress(relationship, of: $0)] == nil }
    }
    guard missing.count > 1 else { return }
    let found = try contents.destinations(relationship, of: missing, context)
    state.withLock { state in
      for key in missing { state.links[LinkAddress(relationship, of: key)] = found[key] ?? [] }
    }
  }

  func links(
    _ relationship: RelationshipDescription, from first: UInt64, through last: UInt64,
    _ body: (UInt64, UInt64) throws -> Bool
  ) throws {
    guard let entity = relationship.entity else { return }
    var continues = true
    for key in try keys(of: entity) where continues && key >= first && key <= last {
      try destinations(relationship, of: key) { destination in
        continues = try body(key, destination)
        return continues
      }
    }
  }

  // MARK: Scans

  /// How many rows a scan reads at once.
  private static let scanned = 500

  func scanRows(
    of root: EntityDescription, from start: UInt64?, reversed: Bool, _ body: (FoundRow) throws -> Bool
  ) throws {
    guard contents.executesFetches else {
      return try contents.openStore().enumerateNodes(
        of: root, from: start.flatMap { $0 == 0 ? nil : $0 }, reversed: reversed, with: context
      ) { node in
        try contents.row(of: node, context).withUnsafeBytes { bytes in
          try body(FoundRow(key: node.objectID.keyInItsStore, row: RowView(unchecked: bytes)))
        }
      }
    }
    let keys = try keys(of: root).filter { key in start.map { reversed ? key <= $0 : key >= $0 } ?? true }
    for part in (reversed ? keys.reversed() : keys).inParts(of: Self.scanned) {
      let rows = Dictionary(
        try rows(root, Array(part)).map { ($0.key, $0.row) }, uniquingKeysWith: { first, _ in first })
      for key in part {
        guard let row = rows[key] else { continue }
        if try !body(FoundRow(key: key, row: row.view)) { return }
      }
    }
  }

  var readsSingleValues: Bool {
    guard hasOneReader, !contents.executesFetches else { return false }
    return (try? contents.openStore().readsSingleValues) ?? false
  }

  func scanRows(
    of root: EntityDescription, from start: UInt64?, reading slots: Set<Int>,
    _ body: (FoundRow) throws -> Bool
  ) throws {
    let rows = Dictionary(
      uniqueKeysWithValues: root.compiled.family.entities.map { ($0.number, PartialRows($0, reading: slots)) }
    )
    var current: (entity: EntityDescription, rows: PartialRows)?
    let outer = scanned
    defer { scanned = outer }
    try contents.openStore().enumerateRows(
      of: root, from: start.flatMap { $0 == 0 ? nil : $0 }, with: context
    ) { row in
      if row.entity !== current?.entity {
        current = rows[row.entity.number].map { (row.entity, $0) }
      }
      if scanned !== row { scanned = row }
      guard let bytes = try fitting(row, { try current?.rows.bytes(of: row) }) else { return true }
      return try bytes.withUnsafeBytes { bytes in
        try body(FoundRow(key: row.number, row: RowView(unchecked: bytes)))
      }
    }
  }

  private func fitting<Result>(
    _ row: any IncrementalStoreRow, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let unfit as UnfitValue {
      throw unfit.error(of: contents.identifier(row.entity, row.number))
    }
  }

  private func keys(of entity: EntityDescription) throws -> [UInt64] {
    guard contents.executesFetches else {
      var keys: [UInt64] = []
      try contents.openStore().enumerateObjectIDs(of: entity.rootEntity) { id in
        if id.entity.isKindOf(entity: entity) { keys.append(id.keyInItsStore) }
        return true
      }
      return keys
    }
    return try IncrementalFetch(all: entity, self).identifiers().map(\.keyInItsStore).sorted()
  }

  func rowCount(of root: EntityDescription) throws -> Int {
    guard contents.executesFetches else { return try contents.openStore().objectCount(of: root) }
    return try IncrementalFetch(all: root, self).count()
  }

  func rowKey(of root: EntityDescription, atRank rank: Int) throws -> UInt64? {
    try rowKeys(of: root, atRanks: [rank]).first
  }

  /// In one pass.
  func rowKeys(of root: EntityDescription, atRanks ranks: [Int]) throws -> [UInt64] {
    guard contents.executesFetches else {
      var (rank, waiting, found) = (0, ranks[...], [UInt64]())
      try contents.openStore().enumerateObjectIDs(of: root) { id in
        while waiting.first == rank {
          waiting.removeFirst()
          found.append(id.keyInItsStore)
        }
        rank += 1
        return !waiting.isEmpty
      }
      return found
    }
    let keys = try keys(of: root)
    return ranks.compactMap { keys.indices.contains($0) ? keys[$0] : nil }
  }

  // MARK: Features that the stores do not have

  func readEntries(_ reading: inout EntryReading, _ index: StoreIndex, atMost most: Int) throws {
    programError("An incremental store has no indexes.")
  }

  func next(of runs: inout RunReading, _ index: StoreIndex, elements: Int) throws -> IndexRun? { nil }

  func indexes(of entity: EntityDescription) -> [StoreIndex] { [] }

  func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws {
    programError("An incremental store has no indexes.")
  }

  func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool, skipping count: inout Int,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws {
    try scanEntries(index, range, reversed: reversed, body)
  }

  func forEachIndexRun(
    _ index: StoreIndex, _ range: IndexRange, elements: Int, _ body: (UInt64, Int) throws -> Bool
  ) throws -> Bool { false }

  func indexCount(_ index: StoreIndex, _ range: IndexRange) throws -> Int? { nil }

  func indexRunLength(_ index: StoreIndex, _ range: IndexRange, elements: Int, atRank rank: Int) throws
    -> Int
  { 0 }

  func readExternal(
    _ reference: ExternalReference, of attribute: AttributeDescription, _ key: UInt64, pieceBytes: Int,
    _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool { false }
}
