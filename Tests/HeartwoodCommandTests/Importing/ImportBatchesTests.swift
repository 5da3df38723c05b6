import Testing

@testable import HeartwoodCommand

private func batches(_ relationships: String, _ objects: String, size: Int) throws -> [[Int]] {
  let model = #"{"entities": {"A": {"relationships": {\#(relationships)}}}}"#
  let document = try ImportDocument(Array(#"{"model": \#(model), "objects": \#(objects)}"#.utf8))
  let given = try #require(document.model)
  return ImportBatches(try PreparedImport(document, model: given), model: given, size: size).batches
}

private func chain(_ count: Int, _ reference: (Int) -> Int?) -> String {
  let objects = (0..<count).map { index in
    let next = reference(index).map { #", "next": {"@ref": "A/\#($0)"}"# } ?? ""
    return #"{"@id": "A/\#(index)"\#(next)}"#
  }
  return "[" + objects.joined(separator: ",") + "]"
}

@Test func `a file that fits into one portion stays in its order`() throws {
  let all = try batches(
    #""next": {"destination": "A", "optional": false}"#, chain(5) { $0 < 4 ? $0 + 1 : 0 }, size: 5)
  #expect(all == [[0, 1, 2, 3, 4]])
}

@Test func `objects that do not need each other are divided in their order`() throws {
  let all = try batches(#""next": {"destination": "A"}"#, chain(5) { $0 < 4 ? $0 + 1 : nil }, size: 2)
  #expect(all == [[0, 1], [2, 3], [4]])
}

@Test func `an object comes after the objects that it needs`() throws {
  let all = try batches(
    #""next": {"destination": "A", "optional": false}"#, chain(5) { $0 < 4 ? $0 + 1 : nil }, size: 2)
  #expect(all == [[4, 3], [2, 1], [0]])
}

@Test func `objects that need each other stay together, however many they are`() throws {
  let all = try batches(
    #""next": {"destination": "A", "optional": false}"#, chain(7) { $0 < 3 ? ($0 + 1) % 3 : nil }, size: 2)
  #expect(all == [[0, 1, 2], [3, 4], [5, 6]])
}

@Test func `the need may be on the other side of the relationship`() throws {
  let relationships = """
    "next": {"destination": "A", "inverse": "previous"},
    "previous": {"destination": "A", "inverse": "next", "optional": false}
    """
  let all = try batches(relationships, chain(4) { $0 < 3 ? $0 + 1 : nil }, size: 1)
  #expect(all == [[0], [1], [2], [3]])
  let reverse = try batches(relationships, chain(4) { $0 > 0 ? $0 - 1 : nil }, size: 1)
  #expect(reverse == [[3], [2], [1], [0]])
}

@Test func `a long chain of needs is divided without a trap`() throws {
  let count = 5000
  let all = try batches(
    #""next": {"destination": "A", "optional": false}"#, chain(count) { $0 < count - 1 ? $0 + 1 : nil },
    size: 250)
  #expect(all.count == 20)
  #expect(all.joined().elementsEqual((0..<count).reversed()))
}
