import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

@Test func `objects come as a table with columns through relationships`() throws {
  let run = try SmallWorld().run(
    "fetch", "Country", "--where", "population > 1000000", "--sort", "-population", "--columns",
    "name,population,capital.name,cities.name,neighbours.@count")
  #expect(run.status == .success)
  #expect(
    run.output == """
      name     population  capital.name  cities.name  neighbours.@count
      -------  ----------  ------------  -----------  -----------------
      Germany    80000000  Berlin        Berlin                       2
      France     66000000  Paris         Paris, Lyon                  2
      (2 objects)

      """)
}

@Test func `without columns there are the short name, the attributes and the to-one relationships`() throws {
  let world = try SmallWorld()
  #expect(
    world.run("fetch", "Country", "--where", #"code == "FR""#, "--format", "csv").output == """
      @id,code,name,population,continent,capital
      Country/p1,FR,France,66000000,Continent/p1,City/p1

      """)
  #expect(
    world.run("fetch", "City", "--limit", "1", "--format", "json").output == """
      [
      {"@id": "City/p1", "name": "Paris", "country": {"@ref": "Country/p1"}, "capitalOf": {"@ref": "Country/p1"}}
      ]

      """)
}

@Test
func
  `JSON has the to-many relationships, and objects exported from all entities are imported with all links`()
  throws
{
  let world = try SmallWorld()
  let exports = ["Continent", "Country", "City"].map { world.run("fetch", $0, "--format", "json").output }
  #expect(
    exports[0].contains(
      #""countries": [{"@ref": "Country/p1"}, {"@ref": "Country/p2"}, {"@ref": "Country/p3"}, {"@ref": "Country/p4"}]"#
    ))
  #expect(exports[0].contains(#""countries": []"#))
  let objects = exports.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "[]\n")) }
  let file = try world.directory.file(
    "again.json", #"{"model": \#(SmallWorld.model), "objects": [\#(objects.joined(separator: ","))]}"#)
  let again = world.directory.path("again.heartwood")
  let imported = CommandRun("import", again, file)
  #expect(imported.output.hasPrefix("imported 9 objects and 15 links"), "\(imported.notes)")
  for (entity, export) in zip(["Continent", "Country", "City"], exports) {
    #expect(CommandRun("fetch", again, entity, "--format", "json").output == export)
  }
}

@Test func `JSON of one object can be imported`() throws {
  let world = try SmallWorld()
  let shown = world.run("show", "Continent/p2", "--format", "json").output
  #expect(shown.contains("@uri"))
  let file = try world.directory.file("one.json", #"{"model": \#(SmallWorld.model), "objects": [\#(shown)]}"#)
  let imported = CommandRun("import", world.directory.path("one.heartwood"), file)
  #expect(imported.status == .success, "\(imported.notes)")
}

@Test func `limit and offset choose a part, in either direction`() throws {
  let world = try SmallWorld()
  func codes(_ words: String...) -> String {
    CommandRun(["fetch", world.path, "Country", "--columns", "code", "--format", "csv"] + words).output
      .split(separator: "\n").dropFirst().joined(separator: " ")
  }
  #expect(codes("--sort", "name") == "FR DE LU PT")
  #expect(codes("--sort", "-name", "--limit", "2") == "PT LU")
  #expect(codes("--sort", "name", "--offset", "1", "--limit", "2") == "DE LU")
  #expect(codes("--sort", "population,name") == "PT LU FR DE")
  #expect(codes("--sort", "-length(name),name") == "LU PT DE FR")
  #expect(codes("--sort", "add(population, 0), name") == "PT LU FR DE")
  #expect(codes("--sort", "cities.@count,TERNARY(name == 'a,(b', 1, 2),-name", "--limit", "1") != "")
  #expect(codes("--sort", "name", "--offset", "9") == "")
  #expect(codes("--sort", "name", "--limit", "0") == "")
  #expect(codes("--sort", "-continent.name,-name", "--limit", "1") == "PT")
}

@Test func `a fetch without objects is still a result`() throws {
  let world = try SmallWorld()
  let none = "FALSEPREDICATE"
  #expect(
    world.run("fetch", "City", "--where", none, "--columns", "name").output == "name\n----\n(0 objects)\n")
  #expect(world.run("fetch", "City", "--where", none, "--format", "json").output == "[]\n")
  #expect(
    world.run("fetch", "City", "--where", none, "--columns", "name", "--format", "csv").output == "name\n")
}

@Test func `the plan is printed instead of the objects`() throws {
  let run = try SmallWorld().run("fetch", "Country", "--where", #"code == "FR""#, "--plan")
  #expect(run.status == .success)
  #expect(run.output.contains("Country"))
  #expect(run.output.contains("code"))
  #expect(!run.output.contains("France"))
}

@Test func `a plan is printed with expected rows, and after it was executed with real ones and times`() throws
{
  let world = try SmallWorld()
  let words = [
    "Country", "--where", "population > 1000000 AND name != 'x'", "--sort", "name", "--limit", "1",
  ]
  let plan = world.run("fetch", words: words + ["--plan"])
  #expect(plan.status == .success, "\(plan.notes)")
  #expect(plan.output.contains("expected"))
  #expect(!plan.output.contains("found"))
  let analysis = world.run("fetch", words: words + ["--plan", "--analyze"])
  #expect(analysis.status == .success, "\(analysis.notes)")
  #expect(analysis.output.contains("limit: 1 (about 1 row expected, 1 row found)"), "\(analysis.output)")
  #expect(analysis.output.contains("µs") || analysis.output.contains(" ms"))
  #expect(!analysis.output.contains("Germany"))
}

@Test func `an old generation shows its earlier objects`() throws {
  let world = try SmallWorld()
  let before = try #require(world.newestGeneration)
  #expect(world.run("delete", "Country", "--where", #"code == "FR""#).status == .success)
  #expect(world.run("count", "Country").output == "3\n")
  #expect(world.run("count", "Country", "--generation", before).output == "4\n")
  let old = world.run(
    "fetch", "Country", "--where", #"code == "FR""#, "--generation", before, "--columns",
    "name,cities.@count",
    "--format", "csv")
  #expect(old.output == "name,cities.@count\nFrance,2\n")
  let shown = world.run("show", "Country", "--where", #"code == "FR""#, "--generation", before)
  #expect(shown.output.contains("Lyon"))
}

@Test func `a missing generation is reported in one line with exit status 66`() throws {
  let run = try SmallWorld().run("count", "Country", "--generation", "1000")
  #expect(run.status == .noInput)
  #expect(run.notes.contains("1000"))
  #expect(run.notes.split(separator: "\n").count == 1)
}

@Test(arguments: ["2020-01-01", "2020-01-01T00:00:00Z"])
func `a date before the store was made is named as it was written`(date: String) throws {
  let world = try SmallWorld()
  let start = "\(world.path): the store has no generation of 2020-01-01T00:00:00Z or before it any more"
  let runs = [
    world.run("count", "Country", "--as-of", date), CommandRun("kv", "list", world.path, "--as-of", date),
  ]
  for run in runs {
    #expect(run.status == .noInput)
    #expect(run.notes.hasPrefix("heartwood: \(start)"), "\(run.notes)")
  }
}

@Test(arguments: [
  (["Contry"], #"the store has no entity "Contry", did you mean Country?"#),
  (["Planet"], #"the store has no entity "Planet"; there are City, Continent, Country"#),
  (["Country", "--columns", "nam"], #"the column "nam": Country has no property "nam", did you mean name?"#),
  (
    ["Country", "--columns", "capital.size"],
    #"the column "capital.size": City has no property "size"; there are capitalOf, country, name"#
  ),
  (
    ["Country", "--columns", "name.first"],
    #"the column "name.first" goes on behind an attribute, at "first""#
  ),
  (
    ["Country", "--columns", "name.@count"],
    #"the column "name.@count": @count needs a to-many relationship, and name is none"#
  ),
  (["Country", "--columns", "name,"], #"--columns has an empty name in "name,""#),
  (["Country", "--limit", "-1"], #"--limit needs a whole number, 0 or more, not "-1""#),
  (["Country", "--format", "xml"], #"--format is one of table, json, csv, not "xml""#),
])
func `an error names the wrong word`(words: [String], message: String) throws {
  let world = try SmallWorld()
  let run = CommandRun(["fetch", world.path] + words)
  #expect(run.status == .usage)
  #expect(run.output == "")
  #expect(run.notes == "heartwood: \(message)\n")
}

@Test(arguments: [
  ["--where", "population >"], ["--where", "size > 5"], ["--where", #"population > "many""#],
  ["--where", "name == %@"], ["--where", "(name == nil"], ["--where", ""], ["--sort", "size"],
  ["--sort", "cities"], ["--sort", "lowercase("], ["--sort", "name + 1"],
])
func `an invalid predicate or sorting is reported in one line with exit status 64`(words: [String]) throws {
  let world = try SmallWorld()
  for subcommand in [["fetch", world.path, "Country"]] {
    let run = CommandRun(subcommand + words)
    #expect(run.status == .usage)
    #expect(run.output == "")
    #expect(run.notes.hasPrefix("heartwood: "))
    #expect(run.notes.split(separator: "\n").count == 1)
  }
}

@Test func `groups come as rows with their aggregates, selected and ordered`() throws {
  let world = try SmallWorld()
  let run = world.run(
    "fetch", "Country", "--columns", "continent.name,people=@sum.population,countries=@count", "--group-by",
    "continent.name", "--sort", "-people", "--having", "people > 0")
  #expect(run.status == .success, "\(run.notes)")
  #expect(run.output.hasPrefix("continent.name"))
  #expect(run.output.hasSuffix("rows)\n") || run.output.hasSuffix("row)\n"))
  let total = world.run("fetch", "Country", "--columns", "@max.population,@count", "--format", "csv")
  #expect(total.output == "@max.population,@count\n80000000,4\n", "\(total.notes)")
  let names = world.run(
    "fetch", "City", "--columns", "country", "--distinct", "--where", "country.code == 'FR'", "--format",
    "csv")
  #expect(names.output == "country\nCountry/p1\n", "\(names.notes)")
}

@Test func `windows are columns, orders and conditions, over objects and over groups`() throws {
  let world = try SmallWorld()
  func rows(_ words: String...) -> String {
    let run = world.run("fetch", words: ["Country"] + words + ["--format", "csv"])
    return run.notes + run.output.split(separator: "\n").dropFirst().joined(separator: " ")
  }
  let ranked = "code,place=RANK() OVER (PARTITION BY continent.name ORDER BY population DESC)"
  #expect(rows("--columns", ranked, "--sort", "place,code") == "DE,1 FR,2 LU,3 PT,4")
  #expect(rows("--columns", ranked, "--having", "place < 3", "--sort", "-place") == "FR,2 DE,1")
  #expect(
    rows("--columns", "code", "--having", "ROW_NUMBER() OVER (ORDER BY code DESC) == 1") == "PT")
  #expect(
    rows(
      "--columns", "code,before=LAG(code) OVER (ORDER BY code),so=COUNT() OVER (ORDER BY code)", "--sort",
      "code")
      == "DE,,1 FR,DE,2 LU,FR,3 PT,LU,4")
  #expect(
    rows(
      "--columns", "capital,n=@count,all=SUM(@count) OVER ()", "--group-by", "capital", "--having",
      "ROW_NUMBER() OVER (ORDER BY capital.name DESC) == 1") != "")
  let plan = world.run("fetch", "Country", "--columns", ranked, "--plan")
  #expect(plan.output.contains("window: one value of each row"), "\(plan.output)")
  let table = world.run("fetch", "Country", "--columns", "RANK() OVER (ORDER BY code)", "--limit", "1")
  #expect(table.output.hasPrefix("RANK() OVER (ORDER BY code)\n"), "\(table.output)")
}

@Test func `the help of fetch has groups and windows on one screen`() {
  let help = CommandRun("fetch", "--help").output
  let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
  #expect(lines.count <= 60, "\(lines.count) lines")
  for word in ["--group-by", "@sum.population", "FILTER (", "RANK() OVER (PARTITION BY", "ROWS 2 PRECEDING"] {
    #expect(help.contains(word), "\(word)")
  }
}

@Test(arguments: PredicateHelp.rows.map(\.0)) func `each column in the help of fetch can be fetched`(
  columns: String
) throws {
  let columns = columns.replacing("area", with: "population")
  let run = try SmallWorld().run(
    "fetch", "Country", "--columns", columns, "--group-by", "code,name,population,continent")
  #expect(run.status == .success, "\(run.notes)")
}

@Test func `groups have a plan, too`() throws {
  let world = try SmallWorld()
  let words = [
    "Country", "--columns", "continent.name,people=@sum.population", "--group-by", "continent.name",
  ]
  let plan = world.run("fetch", words: words + ["--plan"])
  #expect(plan.status == .success, "\(plan.notes)")
  #expect(plan.output.contains("scan: Country (4 rows expected)"), "\(plan.output)")
  #expect(plan.output.contains("group: by"))
  let analysis = world.run("fetch", words: words + ["--analyze"])
  #expect(analysis.output.contains("4 rows found"), "\(analysis.output)")
  let ends = world.run("fetch", words: ["Country", "--columns", "most=@max.population", "--plan"])
  #expect(ends.output.contains("ends: last of Country.population != nil"), "\(ends.output)")
}

@Test(arguments: [
  (["--columns", "x=@sum"], "needs a value after it"),
  (["--columns", "code,@count", "--group-by", "name"], "group by it"),
  (["--having", "@count > 1"], "needs --columns"),
  (["--columns", "@count", "--having", "@count >"], "column"),
  (["--columns", "name,name", "--distinct"], "--columns has two columns of one name, such as name"),
  (["--columns", "name", "--having", "@count > 1"], "--having selects groups, but --group-by is missing"),
  (["--columns", "name,continent.@id", "--group-by", "name"], "continent.@id has a value for each object"),
  (["--columns", "neighbours,@count+1"], "such as their @count or @sum\n"),
  (["--columns", "code,RANK() OVER ()", "--group-by", "name"], "code has a value for each object"),
  (
    ["--columns", "place=RANK()"],
    "the column \"place=RANK()\": it is wrong at column 7: there should be OVER"
  ),
  (["--columns", "code,x=LAG(neighbours) OVER (ORDER BY code)"], "several values"),
  (
    ["--columns", "x=SUM(population) OVER (ROWS 1 PRECEDING)"], "needs an order: give it one with ORDER BY\n"
  ),
  (["--where", "RANK() OVER (ORDER BY code) == 1"], "is computed from several rows"),
  (["--where", "code == $code"], "$code has no value: name it in a SUBQUERY around it"),
])
func `wrong columns and groups are usage errors`(_ arguments: [String], _ message: String) throws {
  let run = try SmallWorld().run("fetch", words: ["Country"] + arguments)
  #expect(run.status == .usage)
  #expect(run.notes.contains(message), "\(run.notes)")
}
