import HeartwoodBytes

/// Some of several stores, and which objects of a context they have, or get with the next save.
struct StoresOfObjects {
  private let numbers: Set<Int>
  private let choice: StoreChoice?

  init(_ numbers: Set<Int>, _ context: ManagedObjectContext) {
    self.numbers = numbers
    // An object that no store can have is in none: its save will say so.
    choice = try? context.view.store?.choice(for: Array(context.changes.inserted), of: context)
  }

  func contain(_ object: ManagedObject) -> Bool {
    if let choice { return numbers.contains(choice.number(of: object)) }
    return object.identifier.key.isPermanentKey && numbers.contains(object.identifier.key.storeNumber)
  }
}

/// The stores of the objects of a save, by their numbers.
struct StoreChoice {
  private let store: any ContextStore
  private let context: ManagedObjectContext
  /// Of objects that have no permanent identifier.
  private var numbers: [ObjectIdentifier: Int] = [:]

  /// - Throws: As `init(_:in:_:)`.
  init(for objects: [ManagedObject], in store: any ContextStore, _ context: ManagedObjectContext)
    throws(HeartwoodError)
  {
    self.store = store
    self.context = context
    let new = objects.filter { !context.permanentKeys.permanent($0.identifier.key).isPermanentKey }
    try chooseAssigned(new)
    var open = new.filter { numbers[ObjectIdentifier($0)] == nil }
    guard !open.isEmpty else { return }
    if open.contains(where: { possible($0.entity).count > 1 }) {
      spread(from: new)
      open.removeAll { numbers[ObjectIdentifier($0)] != nil }
    }
    for object in open { numbers[ObjectIdentifier(object)] = try first(for: object) }
  }

  /// The stores of all objects of a save.
  ///
  /// - Throws: `.persistentStoreIncompatibleSchema` if no store can have one of the new objects, or the assigned one cannot,
  ///   `.managedObjectExternalRelationship` if an object is related to one of another store, `.persistentStoreOperation` if the store of
  ///   an object is not open any more.
  init(_ plan: SavePlan, in store: any ContextStore, _ context: ManagedObjectContext) throws(HeartwoodError) {
    try self.init(for: plan.inserted, in: store, context)
    let open = Set(store.members.map(\.number))
    for object in plan.all where !open.contains(number(of: object)) {
      throw .closedStore(object.identifier)
    }
    for object in plan.written { try refuseExternal(object) }
  }

  /// The stores that a save writes to, or checks rows of.
  func touched(by plan: SavePlan) -> Set<Int> { Set(plan.all.map(number)) }

  func number(of object: ManagedObject) -> Int {
    let key = context.permanentKeys.permanent(object.identifier.key)
    return key.isPermanentKey ? key.storeNumber : numbers[ObjectIdentifier(object)] ?? 0
  }

  // MARK: Choosing

  /// The stores that may get new objects of an entity, in the order in which they were added.
  private func possible(_ entity: EntityDescription) -> [Int] {
    store.members.filter { $0.configuration.has(entity) && !$0.isReadOnly }.map(\.number)
  }

  private mutating func chooseAssigned(_ objects: [ManagedObject]) throws(HeartwoodError) {
    guard !context.nextSave.assignedStores.isEmpty else { return }
    let members = store.members
    for object in objects {
      guard let assigned = context.nextSave.assignedStores[object.identifier.key] else { continue }
      guard let member = members.first(where: { $0.store.identity == assigned }) else {
        throw .closedStore(object.identifier)
      }
      guard member.configuration.has(object.entity) else {
        throw .assignedWrongly(
          object, member, "has the configuration \(member.configuration.name ?? "?"), without that entity")
      }
      guard !member.isReadOnly else { throw .assignedWrongly(object, member, "is open read-only") }
      numbers[ObjectIdentifier(object)] = member.number
    }
  }

  /// Gives objects the stores of those that they are related to: first of saved and assigned ones, then one store to all that are related.
  private mutating func spread(from objects: [ManagedObject]) {
    var related: [ObjectIdentifier: [ManagedObject]] = [:]
    var waiting: [(ManagedObject, Int)] = []
    for object in objects {
      if let number = numbers[ObjectIdentifier(object)] { waiting.append((object, number)) }
      object.forEachNewTarget { root, key in
        let key = context.permanentKeys.permanent(key)
        if key.isPermanentKey { return waiting.append((object, key.storeNumber)) }
        guard let target = context.registered(root, key) else { return }
        related[ObjectIdentifier(object), default: []].append(target)
        related[ObjectIdentifier(target), default: []].append(object)
      }
    }
    // A saved object is related to a new one by its own changes too.
    for object in context.changes.updated where object.hasStoredRelationshipChanges || object.pending != nil {
      object.forEachNewTarget { root, key in
        guard !context.permanentKeys.permanent(key).isPermanentKey, let target = context.registered(root, key)
        else { return }
        waiting.append((target, number(of: object)))
      }
    }
    give(&waiting, related)
    for object in objects where numbers[ObjectIdentifier(object)] == nil {
      guard let number = together(object, related) else { continue }
      waiting = [(object, number)]
      give(&waiting, related)
    }
  }

