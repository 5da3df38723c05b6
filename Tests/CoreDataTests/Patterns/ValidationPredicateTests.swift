import CoreData
import Testing

@Suite struct `Validation predicates` {
  /// The values that a string attribute with predicates accepts.
  private func accepted(_ predicates: [NSPredicate], _ values: [String?]) throws -> [String?] {
    let entity = NSEntityDescription()
    entity.name = "Note"
    let text = Library.attribute("text", .stringAttributeType)
    // A property of this name is not meant by the predicates of another.
    let length = Library.attribute("length", .integer32AttributeType, optional: true, 7)
    text.setValidationPredicates(predicates, withValidationWarnings: [])
    entity.properties = [text, length]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try Library.makeContext(model)
    return try context.performAndWait {
      try values.filter { value in
        let object = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        object.setValue(value, forKey: "text")
        do {
          try context.save()
          return true
        } catch {
          guard (error as NSError).domain == NSCocoaErrorDomain else { throw error }
          context.rollback()
          return false
        }
      }
    }
  }

  @Test func `the keys of a compound predicate are those of the value`() throws {
    let values = ["a", "abc", "abcdef", nil]
    let bounds = NSPredicate(format: "length >= 3 AND length <= 5")
    #expect(try accepted([bounds], values) == ["abc", nil])
    #expect(
      try accepted([NSPredicate(format: "NOT (length == 3 OR SELF BEGINSWITH 'abcd')")], values) == [
        "a", nil,
      ])
    #expect(
      try accepted([NSPredicate(format: "SELF.length > 1 AND SELF ENDSWITH 'c'")], values) == ["abc", nil])
    #expect(
      try accepted([NSPredicate(format: "length > 1"), NSPredicate(format: "length < 5")], values) == [
        "abc", nil,
      ])
    #expect(try accepted([NSPredicate(format: "length IN {1, 6}")], values) == ["a", "abcdef", nil])
    #expect(
      try accepted([NSPredicate(format: "SELF MATCHES 'a.*' AND length * 2 > 4")], values) == [
        "abc", "abcdef", nil,
      ])
  }

  @Test func `predicates are read as they were set`() {
    let text = NSAttributeDescription()
    text.attributeType = .stringAttributeType
    let predicates = ["length >= 3 AND length <= 50", "SELF LIKE 'a*'", "length < 9"].map {
      NSPredicate(format: $0)
    }
    text.setValidationPredicates(predicates, withValidationWarnings: ["a", "b"])
    #expect(text.validationPredicates.prefix(2) == predicates.prefix(2))
    #expect(text.validationPredicates.last == NSPredicate(format: "length <= 8"))
    #expect(text.validationWarnings.compactMap { $0 as? String }.prefix(2) == ["a", "b"])
  }
}
