import Foundation

/// Messages about a document that cannot be decoded, or a file that cannot be read or written.
package enum DecodingText {
  /// The error as a sentence that begins with the place, such as `entities[0].name`; the reason of an error about a file; the description
  /// of another error.
  package static func text(of error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      return place(context.codingPath) + "\"\(key.stringValue)\" is missing"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      return place(context.codingPath) + sentence(context.debugDescription)
    case DecodingError.dataCorrupted(let context):
      // The reader of JSON says in an error of its own where the text is none.
      let reason = (context.underlyingError as? CocoaError)?.userInfo["NSDebugDescription"] as? String
      let text = [sentence(context.debugDescription), reason.map(sentence)].compactMap { $0 }
      return place(context.codingPath) + text.joined(separator: ": ")
    case let error as CocoaError:
      // The cause says more than Foundation's sentence, as of a folder in place of a file.
      guard let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error,
        cause._domain == NSPOSIXErrorDomain
      else { return error.localizedDescription }
      return sentence(String(cString: strerror(Int32(cause._code))))
    case let error as any LocalizedError: return error.localizedDescription
    default: return "\(error)"
    }
  }

  private static func place(_ path: [any CodingKey]) -> String {
    guard !path.isEmpty else { return "" }
    var text = ""
    for key in path {
      if let number = key.intValue {
        text += "[\(number)]"
      } else {
        text += (text.isEmpty ? "" : ".") + key.stringValue
      }
    }
    return text + ": "
  }

  /// A text of Foundation as a part of a sentence.
  private static func sentence(_ text: String) -> String {
    let plain = text.hasSuffix(".") ? String(text.dropLast()) : text
    return plain.prefix(1).lowercased() + plain.dropFirst()
  }
}
