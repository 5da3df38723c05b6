import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@Suite struct CrashImageTests {
  @Test func `synced data is in every image, and unsynced data is in some`() throws {
    let disk = SimulatedFileSystem()
    let directory = try disk.openDirectory("/")
    let file = try directory.open("a", .createNew)
    try directory.sync()
    try file.write([1, 2, 3], at: 0)
    try file.sync(.data)
    #expect(disk.unsyncedChangeCount == 0)
    #expect(try disk.outcomes() == [["a": [1, 2, 3]]])
    try file.write([9], at: 1)
    #expect(try disk.outcomes(.untorn) == [["a": [1, 9, 3]], ["a": [1, 2, 3]], ["a": [1, 0, 3]]])
    try file.sync(.full)
    #expect(try disk.outcomes() == [["a": [1, 9, 3]]])
  }

  @Test func `a file without a durable name is lost with its synced bytes`() throws {
    let disk = SimulatedFileSystem()
    let directory = try disk.openDirectory("/")
    let file = try directory.open("a", .createNew)
    try file.write([1], at: 0)
    try file.sync(.full)
    #expect(try disk.outcomes() == [["a": [1]], [:]])
    try directory.sync()
    #expect(try disk.outcomes() == [["a": [1]]])
  }

  @Test func `a name can be durable before its bytes`() throws {
    let disk = SimulatedFileSystem()
    let directory = try disk.openDirectory("/")
    let file = try directory.open("a", .createNew)
    try file.write([1, 2], at: 0)
    try directory.sync()
    #expect(try disk.outcomes(.untorn) == [["a": [1, 2]], ["a": []], ["a": [0, 0]]])
  }

  @Test func `a file of which only the name was durable is not mistaken for one that is created later`()
    throws
  {
    let disk = SimulatedFileSystem()
    let directory = try disk.openDirectory("/")
    _ = try directory.open("a", .createNew)
    try directory.sync()
    let image = try #require(disk.crashImages().first { _ in true }).mounted()
    let found = try image.openDirectory("/")
    let others = try (0..<8).map { try found.open("b\($0)", .createNew) }
    let file = try found.open("a", .readWrite)
    try file.write([1], at: 0)
    #expect(try file.tryLock(.exclusive))
    for other in others {
      #expect(try other.size() == 0)
      #expect(try other.tryLock(.exclusive))
    }
  }

  @Test func `renames and removals are durable with their directory only`() throws {
    let disk = SimulatedFileSystem()
    let directory = try disk.openDirectory("/")
    for (name, byte) in [("a", 1), ("b", 2)] as [(String, UInt8)] {
      let file = try directory.open(name, .createNew)
      try file.write([byte], at: 0)
      try file.sync(.full)
    }
    try directory.sync()
    try directory.rename("a", to: "b")
    #expect(try disk.outcomes() == [["b": [1]], ["a": [1], "b": [2]]])
    try directory.unlink("b")
    #expect(
      try disk.outcomes() == [[:], ["a": [1], "b": [2]], ["b": [1]], ["a": [1]]],
      "the removal took the name from the file that the rename had put there")
    try directory.sync()
    #expect(try disk.outcomes() == [[:]])
  }

  @Test func `unsynced changes survive as prefixes, alone, and all but one`() throws {
    let disk = SimulatedFileSystem()
    let directory = try disk.openDirectory("/")
    let file = try directory.open("a", .createNew)
    try file.write([0, 0, 0, 0], at: 0)
    try file.sync(.data)
    try directory.sync()
    for index in 0..<4 { try file.write([1], at: Int64(index)) }
    let found = Set(try disk.outcomes(.untorn).compactMap { $0["a"] })
    let expected: Set<[UInt8]> = [
      [1, 1, 1, 1], [0, 0, 0, 0],
      [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0],
      [0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1],
      [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1],
    ]
    #expect(found == expected)
    #expect(try disk.outcomes(.prefixesOnly).count == 5)
  }

  @Test func `the last write is torn at sectors and at bytes`() throws {
    let disk = SimulatedFileSystem()
    let directory = try disk.openDirectory("/")
    let file = try directory.open("a", .createNew)
    try file.write([UInt8](repeating: 1, count: 2048), at: 0)
    try file.sync(.data)
    try directory.sync()
    try file.write([UInt8](repeating: 2, count: 1000), at: 100)
    let found = Set(try disk.outcomes().compactMap { $0["a"] })
    for end in [512, 1024, 101, 107, 108, 139, 140, 141, 1092, 1099] {
      #expect(found.contains(striped([(1, 100), (2, end - 100), (1, 2048 - end)])), "old after \(end)")
      let zeros = striped([(1, 100), (2, end - 100), (0, 1100 - end), (1, 948)])
      #expect(found.contains(zeros), "zeros after \(end)")
    }
    for start in [512, 1024] {
      #expect(found.contains(striped([(1, start), (2, 1100 - start), (1, 948)])), "old before \(start)")
    }
    #expect(found.count == 2 + 1 + 20 + 2)
  }

  @Test func `images are distinct and limits hold`() throws {
    let disk = SimulatedFileSystem()
    let directory = try disk.openDirectory("/")
    let file = try directory.open("a", .createNew)
    try directory.sync()
    for index in 0..<50 { try file.write([UInt8(index % 3)], at: Int64(index % 7)) }
    let images = Array(disk.crashImages())
    #expect(Set(images.map(\.fingerprint)).count == images.count)
    #expect(Set(try images.map { try $0.mounted().files()["a"] }).count == images.count)
    var limits = CrashImageLimits()
    limits.imageCount = 5
    #expect(Array(disk.crashImages(limits)).count == 5)
    #expect(Set(images.map(\.description)).count == images.count)
  }

  @Test func `images are independent of the disk and of each other`() throws {
    let disk = SimulatedFileSystem()
    try disk.createDirectory("/folder")
    let directory = try disk.openDirectory("/folder")
    let file = try directory.open("a", .createNew)
    try file.write([1], at: 0)
    #expect(try file.tryLock(.exclusive))
    let images = disk.crashImages()
    try file.write([2], at: 0)
    try directory.unlink("a")
    let first = try #require(images.first { _ in true })
    let mounted = first.mounted()
    let found = try mounted.openDirectory("/folder").open("a", .readWrite)
    #expect(try found.bytes() == [1])
    #expect(try found.tryLock(.exclusive), "locks end with a crash")
    try found.write([3], at: 0)
    #expect(try mounted.openDirectory("/folder").open("a", .readOnly).bytes() == [3])
    #expect(try first.mounted().openDirectory("/folder").open("a", .readOnly).bytes() == [1])
    #expect(try mounted.openDirectory("/folder").open("b", .createNew).bytes() == [], "numbers are new")
  }

  @Test func `a directory is durable when it is made, with the names beside it`() throws {
    let disk = SimulatedFileSystem()
    _ = try disk.openDirectory("/").open("a", .createNew)
    try disk.createDirectory("/folder")
    try disk.createDirectory("/folder/inner")
    let images = Array(disk.crashImages())
    #expect(images.count == 1)
    #expect(try images.first?.mounted().openDirectory("/").entries() == ["a", "folder"])
    #expect(try images.first?.mounted().openDirectory("/folder").entries() == ["inner"])
  }

  @Test func `an image is exported to a real directory`() throws {
    let disk = SimulatedFileSystem()
    try disk.createDirectory("/folder")
    let file = try disk.openDirectory("/folder").open("a", .createNew)
    try file.write([1, 2, 3], at: 0)
    let image = try #require(disk.crashImages().first { _ in true })
    try TemporaryFolder.with { path in
      try image.export(to: path)
      #expect(try PosixFileSystem().files(in: path + "/folder") == ["a": [1, 2, 3]])
    }
  }

  @Test func `a replacement leaves old or new contents in every image`() throws {
    let disk = SimulatedFileSystem()
    let directory = try disk.openDirectory("/")
    try [1, 1, 1].withUnsafeBytes { try AtomicReplacement.replace("a", in: directory, with: $0) }
    let before = try disk.openDirectory("/").open("a", .readOnly).bytes()
    let images = Lock()
    nonisolated(unsafe) var found: Set<[UInt8]?> = []
    let observed = FaultInjectingFileSystem(base: disk) { _ in
      images.withLock {
        for image in disk.crashImages() { found.insert(try? image.mounted().files()["a"]) }
      }
    }
    let after: [UInt8] = [2, 2]
    try after.withUnsafeBytes {
      try AtomicReplacement.replace("a", in: try observed.openDirectory("/"), with: $0)
    }
    #expect(found == [before, after])
    #expect(try disk.outcomes() == [["a": after]])
  }

  private func striped(_ parts: [(UInt8, Int)]) -> [UInt8] {
    parts.flatMap { Array(repeating: $0.0, count: $0.1) }
  }
}
