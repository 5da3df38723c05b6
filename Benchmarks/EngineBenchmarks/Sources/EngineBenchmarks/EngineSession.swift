import BenchmarkHarness
import Foundation

/// One peer in one round, with its stores.
public final class EngineSession {
  /// The peer.
  public let kind: EnginePeerKind
  /// The figures of this round, for rows that are derived from others.
  public var figures: [String: Double] = [:]
  private let records: Int
  private let directory: String
  private var scratches: [Load: Scratch] = [:]
  private var stores: [Load: any EnginePeer] = [:]
  private var warm: Set<Load> = []
  private var weights: [Load: Double] = [:]

  /// A session that has no stores yet.
  /// - Parameters:
  ///   - kind: The peer.
  ///   - records: How many records a store will have.
  ///   - directory: The folder in which the stores are made.
  public init(_ kind: EnginePeerKind, records: Int, directory: String) {
    self.kind = kind
    self.records = records
    self.directory = directory
  }

  /// The store of one load, opened if it is not open.
  /// - Throws: The error of the peer, or of the system where its folder cannot be made.
  public func store(_ load: Load) throws -> any EnginePeer {
    if let store = stores[load] { return store }
    let store = try open(try scratch(load).path)
    stores[load] = store
    return store
  }

  /// The same, after everything in it has been read once since it was opened.
  /// - Throws: As `store`.
  public func warmStore(_ load: Load) throws -> any EnginePeer {
    let store = try store(load)
    if warm.insert(load).inserted { _ = try digestOfAll(store) }
    return store
  }

  func open(_ directory: String) throws -> any EnginePeer {
    try kind.type.init(directory: directory, records: records)
  }

  private func scratch(_ load: Load) throws -> Scratch {
    if let scratch = scratches[load] { return scratch }
    let scratch = try Scratch(in: directory, named: "\(kind.name)-\(load)")
    scratches[load] = scratch
    return scratch
  }

  /// The files of a store as they are, in use or not.
  func copy(_ load: Load) throws -> Scratch { try copy(try scratch(load)) }

  func copy(_ scratch: Scratch) throws -> Scratch {
    let copy = try Scratch(in: directory, named: kind.name + "-copy")
    try FileManager.default.removeItem(atPath: copy.path)
    try FileManager.default.copyItem(atPath: scratch.path, toPath: copy.path)
    return copy
  }

  /// Closes the store of one load, if it is open.
  /// - Throws: The error of the peer.
  public func close(_ load: Load) throws {
    try stores.removeValue(forKey: load)?.close()
    warm.remove(load)
  }

  /// Closes all stores.
  /// - Throws: The error of the peer.
  public func closeAll() throws {
    for load in Load.allCases { try close(load) }
  }

  /// Notes what a store occupies now, for `bytesAfterwards`.
  /// - Throws: The error of the system.
  public func weigh(_ load: Load) throws { weights[load] = Double(try occupiedBytes(load)) }

  /// The bytes that `weigh` noted, or those that the store occupies now.
  /// - Throws: The error of the system.
  public func bytesAfterwards(_ load: Load) throws -> Double {
    try weights[load] ?? Double(occupiedBytes(load))
  }

  /// The bytes that a store occupies on disk now.
  /// - Throws: The error of the system.
  public func occupiedBytes(_ load: Load) throws -> Int { try scratch(load).occupiedBytes() }
}

/// The stores of a session.
public enum Load: CaseIterable {
  /// Loaded in the order of the keys.
  case sorted
  /// Loaded in random order.
  case shuffled
  /// Loaded in order, for rows that update it with no other reader.
  case alone
  /// As `alone`, and read by an old reader all the time.
  case pinned
}

/// Every byte of every record, in order.
func digestOfAll(_ store: any EnginePeer) throws -> UInt64 {
  var digest = ReadDigest()
  try store.read { try $0.scanWholly(into: &digest) }
  return digest.value
}
