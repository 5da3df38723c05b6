import Comparison
import HeartwoodFaults
import Testing

@Suite struct FolderHistoryTests {
  private static func bytes(_ value: UInt8, _ count: Int = 1024) -> [UInt8] {
    [UInt8](repeating: value, count: count)
  }

  /// A file of two sectors of 1. The first sector becomes 2, then the second 3; then another file is created,
  /// then filled.
  private static let history = FolderHistory([
    ["a": bytes(1)],
    ["a": bytes(2, 512) + bytes(1, 512)],
    ["a": bytes(2, 512) + bytes(3, 512)],
    ["a": bytes(2, 512) + bytes(3, 512), "b": []],
    ["a": bytes(2, 512) + bytes(3, 512), "b": bytes(4)],
  ])

  @Test func `a folder as it was at a step is as some of the first changes leave it`() {
    #expect(Self.history.effects(in: ["a": Self.bytes(1)]) == [.nothingKept])
    #expect(Self.history.effects(in: ["a": Self.bytes(2, 512) + Self.bytes(1, 512)]) == [.tailLost])
    let last = ["a": Self.bytes(2, 512) + Self.bytes(3, 512), "b": Self.bytes(4)]
    #expect(Self.history.effects(in: last) == [.everythingKept])
  }

  @Test func `a later write without an earlier one of the same file is reordering in it`() {
    let found = ["a": Self.bytes(1, 512) + Self.bytes(3, 512)]
    #expect(Self.history.effects(in: found) == [.reorderedInFile])
  }

  @Test func `a later file without an earlier write is reordering between files`() {
    let found = ["a": Self.bytes(1), "b": Self.bytes(4)]
    #expect(Self.history.effects(in: found) == [.reorderedBetweenFiles])
  }

  @Test func `a new name and length with half of the bytes is a torn write and zeros`() {
    let found = ["a": Self.bytes(2, 512) + Self.bytes(3, 512), "b": Self.bytes(4, 512) + Self.bytes(0, 512)]
    #expect(Self.history.effects(in: found) == [.tornAtEnd, .lengthWithoutBytes])
  }

  @Test func `the second half of a write without the first is torn elsewhere than at its end`() {
    let history = FolderHistory([["a": Self.bytes(1)], ["a": Self.bytes(2)]])
    #expect(history.effects(in: ["a": Self.bytes(2, 512) + Self.bytes(1, 512)]).contains(.tornAtEnd))
    #expect(history.effects(in: ["a": Self.bytes(1, 512) + Self.bytes(2, 512)]).contains(.tornElsewhere))
  }

  @Test func `a file that ends inside its only write is torn there`() {
    let found = ["a": Self.bytes(2, 512) + Self.bytes(3, 512), "b": Self.bytes(4, 512)]
    #expect(Self.history.effects(in: found) == [.lengthInsideWrite])
  }

  @Test func `other bytes are foreign where a call wrote and a loss where none did`() {
    let history = FolderHistory([["a": Self.bytes(1)], ["a": Self.bytes(2, 512) + Self.bytes(1, 512)]])
    #expect(history.effects(in: ["a": Self.bytes(9, 512) + Self.bytes(1, 512)]) == [.foreignSector])
    #expect(history.effects(in: ["a": Self.bytes(0, 512) + Self.bytes(1, 512)]) == [.zeroedSector])
    #expect(history.effects(in: ["a": Self.bytes(1, 512) + Self.bytes(9, 512)]) == [.durableBytesChanged])
  }

  @Test func `names that are missing or too many are seen`() {
    #expect(Self.history.effects(in: [:]).contains(.durableNameLost))
    #expect(Self.history.effects(in: ["a": Self.bytes(1), "c": []]).contains(.unknownName))
  }

  @Test func `a later name without an earlier one is a reordering of names`() {
    let history = FolderHistory([[:], ["a": []], ["a": [], "b": []]])
    #expect(history.effects(in: ["b": []]) == [.namesReordered, .reorderedBetweenFiles])
  }

  @Test(arguments: [CrashModel.posix, .ext4Ordered])
  func `every image of a simulated disk is something that its calls can leave`(crashModel: CrashModel)
    throws
  {
    let disk = SimulatedFileSystem(seed: 1, crashModel: crashModel)
    try disk.createDirectory("/store")
    let folder = try disk.openDirectory("/store")
    let file = try folder.open("a", .createNew)
    try Self.bytes(1, 2000).withUnsafeBytes { try file.writeFully($0, at: 0) }
    try file.sync(.full)
    try folder.sync()
    try Self.bytes(2, 900).withUnsafeBytes { try file.writeFully($0, at: 700) }
    try Self.bytes(3, 2000).withUnsafeBytes { try file.writeFully($0, at: 1800) }
    try Self.bytes(4, 10).withUnsafeBytes { try folder.open("b", .createNew).writeFully($0, at: 0) }
    try folder.rename("b", to: "c")
    let history = try FolderHistory(of: disk, at: "/store")
    var limits = CrashImageLimits()
    limits.byteTears = []
    for image in disk.crashImages(limits) {
      let effects = history.effects(in: try folderState("/store", in: image.mounted()))
      #expect(!effects.isEmpty)
      #expect(effects.allSatisfy { $0 < .foreignSector }, "\(image)")
    }
  }
}
