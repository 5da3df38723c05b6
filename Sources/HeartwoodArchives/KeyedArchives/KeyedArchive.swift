import Foundation

/// A keyed archive, as `NSKeyedArchiver` writes it, as plain data: objects with the names of their classes and their fields.
///
/// No object of a class is made, so that no archive can make a program run code by what it names. Objects refer to each other by number, also
/// in circles; a value is resolved when it is asked for, and only as far.
package final class KeyedArchive: Sendable {
  /// The class that wrote the archive: `NSKeyedArchiver`.
  package let archiver: String
  /// The format's version: 100000.
  package let version: Int64
  /// The values that were encoded at the top, by their keys.
  package let top: [String: PropertyList]
  let objects: [PropertyList]

  /// Reads an archive in the binary or the XML form.
  ///
  /// - Throws: `ArchiveError` if the data is no property list, or none of an archive.
  package convenience init(_ data: Data) throws(ArchiveError) {
    try self.init(PropertyList(data))
  }

  /// - Throws: `ArchiveError` if the list is not one of an archive.
  package init(_ list: PropertyList) throws(ArchiveError) {
    guard let fields = list.dictionary, let objects = fields["$objects"]?.array else {
      throw ArchiveError("the property list is no keyed archive: it has no objects")
    }
    guard let archiver = fields["$archiver"]?.string else {
      throw ArchiveError("the property list is no keyed archive: it names no archiver")
    }
    // The one key of an archive's top can itself be a reference to the only object.
    guard let top = fields["$top"]?.dictionary else {
      throw ArchiveError("the property list is no keyed archive: it has no top")
    }
    self.archiver = archiver
    self.version = fields["$version"]?.integer ?? 0
    self.top = top
    self.objects = objects
  }

  /// Whether data may be an archive: it is a property list in which the word of an archive is.
  package static func isLikely(_ data: Data) -> Bool {
    let mayBeList =
      data.starts(with: Array("bplist".utf8)) || MarkupPropertyList.mayBegin([UInt8](data.prefix(256)))
    return mayBeList && data.range(of: Data("$archiver".utf8)) != nil
  }

  /// The object that was archived: what `root` at the top is, or the only key there.
  ///
  /// - Throws: `ArchiveError` if the top has neither, or refers to no object.
  package var root: ArchivedValue {
    get throws(ArchiveError) {
      guard let field = top["root"] ?? (top.count == 1 ? top.first?.value : nil) else {
        throw ArchiveError("the archive has no root, but \(top.count) objects at its top")
      }
      return try value(of: field)
    }
  }

  /// The number of objects, which are numbered from 0.
  package var count: Int { objects.count }

  /// The value of an object.
  ///
  /// - Throws: `ArchiveError` if there is no such object, or it is not what its class has.
  package func value(ofObject number: Int) throws(ArchiveError) -> ArchivedValue {
    try value(of: .uid(UInt64(max(0, number))))
  }

  /// The value of a field: of the object that it refers to, or of itself.
  func value(of field: PropertyList) throws(ArchiveError) -> ArchivedValue {
    guard case .uid(let number) = field else { return plain(field) }
    guard number < UInt64(objects.count) else {
      throw ArchiveError("the archive has no object \(number), but \(objects.count)")
    }
    let index = Int(number)
    switch objects[index] {
    case .string("$null"): return .null
    case .dictionary(let fields):
      guard let name = fields["$class"] else { return .object(ArchivedObject(self, index, fields, [])) }
      return try ArchivedObject(self, index, fields, classes(name, of: index)).unpacked()
    case .uid: throw ArchiveError("object \(number) of the archive is a reference")
    case let other: return plain(other)
    }
  }

  /// A value that is no object of a class.
  private func plain(_ field: PropertyList) -> ArchivedValue {
    switch field {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .unsignedInteger(let number): .unsignedInteger(number)
    case .real(let number): .real(number)
    case .string(let text): .string(text)
    case .data(let data): .data(data)
    case .date(let date): .date(date)
    case .array(let list), .set(let list): .array(ArchivedList(archive: self, fields: list))
    case .dictionary(let fields): .object(ArchivedObject(self, nil, fields, []))
    case .uid: .null
    }
  }

  /// The value that a field refers to, as it is in the archive; nil for null, and where there is no such object.
  func raw(_ field: PropertyList) -> PropertyList? {
    guard case .uid(let number) = field else { return field }
    guard number < UInt64(objects.count) else { return nil }
    switch objects[Int(number)] {
    case .string("$null"), .uid: return nil
    case let object: return object
    }
  }

  /// The names of the classes of an object that was not unpacked; none if it has no class.
  func classNames(of fields: [String: PropertyList]) throws(ArchiveError) -> [String] {
    guard let field = fields["$class"] else { return [] }
    return try classes(field, of: 0)
  }

  /// The name of an object's class, and those of the classes that it inherits from.
  private func classes(_ field: PropertyList, of object: Int) throws(ArchiveError) -> [String] {
    guard let number = field.uid.flatMap({ Int(exactly: $0) }), objects.indices.contains(number),
      let fields = objects[number].dictionary, let name = fields["$classname"]?.string
    else { throw ArchiveError("object \(object) of the archive has a class that is none") }
    // Deeper hierarchies than any framework has would only cost time.
    let all = fields["$classes"]?.array?.prefix(32).compactMap(\.string) ?? []
    return all.first == name ? all : [name] + all
  }
}
