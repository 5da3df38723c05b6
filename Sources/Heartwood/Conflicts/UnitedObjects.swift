import HeartwoodBytes

/// How violations of uniqueness constraints are resolved.
struct UniqueResolution {
  let type: MergePolicyType
  /// Whether the destinations of an unsaved object take the place of those of the stored one.
  let replaces: Bool
  /// All objects with conflicts.
  let conflicting: Set<ObjectIdentifier>
}

/// The objects that have become others in the resolution of conflicts.
struct UnitedObjects {
  /// An object, the key that it had, and the object that it is one with now; itself, if it has got another key.
  typealias Pair = (former: ManagedObject, key: UInt64, survivor: ManagedObject)

  private(set) var all: [Pair] = []
  private(set) var replacements: [(ManagedObject, RelationshipDescription, [ManagedObject])] = []
  private var survivors: [ObjectIdentifier: ManagedObject] = [:]

  var isEmpty: Bool { all.isEmpty }

  /// Notes that an object becomes another one, or gets another key, before it has it.
  mutating func add(_ object: ManagedObject, _ survivor: ManagedObject) {
    all.append((object, object.identifier.key, survivor))
    if object !== survivor { survivors[ObjectIdentifier(object)] = survivor }
  }

  /// Notes that destinations take the place of those that a stored object has.
  mutating func replaceDestinations(
    of object: ManagedObject, by destinations: [(RelationshipDescription, [ManagedObject])]
  ) {
    for (relationship, objects) in destinations { replacements.append((object, relationship, objects)) }
  }

  /// The object that an object is one with in the end.
  func survivor(of object: ManagedObject) -> ManagedObject {
    var last = object
    while let next = survivors[ObjectIdentifier(last)] { last = next }
    return last
  }

  /// The keys that take the place of others, by root entities.
  struct NewKeys {
    private var byRoot: [UInt16: [UInt64: UInt64]] = [:]

    mutating func insert(_ key: UInt64, for former: UInt64, of root: EntityDescription) {
      byRoot[root.number, default: [:]][former] = key
    }

    subscript(root: EntityDescription, key: UInt64) -> UInt64? { byRoot[root.number]?[key] }

    func of(_ root: EntityDescription) -> [UInt64: UInt64]? { byRoot[root.number] }
  }

  var newKeys: NewKeys {
    var keys = NewKeys()
    for (former, key, survivor) in all {
      keys.insert(self.survivor(of: survivor).identifier.key, for: key, of: former.entity.rootEntity)
    }
    return keys
  }
}

/// The object that one which has left its context stands for: the one that it has become one with.
final class UnitedObject {
  let survivor: ManagedObject
  private weak var context: ManagedObjectContext?

  init(_ survivor: ManagedObject, _ context: ManagedObjectContext) {
    self.survivor = survivor
    self.context = context
  }

  /// Makes the next save of the context throw: a value that was set on the object is in no context.
  func noteLostEdit() {
    guard let context, context.nextSave.lostEdit == nil else { return }
    context.nextSave.lostEdit = HeartwoodError(
      .coreData,
      "an object was changed that a merge policy has made one with \(survivor.objectID), as both had the same unique values: "
        + "the change is not in the context; make it on object(with: its objectID), and save again",
      objectIDs: [survivor.objectID])
  }
}

extension ManagedObject {
  /// The object that this one has become one with; itself otherwise.
  package final var standing: ManagedObject {
    guard contextReference == nil, let united = pending?.header.united else { return self }
    return united.survivor.standing
  }

  /// Makes an object that has left the context one that only stands for another.
  final func standFor(_ survivor: ManagedObject, in context: ManagedObjectContext) {
    identifier = survivor.identifier
    makePendingValues().header.united = UnitedObject(survivor, context)
  }
}
