/// The check of what the peers read in one row: all the same, or the run fails.
struct Agreement {
  private let row: String
  private var first: (digest: UInt64, peer: String)?

  init(on row: String) { self.row = row }

  mutating func add(_ digest: UInt64?, of peer: String) throws {
    guard let digest else { return }
    guard let first else { return self.first = (digest, peer) }
    guard first.digest == digest else {
      throw BenchmarkError("\(peer) and \(first.peer) do not agree in '\(row)'")
    }
  }
}
