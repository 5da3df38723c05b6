import Foundation
import HeartwoodEngine
import HeartwoodFiles

// The modules below do not import Foundation, so their errors conform to its protocols here.

extension EngineError: LocalizedError, CustomNSError, FilePathError {
  /// Message, file, offset and cause in one line.
  public var errorDescription: String? { description }

  /// The description, the file path and the underlying error.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: description]
    if let underlying { info[NSUnderlyingErrorKey] = underlying }
    if let filePath { info[NSFilePathErrorKey] = filePath }
    return info
  }

  package var filePath: String? { file ?? (underlying as? any FilePathError)?.filePath }
}

extension FileSystemError: LocalizedError, CustomNSError, FilePathError {
  /// Path, operation and kind of error in one line.
  public var errorDescription: String? { description }

  /// The description, the path, and the system's error if its number is known.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: description, NSFilePathErrorKey: path]
    if let systemNumber {
      info[NSUnderlyingErrorKey] = NSError(domain: NSPOSIXErrorDomain, code: Int(systemNumber))
    }
    return info
  }

  package var filePath: String? { path }
}
