import Foundation
import Heartwood
import HeartwoodBrowser
import Testing

@testable import HeartwoodCommand

/// The answers that the page gets about a store.
struct PageRoutesTests {
  private let world: SmallWorld
  private var page: BrowsedWorld { BrowsedWorld(world.path) }

  init() throws { world = try SmallWorld() }

  private func status(_ name: String, _ query: [String: String] = [:]) throws -> Int {
    try page.answer(name, query).0.status.rawValue
  }

  @Test func `a store has its entities with their counts and properties`() throws {
    let store = try page.json("store")
    #expect(store.texts("entities", "name") == ["City", "Continent", "Country"])
    #expect(store.texts("entities", "count") == ["3", "2", "4"])
    #expect(store.texts("entities.2.attributes", "name") == ["code", "name", "population"])
    #expect(store.texts("entities.2.attributes", "isIndexed") == ["true", "true", "true"])
    #expect(store.text("kind") == "log")
    #expect(store.text("isLive") == "true")
  }

  @Test func `a table has pages in the order of an index`() throws {
    let first = try page.json("rows", ["entity": "Country", "sort": "-name", "limit": "2"])
    #expect(first.texts("rows", "id") == ["Country/p4", "Country/p3"])
    #expect(first.text("hasMore") == "true")
    #expect(first.text("total") == "4")
    let second = try page.json("rows", ["entity": "Country", "sort": "-name", "limit": "2", "offset": "2"])
    #expect(second.texts("rows", "id") == ["Country/p2", "Country/p1"])
    #expect(second.text("hasMore") == "false")
    #expect(second.text("plan")?.contains("offset: 2") == true)
    #expect(second.text("rows.1.cells.4.label") == "Paris")
    #expect(second.texts("columns", "name") == ["code", "name", "population", "continent", "capital"])
  }

  @Test func `a condition selects rows, has a plan, and its count is asked for alone`() throws {
    let query = ["entity": "Country", "where": "population > 60000000", "sort": "name"]
    let rows = try page.json("rows", query)
    #expect(rows.texts("rows", "id") == ["Country/p1", "Country/p2"])
    #expect(rows.text("total") == "null")
    #expect(try page.json("count", query).text("total") == "2")
    #expect(try page.json("analysis", query).text("plan.0")?.contains("found") == true)
  }

  @Test func `a wrong condition says what is wrong and where`() throws {
    let query = ["entity": "Country", "where": "name == \"a\" AND populaton > 1"]
    #expect(try status("rows", query) == 400)
    let wrong = try page.json("rows", query)
    #expect(wrong.text("error")?.contains("Country has no property 'populaton'") == true)
    #expect(wrong.text("column") == "17")
    let other = try page.json("rows", ["entity": "Country", "where": "name =="])
    #expect(other.text("column").flatMap { Int($0) } != nil)
  }

  @Test func `an object has values, what it leads to by name, and counts of what it has`() throws {
    let object = try page.json("object", ["id": "Country/p1"])
    #expect(object.text("label") == "France")
    #expect(object.texts("values", "name") == ["code", "name", "population"])
    #expect(object.text("values.2.value") == "66000000")
    #expect(object.texts("toOne", "name") == ["continent", "capital"])
    #expect(object.text("toOne.1.target.label") == "Paris")
    #expect(object.texts("toMany", "name") == ["cities", "neighbours"])
    #expect(object.texts("toMany", "count") == ["2", "2"])
    let cities = try page.json(
      "related", ["id": "Country/p1", "name": "cities", "limit": "1", "offset": "1"])
    #expect(cities.texts("rows", "id") == ["City/p2"])
    #expect(cities.text("total") == "2")
    #expect(cities.text("hasMore") == "false")
    let countries = try page.json("related", ["id": "Country/p1", "name": "neighbours"])
    #expect(countries.texts("rows", "label") == ["Germany", "Luxembourg"])
    #expect(countries.texts("rows", "labelName") == ["name", "name"])
  }

  @Test func `what refers to an object is a table of its own`() throws {
    let rows = try page.json(
      "rows", ["entity": "City", "by": "country", "of": "Country/p1", "sort": "-name"])
    #expect(rows.texts("rows", "id") == ["City/p1", "City/p2"])
    let many = try page.json(
      "rows", ["entity": "Country", "by": "neighbours", "of": "Country/p3", "where": "code != 'DE'"])
    #expect(many.texts("rows", "id") == ["Country/p1"])
    #expect(try status("rows", ["entity": "City", "by": "nothing", "of": "Country/p1"]) == 400)
  }

