/// The changed objects of a context by root entity and by the values of attributes, kept from one fetch to the next.
///
/// Without it each fetch would look at every changed object: finding or creating n objects one after the other would take
/// quadratic time. Each event brings it up to date with the objects that it changed; anything else that changes objects makes
/// it be built again, which the context's edit count tells.
///
/// A class, as a copy of its dictionaries for each event would be the quadratic time that it is there to avoid.
final class PendingLookup {
  /// The changed objects by the values of one attribute.
  private final class AttributeIndex {
    let slot: Int
    private var objects: [Value: [ManagedObject]] = [:]
    private var values: [ObjectIdentifier: Value] = [:]

    init(slot: Int) { self.slot = slot }

    func objects(with value: Value) -> [ManagedObject] { objects[value] ?? [] }

    func update(_ object: ManagedObject, hasAttribute: Bool) {
      let place = ObjectIdentifier(object)
      if let former = values.removeValue(forKey: place) { objects[former]?.removeAll { $0 === object } }
      guard hasAttribute, object.state.isLive, object.hasUnsavedState else { return }
      let value = object.value(at: slot)
      values[place] = value
      objects[value, default: []].append(object)
    }
  }

  /// The fewest changed objects for which this is faster than looking at all.
  private static let leastChanges = 32

  /// The context's edit count up to which this is complete.
  private var editCount: Int
  /// The keys of changed and deleted rows, by the number of their root entity.
  private(set) var hiddenKeys: [UInt16: Set<UInt64>] = [:]
  private(set) var roots: Set<UInt16> = []
  private var indexes: [ObjectIdentifier: AttributeIndex] = [:]

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
    let changed = event.changes.map(\.object) + event.refreshed
    for object in changed { add(object) }
    for (property, index) in indexes {
      for object in changed { update(object, property, in: index) }
    }
    editCount = context.editCount
  }

  /// The changed objects that have a value of an attribute.
  func objects(
    with value: Value, of attribute: AttributeDescription, in context: ManagedObjectContext
  ) -> [ManagedObject] {
    let property = ObjectIdentifier(attribute)
    if let known = indexes[property] { return known.objects(with: value) }
    let made = AttributeIndex(slot: attribute.slot)
    for object in context.changes.inserted { update(object, property, in: made) }
    for object in context.changes.updated { update(object, property, in: made) }
    indexes[property] = made
    return made.objects(with: value)
  }

  private func add(_ object: ManagedObject) {
    let root = object.entity.rootEntity.number
    roots.insert(root)
    guard !object.state.contains(.inserted) || !object.identifier.isTemporaryID else { return }
    if object.hasUnsavedState {
      hiddenKeys[root, default: []].insert(object.identifier.key)
    } else {
      hiddenKeys[root]?.remove(object.identifier.key)
    }
  }

  private func update(_ object: ManagedObject, _ property: ObjectIdentifier, in index: AttributeIndex) {
    let attributes = object.entity.compiled.attributes
    let attribute = index.slot < attributes.count ? attributes[index.slot] : nil
    index.update(object, hasAttribute: attribute.map { ObjectIdentifier($0) } == property)
  }
}
