import HeartwoodFaults
import HeartwoodFiles
import Testing

@Suite struct ScheduledFileSystemTests {
  /// Two processes increment a counter in a file, in an order that the explorer selects.
  private func count(locking: Bool, _ threads: ExploredThreads) throws {
    let disk = SimulatedFileSystem()
    try disk.openDirectory("/").open("count", .createNew).write([0], at: 0)
    for name in ["first", "second"] {
      let process = disk.process(named: name)
      threads.add(name, process: name) {
        let file = try ScheduledFileSystem(base: process).openDirectory("/").open("count", .readWrite)
        while locking, try !file.tryLock(.exclusive) { SchedulePoint.pause() }
        try file.write([file.bytes(1)[0] + 1], at: 0)
        try file.close()
      }
    }
    threads.afterwards {
      let count = try disk.files()["count"]
      if count != [2] { throw PlantedFailure("counted \(count ?? [])") }
    }
  }

  @Test func `an update between a read and a write of another process is lost`() throws {
    let report = try ScheduleExplorer().explore(preemptions: 1) { try count(locking: false, $0) }
    let failure = try #require(report.failure)
    #expect(failure.message == "afterwards: counted [1]" && failure.foundAfter <= 12)
    #expect(failure.turns.first == "first: start … read /count (4 points)", "\(failure)")
  }

  @Test func `a file lock keeps updates apart under every schedule`() throws {
    let report = try ScheduleExplorer().explore(preemptions: 2) { try count(locking: true, $0) }
    try report.check()
    #expect(report.schedules > 50)
  }

  @Test func `a process that is killed while it holds a lock leaves it free`() throws {
    try ScheduleExplorer().explore(preemptions: 2) { threads in
      let disk = SimulatedFileSystem()
      _ = try disk.openDirectory("/").open("lock", .createNew)
      let victim = disk.process(named: "victim")
      threads.add("victim", process: "victim") {
        do {
          let file = try ScheduledFileSystem(base: victim).openDirectory("/").open("lock", .readWrite)
          while try !file.tryLock(.exclusive) { SchedulePoint.pause() }
          try file.unlock()
        } catch let error as FileSystemError where error.code == .processKilled {}
      }
      threads.add("killer") {
        SchedulePoint.reach("kill")
        victim.kill()
      }
      threads.add("heir", process: "heir") {
        let file = try ScheduledFileSystem(base: disk).openDirectory("/").open("lock", .readWrite)
        while try !file.tryLock(.exclusive) { SchedulePoint.pause() }
        try file.close()
      }
    }.check()
  }
}
