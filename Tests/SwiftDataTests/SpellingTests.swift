import Foundation
import SwiftData
import Testing

/// Models whose source is written in unusual ways.
struct SpellingTests {
  private func names(_ model: any PersistentModel.Type) -> [String] { model.schemaMetadata.map(\.name) }

  private func context(_ models: any PersistentModel.Type...) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(models), configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
  }

  @Test func `properties on one line are all stored`() throws {
    #expect(names(Binder.self) == ["name", "colour", "note", "sheets"])
    #expect(names(Sheet.self) == ["text", "folder"])
    let context = try context(Binder.self, Sheet.self)
    let folder = Binder(name: "f")
    folder.note = "n"
    folder.colour = 3
    folder.sheets = [Sheet("s")]
    context.insert(folder)
    try context.save()
    let found = try #require(ModelContext(context.container).fetch(FetchDescriptor<Binder>()).first)
    #expect(found.note == "n" && found.colour == 3 && found.sheets?.first?.text == "s")
    #expect(found.sheets?.first?.folder === found)
  }

  @Test func `a keyword is the name of a property, also in predicates`() throws {
    let context = try context(Keyworded.self)
    for number in 0..<3 { context.insert(Keyworded(in: number)) }
    try context.save()
    let first = FetchDescriptor<Keyworded>(predicate: #Predicate { $0.in == 1 })
    let second = FetchDescriptor<Keyworded>(predicate: #Predicate { item in item.in > 0 && item.in < 2 })
    #expect(try context.fetch(first).map(\.in) == [1] && context.fetchCount(second) == 1)
  }

  @Test func `defaults of several lines are those of the schema`() throws {
    let model = Defaults()
    #expect(model.greeting == "Hi } 2,\n1; 2" && model.text == "3" && model.table.isEmpty)
    #expect(model.counted == 3 && model.chosen == 2 && model.forced == 4 && model.ternary == 2)
    #expect(
      names(Defaults.self) == ["greeting", "text", "table", "counted", "chosen", "forced", "ternary"])
    let defaults = Defaults.schemaMetadata.map(\.defaultValue)
    #expect(defaults[0] as? String == model.greeting && defaults[1] as? String == "3")
    #expect(defaults[3...].map { $0 as? Int } == [3, 2, 4, 2])
  }

  @Test func `a model may have an equality of its own`() throws {
    func areEqual<Value: Hashable>(_ left: Value, _ right: Value) -> Bool { left == right }
    #expect(areEqual(Compared(1), Compared(1)) && !areEqual(Compared(1), Compared(2)))
    #expect(Set([Compared(1), Compared(1), Compared(2)]).count == 2)
    #expect([Compared(3)].contains(Compared(3)))
  }

  @Test func `a deprecated property is stored`() throws {
    let context = try context(Outdated.self)
    context.insert(Outdated())
    try context.save()
    #expect(names(Outdated.self) == ["old", "new", "SwiftData.Schema.Index"])
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Outdated>()) == 1)
  }
}

@Model
final class Keyworded {
  var `in`: Int
  init(in number: Int) { self.in = number }
}
