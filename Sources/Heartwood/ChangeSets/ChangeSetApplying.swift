import Foundation

/// Applying a change set to a context, which is saved then.
///
/// Each part is compared with the store: what it has already is left out, and the policy decides about what both have changed.
struct ChangeSetApplying {
  let context: ManagedObjectContext
  private let set: ChangeSet
  let policy: ChangeSetPolicy
  private let log: LogStore
  let view: LogStoreView
  let replica: ReplicaRecord
  private let entities: [String: EntityDescription]
  /// The stamps of the store's changes since its stored ones.
  private var newStamps: [StampKey: StoredStamp] = [:]
  private var inserted: [ChangeSet.Identity: ManagedObject] = [:]
  /// The objects that the set deletes, and that have other values than it expects.
  private var changedSince: Set<ChangeSet.Identity> = []
  /// The one-to-one values that the store has changed since the set's copy saw them: found before any is set, as that changes others.
  private var contested: Set<StampKey> = []
  /// The objects of the set that the store has, or had.
  private var addresses: [ChangeSet.Identity: RowAddress] = [:]
  /// The destinations that taken values and orders of relationships have in the set.
  private var taken: [(object: ManagedObject, relationship: RelationshipDescription, keys: [UInt64])] = []
  /// The objects that the set deletes.
  private let deleted: Set<ChangeSet.Identity>
  var applied = AppliedChanges()
  var report = ChangeSetReport()

  init(
    _ set: ChangeSet, _ policy: ChangeSetPolicy, to context: ManagedObjectContext, _ log: LogStore,
    _ view: LogStoreView
  ) throws {
    (self.set, self.policy, self.context, self.log, self.view) = (set, policy, context, log, view)
    deleted =
      set.generations == nil ? [] : Set(set.changes.lazy.filter { $0.kind == .deleted }.map(\.identity))
    entities = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
    replica = try view.replica()
    newStamps = try view.newStamps(replica)
    applied.generation = view.generation
    applied.clock = set.stamps.map(\.nanoseconds).max() ?? .min
  }

  /// Changes the context. With the policy `error` nothing is to be saved if the report has conflicts.
  mutating func run() throws {
    try set.check(against: entities)
    let present = try set.changes.map { change in
      let object = try object(of: change.identity)
      if let object, !change.isTombstone, object.entity !== entities[change.entity] {
        throw ChangeSet.misfit(
          "an object of \(change.entity) that is in the store as \(object.entity.displayName)")
      }
      return (change, object)
    }
    for (change, object) in present where change.kind == .deleted {
      if let object {
        if policy != .newest || change.stamp == nil, try isChanged(object, change) {
          changedSince.insert(change.identity)
        }
      } else if try address(of: change.identity) == nil {
        try noteForeignDelete(change)
      }
    }
    // 1. Objects are there before others refer to them.
    var objects: [(change: ChangeSet.Change, object: ManagedObject?)] = []
    for (change, object) in present { objects.append((change, try object ?? insert(change))) }
    try context.obtainPermanentIDs(for: set.changes.compactMap { inserted[$0.identity] })
    for (change, object) in objects where change.kind == .inserted {
      if let object { try noteInsertion(of: object, change) }
    }
    // 2. Values, then links, then orders.
    for case (let change, let object?) in present where change.kind != .deleted {
      for (name, cell) in change.cells {
        guard let slot = object.entity.slot(named: name), let relationship = oneToOne(object, slot) else {
          continue
        }
        let key = StampKey(
          address: RowAddress(object.objectID), property: view.schema.number(of: relationship))
        if try isChanged(self.cell(of: object, slot), cell, key, change) { contested.insert(key) }
      }
    }
    for (change, object) in objects where change.kind != .deleted {
      guard let object else {
        if change.kind == .updated { noteConflict(nil, nil) }
        continue
      }
      try applyCells(change, object)
    }
    for (change, object) in objects where change.kind != .deleted {
      if let object { try applyLinks(change, object) }
    }
    for (change, object) in objects where change.kind != .deleted {
      if let object { try applyOrders(change, object) }
    }
    // 3. Deletes are last: what referred to them is changed by then.
    for (change, object) in objects where change.kind == .deleted { try delete(change, object) }
    noteSideEffects()
    applied.known = set.generations == nil ? [:] : set.known
    applied.known[replica.ownLineage] = nil
  }

