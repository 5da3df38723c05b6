/// The findings of rehearsing a migration by a mapping model, while the manager goes on where a migration would throw.
///
/// Objects are named by their identifiers in the source.
final class MappedRehearsal {
  let findings: MigrationFindings
  private(set) var report = MigrationReport()
  /// The objects that were made of the one that is worked on.
  var made: [ManagedObject] = []
  /// By name of the source's entity, the objects that were not migrated because something is wrong with them.
  private var failed: [String: Int] = [:]
  /// Objects that stay, and have the values of others that do not.
  private var kept: Set<ManagedObjectID> = []

  init(_ findings: MigrationFindings) { self.findings = findings }

  /// Notes that an object cannot be migrated, and removes what was made of it.
  func note(
    _ error: HeartwoodError, _ source: ManagedObjectID, _ mapping: EntityMapping, _ manager: MigrationManager
  ) {
    for error in error.details.isEmpty ? [error] : error.details {
      findings.add(
        source, error.property, error.code, preventsMigration: true,
        "the mapping \(mapping.name) cannot migrate it: \(error.message(about: source))")
    }
    if !made.isEmpty { failed[source.entity.displayName, default: 0] += 1 }
    for object in made where object.managedObjectContext != nil { manager.destinationContext.delete(object) }
    manager.forget(made)
    made = []
  }

  /// Notes a number of destinations that is not allowed: a migration does not mind it, and a save does.
  func validateCounts(_ object: ManagedObject, _ mapping: EntityMapping, _ manager: MigrationManager) {
    do {
      try object.validateCounts()
    } catch {
      let error = error as? HeartwoodError ?? HeartwoodError.validation(error)
      let source = manager.sourceID(of: object, mapping)
      findings.add(
        source, error.property, error.code, preventsMigration: false, error.message(about: source))
    }
  }

  /// Notes objects whose values must be unique and are not, and removes all but one of them.
  ///
  /// - Returns: The objects that were removed.
  func removeDuplicates(
    _ error: HeartwoodError, _ mapping: EntityMapping, _ manager: MigrationManager
  ) -> Set<ObjectIdentifier> {
    var removed: Set<ObjectIdentifier> = []
    func note(_ object: ManagedObject, _ conflict: ConstraintConflict) -> ManagedObjectID {
      let source = manager.sourceID(of: object, mapping)
      findings.add(
        source, conflict.constraint.first, error.code, preventsMigration: true, error.message)
      return source
    }
    for conflict in error.constraintConflicts {
      let stays = conflict.databaseObject ?? conflict.conflictingObjects.first
      if let stays, kept.insert(manager.sourceID(of: stays, mapping)).inserted { _ = note(stays, conflict) }
      for object in conflict.conflictingObjects
      where object !== stays && removed.insert(ObjectIdentifier(object)).inserted {
        failed[note(object, conflict).entity.displayName, default: 0] += 1
        manager.destinationContext.delete(object)
      }
    }
    return removed
  }

  /// Counts what the new store has, and which objects and links of the former one have become nothing.
  func count(_ manager: MigrationManager) throws {
    for entity in manager.destinationModel.entities where !entity.isAbstract {
      let count = try manager.destinationContext.count(for: Self.request(entity))
      if count > 0 { report.rewrittenObjects[entity.displayName] = count }
    }
    let lost = manager.mappingModel?.lostProperties(from: manager.sourceModel, to: manager.destinationModel)
      .filter { !$0.hasCode }
    for entity in manager.sourceModel.entities where !entity.isAbstract {
      let mappings = manager.mappingModel?.entityMappings.filter { $0.sourceEntityName == entity.name } ?? []
      let properties = lost?.filter { $0.entity === entity }.map(\.property) ?? []
      var count = 0
      try manager.sourceContext.enumerate(Self.request(entity), batchSize: 500) { objects in
        for object in objects {
          guard !manager.associations.destinations(of: object.objectID, nil).isEmpty else {
            count += 1
            continue
          }
          for mapping in mappings { try countLostLinks(of: object, mapping, manager) }
          for property in properties where hasValue(object, property) {
            report.lostValues["\(entity.displayName).\(property.name)", default: 0] += 1
          }
        }
        manager.sourceContext.reset()
        manager.destinationContext.reset()
      }
      count -= failed[entity.displayName] ?? 0
      if count > 0 { report.deletedObjects[entity.displayName] = count }
    }
  }

