import Foundation
import HeartwoodBytes
import Testing

@testable import HeartwoodCommand

@Suite struct `A store that cannot be opened` {
  @Test(arguments: [["count", "City"], ["verify"], ["delete", "City/p1"]])
  func `a store of a newer format is refused by its number`(words: [String]) throws {
    let world = try SmallWorld()
    try world.setFormat(9)
    let run = CommandRun([words[0], world.path] + words.dropFirst())
    #expect(run.status == .dataError)
    #expect(
      run.notes == """
        heartwood: \(world.path): the store has format 9, and this version reads up to 2; use a newer one

        """)
  }

  @Test(.enabled(if: geteuid() != 0, "the superuser may write everywhere"))
  func `a store that cannot be opened for writing can still be read`() throws {
    let world = try SmallWorld()
    try world.setPermissions(file: 0o400, folder: 0o500)
    defer { try? world.setPermissions(file: 0o600, folder: 0o700) }
    #expect(world.run("count", "City").output == "3\n")
    let run = world.run("delete", "City/p1")
    #expect(run.status == .noPermission)
    #expect(run.notes.hasPrefix("heartwood: \(world.path): "))
    #expect(run.notes.contains("the permissions"))
  }
}

extension SmallWorld {
  private var folder: URL { URL(fileURLWithPath: path) }

  /// Sets the number of the reader that the format of the store requires.
  fileprivate func setFormat(_ number: UInt32) throws {
    let file = folder.appending(path: "anchor")
    var bytes = Array(try Data(contentsOf: file))
    for slot in 0..<2 {
      bytes.withUnsafeMutableBytes { buffer in
        let sector = UnsafeMutableRawBufferPointer(rebasing: buffer[(slot * 4096)..<(slot * 4096 + 512)])
        sector.storeBytes(of: number.littleEndian, toByteOffset: 8, as: UInt32.self)
        sector.storeBytes(of: number.littleEndian, toByteOffset: 12, as: UInt32.self)
        let checksum = XXH64.hash(
          UnsafeRawBufferPointer(rebasing: sector[..<504]), seed: 0x4865_6172_7477_6F6F ^ UInt64(slot))
        sector.storeBytes(of: checksum.littleEndian, toByteOffset: 504, as: UInt64.self)
      }
    }
    try Data(bytes).write(to: file)
  }

  fileprivate func setPermissions(file: Int, folder mode: Int) throws {
    let manager = FileManager.default
    try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    for name in try manager.contentsOfDirectory(atPath: path) {
      try manager.setAttributes(
        [.posixPermissions: file], ofItemAtPath: folder.appending(path: name).path)
    }
    try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }
}
