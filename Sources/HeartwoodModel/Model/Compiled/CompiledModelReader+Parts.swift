import Foundation
import HeartwoodArchives

/// The parts of objects.
extension CompiledModelReader {
  mutating func note(_ text: String) { notes.append("\(file): \(text)") }

  mutating func mistake(_ text: String) { mistakes.append("\(file): \(text)") }

  /// Counts members of lists.
  ///
  /// - Throws: `ArchiveError` if more are read than an archive of its size has.
  mutating func take(_ members: Int) throws(ArchiveError) {
    guard members <= left else { throw ArchiveError("its objects refer to the same ones without end") }
    left -= members
  }

  /// Notes the keys of an object whose meaning is not known. Those without a value have none.
  mutating func noteUnknown(_ object: ArchivedObject, _ owner: String) {
    for key in object.keys where CompiledFormat.treatment(of: key, object.classNames) == nil {
      let value = try? object.value(key)
      if value?.isNull == true { continue }
      note("\(key) of \(owner) is not known, and has no effect")
    }
  }

  /// A text that is not empty.
  func text(_ key: String, of object: ArchivedObject) throws(ArchiveError) -> String? {
    guard let text = try object.string(key), !text.isEmpty else { return nil }
    return text
  }

  /// The identifier of an earlier name, which an archive has also where it is the name.
  func identifier(_ object: ArchivedObject, _ name: String) throws(ArchiveError) -> String? {
    let identifier = try text("NSRenamingIdentifier", of: object)
    return identifier == name ? nil : identifier
  }

  /// The entries of a dictionary, by name.
  ///
  /// - Throws: `ArchiveError` if it is something else, or a name is in it twice.
  mutating func entries(
    _ key: String, of object: ArchivedObject
  ) throws(ArchiveError) -> [(name: String, value: ArchivedValue)] {
    let value = try object.value(key)
    if value.isNull { return [] }
    guard let entries = value.dictionary else { throw ArchiveError("\(key) is \(value.kind), no dictionary") }
    try take(entries.count)
    let all = try entries.byName().sorted { $0.name < $1.name }
    for (first, second) in zip(all, all.dropFirst()) where first.name == second.name {
      throw ArchiveError("\(key) has \(first.name.prefix(80)) twice")
    }
    return all
  }

  mutating func strings(_ key: String, of object: ArchivedObject) throws(ArchiveError) -> [String] {
    guard let list = try object.list(key) else { return [] }
    try take(list.count)
    return try list.values().compactMap(\.string)
  }

  /// The names of properties, which an archive may have as objects too.
  mutating func names(_ value: ArchivedValue, _ owner: String) throws(ArchiveError) -> [String] {
    guard let list = value.list else { throw ArchiveError("\(owner) is \(value.kind), no list") }
    try take(list.count + 1)
    var names: [String] = []
    for member in try list.values() {
      var name = member.string
      if let object = member.object { name = try object.string("NSPropertyName") }
      guard let name else { throw ArchiveError("\(owner) names \(member.kind), no property") }
      names.append(name)
    }
    return names
  }

  mutating func userInfo(of object: ArchivedObject, _ owner: String) throws(ArchiveError) -> [String: String]
  {
    var info: [String: String] = [:]
    for (key, value) in try entries("NSUserInfo", of: object) {
      switch value {
      case .string(let text), .attributedString(let text): info[key] = text
      case .bool(let flag): info[key] = flag ? "true" : "false"
      case .integer(let number): info[key] = "\(number)"
      case .real(let number): info[key] = "\(number)"
      default: note("\(key) in the user info of \(owner) is \(value.kind), no text, and is left out")
      }
    }
    return info
  }

  /// The result of reading a part, or a note that it is not understood.
  mutating func understood<Result>(
    _ owner: String, _ consequence: String, _ body: (inout Int) throws(HeartwoodError) -> Result
  ) -> Result? {
    var budget = partsLeft
    defer { partsLeft = budget }
    do throws(HeartwoodError) {
      return try body(&budget)
    } catch {
      note("\(owner) is not understood, and \(consequence): \(error.message)")
      return nil
    }
  }
}
