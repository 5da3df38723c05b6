import Foundation
import HeartwoodEngine

/// Rows that have to be written again: of entities that are gone, that move to other keys, or that refer to objects that they may no
/// longer refer to.
extension InPlaceMigration {
  /// The work on the rows of one entity of the source.
  private struct Work {
    let former: EntityDescription
    /// Nil: the rows are deleted.
    let entity: EntityDescription?
    var moves = false
    /// To-one relationships whose destinations may be gone: the slots of the destination's entity and the source's relationship.
    var checked: [(slot: Int, relationship: RelationshipDescription)] = []
    /// Data outside of rows whose key has the property's number.
    var renumbered: [(slot: Int, former: AttributeDescription)] = []
    var conversion: RowConversion?

    var isNeeded: Bool { entity == nil || moves || !checked.isEmpty || !renumbered.isEmpty }
  }

  func migrateRows() throws {
    for root in changes.sorted(changes.source) where root.superentity == nil {
      if root.selfAndBelow.allSatisfy({ changes.destination(of: $0) == nil }) {
        try dropFamily(root)
      } else {
        try migrateRows(of: root)
      }
    }
    for (name, former) in numbering.movedFamilies.sorted(by: { $0.key < $1.key }) {
      guard let root = changes.destination.entitiesByName[name],
        let next = try view.number(KeySpace.counterKey(old.keyNumber(of: former)))
      else { continue }
      try transaction.put(KeySpace.counterKey(new.keyNumber(of: root)), KeySpace.value(next))
    }
  }

  private func dropFamily(_ root: EntityDescription) throws {
    let number = old.keyNumber(of: root)
    let count = try transaction.deleteRange(.prefix(KeySpace.head(KeySpace.row, number)))
    if count > 0 { note { $0.deletedObjects[root.displayName] = Int(count) } }
    _ = try transaction.deleteRange(.prefix(KeySpace.head(KeySpace.external, number)))
    _ = try transaction.delete(KeySpace.counterKey(number))
  }

  private func migrateRows(of root: EntityDescription) throws {
    var works: [UInt16: Work] = [:]
    for former in root.selfAndBelow where !former.isAbstract {
      let work = try work(for: former)
      if work.isNeeded { works[former.number] = work }
    }
    guard !works.isEmpty else { return }
    let counter = try log.counter("rows of \(root.displayName)", of: view.rowCount(of: root))
    defer { counter?.finish() }
    try view.scanRows(of: root, from: nil, reversed: false) { found in
      counter?.advance()
      if let work = works[found.row.entityNumber] { try migrate(found, work) }
      return true
    }
  }

  private func work(for former: EntityDescription) throws -> Work {
    guard let entity = changes.destination(of: former) else { return Work(former: former, entity: nil) }
    var work = Work(former: former, entity: entity)
    work.moves = numbering.movedFamilies[entity.rootEntity.displayName] != nil
    let (formerNumbers, numbers) = (old.entity(former).propertyNumbers, new.entity(entity).propertyNumbers)
    for slot in entity.slots {
      guard let match = changes.sourceSlot(slot, of: entity) else { continue }
      if let relationship = entity.property(at: slot) as? RelationshipDescription, !relationship.isToMany,
        let known = former.property(at: match) as? RelationshipDescription,
        changes.mayLose(known, relationship)
      {
        work.checked.append((slot, known))
      }
      if let attribute = former.attribute(at: match), attribute.columnKind == .data,
        formerNumbers[match] != numbers[slot]
      {
        work.renumbered.append((slot, attribute))
      }
    }
    if work.isNeeded {
      let stored = old.entity(former)
      let layout = numbering.migrated(MigratedRecord.layout(of: stored), of: stored, to: entity)
      work.conversion = try layout.conversion(to: entity, numbers: numbers).conversion
    }
    return work
  }

  /// Whether a relationship keeps one destination. One that does not exist, where the model allows that, is kept.
  func isKept(
    _ key: UInt64, of former: RelationshipDescription, in destination: EntityDescription
  ) throws -> Bool {
    let root: EntityDescription = former.destinationEntity.rootEntity
    return try view.withRow(root, key) { row in
      guard let row else { return true }
      return changes.isKept(try formerEntity(root, row), in: destination)
    }
  }

  private func migrate(_ found: FoundRow, _ work: Work) throws {
    guard let entity = work.entity, let conversion = work.conversion else {
      try deleteRow(found, of: work.former)
      return note { $0.deletedObjects[work.former.displayName, default: 0] += 1 }
    }
    var lost: [Int] = []
    for (slot, relationship) in work.checked {
      let column = work.former.layout.columns[relationship.slot]
      guard !found.row.isNull(column) else { continue }
      let destination = entity.relationship(at: slot).destinationEntity
      if try !isKept(found.row.key(column), of: relationship, in: destination ?? entity) { lost.append(slot) }
    }
    for slot in lost { note { $0.lostLinks[entity.property(at: slot).displayName, default: 0] += 1 } }
    let formerRoot = work.former.rootEntity
    let movesData = work.moves || !work.renumbered.isEmpty
    if movesData { try moveData(of: found, work.former, entity) }
    guard work.moves || !lost.isEmpty else { return }
    let bytes = try Self.without(lost, conversion.convert(found.row), entity)
    let stored = new.entity(entity)
    if work.moves {
      _ = try transaction.delete(KeySpace.rowKey(old.keyNumber(of: formerRoot), found.key))
    }
    try transaction.put(KeySpace.rowKey(stored.keyNumber, found.key), stored.numbered(bytes))
    if new.derivations?.of(entity) != nil { rewritten.insert(RowAddress(entity, found.key)) }
    note { $0.rewrittenObjects[entity.displayName, default: 0] += 1 }
  }

  /// The row without the values in some slots.
  private static func without(_ slots: [Int], _ bytes: [UInt8], _ entity: EntityDescription) throws -> [UInt8]
  {
    guard !slots.isEmpty else { return bytes }
    return try bytes.withUnsafeBytes { bytes in
      let row = try RowView(validating: bytes, layout: entity.layout)
      var builder = RowBuilder(entity.layout)
      for slot in entity.slots where !slots.contains(slot) { builder.copy(from: row, slot) }
      return builder.finish(version: row.version)
    }
  }

  private func deleteRow(_ found: FoundRow, of entity: EntityDescription) throws {
    let root = old.keyNumber(of: entity.rootEntity)
    _ = try transaction.deleteRange(.prefix(KeySpace.externalKey(root, found.key)))
    _ = try transaction.delete(KeySpace.rowKey(root, found.key))
  }

  /// Moves data that is stored outside a row to the keys that the new model has for it.
  private func moveData(of found: FoundRow, _ former: EntityDescription, _ entity: EntityDescription) throws {
    for slot in former.layout.dataSlots {
      guard let reference = found.row.external(former.layout.columns[slot]) else { continue }
      let root = old.keyNumber(of: former.rootEntity)
      let from = KeySpace.externalKey(
        root, found.key, old.entity(former).propertyNumbers[slot], reference.transaction)
      let slots = changes.sourceSlots[entity.displayName] ?? []
      if let target = slots.firstIndex(of: slot) {
        let stored = new.entity(entity)
        let key = KeySpace.externalKey(
          stored.keyNumber, found.key, stored.propertyNumbers[target], reference.transaction)
        if key == from { continue }
        try from.withUnsafeBytes { from in
          guard let value = try view.reader.pointer(of: from) else { return }
          try key.withUnsafeBytes { try transaction.put($0, value) }
        }
      }
      _ = try transaction.delete(from)
    }
  }
}
