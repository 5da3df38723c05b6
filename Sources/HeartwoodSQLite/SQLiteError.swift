import Foundation

/// Why a database file of SQLite cannot be opened, read or written: what is wrong, where, and what to do.
public struct SQLiteError: Error, Hashable, Sendable {
  /// The kind of problem.
  public enum Code: String, Hashable, Sendable {
    /// There is no file at the path.
    case notFound
    /// The system refused to open, read or write the file.
    case inputOutput
    /// The file does not begin as a database of SQLite does.
    case notSQLite
    /// The file looks like an encrypted database.
    case encrypted
    /// A later version of SQLite wrote the file in a format that this reader does not know.
    case newerFormat
    /// Another process holds a lock for longer than the time to wait.
    case locked
    /// The file changed while it was read, and no lock could prevent that.
    case changed
    /// Bytes of the file contradict the format.
    case damaged
    /// The database uses something that this reader cannot do, such as a collation of a program.
    case unsupported
    /// A name or a value that the caller passed does not fit the database.
    case invalidArgument
  }

  /// The kind of problem.
  public let code: Code
  /// The fault, and what to do where there is something to do.
  public let message: String
  /// The path of the file; nil where the error is not about a file.
  public let path: String?
  /// The number of the page, from 1; nil where the error is not about a page.
  public let page: UInt32?
  /// The position in bytes: in the page if there is one, else in the file.
  public let offset: Int?

  init(_ code: Code, _ message: String, path: String? = nil, page: UInt32? = nil, offset: Int? = nil) {
    (self.code, self.message, self.path, self.page, self.offset) = (code, message, path, page, offset)
  }

  /// Damage of a page.
  static func damaged(_ message: String, page: UInt32, offset: Int) -> SQLiteError {
    SQLiteError(.damaged, message, page: page, offset: offset)
  }

  /// The same error with the path of the file, where it has none.
  func at(_ path: String) -> SQLiteError {
    self.path != nil ? self : SQLiteError(code, message, path: path, page: page, offset: offset)
  }
}

extension SQLiteError: CustomStringConvertible, LocalizedError {
  /// One line: the path, the page and offset, and the message.
  public var description: String {
    var place = path ?? ""
    if let page { place += (place.isEmpty ? "" : ", ") + "page \(page)" }
    if let offset { place += (place.isEmpty ? "" : ", ") + "offset \(offset)" }
    return place.isEmpty ? message : "\(place): \(message)"
  }

  /// The same as `description`.
  public var errorDescription: String? { description }
}
