import Heartwood
import HeartwoodSQLite

/// The table of a root entity and of all entities below it, and which columns have their properties.
final class EntityTable: @unchecked Sendable {
  /// How the stored properties of an entity are read from a row, in the order of `EntityDescription.storedProperties`.
  final class Reader: @unchecked Sendable {
    let entity: EntityDescription
    let cells: [Cell]
    /// The same without references, which are counted.
    let plain: [PlainCell?]

    init(_ entity: EntityDescription, _ cells: [Cell]) {
      (self.entity, self.cells) = (entity, cells)
      plain = cells.map(PlainCell.init)
    }
  }

  /// Where a value is that the row has itself.
  struct PlainCell {
    let column: Int
    let kind: CellKind

    /// Nil for a property whose value is made of more than a cell.
    init?(_ cell: Cell) {
      guard let column = cell.column else { return nil }
      switch cell.kind {
      case .external, .reference, .none: return nil
      default: (self.column, kind) = (column, cell.kind)
      }
    }
  }

  /// Where a property's value is.
  struct Cell {
    let property: PropertyDescription
    /// Nil for an attribute.
    let relationship: RelationshipDescription?
    let kind: CellKind
    /// Nil for a property without a column: it has no value.
    let column: Int?
  }

  let root: EntityDescription
  let table: SQLiteTable
  /// The encoding of text in the file.
  let encoding: SQLiteTextEncoding
  /// The column with the numbers of entities; nil if all rows are of one entity: as in Core Data, the number in a row then means nothing.
  let entityColumn: Int?
  /// Nil if the table has no such column.
  let versionColumn: Int?
  /// By the numbers of entities in the file.
  private(set) var readers: [Int64: Reader] = [:]
  /// The number of the entity of all rows, where they are of one.
  private(set) var onlyNumber: Int64?
  let keys = ObjectKeys()
  /// By the identities of properties that entities declare.
  private var columns: [ObjectIdentifier: Int] = [:]
  /// The columns with the numbers of destinations' entities, by those of to-one relationships. They are known only so that they are of nothing
  /// else: the row of a destination says which entity it has.
  private var entityColumns: [Int: Int] = [:]

  /// - Parameters:
  ///   - isShared: Whether rows may be of other entities than the root, also such that the model does not have.
  ///   - checksTypes: Whether an attribute's column has to be declared for its type.
  ///   - missing: Gets the names of attributes that have no column.
  init(
    _ root: EntityDescription, _ table: SQLiteTable, _ encoding: SQLiteTextEncoding, _ numbers: EntityNumbers,
    isShared: Bool, checksTypes: Bool, _ missing: inout [String]
  ) {
    self.root = root
    self.table = table
    self.encoding = encoding
    entityColumn = isShared ? table.columnIndex(named: "Z_ENT") : nil
    versionColumn = table.columnIndex(named: "Z_OPT")
    let family = root.family.sorted { numbers.number(of: $0) ?? .max < numbers.number(of: $1) ?? .max }
    var names = ColumnNames(table)
    // A property's column by its entity and name; subentities inherit it.
    var places: [String: Int] = [:]
    func key(_ entity: EntityDescription, _ name: String) -> String { "\(entity.name ?? "") \(name)" }
    for entity in family {
      let inherited = Set((entity.superentity?.storedProperties ?? []).map(\.name))
      for property in entity.storedProperties where !inherited.contains(property.name) {
        let leaf = property.name.split(separator: ".").last.map(String.init) ?? property.name
        let kind = CellKind(property)
        guard let place = names.take("Z" + leaf, kind.declared, onlyOfKind: checksTypes) else {
          // Only rows of entities that the file has can have values.
          let isThere = entity.family.contains { numbers.number(of: $0) != nil }
          if isThere, property is AttributeDescription {
            missing.append("\(entity.name ?? "").\(property.name)")
          }
          continue
        }
        places[key(entity, property.name)] = place
        columns[ObjectIdentifier(property)] = place
      }
    }
    takeEntityColumns(family, numbers, &names)
    for entity in family {
      guard let number = numbers.number(of: entity) ?? (isShared ? nil : 0), !entity.isAbstract else {
        continue
      }
      let cells = entity.storedProperties.map { property in
        var (owner, place) = (EntityDescription?.some(entity), Int?.none)
        while place == nil, let declaring = owner {
          place = places[key(declaring, property.name)]
          owner = declaring.superentity
        }
        return Cell(
          property: property, relationship: property as? RelationshipDescription, kind: CellKind(property),
          column: place)
      }
      readers[number] = Reader(entity, cells)
    }
    onlyNumber = readers.keys.first
  }

