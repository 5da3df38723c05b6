import Foundation

/// An object of a keyed archive: the name of its class, and fields by their keys.
package struct ArchivedObject: Sendable {
  let archive: KeyedArchive
  /// The number of the object in the archive, by which two references to it are told to be the same; nil for fields without an object.
  package let number: Int?
  let fields: [String: PropertyList]
  /// The name of its class, and those of the classes that it inherits from, up to `NSObject`; empty if it has none.
  package let classNames: [String]

  init(_ archive: KeyedArchive, _ number: Int?, _ fields: [String: PropertyList], _ classNames: [String]) {
    self.archive = archive
    self.number = number
    self.fields = fields
    self.classNames = classNames
  }

  /// The name of its class; empty if it has none.
  package var className: String { classNames.first ?? "" }

  /// Whether its class is, or inherits from, a class of this name.
  package func isKind(of name: String) -> Bool { classNames.contains(name) }

  /// The keys of its fields, sorted.
  package var keys: [String] { fields.keys.filter { $0 != "$class" }.sorted() }

  package func has(_ key: String) -> Bool { fields[key] != nil }

  /// The value of a field; null if there is none.
  ///
  /// - Throws: `ArchiveError` if the field refers to no object.
  package func value(_ key: String) throws(ArchiveError) -> ArchivedValue {
    guard let field = fields[key] else { return .null }
    return try archive.value(of: field)
  }

  package func string(_ key: String) throws(ArchiveError) -> String? { try value(key).string }
  package func integer(_ key: String) throws(ArchiveError) -> Int64? { try value(key).integer }
  package func bool(_ key: String) throws(ArchiveError) -> Bool? { try value(key).bool }
  package func object(_ key: String) throws(ArchiveError) -> ArchivedObject? { try value(key).object }
  package func list(_ key: String) throws(ArchiveError) -> ArchivedList? { try value(key).list }
  package func dictionary(_ key: String) throws(ArchiveError) -> ArchivedEntries? {
    try value(key).dictionary
  }
}
