import Foundation

/// One peer in one round, with its stores.
final class EngineSession {
  let kind: EnginePeerKind
  /// The figures of this round, for rows that are derived from others.
  var figures: [String: Double] = [:]
  private let records: Int
  private let directory: String
  private var scratches: [Load: Scratch] = [:]
  private var stores: [Load: any EnginePeer] = [:]
  private var warm: Set<Load> = []
  private var weights: [Load: Double] = [:]

  init(_ kind: EnginePeerKind, records: Int, directory: String) {
    self.kind = kind
    self.records = records
    self.directory = directory
  }

  /// The store of one load, opened if it is not open.
  func store(_ load: Load) throws -> any EnginePeer {
    if let store = stores[load] { return store }
    let store = try open(try scratch(load).path)
    stores[load] = store
    return store
  }

  /// The same, after everything in it has been read once since it was opened.
  func warmStore(_ load: Load) throws -> any EnginePeer {
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

  func close(_ load: Load) throws {
    try stores.removeValue(forKey: load)?.close()
    warm.remove(load)
  }

  func closeAll() throws {
    for load in Load.allCases { try close(load) }
  }

  /// Notes what a store occupies now, for `bytesAfterwards`.
  func weigh(_ load: Load) throws { weights[load] = Double(try occupiedBytes(load)) }

  /// The bytes that `weigh` noted, or those that the store occupies now.
  func bytesAfterwards(_ load: Load) throws -> Double { try weights[load] ?? Double(occupiedBytes(load)) }

  func occupiedBytes(_ load: Load) throws -> Int { try scratch(load).occupiedBytes() }
}

/// The stores of a session.
enum Load: CaseIterable {
  /// Loaded in the order of the keys.
  case sorted
  /// Loaded in random order.
  case shuffled
  /// Loaded in order, for rows that update it with no other reader, and beside an old reader.
  case alone, pinned
}

struct EnginePeerKind {
  let name: String
  let type: any EnginePeer.Type

  static let ours = "Heartwood"

  /// The first is compared with the others.
  static var all: [EnginePeerKind] { always + optional.there }

  private static var always: [EnginePeerKind] {
    [
      EnginePeerKind(name: ours, type: HeartwoodPeer.self),
      EnginePeerKind(name: "SQLite", type: SQLitePeer.self),
      EnginePeerKind(name: "LMDB", type: LMDBPeer.self),
      EnginePeerKind(name: "RocksDB", type: RocksDBPeer.self),
      EnginePeerKind(name: "LevelDB", type: LevelDBPeer.self),
    ]
  }

  /// Says which peers are left out because their libraries were not there when this program was compiled.
  static var missing: String? {
    let missing = optional.missing
    guard !missing.isEmpty else { return nil }
    return
      "Without \(missing.joined(separator: ", ")): compiled without these libraries, see Benchmarks/README.md"
  }

  /// The peers whose libraries a machine may lack.
  private static var optional: (there: [EnginePeerKind], missing: [String]) {
    var there: [EnginePeerKind] = []
    var missing: [String] = []
    #if canImport(CWiredTiger)
      there.append(EnginePeerKind(name: "WiredTiger", type: WiredTigerPeer.self))
    #else
      missing.append("WiredTiger")
    #endif
    #if canImport(CKyotoCabinet)
      there.append(EnginePeerKind(name: "Kyoto Cabinet", type: KyotoCabinetPeer.self))
    #else
      missing.append("Kyoto Cabinet")
    #endif
    #if canImport(CTkrzw)
      there.append(EnginePeerKind(name: "Tkrzw", type: TkrzwPeer.self))
    #else
      missing.append("Tkrzw")
    #endif
    #if canImport(CMDBX)
      there.append(EnginePeerKind(name: "libmdbx", type: MDBXPeer.self))
    #else
      missing.append("libmdbx")
    #endif
    return (there, missing)
  }
}

/// Every byte of every record, in order.
func digestOfAll(_ store: any EnginePeer) throws -> UInt64 {
  var digest = ReadDigest()
  try store.read { try $0.scanWholly(into: &digest) }
  return digest.value
}
