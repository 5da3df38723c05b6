/// How an object comes to its row and loses it again.
extension ManagedObject {
  /// Whether the bytes of a row are at hand, though the object may still be a fault.
  final var hasRow: Bool { storedRow != nil }
  final var row: RowView? { storedRow?.view }
  /// 0 without a row.
  final var rowVersion: UInt32 { storedRow?.view.version ?? 0 }

  /// The version that a delete is judged by: of the row as it was read, or as it is now if the object has
  /// not been touched yet. 0 where there is no row any more.
  final var rowVersionForConflicts: UInt32 {
    if storedRow == nil { managedObjectContext?.fire(self) }
    return rowVersion
  }

  /// Takes a copy of a row, in place of an earlier one. A fault stays one, pending values stay.
  ///
  /// - Throws: when the bytes are no row of the object's entity.
  final func adopt(row bytes: UnsafeRawBufferPointer) throws(HeartwoodError) {
    _ = try RowView(validating: bytes, layout: entity.layout)
    take(bytes)
  }

  /// Takes a copy of a row of the object's entity that has been checked already.
  final func adopt(checkedRow bytes: UnsafeRawBufferPointer) { take(bytes) }

  /// Takes the row that a save has just written. The object is no fault then.
  final func commit(row: [UInt8]) {
    row.withUnsafeBytes { take($0) }
    isRealised = true
    exposeRow()
  }

  /// Makes sure that values can be read: gets the row of a fault. Where that fails the object stays a
  /// fault, and reads as its defaults.
  final func willRead() {
    guard !isRealised, let contextReference else { return }
    if storedRow == nil, state.isDisjoint(with: [.unreadable, .inaccessible]) {
      contextReference._withUnsafeGuaranteedRef { $0.fire(self) }
    }
    guard storedRow != nil else { return }
    isRealised = true
    exposeRow()
    awakeFromFetch()
  }

  /// Drops row, pending values and relationships.
  final func turnIntoFault() {
    willTurnIntoFault()
    _row = nil
    storedRow = nil
    pending = nil
    isRealised = false
    didTurnIntoFault()
  }

  /// Puts the object under a context's care.
  final func attach(to context: ManagedObjectContext, as identifier: ManagedObjectID) {
    contextReference = .passUnretained(context)
    self.identifier = identifier
    guard identifier.isTemporaryID else { return }
    isRealised = true
    makeChangingDefaults()
  }

  /// Leaves the context. The object keeps its last values; a fault those that a fetch has brought ahead.
  final func detach() {
    contextReference = nil
    guard storedRow != nil else { return }
    isRealised = true
    exposeRow()
  }

  /// Lets the accessors read the row itself, where nothing pending stands before it.
  final func exposeRow() {
    guard isRealised, pending?.hasEdits != true, mayExposeRow else { return }
    _row = storedRow?.base
  }

  private final func take(_ row: UnsafeRawBufferPointer) {
    _row = nil
    if let contextReference {
      storedRow = contextReference._withUnsafeGuaranteedRef { StoredRow(copying: row, into: &$0.rowSlab) }
    } else {
      var own: RowSlab?
      storedRow = StoredRow(copying: row, into: &own)
    }
    exposeRow()
  }

  /// Gives a new object the defaults that its class makes afresh each time, as `UUID()` is: another
  /// prototype is the only way to have them made.
  private final func makeChangingDefaults() {
    let contents = entity.compiled
    guard contents.hasChangingDefaults else { return }
    let fresh = PropertyRecorder(round: 0)
    _ = fresh.listen { contents.objectClass.init(entity: PropertyRecorder.entity, insertInto: nil) }
    for (slot, declared) in contents.declarations.enumerated() {
      guard let declared, declared.attribute?.hasChangingDefault == true, pending?.edit(slot) == nil,
        declared.reportIndex < fresh.notes.count,
        case .attribute(let record) = fresh.notes[declared.reportIndex]
      else { continue }
      setEdit(slot, record.defaultValue)
    }
  }
}
