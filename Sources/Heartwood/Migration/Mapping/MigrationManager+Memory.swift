/// Memory of a migration.
extension MigrationManager {
  /// How many objects both contexts may know, destinations of relationships included, before a save.
  private static let mostRegistered = 20_000
  /// How many objects of policies are kept.
  private static let mostKept = 1000

  final var knowsTooMany: Bool {
    sourceContext.identities.count + destinationContext.identities.count > Self.mostRegistered
  }

  /// Keeps the objects that policies have made of no object of the source, as policies look for them among the registered objects of the context.
  final func keepObjectsOfPolicies() {
    let made = associations.unsavedDestinations
    objectsOfPolicies += destinationContext.changes.inserted.filter { !made.contains(ObjectIdentifier($0)) }
    objectsOfPolicies.removeFirst(max(0, objectsOfPolicies.count - Self.mostKept))
  }

  /// Turns the objects of both contexts into faults. They leave memory unless a policy holds them, in a table of its own, say: such an object can be
  /// used further.
  final func turnIntoFaults() {
    Refresh(destinationContext).refreshAllObjects(except: objectsOfPolicies)
    sourceContext.refreshAllObjects()
  }
}
