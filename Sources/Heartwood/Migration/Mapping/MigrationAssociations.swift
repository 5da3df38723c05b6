/// Which objects of a destination store the objects of a source store have become, by mapping.
///
/// Memory holds a pair of identifiers for each object, and where to find it by either of them.
struct MigrationAssociations {
  private struct Table {
    /// In the order in which they were made.
    private(set) var made: [(source: ManagedObjectID, destination: ManagedObjectID)] = []
    private var bySource = Places()
    private var byDestination = Places()

    mutating func add(_ source: ManagedObjectID, _ destination: ManagedObjectID) {
      bySource.add(made.count, of: source)
      byDestination.add(made.count, of: destination)
      made.append((source, destination))
    }

    func destinations(of source: ManagedObjectID) -> [ManagedObjectID] {
      bySource[source].map { made[$0].destination }
    }

    func sources(of destination: ManagedObjectID) -> [ManagedObjectID] {
      byDestination[destination].map { made[$0].source }
    }
  }

  /// The places of pairs, by an identifier. Nearly always it is one.
  private struct Places {
    private var first: [ManagedObjectID: UInt32] = [:]
    private var others: [ManagedObjectID: [UInt32]] = [:]

    mutating func add(_ place: Int, of id: ManagedObjectID) {
      let place = UInt32(clamping: place)
      if first[id] == nil { first[id] = place } else { others[id, default: []].append(place) }
    }

    subscript(id: ManagedObjectID) -> [Int] {
      guard let place = first[id] else { return [] }
      return [Int(place)] + (others[id] ?? []).map(Int.init)
    }
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
      tables[mapping, default: Table()].add(source, destination.objectID)
    }
    unsaved = []
  }

  /// How many objects a mapping has made.
  func madeCount(_ mapping: String) -> Int { tables[mapping]?.made.count ?? 0 }

  func made(_ mapping: String, at place: Int) -> ManagedObjectID? { tables[mapping]?.made[place].destination }

  /// - Parameter mapping: nil for all mappings.
  func destinations(of source: ManagedObjectID, _ mapping: String?) -> [ManagedObjectID] {
    guard let mapping else {
      return tables.sorted { $0.key < $1.key }.flatMap { $0.value.destinations(of: source) }
    }
    return tables[mapping]?.destinations(of: source) ?? []
  }

  func unsavedDestinations(of source: ManagedObjectID, _ mapping: String?) -> [ManagedObject] {
    unsaved.filter { $0.source == source && (mapping == nil || $0.mapping == mapping) }.map(\.destination)
  }

  func sources(of destination: ManagedObjectID, _ mapping: String) -> [ManagedObjectID] {
    let waiting = unsaved.filter { $0.destination.objectID == destination && $0.mapping == mapping }.map(
      \.source)
    return (tables[mapping]?.sources(of: destination) ?? []) + waiting
  }

  mutating func removeAll() { (tables, unsaved) = ([:], []) }
}
