import HeartwoodBytes
import HeartwoodFaults
import HeartwoodFiles
import Testing

/// Changes over the files of another file system.
@Suite struct OverlayFileSystemTests {
  private let base = MemoryFileSystem()
  private let size = 200_000

  init() throws {
    try base.createDirectory("/d")
    for name in ["changed", "final", "gone"] {
      let file = try base.openDirectory("/d").open(name, .createNew)
      try Self.bytes(1, size).withUnsafeBytes { try file.writeFully($0, at: 0) }
      try file.close()
    }
  }

  private static func bytes(_ value: UInt8, _ count: Int) -> [UInt8] { Array(repeating: value, count: count) }

  private func content(_ directory: any Directory, _ name: String) throws -> [UInt8] {
    let file = try directory.open(name, .readOnly)
    defer { try? file.close() }
    var bytes = Self.bytes(9, Int(try file.size()))
    let count = try bytes.withUnsafeMutableBytes { try file.readFully(into: $0, at: 0) }
    #expect(count == bytes.count)
    return bytes
  }

  private func write(_ file: any File, _ bytes: [UInt8], at offset: Int) throws {
    try bytes.withUnsafeBytes { try file.writeFully($0, at: Int64(offset)) }
  }

  @Test func `random writes and truncations have the effect that they have on a file`() throws {
    let overlay = try OverlayFileSystem(base, directory: "/d", isFinal: { $0 == "final" })
    let file = try overlay.openDirectory("/d").open("changed", .readWrite)
    var plain = Self.bytes(1, size)
    var random = SplitMix64(seed: 7)
    for round in 0..<200 {
      if round % 10 == 9 {
        let length = Int.random(in: 0...size, using: &random)
        try file.truncate(to: Int64(length))
        plain = Array(plain.prefix(length)) + Self.bytes(0, max(0, length - plain.count))
        continue
      }
      let offset = Int.random(in: 0...size, using: &random)
      let part = Self.bytes(UInt8(round % 250), Int.random(in: 1...40_000, using: &random))
      try write(file, part, at: offset)
      if plain.count < offset + part.count { plain += Self.bytes(0, offset + part.count - plain.count) }
      plain.replaceSubrange(offset..<offset + part.count, with: part)
    }
    #expect(try content(overlay.openDirectory("/d"), "changed") == plain)
    #expect(overlay.writtenBytes { $0 == "changed" } > 0 && overlay.writtenBytes { $0 == "final" } == 0)
    #expect(try content(base.openDirectory("/d"), "changed") == Self.bytes(1, size))
  }

  @Test
  func `names are created, renamed and unlinked over the directory, and what others append is not seen`()
    throws
  {
    let overlay = try OverlayFileSystem(
      base, directory: "/d", isSeen: { $0 != "gone" }, isFinal: { $0 == "final" })
    let directory = try overlay.openDirectory("/d")
    #expect(try directory.entries() == ["changed", "final"])
    let new = try directory.open("new", .createNew)
    try write(new, [1, 2, 3], at: 0)
    try directory.rename("new", to: "other")
    try directory.unlink("changed")
    #expect(try directory.entries() == ["final", "other"] && content(directory, "other") == [1, 2, 3])
    #expect(throws: FileSystemError.self) { try directory.open("changed", .readOnly) }
    #expect(throws: FileSystemError.self) { try directory.open("final", .createNew) }
    let appended = try base.openDirectory("/d").open("final", .readWrite)
    try write(appended, [5], at: size)
    #expect(try content(directory, "final") == Self.bytes(1, size))
    let final = try directory.open("final", .readWrite)
    #expect(try final.map(length: size)?.base.load(as: UInt8.self) == 1)
    #expect(throws: FileSystemError.self) { try write(final, [1], at: 0) }
    #expect(try base.openDirectory("/d").entries() == ["changed", "final", "gone"])
    #expect(throws: FileSystemError.self) { try overlay.openDirectory("/e") }
  }
}
