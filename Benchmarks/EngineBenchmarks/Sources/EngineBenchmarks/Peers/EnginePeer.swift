import BenchmarkHarness

/// A store of keys and values under measurement. One peer object is one open store, for one thread at a time.
///
/// The rows hold a peer to these promises, most of them by comparing what all peers read:
///
/// - Keys are any bytes and are ordered byte by byte, as unsigned numbers. Keys and values of the rows have 16 and 100 bytes. A key
///   has one value, the last one that was put.
/// - `write` is one transaction: all of it or none, whatever happens. Writers of several threads wait for one another.
/// - A durable commit returns when it would survive a power cut. One that is not durable has been handed to the operating system,
///   so that the end of the process does not undo it. No row cuts the power: keeping this promise is up to the peer, and
///   figures of a peer that does not keep it mean nothing.
/// - A store that was closed and is opened again has all that was committed.
///
/// Rows are left out for a peer that says so: see `knowsRanks`, `hasSnapshots` and `opensCopies`.
public protocol EnginePeer: AnyObject, SendableMetatype {
  /// Opens the store in `directory`, or makes it there, and says whatever the peer has to say about caches.
  ///
  /// Its commits are not durable until `makeCommits(durable:)` says so.
  /// - Parameters:
  ///   - directory: The path of a folder of this store alone, which is there; empty for a new store.
  ///   - records: How many records it will hold, for peers that must know their size beforehand.
  /// - Throws: An error that ends the run.
  init(directory: String, records: Int) throws

  /// Whether counts and ranks are known without visiting the records before. Where not, as by default, the rows about them ask
  /// 20 questions, and otherwise as many as there are records.
  static var knowsRanks: Bool { get }

  /// Whether `read` hands out a state that stays while others write, and readers see whole commits only, as by default. Where not,
  /// the rows that need it are left out: reads in one snapshot, and readers beside a writer. Scans take what is there.
  static var hasSnapshots: Bool { get }

  /// Whether a copy of the folder that is taken while the store is open, and no thread writes, can be opened, with all that was
  /// committed: a killed program leaves the same. Where not, as by default, opening after a crash is left out.
  static var opensCopies: Bool { get }

  /// The same store for another thread, which uses it while this object is used, too. Called by the thread of this object, and closed
  /// before it. Eight at once commit, and two at once read beside the writer of this object.
  /// - Throws: An error that ends the run.
  func forAnotherThread() throws -> any EnginePeer

  /// Says whether a commit of this object returns, from now on, only when its changes would survive a power cut.
  /// - Throws: An error that ends the run.
  func makeCommits(durable: Bool) throws

  /// Hands `body` one unchanging state of the store, where the peer has snapshots: the newest when `read` is called. The reader is used
  /// in `body` only, and by its thread. The values that it reads need to stay where they are only until its next call.
  /// - Throws: The errors of `body`.
  func read(_ body: (any PeerReader) throws -> Void) throws

  /// Reads one value of the newest state, by the cheapest way that the store has for it: every commit that returned, by
  /// whichever thread, is seen.
  /// - Parameters:
  ///   - key: The key, which is there.
  ///   - digest: Takes in the value's ends.
  /// - Throws: An error that ends the run, also where the key is missing.
  func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws

  /// Commits what `body` changes as one transaction. `body` does not read; of several values of a key the last one counts.
  /// - Throws: The errors of `body`, and then nothing is changed; or an error that ends the run.
  func write(_ body: (any PeerWriter) throws -> Void) throws

  /// Fills a new store as its authors advise: as one transaction where that is usual, as by default.
  /// - Throws: The errors of `body`, or an error that ends the run.
  func load(_ body: (any PeerWriter) throws -> Void) throws

  /// Brings the store to rest: what a background task or the next checkpoint would do. Never timed.
  /// - Throws: An error that ends the run.
  func settle() throws

  /// Closes the store, or this thread's way to it. Nothing is called afterwards.
  /// - Throws: An error that ends the run.
  func close() throws
}

extension EnginePeer {
  /// False: the peer scans for counts and ranks.
  public static var knowsRanks: Bool { false }
  /// True: the peer has snapshots.
  public static var hasSnapshots: Bool { true }
  /// False: the row about opening after a crash is left out.
  public static var opensCopies: Bool { false }

  /// One transaction, as `write`.
  public func load(_ body: (any PeerWriter) throws -> Void) throws { try write(body) }
}

/// The reading half of a peer. Values are read where they lie; the digest takes in their ends, by `add(ends:)`, first of a key
/// and then of its value.
public protocol PeerReader: AnyObject {
  /// Takes the ends of the value of `key` into `digest`.
  /// - Throws: An error that ends the run, also where the key is missing.
  func get(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws

  /// Takes the ends of up to `limit` keys and values into `digest`, in the order of the keys: from the first one that is not before
  /// `key`, or from the first of all where `key` is `nil`.
  /// - Returns: How many there were.
  /// - Throws: An error that ends the run.
  func scan(from key: UnsafeRawBufferPointer?, limit: Int, into digest: inout ReadDigest) throws -> Int

  /// Takes every byte of every record into `digest`, by `add(all:)`: key, value, key, value, in the order of the keys.
  /// - Throws: An error that ends the run.
  func scanWholly(into digest: inout ReadDigest) throws

  /// How many keys lie at or after `lower` and before `upper`.
  /// - Throws: An error that ends the run.
  func count(from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer) throws -> Int

  /// Takes the ends of the key and the value that have `rank` records before them into `digest`.
  /// - Throws: An error that ends the run, also where there are not so many.
  func entry(at rank: Int, into digest: inout ReadDigest) throws
}

/// The writing half of a peer. The bytes that it gets are the caller's after the call.
public protocol PeerWriter: AnyObject {
  /// Puts a value, in the place of the one that the key has.
  /// - Throws: An error that ends the run.
  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws

  /// Puts a key that is greater than all keys there are; by default as any other.
  /// - Throws: An error that ends the run.
  func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws

  /// Deletes a key that is there.
  /// - Throws: An error that ends the run.
  func delete(_ key: UnsafeRawBufferPointer) throws
}

extension PeerWriter {
  /// As `put`.
  public func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
    try put(key, value)
  }
}
