/// A follower's store, and its place among the pieces of a destination.
final class FollowingState {
  private let store: FollowerStore
  private let destination: any ShippingDestination
  /// The newest piece as it was read; nil before that.
  private var newest: PieceHeader?
  private var generation: UInt64 { newest?.end.generation ?? 0 }
  /// Bytes that were copied, and are in no report yet.
  private var unreported: Int64
  /// Whether a piece was copied in part, so that the store has to be opened again.
  private(set) var isInterrupted = false

  init(_ store: FollowerStore, _ destination: any ShippingDestination) {
    self.store = store
    self.destination = destination
    unreported = store.bytesOfFirstCopy
  }

  func close() { store.close() }

  /// Copies all pieces after the newest one that was copied.
  func advance() throws(EngineError) -> FollowingReport {
    try store.checkIsInPlace()
    var list = try PieceList(destination)
    try requireNewest(list)
    if let longer = try longerNewest(list) { try add(longer) }
    while let piece = try next(&list) { try add(piece) }
    defer { unreported = 0 }
    return FollowingReport(
      generation: Generation(rawValue: generation), piece: store.mark.number,
      time: newest?.latestTime ?? 0, shipped: newest?.shipped ?? 0, bytes: unreported)
  }

  private func add(_ piece: OpenPiece) throws(EngineError) {
    isInterrupted = true
    unreported += try store.add(piece)
    isInterrupted = false
    newest = piece.header
  }

  private func requireNewest(_ list: PieceList) throws(EngineError) {
    guard list.newest ?? 0 < store.mark.number else { return }
    throw EngineError(
      .wentBack,
      "piece \(store.mark.number) was copied, and the newest one there is \(list.newest ?? 0); restore the later ones, or "
        + "follow in a new folder", file: destination.place)
  }

  /// The newest piece that was copied, if it has become longer or was not read by this process yet.
  private func longerNewest(_ list: PieceList) throws(EngineError) -> OpenPiece? {
    let mark = store.mark
    // Removed, as it is older than the retention; then a base follows.
    guard list.contains(mark.number) else { return nil }
    let piece = try open(mark.number, list)
    try PieceList.requireOrigin(piece, mark)
    if piece.checksum == mark.pieceChecksum {
      newest = piece.header
      return nil
    }
    guard newest == nil || piece.header.previous == newest?.previous else {
      throw EngineError.damaged(
        "piece \(mark.number) is not the one that was copied; restore it, or follow in a new folder",
        file: piece.path)
    }
    return piece
  }

  /// The piece after the newest one that was copied; nil if there is none yet.
  private func next(_ list: inout PieceList) throws(EngineError) -> OpenPiece? {
    let mark = store.mark
    guard list.newest ?? 0 > mark.number else { return nil }
    if !list.contains(mark.number + 1) {
      // A listing that is made while pieces are put may lack one.
      list = try PieceList(destination)
      try requireNewest(list)
    }
    if list.contains(mark.number + 1) {
      let piece = try open(mark.number + 1, list)
      try PieceList.requireSuccession(piece, after: mark)
      return piece
    }
    // The pieces in between may have been removed. A base needs none of them.
    guard let base = list.bases.first(where: { $0 > mark.number }), !list.contains(mark.number),
      list.numbers.first(where: { $0 > mark.number }) == base
    else { throw list.missing(mark.number + 1) }
    let piece = try open(base, list)
    try PieceList.requireOrigin(piece, mark)
    return piece
  }

  private func open(_ number: UInt64, _ list: PieceList) throws(EngineError) -> OpenPiece {
    do throws(EngineError) { return try list.open(number) } catch {
      // It was removed after the listing.
      guard error.code == .notFound else { throw error }
      return try PieceList(destination).open(number)
    }
  }
}
