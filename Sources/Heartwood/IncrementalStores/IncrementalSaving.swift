import HeartwoodBytes

/// Saving to an incremental store: one request has all changes.
extension IncrementalContents {
  /// Gives new objects their identifiers before, as a request to save has no temporary ones, and objects their values that are derived from
  /// their own row.
  func plan(of context: ManagedObjectContext) throws -> SavePlan {
    let new = context.changes.inserted.filter(\.identifier.isTemporaryID)
    if !new.isEmpty { context.assign(try reserveIdentifiers(for: new, of: context), to: new) }
    let plan = SavePlan(context)
    return try deriveOwnValues(of: plan, context) ? SavePlan(context) : plan
  }

  func save(
    _ plan: SavePlan, of context: ManagedObjectContext, _ info: TransactionInfo
  ) throws -> (SaveOutcome, newest: StoreGenerations) {
    let save = try self.save(plan, of: context, info, .none)
    try save.check()
    let (outcome, generation) = try save.execute()
    return (outcome, StoreGenerations(identity, generation))
  }
}

extension IncrementalContents {
  func save(
    _ plan: SavePlan, of context: ManagedObjectContext, _ info: TransactionInfo, _ number: MemberNumber
  ) throws -> IncrementalSave { try IncrementalSave(plan, to: self, of: context, info, number) }
}

/// A save to an incremental store, or the part of a save to several.
struct IncrementalSave {
  private let plan: SavePlan
  private let contents: IncrementalContents
  private let store: IncrementalStore
  private let context: ManagedObjectContext
  private let consumers: [ConsumerStep]
  private let number: MemberNumber
  private let checks: IncrementalChecks

  /// - Throws: If the store is not open any more, or is read-only.
  init(
    _ plan: SavePlan, to contents: IncrementalContents, of context: ManagedObjectContext,
    _ info: TransactionInfo, _ number: MemberNumber
  ) throws {
    store = try contents.openStore()
    guard !store.isReadOnly else { throw store.readOnly }
    (self.plan, self.contents, self.context, self.number) = (plan, contents, context, number)
    consumers = number.references == nil ? info.consumers : info.consumers.of(contents.identity)
    checks = IncrementalChecks(plan, contents, context, number)
  }

  /// Checks what the class does not check itself.
  func check() throws {
    if !store.comparesVersions {
      let conflicts = try checks.conflicts(areAllVersionsKnown: store.knowsVersionsOfSaves)
      guard conflicts.isEmpty else { throw HeartwoodError.merge(conflicts) }
    }
    if !store.checksUniqueness {
      let violations = try checks.violations()
      guard violations.isEmpty else {
        throw HeartwoodError.violations(violations, of: SaveOutcome(), in: context)
      }
    }
    if context.saveProgress?.resolution != nil {
      let conflicts = try checks.partnerConflicts()
      guard conflicts.isEmpty else { throw HeartwoodError.merge(conflicts) }
    }
  }

  /// Has the class write the objects.
  func execute() throws -> (SaveOutcome, generation: UInt64) {
    // Before the objects: what fails after they were written would leave them unsaved in the context.
    try store.savePendingMetadata()
    let request = SaveChangesRequest(plan)
    request.consumerChanges = try contents.changes(of: consumers)
    do {
      _ = try store.execute(request, with: context)
    } catch let conflicts as IncrementalStoreConflicts {
      throw try error(of: conflicts)
    } catch  where error is HeartwoodError || store.passesErrorsOn {
      throw error
    } catch {
      throw HeartwoodError(
        .persistentStoreSave, "the store at \(store.place) was not saved: \(error)", underlying: error)
    }
    // The class has written what it read of objects that could not be read: their changes stay, for the next save to write them.
    try context.throwIfUnreadable()
    var outcome = SaveOutcome()
    let mapping = context.permanentKeys.permanent
    func saved(_ object: ManagedObject, _ version: UInt32) -> (ManagedObject, [UInt8]) {
      let version = store.knowsVersionsOfSaves ? version : IncrementalChecks.unknownVersion
      return (object, object.encodedRow(version: version, mapping: mapping))
    }
    outcome.rows = plan.inserted.map { saved($0, 1) }
    for (object, slots) in zip(plan.updated, plan.changedSlots)
    where !slots.isEmpty || !store.knowsVersionsOfSaves {
      outcome.rows.append(saved(object, object.baseVersion &+ 1))
    }
    outcome.derived = request.derived.map { row in
      DerivedRow(entity: row.entity, key: row.key.numbered(number.number), row: number.row(row.row))
    }
    return (outcome, contents.noteSave())
  }

