import Foundation

/// The store of a coordinator, or its several stores as one: the operations that contexts and fetches need of any kind of store.
///
/// A view reads one generation, which never changes. A store may be used from any thread.
protocol ObjectStore: AnyObject, Sendable {
  /// The store that object identifiers name.
  var identity: StoreIdentity { get }
  /// The number of the newest generation. As cheap as an atomic load.
  var newestGeneration: UInt64 { get }

  /// Checks that a kind of store can do something.
  ///
  /// - Throws: `.persistentStoreUnsupportedRequestType` if it cannot.
  func require(_ feature: StoreFeature) throws(HeartwoodError)

  /// The newest generation, which the store keeps while the view exists.
  func view() throws -> any StoreView
  /// Past generations.
  ///
  /// - Throws: `HeartwoodError` if the store no longer has its own, or if there is none for a store.
  func view(at generations: StoreGenerations) throws -> any StoreView

  /// Writes metadata that was set and not saved yet. Does nothing if there is none.
  func savePendingMetadata() throws
}

/// A store whose saves are transactions of rows. Each writes one generation.
protocol RowStore: ObjectStore {
  /// Runs the body under the writer lock and commits its writes, with their history, as one generation.
  ///
  /// - Parameter stores: The numbers of the stores that the body writes to, where there are several; without effect where there is one.
  /// - Returns: the body's result, and what was committed. No transaction is made if the body writes nothing.
  /// - Throws: errors of the body, and `ConstraintViolations`; nothing is written then. Errors of the commit
  ///   are `HeartwoodError`; see its `isOutcomeUnknown`. `IncompleteSave` if some stores have saved, and others have not.
  func commit<Result>(
    _ info: TransactionInfo, to stores: Set<Int>, _ body: (any StoreTransaction) throws -> Result
  ) throws -> (Result, CommittedSave)

  /// Reserves keys for objects that are not saved yet. A key is never assigned twice.
  ///
  /// - Parameter store: The number of the store, where there are several.
  /// - Returns: the first of `count` consecutive keys.
  func reserveKeys(_ root: EntityDescription, _ count: Int, in store: Int) throws -> UInt64
}

/// A generation of one store, or of each of several.
struct StoreGenerations: Sendable, Hashable {
  struct Member: Sendable, Hashable {
    let store: StoreIdentity
    let number: UInt64
  }

  let members: [Member]

  init(_ members: [Member]) { self.members = members }

  init(_ store: StoreIdentity, _ number: UInt64) { members = [Member(store: store, number: number)] }

  func number(of store: StoreIdentity) -> UInt64? { members.first { $0.store == store }?.number }
}

/// The generations after a save.
struct CommittedSave: Sendable {
  /// Those of the stores that have written.
  let written: StoreGenerations
  /// Those of all stores that reads see from now on.
  let newest: StoreGenerations
}

/// The error of a save to several stores of which some have committed, and others have not.
struct IncompleteSave: Error {
  /// The generations that the stores have made that have committed.
  let committed: StoreGenerations
  /// The numbers of the stores that have not.
  let failed: [(number: Int, store: StoreIdentity)]
  /// Why not.
  let cause: any Error
}

/// A feature that not every kind of store has.
enum StoreFeature: String {
  case history = "the history"
  case generations = "past generations"
  case backup = "incremental copies"
  case batchInserts = "batch inserts"
}

extension ObjectStore {
  func require(_ feature: StoreFeature) throws(HeartwoodError) {}
}

