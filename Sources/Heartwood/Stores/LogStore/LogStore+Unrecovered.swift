import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Reading of stores as the next opening for writing finds them, without a change to their files.
extension LogStore {
  /// Reads a store as an opening with these options finds it, and changes nothing.
  ///
  /// After an unclean end a read-only engine leaves out what it cannot prove to be on the disk, and what an opening for writing recovers. If
  /// the options are for writing, such a store is recovered in memory, over its files.
  ///
  /// - Complexity: As an opening; after an unclean end also linear in the number of files.
  static func reading<Result>(
    at url: URL, options: LogStoreOptions, _ body: (Engine) throws -> Result
  ) throws -> Result {
    if options.isReadOnly || options.format != nil { return try withEngine(at: url, options: options, body) }
    var reading = options
    reading.isReadOnly = true
    let result = try withEngine(at: url, options: reading) { engine -> Result? in
      try engine.statistics().unrecoveredTransactions == 0 ? body(engine) : nil
    }
    if let result { return result }
    let path = path(of: url)
    var recovering = options
    recovering.isReadOnly = false
    recovering.createsStore = false
    recovering.durability = .none
    recovering.base = recovering.base ?? EngineOptions()
    recovering.base?.reclamation = .onDemand
    recovering.fileSystem = try HeartwoodError.translating(
      "the store at \(path) could not be opened", .persistentStoreOpen
    ) { try overlay(over: options.fileSystem, path) }
    return try withEngine(at: url, options: recovering, body)
  }

  static func isSegment(_ name: String) -> Bool { isLog(name) || name.hasSuffix(".pages") }
  private static func isLog(_ name: String) -> Bool { name.hasSuffix(".log") }

  /// A layer in memory over the files of a store as they are at one time: while they are opened, others may change the anchor and unlink
  /// files that it named.
  static func overlay(over base: any FileSystem, _ path: String) throws -> OverlayFileSystem {
    let directory = try base.openDirectory(path)
    for _ in 0..<mostAttempts {
      let before = try? OverlayFileSystem.bytes(of: "anchor", in: directory)
      do {
        let overlay = try files(base, path, directory)
        if (try? OverlayFileSystem.bytes(of: "anchor", in: directory)) == before { return overlay }
      } catch {
        guard (error as? FileSystemError)?.code == .notFound else { throw error }
      }
    }
    throw FileSystemError(.notFound, .open, path: path)
  }

  private static func files(
    _ base: any FileSystem, _ path: String, _ directory: any Directory
  ) throws -> OverlayFileSystem {
    // The last segments may still grow. Their names sort by number.
    let final = Set(try directory.entries().filter(isLog).dropLast(2))
    return try OverlayFileSystem(
      base, directory: path, isSeen: { isSegment($0) || $0.hasPrefix("anchor") }, isFinal: final.contains)
  }

  private static let mostAttempts = 20
}
