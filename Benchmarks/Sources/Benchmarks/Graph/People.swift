import BenchmarkHarness

/// The objects that every peer gets: companies and their persons, a hundred persons each.
struct People {
  struct CompanyData {
    let number: Int64
    let name: String
    let city: String
  }

  struct PersonData {
    let number: Int64
    let email: String
    /// One of 50,000: persons share names.
    let name: String
    /// 18 to 67.
    let age: Int64
    let score: Double
    /// Seconds since 1970, different for each person.
    let joined: Int64
    /// 0 to 9: a tenth of the persons each.
    let team: Int64
    /// The place of the person's company in `companies`.
    let company: Int
  }

  let companies: [CompanyData]
  let persons: [PersonData]
  /// A tenth as many again, who are saved a hundred at a time.
  let late: [PersonData]

  init(objects: Int) {
    var random = SplitMix64(seed: 42)
    let companyCount = max(10, objects / 100)
    companies = (0..<companyCount).map { number in
      CompanyData(number: Int64(number), name: "Company \(number)", city: Self.word(&random).capitalized)
    }
    let first = (0..<200).map { _ in Self.word(&random).capitalized }
    let last = (0..<250).map { _ in Self.word(&random).capitalized }
    let days = Array(0..<objects + objects / 10).shuffled(using: &random)
    let all = days.indices.map { number in
      PersonData(
        number: Int64(number), email: Self.digits(UInt64(number)) + "@example.org",
        name: "\(first[random.next(below: first.count)]) \(last[random.next(below: last.count)])",
        age: Int64(random.next(below: 50)) + 18, score: Double(random.next(below: 10_000)) / 100,
        joined: Int64(days[number]) * 86_400, team: Int64(number % 10),
        company: random.next(below: companyCount))
    }
    persons = Array(all[..<objects])
    late = Array(all[objects...])
  }

  private static func word(_ random: inout SplitMix64) -> String {
    let letters = (0..<(4 + random.next(below: 6))).map { _ in UInt8(97 + random.next(below: 26)) }
    return String(decoding: letters, as: UTF8.self)
  }

  /// Ten decimal digits without an order, different for different numbers: the factor has no divisor in common with the modulus.
  private static func digits(_ number: UInt64) -> String {
    let text = String(number * 7_046_029_253 % 10_000_000_000)
    return String(repeating: "0", count: 10 - text.count) + text
  }
}

/// The questions of one round.
struct GraphWork {
  let people: People
  /// Seconds that rows that read go on for at least.
  let least: Double
  let emails: [String]
  /// Places in `people.persons`.
  let loads: [Int]
  /// Ranges of ten years.
  let ages: [Range<Int64>]
  /// Lower bounds of the day of joining, each asked with a limit.
  let days: [Int64]
  let deletedCompanies: [Int64]

  init(_ people: People, round: Int, least: Double) {
    var random = SplitMix64(seed: 2000 + UInt64(round))
    let count = people.persons.count
    let wanted = max(1, count / 10)
    self.people = people
    self.least = least
    emails = (0..<wanted).map { _ in people.persons[random.next(below: count)].email }
    loads = Array((0..<count).shuffled(using: &random).prefix(wanted))
    ages = (0..<10).map { _ in
      let youngest = Int64(18 + random.next(below: 40))
      return youngest..<youngest + 10
    }
    days = (0..<100).map { _ in Int64(random.next(below: count)) * 86_400 }
    deletedCompanies = people.companies.map(\.number).shuffled(using: &random)
      .prefix(people.companies.count / 10).sorted()
  }
}