/// One generation of a store.
///
/// The rows that a view returns are valid while the view exists. If it `convertsRows`, those of a scan are valid until its body returns,
/// and others until `releaseRows()`.
protocol StoreView: RowSource, Sendable {
  /// A number that differs from that of every other state of the store.
  var generation: UInt64 { get }
  /// The generation of each store.
  var generations: StoreGenerations { get }
  /// Whether it shows several stores, so that values that must be unique in one may be there several times.
  var isOfSeveralStores: Bool { get }
  /// Whether rows may be of former models, and are converted.
  var convertsRows: Bool { get }
  /// A view of the same generation for one reader, on one thread, who releases converted rows: many may be read without keeping them all.
  /// The view itself if nothing is converted.
  func forOneReader() -> any StoreView
  /// Releases the converted rows of a view for one reader, if they have much memory. Does nothing to other views.
  func releaseRows()
  /// A view of the same generation with the objects of some of several stores. The view itself if it is of one.
  func restricted(to stores: Set<Int>) -> any StoreView
  /// A view of the same generation for readers that are not on the queue of the context that has it.
  var forOtherQueues: any StoreView { get }
  /// The view of the stored rows: the view itself, unless it shows unsaved rows.
  var stored: any StoreView { get }
  /// The unsaved rows over what is stored, those that hide the others first.
  var layers: [FrozenRows] { get }

  /// Whether rows of a root entity, and links, with keys next to each other cost less in a scan than one by one.
  func readsNeighbours(_ root: EntityDescription) -> Bool
  /// Says that rows are read next, so that they are read together. Does nothing where that costs no less.
  func load(_ root: EntityDescription, _ keys: [UInt64]) throws
  /// Says that destinations are read next, so that they are read together. Does nothing where that costs no less.
  func load(_ relationship: RelationshipDescription, of keys: [UInt64]) throws

  /// The indexes of this generation that cover every row of an entity: those of the entity and of its
  /// superentities, including uniqueness constraints.
  func indexes(of entity: EntityDescription) -> [StoreIndex]

  /// Calls `body` with the rows of a root entity's family in key order until it returns false.
  ///
  /// - Parameter start: the lower bound, inclusive, or with `reversed` the upper bound; nil for no bound.
  func scanRows(
    of root: EntityDescription, from start: UInt64?, reversed: Bool, _ body: (FoundRow) throws -> Bool
  ) throws
  /// Whether `scanRows(of:from:reading:_:)` costs less than a scan of whole rows.
  var readsSingleValues: Bool { get }
  /// As `scanRows`, ascending, with rows that have the values of some slots only, and null in the others. `row(_:_:)` has all of a row.
  ///
  /// - Precondition: The view `readsSingleValues`.
  func scanRows(
    of root: EntityDescription, from start: UInt64?, reading slots: Set<Int>,
    _ body: (FoundRow) throws -> Bool
  ) throws
  /// Calls `body` with the sources and destinations of a to-many relationship until it returns false: those of the sources from `first`
  /// to `last`, in the order of sources, each one's destinations in their order.
  func links(
    _ relationship: RelationshipDescription, from first: UInt64, through last: UInt64,
    _ body: (UInt64, UInt64) throws -> Bool
  ) throws
  /// The number of rows in the family of a root entity. O(log n)
  func rowCount(of root: EntityDescription) throws -> Int
  /// The key of the row with `rank` rows before it in its family; nil past the end. O(log n)
  func rowKey(of root: EntityDescription, atRank rank: Int) throws -> UInt64?
  /// The keys of the rows at ranks, which ascend; without those past the end.
  func rowKeys(of root: EntityDescription, atRanks ranks: [Int]) throws -> [UInt64]

  /// Calls `body` with the keys of rows in index order until it returns false. Rows with equal values are in key order.
  ///
  /// If a bound is a long value (see `IndexKey`), adjacent rows that do not match may be included.
  func scanIndex(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool, _ body: (UInt64) throws -> Bool
  ) throws
  /// As `scanIndex`, ascending, of an index of one property and the entries with one value of it.
  func scanIndex(_ index: StoreIndex, equal value: Value, _ body: (UInt64) throws -> Bool) throws
  /// As `scanIndex`, with the values of the entry as bytes; nil if they are cut. The bytes are valid until `body` returns.
  func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws
  /// As `scanEntries`, without the first `count` entries of a range whose entries all match: they are not read where the tree has their
  /// ranks. Takes from `count` how many were left out.
  func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool, skipping count: inout Int,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws
  /// Calls `body` for each group of entries that share the values of the first `elements`, with the key of the first one's row and the
  /// number of the range's entries in the group, until it returns false.
  ///
  /// - Returns: false if a long value makes the groups uncertain; the calls before mean nothing then.
  /// - Complexity: O(log n) for each group
  func forEachIndexRun(
    _ index: StoreIndex, _ range: IndexRange, elements: Int, _ body: (UInt64, Int) throws -> Bool
  ) throws -> Bool
  /// The exact number of an index's entries in a range; nil if a long value makes it uncertain. O(log n)
  func indexCount(_ index: StoreIndex, _ range: IndexRange) throws -> Int?

