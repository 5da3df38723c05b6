import Foundation
import HeartwoodEngine
import TestSupport
import Testing

/// Checks that stores of all past formats can still be read.
@Suite struct `Golden stores` {
  @Test(arguments: try GoldenStore.all())
  func `golden stores show their original contents`(golden: GoldenStore) throws {
    let expected = try golden.expected()
    try golden.withCopy { path in
      let isGraph = expected.contains("  a graph, ")
      let reading = StoreDescription(path, .readOnly, isGraph: isGraph)
      #expect(try GoldenStore.files(at: path) == GoldenStore.files(at: golden.url.path))
      let writing = StoreDescription(path, .readWrite, isGraph: isGraph)
      #expect(StoreDescription.text(reading: reading, writing: writing) == expected)
      if writing.isRefused {
        #expect(try GoldenStore.files(at: path) == GoldenStore.files(at: golden.url.path))
      } else {
        try expectGoesOn(path)
      }
    }
  }

  /// Checks that a transaction can be committed, and is found when the store is opened again.
  private func expectGoesOn(_ path: String) throws {
    var options = EngineOptions()
    options.acceptsOtherContent = true
    var engine = try Engine(at: path, options: options)
    let (generation, wasSound) = (engine.newestGeneration, try engine.verify().isSound)
    guard wasSound else { return try engine.close() }
    let before = try engine.snapshot().count
    try engine.write { try $0.put("goes on", [1]) }
    try engine.close()
    engine = try Engine(at: path, options: options)
    #expect(engine.newestGeneration.rawValue == generation.rawValue + 1)
    #expect(try engine.snapshot().count == before + 1)
    #expect(try engine.snapshot(at: generation).count == before)
    #expect(try engine.verify().findings == [])
    try engine.close()
  }

  @Test func `each recipe has a golden store, and the golden stores are small`() throws {
    let stores = try GoldenStore.all()
    #expect(Set(stores.map(\.name)).isSuperset(of: GoldenRecipe.all.map { "format-1/" + $0.name }))
    let bytes = try stores.flatMap { try GoldenStore.files(at: $0.url.path).values }.reduce(0) {
      $0 + $1.count
    }
    #expect(bytes < 900_000)
  }

  @Test(arguments: GoldenRecipe.all)
  func `a recipe makes the same store each time`(recipe: GoldenRecipe) throws {
    try TemporaryFolder.with { folder in
      try recipe.make(folder + "/store")
      let first = try GoldenStore.files(at: folder + "/store")
      try FileManager.default.removeItem(atPath: folder + "/store")
      try recipe.make(folder + "/store")
      let second = try GoldenStore.files(at: folder + "/store")
      #expect(first.keys.sorted() == second.keys.sorted())
      #expect(first == second)
    }
  }

  /// Creates the missing golden stores: `HEARTWOOD_GOLDEN=1 swift test --filter 'golden stores are made'`.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["HEARTWOOD_GOLDEN"] != nil, "Writes to Fixtures."))
  func `missing golden stores are made`() throws {
    for recipe in GoldenRecipe.all {
      let golden = GoldenStore(name: "format-1/" + recipe.name)
      guard !FileManager.default.fileExists(atPath: golden.descriptionURL.path) else { continue }
      try FileManager.default.createDirectory(
        at: golden.url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try recipe.make(golden.url.path)
      let shown = try golden.withCopy { path in
        StoreDescription.text(
          reading: StoreDescription(path, .readOnly, isGraph: recipe.isGraph),
          writing: StoreDescription(path, .readWrite, isGraph: recipe.isGraph))
      }
      let text = "# \(recipe.summary)\n\(shown)\n"
      try Data(text.utf8).write(to: golden.descriptionURL)
    }
  }
}

extension GoldenRecipe: CustomTestStringConvertible {
  var testDescription: String { name }
}
