import Dispatch
import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite struct `Engines of one process on one folder` {
  private let options = StoreKind.posixMapped.options

  @Test func `engines of one process share one store, and the last engine to close closes it`() throws {
    try TemporaryFolder.with { path in
      let first = try Engine(at: path, options: options)
      let second = try Engine(at: path, options: options)
      #expect(first.handle.store === second.handle.store)
      try first.write { try $0.put("a", [1]) }
      #expect(try second.snapshot().get("a") == [1])
      let held = try first.snapshot()
      try first.close()
      try first.close()
      for work in everything(of: first) { #expect(code(work) == .closed) }
      #expect(try held.get("a") == [1])
      try second.write { try $0.put("b", [2]) }
      try second.close()
      #expect(second.handle.store.status.isClosed)
      let third = try Engine(at: path, options: options)
      #expect(third.handle.store !== second.handle.store)
      #expect(try third.snapshot().count == 2)
      try third.close()
    }
  }

  private func everything(of engine: Engine) -> [() throws -> Void] {
    [
      { _ = try engine.snapshot() }, { _ = try engine.snapshot(at: Generation(rawValue: 1)) },
      { try engine.write { try $0.put("c", [3]) } }, { try engine.checkpoint() }, { try engine.reclaim() },
      { _ = try engine.statistics() }, { _ = try engine.verify() }, { _ = try engine.generations() },
      { _ = try engine.backup(to: engine.path + "-backup") },
    ]
  }

  @Test func `each engine has its own durability, and its own store where options are incompatible`()
    throws
  {
    try TemporaryFolder.with { path in
      let first = try Engine(at: path, options: options)
      func isShared(_ change: (inout EngineOptions) -> Void) throws -> Bool {
        var others = options
        change(&others)
        let engine = try Engine(at: path, options: others)
        defer { try? engine.close() }
        #expect(engine.handle.durability == others.durability)
        return engine.handle.store === first.handle.store
      }
      #expect(try isShared { $0.durability = .deferred })
      #expect(try isShared { $0.checkpointBytes *= 2 })
      #expect(try !isShared { $0.durability = .none })
      #expect(try !isShared { $0.reading = .buffered })
      #expect(try !isShared { $0.access = .readOnly })
      var exclusive = options
      (exclusive.sharing, exclusive.busyTimeout) = (.exclusive, 0)
      #expect(code { _ = try Engine(at: path, options: exclusive) } == .locked)
      try first.close()
    }
  }

  @Test func `engines share neither a folder that has replaced another nor a store that has stopped`() throws
  {
    try TemporaryFolder.with { folder in
      let path = folder + "/store"
      let moved = try Engine(at: path, options: options)
      try moved.write { try $0.put("a", [1]) }
      try FileManager.default.moveItem(atPath: path, toPath: path + "-moved")
      let stopped = try Engine(at: path, options: options)
      #expect(try stopped.snapshot().count == 0)
      stopped.handle.store.status.stop(EngineError(.inputOutput, "a sync failed"))
      let sound = try Engine(at: path, options: options)
      #expect(code { try stopped.write { try $0.put("a", [1]) } } == .stopped)
      try sound.write { try $0.put("b", [2]) }
      try sound.close()
      try? stopped.close()
      try? moved.close()
    }
  }

  @Test func `many threads open, use and close engines of one folder at once`() throws {
    try TemporaryFolder.with { path in
      let options = EngineOptions(durability: .deferred, segmentBytes: 64 << 10, checkpointBytes: 64 << 10)
      let failures = Guarded<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 6) { thread in
        for round in 0..<30 {
          do {
            let engine = try Engine(at: path, options: options)
            try engine.write { transaction in
              let count = try transaction.get(Array("count".utf8))?.count ?? 0
              try transaction.put("count", [UInt8](repeating: 1, count: count + 1))
            }
            // Half of the engines are only released.
            if round % 2 == 0 { try engine.close() }
          } catch {
            failures.withLock { $0.append("thread \(thread), round \(round): \(error)") }
          }
        }
      }
      #expect(failures.withLock { $0 } == [])
      let engine = try Engine(at: path, options: options)
      #expect(try engine.snapshot().get(Array("count".utf8))?.count == 180)
      #expect(try engine.verify().findings == [])
      try engine.close()
    }
  }

  @Test func `closing one engine makes the commits of every engine of its folder durable`() throws {
    let disk = SimulatedFileSystem(seed: 6)
    var deferred = StoreKind.simulated.options
    deferred.durability = .deferred
    let first = try Engine(at: "/store", options: deferred, fileSystem: OneFolder(disk))
    let second = try Engine(at: "/store", options: deferred, fileSystem: OneFolder(disk))
    #expect(first.handle.store === second.handle.store)
    try first.write { try $0.put("a", [1]) }
    try second.write { try $0.put("b", [2]) }
    try first.close()
    var images = 0
    for image in disk.crashImages() {
      images += 1
      let found = try Engine(at: "/store", options: deferred, fileSystem: image.mounted())
      #expect(try found.snapshot().count == 2, "image \(images)")
      try found.close()
    }
    #expect(images > 0)
    try second.close()
  }

  @Test func `engines of one process close without an error in every order of their steps`() throws {
    let report = try ScheduleExplorer(mostSchedules: 3000).explore(preemptions: 1) { threads in
      let disk = SimulatedFileSystem(seed: 1)
      var options = EngineOptions(
        segmentBytes: 64 << 10, worker: InlineWorker(), clock: SimulatedClock(),
        entropy: SeededEntropy(seed: 1))
      options.idleSeconds = nil
      let engines = try (0..<2).map { _ in
        try Engine(at: "/store", options: options, fileSystem: OneFolder(disk))
      }
      for (number, engine) in engines.enumerated() {
        threads.add("\(number)", process: "a") {
          try engine.write { try $0.put("\(number)", [1]) }
          try engine.close()
        }
      }
      threads.afterwards {
        guard engines[0].handle.store === engines[1].handle.store, engines[0].handle.store.status.isClosed
        else { throw EngineError(.stopped, "the store is not shared, or not closed") }
      }
    }
    try report.check()
    #expect(report.schedules > 50)
  }

  @Test func `an observer ends when its own engine is closed`() throws {
    try TemporaryFolder.with { path in
      let (first, second) = (try Engine(at: path, options: options), try Engine(at: path, options: options))
      let told = Told()
      let ended = first.observeCommits { _ in Issue.record("its engine is closed") }
      let observation = second.observeCommits { told.note($0) }
      try first.close()
      let late = first.observeCommits { _ in Issue.record("its engine was closed") }
      try second.write { try $0.put("a", [1]) }
      try told.wait(for: second.newestGeneration)
      #expect(told.all == [second.newestGeneration])
      withExtendedLifetime((ended, late, observation)) {}
      try second.close()
    }
  }

  @Test func `an engine may be released, but not closed, inside a write of another engine`() throws {
    try TemporaryFolder.with { path in
      let first = try Engine(at: path, options: options)
      var second: Engine? = try Engine(at: path, options: options)
      try first.write { transaction in
        try transaction.put("a", [1])
        #expect(code { try second?.close() } == .nestedWrite)
        #expect(code { try second?.write { _ in } } == .nestedWrite)
        second = nil
      }
      let store = first.handle.store
      try first.close()
      #expect(store.status.isClosed)
      let reopened = try Engine(at: path, options: options)
      #expect(try reopened.snapshot().get("a") == [1])
      try reopened.close()
    }
  }
}

/// A file system all of whose paths refer to one folder, which has an identity.
private struct OneFolder: FileSystem {
  let base: SimulatedFileSystem

  init(_ base: SimulatedFileSystem) { self.base = base }

  func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    Folder(base: try base.openDirectory(path), disk: base)
  }

  func createDirectory(_ path: String) throws(FileSystemError) { try base.createDirectory(path) }

  private final class Folder: Directory {
    let base: any Directory
    let disk: SimulatedFileSystem

    init(base: any Directory, disk: SimulatedFileSystem) {
      self.base = base
      self.disk = disk
    }

    var path: String { base.path }
    func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File {
      try base.open(name, mode)
    }
    func entries() throws(FileSystemError) -> [String] { try base.entries() }
    func rename(_ name: String, to newName: String) throws(FileSystemError) {
      try base.rename(name, to: newName)
    }
    func unlink(_ name: String) throws(FileSystemError) { try base.unlink(name) }
    func sync() throws(FileSystemError) { try base.sync() }
    func identity() throws(FileSystemError) -> DirectoryIdentity? {
      DirectoryIdentity(device: .max, number: UInt64(UInt(bitPattern: ObjectIdentifier(disk))))
    }
  }
}
