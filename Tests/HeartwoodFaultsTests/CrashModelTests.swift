import HeartwoodFaults
import HeartwoodFiles
import Testing

@Suite struct PersonalityTests {
  /// Writes a new file and renames it over an old one. Only `body` syncs.
  private func replaced(
    _ crashModel: CrashModel, _ body: (any File, any Directory) throws -> Void = { _, _ in }
  ) throws -> SimulatedFileSystem {
    let disk = SimulatedFileSystem(crashModel: crashModel)
    let directory = try disk.openDirectory("/")
    let old = try directory.open("a", .createNew)
    try old.write([1], at: 0)
    try old.sync(.full)
    try directory.sync()
    let new = try directory.open("b", .createNew)
    try new.write([2], at: 0)
    try body(new, directory)
    try directory.rename("b", to: "a")
    return disk
  }

  @Test func `a renamed file may be empty, but not on ext4`() throws {
    let torn: [String: [UInt8]] = ["a": []]
    #expect(try replaced(.posix).outcomes(.untorn).contains(torn))
    #expect(try replaced(.hostile).outcomes(.untorn).contains(torn))
    let found = try replaced(.ext4Ordered).outcomes(.thorough)
    #expect(
      Set(found) == [["a": [1]], ["a": [1], "b": []], ["a": [1], "b": [2]], ["a": [2]]])
  }

  @Test func `on ext4 the sync of a new file makes its name durable`() throws {
    for crashModel in CrashModel.allCases {
      let disk = SimulatedFileSystem(crashModel: crashModel)
      let file = try disk.openDirectory("/").open("a", .createNew)
      try file.write([1], at: 0)
      try file.sync(.data)
      #expect(try disk.outcomes().contains([:]) == (crashModel != .ext4Ordered))
    }
  }

  @Test func `names on ext4 survive in their order`() throws {
    let disk = SimulatedFileSystem(crashModel: .ext4Ordered)
    let directory = try disk.openDirectory("/")
    for name in ["a", "b", "c"] { _ = try directory.open(name, .createNew) }
    let found = Set(try disk.outcomes(.thorough).map { $0.keys.sorted() })
    #expect(found == [[], ["a"], ["a", "b"], ["a", "b", "c"]])
    let hostile = SimulatedFileSystem(crashModel: .hostile)
    for name in ["a", "b", "c"] { _ = try hostile.openDirectory("/").open(name, .createNew) }
    #expect(Set(try hostile.outcomes(.thorough).map { $0.keys.sorted() }).count == 8)
  }

  @Test func `a hostile disk reorders, and leaves foreign bytes in torn sectors`() throws {
    func outcomes(
      _ crashModel: CrashModel, _ limits: CrashImageLimits = .thorough
    ) throws -> Set<[UInt8]> {
      let disk = SimulatedFileSystem(seed: 7, crashModel: crashModel)
      let directory = try disk.openDirectory("/")
      let file = try directory.open("a", .createNew)
      try directory.sync()
      try file.write([UInt8](repeating: 1, count: 600), at: 0)
      try file.write([2], at: 0)
      return Set(try disk.outcomes(limits).compactMap { $0["a"] })
    }
    let hostile = try outcomes(.hostile)
    let posix = try outcomes(.posix, CrashImageLimits())
    #expect(hostile.contains([UInt8](repeating: 1, count: 600)), "the older write came last")
    let foreign = hostile.filter { $0.contains { $0 > 2 } }
    #expect(foreign.count > 10)
    #expect(
      foreign.contains {
        $0.count == 600 && $0[1..<512].allSatisfy { $0 == 1 } && $0[512...].contains { $0 > 2 }
      })
    #expect(!posix.contains { $0.contains { $0 > 2 } })
    #expect(posix.isSubset(of: hostile))
    #expect(try outcomes(.hostile) == hostile, "the same seed gives the same images")
  }

  @Test func `an image reports what it keeps, and its digest is the same in every run`() throws {
    let image = try #require(try replaced(.posix).crashImages().first { _ in true })
    #expect(image.description == "all of 3 unsynced changes")
    #expect(image.keptChangeCount == 3)
    #expect(image.digest == 6_382_715_036_235_160_927)
    #expect(image.mounted().digest == image.digest)
    #expect(try replaced(.posix) { file, _ in try file.sync(.full) }.digest == image.digest)
    #expect(Set(try replaced(.posix).crashImages().map(\.digest)).count > 3)
  }
}
