// swift-tools-version: 6.2

import PackageDescription

// A checkout of libmdbx in which `make libmdbx.a` has run; without it that peer is left out.
let libmdbx = Context.environment["HEARTWOOD_LIBMDBX"]

let package = Package(
  name: "HeartwoodBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Heartwood", path: ".."),
    .package(path: "EngineBenchmarks"),
    .package(url: "https://github.com/groue/GRDB.swift.git", exact: "7.10.0"),
  ],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLMDB", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(name: "CRocksDB", providers: [.apt(["librocksdb-dev"]), .brew(["rocksdb"])]),
    .systemLibrary(name: "CLevelDB", providers: [.apt(["libleveldb-dev"]), .brew(["leveldb"])]),
    // Where their headers are missing, these modules cannot be imported, and their peers are left out.
    .systemLibrary(name: "CWiredTiger", providers: [.apt(["libwiredtiger-dev"])]),
    .systemLibrary(name: "CKyotoCabinet", providers: [.apt(["libkyotocabinet-dev"])]),
    .systemLibrary(name: "CTkrzw", providers: [.apt(["libtkrzw-dev"])]),
    .systemLibrary(name: "CMDBX"),
    .executableTarget(
      name: "heartwood-benchmarks",
      dependencies: (libmdbx == nil ? [] : ["CMDBX"]) + [
        "CSQLite", "CLMDB", "CRocksDB", "CLevelDB", "CWiredTiger", "CKyotoCabinet", "CTkrzw",
        .product(name: "EngineBenchmarks", package: "EngineBenchmarks"),
        .product(name: "HeartwoodEngine", package: "Heartwood"),
        .product(name: "Heartwood", package: "Heartwood"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Sources/Benchmarks",
      swiftSettings: libmdbx.map { [.unsafeFlags(["-Xcc", "-I\($0)"])] } ?? [],
      linkerSettings: libmdbx.map { [.unsafeFlags(["\($0)/libmdbx.a"])] } ?? []),
    // The cost of a property in sources for Apple's Core Data: translated, and with accessors.
    .target(
      name: "CoreDataTranslated", dependencies: [.product(name: "CoreData", package: "Heartwood")],
      sources: ["Exports.swift"], plugins: [.plugin(name: "CoreDataSources", package: "Heartwood")]),
    .target(
      name: "CoreDataAccessed", dependencies: [.product(name: "CoreData", package: "Heartwood")],
      plugins: [.plugin(name: "CoreDataAccessors", package: "Heartwood")]),
    .executableTarget(
      name: "coredata-costs",
      dependencies: [
        "CoreDataTranslated", "CoreDataAccessed", .product(name: "CoreData", package: "Heartwood"),
        .product(name: "Heartwood", package: "Heartwood"),
      ],
      path: "Sources/CoreDataCosts"),
    // The costs of models of SwiftData beside classes of Heartwood.
    .executableTarget(
      name: "swiftdata-costs",
      dependencies: [
        .product(name: "SwiftData", package: "Heartwood"), .product(name: "Heartwood", package: "Heartwood"),
      ],
      path: "Sources/SwiftDataCosts"),
    // Stores of Core Data beside SQLite.
    .executableTarget(
      name: "apple-costs",
      dependencies: [
        "CSQLite", .product(name: "HeartwoodAppleStores", package: "Heartwood"),
        .product(name: "HeartwoodSQLite", package: "Heartwood"),
        .product(name: "Heartwood", package: "Heartwood"),
      ],
      path: "Sources/AppleStoreCosts"),
  ],
  swiftLanguageModes: [.v6]
)
