/// The destination and the store as a shipper knows them.
final class ShippingState {
  private let store: OpenStore
  private let destination: any ShippingDestination
  private let options: ShippingOptions
  private let lineage: Lineage
  /// The store, opened again for reading, once that was necessary.
  private var reopened: OpenStore?
  /// The newest piece; nil if there is none.
  private var newest: ShippedPiece?
  /// The piece before the newest one, if that one may be replaced by a longer one.
  private var beforeNewest: ShippedPiece?
  /// The newest base, and bytes of the pieces after it.
  private var base: (shipped: Int64, bytes: Int64)?
  private var bytesSinceBase: Int64 = 0
  /// When it was last seen that no piece after the base is missing, in nanoseconds since 1970.
  private var listed: Int64

  /// How long a missing piece may stay unnoticed, in seconds: each look lists the destination.
  private static let listingSeconds = 60.0

  /// Reads what is at the destination.
  init(
    _ store: OpenStore, _ destination: any ShippingDestination, _ options: ShippingOptions
  ) throws(EngineError) {
    self.store = store
    self.destination = destination
    self.options = options
    lineage = try ShippableStore(store: store).lineage(options.entropy)
    listed = options.clock.nanosecondsSince1970
    let list = try PieceList(destination)
    guard let last = list.newest else { return }
    let piece = try list.open(last)
    try requireOwn(piece.header)
    newest = piece.shipped
    if let number = list.wholeBase {
      let found = try list.open(number)
      base = (found.header.shipped, found.shipped.bytes)
      for later in list.numbers where later > number { bytesSinceBase += try list.open(later).shipped.bytes }
    }
  }

  func close() {
    if let reopened { try? Closing(store: reopened).run() }
    reopened = nil
  }

  /// - Throws: `.otherStore` or `.otherLineage`.
  private func requireOwn(_ header: PieceHeader) throws(EngineError) {
    guard header.identifier == store.identifier else {
      throw EngineError(
        .otherStore, "another store was shipped to this place; name another one", file: destination.place)
    }
    guard header.lineage == lineage else {
      throw EngineError(
        .otherLineage,
        "another copy of this store was shipped to this place, such as one before it was restored; name another place",
        file: destination.place)
    }
  }

  // MARK: Shipping

  func ship() throws(EngineError) -> ShippingReport {
    let contents = try contents()
    try requireNewest()
    guard let newest else {
      return try ship(PiecePlan(baseOf: contents), number: 1, after: nil)
    }
    try forgetBrokenBase()
    let next = newest.header.number + 1
    guard let plan = try PiecePlan(contents, after: newest.header, in: destination.place) else {
      guard base == nil, contents.end == newest.header.end else { return report(0, isBase: false) }
      return try ship(PiecePlan(baseOf: contents), number: next, after: newest)
    }
    if plan.start == nil || isBaseDue {
      return try ship(PiecePlan(baseOf: contents), number: next, after: newest)
    }
    if let (longer, before) = try longerPiece(contents, plan) {
      return try ship(longer, number: newest.header.number, after: before)
    }
    return try ship(plan, number: next, after: newest)
  }

  /// The state to ship, if necessary of the store opened again.
  private func contents() throws(EngineError) -> BackupContents {
    if let contents = try ShippableStore(store: reopened ?? store).contents() { return contents }
    close()
    var options = store.options.unobserved
    options.access = .readOnly
    let again = try Opening(store.path, options, store.fileSystem).run()
    reopened = again
    guard again.identifier == store.identifier else { throw StoreFolder.replaced(store.path) }
    if let contents = try ShippableStore(store: again).contents() { return contents }
    throw ProcessAttachment.busy(store.path, "other processes keep changing the store; try again")
  }

  /// Checks that the newest piece is still there, and none after it. Does not list all of them.
  private func requireNewest() throws(EngineError) {
    let number = newest?.header.number ?? 0
    if let newest, try !isThere(PieceName(number, isBase: newest.header.isBase)) {
      throw EngineError(
        .wentBack, "pieces that were shipped have vanished; restore them, or ship to an empty place",
        file: destination.place)
    }
    for isBase in [false, true] {
      guard try isThere(PieceName(number + 1, isBase: isBase)) else { continue }
      throw EngineError(
        .locked, "another process ships to this place; stop it, or name another place",
        file: destination.place)
    }
  }

