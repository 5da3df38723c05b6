/// The script of the page, in parts that follow each other.
enum PageScript {
  static let text = [basics, cells, table, condition, object, time, model, page].joined(separator: "\n")
}
