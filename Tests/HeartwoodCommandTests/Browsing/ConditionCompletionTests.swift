import Testing

@testable import HeartwoodCommand

/// The candidates that can follow a condition as far as it is typed.
struct ConditionCompletionTests {
  private let completion: ConditionCompletion

  init() throws {
    let model = JSONPlace(path: "", value: try ImportDocument.parse(Array(SmallWorld.model.utf8)))
    completion = ConditionCompletion(model: try DocumentModel(reading: model))
  }

  private func texts(_ text: String, of entity: String = "Country") -> [String] {
    completion.candidates(for: text, of: entity).candidates.map(\.text)
  }

  @Test func `names of properties begin a condition, and words that may stand before them`() {
    #expect(texts("").prefix(3) == ["code", "name", "population"])
    #expect(texts("").contains("ANY"))
    #expect(texts("po") == ["population"])
    #expect(texts("name == \"a\" AND c") == ["code", "continent", "capital", "cities"])
    #expect(texts("NOT (na") == ["name"])
    #expect(texts("ANY n") == ["name", "neighbours"])
  }

  @Test func `a path goes on with the properties of where it leads`() {
    #expect(texts("capital.").contains("capitalOf"))
    #expect(texts("capital.na") == ["name"])
    #expect(texts("capital.country.co") == ["code", "continent"])
    #expect(texts("cities.").first == "@count")
    #expect(texts("name.").isEmpty)
    let (start, _) = completion.candidates(for: "é == 1 AND capital.na", of: "Country")
    #expect("é == 1 AND capital.na"[start...] == "na")
  }

  @Test func `operators fit the type of the property before them`() {
    #expect(texts("name ").contains("BEGINSWITH"))
    #expect(texts("name beg") == ["BEGINSWITH", "BEGINSWITH[cd]"])
    #expect(texts("population ").contains("BETWEEN {1, 2}"))
    #expect(!texts("population ").contains("LIKE"))
    #expect(texts("capital ") == ["==", "!="])
    #expect(texts("capital.name ").contains("LIKE"))
  }

  @Test func `values follow operators, and AND and OR follow values`() {
    #expect(texts("population == ").contains("nil"))
    #expect(texts("name == ").contains("\"\""))
    for text in [
      "population > 5 ", "name == 'a' ", "name IN {'a', 'b'} ", "(population > 5) ", "name == nil ",
    ] {
      #expect(texts(text) == ["AND", "OR"], "\(text)")
    }
    #expect(texts("population > 5 a") == ["AND"])
    #expect(texts("population > 5 && na") == ["name"])
  }

  @Test func `nothing is offered that is refused, or never true, behind what is typed`() {
    #expect(texts("neighbours ") == [] && texts("capital.country.cities.name ") == [])
    #expect(texts("ANY neighbours ") == ["==", "!="] && texts("cities.@count ") == ["==", "!="])
    #expect(texts("name IN ") == ["{}"] && texts("population BETWEEN ") == ["{1, 2}"])
    #expect(texts("name LIKE ") == ["\"\""] && texts("population > ") == [])
    #expect(texts("name == ") == ["\"\"", "nil"] && texts("capital != ") == ["nil"])
  }

  @Test func `between the brackets of an operator there are its options`() {
    #expect(texts("name BEGINSWITH[") == ["c]", "d]", "cd]"])
    #expect(texts("name BEGINSWITH[c") == ["c]", "cd]"])
    #expect(texts("name BEGINSWITH[cd] ") == ["\"\""])
    #expect(texts("name BEGINSWITH[cd] 'a' ") == ["AND", "OR"])
  }

  @Test func `in the arguments of a function there is nothing to complete`() {
    for text in [
      "SUBQUERY(", "SUBQUERY(cities, $c, $c.name == 'a' AND ", "name == lowercase(", "SUBQUERY((a) ",
    ] {
      #expect(texts(text) == [], "\(text)")
    }
    #expect(texts("SUBQUERY(cities, $c, $c.name == 'a') ") == [])
    #expect(texts("SUBQUERY(cities, $c, $c.name == 'a').@count ") == ["==", "!="])
    #expect(texts("lowercase(name) ") == ["==", "!="])
    #expect(texts("name == lowercase('A') ") == ["AND", "OR"])
    #expect(texts("NOT (na") == ["name"] && texts("name == 'a' AND (na") == ["name"])
  }

  @Test func `inside quotation marks there is nothing to complete`() {
    for text in ["name == \"", "name == 'n", "name == \"a\\\"n", "name == \"ab\\"] {
      #expect(texts(text) == [], "\(text)")
    }
  }

  @Test func `no text stops the program`() {
    for text in [
      "((((", "))))", "{{{", "====", "\"", "\\", "#", ".", "..", "@", "a.b.c.d.", "capital..", "🙂 == ",
      "\u{0}",
    ] {
      _ = texts(text)
    }
    #expect(texts("na", of: "Nothing") == [])
  }
}
