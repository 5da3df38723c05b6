/// The objects of a fetch that an incremental store has executed.
extension ManagedObjectContext {
  /// Calls `body` with each object that the store has found, until it returns false. Objects whose values the store has not returned are faults.
  func forEachObject(
    of fetch: IncrementalFetch, _ execution: FetchExecution, _ body: (ManagedObject) throws -> Bool
  ) throws {
    guard execution.request.limit != 0 else { return }
    let (root, delivery, store) = (
      execution.request.entity.rootEntity, execution.request.delivery, storeIdentity
    )
    var builder = delivery.returnsWithoutRows ? BatchBuilder(root, delivery, self) : nil
    defer { builder?.finish() }
    func make(_ one: IncrementalFetch.Found) throws -> ManagedObject {
      let (factory, key) = (one.objectID.entity.factory, one.objectID.key)
      guard let node = one.node, !delivery.returnsWithoutRows else { return fault(factory, key, in: store) }
      return try fetch.view.contents.row(of: node, self).withUnsafeBytes { row in
        guard delivery.refreshes else { return materialise(factory, key, in: store, row: row) }
        let found = FoundRow(key: key, row: RowView(unchecked: row))
        return try self.object(for: found, root, refreshing: true) ?? fault(factory, key, in: store)
      }
    }
    for part in try fetch.found(from: execution.request.offset).inParts(of: Self.madeAtOnce) {
      let objects = try part.map(make)
      if builder != nil { for object in objects { builder?.add(object) } }
      if delivery.refreshes { try refreshFaults(objects, Array(part), root) }
      if delivery.realises, builder == nil { try loadRows(objects) }
      for (one, made) in zip(part, objects) {
        // `body` may have reset the context.
        let object = made.managedObjectContext == nil ? try make(one) : made
        if delivery.realises, builder == nil { object.willRead() }
        guard try body(object) else { return }
      }
    }
  }

  /// How many objects are made before the first of them is delivered: their rows are loaded together.
  private static let madeAtOnce = 500

  /// Reads the newest values of objects whose values the store has not returned.
  private func refreshFaults(
    _ objects: [ManagedObject], _ found: [IncrementalFetch.Found], _ root: EntityDescription
  ) throws {
    let view = try readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    let waiting = zip(objects, found).filter { $1.node == nil && !$0.isFault }.map(\.0)
    try view.load(root, waiting.map(\.identifier.key))
    for object in waiting {
      guard let row = try view.row(root, object.identifier.key) else { continue }
      _ = try self.object(for: FoundRow(key: object.identifier.key, row: row), root, refreshing: true)
    }
  }
}
