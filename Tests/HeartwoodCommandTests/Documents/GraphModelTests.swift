import Testing

@testable import HeartwoodCommand

private func document(_ text: String) throws -> DocumentModel {
  try DocumentModel(reading: JSONPlace(path: "", value: ImportDocument.parse(Array(text.utf8))))
}

@Test func `a model is stored in the graph and read back unchanged`() throws {
  let model = try document(
    """
    {"entities": {
      "City": {"superentity": "Place", "attributes": {
          "founded": {"type": "date", "optional": true, "indexed": true},
          "height": {"type": "integer16", "default": -3}, "price": {"type": "decimal", "default": "0.1"},
          "walled": {"type": "boolean", "default": true}, "flag": {"type": "data", "optional": true}},
        "relationships": {
          "country": {"destination": "Country", "inverse": "cities", "optional": false},
          "twins": {"destination": "City", "toMany": true, "inverse": "twins", "max": 5},
          "mayors": {"destination": "Place", "toMany": true, "deleteRule": "noAction"}},
        "indexes": [["name"], ["founded", "height"], ["country"]]},
      "Country": {"superentity": "Place", "attributes": {"code": {"type": "string", "unique": true},
          "cityCount": {"type": "integer64", "derived": "cities.@count"}},
        "relationships": {"cities": {"destination": "City", "toMany": true, "ordered": true, "inverse": "country",
          "deleteRule": "cascade", "optional": false, "min": 1}},
        "uniquenessConstraints": [["name", "code"]]},
      "Place": {"abstract": true, "attributes": {
        "name": {"type": "string", "preservesValueInHistoryOnDeletion": true}, "key": {"type": "uuid"},
        "page": {"type": "uri"}, "size": {"type": "float"}, "area": {"type": "double"},
        "small": {"type": "integer32"}, "large": {"type": "integer64"}}}}}
    """)
  #expect(try DocumentModel(model.graphModel()) == model)
  #expect(ModelText.text(model).contains("derived as cities.@count"))
}

@Test(arguments: [
  (#""indexes": [["name", "size"]]"#, #"indexes: there is no attribute or to-one relationship "size""#),
  (#""indexes": [[]]"#, "expected a list of names, found a list"),
  (
    #""relationships": {"b": {"destination": "A", "toMany": true, "max": 1}}"#,
    #""max" 1 makes a to-one relationship: leave out "toMany" and "max""#
  ),
])
func `a model that the graph cannot store is refused`(member: String, message: String) throws {
  let text = #"{"entities": {"A": {"attributes": {"name": {"type": "string"}}, \#(member)}}}"#
  #expect(failure { _ = try document(text) }.hasSuffix(message))
}
