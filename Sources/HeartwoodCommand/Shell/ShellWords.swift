/// The words of a line, as a shell splits them: by spaces, apart from those in quotation marks and after a backslash.
struct ShellWords: Equatable {
  struct Word: Equatable {
    var text: String
    /// Where the word begins in the line, in characters.
    let start: Int
  }

  private(set) var words: [Word] = []
  /// The quotation mark that has no end; nil if all have one.
  private(set) var openQuote: Character?
  /// Whether the line ends inside a word, which can still grow.
  private(set) var endsInWord = false

  init(_ line: [Character]) {
    var word: Word?
    var isEscaped = false
    for (place, character) in line.enumerated() {
      if isEscaped {
        word?.text.append(character)
        isEscaped = false
      } else if let quote = openQuote {
        if character == quote {
          openQuote = nil
        } else if character == "\\", quote == "\"" {
          isEscaped = true
        } else {
          word?.text.append(character)
        }
      } else if character.isWhitespace {
        if let ended = word { words.append(ended) }
        word = nil
      } else {
        if word == nil { word = Word(text: "", start: place) }
        switch character {
        case "'", "\"": openQuote = character
        case "\\": isEscaped = true
        default: word?.text.append(character)
        }
      }
    }
    if let word {
      words.append(word)
      endsInWord = true
    }
  }
}
