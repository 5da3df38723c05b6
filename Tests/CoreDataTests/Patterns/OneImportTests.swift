import CoreData
import Testing

@Suite struct `What a file has that imports Core Data alone` {
  @Test func `types of Foundation are there, and expressions are those of Core Data`() {
    let expression: NSExpression = NSExpression(forKeyPath: "name")
    let predicate: NSPredicate = NSPredicate(format: "born < %@", Date(timeIntervalSince1970: 0) as NSDate)
    #expect(expression.keyPath == "name")
    #expect(predicate is NSComparisonPredicate)
    #expect(UUID() != UUID() && URL(fileURLWithPath: "/").isFileURL && Data().isEmpty)
    #expect((3 as NSNumber).intValue == 3)
  }
}
