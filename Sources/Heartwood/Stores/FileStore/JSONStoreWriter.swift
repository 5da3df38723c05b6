import HeartwoodFiles

/// The JSON form: one object a line, in a fixed order, so that two files can be compared line by line.
enum JSONStoreWriter {
  static let format = "JSON store 1"

  static func write(_ document: StoreDocument, _ contents: some StoreReading, to output: inout FileOutput)
    throws
  {
    func member(_ name: String, _ value: JSONValue) -> String { "\"\(name)\": \(JSONWriter.line(value)),\n" }
    var head = "{\n" + member("heartwood", .string(format))
    head += member("identifier", .string(document.identifier.uuidString))
    head += member("saves", .integer(Int64(bitPattern: document.saves)))
    head += member(
      "nextKeys",
      .object(JSONObject(document.nextKeys.map { ($0.entity, .integer(Int64(bitPattern: $0.key))) })))
    head += member("metadata", .object(document.metadata))
    head += "\"model\": \(JSONWriter.pretty(document.model)),\n\"objects\": ["
    try output.append(head)
    var isFirst = true
    try StoreDocument.forEachObject(contents) { object in
      try output.append((isFirst ? "\n" : ",\n") + JSONWriter.line(json(object)))
      isFirst = false
    }
    try output.append("\n]\n}\n")
  }

  private static func json(_ object: StoreDocument.Object) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("entity", .string(object.entity.displayName)), ("key", .integer(Int64(bitPattern: object.key))),
      ("version", .integer(Int64(object.version))),
    ]
    if !object.attributes.isEmpty {
      members.append(("attributes", .object(JSONObject(object.attributes.map { ($0, $1) }))))
    }
    if !object.relationships.isEmpty {
      members.append(("relationships", .object(JSONObject(object.relationships.map { ($0, $1) }))))
    }
    return .object(JSONObject(members))
  }
}