  /// Makes what has become of the set's changes by others, such as deletes of destinations, a change of this store: it is not what their stamps say.
  mutating func noteSideEffects() {
    context.processPendingChanges()
    func isGone(_ object: ManagedObject) -> Bool { object.isDeleted || object.managedObjectContext == nil }
    for object in inserted.values where isGone(object) {
      setOwn(StampKey(address: RowAddress(object.objectID)), isDeleted: true)
    }
    let search = ReferenceSearch(context)
    for (object, relationship, keys) in taken
    where !isGone(object) && search.destinations(of: object, relationship) != keys {
      setOwn(StampKey(address: RowAddress(object.objectID), property: view.schema.number(of: relationship)))
    }
  }

  /// Makes a change one of this store, also where the set has brought the object, as what it has is not older than it.
  mutating func setOwn(_ key: StampKey, isDeleted: Bool = false) {
    applied.stamps[key] = nil
    applied.own[key] = isDeleted
  }

  private mutating func noteConflict(_ object: ManagedObject?, _ property: String?) {
    report.conflicts.append(ChangeSetConflict(objectID: object?.objectID, property: property))
  }

  // MARK: Objects

  private func root(of identity: ChangeSet.Identity) throws -> EntityDescription {
    if let root = view.schema.rootEntities.first(where: { $0.displayName == identity.root }) { return root }
    throw ChangeSet.misfit("objects of \(identity.root), which the model does not have")
  }

  /// The address of an object that is in the store, or was; nil for one that has never been.
  private mutating func address(of identity: ChangeSet.Identity) throws -> RowAddress? {
    if let known = addresses[identity] { return known }
    let root = try root(of: identity)
    let key = try view.key(ofObject: identity.key, root: root.number, of: identity.lineage, replica)
    let address = key.map { RowAddress(root, $0) }
    addresses[identity] = address
    return address
  }

  /// The object of the set, if it is in the store or was inserted.
  private mutating func object(of identity: ChangeSet.Identity) throws -> ManagedObject? {
    if let object = inserted[identity] { return object }
    return try address(of: identity).flatMap { try object(at: $0) }
  }

  /// The destination of a relationship, if it is in the store or was inserted.
  private mutating func destination(
    _ identity: ChangeSet.Identity, of relationship: RelationshipDescription
  ) throws -> ManagedObject? {
    guard let object = try object(of: identity) else { return nil }
    let entity: EntityDescription = relationship.destinationEntity
    guard object.entity.isKindOf(entity: entity) else {
      throw ChangeSet.misfit(
        "a \(relationship.name) that is a \(object.entity.displayName), not a \(entity.displayName)")
    }
    return object
  }

  /// The object of a row in the store.
  private func object(at address: RowAddress) throws -> ManagedObject? {
    guard let entity = try view.entity(of: address) else { return nil }
    let identifier = ManagedObjectID(entity: entity, key: address.key, store: view.identity)
    let object: ManagedObject? = try? context.existingObject(with: identifier)
    return object?.isDeleted == false ? object : nil
  }

  /// Inserts an object of the set, under its former key if it was here; nil if it is to stay deleted.
  private mutating func insert(_ change: ChangeSet.Change) throws -> ManagedObject? {
    guard change.kind == .inserted, let entity = entities[change.entity] else { return nil }
    let former = try address(of: change.identity)
    if let former {
      let key = StampKey(address: former)
      if let stamp = change.stamp, let own = try stored(key), own.isDeleted {
        let isConflict = try policy != .newest && !isKnown(stamp) && !isSeen(key)
        if isConflict { noteConflict(nil, nil) }
        // An object that was deleted later stays so, also where another copy deleted it.
        if policy == .mine && isConflict || policy != .theirs && stamp < own.stamp { return nil }
      }
      guard try takes(change.stamp, key, nil, isChangedHere: false, property: nil) else { return nil }
    }
    let object = entity.factory.makeObject()
    let identifier = former.map { context.identifier(entity, $0.key) }
    context.adoptReturning(object, as: identifier ?? ManagedObjectID.makeTemporary(entity))
    inserted[change.identity] = object
    return object
  }

  /// Also of an object that was here, and has come back elsewhere: another copy may have deleted it meanwhile.
  private mutating func noteInsertion(of object: ManagedObject, _ change: ChangeSet.Change) throws {
    let address = RowAddress(object.objectID)
    let (identity, key) = (change.identity, StampKey(address: address))
    guard inserted[identity] != nil else {
      let takes = try takes(change.stamp, key, object, isChangedHere: false, property: nil)
      if takes, policy == .newest, let stamp = change.stamp { try removeLinks(of: object, before: stamp) }
      return
    }
    try note(change.stamp, key)
    report.changedObjectIDs.insert(object.objectID)
    if try self.address(of: identity) == nil {
      applied.origins[address] = (identity.lineage, identity.key)
      addresses[identity] = address
    }
  }

