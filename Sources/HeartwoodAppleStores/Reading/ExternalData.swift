import Foundation

/// Large data of a store in files of their own: `.Name_SUPPORT/_EXTERNAL_DATA` beside `Name.sqlite`. The cell of an attribute that allows that
/// begins with a byte that says where the data is: 1 for behind it, 2 for the file whose name is behind it.
struct ExternalData: Sendable {
  enum Found {
    case data(Data)
    /// In a file that is not there.
    case missing
  }

  private let folder: URL

  var path: String { folder.path }

  init(besideStoreAt url: URL) {
    let store = url.resolvingSymlinksInPath()
    folder = store.deletingLastPathComponent()
      .appending(path: ".\(store.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
  }

  /// The data of a cell.
  func data(of cell: Data) -> Found {
    guard let first = cell.first else { return .data(cell) }
    let rest = cell.dropFirst()
    switch first {
    case 1: return .data(Data(rest))
    case 2:
      guard let name = Self.name(rest) else { return .data(cell) }
      // A name is a UUID, so that no other file is read.
      return Self.contents(of: folder.appending(path: name)).map { .data($0) } ?? .missing
    default: return .data(cell)
    }
  }

  /// Nil if there is no file, or a link or a pipe.
  private static func contents(of file: URL) -> Data? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
    guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
    return try? Data(contentsOf: file, options: .mappedIfSafe)
  }

  /// The file's name: a UUID, and maybe a zero byte.
  private static func name(_ bytes: Data) -> String? {
    let text = bytes.last == 0 ? bytes.dropLast() : bytes
    guard text.count == 36, let name = String(bytes: text, encoding: .utf8), UUID(uuidString: name) != nil
    else { return nil }
    return name
  }
}
