/// The changed objects of a context as fetches ask for them, kept from one fetch to the next.
///
/// Without it each fetch would look at every changed object: finding or creating n objects one after the other would take
/// quadratic time. Each event brings it up to date with the objects that it changed; anything else that changes objects makes
/// it be built again, which the context's edit count tells.
///
/// A class, as a copy of its dictionaries for each event would be the quadratic time that it is there to avoid.
final class PendingLookup {
  /// The fewest changed objects for which this is faster than looking at all.
  private static let leastChanges = 32

  /// The context's edit count up to which this is complete.
  private var editCount: Int
  /// The keys of changed and deleted rows, by the number of their root entity.
  private(set) var hiddenKeys: [UInt16: Set<UInt64>] = [:]
  private(set) var roots: Set<UInt16> = []
  /// The entities of the changed objects that are not deleted, and how many there are of each.
  private var live: [ObjectIdentifier: UInt16] = [:]
  private var liveCounts: [UInt16: Int] = [:]
  private var indexes: [PendingIndex.Shape: PendingIndex] = [:]
  /// The indexes that one fetch would have used. The second one makes them.
  private var wanted: Set<PendingIndex.Shape> = []

  private init(_ context: ManagedObjectContext) {
    editCount = context.editCount
    for objects in context.changes.listsForFetches {
      for object in objects { add(object) }
    }
  }

  /// The context's lookup, made or brought up to date; nil if the context has few changes.
  static func of(_ context: ManagedObjectContext) -> PendingLookup? {
    guard context.changes.countForFetches >= leastChanges else {
      context.pendingLookup = nil
      return nil
    }
    if let known = context.pendingLookup, known.editCount == context.editCount { return known }
    let made = PendingLookup(context)
    context.pendingLookup = made
    return made
  }

  /// Takes the changes of an event over, if this was complete before it.
  func apply(_ event: ContextEvent, editCountBefore: Int, in context: ManagedObjectContext) {
    guard editCount == editCountBefore else { return }
    let changed = event.changedObjects
    for object in changed { add(object) }
    for index in indexes.values {
      for object in changed { index.update(object) }
    }
    editCount = context.editCount
  }

  /// How many changed objects are not deleted, of the entities with accepted numbers.
  func liveCount(where accepts: (UInt16) -> Bool) -> Int {
    liveCounts.reduce(0) { accepts($1.key) ? $0 + $1.value : $0 }
  }

  /// The index of an entity's family by some properties; nil at the first request, which may be the only one.
  ///
  /// - Complexity: O(n log n) for n changed objects at the second request.
  func index(
    of entity: EntityDescription, by keys: [PendingIndex.Key], in context: ManagedObjectContext
  ) -> PendingIndex? {
    let shape = PendingIndex.Shape(root: entity.rootEntity.number, keys: keys)
    if let known = indexes[shape] { return known }
    guard !wanted.insert(shape).inserted else { return nil }
    let made = PendingIndex(shape)
    for object in context.changes.inserted { made.update(object) }
    for object in context.changes.updated { made.update(object) }
    indexes[shape] = made
    return made
  }

  /// The same by the values of one property, ascending.
  func index(of entity: EntityDescription, by slot: Int, in context: ManagedObjectContext) -> PendingIndex? {
    index(of: entity, by: [PendingIndex.Key(slot: slot, of: entity)], in: context)
  }

  private func add(_ object: ManagedObject) {
    let root = object.entity.rootEntity.number
    roots.insert(root)
    count(object)
    guard !object.state.contains(.inserted) || !object.identifier.isTemporaryID else { return }
    if object.hasUnsavedState {
      hiddenKeys[root, default: []].insert(object.identifier.key)
    } else {
      hiddenKeys[root]?.remove(object.identifier.key)
    }
  }

  private func count(_ object: ManagedObject) {
    let identity = ObjectIdentifier(object)
    if let number = live.removeValue(forKey: identity) { liveCounts[number, default: 0] -= 1 }
    guard object.state.isLive, object.hasUnsavedState else { return }
    live[identity] = object.entity.number
    liveCounts[object.entity.number, default: 0] += 1
  }
}

/// The changed objects of a family that have certain properties, in the order of their values and keys.
///
/// A class, as lists of them are changed in place.
final class PendingIndex {
  /// A property whose values decide.
  struct Key: Hashable {
    let slot: Int
    /// Subentities have the same property at the slot, other entities another one.
    private let property: ObjectIdentifier
    let isAscending: Bool

    init(slot: Int, of entity: EntityDescription, isAscending: Bool = true) {
      self.slot = slot
      property = ObjectIdentifier(entity.property(at: slot))
      self.isAscending = isAscending
    }

