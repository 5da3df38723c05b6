/// An index of a store: entries in the order of some properties' values, for all rows of an entity and its
/// subentities, or for those that satisfy a condition.
///
/// A full-text index has one text property, and an entry for each different word of it. A range index has two numbers. A unique index enforces a
/// uniqueness constraint. These two have no entry for a row in which one of the values is nil.
final class StoreIndex: Sendable {
  /// Assigned by the store and never reused.
  let number: UInt16
  let name: String
  /// The entity that declares the index.
  let entity: EntityDescription
  /// The indexed properties and expressions, the most significant first; an expression's number is that of `IndexedExpression`.
  let slots: [Int]
  /// The columns that entries depend on: those of the properties in their order, then those that expressions read.
  let columns: [Column]
  let kind: Kind
  /// The elements of entries, if there are expressions among them; empty otherwise.
  let elements: [Element]
  /// Which rows have entries; nil for all.
  let condition: IndexCondition?
  /// The columns of the entries and those that the condition reads.
  let watchedColumns: [Column]

  /// A property or an expression.
  enum Element: Sendable {
    case column(Column)
    case expression(IndexedExpression)
  }

  /// The kinds of entries of an index. The raw values are in schema records.
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

  /// - Parameter expressions: Those of the index's expressions, by their numbers.
  init(
    number: UInt16, name: String, entity: EntityDescription, slots: [Int], kind: Kind,
    expressions: [Int: IndexedExpression] = [:], condition: IndexCondition? = nil
  ) {
    self.number = number
    self.name = name
    self.entity = entity
    self.slots = slots
    self.kind = kind
    self.condition = condition
    let columns =
      slots.filter { !$0.isOfExpression }.map { entity.layout.columns[$0] }
      + slots.flatMap { expressions[$0]?.columns ?? [] }
    self.columns = columns
    watchedColumns = columns + (condition?.columns ?? [])
    elements =
      expressions.isEmpty
      ? [] : slots.map { expressions[$0].map(Element.expression) ?? .column(entity.layout.columns[$0]) }
  }

  /// The values of a row in the columns of an index without expressions.
  func values(of row: RowView, _ store: StoreIdentity) -> [Value] {
    slots.map { row.value(entity.layout.columns[$0], layout: entity.layout, store: store) }
  }

  var hasExpressions: Bool { !elements.isEmpty }

  var isUnique: Bool { kind == .unique }
  /// Whether the entries are in the order of the values, and have them.
  var isOrdered: Bool { kind == .ordered || kind == .unique }

  /// The names of the properties, and the expressions.
  var propertyNames: [String] { slots.map { entity.elementName(at: $0) } }
}

extension HeartwoodError {
  /// An index has an entry of a row that is not there.
  static func missingRow(_ key: UInt64, _ index: StoreIndex, _ root: EntityDescription) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreDamaged,
      "the index \(index.name) of \(root.displayName) names the row p\(key), which does not exist; "
        + "verify the store")
  }
}