  /// Removes the links that an object had before it was deleted elsewhere, and came back with those that the set has. Its copy may have left out one
  /// that it came back with, which another set brings.
  private mutating func removeLinks(of object: ManagedObject, before stamp: ChangeStamp) throws {
    let address = RowAddress(object.objectID)
    for relationship in object.entity.relationshipsBySlot {
      guard relationship.hasLinkStamps else { continue }
      let inverse = relationship.inverseRelationship
      for target in context.loadedState(object, relationship.slot).keys() {
        let other = RowAddress(relationship.destinationEntity, target)
        let keys = linkKeys(address, relationship, target)
        let known = keys + [StampKey(address: address)] + (inverse == nil ? [] : [StampKey(address: other)])
        guard try known.allSatisfy({ try stored($0).map { $0.stamp < stamp } ?? true }) else { continue }
        setLink(object, relationship, target, try self.object(at: other), isAdded: false)
        for key in keys { try note(stamp.before, key, isDeleted: true) }
      }
    }
  }

  private mutating func delete(_ change: ChangeSet.Change, _ object: ManagedObject?) throws {
    guard let address = try address(of: change.identity) else { return }
    let key = StampKey(address: address)
    guard let object else {
      // Both have deleted it.
      return try note(change.stamp, key, isDeleted: true)
    }
    let isChanged = changedSince.contains(change.identity)
    guard try takes(change.stamp, key, object, isChangedHere: isChanged, property: nil, isDeleted: true)
    else { return }
    report.changedObjectIDs.insert(object.objectID)
    if let stamp = change.stamp {
      for relationship in object.entity.relationshipsBySlot
      where relationship.inverseRelationship?.hasPortableLinks == true {
        for target in context.loadedState(object, relationship.slot).keys() {
          for key in linkKeys(address, relationship, target) where key.address != address {
            applied.goneLinks[key] = StoredStamp(stamp: stamp, isDeleted: true)
          }
        }
      }
    }
    context.delete(object)
  }

  /// Keeps the delete of an object that was never here for the copies that have it, and for those that bring it later.
  private mutating func noteForeignDelete(_ change: ChangeSet.Change) throws {
    guard let stamp = change.stamp, !isKnown(stamp) else { return }
    let root = try root(of: change.identity)
    let address = RowAddress(root, try log.reserveKeys(root, 1))
    applied.origins[address] = (change.identity.lineage, change.identity.key)
    addresses[change.identity] = address
    try note(stamp, StampKey(address: address), isDeleted: true)
  }

  /// Whether an object has other values and links than the set has deleted, which its copy has not seen.
  private mutating func isChanged(_ object: ManagedObject, _ change: ChangeSet.Change) throws -> Bool {
    let address = RowAddress(object.objectID)
    for slot in object.entity.slots where object.entity.isPortable(slot) {
      // A value that the set does not name was nil.
      let former = change.cells[object.entity.property(at: slot).path]?.former ?? .value(.null)
      let key = StampKey(address: address, property: view.schema.entity(object.entity).propertyNumbers[slot])
      if try !isStored(cell(of: object, slot), as: former), try !isSeen(key) { return true }
    }
    for relationship in object.entity.relationshipsBySlot where set.generations != nil {
      // References to it, which are values of other objects.
      guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { continue }
      for source in context.destinations(of: object, relationship) {
        let address = RowAddress(source.objectID)
        if try !isSeen(StampKey(address: address, property: view.schema.number(of: inverse))) { return true }
      }
    }
    for relationship in object.entity.relationshipsBySlot where relationship.hasLinkStamps {
      let named = try change.links[relationship.name, default: []].map {
        try self.address(of: $0.destination)?.key
      }
      for target in Set(context.loadedState(object, relationship.slot).keys()).subtracting(
        named.compactMap(\.self))
      {
        for key in linkKeys(address, relationship, target) {
          // An inverted set does not name the links that go with the object from the other side, which may be its own.
          let isNamed = key.address == address && key.property == view.schema.number(of: relationship)
          if try (isNamed || set.generations != nil) && !isSeen(key) { return true }
        }
      }
    }
    return false
  }

  // MARK: Decisions