  /// Calls `body` with the pieces of data that is stored outside its row, in order, until it returns false.
  ///
  /// - Parameters:
  ///   - attribute: the attribute of the row's entity.
  ///   - pieceBytes: the largest size of a piece; the last one may be smaller.
  /// - Returns: whether this generation has the data.
  func readExternal(
    _ reference: ExternalReference, of attribute: AttributeDescription, _ key: UInt64, pieceBytes: Int,
    _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool

  /// The number of entries of an index that share the values of its first `elements` with one entry; 0 if there is no such entry. O(log n)
  ///
  /// - Parameter rank: how many entries of the range are before that one.
  func indexRunLength(_ index: StoreIndex, _ range: IndexRange, elements: Int, atRank rank: Int) throws -> Int
}

extension StoreView {
  var convertsRows: Bool { false }
  var isOfSeveralStores: Bool { false }
  func forOneReader() -> any StoreView { self }
  func releaseRows() {}
  func rowKeys(of root: EntityDescription, atRanks ranks: [Int]) throws -> [UInt64] {
    try ranks.compactMap { try rowKey(of: root, atRank: $0) }
  }
  var readsSingleValues: Bool { false }
  func scanRows(
    of root: EntityDescription, from start: UInt64?, reading slots: Set<Int>,
    _ body: (FoundRow) throws -> Bool
  ) throws {
    try scanRows(of: root, from: start, reversed: false, body)
  }

  func scanIndex(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool, _ body: (UInt64) throws -> Bool
  ) throws {
    try scanEntries(index, range, reversed: reversed) { key, _ in try body(key) }
  }
  func scanIndex(_ index: StoreIndex, equal value: Value, _ body: (UInt64) throws -> Bool) throws {
    try scanIndex(index, IndexRange(equal: [value]), reversed: false, body)
  }
  func restricted(to stores: Set<Int>) -> any StoreView { self }
  var forOtherQueues: any StoreView { self }
  var stored: any StoreView { self }
  var layers: [FrozenRows] { [] }
  func readsNeighbours(_ root: EntityDescription) -> Bool { true }
  func load(_ root: EntityDescription, _ keys: [UInt64]) throws {}
  func load(_ relationship: RelationshipDescription, of keys: [UInt64]) throws {}

  /// Calls `body` with the row of a key, nil if there is none. It is valid until `body` returns, and is not kept.
  @inline(__always)
  func withRow<Result>(
    _ root: EntityDescription, _ key: UInt64, _ body: (RowView?) throws -> Result
  ) throws -> Result {
    let reader = forOneReader()
    defer { withExtendedLifetime(reader) {} }
    return try body(try reader.row(root, key))
  }
}

extension StoreTransaction {
  func newKeys(of entity: EntityDescription, _ count: Int) throws -> [UInt64]? { nil }
  var keepsExternalData: Bool { true }
  func lookUp(_ indexes: [StoreIndex], _ rows: () -> [[UInt8]]) throws {}

  /// The first of new keys of the store, where there is one.
  func newKeys(_ root: EntityDescription, _ count: Int) throws -> UInt64 { try newKeys(root, count, in: 0) }
}

/// The write side of a save: sees the newest rows and its own writes.
///
/// Rows that it returns are valid until the next change. The store derives from the rows the index entries and the links of an unordered
/// relationship with a to-one inverse. `link`, `unlink` and `setOrder` write the other relationships.
protocol StoreTransaction: RowSource {
  var identity: StoreIdentity { get }
  /// The changes of rows so far, in the order in which they were made.
  var changes: [HistoryChange] { get }