  private func isThere(_ name: PieceName) throws(EngineError) -> Bool {
    do throws(EngineError) {
      _ = try destination.open(name.text)
      return true
    } catch {
      guard error.code == .notFound else { throw error }
      return false
    }
  }

  /// Has a base shipped if the newest one, or a piece after it, is not there any more: without them nothing newer can be restored.
  private func forgetBrokenBase() throws(EngineError) {
    let now = options.clock.nanosecondsSince1970
    guard base != nil, abs(Double(now) - Double(listed)) / 1e9 >= Self.listingSeconds else { return }
    if try PieceList(destination).wholeBase == nil { base = nil }
    listed = now
  }

  private var isBaseDue: Bool {
    guard let base else { return true }
    // The clock may have been wrong then.
    let age = abs(Double(options.clock.nanosecondsSince1970) - Double(base.shipped)) / 1e9
    return age >= options.baseSeconds || bytesSinceBase > max(base.bytes, options.baseBytes)
  }

  /// The newest piece with what is new, if it has room for that. Nil as well if it contains something that the longer one
  /// would not, because the store has branched or reclaimed it since.
  private func longerPiece(
    _ contents: BackupContents, _ plan: PiecePlan
  ) throws(EngineError) -> (plan: PiecePlan, before: ShippedPiece)? {
    guard let newest, let before = beforeNewest, plan.start == newest.header.end,
      newest.bytes + Int64(plan.bytes) <= Int64(options.pieceBytes)
    else { return nil }
    let kept = Set(plan.segments.map(SegmentKey.init))
    guard newest.header.segments.allSatisfy({ kept.contains(SegmentKey($0)) }) else { return nil }
    guard let longer = try PiecePlan(contents, after: before.header, in: destination.place),
      longer.start == newest.header.start
    else { return nil }
    return (longer, before)
  }

  private func ship(
    _ plan: PiecePlan, number: UInt64, after previous: ShippedPiece?
  ) throws(EngineError) -> ShippingReport {
    let former = newest?.header.number == number ? newest : nil
    let shipped = try PieceShipment(
      plan: plan, number: number, previous: previous, lineage: lineage,
      time: options.clock.nanosecondsSince1970, destination: destination
    ).run()
    newest = shipped
    beforeNewest = shipped.header.isBase ? nil : previous
    guard shipped.header.isBase else {
      bytesSinceBase += shipped.bytes - (former?.bytes ?? 0)
      return report(shipped.bytes, isBase: false)
    }
    base = (shipped.header.shipped, shipped.bytes)
    bytesSinceBase = 0
    var report = report(shipped.bytes, isBase: true)
    report.removedPieces = try PieceRetention(destination, options).run()
    return report
  }

  private func report(_ bytes: Int64, isBase: Bool) -> ShippingReport {
    ShippingReport(
      generation: Generation(rawValue: newest?.header.end.generation ?? 0),
      piece: newest?.header.number ?? 0, bytes: bytes, isBase: isBase)
  }
}

/// Removes pieces that are older than the retention.
struct PieceRetention {
  private let destination: any ShippingDestination
  private let options: ShippingOptions

  init(_ destination: any ShippingDestination, _ options: ShippingOptions) {
    self.destination = destination
    self.options = options
  }

  /// Removes the pieces before the newest base that is older than the retention: a later moment needs none of them.
  ///
  /// - Returns: Their number.
  func run() throws(EngineError) -> Int {
    let list = try PieceList(destination)
    let now = options.clock.nanosecondsSince1970
    for number in list.bases.reversed() {
      let age = Double(now &- (try list.open(number)).header.shipped) / 1e9
      guard age >= options.retentionSeconds else { continue }
      let names = list.names(before: number)
      if !names.isEmpty { try destination.remove(names) }
      return names.count
    }
    return 0
  }
}