  /// The subjects of the stamps of a link: of one to itself there are two.
  func linkKeys(
    _ address: RowAddress, _ relationship: RelationshipDescription, _ target: UInt64
  ) -> [StampKey] {
    func key(_ relationship: RelationshipDescription, _ source: RowAddress, _ target: UInt64) -> StampKey? {
      guard relationship.hasPortableLinks else { return nil }
      return StampKey(address: source, property: view.schema.number(of: relationship), target: target)
    }
    let other = RowAddress(relationship.destinationEntity, target)
    let inverse = relationship.inverseRelationship.flatMap { key($0, other, address.key) }
    return [key(relationship, address, target), inverse].compactMap(\.self)
  }

  func stored(_ key: StampKey) throws -> StoredStamp? {
    try newStamps[key] ?? view.storedStamp(key, replica)
  }

  /// Keeps a stamp, unless the store has a later one.
  private mutating func note(_ stamp: ChangeStamp?, _ key: StampKey, isDeleted: Bool = false) throws {
    guard let stamp, try stored(key).map({ $0.stamp < stamp }) ?? true else { return }
    applied.stamps[key] = StoredStamp(stamp: stamp, isDeleted: isDeleted)
  }

  /// Whether the set has a change that this store knows already: its own, or one that came before.
  private func isKnown(_ stamp: ChangeStamp) -> Bool {
    guard set.generations != nil else { return false }
    return stamp.lineage == replica.ownLineage || stamp.number <= replica.known[stamp.lineage] ?? 0
  }

  /// Whether the copy that made the set had what this store has, so that its change came after it.
  ///
  /// - Parameter byInverted: Whether what an inverted set had when it was made counts, though its changes are made now.
  private func isSeen(_ key: StampKey, byInverted: Bool = false) throws -> Bool {
    guard set.generations != nil || byInverted,
      let own = try stored(key) ?? stored(StampKey(address: key.address))
    else { return false }
    return own.stamp.number <= set.known[own.stamp.lineage] ?? 0
  }

  /// Whether a change of the set is made.
  ///
  /// - Parameters:
  ///   - isChangedHere: Whether the store has another value than the set expects and makes, which its copy has not seen.
  ///   - property: Nil for the whole object.
  ///   - isNew: Whether the set brings the object, or the one that a link leads to, so that nothing of it was known here.
  ///   - isMissing: Whether it is a link that is not here, as what it leads to was deleted. One that was made with its object is taken.
  ///   - target: The other object of a link that both have.
  private mutating func takes(
    _ stamp: ChangeStamp?, _ key: StampKey, _ object: ManagedObject?, isChangedHere: Bool, property: String?,
    isDeleted: Bool = false, isNew: Bool = false, isMissing: Bool = false, target: RowAddress? = nil
  ) throws -> Bool {
    var own = try stored(key)
    var isOfObject = false
    // A value is not older than its object, which may have been deleted and inserted again, and a link not than its objects, also where the set
    // brings them back.
    for end in (key.property == nil ? [] : [key.address, target]).compactMap(\.self) {
      let endKey = StampKey(address: end)
      let brought = key.target == nil ? nil : applied.stamps[endKey]
      guard let ofObject = try brought ?? stored(endKey), !ofObject.isDeleted else { continue }
      isOfObject = isOfObject || own.map { $0 < ofObject } ?? true
      own = max(own ?? ofObject, ofObject)
    }
    // A known change may have been left out, as its object was deleted then. The times decide.
    if !isNew, let stamp, isKnown(stamp), policy != .newest || own == nil { return false }
    let isNewer =
      stamp.map { stamp in
        own.map { $0.stamp < stamp || isOfObject && isMissing && $0.stamp == stamp } ?? true
      } ?? false
    // The changes of an inverted set have no times: they are made now. Others that have none are older than all, as the history was deleted that had
    // their times before the first exchange.
    let decidesByTime = policy == .newest && stamp != nil
    let isNews = stamp.map { !isKnown($0) } ?? true
    if isChangedHere, isNews, !decidesByTime || own != nil { noteConflict(object, property) }
    let isNow = policy == .newest && set.generations == nil
    let takes = decidesByTime ? isNewer : policy == .theirs || isNow || !isChangedHere
    if takes, isNewer { try note(stamp, key, isDeleted: isDeleted) }
    return takes
  }

  // MARK: Values

  private func cell(of object: ManagedObject, _ slot: Int) throws -> ChangeSet.Cell {
    guard object.entity.compiled.relationshipBySlot[slot] != nil else {
      return .value(object.value(at: slot))
    }
    guard case .object(let identifier) = object.value(at: slot) else { return .value(.null) }
    return .object(
      try view.identity(RowAddress(identifier.entity, identifier.key), identifier.entity, replica))
  }

