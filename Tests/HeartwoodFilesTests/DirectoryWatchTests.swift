import Dispatch
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@Suite struct `A watch of a directory` {
  @Test func `a watch returns for every kind of change to the files, and not before`() throws {
    try TemporaryFolder.with { path in
      let directory = try PosixFileSystem().openDirectory(path)
      guard let watch = try directory.watch() else { return }
      #expect(!watch.wait(seconds: 0))
      let file = try directory.open("a", .createNew)
      #expect(watch.wait(seconds: nil))
      #expect(!watch.wait(seconds: 0))
      let changes: [() throws -> Void] = [
        { try file.write([1, 2, 3], at: 0) }, { try file.write([4], at: 1) }, { try file.truncate(to: 1) },
        { try directory.rename("a", to: "b") }, { try directory.unlink("b") },
      ]
      for change in changes {
        try change()
        #expect(watch.wait(seconds: nil))
        #expect(!watch.wait(seconds: 0))
      }
    }
  }

  @Test func `a watch merges many changes, and misses none of a process that keeps writing`() throws {
    try TemporaryFolder.with { path in
      let directory = try PosixFileSystem().openDirectory(path)
      let other = try PosixFileSystem().openDirectory(path)
      guard let watch = try directory.watch() else { return }
      for round in 0..<200 { try other.open("\(round)", .createNew).write([1], at: 0) }
      #expect(watch.wait(seconds: nil))
      #expect(!watch.wait(seconds: 0))
    }
  }

  @Test(arguments: [true, false])
  func `a watch returns when it is woken, before a wait or during it`(isOfSystem: Bool) throws {
    try TemporaryFolder.with { path in
      let ofSystem = try PosixFileSystem().openDirectory(path).watch()
      let watch: any DirectoryWatch = (isOfSystem ? ofSystem : nil) ?? TimedWatch(interval: nil)
      for _ in 0..<3 { watch.wake() }
      #expect(watch.wait(seconds: nil))
      #expect(!watch.wait(seconds: 0))
      let hasReturned = DispatchSemaphore(value: 0)
      DispatchQueue(label: "waits").async {
        while !watch.wait(seconds: nil) {}
        hasReturned.signal()
      }
      watch.wake()
      #expect(hasReturned.wait(timeout: .now() + 60) == .success)
    }
  }

  @Test func `a watch without notifications of the system ends its waits by itself`() {
    let watch = TimedWatch(interval: 0.001)
    #expect(!watch.wait(seconds: nil))
    #expect(!watch.wait(seconds: 1e9))
    watch.wake()
    #expect(watch.wait(seconds: nil))
  }

  @Test func `a watch is refused as a fault plan says, and is recorded`() throws {
    try TemporaryFolder.with { path in
      let plan: FaultPlan = [.fail(.of(.watch), with: .tooManyOpenFiles)]
      let disk = FaultInjectingFileSystem(base: PosixFileSystem(), plan: plan)
      #expect(
        failure { _ = try disk.openDirectory(path).watch() } == "watch: too many open files")
      let recording = RecordingFileSystem(base: disk, operations: [.watch])
      _ = try recording.openDirectory(path).watch()
      #expect(recording.lines == ["watch \(path)"])
    }
  }

  @Test func `a file system without notifications has no watch`() throws {
    #expect(try MemoryFileSystem().openDirectory("/").watch() == nil)
    #expect(try SimulatedFileSystem().openDirectory("/").watch() == nil)
  }
}
