/// The objects of a fetch that an incremental store has executed.
extension IncrementalFetch {
  /// How many objects are made before the first of them is delivered: their rows are loaded together.
  private static let madeAtOnce = 500

  func forEachObject(
    of context: ManagedObjectContext, _ request: ResolvedRequest, _ body: (ManagedObject) throws -> Bool
  ) throws {
    guard request.limit != 0 else { return }
    let (root, delivery) = (request.entity.rootEntity, request.delivery)
    if !delivery.returnsWithoutRows, let store = try deliveringStore() {
      return try forEachObject(of: context, from: store, request, body)
    }
    var builder = delivery.returnsWithoutRows ? BatchBuilder(root, delivery, context) : nil
    defer { builder?.finish() }
    let all =
      try deliveringStore() == nil
      ? found(from: request.offset)
      : identifiers().dropFirst(request.offset).map { Found(objectID: $0, node: nil) }
    for part in all.inParts(of: Self.madeAtOnce) {
      let objects = try part.map { try object(for: $0, delivery, context) }
      if builder != nil { for object in objects { builder?.add(object) } }
      if delivery.refreshes { try refreshFaults(objects, Array(part), root, context) }
      if delivery.realises, builder == nil { try RowLoader(context).loadRows(objects) }
      for (one, made) in zip(part, objects) {
        // `body` may have reset the context.
        let object = made.managedObjectContext == nil ? try object(for: one, delivery, context) : made
        if delivery.realises, builder == nil { object.willRead() }
        guard try body(object) else { return }
      }
    }
  }

  /// Calls `body` with the objects of rows as the store delivers them.
  private func forEachObject(
    of context: ManagedObjectContext, from store: IncrementalStore, _ request: ResolvedRequest,
    _ body: (ManagedObject) throws -> Bool
  ) throws {
    if let most, most <= request.offset { return }
    let (delivery, identity) = (request.delivery, context.storeIdentity)
    let asked = self.request(.managedObjectResultType, from: request.offset)
    if isEnumeration { asked.fetchBatchSize = Self.madeAtOnce }
    var known: (entity: EntityDescription, factory: ObjectFactory)?
    try store.enumerateRows(for: asked, with: context) { row in
      let (entity, id) = (row.entity, objectID(row))
      if known?.entity !== entity { known = (entity, entity.factory) }
      guard let factory = known?.factory else { return true }
      let key = number.key(id)
      let object = try number.row(Self.bytes(of: row, id)).withUnsafeBytes { bytes in
        guard delivery.refreshes else {
          return context.materialise(factory, key, in: identity, row: bytes)
        }
        let found = FoundRow(key: key, row: RowView(unchecked: bytes))
        return try ObjectFetch(context).object(for: found, entity.rootEntity, refreshing: true)
          ?? RowLoader(context).fault(factory, key, in: identity)
      }
      if delivery.realises { object.willRead() }
      return try body(object)
    }
  }

  private func object(
    for one: Found, _ delivery: ObjectDelivery, _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    let (factory, store) = (one.objectID.entity.factory, context.storeIdentity)
    let key = number.key(one.objectID)
    guard let node = one.node, !delivery.returnsWithoutRows else {
      return RowLoader(context).fault(factory, key, in: store)
    }
    return try number.row(view.contents.row(of: node, context)).withUnsafeBytes { row in
      guard delivery.refreshes else { return context.materialise(factory, key, in: store, row: row) }
      let found = FoundRow(key: key, row: RowView(unchecked: row))
      return try ObjectFetch(context).object(for: found, one.objectID.entity.rootEntity, refreshing: true)
        ?? RowLoader(context).fault(factory, key, in: store)
    }
  }

  /// Reads the newest values of objects whose values the store has not returned.
  private func refreshFaults(
    _ objects: [ManagedObject], _ found: [Found], _ root: EntityDescription, _ context: ManagedObjectContext
  ) throws {
    let view = try context.readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    let waiting = zip(objects, found).filter { $1.node == nil && !$0.isFault }.map(\.0)
    try view.load(root, waiting.map(\.identifier.key))
    for object in waiting {
      guard let row = try view.row(root, object.identifier.key) else { continue }
      _ = try ObjectFetch(context).object(
        for: FoundRow(key: object.identifier.key, row: row), root, refreshing: true)
    }
  }
}