  private func error(of conflicts: IncrementalStoreConflicts) throws -> any Error {
    guard conflicts.violations.isEmpty else {
      return HeartwoodError.violations(
        conflicts.violations.compactMap(checks.violation), of: SaveOutcome(), in: context)
    }
    if conflicts.isUniquenessViolated {
      let violations = try checks.violations()
      if !violations.isEmpty { return HeartwoodError.violations(violations, of: SaveOutcome(), in: context) }
      return HeartwoodError(
        .persistentStoreSave,
        "the save was refused for values that must be unique: another program had saved them, and they are gone again; save again"
      )
    }
    if conflicts.isReferenceViolated {
      let dangling = try checks.referenceConflicts()
      if !dangling.isEmpty { return HeartwoodError.merge(dangling) }
      return HeartwoodError(
        .managedObjectReferentialIntegrity,
        "the save would leave a reference to an object that is not there any more; refresh the objects and save again"
      )
    }
    let changed = Set(conflicts.changedObjects)
    let found = try checks.conflicts(of: plan.all.filter { changed.contains($0.identifier) }, areKnown: true)
    guard !found.isEmpty else {
      return HeartwoodError(
        .persistentStoreSave,
        "the store reported conflicts of \(conflicts.changedObjects.map(\.description).joined(separator: ", ")), which are no objects of the save"
      )
    }
    return HeartwoodError.merge(found)
  }
}

/// Checks of a save against the rows that are in the store now.
struct IncrementalChecks {
  private let plan: SavePlan
  private let context: ManagedObjectContext
  private let number: MemberNumber
  private let own: IncrementalView
  /// The same rows as the context sees them.
  private let reader: any StoreView

  init(
    _ plan: SavePlan, _ contents: IncrementalContents, _ context: ManagedObjectContext, _ number: MemberNumber
  ) {
    (self.plan, self.context, self.number) = (plan, context, number)
    own = IncrementalView(contents, contents.newestGeneration, context, hasOneReader: true)
    reader = number.view(own)
  }

  // MARK: Versions

  /// The version of an object that was saved, and not read again.
  static let unknownVersion: UInt32 = 0

  /// Conflicts with rows that others have changed or deleted.
  ///
  /// - Parameter areAllVersionsKnown: Whether saves leave no version unknown.
  func conflicts(areAllVersionsKnown: Bool) throws -> [MergeConflict] {
    guard areAllVersionsKnown else {
      // Such a class writes whole objects, also those whose to-many relationships alone have changed.
      let all = plan.watched + plan.deleted + plan.updated
      return try conflicts(of: all.filter { $0.baseVersion != Self.unknownVersion }, areKnown: false)
    }
    let updated = zip(plan.updated, plan.changedSlots).filter { !$1.isEmpty }.map(\.0)
    return try conflicts(of: plan.watched + plan.deleted + updated, areKnown: false)
  }

  /// - Parameter areKnown: Whether the objects have conflicts; otherwise those that have are found by their versions.
  func conflicts(of objects: [ManagedObject], areKnown: Bool) throws -> [MergeConflict] {
    for (root, members) in Dictionary(grouping: objects, by: { $0.entity.rootEntity.number }) {
      guard let entity = members.first?.entity.rootEntity, entity.number == root else { continue }
      try reader.load(entity, members.map(\.identifier.key))
    }
    let deleted = Set(plan.deleted.map(ObjectIdentifier.init))
    var conflicts: [MergeConflict] = []
    for object in objects {
      let newest = try reader.row(object.entity.rootEntity, object.identifier.key)
      // An object that is deleted already is no conflict of its deletion.
      if newest == nil, deleted.contains(ObjectIdentifier(object)) { continue }
      if areKnown || newest?.version != object.baseVersion {
        conflicts.append(MergeConflict(object, newest: newest))
      }
    }
    return conflicts
  }

  /// Conflicts with partners in one-to-one relationships, after a merge policy has changed objects.
  func partnerConflicts() throws -> [MergeConflict] {
    let rows = SavePlan.SavedRows(row: reader.row, context: context)
    var conflicts: [MergeConflict] = []
    for object in plan.written {
      conflicts += try plan.partnerConflicts(of: object, context.permanentKeys.permanent, rows)
    }
    for object in plan.deleted where try plan.isPartnerLeft(by: object, rows) {
      let newest = try reader.row(object.entity.rootEntity, object.identifier.key)
      conflicts.append(MergeConflict(object, newest: newest, .referenced))
    }
    return conflicts
  }

  // MARK: References

  /// Conflicts of objects that newly refer to others that are not in the store any more, and of deleted objects to which others refer.
  func referenceConflicts() throws -> [MergeConflict] {
    var conflicts: [MergeConflict] = []
    func newest(_ object: ManagedObject) throws -> RowView? {
      try reader.row(object.entity.rootEntity, object.identifier.key)
    }
    let mapping = context.permanentKeys.permanent
    let (made, gone) = (Set(plan.inserted.map(\.identifier)), Set(plan.deleted.map(\.identifier)))
    for object in plan.written {
      try plan.forEachNewTarget(of: object, mapping) { relationship, key in
        let destination: EntityDescription = relationship.destinationEntity
        let target = mapping(key)
        let id = ManagedObjectID(entity: destination, key: target, store: context.storeIdentity)
        if made.contains(id) || !relationship.mayNotDangle && gone.contains(id) { return }
        guard try gone.contains(id) || reader.row(destination.rootEntity, target) == nil else { return }
        conflicts.append(MergeConflict(object, newest: try newest(object), .dangling(relationship.slot, key)))
      }
    }
    for object in plan.deleted where try isReferenced(object) {
      conflicts.append(MergeConflict(object, newest: try newest(object), .referenced))
    }
    return conflicts
  }