  private mutating func applyCells(_ change: ChangeSet.Change, _ object: ManagedObject) throws {
    let isNew = inserted[change.identity] != nil
    let numbers = view.schema.entity(object.entity).propertyNumbers
    let address = RowAddress(object.objectID)
    var columns: [(slot: Int, value: Value)] = []
    var cells = change.cells
    if change.kind == .inserted, !isNew, policy == .newest {
      // It comes back to a copy that has it: values that the set does not name are nil.
      for slot in object.entity.slots where object.entity.isPortable(slot) {
        let path = object.entity.property(at: slot).path
        if cells[path] == nil {
          cells[path] = ChangeSet.CellChange(former: .value(.null), value: .value(.null), stamp: change.stamp)
        }
      }
    }
    for (name, cell) in cells.sorted(by: { $0.key < $1.key }) {
      guard let slot = object.entity.slot(named: name) else { continue }
      let key = StampKey(address: address, property: numbers[slot])
      // One that was set to the value that it had decides only by its time, or where this store has the value between.
      if policy != .newest, !isNew, cell.isUnchanged, change.kind == .updated,
        try !isSeen(key)
      {
        continue
      }
      var isSame = false
      if isNew {
        if policy != .newest, try leadsToContested(cell.value, object, slot) {
          noteConflict(object, name)
          if policy == .mine { continue }
        }
        // A value without a stamp has that of its object.
        if cell.stamp != change.stamp { try note(cell.stamp, key) }
      } else {
        let present = try self.cell(of: object, slot)
        isSame = present.isStored(as: cell.value)
        let isChanged =
          try oneToOne(object, slot) == nil
          ? isChanged(present, cell, key, change)
          : contested.contains(key) || leadsToContested(cell.value, object, slot)
        guard
          try takes(
            cell.stamp ?? change.stamp, key, object,
            isChangedHere: isChanged, property: name)
        else { continue }
      }
      if let relationship = object.entity.compiled.relationshipBySlot[slot] {
        var keys: [UInt64] = []
        if case .object(let identity) = cell.value { keys = [try self.address(of: identity)?.key ?? 0] }
        taken.append((object, relationship, keys))
      }
      guard !isSame else { continue }
      report.changedObjectIDs.insert(object.objectID)
      switch cell.value {
      case .value(let value):
        if object.entity.compiled.relationshipBySlot[slot] != nil {
          context.setToOne(object, slot, nil)
        } else {
          columns.append((slot, value))
        }
      case .object(let identity):
        let destination = try self.destination(identity, of: object.entity.relationship(at: slot))
        if destination == nil, policy != .newest, !isNew, let gone = try self.address(of: identity),
          try !isSeen(StampKey(address: gone), byInverted: true)
        {
          noteConflict(object, name)
          if policy == .mine { continue }
        }
        if policy == .newest || isNew || destination != nil || change.kind == .updated {
          context.setToOne(object, slot, destination)
        }
      }
    }
    guard !columns.isEmpty else { return }
    context.willEdit(object)
    for (slot, value) in columns { object.setEdit(slot, value) }
  }

  /// Whether the store has another value than the set expects and makes, which its copy has not seen.
  private mutating func isChanged(
    _ present: ChangeSet.Cell, _ cell: ChangeSet.CellChange, _ key: StampKey, _ change: ChangeSet.Change
  ) throws -> Bool {
    try !isStored(present, as: cell.value)
      && (change.kind == .inserted || !isStored(present, as: cell.former)) && !isSeen(key)
  }

  /// Whether the store has a value that the set names. An inverted set brings no reference to an object that is gone.
  private mutating func isStored(_ present: ChangeSet.Cell, as named: ChangeSet.Cell) throws -> Bool {
    if present.isStored(as: named) { return true }
    guard set.generations == nil, present == .value(.null), case .object(let identity) = named else {
      return false
    }
    return try object(of: identity) == nil
  }

  private func oneToOne(_ object: ManagedObject, _ slot: Int) -> RelationshipDescription? {
    object.entity.compiled.relationshipBySlot[slot].flatMap {
      $0.inverseRelationship?.isToMany == false ? $0 : nil
    }
  }

  /// Whether a one-to-one value leads to an object whose other side the store has changed.
  private mutating func leadsToContested(
    _ cell: ChangeSet.Cell, _ object: ManagedObject, _ slot: Int
  ) throws -> Bool {
    guard case .object(let identity) = cell, let inverse = oneToOne(object, slot)?.inverseRelationship,
      let address = try address(of: identity)
    else { return false }
    return contested.contains(StampKey(address: address, property: view.schema.number(of: inverse)))
  }

