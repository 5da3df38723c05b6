/// A store of keys and values under measurement. One peer object is one open store, for one thread at a time.
protocol EnginePeer: AnyObject {
  /// Opens the store in `directory`, or makes it.
  /// - Parameter records: How many records it will hold, for peers that must know their size beforehand.
  init(directory: String, records: Int) throws

  /// Whether counts and ranks are known without visiting what is counted.
  static var knowsRanks: Bool { get }

  /// Whether `read` hands out a state that stays while others write, and readers see whole commits only. Where not, the
  /// rows that need it are left out, and scans take what is there.
  static var hasSnapshots: Bool { get }

  /// The same store for another thread. It is closed before this one.
  func forAnotherThread() throws -> any EnginePeer

  /// Whether a commit from now on returns only when its changes would survive a power cut.
  func makeCommits(durable: Bool) throws

  /// Hands `body` one unchanging state of the store, where the peer has snapshots.
  func read(_ body: (any PeerReader) throws -> Void) throws

  /// Reads one value of the newest state, by the cheapest way that the store has for it.
  func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws

  /// Commits what `body` changes as one transaction.
  func write(_ body: (any PeerWriter) throws -> Void) throws

  /// Fills a new store as its authors advise: as one transaction where that is usual.
  func load(_ body: (any PeerWriter) throws -> Void) throws

  /// Brings the store to rest: what a background task or the next checkpoint would do. Never timed.
  func settle() throws

  func close() throws
}

extension EnginePeer {
  static var knowsRanks: Bool { false }
  static var hasSnapshots: Bool { true }

  func load(_ body: (any PeerWriter) throws -> Void) throws { try write(body) }
}

/// The reading half of a peer. Values are read where they lie; the digest takes in their ends.
protocol PeerReader: AnyObject {
  /// Takes the value of `key` into `digest`; a missing key is an error.
  func get(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws

  /// Takes up to `limit` records from `key` on, in order, into `digest`; from the first where `key` is `nil`.
  /// - Returns: How many there were.
  func scan(from key: UnsafeRawBufferPointer?, limit: Int, into digest: inout ReadDigest) throws -> Int

  /// Like `scan` over everything, with every byte of every record.
  func scanWholly(into digest: inout ReadDigest) throws

  /// How many keys lie at or after `lower` and before `upper`.
  func count(from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer) throws -> Int

  /// Takes the record that has `rank` records before it into `digest`.
  func entry(at rank: Int, into digest: inout ReadDigest) throws
}

/// The writing half of a peer.
protocol PeerWriter: AnyObject {
  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws

  /// Puts a key that is greater than all keys there are.
  func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws

  func delete(_ key: UnsafeRawBufferPointer) throws
}

extension PeerWriter {
  func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws { try put(key, value) }
}

func missingKey(_ peer: String) -> BenchmarkError {
  BenchmarkError("\(peer) does not find a key that was put")
}
