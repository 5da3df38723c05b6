/// The check of what the peers read in one row: all the same, or the run fails.
public struct Agreement {
  private let row: String
  private var first: (digest: UInt64, peer: String)?

  /// The check of one row, which no peer has read yet.
  /// - Parameter row: The row's name, for the error.
  public init(on row: String) { self.row = row }

  /// Compares what one more peer read.
  /// - Parameters:
  ///   - digest: The digest of it; `nil`, which agrees with everything, where the row reads nothing.
  ///   - peer: The peer's name, for the error.
  /// - Throws: `BenchmarkError` with the names of both where it differs from the first peer's.
  public mutating func add(_ digest: UInt64?, of peer: String) throws {
    guard let digest else { return }
    guard let first else { return self.first = (digest, peer) }
    guard first.digest == digest else {
      throw BenchmarkError("\(peer) and \(first.peer) do not agree in '\(row)'")
    }
  }
}
