import BenchmarkHarness
import CardStore
import EngineBenchmarks
import Foundation
import Testing

@Suite struct `The benchmark of cards` {
  private let cards = EnginePeerKind(name: "Cards", type: CardPeer.self)

  private func table(of peers: [EnginePeerKind], rows: String? = nil) throws -> ResultTable {
    var options = BenchmarkOptions()
    (options.rounds, options.least, options.rest, options.rows) = (1, 0, 0, rows)
    options.saysProgress = false
    options.directory = FileManager.default.temporaryDirectory.path
    return try EngineBenchmark(peers: peers, records: 1000, options: options).run()
  }

  @Test func `cards and Heartwood agree in all rows`() throws {
    let table = try table(of: [cards, .heartwood])
    #expect(table.peers == ["Cards", "Heartwood"])
    #expect(table.rows.map(\.name) == EngineRow.all.map(\.name))
    for row in table.rows { #expect(row.figures.allSatisfy { $0.count == 1 && $0[0] > 0 }, "\(row.name)") }
    #expect(table.aligned().contains("to Heartwood"))
  }

  @Test func `a peer that holds a wrong value is found and named`() throws {
    let wrong = EnginePeerKind(name: "Wrong", type: ForgetfulPeer.self)
    let error = #expect(throws: BenchmarkError.self) { try table(of: [.heartwood, cards, wrong]) }
    #expect(error?.description == "Wrong and Heartwood do not agree in '\(EngineRow.Name.sortedLoad)'")
  }

  @Test func `a peer that miscounts is found and named`() throws {
    let wrong = EnginePeerKind(name: "Wrong", type: MiscountingPeer.self)
    let error = #expect(throws: BenchmarkError.self) {
      try table(of: [cards, wrong], rows: EngineRow.Name.count)
    }
    #expect(error?.description == "Wrong and Cards do not agree in '\(EngineRow.Name.count)'")
  }

  @Test func `rows that a peer cannot do are left out`() throws {
    let modest = EnginePeerKind(name: "Modest", type: ModestPeer.self)
    let table = try table(of: [.heartwood, modest])
    let names = EngineRow.Name.self
    let missing = table.rows.filter { $0.figures[1].isEmpty }.map(\.name)
    #expect(
      missing == [
        names.reads, names.readsOfRandom, names.readsBesideWriter, names.writesBesideReaders,
        names.openAfterCrash,
      ])
  }
}

/// Cards with a mistake, or without an ability.
private class WrappedPeer: EnginePeer {
  let peer: any EnginePeer

  required init(directory: String, records: Int) throws {
    peer = try CardPeer(directory: directory, records: records)
  }

  class var hasSnapshots: Bool { true }

  func forAnotherThread() throws -> any EnginePeer { try peer.forAnotherThread() }
  func makeCommits(durable: Bool) throws { try peer.makeCommits(durable: durable) }
  func read(_ body: (any PeerReader) throws -> Void) throws { try peer.read(body) }
  func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    try peer.getNewest(key, into: &digest)
  }
  func write(_ body: (any PeerWriter) throws -> Void) throws { try peer.write(body) }
  func settle() throws { try peer.settle() }
  func close() throws { try peer.close() }
}

/// It has no snapshots, and copies of it cannot be opened.
private final class ModestPeer: WrappedPeer {
  override class var hasSnapshots: Bool { false }
}

/// The last byte of its first value is lost.
private final class ForgetfulPeer: WrappedPeer {
  override func write(_ body: (any PeerWriter) throws -> Void) throws {
    try peer.write { try body(ForgetfulWriter($0)) }
  }
}

private final class ForgetfulWriter: PeerWriter {
  private let writer: any PeerWriter
  private var puts = 0

  init(_ writer: any PeerWriter) { self.writer = writer }

  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
    puts += 1
    try writer.put(key, puts == 1 ? UnsafeRawBufferPointer(rebasing: value.dropLast()) : value)
  }

  func delete(_ key: UnsafeRawBufferPointer) throws { try writer.delete(key) }
}

/// It counts the upper bound, too.
private final class MiscountingPeer: WrappedPeer {
  override func read(_ body: (any PeerReader) throws -> Void) throws {
    try peer.read { try body(MiscountingReader($0)) }
  }
}

private final class MiscountingReader: PeerReader {
  private let reader: any PeerReader

  init(_ reader: any PeerReader) { self.reader = reader }

  func get(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    try reader.get(key, into: &digest)
  }

  func scan(from key: UnsafeRawBufferPointer?, limit: Int, into digest: inout ReadDigest) throws -> Int {
    try reader.scan(from: key, limit: limit, into: &digest)
  }

  func scanWholly(into digest: inout ReadDigest) throws { try reader.scanWholly(into: &digest) }

  func count(from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer) throws -> Int {
    try reader.count(from: lower, to: upper) + 1
  }

  func entry(at rank: Int, into digest: inout ReadDigest) throws { try reader.entry(at: rank, into: &digest) }
}
