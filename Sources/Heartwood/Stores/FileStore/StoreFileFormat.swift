/// The form of a store that is one file, which each save writes as a whole.
enum StoreFileFormat: String, Sendable, CaseIterable {
  case binary = "Binary"
  case json = "JSON"
  case xml = "XML"

  /// The form of a file by its first bytes; nil if they are of none.
  ///
  /// - Parameter start: At least the first `recognizedBytes`, or the whole file.
  init?(recognizing start: [UInt8]) {
    if start.starts(with: BinaryStoreFile.magic) {
      self = .binary
      return
    }
    let text = start.drop { [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }
    switch text.first {
    case UInt8(ascii: "{") where String(decoding: text, as: UTF8.self).contains("\"heartwood\""): self = .json
    case UInt8(ascii: "<") where String(decoding: text, as: UTF8.self).contains("<heartwood"): self = .xml
    default: return nil
    }
  }

  /// How many bytes of a file tell its form.
  static let recognizedBytes = 512
}
