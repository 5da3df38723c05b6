import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// The modules below do not import Foundation, so their errors learn its ways here.
protocol FilePathError {
  /// The file or directory concerned, if it is one.
  var filePath: String? { get }
}

extension EngineError: LocalizedError, CustomNSError, FilePathError {
  /// Message, file, offset and cause in one line.
  public var errorDescription: String? { description }

  /// The description, the file and the error below.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: description]
    if let underlying { info[NSUnderlyingErrorKey] = underlying }
    if let filePath { info[NSFilePathErrorKey] = filePath }
    return info
  }

  var filePath: String? { file ?? (underlying as? any FilePathError)?.filePath }
}

extension FileSystemError: LocalizedError, CustomNSError, FilePathError {
  /// Path, operation and kind of error in one line.
  public var errorDescription: String? { description }

  /// The description, the path, and the system's error where its number is known.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: description, NSFilePathErrorKey: path]
    if let systemNumber {
      info[NSUnderlyingErrorKey] = NSError(domain: NSPOSIXErrorDomain, code: Int(systemNumber))
    }
    return info
  }

  var filePath: String? { path }
}
