/// The pieces at a destination, by number.
struct PieceList {
  let destination: any ShippingDestination
  private let names: [UInt64: PieceName]
  /// The numbers in order.
  let numbers: [UInt64]

  /// - Throws: `.damaged` if two pieces have one number.
  init(_ destination: any ShippingDestination) throws(EngineError) {
    self.destination = destination
    var names: [UInt64: PieceName] = [:]
    for name in try destination.list().compactMap(PieceName.init) {
      guard names.updateValue(name, forKey: name.number) == nil else {
        throw EngineError.damaged(
          "there are two pieces with the number \(name.number); remove the one that was added",
          file: destination.place + "/" + name.text)
      }
    }
    self.names = names
    numbers = names.keys.sorted()
  }

  var newest: UInt64? { numbers.last }

  func contains(_ number: UInt64) -> Bool { names[number] != nil }

  func isBase(_ number: UInt64) -> Bool { names[number]?.isBase == true }

  /// The bases in order.
  var bases: [UInt64] { numbers.filter(isBase) }

  /// The newest base if no piece after it is missing; nil if there is none, or one is.
  var wholeBase: UInt64? {
    guard let base = bases.last, let newest else { return nil }
    return numbers.lazy.filter { $0 >= base }.count == Int(newest - base) + 1 ? base : nil
  }

  /// The names of the pieces before one, oldest first.
  func names(before number: UInt64) -> [String] {
    numbers.prefix { $0 < number }.compactMap { names[$0]?.text }
  }

  /// - Throws: `.missingPiece` if there is none, and as `OpenPiece.init`.
  func open(_ number: UInt64) throws(EngineError) -> OpenPiece {
    guard let name = names[number] else { throw missing(number) }
    return try OpenPiece(name, at: destination)
  }

  /// The error for a piece that is not there although a later one is.
  func missing(_ number: UInt64) -> EngineError {
    EngineError(
      .missingPiece, "piece \(number) is missing, and later ones are there; restore it",
      file: destination.place)
  }

  /// Checks that a piece follows another one, directly.
  ///
  /// - Throws: `.otherStore`, `.otherLineage`, or `.damaged` if it was made after another piece.
  static func requireSuccession(_ piece: OpenPiece, after earlier: ShippingMark) throws(EngineError) {
    try requireOrigin(piece, earlier)
    guard piece.header.number == earlier.number + 1, piece.header.previous == earlier.pieceChecksum else {
      throw EngineError.damaged(
        "piece \(piece.header.number) was not made after piece \(earlier.number) as it was read; one of them was "
          + "replaced, so restore both", file: piece.path)
    }
  }

  /// Checks that a piece is of the same store and lineage as another one.
  static func requireOrigin(_ piece: OpenPiece, _ mark: ShippingMark) throws(EngineError) {
    guard piece.header.identifier == mark.identifier else {
      throw EngineError(.otherStore, "the piece is of another store; remove it", file: piece.path)
    }
    guard piece.header.lineage == mark.lineage else {
      throw EngineError(
        .otherLineage, "the piece is of another copy of the store, with a history of its own; remove it",
        file: piece.path)
    }
  }
}

extension OpenPiece {
  /// The mark by which a follower notes the piece.
  var mark: ShippingMark {
    ShippingMark(
      identifier: header.identifier, lineage: header.lineage, number: header.number, pieceChecksum: checksum)
  }
}
