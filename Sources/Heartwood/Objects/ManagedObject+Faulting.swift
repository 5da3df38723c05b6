/// Loading and dropping an object's row.
extension ManagedObject {
  /// Whether the object has the bytes of its row. It may be a fault nevertheless.
  final var hasRow: Bool { storedRow != nil }
  final var row: RowView? { storedRow?.view }
  /// The version of the object's row; 0 if it has none.
  final var rowVersion: UInt32 { storedRow?.view.version ?? 0 }

  /// Copies a row, replacing an earlier one. A fault stays one, pending values are kept.
  ///
  /// - Throws: `.persistentStoreDamaged` if the bytes are not a row of the object's entity.
  final func adopt(row bytes: UnsafeRawBufferPointer) throws(HeartwoodError) {
    _ = try RowView(validating: bytes, layout: entity.layout)
    take(bytes)
  }

  /// Copies a checked row of the object's entity.
  final func adopt(checkedRow bytes: UnsafeRawBufferPointer) { take(bytes) }

  /// Copies a row with the same values as the object's.
  final func replace(row bytes: UnsafeRawBufferPointer) {
    let stamp = prefetchStamp
    copy(bytes)
    prefetchStamp = stamp
  }

  /// Copies the row that a save has just written, and makes the object realised.
  final func commit(row: [UInt8]) {
    row.withUnsafeBytes { take($0) }
    isRealised = true
    exposeRow()
  }

  /// Loads the row of a fault. If that fails, the object stays a fault and reads as its defaults.
  final func willRead() {
    guard !isRealised, let contextReference else { return }
    dropStalePrefetch()
    if storedRow == nil, state.isDisjoint(with: [.unreadable, .inaccessible]) {
      contextReference.with { $0.fire(self) }
    }
    guard storedRow != nil else { return }
    isRealised = true
    exposeRow()
    contextReference.with { context in
      let ignored = context.ignoresEdits
      context.ignoresEdits = true
      defer { context.ignoresEdits = ignored }
      awakeFromFetch()
    }
  }

  /// Ends to be a fault if a fetch has copied the row, so that accessors read it directly. `awakeFromFetch` is not called: this is for classes without it.
  package final func realiseLoaded() {
    guard !isRealised, storedRow != nil, prefetchStamp & Self.prefetchMark == 0 else { return }
    isRealised = true
    exposeRow()
  }

  /// Takes a checked row that was loaded with another fault's. It is dropped if the object is used in a later generation.
  final func prefetch(checkedRow bytes: UnsafeRawBufferPointer, stamp: UInt32) {
    take(bytes)
    prefetchStamp = stamp
  }

  /// Drops a row that was loaded with another fault's if the context reads another generation now.
  final func dropStalePrefetch() {
    dropRowIfStale()
    if prefetchStamp & Self.prefetchMark != 0, !isRealised { prefetchStamp = 0 }
  }

  /// As `dropStalePrefetch()`, for an object that is not used now: its row is dropped if it is used later, in another generation.
  final func dropRowIfStale() {
    guard prefetchStamp & Self.prefetchMark != 0, !isRealised, let contextReference else { return }
    guard contextReference.with({ $0.prefetchStamp() }) != prefetchStamp else { return }
    loseRow()
    prefetchStamp = 0
  }

  /// Drops the row of a realised object, which keeps its unsaved values.
  final func dropRow() {
    _row = nil
    loseRow()
  }

  private final func loseRow() {
    storedRow = nil
    contextReference?.with { $0.identities.noteWaiting(entity.rootEntity.number, identifier.key) }
  }

  /// Drops the row and what was loaded, and keeps unsaved values: the next use reads the row that the object has now.
  final func readAgain() {
    guard hasUnsavedValues else { return turnIntoFault() }
    dropRow()
    isRealised = false
    forEachRelationshipState { $0.unload() }
  }

  /// Drops the row, pending values and relationship states.
  final func turnIntoFault() {
    willTurnIntoFault()
    contextReference?.with { TransientLinks($0).dropTransientLinks(of: self) }
    changeValues(Array(entity.slots)) {
      dropRow()
      dropPending()
      isRealised = false
    }
    didTurnIntoFault()
  }

  /// Registers the object with a context.
  ///
  /// - Parameter isNew: Whether it has no row. It is realised at once then.
  final func attach(to context: ManagedObjectContext, as identifier: ManagedObjectID, isNew: Bool) {
    contextReference = UnownedReference(context)
    self.identifier = identifier
    guard isNew else { return }
    isRealised = true
    makeChangingDefaults()
  }

  /// Turns the values of a former row into unsaved ones, without relationships: an object whose delete was saved is inserted
  /// again.
  final func becomeNew() {
    guard storedRow != nil else { return }
    let values = entity.slots.filter { entity.attribute(at: $0) != nil }.map { ($0, value(at: $0)) }
    _row = nil
    storedRow = nil
    dropPending()
    for (slot, value) in values { setEdit(slot, value) }
  }

  /// Removes the object from its context. It keeps its last values; a fault keeps those of a row that was already copied.
  final func detach() {
    contextReference = nil
    guard storedRow != nil else { return }
    isRealised = true
    exposeRow()
  }

  /// Lets accessors read the row directly, if the object is realised and has no pending values.
  final func exposeRow() {
    guard isRealised, pending?.hidesRow != true, mayExposeRow, entity.factory.exposesRows else { return }
    _row = storedRow?.view.base
  }

  /// Makes accessors take the way with checks.
  final func hideRow() { if !mayExposeRow { _row = nil } }

  private final func take(_ row: UnsafeRawBufferPointer) {
    guard pending == nil else { return changeValues(slotsThatDiffer(in: row)) { copy(row) } }
    copy(row)
  }

  private final func copy(_ row: UnsafeRawBufferPointer) {
    _row = nil
    prefetchStamp = 0
    if let contextReference {
      storedRow = contextReference.with { StoredRow(copying: row, into: &$0.rowSlab) }
    } else {
      var own: RowSlab?
      storedRow = StoredRow(copying: row, into: &own)
    }
    exposeRow()
  }

  /// Evaluates the defaults of an object that was never in a context, at its first read; its insertion keeps them.
  final func makeDefaultsOfFreeObject() {
    isRealised = true
    makeChangingDefaults()
  }

  /// The defaults that the wrappers of the object which the thread makes have evaluated.
  private final var ownDefaults: RecordedDefaults? { _isRecording ? PropertyRecorder.current?.defaults : nil }

  /// Sets the defaults that the class evaluates for each new object, such as `UUID()`: what its wrappers have evaluated, or else those of another
  /// prototype.
  private final func makeChangingDefaults() {
    guard entity.compiled.hasChangingDefaults else { return }
    let given = editedSlots
    var defaults = ownDefaults
    if defaults?.take(for: entity) != true {
      let recorder = PropertyRecorder(round: 0, RecordedDefaults(entity))
      _ = recorder.listen { ObjectMaking.make(entity.factory.objectClass, PropertyRecorder.entity) }
      defaults = recorder.defaults
    }
    defaults?.forEach { slot, value in
      if pending?.edit(slot) == nil { setWhole(slot, value) }
    }
    guard let pending else { return }
    for slot in entity.slots where pending.edit(slot) != nil && !given.contains(slot) {
      pending.noteMadeDefault(slot)
    }
  }
}
