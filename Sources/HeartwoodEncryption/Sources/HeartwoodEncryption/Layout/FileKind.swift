import HeartwoodFiles

/// The use of a file, by its name: it decides how its blocks are written, and what an invalid one means.
enum FileKind: UInt32, Sendable {
  /// The anchor of a store, and a segment of its log: parts of blocks are rewritten, and a crash may tear a write. An invalid block reads as
  /// zeros, which the engine takes for a torn write only where nothing proves that more was synced.
  case appended = 1
  /// A segment of pages, and the room that is kept for a full disk: whole blocks, or none. An invalid block reads as zeros, which are no page.
  case pages = 2
  /// Any other file, which is written once and then has its name. An invalid block is an error, and so is another end than the written one.
  case whole = 3

  init(_ name: String) {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    if name == "reserve" {
      self = .pages
    } else if ["anchor", "anchor.new", "anchor.removed"].contains(name) {
      self = .appended
    } else if parts.count == 2, parts[0].utf8.count == 16, parts[0].utf8.allSatisfy(\.isLowercaseHexadecimal),
      parts[1] == "log" || parts[1] == "pages"
    {
      self = parts[1] == "log" ? .appended : .pages
    } else {
      self = .whole
    }
  }

  /// How many blocks may have a second copy at a time.
  var slots: Int { self == .appended ? 4 : 0 }

  /// Whether the file is part of a store's folder, and so sealed with the store's key.
  var isOfStore: Bool { self != .whole }
}

/// Files without data of the program, which stay as they are.
enum PlainFile {
  /// The longest such file.
  static let limit: Int64 = 4096

  /// The engine's memory that processes share: counters, positions in the log, the store's identifier.
  static let shared = "processes"
}

extension UInt8 {
  fileprivate var isLowercaseHexadecimal: Bool {
    (0x30...0x39).contains(self) || (0x61...0x66).contains(self)
  }
}
