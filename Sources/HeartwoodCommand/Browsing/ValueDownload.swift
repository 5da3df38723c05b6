import Foundation
import Heartwood
import HeartwoodBrowser

/// One value of an object as a file: shown if it is an image of a known kind, and saved otherwise.
struct ValueDownload {
  let store: BrowsedStore

  func response(_ query: PageQuery) throws(CommandFailure) -> Response {
    let (name, property) = (try query.required("id"), try query.required("name"))
    let generation = try query.generation()
    let value: CellValue? = try store.reading(at: generation) { reader in
      let object = try Selection.object(named: name, in: reader)
      guard let attribute = object.entity.attributesByName[property] else {
        throw CommandFailure.usage("\(name) has no attribute \"\(property)\"")
      }
      if attribute.type == .binaryData, try (object.dataCount(forKey: property) ?? 0) > Self.largest {
        return nil
      }
      return CellValue(property, of: object)
    }
    let file = "\(name.replacing("/", with: "-"))-\(property)"
    guard let value else { return inPieces(name, property, generation, "\(file).bin") }
    switch value {
    case .null: throw CommandFailure(.noInput, "\(name) has no \(property)")
    case .data(let data):
      guard let kind = ImageKind(data) else {
        return Self.attachment(Array(data), "application/octet-stream", "\(file).bin")
      }
      var response = Response(type: kind.rawValue, .bytes(Array(data)))
      response.fields = [Self.nothingRuns]
      return response
    case .text(let text): return Self.attachment(Array(text.utf8), "text/plain; charset=utf-8", "\(file).txt")
    default: return Self.attachment(Array(value.plain.utf8), "text/plain; charset=utf-8", "\(file).txt")
    }
  }

  /// The largest data that is read at once.
  private static let largest = 8 << 20

  /// Data that is written as it is read.
  private func inPieces(
    _ name: String, _ property: String, _ generation: UInt64?, _ file: String
  ) -> Response {
    var response = Response(
      type: "application/octet-stream",
      .stream { [store] write in
        try store.reading(at: generation) { reader in
          _ = try Selection.object(named: name, in: reader).readData(forKey: property) { bytes in
            try write(Array(bytes))
            return true
          }
        }
      })
    response.fields = [Self.nothingRuns, Self.disposition(file)]
    return response
  }

  private static let nothingRuns = ("Content-Security-Policy", "default-src 'none'; sandbox")

  /// A file that the browser saves.
  ///
  /// - Parameter name: Other characters than letters, digits, dots and hyphens are replaced.
  static func attachment(_ bytes: [UInt8], _ type: String, _ name: String) -> Response {
    var response = Response(type: type, .bytes(bytes))
    response.fields = [nothingRuns, disposition(name)]
    return response
  }

  static func disposition(_ name: String) -> (name: String, value: String) {
    let plain = name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) ? $0 : "_" }
    return ("Content-Disposition", "attachment; filename=\"\(String(plain))\"")
  }
}
