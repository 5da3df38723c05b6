/// The description of the predicate language in the help texts.
enum PredicateHelp {
  static let text = """
    predicates
      population > 1000000 AND name BEGINSWITH "S"      == != < <= > >= IN BETWEEN, joined by AND OR NOT
      name CONTAINS[cd] "land"                          also BEGINSWITH ENDSWITH LIKE MATCHES; [c] case, [d] accents
      code IN {"FR", "DE"}, area BETWEEN {1, 100}       lists in braces; BETWEEN takes both ends
      capital.name == "Paris"                           through to-one relationships with dots
      ANY neighbours.name == "Spain"                    also ALL, NONE, over a to-many relationship
      cities.@count > 3, demonym == nil                 how many there are; no value
      name LIKE "a*", name LIKE "?n*"                   * for any text and ? for one character; % and _ are themselves
    """

  /// Columns of groups and windows, with their meanings.
  static let rows = [
    ("people=@sum.population", "also @min @max @avg @median @mode @stddev @percentile(0.9)"),
    ("@count, @count DISTINCT.name", "how many there are; each value once"),
    ("@sum.area FILTER (population > 1000)", "of some of the group's objects"),
    ("RANK() OVER (PARTITION BY code ORDER BY area DESC)", "also ROW_NUMBER() DENSE_RANK() NTILE(4)"),
    (
      "area - LAG(area) OVER (ORDER BY area)",
      "of the row before; also LAG(area, 2) LEAD FIRST_VALUE LAST_VALUE"
    ),
    ("SUM(area) OVER (ORDER BY name)", "of the rows up to this one; without ORDER BY, of all"),
    ("AVG(area) OVER (ORDER BY name ROWS 2 PRECEDING)", "or ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING"),
  ]

  static let rowText = "groups and windows\n" + HelpText.columns(rows)

  /// Says of a predicate what other languages write in the same way and mean otherwise.
  static func noteHabits(_ predicate: String?, _ console: any Console) {
    // A pattern is in quotes.
    guard let predicate,
      let pattern = try? /(?i)\bLIKE(?:\[[a-z]+\])?\s*(["'])(?<pattern>.*?)\1/.firstMatch(in: predicate)
    else { return }
    let text = String(pattern.pattern)
    guard text.contains("%"), !text.contains(where: { "*?".contains($0) }) else { return }
    console.writeNote(
      "heartwood: note: LIKE \"\(text)\" means this text itself: the wildcards are * and ?, so \"\(text.replacing("%", with: "*"))\" may be meant\n"
    )
  }
}
