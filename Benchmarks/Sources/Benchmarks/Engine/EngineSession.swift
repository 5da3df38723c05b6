/// One peer in one round: a store loaded in the order of the keys, and one loaded in random order.
final class EngineSession {
  let peer: EnginePeerKind
  private let records: Int
  private let scratches: [Scratch]
  private var stores: [(any EnginePeer)?] = [nil, nil]

  init(_ peer: EnginePeerKind, records: Int, directory: String) throws {
    self.peer = peer
    self.records = records
    scratches = try ["sorted", "shuffled"].map { try Scratch(in: directory, named: peer.name + "-" + $0) }
  }

  /// The store of one load, opened if it is not open.
  func store(_ load: Load) throws -> any EnginePeer {
    if let store = stores[load.rawValue] { return store }
    let store = try peer.type.init(directory: scratches[load.rawValue].path, records: records)
    stores[load.rawValue] = store
    return store
  }

  func close(_ load: Load) throws {
    try stores[load.rawValue]?.close()
    stores[load.rawValue] = nil
  }

  func closeAll() throws {
    try close(.sorted)
    try close(.shuffled)
  }

  func occupiedBytes(_ load: Load) throws -> Int { try scratches[load.rawValue].occupiedBytes() }
}

/// The order in which a store was loaded.
enum Load: Int { case sorted, shuffled }

struct EnginePeerKind {
  let name: String
  let type: any EnginePeer.Type

  /// The first is compared with the others.
  static var all: [EnginePeerKind] {
    [
      EnginePeerKind(name: "Heartwood", type: HeartwoodPeer.self),
      EnginePeerKind(name: "SQLite", type: SQLitePeer.self),
      EnginePeerKind(name: "LMDB", type: LMDBPeer.self),
    ]
  }
}
