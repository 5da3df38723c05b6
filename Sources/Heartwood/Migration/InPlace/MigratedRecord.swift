/// Makes the schema record of a store's new model: which numbers stay, and which layouts older rows have.
struct MigratedRecord {
  private let changes: InferredChanges
  private let old: StoreSchema
  /// Whether the family of a root entity of the source has rows.
  private let hasRows: (EntityDescription) throws -> Bool
  private(set) var record: SchemaRecord
  /// The root entities of the destination whose rows have to move to other keys, with the source's root entity.
  private(set) var movedFamilies: [String: EntityDescription] = [:]
  /// By name, where an entity is in the record.
  private var places: [String: Int] = [:]

  init(
    _ changes: InferredChanges, of old: StoreSchema, hasRows: @escaping (EntityDescription) throws -> Bool
  ) throws {
    self.changes = changes
    self.old = old
    self.hasRows = hasRows
    record = try SchemaRecord(numbering: changes.destination)
    record.indexes = []
    record.nextPropertyNumber = old.record.nextPropertyNumber
    record.nextIndexNumber = old.record.nextIndexNumber
    record.nextEntityNumber = old.record.nextEntityNumber
    notePlaces()
    try numberEntities()
    try numberProperties()
    try numberFamilies()
    for root in roots { try layOutRows(of: root) }
    record.entities.sort { $0.number < $1.number }
    notePlaces()
  }

  private var entities: [EntityDescription] { changes.sorted(changes.destination) }
  private var roots: [EntityDescription] { entities.filter { $0.superentity == nil } }

  private mutating func notePlaces() {
    for (place, entity) in record.entities.enumerated() { places[entity.name] = place }
  }

  private func place(_ entity: EntityDescription) -> Int { places[entity.displayName] ?? 0 }

  private mutating func newEntityNumber() throws(HeartwoodError) -> UInt16 {
    defer { record.nextEntityNumber += 1 }
    _ = try record.nextEntityNumber.nextNumber()
    return record.nextEntityNumber
  }

  private mutating func numberEntities() throws {
    for entity in entities {
      let number: UInt16
      if let former = changes.source(of: entity) {
        number = old.entity(former).number
      } else {
        number = try newEntityNumber()
      }
      record.entities[place(entity)].number = number
      record.entities[place(entity)].storage = SchemaRecord.Storage(number: number)
    }
  }

  // MARK: Properties

  private mutating func numberProperties() throws {
    var taken: Set<UInt16> = []
    for entity in entities {
      for (position, column) in entity.ownColumns.sorted(by: { $0.slot < $1.slot }).enumerated() {
        let former = formerNumbers(of: column, entity)
        var number = record.nextPropertyNumber
        if former.count == 1, taken.insert(former[0]).inserted {
          number = former[0]
        } else {
          record.nextPropertyNumber = try number.nextNumber()
        }
        record.entities[place(entity)].properties[position].number = number
      }
    }
    for entity in entities { noteFormerProperties(of: entity) }
  }

  /// The numbers of the properties of the source that become this one, in its entity and in subentities.
  private func formerNumbers(of column: PropertyDescription, _ entity: EntityDescription) -> [UInt16] {
    var numbers: [UInt16] = []
    for member in entity.selfAndBelow {
      guard let former = changes.source(of: member), let slot = changes.sourceSlot(column.slot, of: member)
      else { continue }
      let number = old.entity(former).propertyNumbers[slot]
      if !numbers.contains(number) { numbers.append(number) }
    }
    return numbers
  }

  /// The numbers of an entity's properties, by slot.
  private func numbers(of entity: EntityDescription) -> [UInt16] {
    entity.lineage.flatMap { record.entities[place($0)].properties.map(\.number) }
  }

  /// Keeps the history readable: what its numbers mean now.
  private mutating func noteFormerProperties(of entity: EntityDescription) {
    guard let former = changes.source(of: entity) else { return }
    let stored = old.entity(former)
    let now = current(entity, stored)
    var noted = stored.storage.formerProperties.compactMap { known in
      now[known.property].map { SchemaRecord.FormerProperty(former: known.former, property: $0) }
    }
    for (former, number) in now.sorted(by: { $0.key < $1.key }) where former != number {
      noted.append(SchemaRecord.FormerProperty(former: former, property: number))
    }
    record.entities[place(entity)].storage.formerProperties = noted
  }

  /// The new number of each former property.
  private func current(_ entity: EntityDescription, _ stored: StoreEntity) -> [UInt16: UInt16] {
    let numbers = numbers(of: entity)
    var now: [UInt16: UInt16] = [:]
    for slot in entity.slots {
      guard let former = changes.sourceSlot(slot, of: entity) else { continue }
      now[stored.propertyNumbers[former]] = numbers[slot]
    }
    return now
  }

  // MARK: Families

  private mutating func numberFamilies() throws {
    var keepers: [String: EntityDescription] = [:]
    let candidates = roots.compactMap { root in changes.formerRoots(of: root).first.map { (root, $0) } }
    for (root, former) in candidates where changes.destination(of: former)?.rootEntity === root {
      keepers[former.displayName] = root
    }
    for (root, former) in candidates where keepers[former.displayName] == nil {
      keepers[former.displayName] = root
    }
    for (root, former) in candidates {
      let isKeeper = keepers[former.displayName] === root
      if !isKeeper { movedFamilies[root.displayName] = former }
      record.entities[place(root)].storage.keyNumber =
        try isKeeper ? old.keyNumber(of: former) : newEntityNumber()
    }
  }

