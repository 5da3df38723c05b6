import Heartwood
import HeartwoodSQLite

/// Where the objects of a model are in a file: the tables of its root entities, their columns, and the tables of links.
///
/// All of it is found by what exists in the file; nothing follows from an order.
final class StoreTables: @unchecked Sendable {
  let file: AppleStoreFile
  let model: ManagedObjectModel
  let numbers: EntityNumbers
  /// By the identities of root entities. None for a root without a table.
  private(set) var tables: [ObjectIdentifier: EntityTable] = [:]
  /// By the identities of to-many relationships.
  private(set) var routes: [ObjectIdentifier: LinkRoute] = [:]
  /// What is in the file and not in the model, and the other way round: sentences.
  private(set) var notes: [String] = []

  /// - Parameter kept: The model that the file keeps; nil for none.
  /// - Throws: `.persistentStoreIncompatibleVersionHash` if an entity of the model has no table, an attribute no column, or a property
  ///   another meaning than in the model that the file keeps.
  init(_ file: AppleStoreFile, _ model: ManagedObjectModel, kept: ManagedObjectModel?) throws {
    self.file = file
    self.model = model
    numbers = EntityNumbers(file, model)
    var missing: [String] = []
    for root in model.entities where root.superentity == nil {
      try add(root, checksTypes: kept == nil, &missing)
    }
    if let kept { missing += ModelDifferences(file, numbers, kept).properties(of: model) }
    let unknown = addRoutes()
    if kept == nil { missing += unknown }
    guard missing.isEmpty else { throw Self.unfit(file, missing) }
    notes += unknown.map { "the links of \($0) are not found in the file, and are left out" }
    for table in tables.values.sorted(by: { $0.table.name < $1.table.name }) {
      for column in table.otherColumns {
        notes.append(
          "the model has no property for the column \(table.table.name).\(column), whose values are left out")
      }
    }
    notes += Self.transformables(model)
    for stored in numbers.unknown where file.database.table(named: "Z\(rootName(stored))") != nil {
      notes.append(
        "the model has no entity \(stored.name), which is number \(stored.number) in the file: its objects are left out"
      )
    }
  }

  /// Says which values no transformer reads.
  private static func transformables(_ model: ManagedObjectModel) -> [String] {
    let known = Set(ValueTransformers.names)
    let names = model.entities.flatMap { entity in
      entity.attributesByName.values.filter {
        $0.type == .transformable && $0.entity === entity && !known.contains($0.valueTransformerName ?? "")
      }.map { "\(entity.name ?? "").\($0.name)" }
    }.sorted()
    guard !names.isEmpty else { return [] }
    let list =
      names.prefix(8).joined(separator: ", ") + (names.count > 8 ? " and \(names.count - 8) more" : "")
    return ["values are bytes, as no transformer of their attribute is registered: those of \(list)"]
  }

  /// - Returns: The relationships whose links are not found.
  private func addRoutes() -> [String] {
    var unknown: [String] = []
    for entity in model.entities {
      for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
      where relationship.entity === entity && relationship.isToMany && !relationship.isTransient
        && routes[ObjectIdentifier(relationship)] == nil
      {
        guard let destination = relationship.destinationEntity, table(of: entity) != nil,
          let table = table(of: destination)
        else { continue }
        addRoute(relationship, from: entity, to: table)
        if routes[ObjectIdentifier(relationship)] == nil {
          unknown.append("\(entity.name ?? "").\(relationship.name)")
        }
      }
    }
    return unknown
  }

