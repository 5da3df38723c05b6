import Foundation
import GraphTestSupport
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Crashes of stores in one file` {
  private let world = StoreWorld()
  private static let url = URL(fileURLWithPath: "/store")

  private func options(_ kind: StoreKind, _ fileSystem: any FileSystem) -> LogStoreOptions {
    var options = LogStoreOptions()
    options.format = kind.format
    options.fileSystem = fileSystem
    return options
  }

  private func open(_ kind: StoreKind, _ fileSystem: any FileSystem) throws -> LogStore {
    try LogStore.open(at: Self.url, model: world.model, options: options(kind, fileSystem))
  }

  private func add(_ store: LogStore, _ number: Int) throws {
    try store.save { transaction in
      let key = try transaction.newKeys(world.place, 1)
      let row = world.village.row(version: 1, ["title": .string("\(number)")])
      try transaction.insert(world.village, key, row: row)
    }
  }

  private static func count(_ store: LogStore, _ world: StoreWorld) throws -> Int {
    try store.view().rowCount(of: world.place)
  }

  // STO-02
  @Test(arguments: StoreKind.files)
  func `a crash at any call of a save leaves the file from before it or after it`(kind: StoreKind) throws {
    let report = try CrashExplorer(seed: 5).run(acknowledging: Int.self) { fileSystem in
      try open(kind, fileSystem).close()
    } workload: { fileSystem, acknowledge in
      let store = try open(kind, fileSystem)
      for number in 1...(LongRun.isWanted ? 4 : 2) {
        try add(store, number)
        acknowledge(number)
      }
      try store.close()
    } verify: { [world] fileSystem, acknowledged in
      var options = LogStoreOptions()
      options.format = kind.format
      options.fileSystem = fileSystem
      let store = try LogStore.open(at: Self.url, model: world.model, options: options)
      let (found, sure) = (try Self.count(store, world), acknowledged.last ?? 0)
      guard found == sure || found == sure + 1 else {
        throw Disagreement(what: "\(found) rows after \(sure) saves")
      }
      guard try store.verify().findings.isEmpty else { throw Disagreement(what: "findings") }
      try store.save { transaction in
        let key = try transaction.newKeys(world.place, 1)
        try transaction.insert(world.village, key, row: world.village.row(version: 1, [:]))
      }
      try store.close()
      let names = try fileSystem.openDirectory("/").entries()
      guard names == ["store"] else { throw Disagreement(what: "files are left: \(names)") }
    }
    try report.check()
    #expect(report.distinctImages > 30, "\(report)")
  }

  @Test(arguments: StoreKind.files)
  func `a save that cannot be written fails, and the next one saves everything`(kind: StoreKind) throws {
    let disk = SimulatedFileSystem(seed: 6)
    try open(kind, disk).close()
    for operation in [FileSystemError.Operation.write, .open, .sync, .rename] {
      let plan = FaultPlan([.init(.fail(.noSpace), on: .of(operation), file: "*temporary", .nth(1))])
      let store = try open(kind, FaultInjectingFileSystem(base: disk, plan: plan))
      let before = try Self.count(store, world)
      #expect(throws: HeartwoodError.self, "\(operation)") { try add(store, 1) }
      #expect(try Self.count(store, world) == before)
      try add(store, 2)
      try store.close()
      let again = try open(kind, disk)
      #expect(try Self.count(again, world) == before + 1)
      try again.close()
    }
  }

  @Test(arguments: StoreKind.files)
  func `after a save that may not be safe nothing is saved until the store is opened again`(kind: StoreKind)
    throws
  {
    let disk = SimulatedFileSystem(seed: 7)
    try open(kind, disk).close()
    let plan = FaultPlan([.init(.fail(.inputOutput), on: .of(.syncDirectory), .nth(1))])
    let store = try open(kind, FaultInjectingFileSystem(base: disk, plan: plan))
    let error = heartwoodError { try add(store, 1) }
    #expect(error?.isOutcomeUnknown == true)
    #expect(heartwoodError { try add(store, 2) }?.message.contains("open the store again") == true)
    try store.close()
    let again = try open(kind, disk)
    #expect(try Self.count(again, world) == 1)
    try again.close()
  }

  @Test(arguments: StoreKind.files)
  func `of two processes that save at once one is told that the other has saved`(kind: StoreKind) throws {
    let disk = SimulatedFileSystem(seed: 8)
    try open(kind, disk).close()
    let stores = try (0..<2).map { try open(kind, disk.process(named: "\($0)")) }
    try add(stores[0], 1)
    #expect(heartwoodError { try add(stores[1], 2) }?.code == .persistentStoreSaveConflicts)
    try add(stores[0], 3)
    for store in stores { try store.close() }
  }
}
