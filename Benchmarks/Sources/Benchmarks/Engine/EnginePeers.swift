import EngineBenchmarks

extension EnginePeerKind {
  /// The first is compared with the others.
  static var all: [EnginePeerKind] { always + optional.there }

  private static var always: [EnginePeerKind] {
    [
      .heartwood,
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
