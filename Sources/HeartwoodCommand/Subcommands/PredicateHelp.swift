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
    """
}