  /// Writes the entries that are derived from the rows written so far, if they are not written yet: `keys(in:like:)` finds them.
  func writeEntries() throws
  /// The state that the transaction sees now, to find rows in it. The view is valid until the next change.
  func view() throws -> any StoreView
  /// The keys of the rows that have the same values as `row` in the columns of a unique index, among those whose entries are written.
  func keys(in index: StoreIndex, like row: RowView) throws -> [UInt64]

  /// - Returns: the first of `count` consecutive keys, none of which was ever assigned.
  ///
  /// - Parameter store: The number of the store, where there are several.
  func newKeys(_ root: EntityDescription, _ count: Int, in store: Int) throws -> UInt64

  /// As many keys of new rows of an entity, of a store that does not have consecutive ones; nil for other stores.
  func newKeys(of entity: EntityDescription, _ count: Int) throws -> [UInt64]?

  /// Whether large data is stored outside its row.
  var keepsExternalData: Bool { get }

  /// Says that `keys(in:like:)` is called with these rows next, so that they are looked up together.
  func lookUp(_ indexes: [StoreIndex], _ rows: () -> [[UInt8]]) throws

  /// Has later keys be above one that a new row has already.
  func noteGivenKey(_ key: UInt64, _ root: EntityDescription) throws

  /// The version of a row that is inserted again under the key of a deleted one: greater than any that the former row has had, so that
  /// those who have read that meet a conflict.
  func versionOfRestoredRow(_ key: UInt64) throws -> UInt32

  /// Inserts a row.
  ///
  /// - Parameters:
  ///   - entity: the row's own entity, not a superentity.
  ///   - row: bytes in the form of `RowLayout`, with permanent keys; with its derived values on return, except those that depend on other rows.
  /// - Throws: `.persistentStoreSave` if there is a row with the key.
  func insert(_ entity: EntityDescription, _ key: UInt64, row: inout [UInt8]) throws

  /// Replaces a row.
  ///
  /// - Parameters:
  ///   - expectedVersion: the version that the changes are based on.
  ///   - row: with derived values on return as for `insert`. Nil if only to-many relationships changed; the version is then neither checked nor incremented.
  ///   - changedSlots: for the history.
  ///   - changedToMany: slots of changed to-many relationships, for the history.
  /// - Returns: the conflict if the row was changed or deleted since; nothing is written then.
  func update(
    _ entity: EntityDescription, _ key: UInt64, expectedVersion: UInt32, row: inout [UInt8]?,
    changedSlots: [Int], changedToMany: [Int]
  ) throws -> RowConflict?

  /// Deletes a row and the links that start at it.
  ///
  /// - Returns: the conflict if the row was changed since; nothing is written then. A row that is already deleted is no conflict.
  func delete(_ entity: EntityDescription, _ key: UInt64, expectedVersion: UInt32) throws -> RowConflict?

  /// Writes data outside the row that `insert` or `update` then writes with the reference.
  func putExternal(_ data: Data, of attribute: AttributeDescription, _ key: UInt64) throws
    -> ExternalReference

  /// Appends a destination, in both directions if the inverse is to-many. Does nothing if it is a destination
  /// already, or if the links of the relationship are derived from rows.
  func link(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) throws
  /// Removes a destination, in both directions if the inverse is to-many. Does nothing if it is no
  /// destination, or if the links of the relationship are derived from rows.
  func unlink(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) throws
  /// Replaces the destinations of an ordered relationship. Does not change the inverse.
  func setOrder(
    _ relationship: RelationshipDescription, _ source: UInt64, _ targets: [UInt64]
  ) throws
  /// Brings the orders that this save has touched into agreement with the to-one values of their destinations. Those decide:
  /// a destination is in the order of the object that its row refers to, at the end if it was not, and in no other.
  ///
  /// - Returns: the orders that had to be changed, by relationship and source.
  func reconcileOrders() throws -> [(relationship: RelationshipDescription, source: UInt64)]
  /// Computes the derived values that depend on other rows than their own, of the rows that this save has changed and of those that
  /// read changed ones. Their versions stay.
  ///
  /// - Returns: the rows that have other values now.
  /// - Complexity: for each, linear in the rows that its values are computed from.
  func deriveValues() throws -> [DerivedRow]
}
