import Foundation
import HeartwoodArchives
import HeartwoodEngine

/// Reading the readable forms of a store.
extension StoreFileReader {
  func read(_ text: [UInt8], _ make: (StoreIdentifier?) throws -> Engine) throws -> Contents {
    do {
      return try format == .json ? readJSON(text, make) : readXML(text, make)
    } catch let error as JSONError {
      throw damaged("line \(error.line), column \(error.column): \(error.message)")
    } catch let error as ArchiveError {
      let line = text.prefix(error.offset ?? 0).count { $0 == UInt8(ascii: "\n") } + 1
      throw damaged("line \(line): \(error.message)")
    } catch let error as StoreDocumentLoader.Mistake {
      throw damaged(error.message)
    }
  }
}

/// JSON.
extension StoreFileReader {
  private func readJSON(
    _ text: [UInt8], _ make: (StoreIdentifier?) throws -> Engine
  ) throws -> Contents {
    var loader: StoreDocumentLoader?
    try JSONParser.parse(text, list: "objects") { object throws in
      loader = try StoreDocumentLoader(try header(object), make)
    } each: { value, number throws in
      try loader?.add(try Self.object(value, number))
    }
    guard let loader else { throw damaged("it has no objects") }
    return try loader.finish()
  }

  private func header(_ object: JSONObject) throws -> StoreDocument {
    guard case .string(let kind)? = object["heartwood"] else {
      throw damaged("it has no member \"heartwood\", and is no store")
    }
    guard kind == JSONStoreWriter.format else { throw newer(kind) }
    guard case .string(let text)? = object["identifier"], let identifier = UUID(uuidString: text) else {
      throw damaged("it has no identifier")
    }
    guard let model = object["model"] else { throw damaged("it has no model") }
    var document = StoreDocument(
      identifier: identifier, saves: 0, metadata: JSONObject(), model: model, nextKeys: [])
    if case .integer(let saves)? = object["saves"], saves >= 0 { document.saves = UInt64(saves) }
    if case .object(let metadata)? = object["metadata"] { document.metadata = metadata }
    if case .object(let keys)? = object["nextKeys"] {
      for member in keys.members {
        guard case .integer(let key) = member.value, key > 0 else {
          throw damaged(
            "nextKeys.\(member.name) is \(member.value.kind), and no positive number up to \(Int64.max)")
        }
        document.nextKeys.append((entity: member.name, key: UInt64(key)))
      }
    }
    return document
  }

  private func newer(_ kind: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOpen,
      "the store at \(path) is in the format \"\(kind)\", which this version does not know; use a newer one")
  }

  private static let members: Set = ["entity", "key", "version", "attributes", "relationships"]

  private static func object(_ value: JSONValue, _ number: Int) throws -> StoreDocumentLoader.Object {
    guard case .object(let object) = value, case .string(let entity)? = object["entity"] else {
      throw StoreDocumentLoader.Mistake(message: "object \(number) has no entity")
    }
    guard case .integer(let key)? = object["key"] else {
      let found = object["key"].map { ", not \($0.kind)" } ?? ""
      throw StoreDocumentLoader.Mistake(
        message: "object \(number), of \(entity), needs a key, a positive number up to \(Int64.max)\(found)")
    }
    for name in object.names where !Self.members.contains(name) {
      throw StoreDocumentLoader.Mistake(
        message: "object \(number) has a member \"\(name)\", which objects do not have")
    }
    let version = object["version"].map { version -> Int64? in
      if case .integer(let version) = version { return version }
      return nil
    }
    var values: [(String, StoreDocumentLoader.Field)] = []
    for name in ["attributes", "relationships"] {
      guard let members = object[name] else { continue }
      guard case .object(let members) = members else {
        throw StoreDocumentLoader.Mistake(message: "the \(name) of object \(number) are no JSON object")
      }
      for member in members.members { values.append((member.name, .json(member.value))) }
    }
    return StoreDocumentLoader.Object(entity: entity, key: key, version: version ?? 1, values: values)
  }
}

/// XML.
extension StoreFileReader {
  private func readXML(
    _ text: [UInt8], _ make: (StoreIdentifier?) throws -> Engine
  ) throws -> Contents {
    var scanner = MarkupScanner(text, deepest: 16, documentTypes: .refused)
    guard case .start("heartwood", let attributes)? = try scanner.nextElement() else {
      throw damaged("its first element is not <heartwood>")
    }
    guard attributes["version"] == XMLStoreWriter.format else { throw newer(attributes["version"] ?? "") }
    guard let identifier = attributes["identifier"].flatMap(UUID.init(uuidString:)) else {
      throw damaged("it has no identifier")
    }
    var document = StoreDocument(
      identifier: identifier, saves: attributes["saves"].flatMap(UInt64.init) ?? 0, metadata: JSONObject(),
      model: .null, nextKeys: [])
    var loader: StoreDocumentLoader?
    while let event = try scanner.nextElement() {
      guard case .start(let name, let attributes) = event else {
        if let line = scanner.lineOfRest() { throw damaged("line \(line): something is behind the end") }
        guard let loader = try loader ?? begin(document, make) else { throw damaged("it has no model") }
        return try loader.finish()
      }
      switch name {
      case "nextKey":
        let key = UInt64(try scanner.text())
        if let entity = attributes["entity"], let key { document.nextKeys.append((entity: entity, key: key)) }
      case "metadata":
        if case .object(let metadata) = try JSONParser.parse(Array(try scanner.text().utf8)) {
          document.metadata = metadata
        }
      case "model": document.model = try JSONParser.parse(Array(try scanner.text().utf8))
      case "object":
        if loader == nil { loader = try begin(document, make) }
        guard let loader else { throw damaged("it has objects before the model") }
        try loader.add(try object(attributes, &scanner))
      default: throw damaged("line \(scanner.line()): <\(name)> is no element of a store")
      }
    }
    throw damaged("it ends too early")
  }

  private func begin(
    _ document: StoreDocument, _ make: (StoreIdentifier?) throws -> Engine
  ) throws -> StoreDocumentLoader? {
    document.model == .null ? nil : try StoreDocumentLoader(document, make)
  }

  private func object(
    _ attributes: [String: String], _ scanner: inout MarkupScanner
  ) throws -> StoreDocumentLoader.Object {
    guard let entity = attributes["entity"] else {
      throw damaged("line \(scanner.line()): an object has no entity")
    }
    guard let key = attributes["key"].flatMap(Int64.init) else {
      let found = attributes["key"].map { ", not \"\($0)\"" } ?? ""
      throw damaged(
        "line \(scanner.line()): an object of \(entity) needs a key, a positive number up to \(Int64.max)\(found)"
      )
    }
    for name in attributes.keys where !["entity", "key", "version"].contains(name) {
      throw damaged("line \(scanner.line()): an object has the attribute \(name), which objects do not have")
    }
    let version = attributes["version"].map { Int64($0) }
    var values: [(String, StoreDocumentLoader.Field)] = []
    while case .start(let element, let fields)? = try scanner.nextElement() {
      guard ["attribute", "relationship"].contains(element), let name = fields["name"] else {
        throw damaged("line \(scanner.line()): <\(element)> is no value of an object")
      }
      var text = try scanner.text()
      if fields["encoding"] == "base64" {
        guard let data = Data(base64Encoded: text), let decoded = String(validating: data, as: UTF8.self)
        else {
          throw damaged("line \(scanner.line()): a text is not in base 64")
        }
        text = decoded
      }
      values.append((name, .text(text)))
    }
    return StoreDocumentLoader.Object(
      entity: entity, key: key, version: version ?? 1, values: values)
  }
}
