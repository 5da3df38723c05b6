/// Which objects of a destination store the objects of a source store have become, by mapping.
struct MigrationAssociations {
  private struct Table {
    var destinations: [ManagedObjectID: [ManagedObjectID]] = [:]
    var sources: [ManagedObjectID: [ManagedObjectID]] = [:]
    /// In the order in which they were made.
    var made: [ManagedObjectID] = []
  }

  private var tables: [String: Table] = [:]
  /// Associations with objects that are not saved yet.
  private var unsaved: [(mapping: String, source: ManagedObjectID, destination: ManagedObject)] = []

  mutating func add(_ source: ManagedObject, _ destination: ManagedObject, _ mapping: String) {
    unsaved.append((mapping, source.objectID, destination))
  }

  /// Takes the permanent identifiers of the objects that have been saved.
  mutating func noteSaved() {
    for (mapping, source, destination) in unsaved {
      tables[mapping, default: Table()].destinations[source, default: []].append(destination.objectID)
      tables[mapping, default: Table()].sources[destination.objectID, default: []].append(source)
      tables[mapping, default: Table()].made.append(destination.objectID)
    }
    unsaved = []
  }

  func made(_ mapping: String) -> [ManagedObjectID] { tables[mapping]?.made ?? [] }

  /// - Parameter mapping: nil for all mappings.
  func destinations(of source: ManagedObjectID, _ mapping: String?) -> [ManagedObjectID] {
    guard let mapping else {
      return tables.sorted { $0.key < $1.key }.flatMap { $0.value.destinations[source] ?? [] }
    }
    return tables[mapping]?.destinations[source] ?? []
  }

  func unsavedDestinations(of source: ManagedObjectID, _ mapping: String?) -> [ManagedObject] {
    unsaved.filter { $0.source == source && (mapping == nil || $0.mapping == mapping) }.map(\.destination)
  }

  func sources(of destination: ManagedObjectID, _ mapping: String) -> [ManagedObjectID] {
    let waiting = unsaved.filter { $0.destination.objectID == destination && $0.mapping == mapping }.map(
      \.source)
    return (tables[mapping]?.sources[destination] ?? []) + waiting
  }

  mutating func removeAll() { (tables, unsaved) = ([:], []) }
}
