import Foundation
import Heartwood
import TestSupport
import Testing

@testable import HeartwoodCommand

@Test func `one object is shown with all its properties and related objects`() throws {
  let world = try SmallWorld()
  let run = world.run("show", "Country", "--where", #"code == "FR""#)
  #expect(run.status == .success)
  let lines = run.output.split(separator: "\n").map(String.init)
  #expect(lines[0].hasPrefix("Country/p1  x-coredata://"))
  #expect(
    lines.dropFirst().joined(separator: "\n") == """
        code        FR
        name        France
        population  66000000
        continent   -> Europe  Continent/p1
        capital     -> Paris  City/p1
        cities      ->> 2
                        Paris  City/p1
                        Lyon  City/p2
        neighbours  ->> 2
                        Germany  Country/p2
                        Luxembourg  Country/p3
      """)
}

@Test func `short names and URIs both name an object`() throws {
  let world = try SmallWorld()
  let short = world.run("show", "City/p2")
  #expect(short.output.contains("Lyon"))
  let uri = try #require(
    short.output.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("x-coredata:") })
  #expect(world.run("show", String(uri)) == short)
}

@Test func `a long list of related objects is cut`() throws {
  let run = try SmallWorld().run("show", "Country/p1", "--limit", "1")
  #expect(run.output.contains("and 1 more (--limit 0 lists all)"))
  #expect(!run.output.contains("Lyon"))
}

@Test func `an object is shown as JSON that names others by reference`() throws {
  let run = try SmallWorld().run("show", "Country/p4", "--format", "json")
  let value = try ImportDocument.parse(Array(run.output.utf8))
  guard case .object(let object) = value else { throw CommandFailure.data("no object") }
  #expect(object["@id"] == .string("Country/p4"))
  #expect(object["population"] == .null)
  #expect(object["capital"] == .null)
  #expect(object["cities"] == .array([]))
  #expect(object["continent"] == .object(JSONObject([("@ref", .string("Continent/p1"))])))
}

