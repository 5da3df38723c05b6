/// The references to objects in rows: keys, which have the number of the store among several stores, and do not have it in the store.
struct RowReferences: Sendable {
  /// The columns of to-one relationships, by the number of the row's entity.
  private let columns: [[Column]]
  /// Whether rows of a family may have some, by the number of the root entity.
  private let families: [Bool]

  init(_ model: ManagedObjectModel) {
    var columns: [[Column]] = []
    var families: [Bool] = []
    for entity in model.entities {
      let (number, root) = (Int(entity.number), Int(entity.rootEntity.number))
      while columns.count <= max(number, root) {
        columns.append([])
        families.append(false)
      }
      columns[number] = entity.layout.columns.filter { $0.kind == .toOne }
      if !columns[number].isEmpty { families[root] = true }
    }
    (self.columns, self.families) = (columns, families)
  }

  /// Whether rows of a family may refer to objects.
  func areInRows(of root: EntityDescription) -> Bool { families[Int(root.number)] }

  /// The bytes of a row of a store, with the store's number in its references; nil if they are the same.
  func numbered(_ row: RowView, _ store: Int) -> [UInt8]? {
    guard store != 0 else { return nil }
    var bytes: [UInt8]?
    for column in columns[Int(row.entityNumber)] where !row.isNull(column) {
      var made = bytes.take() ?? Array(row.bytes)
      made.store(row.key(column).numbered(store), at: column.offset)
      bytes = made
    }
    return bytes
  }

  /// The same for the bytes of a checked row.
  func numbered(_ bytes: [UInt8], _ store: Int) -> [UInt8] {
    guard store != 0 else { return bytes }
    return bytes.withUnsafeBytes { numbered(RowView(unchecked: $0), store) } ?? bytes
  }

  /// The bytes of a row with the references of an index's columns as a store has them; nil if one is to an object of another store.
  func local(_ row: RowView, _ index: StoreIndex, _ store: Int) -> [UInt8]? {
    var bytes = Array(row.bytes)
    for column in index.columns where column.kind == .toOne && !row.isNull(column) {
      let key = row.key(column)
      guard key.storeNumber == store else { return nil }
      bytes.store(key.keyInStore, at: column.offset)
    }
    return bytes
  }

  /// The bytes of a row for a store.
  ///
  /// - Throws: `.managedObjectExternalRelationship` if it refers to an object of another store.
  func local(
    _ bytes: [UInt8], _ entity: EntityDescription, _ key: UInt64, _ several: StoreIdentity
  ) throws(HeartwoodError) -> [UInt8] {
    let columns = columns[Int(entity.number)]
    guard !columns.isEmpty else { return bytes }
    var made = bytes
    let targets = bytes.withUnsafeBytes { bytes in
      let row = RowView(unchecked: bytes)
      return columns.map { row.isNull($0) ? nil : row.key($0) }
    }
    for (column, target) in zip(columns, targets) {
      guard let target else { continue }
      guard target.storeNumber == key.storeNumber else {
        let destination = entity.layout.identifier(at: Int(column.slot), key: target, store: several)
        throw .externalRelationship(
          ManagedObjectID(entity: entity, key: key, store: several), entity.property(at: Int(column.slot)),
          destination)
      }
      made.store(target.keyInStore, at: column.offset)
    }
    return made
  }
}

extension HeartwoodError {
  /// The error of a save of an object that refers to an object of another store.
  static func externalRelationship(
    _ source: ManagedObjectID, _ property: PropertyDescription, _ destination: ManagedObjectID
  ) -> HeartwoodError {
    HeartwoodError(
      .managedObjectExternalRelationship,
      "\(property.displayName) of \(source) refers to \(destination), which is, or is to be, in another store: objects of different "
        + "stores cannot be related; assign both to one store before they are saved, or keep the other one's identifier, or use a "
        + "fetched property",
      objectIDs: [source, destination], property: property.name)
  }
}
