import Foundation
import SwiftData
import Testing

@Model
private final class Settings {
  var calendar = Calendar(identifier: .gregorian)
  var locale = Locale(identifier: "de_CH")
  var zone = TimeZone.gmt
  var parts = DateComponents(year: 2024, month: 2)
  var letters = CharacterSet(charactersIn: "abc")
  var optionalLetters: CharacterSet?
  var name = PersonNameComponents()
  var interval = DateInterval(start: Date(timeIntervalSince1970: 0), duration: 1)
  var length = Measurement(value: 2, unit: UnitLength.meters)
  var places = IndexSet([1, 2])
  var range = 1...5
  var vector = SIMD2<Float>(1, 2)
  var language = Locale.Language(identifier: "en")
  var width: CGFloat = 1.5
  var optionalWidth: CGFloat?
  var half: Float16 = 0.5
  var offset = Offset()
  var scale = Scale.small
  init() {}
}

private struct Offset: Codable, Equatable {
  var dx: CGFloat = 0
  var dy: CGFloat = 0
}

private enum Scale: CGFloat, Codable { case small = 0.5, large = 2 }

@Model
private final class Styled {
  var text = AttributedString()
  init() {}
}

struct FoundationValueTests {
  // SWD-10
  @Test func `values of Foundation's types are stored without an annotation`() throws {
    let context = try Library.context(of: Settings.self)
    let settings = Settings()
    var calendar = Calendar(identifier: .hebrew)
    calendar.firstWeekday = 3
    let name = PersonNameComponents(givenName: "Ada", familyName: "Lovelace")
    let interval = DateInterval(start: Date(timeIntervalSince1970: 5), duration: 60)
    (settings.calendar, settings.name, settings.interval) = (calendar, name, interval)
    settings.parts = DateComponents(calendar: calendar, timeZone: .gmt, hour: 3)
    settings.letters = CharacterSet(charactersIn: "xyz")
    settings.optionalLetters = .decimalDigits
    settings.locale = Locale(identifier: "fr_FR")
    settings.vector = SIMD2(3, 4)
    context.insert(settings)
    try context.save()
    let read = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Settings>()).first)
    #expect(read.calendar == calendar && read.calendar.firstWeekday == 3 && read.name == name)
    #expect(read.interval == interval && read.parts == settings.parts)
    #expect(read.letters == CharacterSet(charactersIn: "xyz") && read.optionalLetters == .decimalDigits)
    #expect(read.locale.identifier == "fr_FR" && read.zone == .gmt && read.vector == SIMD2(3, 4))
    #expect(read.length == Measurement(value: 2, unit: .meters) && read.places == [1, 2])
    #expect(read.range == 1...5 && read.language.languageCode == "en")
  }

  // SWD-10, SWD-23
  @Test func `numbers of graphics are columns, with order and parts`() throws {
    let context = try Library.context(of: Settings.self)
    for index in 0..<6 {
      let settings = Settings()
      settings.width = CGFloat(index) * 1.5
      settings.optionalWidth = index == 0 ? nil : CGFloat(index)
      settings.half = Float16(index) / 2
      settings.offset = Offset(dx: 1, dy: CGFloat(index))
      settings.scale = index < 2 ? .small : .large
      context.insert(settings)
    }
    try context.save()
    let limit: CGFloat = 4
    func widths(_ predicate: Predicate<Settings>) throws -> [CGFloat] {
      try context.fetch(
        FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.width, order: .reverse)])
      )
      .map(\.width)
    }
    #expect(try widths(#Predicate { $0.width > limit }) == [7.5, 6, 4.5])
    #expect(try widths(#Predicate { $0.width * 2 < 5 && $0.optionalWidth != nil }) == [1.5])
    #expect(try widths(#Predicate { $0.half > 2 }) == [7.5])
    #expect(try widths(#Predicate { $0.offset.dy > limit }) == [7.5])
    #expect(try widths(#Predicate { $0.scale.rawValue < 1 }) == [1.5, 0])
    let interval = Date(timeIntervalSince1970: -1)
    #expect(try widths(#Predicate { $0.interval.start > interval }).count == 6)
    let entity = try #require(context.container.schema.entity(for: Settings.self))
    #expect(entity.attributesByName["interval"] is Schema.CompositeAttribute)
    #expect(!(entity.attributesByName["locale"] is Schema.CompositeAttribute))
  }

  // SWD-40
  @Test func `attributed text is refused with what to do`() {
    #expect {
      try Library.context(of: Styled.self)
    } throws: {
      SwiftDataError.loadIssueModelContainer ~= $0 && "\($0)".contains("store its text")
    }
  }
}