@Test(arguments: [
  (["Country/p99"], ExitCode.noInput, "there is no object Country/p99"),
  (["Country/x1"], .usage, #""Country/x1" is no object; write Entity/p1, or a whole URI"#),
  (["Planet/p1"], .usage, #"the store has no entity "Planet""#),
  (
    ["x-coredata://00000000-0000-0000-0000-000000000000/Country/p1"], .usage, "is no object of this store"
  ),
  (["Country/p1", "--where", "TRUEPREDICATE"], .usage, "--where goes with an entity"),
  (["Country", "--where", "name == \"Utopia\""], .noInput, "no Country matches"),
  (["Country"], .usage, "4 objects of Country match, and show shows one"),
])
func `an error names a missing object`(words: [String], code: ExitCode, message: String) throws {
  let world = try SmallWorld()
  let run = CommandRun(["show", world.path] + words)
  #expect(run.status == code)
  #expect(run.notes.contains(message))
  #expect(run.notes.split(separator: "\n").count == 1)
}

@Test func `objects are counted, with a predicate and without`() throws {
  let world = try SmallWorld()
  #expect(world.run("count", "Country").output == "4\n")
  #expect(world.run("count", "Country", "--where", #"ANY neighbours.code == "FR""#).output == "2\n")
  #expect(world.run("count", "Planet").status == .usage)
}

@Test func `a delete reports what its rules did`() throws {
  let world = try SmallWorld()
  let dry = world.run("delete", "Country", "--where", #"code == "FR""#, "--dry-run")
  #expect(dry.status == .success)
  #expect(dry.output.hasPrefix("would delete 1 Country; by cascade 2 City"))
  #expect(world.run("count", "Country").output == "4\n")
  let run = world.run("delete", "Country", "--where", #"code == "FR""#, "--author", "me")
  #expect(run.status == .success)
  #expect(run.output.hasPrefix("deleted 1 Country; by cascade 2 City"))
  #expect(world.run("count", "City").output == "1\n")
  #expect(world.run("count", "Country", "--where", "neighbours.@count == 1").output == "2\n")
  #expect(world.run("verify").status == .success)
  #expect(world.run("delete", "City/p3").output.hasPrefix("deleted 1 City"))
}

@Test func `a rule that denies a delete denies it in the dry run, too`() throws {
  let world = try SmallWorld()
  for words in [["--dry-run"], []] {
    let run = CommandRun(["delete", world.path, "Continent", "--where", #"name == "Europe""#] + words)
    #expect(run.status == .dataError)
    #expect(run.output == "")
    #expect(run.notes.contains("Continent.countries"))
    #expect(run.notes.split(separator: "\n").count == 1)
  }
  #expect(world.run("count", "Continent").output == "2\n")
  #expect(
    world.run("delete", "Continent", "--where", #"name == "Nowhere""#).output == "deleted 1 Continent\n")
}

@Test func `a delete without a selection of objects is refused`() throws {
  let world = try SmallWorld()
  let run = world.run("delete", "City")
  #expect(run.status == .usage)
  #expect(
    run.notes == "heartwood: delete needs --where with an entity; --where TRUEPREDICATE means every City\n")
  #expect(
    world.run("delete", "City", "--where", "FALSEPREDICATE").output == "deleted nothing: no object matches\n")
  #expect(world.run("delete", "City", "--where", "TRUEPREDICATE").output.hasPrefix("deleted 3 City"))
}

/// Orders that must have a customer, and customers that must have a depot.
private func makeOrders() throws -> (folder: TemporaryFolder, path: String) {
  let folder = try TemporaryFolder()
  let file = folder.url.appendingPathComponent("orders.json")
  try Data(
    """
    {"model": {"entities": {
      "Customer": {"attributes": {"name": {"type": "string"}, "no": {"type": "integer64"}},
        "relationships": {"orders": {"destination": "Order", "toMany": true, "inverse": "customer", "deleteRule": "nullify"}}},
      "Order": {"attributes": {"number": {"type": "integer64"}},
        "relationships": {"customer": {"destination": "Customer", "inverse": "orders", "optional": false}}}}},
     "objects": [{"@id": "Customer/a", "name": "Ada", "no": 5}, {"@id": "Customer/b", "name": "Bea", "no": 6},
       {"@id": "Order/1", "number": 1, "customer": {"@ref": "Customer/a"}},
       {"@id": "Order/2", "number": 2, "customer": {"@ref": "Customer/a"}}]}
    """.utf8
  ).write(to: file)
  let path = folder.url.appendingPathComponent("orders.heartwood").path
  #expect(CommandRun(["import", path, file.path]).status == .success)
  return (folder, path)
}

@Test func `a delete that takes mandatory destinations away is refused by the dry run, too`() throws {
  let orders = try makeOrders()
  let words = ["delete", orders.path, "Customer", "--where", "name == 'Ada'"]
  let dry = CommandRun(words + ["--dry-run"])
  let run = CommandRun(words)
  #expect(dry.status == run.status && run.status == .dataError)
  #expect(dry.output == "" && dry.notes == run.notes && run.notes.contains("Order.customer"))
  #expect(CommandRun(["count", orders.path, "Customer"]).output == "2\n")
  #expect(
    CommandRun(["delete", orders.path, "Customer", "--where", "name == 'Bea'", "--dry-run"]).status
      == .success)
}

@Test func `identifiers, entities and names that are words of predicates stand beside computed columns`()
  throws
{
  let orders = try makeOrders()
  func rows(_ entity: String, _ words: String...) -> String {
    let run = CommandRun(["fetch", orders.path, entity, "--format", "csv"] + words)
    #expect(run.status == .success, "\(run.notes)")
    return run.output
  }
  #expect(
    rows("Customer", "--columns", "@id,upper=uppercase(name),no", "--sort", "no")
      == "@id,upper,no\nCustomer/p1,ADA,5\nCustomer/p2,BEA,6\n")
  #expect(
    rows("Order", "--columns", "@entity,customer.@id,double=number * 2", "--sort", "number")
      == "@entity,customer.@id,double\nOrder,Customer/p1,2\nOrder,Customer/p1,4\n")
  #expect(
    rows("Order", "--columns", "@entity,@count", "--group-by", "@entity") == "@entity,@count\nOrder,2\n")
  #expect(
    rows("Order", "--columns", "customer.@id,@count", "--group-by", "customer.@id")
      == "customer.@id,@count\nCustomer/p1,2\n")
  #expect(
    rows("Customer", "--columns", "no,@count", "--group-by", "no", "--sort", "no") == "no,@count\n5,1\n6,1\n")
  #expect(rows("Customer", "--columns", "#no", "--sort", "#no") == "#no\n5\n6\n")
  #expect(
    CommandRun(["fetch", orders.path, "Customer", "--columns", "@id,n=uppercase(name)", "--format", "json"])
      .output.contains("\"@id\": \"Customer/p1\""))
}
