import TestSupport
import Testing

@testable import HeartwoodCommand

@Suite struct `Computed values of an update` {
  private static let document = """
    {"model": {"entities": {"N": {
      "attributes": {
        "i": {"type": "integer16", "optional": true}, "k": {"type": "integer64", "unique": true},
        "d": {"type": "double", "optional": true}, "f": {"type": "float", "optional": true},
        "dec": {"type": "decimal", "optional": true},
        "must": {"type": "string", "default": "m"},
        "home": {"type": "composite", "optional": true, "elements": {"zip": {"type": "string", "optional": true}}}},
      "relationships": {"fans": {"destination": "N", "toMany": true, "inverse": "star"},
        "star": {"destination": "N", "inverse": "fans"}}}}},
     "objects": [{"@id": "N/1", "i": 3, "k": 1, "d": 1e308, "f": 2, "dec": 1.5},
       {"@id": "N/2", "i": 4, "k": 2, "d": "Infinity", "star": {"@ref": "N/1"}}]}
    """

  private let folder: TemporaryFolder
  private var path: String { folder.path("n") }

  init() throws {
    folder = try TemporaryFolder()
    let run = CommandRun("import", path, try folder.file("n.json", Self.document))
    #expect(run.status == .success, "\(run.notes)")
  }

  private func update(_ set: String, where condition: String = "k == 1", _ options: String...) -> CommandRun {
    CommandRun(["update", path, "N", "--set", set, "--where", condition] + options)
  }

  /// Each is what is set, and a part of the message.
  private static let refused = [
    (
      "i = i + 0.5",
      "N.i holds integer16, which 3.5 does not fit, the new value of N p1: round it, as with trunc"
    ),
    ("i = dec + 0", "N.i holds integer16, which 1.5 does not fit, the new value of N p1: round it"),
    ("i = i * 20000", "N.i holds integer16, which 60000 does not fit, the new value of N p1\n"),
    ("i = sqrt(2)", "round it"),
    ("i = 1.00000000000000000000000000000000000000000000001", "does not have this number"),
    ("i = 1.5", "does not have this number"),
    ("dec = 1e400", "'1e400' is a larger number than any attribute has"),
    ("d = 1e400", "at column 1: '1e400' is a larger number"),
    ("d = k + 1e400", "at column 5: '1e400' is a larger number"),
    ("d = 0 - 1e400", "is a larger number"), ("d = CAST(\"1e400\", \"NSNumber\")", "cannot be cast to"),
    ("i = {1, 2}", "N.i cannot be set"),
    ("d = d * 10", "the new value of N.d has no result for N p1"),
    ("d = d * 10 - d * 10", "the new value of N.d has no result for N p1"),
    ("f = k * 1e39", "N.f holds float, which 1e+39 does not fit, the new value of N p1\n"),
    ("k = 2**63", "N.k cannot be set: 2 ** 63 has no result for any object"),
    ("i = 1, i = 2", "--set has i twice"), ("#i = 1, i = 2", "--set has i twice"),
    ("home = nil", "N.home cannot be set: it is composite: set its elements, such as home.zip"),
    ("star = nil", "N.star cannot be set: only attributes can be set to an expression"),
    ("nonsense = 3", "nonsense"), ("must = nil", "N.must of N/p1 needs a value"), ("k = 2", "unique"),
    ("must = k", "N.must cannot be set"),
  ]

  @Test(arguments: refused, [[], ["--dry-run"]])
  func `a value that an attribute cannot hold is refused, also by a dry run`(
    set: (text: String, message: String), options: [String]
  ) {
    let before = CommandRun("export", path).output
    let run = CommandRun(["update", path, "N", "--set", set.text, "--where", "k == 1"] + options)
    #expect(run.status != .success && run.notes.contains(set.message), "\(set.text): \(run)")
    #expect(CommandRun("export", path).output == before)
  }

  @Test func `a value that an attribute can hold is set, and a dry run only counts`() {
    let set = "i = trunc(i + 0.5), dec = d / 1e300 + 0.25, f = dec * 0.1, k = 10.0 + 1"
    let dry = update(set, "--dry-run")
    #expect(dry.output == "would update 1 object\n", "\(dry.notes)")
    #expect(CommandRun("count", path, "N", "--where", "k == 11").output == "0\n")
    #expect(update(set).output == "updated 1 object\n")
    let rows = CommandRun("fetch", path, "N", "--columns", "i,k,f", "--where", "k == 11", "--format", "csv")
    #expect(rows.output == "i,k,f\n3,11,0.15\n", "\(rows)")
    // An infinity that was there is no overflow.
    #expect(update("f = d", where: "k == 2").status == .success)
    #expect(CommandRun("verify", path).status == .success)
  }

  @Test func `an overflow is no value, in columns, conditions and sums`() {
    let columns = ["--columns", "k,x=d*10,y=d+1,z=0-d*10", "--sort", "k", "--format", "csv"]
    let rows = CommandRun(["fetch", path, "N"] + columns)
    #expect(rows.output == "k,x,y,z\n1,,1e+308,\n2,Infinity,Infinity,-Infinity\n", "\(rows)")
    #expect(CommandRun("count", path, "N", "--where", "d * 10 == nil").output == "1\n")
    #expect(update("d = 1.5e308", where: "TRUEPREDICATE").status == .success)
    let sum = CommandRun("fetch", path, "N", "--columns", "s=@sum.d,n=@count", "--format", "csv")
    #expect(sum.output == "s,n\n,2\n", "\(sum)")
  }

  @Test func `the whole of a composite attribute is refused with what to use in its place`() {
    func notes(_ words: String...) -> String { CommandRun([words[0], path, "N"] + words.dropFirst()).notes }
    #expect(
      notes("fetch", "--group-by", "home")
        == "heartwood: N.home is a composite value: group by its elements\n")
    for condition in [
      #"CAST(home, "NSString") == "x""#, #"CAST(fans.home, "NSString") != nil"#,
      "fans.@distinctUnionOfObjects.home.@count > 0",
    ] {
      #expect(notes("count", "--where", condition).contains("is a composite value: use one of its elements"))
    }
    #expect(notes("count", "--where", "ANY fans.home == nil") == "")
  }

  @Test func `objects are sorted by identifier, and not by that of others`() {
    for sort in ["@id", "-@id"] {
      let run = CommandRun("fetch", path, "N", "--columns", "k", "--sort", sort, "--format", "csv")
      #expect(run.output == (sort == "@id" ? "k\n1\n2\n" : "k\n2\n1\n"), "\(run)")
    }
    let others = CommandRun("fetch", path, "N", "--sort", "star.@id")
    #expect(others.status == .usage && others.notes.contains("N.star is a relationship"), "\(others.notes)")
  }
}
