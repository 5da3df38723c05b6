import HeartwoodBytes

/// The objects and unsaved changes of a context at the first conflict of a save. A save that fails after a merge policy has
/// resolved conflicts puts them back: what the policy did belongs to that save.
///
/// - Complexity: Linear in the number of registered objects, to make and to restore.
struct ContextImage {
  private let objects: [ObjectImage]
  private let changes: PendingChanges
  private let permanentKeys: KeyMap
  private let unreadable: UnreadableObjects

  /// - Precondition: The context's event has ended.
  init(of context: ManagedObjectContext) {
    objects = context.identities.objects.map(ObjectImage.init)
    changes = context.changes
    permanentKeys = context.permanentKeys
    unreadable = context.unreadable
  }

  /// Puts everything back, and reports the objects that the policy has touched as refreshed.
  ///
  /// - Parameters:
  ///   - context: The context.
  ///   - ended: The events of the context since the image was made.
  func restore(in context: ManagedObjectContext, after ended: [ContextEvent]) {
    let touched = (ended + [context.event]).flatMap { $0.changes.map(\.object) + $0.refreshed }
    let known = Set(objects.lazy.map { ObjectIdentifier($0.object) })
    let others = context.identities.objects.filter { !known.contains(ObjectIdentifier($0)) }
    context.event = ContextEvent()
    context.identities.removeAll()
    for image in objects { image.restore(in: context) }
    restoreLists(of: context)
    for object in others { keep(object, in: context) }
    report(touched, in: context)
    context.trackers.refresh()
  }

  private func restoreLists(of context: ManagedObjectContext) {
    context.changes = changes.restored()
    context.permanentKeys = permanentKeys
    context.unreadable = unreadable
    context.forgetShownChanges()
    context.lastReads.removeAll()
    context.view.held = nil
    context.editCount &+= 1
  }

  /// Keeps an object that was registered since as a fault; a new object leaves the context.
  private func keep(_ object: ManagedObject, in context: ManagedObjectContext) {
    let isNew = object.state.contains(.inserted)
    object.state = []
    let root = object.entity.rootEntity.number
    guard !isNew, context.identities.object(root, object.identifier.key) == nil else {
      return object.detach()
    }
    context.identities.insert(object, root, object.identifier.key)
    object.turnIntoFault()
  }

  private func report(_ touched: [ManagedObject], in context: ManagedObjectContext) {
    var reported: Set<ObjectIdentifier> = []
    for object in touched where reported.insert(ObjectIdentifier(object)).inserted {
      guard object.managedObjectContext === context else { continue }
      context.event.refreshed.append(object)
    }
    let refreshed = context.event.refreshed
    context.endEvent(registeringUndo: false)
    for object in refreshed where object.isRealised { object.awake(fromSnapshotEvents: .mergePolicy) }
  }
}

/// One object, its row and its unsaved values.
private struct ObjectImage {
  let object: ManagedObject
  private let identifier: ManagedObjectID
  private let state: ObjectState
  private let storedRow: StoredRow?
  private let prefetchStamp: UInt32
  private let isRealised: Bool
  private let pending: PendingValues?

  init(_ object: ManagedObject) {
    self.object = object
    identifier = object.identifier
    state = object.state.subtracting(.noted)
    storedRow = object.storedRow
    prefetchStamp = object.prefetchStamp
    isRealised = object.isRealised
    pending = object.pending?.copy()
  }

  func restore(in context: ManagedObjectContext) {
    if object.identifier != identifier { ObjectReference.rename(identifier.key, to: identifier) }
    object.contextReference = UnownedReference(context)
    object.identifier = identifier
    object.state = state
    context.identities.insert(object, object.entity.rootEntity.number, identifier.key)
    object.changeValues(Array(object.entity.slots)) {
      object._row = nil
      object.storedRow = storedRow
      object.prefetchStamp = prefetchStamp
      object.isRealised = isRealised
      object.restorePending(pending)
    }
    object.exposeRow()
  }
}

extension ManagedObject {
  /// Replaces all pending values; observers stay.
  fileprivate final func restorePending(_ former: PendingValues?) {
    let registrar = pending?.header.registrar
    pending = former
    if let registrar { makePendingValues().header.registrar = registrar }
  }
}
