/// Reads a CSV file as `import` does, with a model and without, for tests that give it any bytes.
///
/// - Returns: The fault of its refusal; nil if it was read, or refused with a reason.
package func importFinding(_ bytes: [UInt8], separator: UInt8) -> String? {
  do {
    let table = try CSVTable(bytes, separator: separator)
    let document = try ImportDocument(table, entity: "City", model: nil)
    let model = try document.givenOrInferredModel()
    _ = try PreparedImport(document, model: model)
    _ = try PreparedImport(ImportDocument(table, entity: "City", model: model), model: model)
    return nil
  } catch {
    return error.message.isEmpty ? "an error without a message" : nil
  }
}
