import Foundation
import Heartwood

/// Trackers of history keep their tokens as archives. A token is no object here, so its archive has its encoding as data.
extension NSKeyedArchiver {
  /// An archive of a token.
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - requiresSecureCoding: Of no meaning for a token.
  /// - Throws: Why it cannot be encoded.
  public class func archivedData(
    withRootObject token: NSPersistentHistoryToken, requiringSecureCoding requiresSecureCoding: Bool
  ) throws -> Data {
    let encoded: Any = try JSONEncoder().encode(token) as NSData
    return try archivedData(withRootObject: encoded, requiringSecureCoding: requiresSecureCoding)
  }
}

extension NSKeyedUnarchiver {
  /// The token in an archive that `NSKeyedArchiver.archivedData(withRootObject:requiringSecureCoding:)` made.
  ///
  /// - Parameters:
  ///   - cls: The type of the token.
  ///   - data: The archive.
  /// - Returns: Nil if there is no data in the archive.
  /// - Throws: Why it is no token.
  public class func unarchivedObject(
    ofClass cls: NSPersistentHistoryToken.Type, from data: Data
  ) throws -> NSPersistentHistoryToken? {
    guard let encoded = try unarchivedObject(ofClass: NSData.self, from: data) else { return nil }
    return try JSONDecoder().decode(NSPersistentHistoryToken.self, from: Data(referencing: encoded))
  }
}
