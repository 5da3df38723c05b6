import Foundation
import Heartwood
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import FaultProgramme

/// Checks the errors of a container that is given an unusable store.
@Suite struct `A graph's store that cannot be used` {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: HeartwoodError.Code
    let word: String
    var createsStore = true
    let place: @Sendable () throws -> any FileSystem
  }

  private static let cases = [
    Case(testDescription: "nothing there", code: .persistentStoreOpen, word: "no store", createsStore: false)
    {
      MemoryFileSystem()
    },
    Case(testDescription: "a folder of other things", code: .persistentStoreOpen, word: "another folder") {
      let fileSystem = MemoryFileSystem()
      try fileSystem.createDirectory(Session.path)
      try fileSystem.openDirectory(Session.path).open("notes.txt", .createNew).close()
      return fileSystem
    },
    Case(testDescription: "a file", code: .persistentStoreOpen, word: "a store is a folder") {
      let fileSystem = MemoryFileSystem()
      try fileSystem.openDirectory("/").open(String(Session.path.dropFirst()), .createNew).close()
      return fileSystem
    },
    Case(testDescription: "a damaged anchor", code: .persistentStoreDamaged, word: "both slots") {
      try damaged("anchor", at: [40, 4096 + 40])
    },
    Case(testDescription: "a damaged log", code: .persistentStoreDamaged, word: ".log") {
      try damaged("0000000000000001.log", at: [40])
    },
    Case(testDescription: "damaged pages", code: .persistentStoreDamaged, word: ".pages") {
      try damaged("0000000000000002.pages", at: [4096 + 200])
    },
    Case(testDescription: "a full disk", code: .persistentStoreOpen, word: "disk is full") {
      FaultInjectingFileSystem(base: MemoryFileSystem(), plan: FaultPlan(spaceLimit: 10))
    },
    Case(testDescription: "a folder that refuses", code: .persistentStoreOpen, word: "permissions") {
      let fault = FaultPlan.Fault(.mutations, code: .permissionDenied, duration: .forever)
      return FaultInjectingFileSystem(base: MemoryFileSystem(), plan: FaultPlan([fault]))
    },
  ]

  @Test(arguments: cases)
  func `an unusable store of a graph is refused with the problem and its place`(refusal: Case) throws {
    let model = try ManagedObjectModel(types: Library.types)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let description = PersistentStoreDescription(url: URL(filePath: Session.path))
    description.fileSystem = try refusal.place()
    description.createsStore = refusal.createsStore
    let error = try #require(throws: HeartwoodError.self) {
      try coordinator.addPersistentStore(with: description)
      let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      try context.performAndWait { _ = try GraphFacts(of: context) }
    }
    #expect(error.code == refusal.code, "\(error)")
    #expect(error.message.contains(Session.path) && error.message.contains(refusal.word), "\(error)")
    try? coordinator.close()
  }

  private static func damaged(_ name: String, at offsets: [Int]) throws -> MemoryFileSystem {
    let fileSystem = MemoryFileSystem()
    let container = try GraphSession.open(fileSystem)
    try GraphSession.run(GraphWorkload.steps[0], on: container)
    try container.close()
    let file = try fileSystem.openDirectory(Session.path).open(name, .readWrite)
    for offset in offsets { try [UInt8(0xA5)].withUnsafeBytes { try file.writeFully($0, at: Int64(offset)) } }
    try file.close()
    return fileSystem
  }
}
