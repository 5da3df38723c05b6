/// An index of a store: entries in the order of some properties' values, for all rows of an entity and its
/// subentities.
///
/// A full-text index has one text property, and an entry for each different word of it. A range index has two numbers. A unique index enforces a
/// uniqueness constraint. These two have no entry for a row in which one of the values is nil.
final class StoreIndex: Sendable {
  /// Assigned by the store and never reused.
  let number: UInt16
  let name: String
  /// The entity that declares the index.
  let entity: EntityDescription
  /// The indexed properties, the most significant first.
  let slots: [Int]
  let columns: [Column]
  let kind: Kind

  /// What entries an index has. The raw values are in schema records.
  enum Kind: UInt8 {
    /// One for each row, in the order of the values.
    case ordered = 0
    /// The same, without two of equal values.
    case unique = 1
    /// One for each different word of a row.
    case words = 2
    /// One for each row that has both values, in the order of their `BoxCode`.
    case ranges = 3

    /// Whether an index of the kind can have columns of these kinds.
    func suits(_ columns: [ColumnKind]) -> Bool {
      switch self {
      case .ordered, .unique: !columns.isEmpty
      case .words: columns == [.string]
      case .ranges:
        columns.count == 2
          && columns.allSatisfy { [.int16, .int32, .int64, .double, .float, .date].contains($0) }
      }
    }
  }

  init(number: UInt16, name: String, entity: EntityDescription, slots: [Int], kind: Kind) {
    self.number = number
    self.name = name
    self.entity = entity
    self.slots = slots
    columns = slots.map { entity.layout.columns[$0] }
    self.kind = kind
  }

  var isUnique: Bool { kind == .unique }
  /// Whether the entries are in the order of the values, and have them.
  var isOrdered: Bool { kind == .ordered || kind == .unique }

  var propertyNames: [String] { slots.map { entity.property(at: $0).name } }
}