  /// Finds the columns with the entities of destinations: `Z12_OWNER` beside `ZOWNER`.
  private func takeEntityColumns(
    _ family: [EntityDescription], _ numbers: EntityNumbers, _ names: inout ColumnNames
  ) {
    for entity in family {
      for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
        guard !relationship.isToMany, let column = columns[ObjectIdentifier(relationship)],
          entityColumns[column] == nil,
          relationship.destinationEntity?.subentities.isEmpty == false
        else { continue }
        let own = numbers.number(of: entity)
        let place = names.take { name in
          guard name.hasPrefix("Z"), let parts = NumberedName(name.dropFirst()), parts.name.hasPrefix("_"),
            let rank = parts.rank(of: "_" + relationship.name)
          else { return nil }
          return parts.number == own ? (0, rank) : (1, rank)
        }
        if let place { entityColumns[column] = place }
      }
    }
  }

  /// The columns that are of no property: not those with keys and orders, which relationships have beside their own.
  var otherColumns: [String] {
    let taken = takenColumns
    return table.columns.indices.filter { !taken.contains($0) }.map { table.columns[$0].name.uppercased() }
      .filter {
        !$0.hasPrefix("Z_") && NumberedName($0.dropFirst()) == nil
      }
  }

  /// The columns of properties, and those with entities of destinations.
  var takenColumns: Set<Int> { Set(columns.values).union(entityColumns.values) }

  /// The column of a to-one relationship that an entity of the table declares.
  func column(of property: PropertyDescription) -> Int? { columns[ObjectIdentifier(property)] }

  /// The column by which the rows with a foreign key are ordered: `Z_FOK_OWNER` beside `ZOWNER`.
  func order(of column: Int) -> Int? {
    let name = table.columns[column].name.uppercased().dropFirst()
    let plain = String(name.reversed().drop { ("0"..."9").contains($0) }.reversed())
    return table.columnIndex(named: "Z_FOK_\(name)") ?? table.columnIndex(named: "Z_FOK_\(plain)")
  }
}

/// How a value is read.
enum CellKind {
  case integer16, integer32, integer64, boolean, double, float, date, decimal, text, uri, uuid, bytes
  /// Bytes that may be in a file beside the store.
  case external
  /// The primary key of another object.
  case reference
  /// A kind of value that no store has.
  case none

  init(_ property: PropertyDescription) {
    guard !(property is RelationshipDescription) else {
      self = .reference
      return
    }
    guard let attribute = property as? AttributeDescription else {
      self = .none
      return
    }
    self =
      switch attribute.type {
      case .integer16: .integer16
      case .integer32: .integer32
      case .integer64: .integer64
      case .boolean: .boolean
      case .double: .double
      case .float: .float
      case .date: .date
      case .decimal: .decimal
      case .string: .text
      case .uri: .uri
      case .uuid: .uuid
      case .binaryData: attribute.allowsExternalBinaryDataStorage ? .external : .bytes
      case .transformable: attribute.allowsExternalBinaryDataStorage ? .external : .bytes
      case .undefined, .composite: .none
      }
  }

  /// The kind of value that the column is declared for.
  var declared: ColumnNames.Kind {
    switch self {
    case .integer16, .integer32, .integer64, .boolean, .reference, .none: .integer
    case .double, .float: .number
    case .date: .date
    case .decimal: .decimal
    case .text, .uri: .text
    case .uuid, .bytes, .external: .bytes
    }
  }
}
