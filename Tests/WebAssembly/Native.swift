@main
struct Native {
  static func main() {
    var vectors = Vectors()
    vectors.run()
    print(String(decoding: vectors.text, as: UTF8.self), terminator: "")
  }
}
