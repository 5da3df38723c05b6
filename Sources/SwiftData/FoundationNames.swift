import Foundation

// The directories that Foundation names on Apple's systems, by which models of applications say where their stores are. Disfavoured, so
// that those of a later Foundation are used where it has them.
extension URL {
  private static func directory(_ kind: FileManager.SearchPathDirectory, _ name: String) -> URL {
    FileManager.default.urls(for: kind, in: .userDomainMask).first ?? homeDirectory.appending(path: name)
  }

  /// The folder of the user's application support: `$XDG_DATA_HOME`, or `~/.local/share`.
  @_disfavoredOverload
  public static var applicationSupportDirectory: URL {
    directory(.applicationSupportDirectory, ".local/share")
  }
  /// The folder of the user's documents.
  @_disfavoredOverload
  public static var documentsDirectory: URL { directory(.documentDirectory, "Documents") }
  /// The folder of the user's caches.
  @_disfavoredOverload
  public static var cachesDirectory: URL { directory(.cachesDirectory, ".cache") }
  /// The folder of the user's downloads.
  @_disfavoredOverload
  public static var downloadsDirectory: URL { directory(.downloadsDirectory, "Downloads") }
  /// The folder of what programs keep for the user; on this system that of the application support.
  @_disfavoredOverload
  public static var libraryDirectory: URL { directory(.libraryDirectory, ".local/share") }
}

/// A type that names the key paths by which encoded predicates know its properties. Nothing encodes predicates so on this system, where Foundation
/// does not have the protocol: models that conform to it compile.
public protocol PredicateCodableKeyPathProviding {
  /// A key path: `any PartialKeyPath<Self> & Sendable`, or without `Sendable` as Foundation had it first.
  associatedtype CodableKeyPath
  /// The key paths by their names.
  static var predicateCodableKeyPaths: [String: CodableKeyPath] { get }
}