  /// Whether a stored row refers to a deleted object, and the save leaves it so.
  private func isReferenced(_ object: ManagedObject) throws -> Bool {
    for relationship in object.entity.relationshipsBySlot
    where relationship.isToMany && !relationship.isTransient && !relationship.ownsLinks
      && relationship.deleteRule != .noActionDeleteRule
    {
      guard let inverse = relationship.inverseRelationship else { continue }
      let root: EntityDescription = relationship.destinationEntity.rootEntity
      var found = false
      try reader.destinations(relationship, of: object.identifier.key) { key in
        let known = context.registered(root, key)
        if let known, known.isDeleted || known.pending?.edit(inverse.slot) != nil { return true }
        found = true
        return false
      }
      if found { return true }
    }
    return false
  }

  // MARK: Uniqueness

  private struct Constraint: Hashable {
    let entity: UInt16
    let names: [String]
  }

  /// How many values one fetch looks for.
  private static let soughtAtOnce = 200

  /// The objects of the save that have values that must be unique and that others have too.
  func violations() throws -> [ConstraintViolation] {
    var claims: [Constraint: [ManagedObject]] = [:]
    for (object, slots) in zip(plan.inserted, repeatElement(nil, count: plan.inserted.count))
      .map({ ($0, $1 as [Int]?) }) + zip(plan.updated, plan.changedSlots).map({ ($0, $1) })
    {
      for (entity, names) in object.entity.constraints {
        let own = names.compactMap(object.entity.slot(named:))
        if let slots, Set(slots).isDisjoint(with: own) { continue }
        claims[Constraint(entity: entity.number, names: names), default: []].append(object)
      }
    }
    var found: [ConstraintViolation] = []
    for (constraint, objects) in claims.sorted(by: {
      ($0.key.entity, $0.key.names.joined()) < ($1.key.entity, $1.key.names.joined())
    }) {
      guard let entity = objects[0].entity.constraints.first(where: { $0.0.number == constraint.entity })?.0
      else { continue }
      found += try violations(of: constraint.names, entity, by: objects)
    }
    return found
  }

  private func violations(
    of names: [String], _ entity: EntityDescription, by objects: [ManagedObject]
  ) throws -> [ConstraintViolation] {
    let slots = names.compactMap(entity.slot(named:))
    var owners: [[Value]: UInt64] = [:]
    var violations: [ConstraintViolation] = []
    for object in objects {
      let values = slots.map(object.value(at:))
      guard !values.contains(where: \.isNull) else { continue }
      let key = object.identifier.key
      if let owner = owners[values] {
        violations.append(
          ConstraintViolation(
            entity: entity, constraint: names, values: values, existingKey: owner, newKey: key))
      } else {
        owners[values] = key
      }
    }
    // Objects of this save do not have their former values any more.
    let own = Set((plan.deleted + objects).map(\.identifier.key))
    // A combination of values with a new object is of no stored row.
    let sought = owners.keys.filter { values in
      !values.contains { value in
        if case .object(let id) = value { return id.isTemporaryID }
        return false
      }
    }
    for part in Array(sought).inParts(of: Self.soughtAtOnce) {
      for found in try self.own.rows(of: entity, with: names, in: Array(part)) {
        let key = found.key.numbered(number.number)
        guard !own.contains(key) else { continue }
        let values = slots.map {
          found.row.view.value(
            entity.layout.columns[$0], layout: entity.layout, store: self.own.contents.identity)
        }
        guard let owner = owners[values] else { continue }
        violations.append(
          ConstraintViolation(
            entity: entity, constraint: names, values: values, existingKey: key, newKey: owner))
      }
    }
    return violations
  }

  /// A violation that the store has found.
  func violation(_ found: IncrementalStoreConflicts.Violation) -> ConstraintViolation? {
    guard
      let object = context.registered(found.objectID.entity.rootEntity, number.key(found.objectID)),
      let entity = object.entity.constraints.first(where: { $0.1 == found.constraint })?.0
    else { return nil }
    let values = found.constraint.compactMap(object.entity.slot(named:)).map(object.value(at:))
    return ConstraintViolation(
      entity: entity, constraint: found.constraint, values: values, existingKey: number.key(found.existing),
      newKey: number.key(found.objectID))
  }
}

extension EntityDescription {
  /// The uniqueness constraints of the entity and of its superentities, with the entities that declare them.
  var constraints: [(EntityDescription, [String])] {
    sequence(first: self, next: \.superentity).flatMap { entity in
      entity.uniquenessConstraints.map { (entity, $0) }
    }
  }
}
