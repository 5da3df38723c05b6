/// Finds the pieces from which a state of a store is restored.
struct PieceSelection {
  private let list: PieceList
  private let state: RestoreTarget

  init(_ list: PieceList, _ state: RestoreTarget) {
    self.list = list
    self.state = state
  }

  /// A base and all pieces after it up to the one that contains the state.
  struct Chain {
    let list: PieceList
    let numbers: [UInt64]
  }

  /// - Throws: `.generationUnavailable`, `.missingPiece`, and as `OpenPiece.init`.
  func chain() throws(EngineError) -> Chain {
    let last = try last()
    guard let base = list.bases.last(where: { $0 <= last }) else {
      throw EngineError(
        .missingPiece, "there is no base before piece \(last); restore it", file: list.destination.place)
    }
    for number in base...last where !list.contains(number) { throw list.missing(number) }
    return Chain(list: list, numbers: Array(base...last))
  }

  /// The number of the piece that contains the state.
  private func last() throws(EngineError) -> UInt64 {
    guard let newest = list.newest else { throw Self.empty(list.destination) }
    if state == .newest { return newest }
    var later: UInt64?
    for number in list.numbers.reversed() {
      let piece = try list.open(number)
      if let later, later != number + 1, isBefore(piece.header) { throw list.missing(number + 1) }
      if state.isIn(piece.header) { return number }
      guard !isAfter(piece.header) else { break }
      later = number
    }
    throw unavailable()
  }

  /// Whether the state may be in a piece after this one.
  private func isBefore(_ piece: PieceHeader) -> Bool {
    switch state {
    case .newest: true
    case .generation(let generation): piece.end.generation < generation.rawValue
    case .time: state.isIn(piece)
    }
  }

  /// Whether the state is after this piece and therefore in none before it.
  private func isAfter(_ piece: PieceHeader) -> Bool {
    if case .generation(let generation) = state { return piece.end.generation < generation.rawValue }
    return false
  }

  private func unavailable() -> EngineError {
    let first = list.bases.first.flatMap { try? list.open($0) }?.header
    let last = list.newest.flatMap { try? list.open($0) }?.header
    let range =
      if let first, let last {
        "; there are generations \(first.end.generation) to \(last.end.generation), where nothing was reclaimed unshipped"
      } else { "" }
    return EngineError(
      .generationUnavailable, "this state was not shipped, or is older than what is kept\(range)",
      file: list.destination.place)
  }

  static func empty(_ destination: any ShippingDestination) -> EngineError {
    EngineError(.notFound, "nothing was shipped to this place", file: destination.place)
  }
}
