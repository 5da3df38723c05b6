import Foundation
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Files of an open store that something else deletes, replaces or overwrites.
struct StorePlaceTests {
  /// The deed on the store, with the files that are gone then.
  enum Deed: String, CaseIterable, CustomTestStringConvertible {
    case folder, movedFolder, replacedFolder, log, anchor, pages, lock, processes, replacedAnchor,
      copiedBackup

    var testDescription: String { rawValue }

    func `do`(at path: String, backup: String) throws {
      let files = FileManager.default
      let names = try files.contentsOfDirectory(atPath: path).sorted()
      func remove(_ name: String?) throws {
        let name = try #require(name)
        try files.removeItem(atPath: path + "/" + name)
      }
      switch self {
      case .folder: try files.removeItem(atPath: path)
      case .movedFolder: try files.moveItem(atPath: path, toPath: path + "-moved")
      case .replacedFolder:
        try files.moveItem(atPath: path, toPath: path + "-moved")
        try files.copyItem(atPath: backup, toPath: path)
      case .log: try remove(names.last { $0.hasSuffix(".log") })
      case .anchor: try remove("anchor")
      case .pages: try remove(names.first { $0.hasSuffix(".pages") })
      case .lock: try remove("lock")
      case .processes: try remove("processes")
      case .replacedAnchor:
        let copy = path + "/anchor.copy"
        try files.copyItem(atPath: path + "/anchor", toPath: copy)
        try #require(rename(copy, path + "/anchor") == 0)
      case .copiedBackup:
        // As `cp -r backup/. store` does: files keep their inodes.
        for name in try files.contentsOfDirectory(atPath: backup) {
          let bytes = try Data(contentsOf: URL(filePath: backup + "/" + name))
          guard let handle = FileHandle(forWritingAtPath: path + "/" + name) else {
            try bytes.write(to: URL(filePath: path + "/" + name))
            continue
          }
          // Not truncated first: a map of a file that shrinks ends the process.
          try handle.write(contentsOf: bytes)
          try handle.close()
        }
      }
    }
  }

  private var options: EngineOptions {
    var options = StoreKind.posixBuffered.options
    options.idleSeconds = 60
    return options
  }

  @Test(arguments: Deed.allCases, [Durability.full, .deferred])
  func `a commit that the folder does not have any more is not reported as durable`(
    deed: Deed, durability: Durability
  ) throws {
    try TemporaryFolder.with { folder in
      let path = folder + "/store"
      let engine = try Engine(at: path, options: options)
      try engine.write { try $0.put("a", [1]) }
      try engine.checkpoint()
      try engine.backup(to: folder + "/backup")
      for value in 2...4 as ClosedRange<UInt8> { try engine.write { try $0.put("a", [value]) } }
      try deed.do(at: path, backup: folder + "/backup")
      let error = #expect(throws: EngineError.self) {
        try engine.write(durability: durability) { try $0.put("a", [9]) }
        // Deferred commits become durable here.
        if durability == .deferred { try engine.checkpoint() }
      }
      #expect(error?.code == .replaced, "\(String(describing: error))")
      #expect(throws: EngineError.self) { try engine.write { try $0.put("b", [1]) } }
      // Reading goes on, and what is here can be copied.
      let seen = try #require(try engine.get("a")?.first)
      #expect(seen == (durability == .full ? 4 : 9))
      if deed != .pages {
        try engine.backup(to: folder + "/rescued")
        let rescued = try Engine(at: folder + "/rescued", options: options)
        #expect(try rescued.get("a") == [seen])
        try rescued.close()
      }
      try? engine.close()
    }
  }

  @Test func `a store whose files come and go by its own doing is not taken for a replaced one`() throws {
    try TemporaryFolder.with { folder in
      var options = StoreKind.posixMapped.options
      options.worker = QueueWorker()
      let engine = try Engine(at: folder + "/store", options: options)
      let other = try Engine(at: folder + "/store", options: StoreKind.posixMapped.processOptions)
      for round in 0..<40 {
        for engine in [engine, other] {
          try engine.write {
            for key in 0..<60 { try $0.put("\(key)", [UInt8](repeating: UInt8(round), count: 300)) }
          }
        }
        if round % 7 == 3 { try engine.reclaim() }
        if round % 9 == 4 { try other.checkpoint() }
      }
      #expect(try engine.verify().findings == [])
      try other.close()
      try engine.close()
    }
  }

  @Test func `another file in the folder, new permissions and another link are not taken for a replacement`()
    throws
  {
    try TemporaryFolder.with { folder in
      let path = folder + "/store"
      let engine = try Engine(at: path, options: options)
      try engine.write { try $0.put("a", [1]) }
      try Data([1]).write(to: URL(filePath: path + "/notes.txt"))
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path + "/anchor")
      try FileManager.default.linkItem(atPath: path + "/anchor", toPath: folder + "/link")
      try engine.write { try $0.put("a", [2]) }
      try FileManager.default.removeItem(atPath: folder + "/link")
      try engine.write { try $0.put("a", [3]) }
      try FileManager.default.removeItem(atPath: path + "/notes.txt")
      try engine.close()
    }
  }
}