  private static func unfit(_ file: AppleStoreFile, _ missing: [String]) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreIncompatibleVersionHash,
      "the store at \(file.url.path) was written with another model: it does not have \(Array(Set(missing)).sorted().prefix(6).joined(separator: ", "))"
        + "\(missing.count > 6 ? " and \(missing.count - 6) more" : ""). Open it with the model of its version (commands take one with --model), "
        + "move it to a store of type Log, and migrate that")
  }

  /// Whether the model has all entities of the file, and all columns of their tables.
  var isWhole: Bool {
    numbers.unknown.isEmpty && numbers.entities.count == model.entities.count
      && tables.values.allSatisfy { $0.otherColumns.isEmpty }
  }

  /// The table of an entity; nil if the file has none.
  func table(of entity: EntityDescription) -> EntityTable? { tables[ObjectIdentifier(entity.root)] }

  /// The name of the root entity of an entity of the file.
  private func rootName(_ stored: AppleStoreFile.Entity) -> String {
    var (stored, seen) = (stored, 0)
    while stored.superentity != 0, seen < file.entities.count,
      let parent = file.entities.first(where: { $0.number == stored.superentity })
    {
      (stored, seen) = (parent, seen + 1)
    }
    return stored.name.uppercased()
  }

  // MARK: Entities

  private func add(_ root: EntityDescription, checksTypes: Bool, _ missing: inout [String]) throws {
    let names = [
      numbers.number(of: root).flatMap { number in file.entities.first { $0.number == number }?.name },
      root.name,
    ]
    guard
      let table = names.lazy.compactMap({ $0 }).compactMap({ [file] in
        file.database.table(named: "Z\($0.uppercased())")
      }).first
    else {
      // A model may have entities of other configurations.
      if numbers.number(of: root) != nil { missing.append("a table of \(root.name ?? "")") }
      return
    }
    let isShared =
      !root.subentities.isEmpty || numbers.unknown.contains { "Z\(rootName($0))" == table.name.uppercased() }
    tables[ObjectIdentifier(root)] = EntityTable(
      root, table, numbers, isShared: isShared, checksTypes: checksTypes, &missing)
  }

  // MARK: To-many relationships

  private func addRoute(
    _ relationship: RelationshipDescription, from entity: EntityDescription, to table: EntityTable
  ) {
    guard let inverse = relationship.inverseRelationship else {
      // Without an inverse the key of the source is in the table of the destination, under the number of the source's entity.
      routes[ObjectIdentifier(relationship)] = foreign(
        relationship, numbered: numbers.number(of: entity), table)
      return
    }
    guard inverse.isToMany else {
      guard let column = table.column(of: inverse) else { return }
      routes[ObjectIdentifier(relationship)] = .foreign(
        ForeignKey(
          file.database, table, column: column, order: relationship.isOrdered ? table.order(of: column) : nil)
      )
      return
    }
    guard let join = JoinTable(relationship, inverse, numbers, file.database, taken: joins) else { return }
    routes[ObjectIdentifier(relationship)] = .join(join)
    if inverse !== relationship { routes[ObjectIdentifier(inverse)] = .join(join.reversed) }
  }

  private func foreign(
    _ relationship: RelationshipDescription, numbered number: Int64?, _ table: EntityTable
  ) -> LinkRoute? {
    let columns = table.table.columns
    func place(_ beginning: String, isNumber: (Int64) -> Bool) -> Int? {
      columns.firstIndex { column in
        let name = column.name.uppercased()
        guard name.hasPrefix(beginning), let parts = NumberedName(name.dropFirst(beginning.count)) else {
          return false
        }
        return isNumber(parts.number) && parts.isName(of: relationship.name)
      }
    }
    guard let column = place("Z", isNumber: { $0 == number }) ?? place("Z", isNumber: { _ in true }) else {
      return nil
    }
    let order = relationship.isOrdered ? table.order(of: column) : nil
    return .foreign(ForeignKey(file.database, table, column: column, order: order))
  }

  /// The names of the tables of links that are found already.
  private var joins: Set<String> {
    Set(
      routes.values.compactMap { route in
        if case .join(let join) = route { return join.table.name }
        return nil
      })
  }
}

/// How the destinations of a to-many relationship are found.
enum LinkRoute: Sendable {
  /// By a column of their own table.
  case foreign(ForeignKey)
  /// By a table of links.
  case join(JoinTable)
}

/// A column with primary keys of another table.
struct ForeignKey: Sendable {
  let table: EntityTable
  let column: Int
  /// The column by which destinations are ordered.
  let order: Int?
  /// Nil if the file has none: then all rows are read once.
  let index: SQLiteIndex?

  init(_ database: SQLiteDatabase, _ table: EntityTable, column: Int, order: Int?) {
    self.table = table
    self.column = column
    self.order = order
    index = database.index(of: table.table, beginningWith: column)
  }
}

extension SQLiteDatabase {
  /// An index of all rows of a table that begins with a column.
  func index(of table: SQLiteTable, beginningWith column: Int) -> SQLiteIndex? {
    let name = table.columns[column].name.uppercased()
    return indexes(of: table).first { !$0.isPartial && $0.columns.first?.name?.uppercased() == name }
  }
}

extension EntityDescription {
  /// The entity at the top.
  var root: EntityDescription {
    var entity = self
    while let parent = entity.superentity { entity = parent }
    return entity
  }

  /// The entity with all below it, each before its own.
  var family: [EntityDescription] { [self] + subentities.flatMap(\.family) }
}
