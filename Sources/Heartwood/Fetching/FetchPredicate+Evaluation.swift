/// Predicates of objects in memory.
extension FetchPredicate {
  /// Whether an object satisfies the predicate, with its unsaved changes. The same code decides as in a fetch.
  ///
  /// - Throws: `.invalidPredicate` if the predicate cannot be used for the object's entity, and errors of reading other objects; also for an
  ///   object without a context.
  public func evaluate(with object: ManagedObject) throws -> Bool { try ObjectTest(self).holds(object) }
}

/// A predicate for many objects in memory, which is compiled once for each entity if it always means the same. Used by one thread at a time.
package final class ObjectTest {
  private let predicate: any FetchPredicate
  private var compiled: [ObjectIdentifier: CompiledPredicate] = [:]

  package init(_ predicate: any FetchPredicate) { self.predicate = predicate }

  private func compiled(for entity: EntityDescription) throws -> CompiledPredicate {
    if let known = compiled[ObjectIdentifier(entity)] { return known }
    let made = try CompiledPredicate(predicate, entity: entity)
    if made.condition.isLasting { compiled[ObjectIdentifier(entity)] = made }
    return made
  }

  /// Whether an object satisfies the predicate.
  ///
  /// - Throws: As `FetchPredicate.evaluate(with:)`.
  package func holds(_ object: ManagedObject) throws -> Bool {
    guard let context = object.managedObjectContext else {
      throw HeartwoodError(
        .coreData,
        "a predicate cannot be evaluated with an object that has no context: it was deleted, or its context is gone",
        objectIDs: [object.objectID])
    }
    let compiled = try compiled(for: object.entity)
    let overlay = PendingOverlay(try context.readingView().forOneReader(), context)
    let key = object.identifier.key
    var row =
      object.hasUnsavedState ? overlay.row(of: object) : try overlay.row(object.entity.rootEntity, key)
    // A row that is deleted has its last values in the object, as observers of the save ask for.
    if row == nil, object.storedRow != nil { row = overlay.row(of: object) }
    guard let row else { return false }
    return try compiled.matches(row, key: key, in: overlay)
  }
}

extension Sequence where Element: ManagedObject {
  /// The objects that satisfy a predicate.
  ///
  /// - Throws: As `FetchPredicate.evaluate(with:)`.
  public func filtered(using predicate: any FetchPredicate) throws -> [Element] {
    let test = ObjectTest(predicate)
    return try filter { try test.holds($0) }
  }
}