  private mutating func applyLinks(_ change: ChangeSet.Change, _ object: ManagedObject) throws {
    for (name, links) in change.links.sorted(by: { $0.key < $1.key }) {
      guard let slot = object.entity.slot(named: name) else { continue }
      let relationship = object.entity.relationship(at: slot)
      for link in links {
        guard let target = try address(of: link.destination) else { continue }
        let destination = try self.destination(link.destination, of: relationship)
        // Links go with a deleted destination, but where it has no inverse.
        let isThere = destination != nil && !deleted.contains(link.destination)
        guard isThere || relationship.inverseRelationship == nil else { continue }
        let key = StampKey(
          address: RowAddress(object.objectID), property: view.schema.number(of: relationship),
          target: target.key)
        // A link has two states: one that both have changed is as the set wants it.
        let isLinked =
          destination.map { context.containsRelated(object, slot, $0) }
          ?? context.loadedState(object, slot).contains(target.key)
        guard
          try takes(
            link.stamp, key, object, isChangedHere: false, property: name, isDeleted: !link.isAdded,
            isNew: inserted[change.identity] != nil || inserted[link.destination] != nil,
            isMissing: link.isAdded && !isLinked,
            target: relationship.inverseRelationship == nil ? nil : target),
          isLinked != link.isAdded
        else { continue }
        report.changedObjectIDs.insert(object.objectID)
        setLink(object, relationship, target.key, destination, isAdded: link.isAdded)
      }
    }
  }

  private func setLink(
    _ object: ManagedObject, _ relationship: RelationshipDescription, _ target: UInt64,
    _ destination: ManagedObject?, isAdded: Bool
  ) {
    if let destination, isAdded {
      context.insertRelated(object, relationship.slot, destination, at: nil)
    } else if let destination {
      context.removeRelated(object, relationship.slot, destination)
    } else if relationship.inverseRelationship == nil {
      // The destination is deleted, and may come back.
      context.willEdit(object)
      let state = context.loadedState(object, relationship.slot)
      if isAdded { state.add(target) } else { state.remove(target) }
    }
  }

  private mutating func applyOrders(_ change: ChangeSet.Change, _ object: ManagedObject) throws {
    let numbers = view.schema.entity(object.entity).propertyNumbers
    let address = RowAddress(object.objectID)
    for (name, order) in change.orders.sorted(by: { $0.key < $1.key }) {
      guard let slot = object.entity.slot(named: name) else { continue }
      let key = StampKey(address: address, property: numbers[slot])
      let isSeen = try isSeen(key)
      if policy != .newest, order.isUnchanged, change.kind == .updated, !isSeen { continue }
      let isChanged = try !isSeen && isReordered(object, slot, order)
      let isNew = inserted[change.identity] != nil
      guard try takes(order.stamp, key, object, isChangedHere: isChanged, property: name, isNew: isNew)
      else { continue }
      let wanted = try order.value.map { try self.address(of: $0)?.key ?? 0 }
      taken.append((object, object.entity.relationship(at: slot), wanted))
      let state = context.loadedState(object, slot)
      let (present, known) = (state.keys(), Set(wanted))
      let keys = wanted.filter(state.contains) + present.filter { !known.contains($0) }
      guard keys != present else { continue }
      report.changedObjectIDs.insert(object.objectID)
      context.willEdit(object)
      state.setOrder(keys)
    }
  }

  /// Whether the destinations that were there before the set have another order than before it and after it.
  private mutating func isReordered(
    _ object: ManagedObject, _ slot: Int, _ order: ChangeSet.OrderChange
  ) throws -> Bool {
    let present = context.relatedKeys(object, slot)
    let former = try order.former.map { try self.object(of: $0)?.objectID.key }
    let value = try order.value.map { try self.object(of: $0)?.objectID.key }
    let known = Set(present)
    func matches(_ keys: [UInt64?]) -> Bool {
      let keys = keys.compactMap(\.self)
      return present.filter(Set(keys).contains) == keys.filter(known.contains)
    }
    return !matches(former) && !matches(value)
  }
}

extension RelationshipDescription {
  /// Whether its links, or those of its inverse, have stamps of their own.
  fileprivate var hasLinkStamps: Bool { hasPortableLinks || inverseRelationship?.hasPortableLinks == true }
}