  // MARK: Rows

  private mutating func layOutRows(of root: EntityDescription) throws {
    let former = changes.formerRoots(of: root).first
    let mayHaveRows = try former.map(hasRows) ?? false
    guard mayHaveRows, movedFamilies[root.displayName] == nil else {
      for entity in root.selfAndBelow { record.entities[place(entity)].storage.rowNumber = entity.number }
      return
    }
    // All numbers that rows of the family have.
    var used: Set<UInt16> = []
    for entity in former?.selfAndBelow ?? [] {
      let storage = old.entity(entity).storage
      used.insert(storage.rowNumber)
      used.formUnion(storage.former.map(\.rowNumber))
    }
    let wanted = Set(root.selfAndBelow.map(\.number))
    for entity in root.selfAndBelow {
      let stored = changes.source(of: entity).map(old.entity)
      let isSame = stored.map { isSameLayout(entity, $0) } ?? false
      var number = entity.number
      if isSame, stored?.storage.rowNumber == number {
        // Rows stay as they are.
      } else if used.contains(number) {
        number =
          isSame
          ? stored?.storage.rowNumber ?? number
          : (1..<UInt16.max).last { !used.contains($0) && !wanted.contains($0) } ?? number
      }
      used.insert(number)
      record.entities[place(entity)].storage.rowNumber = number
      guard let stored else { continue }
      var layouts = stored.storage.former
      if !isSame || stored.storage.rowNumber != number { layouts.append(Self.layout(of: stored)) }
      record.entities[place(entity)].storage.former = layouts.map { migrated($0, of: stored, to: entity) }
    }
  }

  private func isSameLayout(_ entity: EntityDescription, _ stored: StoreEntity) -> Bool {
    guard entity.slots.count == stored.entity.slots.count else { return false }
    return entity.slots.allSatisfy { slot in
      let kind = entity.layout.columns[slot].kind
      guard kind == stored.entity.layout.columns[slot].kind else { return false }
      if kind == .toMany || kind == .transient { return true }
      return changes.sourceSlot(slot, of: entity) == slot && changes.fill(slot, of: entity).isNull
    }
  }

  /// The layout in which an entity's rows are written.
  static func layout(of stored: StoreEntity) -> SchemaRecord.FormerLayout {
    SchemaRecord.FormerLayout(
      rowNumber: stored.storage.rowNumber,
      columns: zip(stored.entity.layout.columns, stored.propertyNumbers).map {
        SchemaRecord.FormerColumn(kinds: [$0.kind], property: $1)
      }, added: [])
  }

  /// A layout of rows of the source, with what the destination makes of its columns.
  func migrated(
    _ layout: SchemaRecord.FormerLayout, of stored: StoreEntity, to entity: EntityDescription
  ) -> SchemaRecord.FormerLayout {
    let numbers = numbers(of: entity)
    var slots: [UInt16: Int] = [:]
    for slot in entity.slots {
      guard let former = changes.sourceSlot(slot, of: entity) else { continue }
      slots[stored.propertyNumbers[former]] = slot
    }
    var migrated = layout
    for place in migrated.columns.indices {
      let slot = slots[migrated.columns[place].property]
      migrated.columns[place].property = slot.map { numbers[$0] } ?? 0
      if let slot { convert(&migrated.columns[place], to: entity, slot) }
    }
    migrated.added = layout.added.compactMap { added in
      guard let slot = slots[added.property], let former = changes.sourceSlot(slot, of: entity) else {
        return nil
      }
      let kinds = [stored.entity.layout.columns[former].kind, entity.layout.columns[slot].kind]
      return SchemaRecord.AddedValue(property: numbers[slot], value: added.value.converted(through: kinds))
    }
    let present = Set(migrated.columns.map(\.property) + migrated.added.map(\.property))
    for slot in entity.slots where !present.contains(numbers[slot]) {
      let value = changes.value(inNew: slot, of: entity)
      if !value.isNull {
        migrated.added.append(SchemaRecord.AddedValue(property: numbers[slot], value: value))
      }
    }
    return migrated
  }

  private func convert(_ column: inout SchemaRecord.FormerColumn, to entity: EntityDescription, _ slot: Int) {
    let kind = entity.layout.columns[slot].kind
    if let last = column.kinds.last, last != kind {
      column.fill = column.fill.converted(through: [last, kind])
      column.kinds.append(kind)
    }
    if column.fill.isNull { column.fill = changes.fill(slot, of: entity) }
  }
}

extension InferredChanges {
  /// The value that rows get in a property that they do not have.
  func value(inNew slot: Int, of entity: EntityDescription) -> Value {
    guard let attribute = entity.attribute(at: slot), !attribute.isTransient else { return .null }
    return entity.defaultValue(at: slot)
  }

  /// The value that replaces null in a property that becomes mandatory, or that is in one that does; null if nothing does.
  func fill(_ slot: Int, of entity: EntityDescription) -> Value {
    guard let attribute = entity.attribute(at: slot), !attribute.isTransient,
      let former = sourceProperty(at: slot, of: entity),
      !attribute.isOptional && former.isOptional
        || entity.compositeSlots(around: slot).contains(where: { becomesMandatory($0, of: entity) })
    else { return .null }
    return entity.defaultValue(at: slot)
  }

  private func becomesMandatory(_ slot: Int, of entity: EntityDescription) -> Bool {
    !entity.property(at: slot).isOptional && sourceProperty(at: slot, of: entity)?.isOptional != false
  }
}
