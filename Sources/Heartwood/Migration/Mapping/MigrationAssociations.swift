/// Which objects of a destination store the objects of a source store have become, by mapping.
///
/// Memory holds one entry for all objects that follow one another in both stores, as those that a mapping makes one after the other do.
struct MigrationAssociations {
  /// The associations of one mapping between objects of two entities.
  private struct Group {
    let source: ManagedObjectID
    let destination: ManagedObjectID
    var pairs = KeyPairs()

    func isOf(_ source: ManagedObjectID, _ destination: ManagedObjectID) -> Bool {
      source.entity === self.source.entity && source.store == self.source.store
        && destination.entity === self.destination.entity && destination.store == self.destination.store
    }

    func isOf(source id: ManagedObjectID) -> Bool { id == source.with(key: id.key) }
    func isOf(destination id: ManagedObjectID) -> Bool { id == destination.with(key: id.key) }
  }

  /// By mapping.
  private var groups: [String: [Group]] = [:]
  /// Associations with objects that are not saved yet.
  private var unsaved: [(mapping: String, source: ManagedObjectID, destination: ManagedObject)] = []

  mutating func add(_ source: ManagedObject, _ destination: ManagedObject, _ mapping: String) {
    unsaved.append((mapping, source.objectID, destination))
  }

  /// The objects that are not saved yet.
  var unsavedDestinations: Set<ObjectIdentifier> { Set(unsaved.map { ObjectIdentifier($0.destination) }) }

  /// Takes the permanent identifiers of the objects that have been saved.
  mutating func noteSaved() {
    for (mapping, source, destination) in unsaved { add(source, destination.objectID, mapping) }
    unsaved = []
  }

  private mutating func add(_ source: ManagedObjectID, _ destination: ManagedObjectID, _ mapping: String) {
    let place = groups[mapping]?.firstIndex { $0.isOf(source, destination) }
    if let place {
      groups[mapping]?[place].pairs.add(source.key, destination.key)
    } else {
      var group = Group(source: source, destination: destination)
      group.pairs.add(source.key, destination.key)
      groups[mapping, default: []].append(group)
    }
  }

  /// Forgets objects that are not saved, and will not be.
  mutating func removeUnsaved(_ objects: Set<ObjectIdentifier>) {
    unsaved.removeAll { objects.contains(ObjectIdentifier($0.destination)) }
  }

  /// How many objects a mapping has made, by pair of entities.
  func madeCounts(_ mapping: String) -> [Int] { groups[mapping]?.map(\.pairs.count) ?? [] }

  func made(_ mapping: String, _ group: Int, at place: Int) -> ManagedObjectID? {
    guard let groups = groups[mapping], group < groups.count else { return nil }
    return groups[group].pairs.destination(at: place).map { groups[group].destination.with(key: $0) }
  }

  /// - Parameter mapping: nil for all mappings.
  func destinations(of source: ManagedObjectID, _ mapping: String?) -> [ManagedObjectID] {
    guard let mapping else {
      return groups.keys.sorted().flatMap { destinations(of: source, $0) }
    }
    return groups[mapping]?.filter { $0.isOf(source: source) }.flatMap { group in
      group.pairs.destinations(of: source.key).map(group.destination.with)
    } ?? []
  }

  func unsavedDestinations(of source: ManagedObjectID, _ mapping: String?) -> [ManagedObject] {
    unsaved.filter { $0.source == source && (mapping == nil || $0.mapping == mapping) }.map(\.destination)
  }

  func sources(of destination: ManagedObjectID, _ mapping: String) -> [ManagedObjectID] {
    let saved =
      groups[mapping]?.filter { $0.isOf(destination: destination) }.flatMap { group in
        group.pairs.sources(of: destination.key).map(group.source.with)
      } ?? []
    let waiting = unsaved.filter { $0.destination.objectID == destination && $0.mapping == mapping }
    return saved + waiting.map(\.source)
  }

  mutating func removeAll() { (groups, unsaved) = ([:], []) }
}

extension ManagedObjectID {
  /// The identifier of another object of the same entity.
  fileprivate func with(key: UInt64) -> ManagedObjectID {
    ManagedObjectID(entity: entity, key: key, store: store)
  }
}
