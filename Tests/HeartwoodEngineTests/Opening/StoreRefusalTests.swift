import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Errors for paths and files that cannot be opened. Each states the problem and the place.
@Suite struct StoreRefusalTests {
  private static let path = StoreFiles.path

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: EngineError.Code
    /// Words that the message must contain, besides the path.
    let words: [String]
    let open: @Sendable () throws -> Void
  }

  private static let cases = [
    Case(testDescription: "nothing there", code: .notFound, words: ["no store"]) {
      var options = EngineOptions()
      options.createsStore = false
      try open(MemoryFileSystem(), options)
    },
    Case(testDescription: "a folder of other things", code: .notAStore, words: ["another folder"]) {
      try open(folder(["photo.jpg": [1, 2, 3]]))
    },
    Case(testDescription: "an anchor of another program", code: .notAStore, words: ["anchor"]) {
      try open(folder(["anchor": [UInt8](repeating: 65, count: 9000)]))
    },
    Case(testDescription: "an encrypted store", code: .notAStore, words: ["encrypted", "key"]) {
      try open(folder(["anchor": Array("HWCRYPTF".utf8) + [UInt8](repeating: 65, count: 9000)]))
    },
    Case(testDescription: "a store of another key", code: .wrongKey, words: ["key", "nothing is damaged"]) {
      let plan: FaultPlan = [.fail(.of(.openDirectory), with: .wrongKey)]
      try open(FaultInjectingFileSystem(base: StoreFiles.small().files.mounted(), plan: plan))
    },
    Case(testDescription: "an empty anchor", code: .notAStore, words: ["anchor"]) {
      try open(folder(["anchor": []]))
    },
    Case(testDescription: "both slots damaged", code: .damaged, words: ["both slots", "restore"]) {
      try open(damaged(StoreFolder.anchorName, at: [30, 4096 + 30]))
    },
    Case(testDescription: "a damaged log", code: .damaged, words: ["byte", "restore", ".log"]) {
      var store = try StoreInUse()
      store.files.files[store.logName]?[store.ends[4] + 90] ^= 1
      try open(try store.files.mounted())
    },
    Case(
      testDescription: "a damaged header of the log", code: .damaged, words: ["header", "restore", ".log"]
    ) {
      try open(damaged("0000000000000001.log", at: [41]))
    },
    Case(testDescription: "a missing log", code: .damaged, words: ["missing", ".log"]) {
      var store = try StoreFiles.small().files
      store.files["0000000000000001.log"] = nil
      try open(try store.mounted())
    },
    Case(testDescription: "missing pages", code: .damaged, words: ["missing", ".pages"]) {
      var store = try StoreFiles.small().files
      for name in store.files.keys where name.hasSuffix(".pages") { store.files[name] = nil }
      try open(try store.mounted())
    },
    Case(testDescription: "short pages", code: .damaged, words: ["shorter", ".pages"]) {
      var store = try StoreFiles.small().files
      for name in store.files.keys where name.hasSuffix(".pages") { store.files[name]?.removeLast(4000) }
      try open(try store.mounted())
    },
    Case(testDescription: "a newer format", code: .newerFormat, words: ["format 9", "newer"]) {
      var store = try StoreFiles.small().files
      for slot in 0..<2 {
        store.setAnchorField(slot: slot, 8, UInt32(9))
        store.setAnchorField(slot: slot, 12, UInt32(9))
      }
      try open(try store.mounted())
    },
    Case(testDescription: "a feature that is not known", code: .newerFormat, words: ["newer"]) {
      var store = try StoreFiles.small().files
      for slot in 0..<2 { store.setAnchorField(slot: slot, 28, UInt32(4)) }
      try open(try store.mounted())
    },
    Case(testDescription: "a full disk", code: .noSpace, words: ["could not be made"]) {
      try open(FaultInjectingFileSystem(base: MemoryFileSystem(), plan: FaultPlan(spaceLimit: 100)))
    },
    Case(testDescription: "a folder that refuses", code: .readOnly, words: ["could not be"]) {
      let fault = FaultPlan.Fault(.mutations, code: .permissionDenied, duration: .forever)
      try open(FaultInjectingFileSystem(base: MemoryFileSystem(), plan: FaultPlan([fault])))
    },
    Case(testDescription: "a failing disk", code: .inputOutput, words: ["reading failed"]) {
      let fault = FaultPlan.Fault(.of(.read), suffix: "anchor", code: .inputOutput, duration: .forever)
      try open(
        FaultInjectingFileSystem(base: try StoreFiles.small().files.mounted(), plan: FaultPlan([fault])))
    },
  ]

  @Test(arguments: cases)
  func `an error says what is wrong and where`(refusal: Case) throws {
    let error = try #require(throws: EngineError.self) { try refusal.open() }
    #expect(error.code == refusal.code, "\(error)")
    let text = error.description
    #expect(text.contains(Self.path), "\(text)")
    for word in refusal.words { #expect(text.contains(word), "\(text)") }
  }

  /// The superuser may write anywhere.
  @Test(.enabled(if: getuid() != 0, "Root may write to a folder without permissions."))
  func `a folder without write permission opens for reading, and refuses writes`() throws {
    try TemporaryFolder.with { folder in
      let path = folder + "/store"
      let engine = try Engine(at: path)
      try engine.write { try $0.put("key", [1]) }
      try engine.close()
      try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: path)
      for name in try FileManager.default.contentsOfDirectory(atPath: path) {
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path + "/" + name)
      }
      defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path) }
      let error = try #require(throws: EngineError.self) { try Engine(at: path) }
      #expect(error.code == .readOnly && error.description.contains(path), "\(error)")
      let reader = try Engine(at: path, options: EngineOptions(access: .readOnly))
      #expect(try reader.snapshot().get("key") == [1])
      try reader.close()
    }
  }

  private static func open(_ fileSystem: any FileSystem, _ options: EngineOptions = EngineOptions()) throws {
    var options = options
    options.worker = InlineWorker()
    let engine = try Engine(at: path, options: options, fileSystem: fileSystem)
    try engine.read { _ = try $0.contents() }
    try engine.close()
  }

  private static func folder(_ files: [String: [UInt8]]) throws -> MemoryFileSystem {
    var store = try StoreFiles.small().files
    store.files = files
    return try store.mounted()
  }

  private static func damaged(_ name: String, at offsets: [Int]) throws -> MemoryFileSystem {
    var store = try StoreFiles.small().files
    for offset in offsets { store.files[name]?[offset] ^= 1 }
    return try store.mounted()
  }
}