  @Test func `the history, generations and differences are those of the command`() throws {
    #expect(
      world.run("update", "Country", "--where", "code == 'FR'", "--set", "name = 'Gaul'").status == .success)
    #expect(world.run("delete", "City", "--where", "name == 'Lyon'").status == .success)
    let history = try page.json("transactions")
    let numbers = history.texts("transactions", "number")
    #expect(numbers.count == 3)
    #expect(history.texts("transactions", "summary").first?.contains("deleted 1 City") == true)
    #expect(history.text("transactions.0.changes.0.object") == "City/p2")
    #expect(
      try page.json("transactions", ["before": numbers[1]]).texts("transactions", "number") == [numbers[2]])
    #expect(
      try page.json("transactions", ["object": "Country/p1"]).texts("transactions", "number").contains(
        numbers[1]))
    let updated = try #require(Int(numbers[1]))
    #expect(try page.json("generations").text("generations")?.contains("[\(updated), ") == true)
    let differences = try page.json("differences", ["from": "\(updated - 1)", "to": "\(updated)"])
    #expect(differences.text("differences.0.former.name") == "France")
    #expect(differences.text("differences.0.values.name") == "Gaul")
    #expect(try page.json("differences", ["from": "\(updated)", "entity": "Continent"]).text("count") == "0")
  }

  @Test func `of many generations the page gets those around the one that is shown`() throws {
    for number in 1...9 {
      #expect(
        world.run("update", "Country", "--where", "code == 'FR'", "--set", "population = \(number)").status
          == .success)
    }
    let all = try page.json("generations")
    func number(_ place: Int, of generations: JSONPlace) -> UInt64? {
      generations.text("generations.\(place).0").flatMap { UInt64($0) }
    }
    let count = (0...).prefix { number($0, of: all) != nil }.count
    #expect(all.text("before") == "0" && all.text("after") == "0")
    try CommandStore.with(world.path, for: .following, RecordingConsole()) { store in
      var history = HistoryPage(store: BrowsedStore(store, generation: nil))
      history.mostGenerations = 4
      for (place, start) in [(0, 0), (1, 0), (5, 3), (count - 1, count - 4)] {
        let wanted = try #require(number(place, of: all))
        let found = JSONPlace(path: "", value: try history.generations(PageQuery(["at": "\(wanted)"])))
        #expect(found.text("before") == "\(start)" && found.text("after") == "\(count - 4 - start)")
        #expect((0..<4).map { number($0, of: found) } == (start..<start + 4).map { number($0, of: all) })
      }
      let newest = JSONPlace(path: "", value: try history.generations(PageQuery([:])))
      #expect(newest.text("after") == "0" && number(3, of: newest) == number(count - 1, of: all))
    }
  }

  @Test func `differences have all digits of numbers, as texts`() throws {
    for number in ["9007199254740993", "9223372036854775807"] {
      #expect(
        world.run("update", "Country", "--where", "code == 'FR'", "--set", "population = \(number)").status
          == .success)
    }
    let newest = try #require(try page.json("store").text("generation").flatMap { Int($0) })
    let differences = try page.json("differences", ["from": "\(newest - 1)"])
    #expect(differences.text("differences.0.former") == #"{"population": "9007199254740993"}"#)
    #expect(differences.text("differences.0.values") == #"{"population": "9223372036854775807"}"#)
  }

  @Test func `a table of a former generation says what is different today`() throws {
    let before = try #require(try page.json("store").text("generation"))
    #expect(
      world.run("update", "Country", "--where", "code == 'FR'", "--set", "name = 'Gaul'").status == .success)
    #expect(world.run("delete", "Country", "--where", "code == 'PT'").status == .success)
    let rows = try page.json("rows", ["entity": "Country", "at": before, "compare": "1"])
    #expect(rows.text("rows.0.cells.1") == "France")
    #expect(rows.text("present.0.name") == "Gaul")
    #expect(rows.text("present.1") == "{}")
    #expect(rows.text("present.3") == "null")
    #expect(try page.json("object", ["id": "Country/p4", "at": before]).text("label") == "Portugal")
    #expect(try status("object", ["id": "Country/p4"]) == 404)
    let fixed = BrowsedWorld(world.path, generation: UInt64(before))
    #expect(try fixed.json("object", ["id": "Country/p4"]).text("label") == "Portugal")
    #expect(try fixed.json("store").text("isLive") == "false")
    #expect(try fixed.json("store").text("fixed") == before)
  }

  @Test func `what is shown is saved as the command writes it`() throws {
    for format in ["csv", "json"] {
      let (response, bytes) = try page.answer(
        "download", ["entity": "Country", "where": "population > 0", "sort": "-name", "format": format])
      let fetched = world.run(
        "fetch", "Country", "--where", "population > 0", "--sort", "-name", "--format", format)
      #expect(String(decoding: bytes, as: UTF8.self) == fetched.output)
      #expect(response.fields.contains { $0.value == "attachment; filename=\"Country.\(format)\"" })
    }
    #expect(try status("download", ["entity": "Country", "where": "x ==", "format": "csv"]) == 400)
    #expect(try status("download", ["entity": "Country", "format": "table"]) == 400)
  }

  @Test func `the diagram has the places of its entities`() throws {
    #expect(try page.json("diagram").texts("entities", "name") == ["City", "Continent", "Country"])
    let (image, bytes) = try page.answer("diagram.svg")
    #expect(image.type == "image/svg+xml")
    #expect(String(decoding: bytes, as: UTF8.self) == world.run("schema", "--format", "svg").output)
  }

  @Test func `wrong requests are answered by errors`() throws {
    for query in [
      [:], ["entity": "Town"], ["entity": "Country", "offset": "-1"], ["entity": "Country", "limit": "x"],
      ["entity": "Country", "sort": "nothing"], ["entity": "Country", "at": "1e3"],
    ] {
      #expect(try status("rows", query) == 400, "\(query)")
    }
    #expect(try status("rows", ["entity": "Country", "at": "999"]) == 404)
    for id in ["Country/p99", "Country/p0", "Country", "../x", "x-coredata://other/Country/p1", "Country/t1"]
    {
      #expect(try [400, 404].contains(status("object", ["id": id])), "\(id)")
    }
    #expect(try status("value", ["id": "Country/p1", "name": "capital"]) == 400)
    #expect(try status("nothing") == 404)
    try page.open { routes in
      for path in [["x"], ["api"], ["api", "store", "x"], ["", "api"]] as [ArraySlice<String>] {
        #expect(routes.response(path, [:]).status == .notFound, "\(path)")
      }
    }
  }
}