    func isProperty(of entity: EntityDescription) -> Bool {
      entity.slots.contains(slot) && ObjectIdentifier(entity.property(at: slot)) == property
    }
  }

  /// The entity and properties that the objects have in common.
  struct Shape: Hashable {
    /// The number of their root entity.
    let root: UInt16
    let keys: [Key]
  }

  struct Entry {
    let object: ManagedObject
    fileprivate let key: UInt64
    fileprivate let values: [Value]

    /// The value of the first key.
    var value: Value { values[0] }
  }

  /// A part of the order.
  struct Run {
    fileprivate var lower: SortedBlocks<Entry>.Position
    fileprivate let upper: SortedBlocks<Entry>.Position
  }

  private let shape: Shape
  private var entries = SortedBlocks<Entry>()
  private var known: [ObjectIdentifier: Entry] = [:]

  init(_ shape: Shape) { self.shape = shape }

  /// Takes over what an object is now.
  func update(_ object: ManagedObject) {
    let identity = ObjectIdentifier(object)
    if let former = known.removeValue(forKey: identity) { remove(former) }
    guard object.state.isLive, object.hasUnsavedState, object.entity.rootEntity.number == shape.root,
      shape.keys.allSatisfy({ $0.isProperty(of: object.entity) })
    else { return }
    let entry = Entry(
      object: object, key: object.identifier.key, values: shape.keys.map { object.knownValue(at: $0.slot) })
    entries.insert(entry, at: position(of: entry))
    known[identity] = entry
  }

  private func remove(_ entry: Entry) {
    let place = position(of: entry)
    assert(entries[place]?.object === entry.object, "the index is out of order")
    if entries[place]?.object === entry.object { entries.remove(at: place) }
  }

  /// All entries.
  var all: Run { Run(lower: entries.start, upper: entries.end) }

  /// The entries whose first value is in a range.
  ///
  /// - Precondition: The first key ascends.
  func run(from lower: IndexBound?, to upper: IndexBound?) -> Run {
    Run(lower: position(from: lower), upper: position(to: upper))
  }

  func count(_ run: Run) -> Int { entries.count(from: run.lower, to: run.upper) }

  /// Calls `body` with the objects of a run in order until it returns false; then returns false itself.
  @discardableResult
  func forEach(_ run: Run, _ body: (ManagedObject) throws -> Bool) rethrows -> Bool {
    var place = run.lower
    while place != run.upper, let entry = entries[place] {
      guard try body(entry.object) else { return false }
      entries.advance(&place)
    }
    return true
  }

  /// The same backwards.
  func forEachReversed(_ run: Run, _ body: (ManagedObject) throws -> Bool) rethrows {
    var place = run.upper
    while place != run.lower, entries.retreat(&place), let entry = entries[place] {
      guard try body(entry.object) else { return }
    }
  }

  /// Without a lower bound, a range leaves missing values out.
  private func position(from lower: IndexBound?) -> SortedBlocks<Entry>.Position {
    guard let lower else { return entries.position { $0.value.isNull } }
    return entries.position { entry in
      let order = Value.compare(entry.value, lower.value) ?? 0
      return lower.isInclusive ? order < 0 : order <= 0
    }
  }

  private func position(to upper: IndexBound?) -> SortedBlocks<Entry>.Position {
    guard let upper else { return entries.end }
    return entries.position { entry in
      let order = Value.compare(entry.value, upper.value) ?? 0
      return upper.isInclusive ? order <= 0 : order < 0
    }
  }

  /// The position of an entry, or where it belongs.
  private func position(of entry: Entry) -> SortedBlocks<Entry>.Position {
    entries.position { order($0, entry) < 0 }
  }

  /// As a fetch delivers them: entries that are equal in all keys in the direction of the last one.
  private func order(_ left: Entry, _ right: Entry) -> Int {
    for (number, key) in shape.keys.enumerated() {
      let order = Value.compare(left.values[number], right.values[number]) ?? 0
      if order != 0 { return key.isAscending ? order : -order }
    }
    let order = Value.order(left.key, right.key)
    return shape.keys.last?.isAscending == false ? -order : order
  }
}

extension ManagedObject {
  /// The value of a property, with the permanent identifier of an object that has one.
  fileprivate func knownValue(at slot: Int) -> Value {
    let value = value(at: slot)
    guard case .object(let id) = value, id.isTemporaryID, let context = managedObjectContext,
      let key = context.permanentKeys[id.key]
    else { return value }
    return .object(ManagedObjectID(entity: id.entity, key: key, store: id.store))
  }
}