  private func hasValue(_ object: ManagedObject, _ property: PropertyDescription) -> Bool {
    guard property is RelationshipDescription else { return object.value(forKey: property.name) != nil }
    return !object.objectIDs(forRelationshipNamed: property.name).isEmpty
  }

  /// Counts the destinations in relationships that a mapping takes over of which nothing was made, or to which nothing leads any more.
  private func countLostLinks(
    of object: ManagedObject, _ mapping: EntityMapping, _ manager: MigrationManager
  ) throws {
    let made = Set(manager.associations.destinations(of: object.objectID, mapping.name))
    guard !made.isEmpty, let entity = mapping.destinationEntityName else { return }
    for relationship in try manager.resolved(mapping).relationships {
      guard let links = relationship.links, object.entity.relationshipsByName[links.relationship] != nil
      else { continue }
      let kept = try linked(made, relationship.name, manager)
      let lost = object.objectIDs(forRelationshipNamed: links.relationship).count { id in
        let others = manager.associations.destinations(of: id, nil)
        let isMeant = links.mapping.map { !manager.associations.destinations(of: id, $0).isEmpty } ?? true
        return isMeant && kept.isDisjoint(with: others)
      }
      if lost > 0 { report.lostLinks["\(entity).\(relationship.name)", default: 0] += lost }
    }
  }

  /// The objects that a relationship of objects that were made leads to.
  private func linked(
    _ made: Set<ManagedObjectID>, _ name: String, _ manager: MigrationManager
  ) throws -> Set<ManagedObjectID> {
    var found: Set<ManagedObjectID> = []
    for id in made {
      found.formUnion(try manager.madeObject(id)?.objectIDs(forRelationshipNamed: name) ?? [])
    }
    return found
  }

  private static func request(_ entity: EntityDescription) -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: entity.displayName)
    request.includesSubentities = false
    return request
  }
}

extension HeartwoodError {
  /// The message with the identifier of an object of the source instead of what was made of it, which is removed.
  fileprivate func message(about source: ManagedObjectID) -> String {
    objectIDs.reduce(message) { $0.replacing("\($1)", with: "\(source)") }
  }
}

/// The steps of a staged migration, in a rehearsal.
final class StagedRehearsal {
  /// The end of a rehearsal at a step that the store's objects prevent. Handlers of later stages would see what they never see.
  struct PreventedStep: Error {}

  let findings: MigrationFindings
  /// Nil if there was nothing to do.
  private(set) var report: MigrationReport?

  init(_ findings: MigrationFindings) { self.findings = findings }

  /// - Throws: `PreventedStep` if a migration would throw.
  func add(_ step: MigrationReport) throws(PreventedStep) {
    report = report.map { $0.followed(by: step) } ?? step
    if findings.preventsMigration { throw PreventedStep() }
  }
}

extension MigrationReport {
  /// The report of this step and the next.
  fileprivate func followed(by next: MigrationReport) -> MigrationReport {
    var both = self
    both.deletedObjects.merge(next.deletedObjects, uniquingKeysWith: +)
    both.rewrittenObjects.merge(next.rewrittenObjects, uniquingKeysWith: +)
    both.rewrittenLinks.merge(next.rewrittenLinks, uniquingKeysWith: +)
    both.lostLinks.merge(next.lostLinks, uniquingKeysWith: +)
    both.lostValues.merge(next.lostValues, uniquingKeysWith: +)
    both.changes += next.changes
    both.builtIndexes += next.builtIndexes
    both.hasDeferredWork = next.hasDeferredWork
    both.seconds += next.seconds
    return both
  }
}
