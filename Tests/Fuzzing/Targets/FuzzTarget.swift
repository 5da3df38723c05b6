@testable import Heartwood

/// A part of the library that reads untrusted bytes. It may refuse them, but must not trap, hang or give inconsistent
/// results.
enum FuzzTarget: String, CaseIterable, Sendable {
  /// The log of a store, after the segment's header.
  case frames
  /// Compressed values.
  case blocks
  /// One page of the tree: a leaf or a branch.
  case pages
  /// A whole store with some fields changed.
  case store
  /// Rows, history records and the model's record.
  case rows
  /// The text of a predicate, and its evaluation.
  case predicates
  /// Stores of one file.
  case binaryStores, jsonStores, xmlStores
  /// Models of Xcode.
  case models
  /// Mapping models of Xcode, and keyed archives.
  case mappings
  /// Models and mapping models that Apple's tools have compiled.
  case compiledModels
  /// Databases of SQLite, and stores of Core Data in them.
  case databases
  /// Files that `import` reads.
  case csv

  /// Runs the target; returns a description of the error found, or nil.
  func finding(_ bytes: [UInt8]) -> String? {
    switch self {
    case .frames: FrameTarget.finding(bytes)
    case .blocks: BlockTarget.finding(bytes)
    case .pages: PageTarget.finding(bytes)
    case .store: StoreTarget.finding(bytes)
    case .rows: RowTarget.finding(bytes)
    case .predicates: PredicateTarget.finding(bytes)
    case .binaryStores: StoreFileTarget.finding(bytes, .binary)
    case .jsonStores: StoreFileTarget.finding(bytes, .json)
    case .xmlStores: StoreFileTarget.finding(bytes, .xml)
    case .models: ModelFileTarget.finding(bytes)
    case .mappings: MappingTarget.finding(bytes)
    case .compiledModels: CompiledModelTarget.finding(bytes)
    case .databases: DatabaseTarget.finding(bytes)
    case .csv: CSVTarget.finding(bytes)
    }
  }

  /// The initial inputs: bytes that the library itself writes.
  var seeds: [[UInt8]] {
    switch self {
    case .frames: FrameTarget.seeds
    case .blocks: BlockTarget.seeds
    case .pages: PageTarget.seeds
    case .store: StoreTarget.seeds
    case .rows: RowTarget.seeds
    case .predicates: PredicateTarget.seeds
    case .binaryStores: StoreFileTarget.seeds(.binary)
    case .jsonStores: StoreFileTarget.seeds(.json)
    case .xmlStores: StoreFileTarget.seeds(.xml)
    case .models: ModelFileTarget.seeds
    case .mappings: MappingTarget.seeds
    case .compiledModels: CompiledModelTarget.seeds
    case .databases: DatabaseTarget.seeds
    case .csv: CSVTarget.seeds
    }
  }

  /// Whether the inputs are texts.
  var isOfText: Bool {
    switch self {
    case .predicates, .jsonStores, .xmlStores, .models, .mappings, .csv: true
    case .frames, .blocks, .pages, .store, .rows, .binaryStores, .compiledModels, .databases: false
    }
  }
}
