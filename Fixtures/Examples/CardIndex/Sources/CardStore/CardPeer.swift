import BenchmarkHarness
import EngineBenchmarks

/// The store as a peer of the benchmark.
package final class CardPeer: EnginePeer {
  private let store: CardStore
  private let owns: Bool
  private var isDurable = false

  package init(directory: String, records: Int) throws {
    store = try CardStore(at: directory)
    owns = true
  }

  private init(_ store: CardStore) {
    self.store = store
    owns = false
  }

  /// Pages are counted, not records.
  package static var knowsRanks: Bool { true }
  /// The log has every commit.
  package static var opensCopies: Bool { true }

  package func forAnotherThread() -> any EnginePeer { CardPeer(store) }
  package func makeCommits(durable: Bool) { isDurable = durable }

  package func read(_ body: (any PeerReader) throws -> Void) throws { try body(CardReader(store.table)) }

  package func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    guard store.withValue(of: key, { digest.add(ends: $0) }) != nil else { throw missingKey("Cards") }
  }

  package func write(_ body: (any PeerWriter) throws -> Void) throws {
    try store.commit(synced: isDurable) { try body($0) }
  }

  package func settle() throws { try store.compact() }
  package func close() { if owns { store.close() } }
}

extension CardChanges: PeerWriter {}

private final class CardReader: PeerReader {
  private let table: CardTable

  init(_ table: CardTable) { self.table = table }

  func get(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    guard table.withValue(of: key, { digest.add(ends: $0) }) != nil else { throw missingKey("Cards") }
  }

  func scan(from key: UnsafeRawBufferPointer?, limit: Int, into digest: inout ReadDigest) -> Int {
    var found = 0
    table.scan(from: key) { key, value in
      digest.add(ends: key)
      digest.add(ends: value)
      found += 1
      return found < limit
    }
    return found
  }

  func scanWholly(into digest: inout ReadDigest) {
    table.scan(from: nil) { key, value in
      digest.add(all: key)
      digest.add(all: value)
      return true
    }
  }

  func count(from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer) -> Int {
    table.rank(of: upper) - table.rank(of: lower)
  }

  func entry(at rank: Int, into digest: inout ReadDigest) throws {
    guard let (key, value) = table.record(at: rank) else { throw missingKey("Cards") }
    key.withUnsafeBytes { digest.add(ends: $0) }
    value.withUnsafeBytes { digest.add(ends: $0) }
  }
}
