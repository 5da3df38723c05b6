/// The SQL of the rows about values, the same for SQLite by hand and for GRDB tuned.
enum ValueQueries {
  static let averages = "SELECT age, AVG(score) FROM person GROUP BY age ORDER BY age"
  static let two = "SELECT name, age FROM person"
  static let runningAges =
    "SELECT number, SUM(age) OVER (PARTITION BY team ORDER BY joined) FROM person ORDER BY joined"
  static let least = "SELECT MIN(joined) FROM person"
  static let greatest = "SELECT MAX(joined) FROM person"
  static let raise = "UPDATE person SET score = score * 1.1 WHERE team = ?"
  static let delete = "DELETE FROM person WHERE team = ?"

  /// - Parameter company: The column with the company's identifier.
  static func agesByCity(_ company: String) -> String {
    """
    SELECT city, COUNT(*), SUM(age) FROM person JOIN company ON \(company) = company.id WHERE age > 30
    GROUP BY city ORDER BY SUM(age) DESC, city LIMIT 20
    """
  }

  /// - Parameter company: The column with the company's identifier.
  static func firstPage(_ company: String) -> String {
    "SELECT id, number, email, name, age, score, joined, team, \(company) FROM person ORDER BY name LIMIT 50"
  }
}
