/// The objects of a fetch that an incremental store has executed.
extension ManagedObjectContext {
  /// Calls `body` with each object that the store has found, until it returns false. Objects whose values the store has not returned are faults.
  func forEachObject(
    of fetch: IncrementalFetch, _ execution: FetchExecution, _ body: (ManagedObject) throws -> Bool
  ) throws {
    guard let view = execution.view as? IncrementalView, execution.request.limit != 0 else { return }
    let (root, delivery, store) = (
      execution.request.entity.rootEntity, execution.request.delivery, storeIdentity
    )
    var builder = delivery.returnsWithoutRows ? BatchBuilder(root, delivery, self) : nil
    let found = try fetch.found(from: execution.request.offset)
    var objects: [ManagedObject] = []
    objects.reserveCapacity(found.count)
    for one in found {
      let (factory, key) = (one.objectID.entity.factory, one.objectID.key)
      let object: ManagedObject
      if let node = one.node, !delivery.returnsWithoutRows {
        object = try view.contents.row(of: node, self).withUnsafeBytes { row in
          guard delivery.refreshes else { return materialise(factory, key, in: store, row: row) }
          let found = FoundRow(key: key, row: RowView(unchecked: row))
          return try self.object(for: found, root, refreshing: true) ?? fault(factory, key, in: store)
        }
      } else {
        object = fault(factory, key, in: store)
      }
      builder?.add(object)
      objects.append(object)
    }
    builder?.finish()
    if delivery.refreshes { try refreshFaults(objects, found, root) }
    if delivery.realises, builder == nil { try loadRows(objects) }
    for object in objects {
      if delivery.realises, builder == nil { object.willRead() }
      guard try body(object) else { return }
    }
  }

  /// Reads the newest values of objects whose values the store has not returned.
  private func refreshFaults(
    _ objects: [ManagedObject], _ found: [IncrementalFetch.Found], _ root: EntityDescription
  ) throws {
    let view = try readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    let waiting = zip(objects, found).filter { $1.node == nil && !$0.isFault }.map(\.0)
    try (view as? IncrementalView)?.load(root, waiting.map(\.identifier.key))
    for object in waiting {
      guard let row = try view.row(root, object.identifier.key) else { continue }
      _ = try self.object(for: FoundRow(key: object.identifier.key, row: row), root, refreshing: true)
    }
  }
}
