import Dispatch
import HeartwoodFiles

/// The objects that a request finds, as keys: any thread may find them, and the context makes them afterwards.
struct FoundKeys: Sendable {
  let entity: EntityDescription
  fileprivate(set) var keys: [UInt64] = []
  /// The numbers of the objects' entities; empty if all are of `entity`.
  fileprivate(set) var entityNumbers: [UInt16] = []

  fileprivate init(of entity: EntityDescription) { self.entity = entity }

  func number(at index: Int) -> UInt16 { entityNumbers.isEmpty ? entity.number : entityNumbers[index] }
}

/// A fetch that is prepared on its context's queue, and finds its objects on any thread.
///
/// It reads the store as it was then, with the context's unsaved changes of that time over it.
///
/// Unchecked, because one scan uses it.
final class DetachedFetch: @unchecked Sendable {
  let request: ResolvedRequest
  /// The new objects that may be found, by their temporary keys: a save may give them others meanwhile.
  let unsaved: [UInt64: ManagedObject]
  private let view: any StoreView
  private let log: FetchLog?

  /// - Parameters:
  ///   - view: The view that the request reads, with the unsaved changes that it includes.
  ///   - unsaved: The new objects among these.
  ///   - log: The log of fetches; nil if none is wanted.
  init(_ request: ResolvedRequest, in view: any StoreView, unsaved: [ManagedObject], log: FetchLog?) {
    self.request = request
    self.view = request.stores.map(view.restricted) ?? view
    self.log = log
    var byKey: [UInt64: ManagedObject] = [:]
    for object in unsaved where object.entity.rootEntity === request.entity.rootEntity {
      if !object.identifier.key.isPermanentKey { byKey[object.identifier.key] = object }
    }
    self.unsaved = byKey
  }

  /// Finds the objects.
  ///
  /// - Throws: `CancellationError` if `control` was cancelled; errors of the store.
  func find(_ control: ScanControl) throws -> FoundKeys { try control.during { try scan(control) } }

  private func scan(_ control: ScanControl) throws -> FoundKeys {
    try control.check()
    let reader = view.forOneReader()
    defer { withExtendedLifetime(reader) {} }
    var execution = try FetchExecution(request, reader, source: reader, pending: .none, changedRoots: [])
    (execution.control, execution.log) = (control, log)
    var found = FoundKeys(of: request.entity)
    if execution.needsNoRows {
      try execution.forEachKey { key in
        found.keys.append(key)
        return true
      }
      return found
    }
    let isFamily = !request.entity.rootEntity.subentities.isEmpty
    try execution.forEach { row in
      found.keys.append(row.key)
      if isFamily { found.entityNumbers.append(row.row.entityNumber) }
      return true
    }
    return found
  }

  /// Finds the objects on another thread; the task's cancellation ends the scan.
  nonisolated(nonsending) func find() async throws -> FoundKeys {
    let control = ScanControl()
    return try await withTaskCancellationHandler {
      try await handedOver({ Result { try self.find(control) } }, through: Self.onOtherThread).get()
    } onCancel: {
      control.cancel()
    }
  }

  static func onOtherThread(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global(qos: .userInitiated).async(execute: body)
  }
}

extension ObjectFetch {
  /// Prepares a fetch whose objects are found on another thread.
  func detachedFetch<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> DetachedFetch {
    try context.beginReading()
    let resolved = try resolveObjects(request)
    guard request.includesPendingChanges else {
      return DetachedFetch(
        resolved, in: try context.readingView().forOtherQueues, unsaved: [], log: context.fetchLog)
    }
    return DetachedFetch(
      resolved, in: try context.viewForChildren(), unsaved: Array(context.changes.inserted),
      log: context.fetchLog)
  }

  /// The objects of a part of what a detached fetch has found, with rows.
  func objects<Object: ManagedObject>(
    _ found: FoundKeys, _ range: Range<Int>, by fetch: DetachedFetch, of type: Object.Type,
    _ delivery: ObjectDelivery
  ) throws -> [Object] {
    let root = found.entity.rootEntity
    let store = context.storeIdentity
    var objects: [ManagedObject] = []
    objects.reserveCapacity(range.count)
    var batches = BatchBuilder(root, delivery, context)
    for index in range {
      let key = context.permanentKeys.permanent(found.keys[index])
      let object: ManagedObject
      if let known = fetch.unsaved[found.keys[index]] {
        // It may have been rolled back meanwhile.
        guard known.managedObjectContext === context else { continue }
        object = known
      } else if let known = context.registered(root, key), !key.isPermanentKey || delivery.refreshes {
        object = known
      } else if key.isPermanentKey || context.parent != nil {
        object = RowLoader(context).fault(
          try root.entity(numbered: found.number(at: index)).factory, key, in: store)
      } else {
        // An unsaved object that is gone.
        continue
      }
      guard object is Object else { throw HeartwoodError.wrongClass(object, Object.self) }
      batches?.add(object)
      objects.append(object)
    }
    batches?.finish()
    if delivery.refreshes { try refresh(objects, root) }
    guard !delivery.isBatched else { return objects.ofCheckedClass(Object.self) }
    if delivery.hasRows || delivery.realises { try RowLoader(context).loadRows(objects) }
    if delivery.realises {
      for object in objects { object.willRead() }
      try context.throwIfUnreadable()
    }
    try RowLoader(context).prefetch(delivery.prefetching, of: objects)
    return objects.ofCheckedClass(Object.self)
  }

  private func refresh(_ objects: [ManagedObject], _ root: EntityDescription) throws {
    let view = try context.readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    for object in objects where object.identifier.key.isPermanentKey {
      guard let row = try view.row(root, object.identifier.key) else { continue }
      _ = try self.object(for: FoundRow(key: object.identifier.key, row: row), root, refreshing: true)
      view.releaseRows()
    }
  }
}
