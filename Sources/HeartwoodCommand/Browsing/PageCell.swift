import Foundation
import Heartwood

/// Values as the page gets them: texts and numbers as strings, other kinds as objects that say what they are.
enum PageCell {
  /// The longest text of a cell of a table, in characters.
  static let longest = 240

  /// - Parameter longest: Where texts are cut.
  static func json(_ value: CellValue, longest: Int = longest) -> JSONValue {
    switch value {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer, .double, .decimal: .string(value.plain)
    case .date(let date): .string(CellValue.text(date))
    case .text(let text): self.text(text, longest)
    case .data(let data): bytes(data)
    case .reference(let name): .object(JSONObject([("ref", .string(name))]))
    case .list(let values): .array(values.map { json($0, longest: longest) })
    case .group(let values):
      .object(
        JSONObject([
          (
            "group",
            .object(
              JSONObject(
                values.sorted { $0.key < $1.key }.map { ($0.key, json($0.value, longest: longest)) }))
          )
        ]))
    }
  }

  private static func text(_ text: String, _ longest: Int) -> JSONValue {
    // A text of few bytes has few characters, which are counted slowly.
    guard text.utf8.count > longest else { return .string(text) }
    let shown = beginning(of: text, longest)
    guard shown.endIndex < text.endIndex else { return .string(text) }
    return .object(
      JSONObject([("cut", .string(String(shown))), ("bytes", .integer(Int64(text.utf8.count)))]))
  }

  /// The first characters of a text, in a number of bytes that is limited too. It ends inside the first character that has more marks than
  /// people write: a browser needs minutes to draw thousands of marks above each other.
  ///
  /// - Complexity: Linear in `longest`.
  static func beginning(of text: String, _ longest: Int) -> Substring {
    let shown = start(of: text[...], bytes: 8 * longest + 64).prefix(longest)
    guard let place = shown.indices.first(where: { shown[$0].utf8.count > mostBytesOfCharacter }) else {
      return shown
    }
    let cut = start(of: shown[place...], bytes: mostBytesOfCharacter)
    return shown[..<cut.endIndex]
  }

  private static let mostBytesOfCharacter = 128

  /// The scalars that fit into a number of bytes.
  private static func start(of text: Substring, bytes: Int) -> Substring {
    guard let end = text.utf8.index(text.startIndex, offsetBy: bytes, limitedBy: text.endIndex) else {
      return text
    }
    // An end inside a scalar is taken as the beginning of it.
    return Substring(text.unicodeScalars[..<end])
  }

  private static func bytes(_ data: Data) -> JSONValue {
    let kind = ImageKind(data)
    return .object(
      JSONObject([
        ("bytes", .integer(Int64(data.count))), ("image", kind.map { .string($0.rawValue) } ?? .null),
      ]))
  }

  /// A reference with what the object is called.
  static func reference(_ object: ManagedObject) -> JSONValue {
    .object(
      JSONObject([
        ("ref", .string(ObjectName.text(object.objectID))), ("label", label(object)),
      ]))
  }

  static func label(_ object: ManagedObject) -> JSONValue {
    ObjectName.label(object).map { .string(String(beginning(of: $0, labelLength))) } ?? .null
  }

  private static let labelLength = 80
}

/// The kinds of images that a page shows, by the first bytes of a file. SVG is not among them: it can have scripts.
enum ImageKind: String, CaseIterable {
  case png = "image/png"
  case jpeg = "image/jpeg"
  case gif = "image/gif"
  case webP = "image/webp"
  case bmp = "image/bmp"
  case avif = "image/avif"

  init?(_ data: Data) {
    let first = Array(data.prefix(12))
    guard let kind = Self.allCases.first(where: { $0.isBegun(by: first) }) else { return nil }
    self = kind
  }

  private func isBegun(by bytes: [UInt8]) -> Bool {
    func has(_ text: String, at place: Int) -> Bool { bytes.dropFirst(place).starts(with: text.utf8) }
    return switch self {
    case .png: bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10])
    case .jpeg: bytes.starts(with: [0xFF, 0xD8, 0xFF])
    case .gif: has("GIF87a", at: 0) || has("GIF89a", at: 0)
    case .webP: has("RIFF", at: 0) && has("WEBP", at: 8)
    case .bmp: has("BM", at: 0) && bytes.count > 9 && bytes[6...9].allSatisfy { $0 == 0 }
    case .avif: has("ftypavif", at: 4)
    }
  }
}