  private mutating func give(
    _ waiting: inout [(ManagedObject, Int)], _ related: [ObjectIdentifier: [ManagedObject]]
  ) {
    var next = 0
    while next < waiting.count {
      let (object, number) = waiting[next]
      next += 1
      let place = ObjectIdentifier(object)
      if numbers[place] == nil {
        guard possible(object.entity).contains(number) else { continue }
        numbers[place] = number
      }
      guard numbers[place] == number else { continue }
      for target in related[place] ?? [] where numbers[ObjectIdentifier(target)] == nil {
        waiting.append((target, number))
      }
    }
  }

  /// The first store that can have an object and all new ones that it is related to, directly or not; nil if there is none.
  private func together(_ object: ManagedObject, _ related: [ObjectIdentifier: [ManagedObject]]) -> Int? {
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(object)]
    var waiting = [object]
    var common = possible(object.entity)
    while let next = waiting.popLast() {
      let numbers = possible(next.entity)
      common.removeAll { !numbers.contains($0) }
      for target in related[ObjectIdentifier(next)] ?? [] where seen.insert(ObjectIdentifier(target)).inserted
      {
        waiting.append(target)
      }
    }
    return common.first
  }

  private func first(for object: ManagedObject) throws(HeartwoodError) -> Int {
    if let number = possible(object.entity).first { return number }
    throw HeartwoodError(
      .persistentStoreIncompatibleSchema,
      "\(object.entity.displayName) cannot be saved: no store of the coordinator that may be written has this entity in its configuration",
      objectIDs: [object.identifier])
  }

  /// - Throws: `.managedObjectExternalRelationship` if a change of the object relates it to one of another store.
  private func refuseExternal(_ object: ManagedObject) throws(HeartwoodError) {
    let own = number(of: object)
    var external: (PropertyDescription, ManagedObjectID)?
    object.forEachNewTarget(withProperty: { relationship, key in
      guard external == nil else { return }
      let key = context.permanentKeys.permanent(key)
      let destination: EntityDescription = relationship.destinationEntity
      let target = context.registered(destination.rootEntity, key)
      let other = key.isPermanentKey ? key.storeNumber : target.map(number) ?? own
      guard other != own else { return }
      external = (
        relationship,
        target?.identifier ?? ManagedObjectID(entity: destination, key: key, store: store.identity)
      )
    })
    if let external { throw .externalRelationship(object.identifier, external.0, external.1) }
  }
}

extension ManagedObject {
  /// Calls `body` for the objects that unsaved changes of this one refer to, by to-one values and links.
  func forEachNewTarget(_ body: (EntityDescription, UInt64) -> Void) {
    forEachNewTarget(withProperty: { body($0.destinationEntity.rootEntity, $1) })
  }

  func forEachNewTarget(withProperty body: (RelationshipDescription, UInt64) -> Void) {
    for relationship in entity.relationshipsBySlot where !relationship.isTransient {
      if relationship.isToMany {
        for key in relationshipState(at: relationship.slot)?.added ?? [] { body(relationship, key) }
      } else if case .object(let id)? = pending?.edit(relationship.slot) {
        body(relationship, id.key)
      }
    }
  }
}

extension HeartwoodError {
  static var noAffectedStore: HeartwoodError {
    HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "affectedStores of the request has no store of the context: put one of those in it, or set it to nil for all"
    )
  }

  static func closedStore(_ object: ManagedObjectID) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOperation,
      "the store of \(object) is not open in the coordinator any more: add it again, or reset the context",
      objectIDs: [object])
  }

  fileprivate static func assignedWrongly(
    _ object: ManagedObject, _ member: StoreMember, _ what: String
  ) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreIncompatibleSchema,
      "\(object.entity.displayName) was assigned to the store at \(member.place), which \(what): assign it to another store",
      objectIDs: [object.identifier])
  }
}
