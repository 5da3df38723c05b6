import Foundation

/// Where a coordinator keeps rows: what contexts and fetches ask of any kind of store.
///
/// Reading goes through a view, which is one generation and never changes; writing through `save`, which
/// is one transaction. A store may be used from any thread.
protocol ObjectStore: AnyObject, Sendable {
  /// Which store identifiers name.
  var identity: StoreIdentity { get }
  /// The number of the newest generation; as cheap as an atomic load.
  var newestGeneration: UInt64 { get }

  /// The newest generation, kept as long as the view lives.
  func view() throws -> any StoreView
  /// A past generation, as far as the store still has it.
  func view(at generation: UInt64) throws -> any StoreView

  /// Runs the body under the writer lock and commits what it wrote, with its history, as one generation.
  ///
  /// - Returns: the body's result, and the generation that reading sees from now on. Where the body wrote
  ///   nothing, no transaction is made.
  /// - Throws: what the body throws, and `ConstraintViolations`; nothing is written then.
  func save<Result>(
    _ info: TransactionInfo, _ body: (any StoreTransaction) throws -> Result
  ) throws -> (Result, UInt64)

  /// Gives out keys for objects that are not saved yet; they are never given again.
  ///
  /// - Returns: the first of `count` consecutive keys.
  func reserveKeys(_ root: EntityDescription, _ count: Int) throws -> UInt64
}

/// One generation of a store.
///
/// Rows that a view hands out are valid as long as the view lives.
protocol StoreView: RowSource, Sendable {
  var generation: UInt64 { get }

  /// The indexes of this generation that cover every row of an entity: its own and its superentities', uniqueness
  /// constraints too.
  func indexes(of entity: EntityDescription) -> [StoreIndex]

  /// All rows of the family of a root entity in the order of their keys, until the body returns false.
  ///
  /// - Parameter start: the first key that counts; with `reversed` the last one.
  func scanRows(
    of root: EntityDescription, from start: UInt64?, reversed: Bool, _ body: (FoundRow) throws -> Bool
  ) throws
  /// How many rows the family of a root entity has. O(log n)
  func rowCount(of root: EntityDescription) throws -> Int
  /// The key of the row with `rank` rows before it in its family; nil past the end. O(log n)
  func rowKey(of root: EntityDescription, atRank rank: Int) throws -> UInt64?

  /// The keys of rows in the order of an index, equal values by key, until the body returns false.
  ///
  /// Where a bound is a long value, rows next to it that do not match may be among them.
  func scanIndex(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool, _ body: (UInt64) throws -> Bool
  ) throws
  /// How many entries of an index a range has, exactly; nil where a long value makes it uncertain. O(log n)
  func indexCount(_ index: StoreIndex, _ range: IndexRange) throws -> Int?

  /// The transactions after `number` that have a history, oldest first, until the body returns false.
  func history(after number: UInt64, _ body: (HistoryRecord) throws -> Bool) throws
}

/// The writing side of a save: sees the newest rows and everything it wrote itself.
///
/// Rows that it hands out are valid until the next change. Indexes and the to-many side of a relationship
/// with a to-one inverse follow from the rows; the ones that differ are written by `link`, `unlink` and
/// `setOrder`.
protocol StoreTransaction: RowSource {
  var identity: StoreIdentity { get }

  /// - Returns: the first of `count` consecutive keys, which no row has or had.
  func newKeys(_ root: EntityDescription, _ count: Int) throws -> UInt64

  /// - Parameters:
  ///   - entity: the entity itself, not one above it.
  ///   - row: bytes as `RowLayout` describes them, with lasting keys.
  func insert(_ entity: EntityDescription, _ key: UInt64, row: [UInt8]) throws

  /// Replaces a row.
  ///
  /// - Parameters:
  ///   - expectedVersion: the version that the changes were made from.
  ///   - row: nil where only to-many relationships changed: the version is neither checked nor raised.
  ///   - changedSlots: for the history.
  ///   - changedToMany: slots of changed to-many relationships, for the history.
  /// - Returns: what is there instead, if the row was changed or deleted since; nothing is written then.
  func update(
    _ entity: EntityDescription, _ key: UInt64, expectedVersion: UInt32, row: [UInt8]?,
    changedSlots: [Int], changedToMany: [Int]
  ) throws -> RowConflict?

  /// Removes a row, with the links that start at it. A row that is gone already is no conflict.
  func delete(_ entity: EntityDescription, _ key: UInt64, expectedVersion: UInt32) throws -> RowConflict?

  /// Adds a destination at the end, in both directions where there is an inverse; nothing where it is one.
  func link(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) throws
  /// Removes a destination, in both directions where there is an inverse; nothing where it is none.
  func unlink(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) throws
  /// Makes the destinations of an ordered relationship exactly these. The other direction is not touched.
  func setOrder(
    _ relationship: RelationshipDescription, _ source: UInt64, _ targets: [UInt64]
  ) throws
}

/// What a save tells the history about itself.
struct TransactionInfo: Sendable {
  var author: String?
  var contextName: String?
  /// Nil for the time by the store's clock.
  var date: Date?

  init(author: String? = nil, contextName: String? = nil, date: Date? = nil) {
    self.author = author
    self.contextName = contextName
    self.date = date
  }
}

/// A row that is not what a change was made from.
struct RowConflict: Sendable {
  let entity: EntityDescription
  let key: UInt64
  let expectedVersion: UInt32
  /// 0 where the row was deleted.
  let newestVersion: UInt32
  /// Nil where the row was deleted.
  let newestRow: [UInt8]?
}

/// Two rows that claim the same values.
struct ConstraintViolation: Sendable {
  /// The entity that declares the constraint.
  let entity: EntityDescription
  let constraint: [String]
  let values: [Value]
  /// The row that has the values already, or another one of the same save.
  let existingKey: UInt64
  /// A row of this save.
  let newKey: UInt64
}

/// Why a save was refused: values that must be unique would not be.
struct ConstraintViolations: Error {
  let violations: [ConstraintViolation]
}
