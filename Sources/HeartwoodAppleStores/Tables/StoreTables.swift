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
  /// By the identities of relationships that are to-one on both sides.
  private(set) var pairs: [ObjectIdentifier: OneToOne] = [:]
  /// The differences between the file and the model, both ways: sentences.
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
    let relationships = model.entities.flatMap { entity in
      entity.relationshipsByName.values.sorted { $0.name < $1.name }.filter {
        $0.entity === entity && !$0.isTransient && table(of: entity) != nil
          && $0.destinationEntity.flatMap(table(of:)) != nil
      }
    }
    for relationship in relationships where !relationship.isToMany { addPair(relationship) }
    let many = relationships.filter(\.isToMany)
    for relationship in many { addInverse(relationship) }
    // The same names come before those with digits at the end.
    for isExact in [true, false] {
      for relationship in many where isMissing(relationship) { addJoin(relationship, isExact: isExact) }
    }
    for (isOwn, isExact) in [(true, true), (true, false), (false, true), (false, false)] {
      for relationship in many where isMissing(relationship) {
        addForeign(relationship, isOwn: isOwn, isExact: isExact)
      }
    }
    return many.filter(isMissing).map { "\($0.entity?.name ?? "").\($0.name)" }
  }

  private func isMissing(_ relationship: RelationshipDescription) -> Bool {
    routes[ObjectIdentifier(relationship)] == nil
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

  /// The indexes by which links are found.
  var indexes: [SQLiteIndex] {
    let ofRoutes = routes.values.flatMap { route in
      switch route {
      case .foreign(let foreign): [foreign.index]
      case .join(let join): [join.index, join.inverseIndex]
      }
    }
    return (ofRoutes + pairs.values.map(\.own.index)).compactMap(\.self)
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
    if let problem = table.problemOfKey {
      throw HeartwoodError(
        .persistentStoreOpen,
        "the store at \(file.url.path) cannot be read: its table \(table.name) \(problem), which Core Data does not make; copy its rows to a table "
          + "whose Z_PK is an INTEGER PRIMARY KEY, with sqlite3")
    }
    let isShared =
      !root.subentities.isEmpty || numbers.unknown.contains { "Z\(rootName($0))" == table.name.uppercased() }
    tables[ObjectIdentifier(root)] = EntityTable(
      root, table, file.database.textEncoding, numbers, isShared: isShared, checksTypes: checksTypes, &missing
    )
  }

  // MARK: Relationships

  /// A relationship that is to-one on both sides.
  private func addPair(_ relationship: RelationshipDescription) {
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
      let own = side(relationship), let other = side(inverse)
    else { return }
    pairs[ObjectIdentifier(relationship)] = OneToOne(own: own, inverse: other)
  }

  private func side(_ relationship: RelationshipDescription) -> OneToOne.Side? {
    guard let entity = relationship.entity, let table = table(of: entity) else { return nil }
    let column = table.column(of: relationship)
    return OneToOne.Side(
      entity: entity, table: table, column: column,
      index: column.flatMap { file.database.index(of: table.table, beginningWith: $0) })
  }

  /// A relationship whose inverse is to-one: the destinations have the keys.
  private func addInverse(_ relationship: RelationshipDescription) {
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
      let table = relationship.destinationEntity.flatMap(table(of:)), let column = table.column(of: inverse)
    else { return }
    add(relationship, table, column)
  }

  private func addJoin(_ relationship: RelationshipDescription, isExact: Bool) {
    guard let inverse = relationship.inverseRelationship, inverse.isToMany,
      let join = JoinTable(
        relationship, inverse, numbers, file.database, taken: joins, isExact: isExact)
    else { return }
    routes[ObjectIdentifier(relationship)] = .join(join)
    if inverse !== relationship { routes[ObjectIdentifier(inverse)] = .join(join.reversed) }
  }

  /// A relationship without inverse: the destinations have the keys, in a column with the number of the source's entity.
  ///
  /// - Parameters:
  ///   - isOwn: Whether the number has to be that of the source's entity.
  ///   - isExact: Whether the name has to be the relationship's, without digits at the end.
  private func addForeign(_ relationship: RelationshipDescription, isOwn: Bool, isExact: Bool) {
    guard relationship.inverseRelationship == nil, let entity = relationship.entity,
      let table = relationship.destinationEntity.flatMap(table(of:))
    else { return }
    let taken = table.takenColumns.union(foreignColumns(of: table))
    let ranked = table.table.columns.indices.compactMap { place -> (rank: Int, place: Int)? in
      let name = table.table.columns[place].name.uppercased()
      guard !taken.contains(place), name.hasPrefix("Z"), let parts = NumberedName(name.dropFirst()),
        !isOwn || parts.number == numbers.number(of: entity), let rank = parts.rank(of: relationship.name),
        !isExact || rank == 0
      else { return nil }
      return (rank, place)
    }
    guard let column = ranked.min(by: { $0 < $1 })?.place else { return }
    add(relationship, table, column)
  }

  private func add(_ relationship: RelationshipDescription, _ table: EntityTable, _ column: Int) {
    let order = relationship.isOrdered ? table.order(of: column) : nil
    routes[ObjectIdentifier(relationship)] = ForeignKey(
      file.database, table, relationship, column: column, order: order
    ).map { .foreign($0) }
  }

  /// The columns of a table that are those of relationships to many.
  private func foreignColumns(of table: EntityTable) -> Set<Int> {
    Set(
      routes.values.compactMap { route in
        if case .foreign(let foreign) = route, foreign.table === table { return foreign.column }
        return nil
      })
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

/// The columns of a relationship that is to-one on both sides.
struct OneToOne: Sendable {
  struct Side: Sendable {
    /// The entity that declares the relationship of the column.
    let entity: EntityDescription
    let table: EntityTable
    /// Nil if the file has none: then no object has a key of its own.
    let column: Int?
    /// Nil if the file has none: then all rows are read once.
    let index: SQLiteIndex?
  }

  let own: Side
  let inverse: Side
}

/// A column with primary keys of another table.
struct ForeignKey: Sendable {
  let table: EntityTable
  /// Of the objects that can have the key.
  let destination: EntityDescription
  /// Of the objects whose keys they are.
  let source: EntityDescription
  let column: Int
  /// The column by which destinations are ordered.
  let order: Int?
  /// Nil if the file has none: then all rows are read once.
  let index: SQLiteIndex?

  init?(
    _ database: SQLiteDatabase, _ table: EntityTable, _ relationship: RelationshipDescription, column: Int,
    order: Int?
  ) {
    guard let source = relationship.entity,
      let destination = relationship.inverseRelationship?.entity ?? relationship.destinationEntity
    else { return nil }
    (self.source, self.destination) = (source, destination)
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

extension SQLiteTable {
  /// Why the rows of a table are not found by their keys; nil if the key is the rowid. Then each row has one, and no two have the same.
  var problemOfKey: String? {
    if isWithoutRowid { return "is one WITHOUT ROWID" }
    guard let rowidAlias, columns[rowidAlias].name.uppercased() == "Z_PK" else {
      return "has no Z_PK that is an INTEGER PRIMARY KEY"
    }
    return nil
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
